// Six-vectors (angular, linear) as MuJoCo has them, about a stated point that does not move.

#ifndef DJ_MUJOCO_SPATIAL_H_
#define DJ_MUJOCO_SPATIAL_H_

#include <mujoco/mujoco.h>

static inline void djm_cross(mjtNum out[3], const mjtNum a[3], const mjtNum b[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

// out += a x b
static inline void djm_addCross(mjtNum out[3], const mjtNum a[3], const mjtNum b[3]) {
  out[0] += a[1] * b[2] - a[2] * b[1];
  out[1] += a[2] * b[0] - a[0] * b[2];
  out[2] += a[0] * b[1] - a[1] * b[0];
}

// x (n) += s y
static inline void djm_addScaled(mjtNum* restrict x, const mjtNum* restrict y, mjtNum s, int n) {
  for (int k = 0; k < n; k++) x[k] += s * y[k];
}

static inline mjtNum djm_dot3(const mjtNum a[3], const mjtNum b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline mjtNum djm_dot6(const mjtNum a[6], const mjtNum b[6]) {
  return djm_dot3(a, b) + djm_dot3(a + 3, b + 3);
}

static inline void djm_copy6(mjtNum out[6], const mjtNum a[6]) {
  for (int k = 0; k < 6; k++) out[k] = a[k];
}

static inline void djm_sub6(mjtNum out[6], const mjtNum a[6], const mjtNum b[6]) {
  for (int k = 0; k < 6; k++) out[k] = a[k] - b[k];
}

// out += s a
static inline void djm_add6(mjtNum out[6], const mjtNum a[6], mjtNum s) {
  for (int k = 0; k < 6; k++) out[k] += s * a[k];
}

// A motion about a point that is r from the first: its linear part becomes v + w x r.
static inline void djm_moveTwist(mjtNum out[6], const mjtNum a[6], const mjtNum r[3]) {
  djm_copy6(out, a);
  djm_addCross(out + 3, a, r);
}

// out = S x m: how a motion m that is carried along S changes.
static inline void djm_crossMotion(mjtNum out[6], const mjtNum S[6], const mjtNum m[6]) {
  djm_cross(out, S, m);
  djm_cross(out + 3, S, m + 3);
  djm_addCross(out + 3, S + 3, m);
}

// out = S x* f: how a force (torque, force) that is carried along S changes.
static inline void djm_crossForce(mjtNum out[6], const mjtNum S[6], const mjtNum f[6]) {
  djm_cross(out, S, f);
  djm_addCross(out, S + 3, f + 3);
  djm_cross(out + 3, S, f + 3);
}

// out = I m, with I as mjData's cinert and crb have it: inertia about the point (xx, yy, zz, xy,
// xz, yz), mass times the centre, mass.
static inline void djm_mulInertia(mjtNum out[6], const mjtNum I[10], const mjtNum m[6]) {
  out[0] = I[0] * m[0] + I[3] * m[1] + I[4] * m[2];
  out[1] = I[3] * m[0] + I[1] * m[1] + I[5] * m[2];
  out[2] = I[4] * m[0] + I[5] * m[1] + I[2] * m[2];
  djm_addCross(out, I + 6, m + 3);
  for (int k = 0; k < 3; k++) out[3 + k] = I[9] * m[3 + k];
  djm_addCross(out + 3, m, I + 6);
}

#endif  // DJ_MUJOCO_SPATIAL_H_
