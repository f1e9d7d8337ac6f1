// Value types for small vectors, matrices, quaternions and poses, with inline operations.
//
// A twist or wrench is six numbers (angular, linear), world axes, about a stated point.

#ifndef DJ_MATH_VEC_H_
#define DJ_MATH_VEC_H_

#include <math.h>

typedef struct djVec3 {
  double x, y, z;
} djVec3;

typedef struct djQuat {
  double w, x, y, z;
} djQuat;

typedef struct djMat3 {
  double m[9];   // row-major
} djMat3;

// x_world = R x_local + p
typedef struct djPose {
  djVec3 p;
  djMat3 R;
} djPose;

static inline djVec3 dju_vec3(double x, double y, double z) { return (djVec3){x, y, z}; }
static inline djVec3 dju_load3(const double v[3]) { return (djVec3){v[0], v[1], v[2]}; }
static inline void dju_store3(double out[3], djVec3 v) { out[0] = v.x; out[1] = v.y; out[2] = v.z; }
// out += s v
static inline void dju_addTo3(double out[3], double s, djVec3 v) {
  out[0] += s * v.x;
  out[1] += s * v.y;
  out[2] += s * v.z;
}
static inline djVec3 dju_add3(djVec3 a, djVec3 b) {
  return (djVec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline djVec3 dju_sub3(djVec3 a, djVec3 b) {
  return (djVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline djVec3 dju_scale3(double s, djVec3 a) { return (djVec3){s * a.x, s * a.y, s * a.z}; }
static inline djVec3 dju_neg3(djVec3 a) { return (djVec3){-a.x, -a.y, -a.z}; }
// a + s b
static inline djVec3 dju_madd3(djVec3 a, double s, djVec3 b) {
  return (djVec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double dju_dot3(djVec3 a, djVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline djVec3 dju_cross3(djVec3 a, djVec3 b) {
  return (djVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
// Neither the smallest nor the largest of three numbers.
static inline double dju_middle(double a, double b, double c) {
  return fmax(fmin(a, b), fmin(fmax(a, b), c));
}
static inline double dju_norm3(djVec3 a) { return sqrt(dju_dot3(a, a)); }

static inline djVec3 dju_mulMV(djMat3 A, djVec3 v) {
  return (djVec3){A.m[0] * v.x + A.m[1] * v.y + A.m[2] * v.z,
                  A.m[3] * v.x + A.m[4] * v.y + A.m[5] * v.z,
                  A.m[6] * v.x + A.m[7] * v.y + A.m[8] * v.z};
}
static inline djVec3 dju_mulMtV(djMat3 A, djVec3 v) {
  return (djVec3){A.m[0] * v.x + A.m[3] * v.y + A.m[6] * v.z,
                  A.m[1] * v.x + A.m[4] * v.y + A.m[7] * v.z,
                  A.m[2] * v.x + A.m[5] * v.y + A.m[8] * v.z};
}
static inline djVec3 dju_column(const djMat3* A, int k) {
  return (djVec3){A->m[k], A->m[3 + k], A->m[6 + k]};
}
static inline djMat3 dju_mulMM(djMat3 A, djMat3 B) {
  djMat3 C;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      C.m[3 * i + j] =
          A.m[3 * i] * B.m[j] + A.m[3 * i + 1] * B.m[3 + j] + A.m[3 * i + 2] * B.m[6 + j];
    }
  }
  return C;
}
static inline djMat3 dju_mulMtM(djMat3 A, djMat3 B) {
  djMat3 C;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      C.m[3 * i + j] = A.m[i] * B.m[j] + A.m[3 + i] * B.m[3 + j] + A.m[6 + i] * B.m[6 + j];
    }
  }
  return C;
}
static inline djMat3 dju_eye3(void) { return (djMat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}}; }
// [v]x, so that [v]x y = v x y
static inline djMat3 dju_skew(djVec3 v) {
  return (djMat3){{0, -v.z, v.y, v.z, 0, -v.x, -v.y, v.x, 0}};
}

static inline djVec3 dju_transform(const djPose* T, djVec3 x) {
  return dju_add3(dju_mulMV(T->R, x), T->p);
}
static inline djVec3 dju_untransform(const djPose* T, djVec3 x) {
  return dju_mulMtV(T->R, dju_sub3(x, T->p));
}

static inline djQuat dju_mulQuat(djQuat a, djQuat b) {
  return (djQuat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                  a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline djQuat dju_conj(djQuat q) { return (djQuat){q.w, -q.x, -q.y, -q.z}; }
static inline djQuat dju_loadQuat(const double q[4]) { return (djQuat){q[0], q[1], q[2], q[3]}; }
static inline void dju_storeQuat(double out[4], djQuat q) {
  out[0] = q.w; out[1] = q.x; out[2] = q.y; out[3] = q.z;
}
// A quaternion of length zero acts as the identity.
static inline djQuat dju_normalizeQuat(djQuat q) {
  double n = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  if (!(n > 1e-15)) return (djQuat){1, 0, 0, 0};
  return (djQuat){q.w / n, q.x / n, q.y / n, q.z / n};
}
static inline djMat3 dju_quatToMat(djQuat q) {
  double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  return (djMat3){{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy), 2 * (xy + wz),
                   1 - 2 * (xx + zz), 2 * (yz - wx), 2 * (xz - wy), 2 * (yz + wx),
                   1 - 2 * (xx + yy)}};
}

#endif  // DJ_MATH_VEC_H_
