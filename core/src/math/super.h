// Supernodal factors of matrices of many blocks: H = L^T D L or H = U D L as in block_ldl.h and
// block_ldu.h, in an order by AMD, where runs of blocks with the same later rows are eliminated
// together (Ng and Peyton, Block sparse Cholesky algorithms on advanced uniprocessor computers,
// SIAM J. Sci. Comput. 14, 1993): the large ones by BLAS (front.h), the small ones by hand.
//
// Within a supernode, and among the rows that are later to it, those that are eliminated last come
// first. The factor holds for each supernode (own rows) x (own columns, later columns); where it is
// not symmetric then, in the same order, (own) x (later rows) of what lies below, transposed.
// Scratch follows: what solutions with one right side need belongs to the factor.

#ifndef DJ_MATH_SUPER_H_
#define DJ_MATH_SUPER_H_

#include "math/block_matrix.h"

// ---- pattern ----------------------------------------------------------------------------------

// order and rank of a pattern of many blocks, from its lists `near`.
void dj_orderMany(djPattern* pattern);

// Its supernodes, from the lists `later`.
void dj_findSupernodes(djPattern* pattern);

// ---- factor -----------------------------------------------------------------------------------

// One supernode: `at` its first entry, `below` that of its columns, `row` its first row in the
// order of all; own rows, later ones; nlater blocks from list on, the last of them first.
typedef struct djSuper {
  size_t at, below;
  int row, own, later, nlater;
  const int* list;
} djSuper;

static inline djSuper dj_superOf(const djBlocks* b, int s) {
  int first = b->super_first[s], last = b->super_first[s + 1] - 1, block = b->order[first];
  djSuper r;
  r.at = b->super_adr[s];
  r.below = b->super_upper[s];
  r.row = b->super_row[last];
  r.own = b->super_row[first] + b->adr[block + 1] - b->adr[block] - r.row;
  r.later = (int)((b->super_adr[s + 1] - r.at) / (size_t)r.own) - r.own;
  r.nlater = b->later_adr[last + 1] - b->later_adr[last];
  r.list = b->later + b->later_adr[last + 1] - 1;
  return r;
}

// Doubles of the factor, and with the scratch of factorization and of several right sides.
size_t dj_superUses(const djBlocks* blocks, bool symmetric);
size_t dj_superNeeds(const djBlocks* blocks, bool symmetric);

// F from H (symmetric: its lower triangle) and shift (n) or NULL. False when a pivot is not
// positive.
bool dj_factorSuper(double* F, const djMatrix* H, const double* shift, bool symmetric);

// X (n x ncol) <- H^-1 X or H^-T X. One column: scratch as of dj_superUses.
void dj_solveSuper(double* X, double* F, const djBlocks* blocks, int ncol, bool symmetric,
                   bool transpose);

// Ratio of the largest and the smallest pivot.
double dj_conditionSuper(const double* F, const djBlocks* blocks);

#endif  // DJ_MATH_SUPER_H_
