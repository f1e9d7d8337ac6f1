// The segment in which two triangles cross.
//
// They do where each has corners on both sides of the other's plane, in the interval of the planes'
// line that is inside of both: from the later one of two beginnings to the earlier one of two ends.
// Each of these is a point where an edge goes through a plane, found by the heights of the edge's
// ends, so that triangles with an edge in common have the same.

#ifndef DJ_INERTIA_CROSSING_H_
#define DJ_INERTIA_CROSSING_H_

#include "inertia/solids.h"

// Height above a side's plane.
static inline double dj_heightOf(const djHalfSpace* h, djVec3 x) {
  return fma(h->normal.z, x.z, fma(h->normal.y, x.y, fma(h->normal.x, x.x, -h->offset)));
}

// Whether face f of a and face g of b cross, and from where to where: along the boundary of what of
// the first is inside of b. fout, gout: which corners are beyond the other's plane, one or two of
// them.
bool dj_crossFaces(djVec3* from, djVec3* to, const djSolid* a, int f, int fout, const djSolid* b,
                   int g, int gout);

#endif // DJ_INERTIA_CROSSING_H_
