// Square matrices whose storage follows a pattern of blocks (pattern.h).
//
// Rows of blocks follow each other: block row a is (rows of a) x (columns of its near blocks, side
// by side). With one block this is a dense row-major matrix. An entry is added by
//   dj_addEntry(&A, row, col, x)                           anywhere in the pattern,
//   *dj_own(&A, row, col) += x                             row and col of one tree,
//   v = dj_blockView(&A, row, col), *dj_viewEntry(&v, i, j) += x
//                                                          i of row's tree, j of col's: the search
//                                                          for the block is made once.
// Blocks that the pattern does not hold have no entries: couple their rows first.

#ifndef DJ_MATH_BLOCK_MATRIX_H_
#define DJ_MATH_BLOCK_MATRIX_H_

#include "math/pattern.h"

typedef struct djMatrix {
  double* data;             // dj_packedSize(blocks)
  const djBlocks* blocks;   // those in force; row and col are of the whole matrix everywhere
} djMatrix;

static inline size_t dj_packedSize(const djBlocks* b) { return b->matrix_adr[b->nblock]; }

// ---- entries ----------------------------------------------------------------------------------

// Entries (row, j) of j in row's own block are dj_ownRow(A, row)[j].
static inline double* dj_ownRow(const djMatrix* A, int row) {
  return A->data + A->blocks->row_adr[row];
}

static inline double* dj_own(const djMatrix* A, int row, int col) {
  return dj_ownRow(A, row) + col;
}

// The block of a row and a column.
typedef struct djBlockView {
  double* at;               // its first entry; NULL: not in the pattern
  int stride;               // from row to row
  int row, col;             // of the first entry
} djBlockView;

djBlockView dj_blockView(const djMatrix* A, int row, int col);

// The same of blocks a and b.
djBlockView dj_blockOf(const djMatrix* A, int a, int b);

static inline double* dj_viewEntry(const djBlockView* v, int row, int col) {
  return v->at + (size_t)(row - v->row) * (size_t)v->stride + (size_t)(col - v->col);
}

// A_row,col += x. An entry outside the pattern is left out.
static inline void dj_addEntry(djMatrix* A, int row, int col, double x) {
  djBlockView v = dj_blockView(A, row, col);
  if (v.at) *dj_viewEntry(&v, row, col) += x;
}

// ---- matrices ---------------------------------------------------------------------------------

// A <- 0, A <- f A, A <- A + B (of one pattern), B <- A (of one pattern).
void dj_clearMatrix(djMatrix* A);
void dj_scaleMatrix(djMatrix* A, double f);
void dj_addMatrix(djMatrix* A, const djMatrix* B);
void dj_copyMatrix(djMatrix* B, const djMatrix* A);

// A <- A + B, A <- B on the diagonal blocks of A's pattern and zero elsewhere. B is block diagonal,
// of trees that A's blocks hold.
void dj_addDiagonal(djMatrix* A, const djMatrix* B);
void dj_setDiagonal(djMatrix* A, const djMatrix* B);

// Upper triangle <- transpose of the lower one.
void dj_mirrorMatrix(djMatrix* A);

// X (n rows, `stride` apart) <- f times the columns first ... end - 1 of A, zeros in between.
void dj_columns(double* X, int stride, double f, const djMatrix* A, int first, int end);

// y (n) += f A x, y (n) += f A^T x.
void dj_mulMatrix(double* y, double f, const djMatrix* A, const double* x);
void dj_mulMatrixT(double* y, double f, const djMatrix* A, const double* x);

// A += f x y^T, x and y zero but from low to high - 1; lower: of its lower triangle. Entries outside
// the pattern are left out.
void dj_addOuter(djMatrix* A, double f, const double* x, const double* y, int low, int high,
                 bool lower);

// ---- matrices with few entries ----------------------------------------------------------------

typedef struct djMatrixEntry {
  int row, col;
  double value;
} djMatrixEntry;

// In the order of their columns; entries of one place add up.
typedef struct djEntries {
  int n, max;
  int want;                 // entries given; more than max: these were left out
  size_t room;              // bytes
  djMatrixEntry* entry;     // (max)
} djEntries;

static inline void dj_clearEntries(djEntries* A) { A->n = A->want = 0; }

static inline void dj_pushEntry(djEntries* A, int row, int col, double value) {
  A->want++;
  if (A->n < A->max) A->entry[A->n++] = (djMatrixEntry){row, col, value};
}

// X (rows of `width`) += f A, column c of A into c + shift of X where X has it.
void dj_addColumns(double* X, int width, double f, const djEntries* A, int shift);

// y += f A x, y += f A^T x.
void dj_mulEntries(double* y, double f, const djEntries* A, const double* x);
void dj_mulEntriesT(double* y, double f, const djEntries* A, const double* x);

#endif  // DJ_MATH_BLOCK_MATRIX_H_
