#include "math/block_ldu.h"

#include "math/block_row.h"

#include <math.h>
#include <string.h>

// ---- factorization ----------------------------------------------------------------------------

// Entries of H in the k-th row of blocks and in its columns; what will be filled in is zero.
static void load(double* F, const djMatrix* H, const double* shift, int k) {
  const djBlocks* b = H->blocks;
  djBlockRow r = dj_blockRow(b, k);
  int nrow = r.width - r.own, at = 0;
  double *row = F + r.at, *column = F + b->upper_adr[k];
  for (int i = 0; i < r.own; i++) {
    double* to = row + (size_t)i * r.width;
    memcpy(to, dj_own(H, r.first + i, r.first), (size_t)r.own * sizeof(double));
    if (shift) to[i] += shift[r.first + i];
  }
  for (int l = 0; l < r.nlater; l++) {
    int other = b->order[r.later[l]], size = dj_blockRows(b, other);
    djBlockView v = dj_blockOf(H, b->order[k], other), t = dj_blockOf(H, other, b->order[k]);
    for (int i = 0; i < r.own; i++) {
      double* right = row + (size_t)i * r.width + r.own + at;
      double* below = column + (size_t)i * nrow + at;
      for (int j = 0; j < size; j++) {
        right[j] = v.at ? v.at[(size_t)i * v.stride + j] : 0;
        below[j] = v.at ? t.at[(size_t)j * t.stride + i] : 0;
      }
    }
    at += size;
  }
}

static void subtractRow(double* restrict to, double f, const double* restrict from, int n) {
  for (int j = 0; j < n; j++) to[j] -= f * from[j];
}

// Pivots of the diagonal block, from the last to the first. Rows are divided by D at once, columns
// below the block are not.
static bool eliminateOwn(double* row, double* column, const djBlockRow* r, const djMatrix* H) {
  int nrow = r->width - r->own;
  for (int k = r->own - 1; k >= 0; k--) {
    double* at = row + (size_t)k * r->width;
    double scale = fabs(*dj_own(H, r->first + k, r->first + k));
    if (!(at[k] > 1e-14 * scale) || !isfinite(at[k])) return false;   // also for NaN
    double inv = 1 / at[k];
    for (int j = 0; j < k; j++) at[j] *= inv;
    for (int j = r->own; j < r->width; j++) at[j] *= inv;
    for (int i = 0; i < k; i++) {
      double *to = row + (size_t)i * r->width, f = to[k];
      if (f != 0) {
        subtractRow(to, f, at, k);
        subtractRow(to + r->own, f, at + r->own, nrow);
        to[k] = f * inv;
      }
      if (at[i] != 0) {
        subtractRow(column + (size_t)i * nrow, at[i], column + (size_t)k * nrow, nrow);
      }
    }
    at[k] = inv;
  }
  return true;
}

// out (rows x columns, rows `stride` apart) -= A^T B; A, B (own x ..) with rows `sa`, `sb` apart.
static void subtract(double* out, int stride, int rows, int columns, int own, const double* A,
                     int sa, const double* B, int sb) {
  for (int k = 0; k < own; k++) {
    for (int i = 0; i < rows; i++) {
      double f = A[(size_t)k * sa + i];
      if (f != 0) subtractRow(out + (size_t)i * stride, f, B + (size_t)k * sb, columns);
    }
  }
}

// H_pq -= U_pk D_k L_kq for the rows and columns of later blocks; then columns are divided by D.
static void updateLater(double* F, const djBlocks* b, int k) {
  djBlockRow r = dj_blockRow(b, k);
  int nrow = r.width - r.own, from = 0;
  const double* row = F + r.at + r.own;
  double* column = F + b->upper_adr[k];
  for (int l = 0; l < r.nlater; l++) {
    djBlockRow to = dj_blockRow(b, r.later[l]);
    double *right = F + to.at, *below = F + b->upper_adr[r.later[l]];
    subtract(right, to.width, to.own, to.own, r.own, column + from, nrow, row + from, r.width);
    int target = 0, source = from + to.own, m = 0;
    for (int q = l + 1; q < r.nlater; q++) {
      while (to.later[m] != r.later[q]) target += dj_blockRows(b, b->order[to.later[m++]]);
      int size = dj_blockRows(b, b->order[r.later[q]]);
      subtract(right + to.own + target, to.width, to.own, size, r.own, column + from, nrow,
               row + source, r.width);
      subtract(below + target, to.width - to.own, to.own, size, r.own, row + from, r.width,
               column + source, nrow);
      source += size;
    }
    from += to.own;
  }
  for (int i = 0; i < r.own; i++) {
    double inv = F[r.at + (size_t)i * (r.width + 1)];
    for (int j = 0; j < nrow; j++) column[(size_t)i * nrow + j] *= inv;
  }
}

