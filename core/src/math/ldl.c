#include "math/ldl.h"

#include "math/lanes.h"
#include "math/products.h"

#include <math.h>
#include <string.h>

// Row k of the factor: D_k = H_kk, L_kj = H_kj/D_k, then H_ij -= L_ki D_k L_kj for j <= i < k.
bool dj_factorLDL(double* L, const double* H, const double* shift, int n) {
  for (int i = 0; i < n; i++) {
    memcpy(L + (size_t)i * n, H + (size_t)i * n, (size_t)(i + 1) * sizeof(double));
    if (shift) L[(size_t)i * n + i] += shift[i];
  }
  for (int k = n - 1; k >= 0; k--) {
    double* restrict row = L + (size_t)k * n;
    // also false for NaN
    if (!(row[k] > 1e-14 * fabs(H[(size_t)k * n + k])) || !isfinite(row[k])) return false;
    double inv = 1 / row[k];
    int first = 0;
    while (first < k && row[first] == 0) first++;
    for (int i = k - 1; i >= first; i--) {
      if (row[i] == 0) continue;
      double f = row[i] * inv;
      double* restrict to = L + (size_t)i * n;
      for (int j = first; j <= i; j++) to[j] -= f * row[j];
    }
    for (int j = first; j < k; j++) row[j] *= inv;
    row[k] = inv;
  }
  return true;
}

// x (end) <- L^-T x by the rows end - 1 ... end - 4, which are known one after the other.
static void liftFour(double* restrict x, const double* restrict L, int n, int end) {
  const int k = end - DJU_ROWS;
  const double *a = L + (size_t)k * n, *b = a + n, *c = b + n, *d = c + n;
  const double h = x[k + 3], g = x[k + 2] - d[k + 2] * h;
  const double f = x[k + 1] - d[k + 1] * h - c[k + 1] * g;
  const double e = x[k] - d[k] * h - c[k] * g - b[k] * f;
  x[k] = e;
  x[k + 1] = f;
  x[k + 2] = g;
  for (int j = 0; j < k; j++) x[j] = x[j] - d[j] * h - c[j] * g - b[j] * f - a[j] * e;
}

// x (n) <- L^-T x, zero from `end` on.
static void lift(double* restrict x, const double* restrict L, int n, int end) {
  int k = end;
  for (; k >= DJU_ROWS; k -= DJU_ROWS) liftFour(x, L, n, k);
  for (k--; k > 0; k--) {
    const double* row = L + (size_t)k * n;
    double f = x[k];
    for (int j = 0; j < k; j++) x[j] -= row[j] * f;
  }
}

// Entries k ... k + 3 of L^-1 D^-1 x, those before them known.
static void sinkFour(double* restrict x, const double* restrict L, int n, int k) {
  const double *a = L + (size_t)k * n, *b = a + n, *c = b + n, *d = c + n;
  double sum[DJU_ROWS];
  dju_fourProducts(sum, a, (size_t)n, x, k);
  const double e = x[k] * a[k] - sum[0];
  const double f = x[k + 1] * b[k + 1] - (sum[1] + b[k] * e);
  const double g = x[k + 2] * c[k + 2] - (sum[2] + c[k] * e + c[k + 1] * f);
  x[k + 3] = x[k + 3] * d[k + 3] - (sum[3] + d[k] * e + d[k + 1] * f + d[k + 2] * g);
  x[k] = e;
  x[k + 1] = f;
  x[k + 2] = g;
}

void dj_solveLDL(double* restrict x, const double* restrict L, int n) {
  int k = 0;
  lift(x, L, n, n);
  for (; k + DJU_ROWS <= n; k += DJU_ROWS) sinkFour(x, L, n, k);
  for (; k < n; k++) {
    const double* row = L + (size_t)k * n;
    double sum = 0;
    for (int j = 0; j < k; j++) sum = dju_fused(row[j], x[j], sum);
    x[k] = x[k] * row[k] - sum;
  }
}

