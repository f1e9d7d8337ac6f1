// Facets of meshes' hulls by which their volumes are measured: those of the compiled model, until
// the design takes up those of its own vertices.

#ifndef DJ_INERTIA_FACETS_H_
#define DJ_INERTIA_FACETS_H_

#include "inertia/geom_moments.h"

// One surface a mesh; empty for meshes without a volume or that no geom uses.
typedef struct djSurfaces {
  djClosedSurface* before; // (nmesh) of the compiled model
  djClosedSurface* now;    // (nmesh) that the design has
  struct djFacets* made;   // (nmesh) those that belong to nobody else
  int n;
} djSurfaces;

// dj_freeSurfaces afterwards, whatever the status.
djStatus dj_makeSurfaces(djSurfaces* s, const djModel* design, const djModel* compiled);
void dj_freeSurfaces(djSurfaces* s);

// Leaves what had to be found with the design, for the next time.
void dj_keepSurfaces(djModel* design, djSurfaces* s);

// Outward triangles of the hull of points, the caller's to free; none where they are flat.
djStatus dj_hullFacets(int* nface, int** face, int nvert, const double* vert);

// The same, where triangles are known that were the hull's before the points moved.
djStatus dj_hullFacetsFrom(int* nface, int** face, int nvert, const double* vert, int nold,
                           const int* old);

// No point lies above a triangle by more than rounding errors: they are the hull's.
bool dj_isHull(int nvert, const double* vert, int nface, const int* face);

#endif // DJ_INERTIA_FACETS_H_
