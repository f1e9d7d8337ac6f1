// Factors of a square matrix and what is done with them, whatever its kind.

#ifndef DJ_MATH_FACTOR_H_
#define DJ_MATH_FACTOR_H_

#include "math/block_matrix.h"

#include <dijoco/types.h>

typedef enum djFactorKind {
  DJ_LDL,   // symmetric positive definite: ldl.h, block_ldl.h
  DJ_LDU,   // positive definite symmetric part: ldu.h, block_ldu.h
  DJ_LU     // regular: lu.h
} djFactorKind;

typedef struct djFactor {
  djFactorKind kind;
  int n;
  double* data;           // dj_factorNeeds of the matrix; DJ_LU: in memory of its own
  djBlocks blocks;        // of the matrix last factored; nblock < 2: dense
  size_t room, used;      // DJ_LU: bytes there are, doubles in use
  bool big;               // dense, large and full: by BLAS (front.h)
} djFactor;

// Doubles that the factor of a matrix needs, but for DJ_LU; and that a factor uses.
size_t dj_factorNeeds(djFactorKind kind, const djBlocks* blocks);
size_t dj_factorUses(const djFactor* factor);

// Factors H (n x n; DJ_LDL: its lower triangle) + diag(shift), shift (n) or NULL. Returns false
// when a pivot is not positive.
bool dj_factor(djFactor* factor, const djMatrix* H, const double* shift);

// The same of kind DJ_LU: H as a whole, without a shift. Allocates. DJ_SINGULAR: to rounding; the
// condition says how.
djStatus dj_factorPivoting(djFactor* factor, const djMatrix* H);

// x (n) <- H^-1 x, x <- H^-T x, X (n x ncol) <- H^-1 X
void dj_solve(double* x, const djFactor* factor);
void dj_solveTranspose(double* x, const djFactor* factor);
void dj_solveMulti(double* X, const djFactor* factor, int ncol);

// Of a block diagonal H, DJ_LDL: x (n) <- W x with W^T W = H^-1, block by block from dof low on.
void dj_halveDiagonal(double* x, const djFactor* factor, int low, int high);

// X <- H^-1 X for a block diagonal H, X of its pattern.
void dj_solveDiagonal(djMatrix* X, const djFactor* factor);

// Ratio of the largest and the smallest pivot; a lower bound of the condition number (DJ_LDL).
// DJ_LU: an estimate of the condition number.
double dj_condition(const djFactor* factor);

#endif  // DJ_MATH_FACTOR_H_
