#include "math/lu.h"

#include "base/arena.h"
#include "base/room.h"
#include "math/blas.h"

#include <float.h>
#include <klu.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Both libraries take matrices by columns: they are given A = H^T, whose columns are H's rows.
typedef struct Header {
  double condition;
  int n, sparse, nL, nU;   // entries of the sparse factors
} Header;

// Where things are in a factor.
typedef struct View {
  Header* head;
  double* x;               // (n) scratch
  double* A;               // dense: (n x n) by columns
  int* pivot;              // (n)
  double *Lx, *Ux, *Rs;    // sparse: A = R P^T L U Q^T with R by pivots
  int *Lp, *Li, *Up, *Ui, *P, *Q;
} View;

static size_t view(View* v, double* factor, const Header* h) {
  djArena a = {(unsigned char*)factor, 0};
  size_t n = h->n, nL = h->nL, nU = h->nU, d = sizeof(double), i = sizeof(int);
  v->head = dj_take(&a, 1, sizeof(Header));
  v->x = dj_take(&a, n, d);
  if (!h->sparse) {
    v->A = dj_take(&a, n * n, d);
    v->pivot = dj_take(&a, n, i);
    return a.used;
  }
  v->Lx = dj_take(&a, nL, d);
  v->Ux = dj_take(&a, nU, d);
  v->Rs = dj_take(&a, n, d);
  v->Lp = dj_take(&a, n + 1, i);
  v->Up = dj_take(&a, n + 1, i);
  v->Li = dj_take(&a, nL, i);
  v->Ui = dj_take(&a, nU, i);
  v->P = dj_take(&a, n, i);
  v->Q = dj_take(&a, n, i);
  return a.used;
}

// Memory for a factor of these sizes, its header set. False when there is none.
static bool prepare(View* v, double** factor, size_t* room, size_t* used, const Header* h) {
  size_t bytes = view(v, NULL, h);
  double* memory = dj_roomFor(*factor, room, bytes);
  if (!memory) return false;
  *factor = memory;
  *used = bytes / sizeof(double);
  view(v, memory, h);
  *v->head = *h;
  return true;
}

static djStatus verdict(double condition) {
  return condition < 1 / DBL_EPSILON ? DJ_OK : DJ_SINGULAR;   // also for NaN
}

double dj_conditionLU(const double* factor) {
  Header h;
  memcpy(&h, factor, sizeof h);
  return h.condition;
}

// ---- dense ------------------------------------------------------------------------------------

static djStatus factorDense(double** factor, size_t* room, size_t* used, const djMatrix* H) {
  int n = H->blocks->n;
  View v;
  Header h = {.condition = INFINITY, .n = n};
  if (!prepare(&v, factor, room, used, &h)) return DJ_NO_MEMORY;
  double* work = malloc(4 * (size_t)n * sizeof(double));
  int* iwork = malloc((size_t)n * sizeof(int));
  if (!work || !iwork) {
    free(work);
    free(iwork);
    return DJ_NO_MEMORY;
  }
  memcpy(v.A, H->data, (size_t)n * n * sizeof(double));
  double norm = 0, inverse = 0;
  for (int c = 0; c < n; c++) norm = fmax(norm, cblas_dasum(n, v.A + (size_t)c * n, 1));
  dj_beginLapack();
  if (isfinite(norm) && LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, v.A, n, v.pivot) == 0 &&
      LAPACKE_dgecon_work(LAPACK_COL_MAJOR, '1', n, v.A, n, norm, &inverse, work, iwork) == 0) {
    v.head->condition = 1 / inverse;
  }
  dj_endLapack();
  free(work);
  free(iwork);
  return verdict(v.head->condition);
}

static void swapRows(double* X, int ncol, int a, int b) {
  if (a != b) cblas_dswap(ncol, X + (size_t)a * ncol, 1, X + (size_t)b * ncol, 1);
}

// A = P L U, H = U^T L^T P^T. In rows, what LAPACK calls L and U are L^T above the diagonal, of
// ones, and U^T below it.
static void solveDense(double* X, const View* v, int ncol, bool transpose) {
  int n = v->head->n;
  if (transpose) {
    for (int i = 0; i < n; i++) swapRows(X, ncol, i, v->pivot[i] - 1);
    dj_dtrsm(CblasLeft, CblasUpper, CblasTrans, CblasUnit, n, ncol, v->A, n, X, ncol);
    dj_dtrsm(CblasLeft, CblasLower, CblasTrans, CblasNonUnit, n, ncol, v->A, n, X, ncol);
    return;
  }
  dj_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, ncol, v->A, n, X, ncol);
  dj_dtrsm(CblasLeft, CblasUpper, CblasNoTrans, CblasUnit, n, ncol, v->A, n, X, ncol);
  for (int i = n - 1; i >= 0; i--) swapRows(X, ncol, i, v->pivot[i] - 1);
}

// ---- sparse -----------------------------------------------------------------------------------

// H by rows: first[i] to first[i + 1] - 1 are row i's entries.
typedef struct Rows {
  int *first, *column;
  double* value;
} Rows;

