#include "math/small.h"

// Inverse of a pivot d of the diagonal entry a.
static double inversePivot(double d, double a, bool* full) {
  if (d > 1e-15 * a && d > 0) return 1 / d;
  *full = false;
  return 0;
}

bool dju_factorLdl4(djLdl4* f, const double A[10]) {
  bool full = true;
  // d_k = a_kk - sum_j l_kj^2 d_j, l_ik d_k = a_ik - sum_j l_ij l_kj d_j =: c_ik
  f->inv[0] = inversePivot(A[0], A[0], &full);
  f->l10 = A[1] * f->inv[0];
  f->l20 = A[2] * f->inv[0];
  f->l30 = A[3] * f->inv[0];

  f->inv[1] = inversePivot(A[4] - f->l10 * A[1], A[4], &full);
  double c21 = A[5] - f->l10 * A[2], c31 = A[6] - f->l10 * A[3];
  f->l21 = c21 * f->inv[1];
  f->l31 = c31 * f->inv[1];

  f->inv[2] = inversePivot(A[7] - f->l20 * A[2] - f->l21 * c21, A[7], &full);
  double c32 = A[8] - f->l20 * A[3] - f->l21 * c31;
  f->l32 = c32 * f->inv[2];

  f->inv[3] = inversePivot(A[9] - f->l30 * A[3] - f->l31 * c31 - f->l32 * c32, A[9], &full);
  return full;
}

void dju_solveLdl4(double x[4], const djLdl4* f, const double b[4]) {
  double y0 = b[0];
  double y1 = b[1] - f->l10 * y0;
  double y2 = b[2] - f->l20 * y0 - f->l21 * y1;
  double y3 = b[3] - f->l30 * y0 - f->l31 * y1 - f->l32 * y2;
  double x3 = y3 * f->inv[3];
  double x2 = y2 * f->inv[2] - f->l32 * x3;
  double x1 = y1 * f->inv[1] - f->l21 * x2 - f->l31 * x3;
  x[0] = y0 * f->inv[0] - f->l10 * x1 - f->l20 * x2 - f->l30 * x3;
  x[1] = x1;
  x[2] = x2;
  x[3] = x3;
}

void dju_mulSym4(double y[4], const double A[10], const double x[4]) {
  double x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
  y[0] = A[0] * x0 + A[1] * x1 + A[2] * x2 + A[3] * x3;
  y[1] = A[1] * x0 + A[4] * x1 + A[5] * x2 + A[6] * x3;
  y[2] = A[2] * x0 + A[5] * x1 + A[7] * x2 + A[8] * x3;
  y[3] = A[3] * x0 + A[6] * x1 + A[8] * x2 + A[9] * x3;
}

void dju_forwardLdl4(double* Y, const djLdl4* f, const double* B, int n) {
  for (int j = 0; j < n; j++) {
    double y0 = B[j];
    double y1 = B[n + j] - f->l10 * y0;
    double y2 = B[2 * n + j] - f->l20 * y0 - f->l21 * y1;
    Y[j] = y0;
    Y[n + j] = y1;
    Y[2 * n + j] = y2;
    Y[3 * n + j] = B[3 * n + j] - f->l30 * y0 - f->l31 * y1 - f->l32 * y2;
  }
}
