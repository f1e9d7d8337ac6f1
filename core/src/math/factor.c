#include "math/factor.h"

#include "math/block_ldl.h"
#include "math/block_ldu.h"
#include "math/front.h"
#include "math/ldl.h"
#include "math/ldu.h"
#include "math/lu.h"
#include "math/super.h"

#include <string.h>

static bool isDense(const djFactor* f) { return f->blocks.nblock < 2; }
static bool isSuper(const djFactor* f) { return f->blocks.nsuper > 0; }

size_t dj_factorNeeds(djFactorKind kind, const djBlocks* b) {
  if (b->nblock < 2) return (size_t)b->n * b->n;
  if (b->nsuper > 0) return dj_superNeeds(b, kind == DJ_LDL);
  return kind == DJ_LDL ? dj_blockFactorSize(b) : dj_blockLDUSize(b);
}

size_t dj_factorUses(const djFactor* f) {
  if (f->kind == DJ_LU) return f->used;
  return isSuper(f) ? dj_superUses(&f->blocks, f->kind == DJ_LDL)
                    : dj_factorNeeds(f->kind, &f->blocks);
}

djStatus dj_factorPivoting(djFactor* f, const djMatrix* H) {
  f->kind = DJ_LU;
  f->n = H->blocks->n;
  f->blocks = *H->blocks;
  return dj_factorLU(&f->data, &f->room, &f->used, H);
}

// Whether most entries are there: factors by hand use zeros, BLAS does not. symmetric: of the lower
// triangle.
static bool isFull(const djMatrix* H, bool symmetric) {
  size_t n = H->blocks->n, all = 0, some = 0;
  for (size_t i = 0; i < n; i++) {
    size_t end = symmetric ? i + 1 : n;
    const double* row = H->data + i * n;
    for (size_t j = 0; j < end; j++) some += row[j] != 0;
    all += end;
  }
  return 2 * some > all;
}

static bool factorDense(djFactor* f, const djMatrix* H, const double* shift) {
  size_t n = f->n;
  bool symmetric = f->kind == DJ_LDL;
  f->big = f->n >= DJ_BIG && isFull(H, symmetric);
  if (!f->big) {
    return symmetric ? dj_factorLDL(f->data, H->data, shift, f->n)
                     : dj_factorLDU(f->data, H->data, shift, f->n);
  }
  memcpy(f->data, H->data, n * n * sizeof(double));
  for (size_t i = 0; i < n && shift; i++) f->data[i * (n + 1)] += shift[i];
  return symmetric ? dj_eliminateLDL(f->data, f->n, 0, f->n, H->data, n + 1)
                   : dj_eliminateLDU(f->data, NULL, f->n, 0, f->n, H->data, n + 1);
}

bool dj_factor(djFactor* f, const djMatrix* H, const double* shift) {
  f->blocks = *H->blocks;
  if (isDense(f)) return factorDense(f, H, shift);
  if (isSuper(f)) return dj_factorSuper(f->data, H, shift, f->kind == DJ_LDL);
  return f->kind == DJ_LDL ? dj_factorBlockLDL(f->data, H, shift)
                           : dj_factorBlockLDU(f->data, H, shift);
}

// ---- solutions --------------------------------------------------------------------------------

static void solveDense(double* X, const djFactor* f, int ncol) {
  bool symmetric = f->kind == DJ_LDL;
  if (ncol == 1 && symmetric) {
    dj_solveLDL(X, f->data, f->n);
  } else if (ncol == 1) {
    dj_solveLDU(X, f->data, f->n);
  } else if (f->big) {
    if (symmetric) dj_frontBack(X, f->data, f->n, f->n, ncol);
    else dj_frontUp(X, f->data, f->n, f->n, ncol);
    dj_frontDivide(X, f->data, f->n, f->n, ncol);
    dj_frontDown(X, f->data, f->n, f->n, ncol);
  } else if (symmetric) {
    dj_solveLDLMulti(X, f->data, f->n, ncol);
  } else {
    dj_solveLDUMulti(X, f->data, f->n, ncol);
  }
}

static void solveBlocks(double* X, const djFactor* f, int ncol) {
  const djBlocks* b = &f->blocks;
  if (f->kind == DJ_LDL) {
    if (ncol == 1) dj_solveBlockLDL(X, f->data, b);
    else dj_solveBlockLDLMulti(X, f->data, b, ncol);
  } else {
    if (ncol == 1) dj_solveBlockLDU(X, f->data, b);
    else dj_solveBlockLDUMulti(X, f->data, b, ncol);
  }
}

void dj_solveMulti(double* X, const djFactor* f, int ncol) {
  if (f->kind == DJ_LU) dj_solveLU(X, f->data, ncol, false);
  else if (isDense(f)) solveDense(X, f, ncol);
  else if (isSuper(f)) dj_solveSuper(X, f->data, &f->blocks, ncol, f->kind == DJ_LDL, false);
  else solveBlocks(X, f, ncol);
}

void dj_solve(double* x, const djFactor* f) { dj_solveMulti(x, f, 1); }

void dj_solveTranspose(double* x, const djFactor* f) {
  if (f->kind == DJ_LDL) dj_solve(x, f);
  else if (f->kind == DJ_LU) dj_solveLU(x, f->data, 1, true);
  else if (isDense(f)) dj_solveLDUTranspose(x, f->data, f->n);
  else if (isSuper(f)) dj_solveSuper(x, f->data, &f->blocks, 1, false, true);
  else dj_solveBlockLDUTranspose(x, f->data, &f->blocks);
}

void dj_solveDiagonal(djMatrix* X, const djFactor* f) {
  const djBlocks* b = &f->blocks;
  for (int k = 0; k < b->nblock; k++) {
    double *at = X->data + b->matrix_adr[k], *factor = f->data + b->factor_adr[k];
    int n = b->adr[k + 1] - b->adr[k];
    if (f->kind == DJ_LDL) dj_solveLDLMulti(at, factor, n, n);
    else dj_solveLDUMulti(at, factor, n, n);
  }
}

void dj_halveDiagonal(double* x, const djFactor* f, int low, int high) {
  const djBlocks* b = &f->blocks;
  if (isDense(f)) {
    dj_halveLDL(x, f->data, f->n);
    return;
  }
  for (int k = 0; k < b->nblock; k++) {
    int first = b->adr[k], n = b->adr[k + 1] - first;
    if (first < high && first + n > low) dj_halveLDL(x + first, f->data + b->factor_adr[k], n);
  }
}

// The other kinds keep the inverse pivots on the diagonal.
double dj_condition(const djFactor* f) {
  if (f->kind == DJ_LU) return dj_conditionLU(f->data);
  if (isSuper(f)) return dj_conditionSuper(f->data, &f->blocks);
  return isDense(f) ? dj_conditionLDL(f->data, f->n) : dj_conditionBlocks(f->data, &f->blocks);
}
