// Factorization H = U D L of an unsymmetric matrix with positive definite symmetric part, leaves
// first and without pivoting: see ldl.h for the order. Such matrices have positive pivots, and the
// growth of the factors is bounded (Golub and Van Loan, Matrix Computations, section 4.2).

#ifndef DJ_MATH_LDU_H_
#define DJ_MATH_LDU_H_

#include <stdbool.h>

// F (n x n): unit-lower L below the diagonal, unit-upper U above it, 1/D on it; from H (n x n),
// with shift (n) added to its diagonal (NULL: none). Returns false when a pivot is not positive.
bool dj_factorLDU(double* F, const double* H, const double* shift, int n);

// x (n) <- H^-1 x, x <- H^-T x
void dj_solveLDU(double* x, const double* F, int n);
void dj_solveLDUTranspose(double* x, const double* F, int n);

// X (n x ncol) <- H^-1 X
void dj_solveLDUMulti(double* X, const double* F, int n, int ncol);

#endif  // DJ_MATH_LDU_H_
