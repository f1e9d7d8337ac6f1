// Factors of a square matrix and what is done with them, whatever its kind.

#ifndef DJ_MATH_FACTOR_H_
#define DJ_MATH_FACTOR_H_

#include "math/pattern.h"

typedef enum djFactorKind {
  DJ_LDL,   // symmetric positive definite: ldl.h, block_ldl.h
  DJ_LDU    // positive definite symmetric part: ldu.h, block_ldu.h
} djFactorKind;

typedef struct djFactor {
  djFactorKind kind;
  int n;
  double* data;           // dj_factorSize(n)
  djBlocks blocks;        // of the matrix; nblock < 2: dense
} djFactor;

size_t dj_factorSize(int n);                          // doubles, of any kind
size_t dj_usedFactor(const djFactor* factor);         // doubles of data, with its blocks

// Factors H (n x n; DJ_LDL: its lower triangle; only the blocks are read) + diag(shift), shift (n)
// or NULL. Returns false when a pivot is not positive.
bool dj_factor(djFactor* factor, const double* H, const double* shift);

// x (n) <- H^-1 x, x <- H^-T x, X (n x ncol) <- H^-1 X
void dj_solve(double* x, const djFactor* factor);
void dj_solveTranspose(double* x, const djFactor* factor);
void dj_solveMulti(double* X, const djFactor* factor, int ncol);

// Ratio of the largest and the smallest pivot; a lower bound of the condition number (DJ_LDL).
double dj_condition(const djFactor* factor);

#endif  // DJ_MATH_FACTOR_H_
