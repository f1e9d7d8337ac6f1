// What queries of long_range need: the entries `queryShapes` and `query` of the row.

#ifndef DJ_CONTACT_TRIANGLES_LONG_RANGE_QUERY_H_
#define DJ_CONTACT_TRIANGLES_LONG_RANGE_QUERY_H_

#include "contact/kernel_query.h"

djStatus dj_longQueryShapes(djContactQuery* query, djError* err);
djStatus dj_longQuery(djContactQuery* query, djError* err);

#endif // DJ_CONTACT_TRIANGLES_LONG_RANGE_QUERY_H_
