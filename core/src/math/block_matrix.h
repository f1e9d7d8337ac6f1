// Matrices with a block pattern.
//
// A matrix A (n x n, row-major) is addressed as if it were dense, but only the blocks of the
// pattern are written or read. Packed (dj_packedSize doubles) its rows of blocks follow each other:
// block row a is (rows of a) x (columns of near blocks, side by side). With one block both are the
// same.

#ifndef DJ_MATH_BLOCK_MATRIX_H_
#define DJ_MATH_BLOCK_MATRIX_H_

#include "math/pattern.h"

static inline size_t dj_packedSize(const djBlocks* b) { return b->matrix_adr[b->nblock]; }

// A <- 0, A <- f A, A <- A + B, B <- A.
void dj_clearBlocks(double* A, const djBlocks* blocks);
void dj_scaleBlocks(double* A, double f, const djBlocks* blocks);
void dj_addBlocks(double* A, const double* B, const djBlocks* blocks);
void dj_copyMatrixBlocks(double* B, const double* A, const djBlocks* blocks);

// B <- symmetric A of which the lower triangle is given; B may be A.
void dj_mirrorBlocks(double* B, const double* A, const djBlocks* blocks);

// P (packed) <- A; P may be A.
void dj_packBlocks(double* P, const double* A, const djBlocks* blocks);

// A (n x n, rows `stride` apart) <- f P with zeros outside the pattern.
void dj_unpackBlocks(double* A, int stride, double f, const double* P, const djBlocks* blocks);

// y (n) += f P x, y (n) += f P^T x; P packed.
void dj_mulBlocks(double* y, double f, const double* P, const double* x, const djBlocks* blocks);
void dj_mulBlocksT(double* y, double f, const double* P, const double* x, const djBlocks* blocks);

#endif  // DJ_MATH_BLOCK_MATRIX_H_
