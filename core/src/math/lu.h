// Factorization with pivoting of a regular matrix, which may be indefinite and unsymmetric: of a
// dense one by LAPACK, of one of several blocks by KLU (Davis and Palamadai Natarajan, Algorithm
// 907: KLU, 2010). It allocates, and belongs between steps.

#ifndef DJ_MATH_LU_H_
#define DJ_MATH_LU_H_

#include "math/block_matrix.h"

#include <dijoco/types.h>

// *factor, of *used doubles in memory of *room bytes that may be replaced (base/room.h), from H. It
// holds no addresses and may be copied. DJ_SINGULAR: H is singular to rounding. Negative: memory.
djStatus dj_factorLU(double** factor, size_t* room, size_t* used, const djMatrix* H);

// X (n x ncol) <- H^-1 X or H^-T X. Scratch in the factor is written.
void dj_solveLU(double* X, double* factor, int ncol, bool transpose);

// Estimate of the condition number in the 1-norm; infinite: singular. Also after DJ_SINGULAR.
double dj_conditionLU(const double* factor);

#endif  // DJ_MATH_LU_H_
