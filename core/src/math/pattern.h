// Block pattern of a symmetric matrix, and an order of elimination that causes little fill-in.
//
// Rows are split into finest blocks once (the dofs of one kinematic tree). What couples rows of
// two blocks (a contact) joins them. The analysis is a function of the set of coupled blocks
// alone, so that results do not depend on what was coupled before, and it is made anew only when
// that set changes. Where blocks do not pay, or the lists are full, the pattern is one dense block.

#ifndef DJ_MATH_PATTERN_H_
#define DJ_MATH_PATTERN_H_

#include "base/arena.h"

#include <stdbool.h>

// The pattern in force. Row a of blocks holds `near`. Blocks are eliminated in the order
// order[0], order[1]...; the k-th row of the factor holds the diagonal block of order[k] and those
// of `later`, which are numbers in that order.
typedef struct djBlocks {
  int n;                     // rows
  int nblock;                // 1: dense
  const size_t* matrix_adr;  // (nblock + 1) first entry of each row of blocks, packed
  const size_t* factor_adr;  // (nblock + 1) the same of rows of the factor, in their order
  const size_t* upper_adr;   // (nblock + 1) and of its columns where it is not symmetric
  const int* adr;            // (nblock + 1) first row of each block
  const int* order;          // (nblock)
  const int* near_adr;       // (nblock + 1)
  const int* near;           // ascending
  const int* later_adr;      // (nblock + 1)
  const int* later;          // ascending
} djBlocks;

typedef struct djPattern {
  djBlocks blocks;
  bool dense;                // ask for one dense block always: the reference
  // private
  int n, nfine, maxpair, maxlater;
  int npair, nanalysed;      // nanalysed -1: never
  bool overflow;
  int* fine;                 // (nfine + 1) first row of each
  int* fine_of;              // (n) block of each row
  size_t words;              // of one row of bits
  uint64_t* coupled;         // (nfine x words)
  uint64_t* work;            // (nfine x words)
  int* pair;                 // (maxpair x 2) coupled blocks, as they came
  int* analysed;             // (maxpair x 2) those of the last analysis
  size_t *matrix_adr, *factor_adr, *upper_adr;
  int *order, *near_adr, *near, *later_adr, *later;
  int *rank, *degree, *head, *next, *previous;   // (nfine + 2) scratch
  int whole[2];              // {0, n}
} djPattern;

// Arrays for n rows in nfine blocks; then dj_setPattern with the first row of each and n.
void dj_takePattern(djPattern* pattern, djArena* arena, int n, int nfine);
void dj_setPattern(djPattern* pattern, const int* fine);

// Forget the last analysis. The contents of the arrays may be anything.
void dj_forgetPattern(djPattern* pattern);

// Name all couplings of rows: begin, couple any number of times, end.
void dj_beginPattern(djPattern* pattern);
void dj_coupleRows(djPattern* pattern, int row_a, int row_b);
void dj_endPattern(djPattern* pattern);

// Copy of the pattern in force into memory of dj_blocksSize bytes, aligned as a double.
size_t dj_blocksSize(const djBlocks* blocks);
size_t dj_maxBlocksSize(int nfine);
void dj_copyBlocks(djBlocks* dest, void* memory, const djBlocks* src);

#endif  // DJ_MATH_PATTERN_H_
