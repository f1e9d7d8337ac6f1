// Eigenvalues by Jacobi's cyclic method (Golub and Van Loan, Matrix Computations, 8.5): each
// rotation makes one pair of entries off the diagonal zero, and the others together never larger.

#include "math/semidefinite.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define MAX DJU_MAX_SEMIDEFINITE
#define MAX_SWEEPS 30   // some six are needed
#define ROUNDING 1e-15  // of the largest entry

// Rows and columns p, q of A turn so that A_pq = 0; rows p, q of V turn with them.
static void rotate(double A[MAX][MAX], double V[MAX][MAX], int n, int p, int q) {
  double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
  double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
  double c = 1 / sqrt(t * t + 1), s = t * c;
  for (int k = 0; k < n; k++) {
    double x = A[p][k], y = A[q][k];
    A[p][k] = c * x - s * y;
    A[q][k] = s * x + c * y;
    x = V[p][k], y = V[q][k];
    V[p][k] = c * x - s * y;
    V[q][k] = s * x + c * y;
  }
  for (int k = 0; k < n; k++) {
    double x = A[k][p], y = A[k][q];
    A[k][p] = c * x - s * y;
    A[k][q] = s * x + c * y;
  }
  A[p][q] = A[q][p] = 0;
}

// One turn through all pairs above rounding; false: nothing was left to do.
static bool sweep(double A[MAX][MAX], double V[MAX][MAX], int n, double rounding) {
  bool turned = false;
  for (int p = 0; p < n; p++) {
    for (int q = p + 1; q < n; q++) {
      if (!(fabs(A[p][q]) > rounding)) continue;
      rotate(A, V, n, p, q);
      turned = true;
    }
  }
  return turned;
}

// Whether all pivots of L D L^T are positive. No root is taken: what is multiplied by a power of
// two takes the same way, here as above (LAPACK's does not where squares underflow).
static bool isDefinite(double A[MAX][MAX], int n) {
  double L[MAX][MAX];
  memcpy(L, A, sizeof L);
  for (int c = 0; c < n; c++) {
    if (!(L[c][c] > 0)) return false;
    for (int r = c + 1; r < n; r++) {
      double f = L[r][c] / L[c][c];
      for (int k = c + 1; k <= r; k++) L[r][k] -= f * L[k][c];
    }
  }
  return true;
}

void dju_semidefinite(double* A, int n) {
  double D[MAX][MAX] = {{0}}, V[MAX][MAX], largest = 0;
  memset(V, 0, sizeof V);
  for (int r = 0; r < n; r++) {
    V[r][r] = 1;
    for (int c = 0; c < n; c++) {
      D[r][c] = 0.5 * (A[n * r + c] + A[n * c + r]);
      largest = fmax(largest, fabs(D[r][c]));
    }
  }
  if (isDefinite(D, n)) return;
  double rounding = fmax(ROUNDING * largest, 1e-300);
  for (int k = 0; k < MAX_SWEEPS; k++) {
    if (!sweep(D, V, n, rounding)) break;
  }
  for (int k = 0; k < n; k++) {
    if (!(D[k][k] < 0)) continue;
    for (int r = 0; r < n; r++) {
      for (int c = 0; c < n; c++) A[n * r + c] -= D[k][k] * V[k][r] * V[k][c];
    }
  }
}
