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

// y = A x
void dju_mulSym4(double y[4], const double A[10], const double x[4]);

// Y = L^-1 B for B (4 x n, row-major); Y may be B. Then B^T A^-1 B = Y^T diag(inv) Y.
void dju_forwardLdl4(double* Y, const djLdl4* f, const double* B, int n);

#endif  // DJ_MATH_SMALL_H_
