#include "math/block_ldl.h"

#include "math/block_row.h"
#include "math/lanes.h"

#include <math.h>
#include <string.h>

// ---- factorization ----------------------------------------------------------------------------

// The row's entries of H; blocks that will be filled in are zero.
static void loadRow(double* L, const djMatrix* H, const double* shift, int k) {
  const djBlocks* b = H->blocks;
  djBlockRow r = dj_blockRow(b, k);
  int block = b->order[k];
  for (int i = 0; i < r.own; i++) {
    double* to = L + r.at + (size_t)i * r.width;
    memcpy(to, dj_own(H, r.first + i, r.first), (size_t)(i + 1) * sizeof(double));
    if (shift) to[i] += shift[r.first + i];
  }
  double* to = L + r.at + r.own;
  for (int l = 0; l < r.nlater; l++) {
    int other = b->order[r.later[l]], size = dj_blockRows(b, other);
    bool below = other < block;   // the lower triangle is given
    djBlockView v = below ? dj_blockOf(H, block, other) : dj_blockOf(H, other, block);
    for (int i = 0; i < r.own; i++) {
      double* row = to + (size_t)i * r.width;
      if (!v.at) memset(row, 0, (size_t)size * sizeof(double));
      else if (below) memcpy(row, v.at + (size_t)i * v.stride, (size_t)size * sizeof(double));
      else for (int j = 0; j < size; j++) row[j] = v.at[(size_t)j * v.stride + i];
    }
    to += size;
  }
}

// Pivots of the diagonal block, from the last to the first: H_ij -= H_ki H_kj / D_k for i < k in
// the block and all j. The diagonal receives 1/D; rows are divided by D later.
static bool eliminateOwn(double* at, const djBlockRow* r, const djMatrix* H) {
  for (int k = r->own - 1; k >= 0; k--) {
    double* restrict row = at + (size_t)k * r->width;
    double scale = fabs(*dj_own(H, r->first + k, r->first + k));
    if (!(row[k] > 1e-14 * scale) || !isfinite(row[k])) return false;   // also for NaN
    row[k] = 1 / row[k];
    for (int i = k - 1; i >= 0; i--) {
      if (row[i] == 0) continue;
      double f = row[i] * row[k];
      double* restrict to = at + (size_t)i * r->width;
      for (int j = 0; j <= i; j++) to[j] -= f * row[j];
      for (int j = r->own; j < r->width; j++) to[j] -= f * row[j];
    }
  }
  return true;
}

// out (rows x columns) -= A^T D^-1 B: A and B are columns `a` and `b` of the row of blocks `at`,
// whose diagonal holds 1/D. lower: the lower triangle only.
static void subtract(double* out, int stride, int rows, int columns, const double* at,
                     const djBlockRow* r, int a, int b, bool lower) {
  for (int i = 0; i < rows; i++) {
    double* to = out + (size_t)i * stride;
    int end = lower ? i + 1 : columns;
    for (int first = 0; first < end; first += DJU_LANES) {
      const int n = end - first < DJU_LANES ? end - first : DJU_LANES;
      djLanes sum = dju_loadFirst(to + first, n);
      for (int k = 0; k < r->own; k++) {
        const double* row = at + (size_t)k * r->width;
        if (row[a + i] == 0) continue;
        const double f = row[a + i] * row[k];
        sum -= f * dju_loadFirst(row + b + first, n);
      }
      dju_storeFirst(to + first, sum, n);
    }
  }
}

// What elimination of the k-th block leaves in rows of its later blocks. Every later block but the
// first of a row is later than that one too.
static void updateLater(double* L, const djBlocks* b, int k) {
  djBlockRow r = dj_blockRow(b, k);
  const double* at = L + r.at;
  int from = r.own;
  for (int l = 0; l < r.nlater; l++) {
    djBlockRow to = dj_blockRow(b, r.later[l]);
    double* out = L + to.at;
    subtract(out, to.width, to.own, to.own, at, &r, from, from, true);
    int target = to.own, source = from + to.own, m = 0;
    for (int q = l + 1; q < r.nlater; q++) {
      while (to.later[m] != r.later[q]) target += dj_blockRows(b, b->order[to.later[m++]]);
      int size = dj_blockRows(b, b->order[r.later[q]]);
      subtract(out + target, to.width, to.own, size, at, &r, from, source, false);
      source += size;
    }
    from += to.own;
  }
}

static void divideRow(double* at, const djBlockRow* r) {
  for (int k = 0; k < r->own; k++) {
    double* row = at + (size_t)k * r->width;
    for (int j = 0; j < k; j++) row[j] *= row[k];
    for (int j = r->own; j < r->width; j++) row[j] *= row[k];
  }
}