static bool listRows(Rows* r, const djMatrix* H) {
  const djBlocks* b = H->blocks;
  size_t entries = dj_packedSize(b);
  if (entries > INT32_MAX) return false;
  r->first = malloc(((size_t)b->n + 1) * sizeof(int));
  r->column = malloc(entries * sizeof(int));
  r->value = H->data;   // in the same order
  if (!r->first || !r->column) return false;
  int used = 0;
  for (int a = 0; a < b->nblock; a++) {
    for (int i = b->adr[a]; i < b->adr[a + 1]; i++) {
      r->first[i] = used;
      for (int k = b->near_adr[a]; k < b->near_adr[a + 1]; k++) {
        for (int c = b->adr[b->near[k]]; c < b->adr[b->near[k] + 1]; c++) r->column[used++] = c;
      }
    }
  }
  r->first[b->n] = used;
  return true;
}

static djStatus takeSparse(double** factor, size_t* room, size_t* used, klu_symbolic* symbolic,
                           klu_numeric* numeric, klu_common* common, Rows* r, int n) {
  Header h = {.condition = INFINITY, .n = n, .sparse = 1, .nL = numeric->lnz, .nU = numeric->unz};
  View v;
  if (!prepare(&v, factor, room, used, &h)) return DJ_NO_MEMORY;
  klu_condest(r->first, r->value, symbolic, numeric, common);
  v.head->condition = common->condest;
  klu_extract(numeric, symbolic, v.Lp, v.Li, v.Lx, v.Up, v.Ui, v.Ux, NULL, NULL, NULL, v.P, v.Q,
              v.Rs, NULL, common);
  return verdict(v.head->condition);
}

static djStatus factorSparse(double** factor, size_t* room, size_t* used, const djMatrix* H) {
  int n = H->blocks->n;
  Rows r = {0};
  klu_common common;
  klu_symbolic* symbolic = NULL;
  klu_numeric* numeric = NULL;
  klu_defaults(&common);
  common.btf = 0;   // one block, whose factors can be taken out
  djStatus status = DJ_NO_MEMORY;
  if (listRows(&r, H)) symbolic = klu_analyze(n, r.first, r.column, &common);
  if (symbolic) numeric = klu_factor(r.first, r.column, r.value, symbolic, &common);
  View v;
  Header singular = {.condition = INFINITY, .n = n, .sparse = 1};
  if (numeric && common.status == KLU_OK) {
    status = takeSparse(factor, room, used, symbolic, numeric, &common, &r, n);
  } else if (symbolic && common.status != KLU_OUT_OF_MEMORY && common.status != KLU_TOO_LARGE &&
             prepare(&v, factor, room, used, &singular)) {
    status = DJ_SINGULAR;
  }
  klu_free_numeric(&numeric, &common);
  klu_free_symbolic(&symbolic, &common);
  free(r.first);
  free(r.column);
  return status;
}

// The diagonal is the first entry of L's columns, and the last of U's.
static void solveColumn(double* x, int stride, const View* v, bool transpose) {
  int n = v->head->n;
  double* y = v->x;
  if (!transpose) {   // A^T y = x: U^T, then L^T
    for (int k = 0; k < n; k++) {
      double sum = x[(size_t)v->Q[k] * stride];
      int last = v->Up[k + 1] - 1;
      for (int i = v->Up[k]; i < last; i++) sum -= v->Ux[i] * y[v->Ui[i]];
      y[k] = sum / v->Ux[last];
    }
    for (int k = n - 1; k >= 0; k--) {
      for (int i = v->Lp[k] + 1; i < v->Lp[k + 1]; i++) y[k] -= v->Lx[i] * y[v->Li[i]];
    }
    for (int k = 0; k < n; k++) x[(size_t)v->P[k] * stride] = y[k] / v->Rs[k];
    return;
  }
  for (int k = 0; k < n; k++) y[k] = x[(size_t)v->P[k] * stride] / v->Rs[k];
  for (int k = 0; k < n; k++) {
    for (int i = v->Lp[k] + 1; i < v->Lp[k + 1]; i++) y[v->Li[i]] -= v->Lx[i] * y[k];
  }
  for (int k = n - 1; k >= 0; k--) {
    int last = v->Up[k + 1] - 1;
    y[k] /= v->Ux[last];
    for (int i = v->Up[k]; i < last; i++) y[v->Ui[i]] -= v->Ux[i] * y[k];
  }
  for (int k = 0; k < n; k++) x[(size_t)v->Q[k] * stride] = y[k];
}

// ---- both -------------------------------------------------------------------------------------

djStatus dj_factorLU(double** factor, size_t* room, size_t* used, const djMatrix* H) {
  return H->blocks->nblock < 2 ? factorDense(factor, room, used, H)
                               : factorSparse(factor, room, used, H);
}

void dj_solveLU(double* X, double* factor, int ncol, bool transpose) {
  View v;
  Header h;
  memcpy(&h, factor, sizeof h);
  view(&v, factor, &h);
  if (h.n == 0) return;
  if (!h.sparse) {
    solveDense(X, &v, ncol, transpose);
    return;
  }
  for (int c = 0; c < ncol; c++) solveColumn(X + c, ncol, &v, transpose);
}
