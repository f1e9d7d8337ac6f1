// Small vectors of the derivatives: what is too short for a call. Spatial vectors are angular
// first, as MuJoCo's; inertias are MuJoCo's ten numbers (xx yy zz xy xz yz, mass times centre,
// mass).

#ifndef DJ_MUJOCO_SLOPE_MATH_H_
#define DJ_MUJOCO_SLOPE_MATH_H_

#include <math.h>

static inline double dot3(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double dot6(const double* a, const double* b) {
  return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

static inline void copy3(double* to, const double* from) {
  to[0] = from[0];
  to[1] = from[1];
  to[2] = from[2];
}

// res must be neither a nor b
static inline void cross3(double* res, const double* a, const double* b) {
  res[0] = a[1] * b[2] - a[2] * b[1];
  res[1] = a[2] * b[0] - a[0] * b[2];
  res[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void addCross3(double* res, const double* a, const double* b) {
  res[0] += a[1] * b[2] - a[2] * b[1];
  res[1] += a[2] * b[0] - a[0] * b[2];
  res[2] += a[0] * b[1] - a[1] * b[0];
}

static inline void addScl3(double* res, const double* a, double s) {
  res[0] += s * a[0];
  res[1] += s * a[1];
  res[2] += s * a[2];
}

static inline void addScl6(double* res, const double* a, double s) {
  for (int i = 0; i < 6; i++) res[i] += s * a[i];
}

static inline void sub3(double* res, const double* a, const double* b) {
  for (int i = 0; i < 3; i++) res[i] = a[i] - b[i];
}

// M (3 x 3, by rows) times a
static inline void mulMat3(double* res, const double* M, const double* a) {
  for (int i = 0; i < 3; i++) res[i] = dot3(M + 3 * i, a);
}

static inline void mulMatT3(double* res, const double* M, const double* a) {
  for (int i = 0; i < 3; i++) res[i] = M[i] * a[0] + M[3 + i] * a[1] + M[6 + i] * a[2];
}

// velocity v acting on a motion vector s
static inline void addCrossMotion(double* res, const double* v, const double* s) {
  addCross3(res, v, s);
  addCross3(res + 3, v, s + 3);
  addCross3(res + 3, v + 3, s);
}

// ... on a force vector f
static inline void addCrossForce(double* res, const double* v, const double* f) {
  addCross3(res, v, f);
  addCross3(res, v + 3, f + 3);
  addCross3(res + 3, v, f + 3);
}

static inline void mulInertia(double* res, const double* I, const double* v) {
  const double *c = I + 6, mass = I[9];
  res[0] = I[0] * v[0] + I[3] * v[1] + I[4] * v[2] + c[1] * v[5] - c[2] * v[4];
  res[1] = I[3] * v[0] + I[1] * v[1] + I[5] * v[2] + c[2] * v[3] - c[0] * v[5];
  res[2] = I[4] * v[0] + I[5] * v[1] + I[2] * v[2] + c[0] * v[4] - c[1] * v[3];
  res[3] = mass * v[3] - c[1] * v[2] + c[2] * v[1];
  res[4] = mass * v[4] - c[2] * v[0] + c[0] * v[2];
  res[5] = mass * v[5] - c[0] * v[1] + c[1] * v[0];
}

#endif // DJ_MUJOCO_SLOPE_MATH_H_
