// Signed distance of two convex shapes: GJK for separated ones, EPA for overlapping ones, then
// Newton's method where they are curved.

#ifndef DJ_SHAPE_DISTANCE_H_
#define DJ_SHAPE_DISTANCE_H_

#include "shape/shape.h"

// Warm start: the vertex pairs of the last simplex, and the weights with which they make up the
// closest (overlapping: the deepest) points. All zero: none.
typedef struct djDistanceCache {
  int count;
  int a[4], b[4];
  double weight[4];
  double normal[3];       // of curved shapes
} djDistanceCache;

typedef struct djDistance {
  double gap;             // signed, metres, radii included; negative: penetration depth
  djVec3 normal;          // unit, from a to b; the direction of least separation
  djVec3 point_a;         // witness points on the surfaces, world
  djVec3 point_b;
  int iterations;
} djDistance;

// Shapes eroded further by e_a, e_b (metres, >= 0). b may be a plane, a may not. The gap is always
// that of the shapes' supports along the normal: DJ_NOT_CONVERGED says that another direction might
// separate them better, so that it is a lower bound.
// cache may be NULL; it never changes the result beyond rounding.
djStatus dj_distance(djDistance* out, djDistanceCache* cache, const djShape* a,
                     const djPose* pose_a, double e_a, const djShape* b, const djPose* pose_b,
                     double e_b);

#endif  // DJ_SHAPE_DISTANCE_H_
