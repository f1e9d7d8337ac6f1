// Signed distance of smoothed shapes, and its derivatives.

#ifndef DJ_SHAPE_SOFT_DISTANCE_H_
#define DJ_SHAPE_SOFT_DISTANCE_H_

#include "shape/soft.h"

typedef struct djSoftGap {
  double gap;             // signed, metres
  djVec3 normal;          // unit, from a to b
  djVec3 point_a;         // witness points, relative to the position of a's pose, world axes
  djVec3 point_b;
  djVec3 place_b;         // position of b's pose, likewise
  djMat3 bend_a, bend_b;  // C(n) of both; a plane's: 0
  bool plane;             // b is one
  bool frozen;            // the normal's derivative is not known
  int iterations;
} djSoftGap;

// b may be a plane, a may not. DJ_NOT_CONVERGED: the normal is not the best.
djStatus dj_softDistance(djSoftGap* out, const djSoft* a, const djPose* pose_a, const djSoft* b,
                         const djPose* pose_b);

// Derivatives by twists (angular, linear) of a about its pose's position, then of b about its own,
// row-major: gap (12), normal, point_a, point_b (3 x 12 each). DJ_SINGULAR: the normal is not a
// differentiable function of the poses; what would come through it is left out.
djStatus dj_softTwists(double gap[12], double normal[36], double point_a[36], double point_b[36],
                       const djSoftGap* at);

#endif  // DJ_SHAPE_SOFT_DISTANCE_H_
