// Solutions by supernodal factors. z holds the right sides in the order of the factor, where own
// rows follow each other; w those of later rows, gathered.

#include "math/blas.h"
#include "math/front.h"
#include "math/super.h"

#include <string.h>

enum { COLUMNS = 16 };   // of many right sides, that are solved for together

// ---- order ------------------------------------------------------------------------------------

// z <- X, or X <- z, columns first ... first + n - 1 of ncol.
static void permute(double* z, double* X, const djBlocks* b, int first, int n, int ncol,
                    bool back) {
  for (int k = 0; k < b->nblock; k++) {
    int block = b->order[k], rows = b->adr[block + 1] - b->adr[block];
    for (int i = 0; i < rows; i++) {
      double* x = X + (size_t)(b->adr[block] + i) * ncol + first;
      double* y = z + (size_t)(b->super_row[k] + i) * n;
      memcpy(back ? x : y, back ? y : x, (size_t)n * sizeof(double));
    }
  }
}

// w (later rows x n) <- z, or z += w.
static void gather(double* w, double* z, const djBlocks* b, const djSuper* r, int n, bool add) {
  for (int i = 0; i < r->nlater; i++) {
    int rank = r->list[-i], block = b->order[rank];
    int size = (b->adr[block + 1] - b->adr[block]) * n;
    double* at = z + (size_t)b->super_row[rank] * n;
    if (add) for (int j = 0; j < size; j++) at[j] += w[j];
    else memcpy(w, at, (size_t)size * sizeof(double));
    w += size;
  }
}

static double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int j = 0; j < n; j++) sum += a[j] * b[j];
  return sum;
}

static void subtract(double* restrict to, double f, const double* restrict from, int n) {
  for (int j = 0; j < n; j++) to[j] -= f * from[j];
}

// ---- one right side ---------------------------------------------------------------------------

// z <- L^-T z, or U^-1 z.
static void sweepUp(double* z, double* w, const double* F, const djBlocks* b, bool upper) {
  for (int s = 0; s < b->nsuper; s++) {
    djSuper r = dj_superOf(b, s);
    int width = r.own + r.later;
    const double* A = F + r.at;
    double* x = z + r.row;
    for (int i = r.own - 1; i >= 0; i--) {
      if (upper) x[i] -= dot(A + (size_t)i * width + i + 1, x + i + 1, r.own - 1 - i);
      else subtract(x, x[i], A + (size_t)i * width, i);
    }
    if (r.later == 0) continue;
    memset(w, 0, (size_t)r.later * sizeof(double));
    for (int i = 0; i < r.own; i++) {
      subtract(w, x[i], upper ? F + r.below + (size_t)i * r.later : A + (size_t)i * width + r.own,
               r.later);
    }
    gather(w, z, b, &r, 1, true);
  }
}

// z <- L^-1 D^-1 z, or U^-T D^-1 z.
static void sweepDown(double* z, double* w, const double* F, const djBlocks* b, bool upper) {
  for (int s = b->nsuper - 1; s >= 0; s--) {
    djSuper r = dj_superOf(b, s);
    int width = r.own + r.later;
    const double* A = F + r.at;
    double* x = z + r.row;
    gather(w, z, b, &r, 1, false);
    for (int i = 0; i < r.own; i++) {
      const double* later = upper ? F + r.below + (size_t)i * r.later
                                  : A + (size_t)i * width + r.own;
      x[i] = x[i] * A[(size_t)i * (width + 1)] - dot(later, w, r.later);
    }
    for (int i = 0; i < r.own; i++) {
      const double* row = A + (size_t)i * width;
      if (upper) subtract(x + i + 1, x[i], row + i + 1, r.own - 1 - i);
      else x[i] -= dot(row, x, i);
    }
  }
}

// ---- several ----------------------------------------------------------------------------------

static void sweepUpMulti(double* Z, double* w, const double* F, const djBlocks* b, int n,
                         bool upper) {
  for (int s = 0; s < b->nsuper; s++) {
    djSuper r = dj_superOf(b, s);
    int width = r.own + r.later;
    double* X = Z + (size_t)r.row * n;
    if (upper) dj_frontUp(X, F + r.at, r.own, width, n);
    else dj_frontBack(X, F + r.at, r.own, width, n);
    if (r.later == 0) continue;
    const double* R = upper ? F + r.below : F + r.at + r.own;
    dj_frontUpdate(w, r.later, n, r.own, R, upper ? r.later : width, X, n);
    gather(w, Z, b, &r, n, true);
  }
}

static void sweepDownMulti(double* Z, double* w, const double* F, const djBlocks* b, int n) {
  for (int s = b->nsuper - 1; s >= 0; s--) {
    djSuper r = dj_superOf(b, s);
    int width = r.own + r.later;
    double* X = Z + (size_t)r.row * n;
    dj_frontDivide(X, F + r.at, r.own, width, n);
    if (r.later > 0) {
      gather(w, Z, b, &r, n, false);
      dj_dgemm(CblasNoTrans, CblasNoTrans, r.own, n, r.later, -1, F + r.at + r.own, width, w, n, 1,
               X, n);
    }
    dj_frontDown(X, F + r.at, r.own, width, n);
  }
}

void dj_solveSuper(double* X, double* F, const djBlocks* b, int ncol, bool symmetric,
                   bool transpose) {
  double* z = F + dj_superUses(b, symmetric) - b->n - b->front;
  if (ncol == 1) {
    permute(z, X, b, 0, 1, 1, false);
    sweepUp(z, z + b->n, F, b, !symmetric && !transpose);
    sweepDown(z, z + b->n, F, b, !symmetric && transpose);
    permute(z, X, b, 0, 1, 1, true);
    return;
  }
  z += b->n + b->front;
  for (int first = 0; first < ncol; first += COLUMNS) {
    int n = first + COLUMNS < ncol ? COLUMNS : ncol - first;
    double* w = z + (size_t)n * (size_t)b->n;
    permute(z, X, b, first, n, ncol, false);
    sweepUpMulti(z, w, F, b, n, !symmetric);
    sweepDownMulti(z, w, F, b, n);
    permute(z, X, b, first, n, ncol, true);
  }
}
