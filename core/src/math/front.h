// Elimination of dense rows by BLAS, for factors that are large enough: see ldl.h and ldu.h for the
// order (last to first) and for what is stored.
//
// A front is `own` rows that are eliminated, with their own columns and those of `later` rows that
// they are coupled to. BLAS is given our memory and is never told how many threads to use.

#ifndef DJ_MATH_FRONT_H_
#define DJ_MATH_FRONT_H_

#include <stdbool.h>
#include <stddef.h>

// From this many rows on BLAS factors full matrices faster than ldl.c and ldu.c, and solves for
// several right sides. On a Xeon with AVX-512, by hand and by BLAS (OpenBLAS 0.3.21, one thread),
// in us:
//   rows                       32         64         96        128         288
//   LDL                  1.8, 1.9   9.5, 8.5     26, 20     63, 41    788, 279
//   LDU                  2.5, 2.3     13, 15     47, 40    118, 77   1426, 558
//   2 n right sides       11, 8.0     93, 52   327, 158   772, 344  8783, 3476
// tests/test_super.c prints this table.
enum { DJ_BIG = 96 };

// Symmetric: A (own x own, lower triangle, then `later` columns; rows `stride` apart). Left: L and
// 1/D of the own part, D L of the later one. diagonal: H_kk is diagonal[k step]. False when a pivot
// is not positive.
bool dj_eliminateLDL(double* A, int own, int later, int stride, const double* diagonal,
                     size_t step);

// Not symmetric: A as above with the whole square, C (own x later, rows `later` apart) the rows
// below it, transposed. Left: L, U and 1/D of the own part, L of the later columns, D U^T of C.
bool dj_eliminateLDU(double* A, double* C, int own, int later, int stride, const double* diagonal,
                     size_t step);

// out (rows x columns, `columns` apart) <- -P^T Q of `own` rows, sp and sq apart.
void dj_frontUpdate(double* out, int rows, int columns, int own, const double* P, int sp,
                    const double* Q, int sq);

// X (n x ncol) <- L^-T X, <- L^-1 X, <- U^-1 X, of the factors in F (n x n, rows `stride` apart).
void dj_frontBack(double* X, const double* F, int n, int stride, int ncol);
void dj_frontDown(double* X, const double* F, int n, int stride, int ncol);
void dj_frontUp(double* X, const double* F, int n, int stride, int ncol);
// X_k <- X_k / D_k.
void dj_frontDivide(double* X, const double* F, int n, int stride, int ncol);

#endif  // DJ_MATH_FRONT_H_
