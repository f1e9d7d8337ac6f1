// A hull's triangles after its vertices have moved.

#ifndef DJ_INERTIA_MEND_H_
#define DJ_INERTIA_MEND_H_

#include <dijoco/types.h>

// Most vertices of a hull that is mended.
enum { DJ_MENDED_VERTICES = 64 };

// Outward triangles that close a surface, made those of the hull of the points by a few changes:
// edges that have become hollow are flipped, vertices that sank drop out, others come in. face has
// room for 2 nvert triangles. False: they are not the
// hull's. True: every edge is convex, so that they are, but where facets overlap each other.
bool dj_mendFacets(int* nface, int* face, int nvert, const double* vert);

#endif // DJ_INERTIA_MEND_H_
