// Shapes of contact queries (djcShape, dijoco/contact.h): checks, vertices and what rounds them.

#ifndef DJ_CONTACT_QUERY_QUERY_SHAPE_H_
#define DJ_CONTACT_QUERY_QUERY_SHAPE_H_

#include "contact/shapes/convex.h"

#include <dijoco/contact.h>

// name: the shape's in messages.
djStatus dj_checkQueryShape(const djcShape* shape, char name, djError* err);

// Number of vertices; 0: a plane.
int dj_queryVertices(const djcShape* shape);

// Radius and semi-axes of the shape as given; R turns its frame to the body's.
void dj_roundQuery(djShape* out, const djcShape* shape, djMat3 R);

#endif  // DJ_CONTACT_QUERY_QUERY_SHAPE_H_
