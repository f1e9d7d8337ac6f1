// Dense factorizations of fixed small size.

#ifndef DJ_MATH_SMALL_H_
#define DJ_MATH_SMALL_H_

#include <stdbool.h>

// Symmetric 4x4 matrices are packed by rows of the upper triangle:
//   00 01 02 03 11 12 13 22 23 33
typedef struct djLdl4 {
  double l10, l20, l30, l21, l31, l32;   // unit lower triangle
  double inv[4];                         // 1 / pivots; 0 where a pivot vanished
} djLdl4;

// A = L D L^T of a positive semidefinite matrix. A pivot below 1e-15 of its diagonal entry counts
// as zero: that unknown is then held (its inverse pivot is 0). Returns false where one did.
bool dju_factorLdl4(djLdl4* f, const double A[10]);

// x = A^-1 b; x may be b.
void dju_solveLdl4(double x[4], const djLdl4* f, const double b[4]);

// x = A^-1 b for A positive definite, fast: two 2x2 blocks and their determinants, in all two
// divisions one after the other. Its error grows with the square of the condition. Returns false
// where A is not positive definite, or singular to rounding; x is then void.
static inline bool dju_solveSpd4(double x[4], const double A[10], const double b[4]) {
  // A = (B C; C^T D), G = B^-1 C, S = D - C^T G;  x2 = S^-1 (b2 - G^T b1), x1 = B^-1 b1 - G x2
  double det = A[0] * A[4] - A[1] * A[1], inv = 1 / det;
  double b00 = A[4] * inv, b01 = -A[1] * inv, b11 = A[0] * inv;
  double g00 = b00 * A[2] + b01 * A[5], g01 = b00 * A[3] + b01 * A[6];
  double g10 = b01 * A[2] + b11 * A[5], g11 = b01 * A[3] + b11 * A[6];
  double s00 = A[7] - (A[2] * g00 + A[5] * g10), s01 = A[8] - (A[2] * g01 + A[5] * g11);
  double s11 = A[9] - (A[3] * g01 + A[6] * g11);
  double r2 = b[2] - (g00 * b[0] + g10 * b[1]), r3 = b[3] - (g01 * b[0] + g11 * b[1]);
  double det2 = s00 * s11 - s01 * s01, inv2 = 1 / det2;
  x[2] = (s11 * r2 - s01 * r3) * inv2;
  x[3] = (s00 * r3 - s01 * r2) * inv2;
  x[0] = (b00 * b[0] + b01 * b[1]) - (g00 * x[2] + g01 * x[3]);
  x[1] = (b01 * b[0] + b11 * b[1]) - (g10 * x[2] + g11 * x[3]);
  return A[0] > 0 && det > 1e-14 * A[0] * A[4] && s00 > 1e-14 * A[7] && det2 > 1e-14 * s00 * s11 &&
         s11 > 1e-14 * A[9];
}

// y = A x
void dju_mulSym4(double y[4], const double A[10], const double x[4]);

// Y = L^-1 B for B (4 x n, row-major); Y may be B. Then B^T A^-1 B = Y^T diag(inv) Y.
void dju_forwardLdl4(double* Y, const djLdl4* f, const double* B, int n);

#endif  // DJ_MATH_SMALL_H_
