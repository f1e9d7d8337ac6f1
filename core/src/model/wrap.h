// Length of a path from a point to another around a sphere or a cylinder, or through a ring (inside
// of them), with two derivatives, as MuJoCo has it but where the straight line begins to touch.

#ifndef DJ_MODEL_WRAP_H_
#define DJ_MODEL_WRAP_H_

#include "math/vec.h"

#include <stdbool.h>

// What a path goes around, world. onset: share of the radius over whose depth the path leaves the
// straight line, C2; 0: at once, C1. With a side the path goes by where that point is; inside:
// it is within radius of the centre, and the path goes through the circle there.
typedef struct djWrapShape {
  djVec3 centre, axis;
  double radius, onset;
  bool cylinder, sided;
  djVec3 side;
} djWrapShape;

// Derivatives by both ends in the frame of the shape, world axes, and by its radius.
typedef struct djWrapLength {
  double value;
  djVec3 g[2];
  djMat3 A[2][2];
  double by_radius;
  djVec3 g_by_radius[2];
} djWrapLength;

// order: of the derivatives that are set at least. False: the path is straight, and nothing is set.
bool dj_wrapLength(djWrapLength* out, const djWrapShape* shape, djVec3 p0, djVec3 p1, int order);

// MuJoCo's: lengths and directions below this are none.
#define DJ_WRAP_EPS 1e-15

#endif  // DJ_MODEL_WRAP_H_
