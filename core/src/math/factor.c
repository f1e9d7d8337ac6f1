#include "math/factor.h"

#include "math/block_ldl.h"
#include "math/block_ldu.h"
#include "math/ldl.h"
#include "math/ldu.h"

size_t dj_factorSize(int n) { return (size_t)n * n; }

static bool isDense(const djFactor* f) { return f->blocks.nblock < 2; }

size_t dj_usedFactor(const djFactor* f) {
  if (isDense(f)) return dj_factorSize(f->n);
  return f->kind == DJ_LDL ? dj_blockFactorSize(&f->blocks) : dj_blockLDUSize(&f->blocks);
}

bool dj_factor(djFactor* f, const double* H, const double* shift) {
  if (f->kind == DJ_LDL) {
    return isDense(f) ? dj_factorLDL(f->data, H, shift, f->n)
                      : dj_factorBlockLDL(f->data, H, shift, &f->blocks);
  }
  return isDense(f) ? dj_factorLDU(f->data, H, shift, f->n)
                    : dj_factorBlockLDU(f->data, H, shift, &f->blocks);
}

void dj_solve(double* x, const djFactor* f) {
  if (f->kind == DJ_LDL) {
    if (isDense(f)) dj_solveLDL(x, f->data, f->n);
    else dj_solveBlockLDL(x, f->data, &f->blocks);
  } else {
    if (isDense(f)) dj_solveLDU(x, f->data, f->n);
    else dj_solveBlockLDU(x, f->data, &f->blocks);
  }
}

void dj_solveTranspose(double* x, const djFactor* f) {
  if (f->kind == DJ_LDL) dj_solve(x, f);
  else if (isDense(f)) dj_solveLDUTranspose(x, f->data, f->n);
  else dj_solveBlockLDUTranspose(x, f->data, &f->blocks);
}

void dj_solveMulti(double* X, const djFactor* f, int ncol) {
  if (f->kind == DJ_LDL) {
    if (isDense(f)) dj_solveLDLMulti(X, f->data, f->n, ncol);
    else dj_solveBlockLDLMulti(X, f->data, &f->blocks, ncol);
  } else {
    if (isDense(f)) dj_solveLDUMulti(X, f->data, f->n, ncol);
    else dj_solveBlockLDUMulti(X, f->data, &f->blocks, ncol);
  }
}

// Every kind keeps the inverse pivots on the diagonal.
double dj_condition(const djFactor* f) {
  return isDense(f) ? dj_conditionLDL(f->data, f->n) : dj_conditionBlocks(f->data, &f->blocks);
}
