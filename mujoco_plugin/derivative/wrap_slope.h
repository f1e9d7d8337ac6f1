// Length of a tendon's path around a sphere or a cylinder, with two derivatives.

#ifndef DJ_MUJOCO_WRAP_SLOPE_H_
#define DJ_MUJOCO_WRAP_SLOPE_H_

#include <mujoco/mujoco.h>

#include <stdbool.h>

// Derivatives by both ends, axes of the world, the geom held: slope by x0, x1; H by (x0,x0),
// (x0,x1), (x1,x1), 3 x 3 each.
typedef struct djmWrapSlope {
  double slope[2][3], H[3][9];
} djmWrapSlope;

// x0, x1: ends; w0, w1: where MuJoCo's path meets and leaves the geom. false: ends opposite each
// other (no plane), or a path that is no shortest one.
bool djm_wrapSlope(djmWrapSlope* s, const double* x0, const double* x1, const double* w0,
                   const double* w1, const double* pos, const double* mat, double radius,
                   bool cylinder);

#endif // DJ_MUJOCO_WRAP_SLOPE_H_
