// Rows of blocks of a packed factor; internal to block_ldl and block_ldu.

#ifndef DJ_MATH_BLOCK_ROW_H_
#define DJ_MATH_BLOCK_ROW_H_

#include "math/pattern.h"

// One row of blocks: own diagonal block first, then those of `later`, side by side.
typedef struct djBlockRow {
  size_t at;             // its first entry
  int first;             // row of the matrix
  int own;               // rows and columns of the diagonal block
  int width;
  const int* later;
  int nlater;
} djBlockRow;

static inline int dj_blockRows(const djBlocks* b, int block) {
  return b->adr[block + 1] - b->adr[block];
}

// The k-th to be eliminated.
static inline djBlockRow dj_blockRow(const djBlocks* b, int k) {
  djBlockRow r;
  int block = b->order[k];
  r.at = b->factor_adr[k];
  r.first = b->adr[block];
  r.own = dj_blockRows(b, block);
  r.width = (int)((b->factor_adr[k + 1] - b->factor_adr[k]) / (size_t)(r.own > 0 ? r.own : 1));
  r.later = b->later + b->later_adr[k];
  r.nlater = b->later_adr[k + 1] - b->later_adr[k];
  return r;
}

#endif  // DJ_MATH_BLOCK_ROW_H_
