// The entry `queryShapes` of the kernel implicit_surface: surfaces that fit the shapes of a query
// by the default rules.

#ifndef DJ_CONTACT_IMPLICIT_IMPLICIT_QUERY_H_
#define DJ_CONTACT_IMPLICIT_IMPLICIT_QUERY_H_

#include "contact/kernel_query.h"

djStatus dj_surfaceQuery(djContactQuery* query, djError* err);

#endif // DJ_CONTACT_IMPLICIT_IMPLICIT_QUERY_H_
