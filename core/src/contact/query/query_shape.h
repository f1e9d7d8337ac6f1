// Shapes of contact queries (djcShape, dijoco/contact.h): checks and vertices.

#ifndef DJ_CONTACT_QUERY_QUERY_SHAPE_H_
#define DJ_CONTACT_QUERY_QUERY_SHAPE_H_

#include "math/vec.h"

#include <dijoco/contact.h>

// name: the shape's in messages.
djStatus dj_checkQueryShape(const djcShape* shape, char name, djError* err);

// Number of vertices; 0: a plane.
int dj_queryVertices(const djcShape* shape);

// Vertex i of a geom, in its frame.
djVec3 dj_queryVertex(const djcShape* shape, int i);

#endif  // DJ_CONTACT_QUERY_QUERY_SHAPE_H_
