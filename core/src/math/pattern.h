// Block pattern of a symmetric matrix, and an order of elimination that causes little fill-in.
//
// Rows are split into finest blocks once (the dofs of one kinematic tree). What couples rows of
// two blocks (a contact) joins them. The analysis is a function of the set of coupled blocks
// alone, so that results do not depend on what was coupled before, and it is made anew only when
// that set changes. Where blocks do not pay, the pattern is one dense block. The order
// is that of minimum degree; of many blocks by AMD (Amestoy, Davis and Duff, Algorithm 837, 2004).
//
// The lists of couplings and of blocks have room for some; where they are short, nothing is lost
// but time: dj_growPattern, and all couplings are named anew.

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
  const size_t* row_adr;     // (n) entry (i, j) of i's own block is at row_adr[i] + j
  const int* adr;            // (nblock + 1) first row of each block
  const int* order;          // (nblock)
  const int* near_adr;       // (nblock + 1)
  const int* near;           // ascending
  const int* near_col;       // column of each of `near` in its row of blocks
  const int* later_adr;      // (nblock + 1)
  const int* later;          // ascending
  const int* block_of;       // (n)
  const int* rank;           // (nblock) inverse of order
  // Of many blocks: supernodes (super.h), runs of blocks in the order of elimination
  int nsuper;                // 0: there are none
  int front;                 // rows of the largest, with those that are later
  const int* super_first;    // (nsuper + 1) in that order
  const int* super_of;       // (nblock) by that order, as is the following
  const int* super_row;      // (nblock) first row of a block among those of all supernodes
  const size_t* super_adr;   // (nsuper + 1) first entry of each one's rows
  const size_t* super_upper; // (nsuper + 1) and of its columns
} djBlocks;

// Where block `other` stands in the list `near` of `block`, or -1.
static inline int dj_findNear(const djBlocks* b, int block, int other) {
  int lo = b->near_adr[block], hi = b->near_adr[block + 1];
  while (lo < hi) {
    int mid = lo + (hi - lo) / 2;
    if (b->near[mid] < other) lo = mid + 1;
    else hi = mid;
  }
  return lo < b->near_adr[block + 1] && b->near[lo] == other ? lo : -1;
}

// Columns of near[*k] and of the blocks that follow it without a gap; *k moves behind them.
static inline int dj_nearStretch(const djBlocks* b, int block, int* k) {
  int from = b->near[(*k)++], to = from;
  while (*k < b->near_adr[block + 1] && b->near[*k] == to + 1) to = b->near[(*k)++];
  return b->adr[to + 1] - b->adr[from];
}

// From so many blocks on.
enum { DJ_MANY = 33 };

typedef struct djPattern {
  djBlocks blocks;
  bool dense;                // ask for one dense block always: the reference
  long version;              // of blocks: another one after each analysis
  // private
  int n, nfine, maxpair, maxlater;
  int wantpair, wantlater;   // that the last couplings would have needed
  int npair, nanalysed;      // nanalysed -1: never
  void* lists;               // those that grow
  size_t nlists;             // bytes
  int* fine;                 // (nfine + 1) first row of each
  int* fine_of;              // (n) block of each row
  size_t words;              // of one row of bits; 0: many blocks
  uint64_t* coupled;         // (nfine x words)
  uint64_t* work;            // (nfine x words)
  int* slot;                 // (nslot) of many blocks: a table of the pairs by their hash, or -1
  int nslot;                 // a power of two
  int* list;                 // (nlist) lists of neighbours, in which AMD works
  int nlist;
  int* pair;                 // (maxpair x 2) coupled blocks, as they came
  int* analysed;             // (maxpair x 2) those of the last analysis
  size_t *matrix_adr, *factor_adr, *upper_adr, *row_adr;
  int *order, *near_adr, *near, *near_col, *later_adr, *later;
  int* zero;                 // (n)
  int *rank, *degree, *head, *next, *previous;   // (nfine + 2) scratch but for rank
  int *length, *weight, *element, *mark;         // (nfine + 2) scratch, of many blocks
  int *super_first, *super_of, *super_row;       // (nfine + 2)
  size_t *super_adr, *super_upper;               // (nfine + 2)
  int whole[2];              // {0, n}
} djPattern;

// Arrays for n rows in nfine blocks; then dj_setPattern with the first row of each and n, which
// allocates lists of dj_patternLists bytes (false: out of memory), and dj_freePattern.
void dj_takePattern(djPattern* pattern, djArena* arena, int n, int nfine);
bool dj_setPattern(djPattern* pattern, const int* fine);
size_t dj_patternLists(int nfine);
void dj_freePattern(djPattern* pattern);

// Forget the last analysis. The contents of the arrays may be anything.
void dj_forgetPattern(djPattern* pattern);

// Name all couplings of rows: begin, couple any number of times, end. False where lists are short:
// the pattern is then undefined.
void dj_beginPattern(djPattern* pattern);
void dj_coupleRows(djPattern* pattern, int row_a, int row_b);
bool dj_endPattern(djPattern* pattern);
// In between: blocks of marked rows are coupled with each other, and with all that one of them has
// been coupled with by then.
void dj_clearMarks(djPattern* pattern);
void dj_markRow(djPattern* pattern, int row);
void dj_coupleMarked(djPattern* pattern);

// Room for what the last couplings needed. False when out of memory: the lists are as they were.
bool dj_growPattern(djPattern* pattern);

// Blocks of which none couples to another, in memory of dj_diagonalSize bytes, aligned as a double:
// first (nblock + 1) rows of each, and n.
size_t dj_diagonalSize(int n, int nblock);
djBlocks dj_diagonalBlocks(void* memory, int n, int nblock, const int* first);

// Copy of the pattern in force into memory of dj_blocksSize bytes, aligned as a double: for
// products and solutions, it has neither row_adr nor block_of.
size_t dj_blocksSize(const djBlocks* blocks);
void dj_copyBlocks(djBlocks* dest, void* memory, const djBlocks* src);

#endif  // DJ_MATH_PATTERN_H_
