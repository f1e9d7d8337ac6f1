// Moments of many tetrahedra with one corner in common, eight at a time.

#ifndef DJ_INERTIA_CONES_H_
#define DJ_INERTIA_CONES_H_

#include "inertia/geom_moments.h"
#include "math/lanes.h"

enum { DJ_CONES = 64 }; // that are kept before they are summed: a multiple of DJU_LANES

// Zeroed at first.
typedef struct djCones {
  int n;
  double x[9][DJ_CONES]; // the other corners, seen from the common one
  djLanes sum[10];       // 6 volume; 24 first; 120 second: xx yy zz xy xz yz
} djCones;

// Sums those that are kept.
void dj_sumCones(djCones* c);

// The tetrahedron of 0 and a triangle, outward.
static inline void dj_addCone(djCones* c, djVec3 x, djVec3 y, djVec3 z) {
  const double value[9] = {x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z};
  const int n = c->n++;
  for (int k = 0; k < 9; k++) c->x[k][n] = value[k];
  if (c->n == DJ_CONES) dj_sumCones(c);
}

// Of all that were added, about the common corner.
djMoments dj_conesMoments(djCones* c);

#endif // DJ_INERTIA_CONES_H_
