// Outer products of vectors, and rows and blocks of 6 x 6 matrices (row-major).

#ifndef DJ_MATH_BLOCK6_H_
#define DJ_MATH_BLOCK6_H_

#include "math/vec.h"

#include <stdbool.h>
#include <stddef.h>

// M += f u v^T
static inline void dju_addOuter3(djMat3* M, double f, djVec3 u, djVec3 v) {
  double x[3], y[3];
  dju_store3(x, u);
  dju_store3(y, v);
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) M->m[3 * r + c] += f * x[r] * y[c];
  }
}

// M += f [u][v] = f (v u^T - (u . v) I)
static inline void dju_addSkewProduct(djMat3* M, double f, djVec3 u, djVec3 v) {
  dju_addOuter3(M, f, v, u);
  double s = f * dju_dot3(u, v);
  M->m[0] -= s;
  M->m[4] -= s;
  M->m[8] -= s;
}

// The 3 x 3 block of B at (r0, c0) += f A
static inline void dju_addBlock6(double B[36], int r0, int c0, double f, const djMat3* A) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) B[6 * (r0 + r) + c0 + c] += f * A->m[3 * r + c];
  }
}

// a . b of rows with six numbers
static inline double dju_dotRow6(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// y (6) += A x, or A^T x, of a 6 x 6 block whose rows are `stride` apart.
static inline void dju_mulAdd6(double* y, const double* A, int stride, const double* x,
                               int transpose) {
  for (int r = 0; r < 6; r++) {
    for (int c = 0; c < 6; c++) {
      double a = A[r * stride + c];
      if (transpose) y[c] += a * x[r];
      else y[r] += a * x[c];
    }
  }
}

// All n numbers are 0.
static inline bool dju_isZero(const double* x, size_t n) {
  bool any = false;
  for (size_t i = 0; i < n; i++) any |= x[i] != 0;
  return !any;
}

#endif  // DJ_MATH_BLOCK6_H_
