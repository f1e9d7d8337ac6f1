// What queries of penalty contact need.

#ifndef DJ_CONTACT_PENALTY_PENALTY_QUERY_H_
#define DJ_CONTACT_PENALTY_PENALTY_QUERY_H_

#include "contact/kernel_query.h"
#include "contact/penalty/penalty_law.h"

#include <dijoco/penalty.h>

// A point's state as queries and reports have it.
djcPointState dj_pointState(djPointState state);

// The entry `queryShapes` of the row.
djStatus dj_penaltyShapes(djContactQuery* query, djError* err);

#endif // DJ_CONTACT_PENALTY_PENALTY_QUERY_H_