void dj_halveLDL(double* restrict x, const double* restrict L, int n) {
  int end = n;
  while (end > 0 && x[end - 1] == 0) end--;
  lift(x, L, n, end);
  for (int k = 0; k < end; k++) x[k] *= sqrt(L[(size_t)k * n + k]);
}

void dj_halveLDLMulti(double* X, const double* L, int n, int ncol) {
  for (int k = n - 1; k >= 0; k--) {
    const double* row = L + (size_t)k * n;
    double *restrict from = X + (size_t)k * ncol, root = sqrt(row[k]);
    for (int j = 0; j < k; j++) {
      double f = row[j];
      double* restrict to = X + (size_t)j * ncol;
      for (int c = 0; c < ncol && f != 0; c++) to[c] -= f * from[c];
    }
    for (int c = 0; c < ncol; c++) from[c] *= root;
  }
}

// ---- several columns --------------------------------------------------------------------------

// Columns side by side, of which sums over rows are kept in registers: MOST vectors, or one; the
// last has n columns.
enum { MOST = 4 };

typedef struct Panel {
  double* X;               // its first column
  int stride, n;
} Panel;

DJU_INLINE void loadPanel(djLanes x[MOST], const Panel* p, int row, const int nvector) {
  const double* from = p->X + (size_t)row * (size_t)p->stride;
  for (int v = 0; v < nvector - 1; v++) x[v] = dju_loadLanes(from + DJU_LANES * v);
  x[nvector - 1] = dju_loadFirst(from + DJU_LANES * (nvector - 1), p->n);
}

DJU_INLINE void storePanel(const Panel* p, int row, const djLanes x[MOST], const int nvector) {
  double* to = p->X + (size_t)row * (size_t)p->stride;
  for (int v = 0; v < nvector - 1; v++) dju_storeLanes(to + DJU_LANES * v, x[v]);
  dju_storeFirst(to + DJU_LANES * (nvector - 1), x[nvector - 1], p->n);
}

// x -= sum of f_k X_k over rows k from `first` on, f's entries `stride` apart.
DJU_INLINE void subtractRows(djLanes x[MOST], const Panel* p, const double* f, size_t stride,
                             int first, int end, const int nvector) {
  for (int k = first; k < end; k++, f += stride) {
    djLanes row[MOST];
    if (*f == 0) continue;
    loadPanel(row, p, k, nvector);
    for (int v = 0; v < nvector; v++) x[v] = dju_fmaLanes(dju_splat(-*f), row[v], x[v]);
  }
}

// L^-1 D^-1 L^-T X
DJU_INLINE void solvePanel(const Panel* p, const double* L, int n, const int nvector) {
  for (int j = n - 2; j >= 0; j--) {
    djLanes x[MOST];
    loadPanel(x, p, j, nvector);
    subtractRows(x, p, L + (size_t)(j + 1) * n + j, (size_t)n, j + 1, n, nvector);
    storePanel(p, j, x, nvector);
  }
  for (int j = 0; j < n; j++) {
    const double* row = L + (size_t)j * n;
    djLanes x[MOST];
    loadPanel(x, p, j, nvector);
    for (int v = 0; v < nvector; v++) x[v] *= dju_splat(row[j]);
    subtractRows(x, p, row, 1, 0, j, nvector);
    storePanel(p, j, x, nvector);
  }
}

void dj_solveLDLMulti(double* X, const double* L, int n, int ncol) {
  for (int c = 0; c < ncol;) {
    const bool wide = ncol - c > (MOST - 1) * DJU_LANES;
    const int most = (wide ? MOST : 1) * DJU_LANES, width = ncol - c < most ? ncol - c : most;
    const Panel p = {X + c, ncol, width - (most - DJU_LANES)};
    if (wide) solvePanel(&p, L, n, MOST);
    else solvePanel(&p, L, n, 1);
    c += width;
  }
}

double dj_conditionLDL(const double* L, int n) {
  double lo = INFINITY, hi = 0;
  for (int i = 0; i < n; i++) {
    double d = L[(size_t)i * n + i];
    if (d < lo) lo = d;
    if (d > hi) hi = d;
  }
  return n ? hi / lo : 1;
}
