// Three-vectors and quaternions, independent of the library's.

#ifndef DJ_VALIDATION_VEC3_H_
#define DJ_VALIDATION_VEC3_H_

#include <math.h>

static inline double djv_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double djv_norm(const double a[3]) { return sqrt(djv_dot(a, a)); }

static inline void djv_sub(double out[3], const double a[3], const double b[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static inline double djv_dist(const double a[3], const double b[3]) {
  double d[3];
  djv_sub(d, a, b);
  return djv_norm(d);
}

static inline void djv_cross(double out[3], const double a[3], const double b[3]) {
  const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                       a[0] * b[1] - a[1] * b[0]};
  for (int k = 0; k < 3; k++) out[k] = c[k];
}

// Rotation matrix (row-major) of a quaternion (w, x, y, z), which need not be normalised.
static inline void djv_quatToMat(double R[9], const double q[4]) {
  double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], s = 2 / n;
  double w = q[0], x = q[1], y = q[2], z = q[3];
  const double M[9] = {1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
                       s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x),
                       s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)};
  for (int k = 0; k < 9; k++) R[k] = M[k];
}

// out = p + R v
static inline void djv_transform(double out[3], const double p[3], const double R[9],
                                 const double v[3]) {
  const double x[3] = {v[0], v[1], v[2]};
  for (int k = 0; k < 3; k++) {
    out[k] = p[k] + R[3 * k] * x[0] + R[3 * k + 1] * x[1] + R[3 * k + 2] * x[2];
  }
}

// C = A B
static inline void djv_mulMM(double C[9], const double A[9], const double B[9]) {
  double M[9];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      M[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
    }
  }
  for (int k = 0; k < 9; k++) C[k] = M[k];
}

// q = a b
static inline void djv_mulQuat(double q[4], const double a[4], const double b[4]) {
  const double c[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                       a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                       a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                       a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
  for (int k = 0; k < 4; k++) q[k] = c[k];
}

// Quaternion of a rotation by `angle` about a coordinate axis (0, 1, 2).
static inline void djv_axisQuat(double q[4], int axis, double angle) {
  q[0] = cos(angle / 2);
  for (int k = 0; k < 3; k++) q[k + 1] = k == axis ? sin(angle / 2) : 0;
}

// Angle about y of a rotation that is about y, from its matrix.
static inline double djv_angleY(const double R[9]) { return atan2(R[2] - R[6], R[0] + R[8]); }

#endif  // DJ_VALIDATION_VEC3_H_
