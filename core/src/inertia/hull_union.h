// Moments of the union of convex polytopes, each point of it once, whatever the number of polytopes
// that cover it, with derivatives by vertices.
//
// What counts too often, the sum of all polytopes less their union, is bounded by what of each
// triangle is inside of other polytopes. Moments are sums over the tetrahedra from a point to that,
// as of any closed surface. A vertex moves the surface by its barycentric weight w on the triangles
// that it belongs to, so that of a function f the integral changes by
//   d/dx_k = sum over triangles of  n  integral over what is covered of  f w_k.
//
// Facets that coincide have no side: polytopes count, for this question alone, as scaled about
// their middles by 1 - e, 1e-10 < e < 3e-10, each by another e. So faces that touch are outside of
// each other, of two that coincide one is inside, and the union's volume is wrong by 1e-9 of the
// sum of volumes at most; where facets of two polytopes are parallel up to an angle a < 1e-7 and
// cross, rounding errors add 1e-16/a of the facet's share.

#ifndef DJ_INERTIA_HULL_UNION_H_
#define DJ_INERTIA_HULL_UNION_H_

#include "inertia/geom_moments.h"
#include "inertia/polygons.h"

// A convex polytope by its outward triangles, which are convex up to 1e-13 of its size; nface 0:
// empty.
typedef struct djPolytope {
  const double* vert; // (vertices x 3)
  int nface;
  const int* face; // (nface x 3)
} djPolytope;

// Adds the moments of the union of n polytopes.
djStatus dj_unionMoments(djMoments* moments, int n, const djPolytope* part);

// The same of what counts too often: the sum of all polytopes less their union, 0 to the last bit
// where none meet.
djStatus dj_excessMoments(djMoments* moments, int n, const djPolytope* part);

// Adds the derivative of f's integral over that by vertices: by[k] (vertices of part k x 3).
djStatus dj_excessParams(double* const* by, int n, const djPolytope* part, const djQuadratic* f);

// Adds the union's surface as triangles, outward. Here facets that touch, or are nearer than about
// 2e-6 of the parts' sizes, are inside of the union.
djStatus dj_unionSurface(djPolygons* surface, int n, const djPolytope* part);

#endif // DJ_INERTIA_HULL_UNION_H_
