// Convex polygons in space, and what is left of them outside of convex solids.

#ifndef DJ_INERTIA_POLYGONS_H_
#define DJ_INERTIA_POLYGONS_H_

#include "math/vec.h"

#include <dijoco/types.h>

#include <stdint.h>

// Half space normal . x <= offset.
typedef struct djHalfSpace {
  djVec3 normal;
  double offset;
} djHalfSpace;

// A list of convex polygons. Zeroed at first; dj_freePolygons.
typedef struct djPolygons {
  int n;
  int* end;                // (n) points of the first polygons
  djVec3* point;           // (end[n - 1]) in the order of their edges
  int room, point_room;
  djVec3* scratch;         // (scratch_room)
  int scratch_room;
} djPolygons;

void dj_freePolygons(djPolygons* list);

// Add a polygon of n points.
djStatus dj_addPolygon(djPolygons* list, int n, const djVec3* point);

// Add to `out` convex pieces of each polygon that lie outside of the intersection of those half
// spaces of which `which` has a bit set (nword words of 64), and together are all of it. What lies
// in one of the planes within rounding errors is not cut by it. Half spaces left out must hold all
// of the polygons.
djStatus dj_subtractSolid(djPolygons* out, const djPolygons* in, int nword, const uint64_t* which,
                          const djHalfSpace* solid);

// Where polygon k's points begin.
static inline int dj_polygonStart(const djPolygons* list, int k) {
  return k > 0 ? list->end[k - 1] : 0;
}

#endif // DJ_INERTIA_POLYGONS_H_
