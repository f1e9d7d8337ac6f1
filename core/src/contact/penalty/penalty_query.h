// What queries of penalty contact need.

#ifndef DJ_CONTACT_PENALTY_PENALTY_QUERY_H_
#define DJ_CONTACT_PENALTY_PENALTY_QUERY_H_

#include "contact/kernel_query.h"

// The entry `queryShapes` of the row.
djStatus dj_penaltyShapes(djContactQuery* query, djError* err);

#endif // DJ_CONTACT_PENALTY_PENALTY_QUERY_H_