bool dj_factorBlockLDU(double* F, const djMatrix* H, const double* shift) {
  const djBlocks* b = H->blocks;
  for (int k = 0; k < b->nblock; k++) load(F, H, shift, k);
  for (int k = 0; k < b->nblock; k++) {
    djBlockRow r = dj_blockRow(b, k);
    if (!eliminateOwn(F + r.at, F + b->upper_adr[k], &r, H)) return false;
    updateLater(F, b, k);
  }
  return true;
}

// ---- solution ---------------------------------------------------------------------------------

// The factors U and L^T are swept from the first block to be eliminated, L and U^T from the last.
// A sweep's coefficients of dof i are those in its block (`stride` apart) and those of later rows.
typedef struct Sweep {
  const double *own, *later;
  int stride;
} Sweep;

// Row i of the block as L's, or column i as U's.
static Sweep sweepOf(const double* F, const djBlocks* b, const djBlockRow* r, int k, int i,
                     bool upper) {
  const double* row = F + r->at + (size_t)i * r->width;
  if (!upper) return (Sweep){row, row + r->own, 1};
  return (Sweep){F + r->at + i, F + b->upper_adr[k] + (size_t)i * (r->width - r->own), r->width};
}

// X_j -= c_j X_i for all j that are eliminated after i.
static void scatter(double* X, int ncol, const Sweep* s, const djBlocks* b, const djBlockRow* r,
                    int i) {
  const double *from = X + (size_t)(r->first + i) * ncol, *c = s->later;
  for (int j = 0; j < i; j++) {
    subtractRow(X + (size_t)(r->first + j) * ncol, s->own[(size_t)j * s->stride], from, ncol);
  }
  for (int l = 0; l < r->nlater; l++) {
    int other = b->order[r->later[l]], size = dj_blockRows(b, other);
    double* to = X + (size_t)b->adr[other] * ncol;
    for (int j = 0; j < size; j++) subtractRow(to + (size_t)j * ncol, *c++, from, ncol);
  }
}

// X_i <- X_i/D_i - sum_j c_j X_j.
static void gather(double* X, int ncol, double inv, const Sweep* s, const djBlocks* b,
                   const djBlockRow* r, int i) {
  double* to = X + (size_t)(r->first + i) * ncol;
  const double* c = s->later;
  for (int k = 0; k < ncol; k++) to[k] *= inv;
  for (int j = 0; j < i; j++) {
    subtractRow(to, s->own[(size_t)j * s->stride], X + (size_t)(r->first + j) * ncol, ncol);
  }
  for (int l = 0; l < r->nlater; l++) {
    int other = b->order[r->later[l]], size = dj_blockRows(b, other);
    const double* from = X + (size_t)b->adr[other] * ncol;
    for (int j = 0; j < size; j++) subtractRow(to, *c++, from + (size_t)j * ncol, ncol);
  }
}

static void solve(double* X, const double* F, const djBlocks* b, int ncol, bool transpose) {
  for (int k = 0; k < b->nblock; k++) {
    djBlockRow r = dj_blockRow(b, k);
    for (int i = r.own - 1; i >= 0; i--) {
      Sweep s = sweepOf(F, b, &r, k, i, !transpose);
      scatter(X, ncol, &s, b, &r, i);
    }
  }
  for (int k = b->nblock - 1; k >= 0; k--) {
    djBlockRow r = dj_blockRow(b, k);
    for (int i = 0; i < r.own; i++) {
      Sweep s = sweepOf(F, b, &r, k, i, transpose);
      gather(X, ncol, F[r.at + (size_t)i * (r.width + 1)], &s, b, &r, i);
    }
  }
}

void dj_solveBlockLDU(double* x, const double* F, const djBlocks* b) { solve(x, F, b, 1, false); }

void dj_solveBlockLDUTranspose(double* x, const double* F, const djBlocks* b) {
  solve(x, F, b, 1, true);
}

void dj_solveBlockLDUMulti(double* X, const double* F, const djBlocks* b, int ncol) {
  solve(X, F, b, ncol, false);
}
