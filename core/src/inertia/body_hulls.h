// Geoms of a body that are polytopes, meshes and boxes, in the body's frame.

#ifndef DJ_INERTIA_BODY_HULLS_H_
#define DJ_INERTIA_BODY_HULLS_H_

#include "inertia/hull_union.h"

// The geom is the convex hull of vertices.
bool dj_isPolytope(int type);

// Vertices that it has.
int dj_polytopeVertices(const djModel* model, int geom);

// Where they are in the body's frame (vertices x 3).
void dj_placePolytope(double* vert, const djModel* model, int geom);

// Adds to param, by geom pos, quat, size and mesh vertices, what a number's derivative by these
// vertices makes.
void dj_polytopeParams(double* param, const djModel* model, int geom, const double* by_vert);

// Hulls that are made for the moment.
typedef struct djBodyHulls {
  int n;
  djPolytope* part;        // (n)
  int* geom;               // (n) of a model
  int** face;              // (n) of those whose facets had to be found
  double** vert;           // (n) of those that had to be placed
} djBodyHulls;

// Room for n hulls. dj_freeBodyHulls afterwards, whatever the status.
djStatus dj_startHulls(djBodyHulls* hulls, int n);
// One more; facets are these where they are those of the hull (NULL: not known).
djStatus dj_addHull(djBodyHulls* hulls, int nvert, const double* vert,
                    const djClosedSurface* surface);
// The polytopes among the geoms first, ..., last - 1; surface (nmesh) or NULL as above.
djStatus dj_bodyHulls(djBodyHulls* hulls, const djModel* model, int first, int last,
                      const djClosedSurface* surface);
void dj_freeBodyHulls(djBodyHulls* hulls);

#endif  // DJ_INERTIA_BODY_HULLS_H_
