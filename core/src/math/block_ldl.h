// Factorization H = L^T D L of a symmetric positive definite matrix with a block pattern: ldl.h's,
// with blocks eliminated in the pattern's order and the dofs of each leaves first. Only blocks of
// the pattern are read, and fill-in is confined to the factor's rows, which are stored one after
// the other: for the k-th block (own rows) x (own columns, then those of `later`).

#ifndef DJ_MATH_BLOCK_LDL_H_
#define DJ_MATH_BLOCK_LDL_H_

#include "math/block_matrix.h"

static inline size_t dj_blockFactorSize(const djBlocks* b) { return b->factor_adr[b->nblock]; }

// L (dj_blockFactorSize) from the lower triangle of H, with shift (n) added to its diagonal (NULL:
// none). Returns false when not positive definite.
bool dj_factorBlockLDL(double* L, const djMatrix* H, const double* shift);

// x (n) <- H^-1 x; X (n x ncol) <- H^-1 X
void dj_solveBlockLDL(double* x, const double* L, const djBlocks* blocks);
void dj_solveBlockLDLMulti(double* X, const double* L, const djBlocks* blocks, int ncol);

// Ratio of the largest and the smallest entry of D: a lower bound of the condition number.
double dj_conditionBlocks(const double* L, const djBlocks* blocks);

#endif  // DJ_MATH_BLOCK_LDL_H_
