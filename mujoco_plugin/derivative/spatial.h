// Six-vectors (angular, linear) as MuJoCo has them, about a stated point that does not move.

#ifndef DJ_MUJOCO_SPATIAL_H_
#define DJ_MUJOCO_SPATIAL_H_

#include "slope_math.h"

#include <mujoco/mujoco.h>

// x (n) += s y
static inline void djm_addScaled(mjtNum* restrict x, const mjtNum* restrict y, mjtNum s, int n) {
  for (int k = 0; k < n; k++) x[k] += s * y[k];
}

static inline void djm_copy6(mjtNum out[6], const mjtNum a[6]) {
  for (int k = 0; k < 6; k++) out[k] = a[k];
}

static inline void djm_sub6(mjtNum out[6], const mjtNum a[6], const mjtNum b[6]) {
  for (int k = 0; k < 6; k++) out[k] = a[k] - b[k];
}

// A motion about a point that is r from the first: its linear part becomes v + w x r.
static inline void djm_moveTwist(mjtNum out[6], const mjtNum a[6], const mjtNum r[3]) {
  djm_copy6(out, a);
  addCross3(out + 3, a, r);
}

// out = S x m: how a motion m that is carried along S changes.
static inline void djm_crossMotion(mjtNum out[6], const mjtNum S[6], const mjtNum m[6]) {
  cross3(out, S, m);
  cross3(out + 3, S, m + 3);
  addCross3(out + 3, S + 3, m);
}

// out = S x* f: how a force (torque, force) that is carried along S changes.
static inline void djm_crossForce(mjtNum out[6], const mjtNum S[6], const mjtNum f[6]) {
  cross3(out, S, f);
  addCross3(out, S + 3, f + 3);
  cross3(out + 3, S, f + 3);
}

#endif  // DJ_MUJOCO_SPATIAL_H_
