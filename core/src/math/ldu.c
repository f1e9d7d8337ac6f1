#include "math/ldu.h"

#include <math.h>
#include <string.h>

// Row and column k of the factors: D_k = H_kk, L_kj = H_kj/D_k, U_ik = H_ik/D_k, then
// H_ij -= U_ik D_k L_kj for i, j < k.
bool dj_factorLDU(double* F, const double* H, const double* shift, int n) {
  memcpy(F, H, (size_t)n * n * sizeof(double));
  for (int i = 0; i < n && shift; i++) F[(size_t)i * n + i] += shift[i];
  for (int k = n - 1; k >= 0; k--) {
    double* restrict row = F + (size_t)k * n;
    // also false for NaN
    if (!(row[k] > 1e-14 * fabs(H[(size_t)k * n + k])) || !isfinite(row[k])) return false;
    double inv = 1 / row[k];
    int first = 0;
    while (first < k && row[first] == 0) first++;
    for (int j = first; j < k; j++) row[j] *= inv;
    for (int i = k - 1; i >= 0; i--) {
      double* restrict to = F + (size_t)i * n;
      double f = to[k];
      if (f == 0) continue;
      for (int j = first; j < k; j++) to[j] -= f * row[j];
      to[k] = f * inv;
    }
    row[k] = inv;
  }
  return true;
}

void dj_solveLDU(double* restrict x, const double* restrict F, int n) {
  for (int i = n - 2; i >= 0; i--) {
    const double* row = F + (size_t)i * n;
    double sum = 0;
    for (int k = i + 1; k < n; k++) sum += row[k] * x[k];
    x[i] -= sum;
  }
  for (int k = 0; k < n; k++) {
    const double* row = F + (size_t)k * n;
    double sum = 0;
    for (int j = 0; j < k; j++) sum += row[j] * x[j];
    x[k] = x[k] * row[k] - sum;
  }
}

// H^T = L^T D U^T
void dj_solveLDUTranspose(double* restrict x, const double* restrict F, int n) {
  for (int k = n - 1; k > 0; k--) {
    const double* row = F + (size_t)k * n;
    double f = x[k];
    for (int j = 0; j < k; j++) x[j] -= row[j] * f;
  }
  for (int i = 0; i < n; i++) x[i] *= F[(size_t)i * n + i];
  for (int i = 0; i < n - 1; i++) {
    const double* row = F + (size_t)i * n;
    double f = x[i];
    for (int k = i + 1; k < n; k++) x[k] -= row[k] * f;
  }
}

void dj_solveLDUMulti(double* X, const double* F, int n, int ncol) {
  for (int i = n - 2; i >= 0; i--) {
    const double* row = F + (size_t)i * n;
    double* restrict to = X + (size_t)i * ncol;
    for (int k = i + 1; k < n; k++) {
      if (row[k] == 0) continue;
      double f = row[k];
      const double* restrict from = X + (size_t)k * ncol;
      for (int c = 0; c < ncol; c++) to[c] -= f * from[c];
    }
  }
  for (int k = 0; k < n; k++) {
    const double* row = F + (size_t)k * n;
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
