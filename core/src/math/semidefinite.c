#include "math/semidefinite.h"

#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define MAX DJU_MAX_SEMIDEFINITE

static bool isDefinite(const double* A, int n) {
  double L[MAX * MAX];
  memcpy(L, A, (size_t)(n * n) * sizeof(double));
  return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, L, n) == 0;
}

void dju_semidefinite(double* A, int n) {
  double V[MAX * MAX], value[MAX], work[MAX * (MAX + 2)];
  bool finite = true;
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) {
      V[n * r + c] = 0.5 * (A[n * r + c] + A[n * c + r]);
      finite = finite && isfinite(V[n * r + c]);
    }
  }
  if (!finite || isDefinite(V, n)) return;
  if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', n, V, n, value, work, MAX * (MAX + 2))) return;
  for (int k = 0; k < n && value[k] < 0; k++) {   // they rise
    const double* v = V + n * k;
    for (int r = 0; r < n; r++) {
      for (int c = 0; c < n; c++) A[n * r + c] -= value[k] * v[r] * v[c];
    }
  }
}