bool dj_factorBlockLDL(double* L, const djMatrix* H, const double* shift) {
  const djBlocks* b = H->blocks;
  for (int k = 0; k < b->nblock; k++) loadRow(L, H, shift, k);
  for (int k = 0; k < b->nblock; k++) {
    djBlockRow r = dj_blockRow(b, k);
    if (!eliminateOwn(L + r.at, &r, H)) return false;
    updateLater(L, b, k);
    divideRow(L + r.at, &r);
  }
  return true;
}

double dj_conditionBlocks(const double* L, const djBlocks* b) {
  double lo = INFINITY, hi = 0;
  for (int k = 0; k < b->nblock; k++) {
    djBlockRow r = dj_blockRow(b, k);
    for (int i = 0; i < r.own; i++) {
      double d = L[r.at + (size_t)i * (r.width + 1)];
      if (d < lo) lo = d;
      if (d > hi) hi = d;
    }
  }
  return b->n ? hi / lo : 1;
}

// ---- solution ---------------------------------------------------------------------------------

// X_j -= row_j from for j < n; to -= sum_j row_j X_j.
static void axpyRows(double* X, const double* row, int n, const double* restrict from, size_t nc) {
  for (int j = 0; j < n; j++) {
    double f = row[j];
    if (f == 0) continue;
    double* restrict to = X + (size_t)j * nc;
    for (size_t c = 0; c < nc; c++) to[c] -= f * from[c];
  }
}

static void gatherRows(double* restrict to, const double* X, const double* row, int n, size_t nc) {
  for (int j = 0; j < n; j++) {
    double f = row[j];
    if (f == 0) continue;
    const double* restrict from = X + (size_t)j * nc;
    for (size_t c = 0; c < nc; c++) to[c] -= f * from[c];
  }
}

// x <- L^-T x, then x <- L^-1 D^-1 x.
void dj_solveBlockLDLMulti(double* X, const double* L, const djBlocks* b, int ncol) {
  size_t nc = ncol;
  for (int k = 0; k < b->nblock; k++) {
    djBlockRow r = dj_blockRow(b, k);
    for (int i = r.own - 1; i >= 0; i--) {
      const double* row = L + r.at + (size_t)i * r.width;
      const double* restrict from = X + (size_t)(r.first + i) * nc;
      axpyRows(X + (size_t)r.first * nc, row, i, from, nc);
      row += r.own;
      for (int l = 0; l < r.nlater; l++) {
        int other = b->order[r.later[l]], size = dj_blockRows(b, other);
        axpyRows(X + (size_t)b->adr[other] * nc, row, size, from, nc);
        row += size;
      }
    }
  }
  for (int k = b->nblock - 1; k >= 0; k--) {
    djBlockRow r = dj_blockRow(b, k);
    for (int i = 0; i < r.own; i++) {
      const double* row = L + r.at + (size_t)i * r.width;
      double* restrict to = X + (size_t)(r.first + i) * nc;
      for (size_t c = 0; c < nc; c++) to[c] *= row[i];
      gatherRows(to, X + (size_t)r.first * nc, row, i, nc);
      row += r.own;
      for (int l = 0; l < r.nlater; l++) {
        int other = b->order[r.later[l]], size = dj_blockRows(b, other);
        gatherRows(to, X + (size_t)b->adr[other] * nc, row, size, nc);
        row += size;
      }
    }
  }
}

void dj_solveBlockLDL(double* x, const double* L, const djBlocks* b) {
  for (int k = 0; k < b->nblock; k++) {
    djBlockRow r = dj_blockRow(b, k);
    for (int i = r.own - 1; i >= 0; i--) {
      const double* row = L + r.at + (size_t)i * r.width;
      double f = x[r.first + i];
      for (int j = 0; j < i; j++) x[r.first + j] -= row[j] * f;
      row += r.own;
      for (int l = 0; l < r.nlater; l++) {
        int other = b->order[r.later[l]], size = dj_blockRows(b, other);
        for (int j = 0; j < size; j++) x[b->adr[other] + j] -= row[j] * f;
        row += size;
      }
    }
  }
  for (int k = b->nblock - 1; k >= 0; k--) {
    djBlockRow r = dj_blockRow(b, k);
    for (int i = 0; i < r.own; i++) {
      const double* row = L + r.at + (size_t)i * r.width;
      double sum = 0;
      for (int j = 0; j < i; j++) sum += row[j] * x[r.first + j];
      const double* from = row + r.own;
      for (int l = 0; l < r.nlater; l++) {
        int other = b->order[r.later[l]], size = dj_blockRows(b, other);
        for (int j = 0; j < size; j++) sum += from[j] * x[b->adr[other] + j];
        from += size;
      }
      x[r.first + i] = x[r.first + i] * row[i] - sum;
    }
  }
}
