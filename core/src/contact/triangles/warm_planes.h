// Planes between triangles as they were found last within a step, for Newton's method to start
// from: of a pair of meshes at most so many, each pair of triangles at one place.

#ifndef DJ_CONTACT_TRIANGLES_WARM_PLANES_H_
#define DJ_CONTACT_TRIANGLES_WARM_PLANES_H_

#include "contact/triangles/triangle_plane.h"

#include <stddef.h>

enum { DJ_NWARM = 512 }; // a power of 2

typedef struct djWarmPlane {
  unsigned step; // in which it was found
  int a, b;      // triangles
  djVec3 z, n;   // as djTrianglePlane has them
  double o;
} djWarmPlane;

// Zeros: no step has begun, and nothing is kept.
typedef struct djWarmPlanes {
  unsigned step;
  djWarmPlane plane[DJ_NWARM];
} djWarmPlanes;

// The place of two triangles. start: at the poses with which the step starts. NULL: none.
static inline djWarmPlane* dj_warmPlane(djWarmPlanes* w, int a, int b, bool start) {
  if (!w || w->step == 0) return NULL;
  const unsigned key = ((unsigned)a << 16 ^ (unsigned)b << 1 ^ (unsigned)start) * 2654435769u;
  return &w->plane[(key >> 16) & (DJ_NWARM - 1)];
}

static inline bool dj_isWarm(const djWarmPlanes* w, const djWarmPlane* plane, int a, int b) {
  return plane && plane->step == w->step && plane->a == a && plane->b == b;
}

#endif // DJ_CONTACT_TRIANGLES_WARM_PLANES_H_
