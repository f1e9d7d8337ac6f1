// Factorization H = U D L of an unsymmetric matrix with a block pattern: ldu.h's, with blocks in
// the pattern's order. The factor holds the rows of block_ldl.h first, with U above the diagonal of
// each diagonal block; then, in the same order, the columns of U below each diagonal block,
// transposed: (own columns) x (rows of `later`).

#ifndef DJ_MATH_BLOCK_LDU_H_
#define DJ_MATH_BLOCK_LDU_H_

#include "math/block_matrix.h"

static inline size_t dj_blockLDUSize(const djBlocks* b) { return b->upper_adr[b->nblock]; }

// F (dj_blockLDUSize) from H, with shift (n) added to its diagonal (NULL: none). Returns false when
// a pivot is not positive.
bool dj_factorBlockLDU(double* F, const djMatrix* H, const double* shift);

// x (n) <- H^-1 x, x <- H^-T x, X (n x ncol) <- H^-1 X
void dj_solveBlockLDU(double* x, const double* F, const djBlocks* blocks);
void dj_solveBlockLDUTranspose(double* x, const double* F, const djBlocks* blocks);
void dj_solveBlockLDUMulti(double* X, const double* F, const djBlocks* blocks, int ncol);

#endif  // DJ_MATH_BLOCK_LDU_H_
