// Planes between triangles as they were found last within a step, for Newton's method to start
// from: of a pair of meshes as many as its state has room for, each pair of triangles at one place.
// Where long triangles lie about all others none of their pairs is faint, and friction goes through
// those of the start at each evaluation: fewer places than pairs would serve none of them.

#ifndef DJ_CONTACT_TRIANGLES_WARM_PLANES_H_
#define DJ_CONTACT_TRIANGLES_WARM_PLANES_H_

#include "contact/triangles/triangle_plane.h"

#include <stddef.h>

enum { DJ_NWARM = 512, DJ_MOST_WARM = 1 << 16 }; // places of a pair, at least and at most

typedef struct djWarmPlane {
  unsigned step; // in which it was found
  int a, b;      // triangles
  djVec3 z, n;   // as djTrianglePlane has them
  double o;
} djWarmPlane;

// Zeros: no step has begun, and nothing is kept.
typedef struct djWarmPlanes {
  unsigned step;
  unsigned n, stride; // places, and triangles of b
  djWarmPlane plane[];
} djWarmPlanes;
#define DJ_WARM_SIZE(n) (sizeof(djWarmPlanes) + (size_t)(n) * sizeof(djWarmPlane))

// The place of two triangles. start: at the poses with which the step starts. NULL: none.
static inline djWarmPlane* dj_warmPlane(djWarmPlanes* w, int a, int b, bool start) {
  if (!w || w->step == 0) return NULL;
  return &w->plane[(((unsigned)a * w->stride + (unsigned)b) * 2 + (unsigned)start) % w->n];
}

static inline bool dj_isWarm(const djWarmPlanes* w, const djWarmPlane* plane, int a, int b) {
  return plane && plane->step == w->step && plane->a == a && plane->b == b;
}

#endif // DJ_CONTACT_TRIANGLES_WARM_PLANES_H_
