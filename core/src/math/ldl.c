#include "math/ldl.h"

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

void dj_solveLDL(double* restrict x, const double* restrict L, int n) {
  for (int k = n - 1; k > 0; k--) {
    const double* row = L + (size_t)k * n;
    double f = x[k];
    for (int j = 0; j < k; j++) x[j] -= row[j] * f;
  }
  for (int k = 0; k < n; k++) {
    const double* row = L + (size_t)k * n;
    double sum = 0;
    for (int j = 0; j < k; j++) sum += row[j] * x[j];
    x[k] = x[k] * row[k] - sum;
  }
}

void dj_halveLDL(double* restrict x, const double* restrict L, int n) {
  for (int k = n - 1; k >= 0; k--) {
    const double* row = L + (size_t)k * n;
    double f = x[k];
    if (f == 0) continue;
    for (int j = 0; j < k; j++) x[j] -= row[j] * f;
    x[k] = f * sqrt(row[k]);
  }
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

void dj_solveLDLMulti(double* X, const double* L, int n, int ncol) {
  for (int k = n - 1; k > 0; k--) {
    const double* row = L + (size_t)k * n;
    const double* restrict from = X + (size_t)k * ncol;
    for (int j = 0; j < k; j++) {
      if (row[j] == 0) continue;
      double f = row[j];
      double* restrict to = X + (size_t)j * ncol;
      for (int c = 0; c < ncol; c++) to[c] -= f * from[c];
    }
  }
  for (int k = 0; k < n; k++) {
    const double* row = L + (size_t)k * n;
    double* restrict to = X + (size_t)k * ncol;
    for (int c = 0; c < ncol; c++) to[c] *= row[k];
    for (int j = 0; j < k; j++) {
      if (row[j] == 0) continue;
      double f = row[j];
      const double* restrict from = X + (size_t)j * ncol;
      for (int c = 0; c < ncol; c++) to[c] -= f * from[c];
    }
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
