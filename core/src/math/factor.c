#include "math/factor.h"

#include "math/ldl.h"
#include "math/ldu.h"

#include <string.h>

size_t dj_factorSize(int n) { return (size_t)n * n; }

void dj_copyFactor(djFactor* dest, const djFactor* src) {
  dest->kind = src->kind;
  dest->n = src->n;
  memcpy(dest->data, src->data, dj_factorSize(src->n) * sizeof(double));
}

bool dj_factor(djFactor* f, const double* H, const double* shift) {
  return f->kind == DJ_LDL ? dj_factorLDL(f->data, H, shift, f->n)
                           : dj_factorLDU(f->data, H, shift, f->n);
}

void dj_solve(double* x, const djFactor* f) {
  if (f->kind == DJ_LDL) dj_solveLDL(x, f->data, f->n);
  else dj_solveLDU(x, f->data, f->n);
}

void dj_solveTranspose(double* x, const djFactor* f) {
  if (f->kind == DJ_LDL) dj_solveLDL(x, f->data, f->n);
  else dj_solveLDUTranspose(x, f->data, f->n);
}

void dj_solveMulti(double* X, const djFactor* f, int ncol) {
  if (f->kind == DJ_LDL) dj_solveLDLMulti(X, f->data, f->n, ncol);
  else dj_solveLDUMulti(X, f->data, f->n, ncol);
}

// Both kinds keep the inverse pivots on the diagonal.
double dj_condition(const djFactor* f) { return dj_conditionLDL(f->data, f->n); }
