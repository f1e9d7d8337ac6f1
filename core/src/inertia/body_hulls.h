// Geoms of a body that are polytopes, in the body's frame.

#ifndef DJ_INERTIA_BODY_HULLS_H_
#define DJ_INERTIA_BODY_HULLS_H_

#include "inertia/hull_union.h"

// The geom is the convex hull of vertices: a mesh, a box.
bool dj_isPolytope(int type);

// Vertices that it has.
int dj_polytopeVertices(const djModel* model, int geom);

// Where they are in the body's frame (vertices x 3).
void dj_placePolytope(double* vert, const djModel* model, int geom);

// Adds to param, by geom pos, quat, size and mesh vertices, what a number's derivative by these
// vertices makes.
void dj_polytopeParams(double* param, const djModel* model, int geom, const double* by_vert);

// Outward triangles of the hull of points, the caller's to free; none where they are flat.
djStatus dj_hullFacets(int* nface, int** face, int nvert, const double* vert);

#endif // DJ_INERTIA_BODY_HULLS_H_
