// Factorization H = L^T D L of a symmetric positive definite matrix with a block pattern, and
// operations on such matrices.
//
// A matrix A (n x n, row-major) is addressed as if it were dense, but only the blocks of the
// pattern are written or read. Packed (dj_packedSize doubles) its rows of blocks follow each other:
// block row a is (rows of a) x (columns of near blocks, side by side). The factor is packed too;
// with one block both are the dense matrix itself, and the factor is math/ldl's, bit by bit.

#ifndef DJ_MATH_BLOCK_LDL_H_
#define DJ_MATH_BLOCK_LDL_H_

#include "math/pattern.h"

static inline size_t dj_packedSize(const djBlocks* b) { return b->matrix_adr[b->nblock]; }
static inline size_t dj_factorSize(const djBlocks* b) { return b->factor_adr[b->nblock]; }

// L (dj_factorSize) from the lower triangle of H, with shift (n) added to its diagonal (NULL:
// none). Returns false when not positive definite.
bool dj_factorBlocks(double* L, const double* H, const double* shift, const djBlocks* blocks);

// x (n) <- H^-1 x; X (n x ncol) <- H^-1 X
void dj_solveBlocks(double* x, const double* L, const djBlocks* blocks);
void dj_solveBlocksMulti(double* X, const double* L, const djBlocks* blocks, int ncol);

// Ratio of the largest and the smallest entry of D: a lower bound of the condition number.
double dj_conditionBlocks(const double* L, const djBlocks* blocks);

// A <- 0, A <- f A, A <- A + B.
void dj_clearBlocks(double* A, const djBlocks* blocks);
void dj_scaleBlocks(double* A, double f, const djBlocks* blocks);
void dj_addBlocks(double* A, const double* B, const djBlocks* blocks);

// B <- symmetric A of which the lower triangle is given; B may be A.
void dj_mirrorBlocks(double* B, const double* A, const djBlocks* blocks);

// P (packed) <- A; P may be A.
void dj_packBlocks(double* P, const double* A, const djBlocks* blocks);

// A (n x n, rows `stride` apart) <- f P with zeros outside the pattern.
void dj_unpackBlocks(double* A, int stride, double f, const double* P, const djBlocks* blocks);

// y (n) += f P x, y (n) += f P^T x; P packed.
void dj_mulBlocks(double* y, double f, const double* P, const double* x, const djBlocks* blocks);
void dj_mulBlocksT(double* y, double f, const double* P, const double* x, const djBlocks* blocks);

#endif  // DJ_MATH_BLOCK_LDL_H_
