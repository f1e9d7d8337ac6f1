#include "math/front.h"

#include "math/blas.h"

#include <math.h>

enum { PANEL = 32 };   // rows that are eliminated one by one

static bool good(double pivot, double scale) {
  return pivot > 1e-14 * fabs(scale) && isfinite(pivot);   // false for NaN
}

static void scaleRow(double* x, int n, double f) {
  for (int j = 0; j < n; j++) x[j] *= f;
}

// ---- symmetric --------------------------------------------------------------------------------

// Rows first ... end - 1, in their own columns.
static bool panelLDL(double* A, int first, int end, int stride, const double* diagonal,
                     size_t step) {
  for (int k = end - 1; k >= first; k--) {
    double* restrict row = A + (size_t)k * stride;
    if (!good(row[k], diagonal[(size_t)k * step])) return false;
    double inv = 1 / row[k];
    for (int i = k - 1; i >= first; i--) {
      double f = row[i] * inv, *restrict to = A + (size_t)i * stride;
      for (int j = first; j <= i; j++) to[j] -= f * row[j];
    }
    scaleRow(row + first, k - first, inv);
    row[k] = inv;
  }
  return true;
}

// With W = L_KK^-T H_KJ = D L_KJ for the rows K of a panel: H_JJ -= W^T D^-1 W. W is scaled by
// D^-1/2 for that.
bool dj_eliminateLDL(double* A, int own, int later, int stride, const double* diagonal,
                     size_t step) {
  for (int end = own; end > 0;) {
    int first = end > PANEL ? end - PANEL : 0, n = end - first;
    if (!panelLDL(A, first, end, stride, diagonal, step)) return false;
    double *row = A + (size_t)first * stride, *L = row + first, *R = row + own;
    if (first > 0) {
      dj_dtrsm(CblasLeft, CblasLower, CblasTrans, CblasUnit, n, first, L, stride, row, stride);
    }
    if (later > 0) {
      dj_dtrsm(CblasLeft, CblasLower, CblasTrans, CblasUnit, n, later, L, stride, R, stride);
    }
    for (int k = 0; k < n && first > 0; k++) {
      scaleRow(row + (size_t)k * stride, first, sqrt(L[(size_t)k * stride + k]));
    }
    if (first > 0) {
      dj_dsyrk(CblasLower, CblasTrans, first, n, -1, row, stride, 1, A, stride);
    }
    for (int k = 0; k < n && first > 0; k++) {
      scaleRow(row + (size_t)k * stride, first, sqrt(L[(size_t)k * stride + k]));
    }
    if (first > 0 && later > 0) {   // D^-1 W^T times that of the later columns
      dj_dgemm(CblasTrans, CblasNoTrans, first, later, n, -1, row, stride, R, stride, 1, A + own,
               stride);
    }
    end = first;
  }
  return true;
}

// ---- not symmetric ----------------------------------------------------------------------------

static bool panelLDU(double* A, int first, int end, int stride, const double* diagonal,
                     size_t step) {
  for (int k = end - 1; k >= first; k--) {
    double* restrict row = A + (size_t)k * stride;
    if (!good(row[k], diagonal[(size_t)k * step])) return false;
    double inv = 1 / row[k];
    scaleRow(row + first, k - first, inv);
    for (int i = k - 1; i >= first; i--) {
      double *restrict to = A + (size_t)i * stride, f = to[k];
      for (int j = first; j < k; j++) to[j] -= f * row[j];
      to[k] = f * inv;
    }
    row[k] = inv;
  }
  return true;
}

static void scaleColumns(double* A, int rows, int n, int stride, const double* diagonal) {
  for (int i = 0; i < rows; i++) {
    for (int k = 0; k < n; k++) A[(size_t)i * stride + k] *= diagonal[(size_t)k * stride + k];
  }
}

// With V = H_JK L_KK^-1 = U_JK D and L_KJ = D^-1 U_KK^-1 H_KJ: H_JJ -= V L_KJ.
bool dj_eliminateLDU(double* A, double* C, int own, int later, int stride, const double* diagonal,
                     size_t step) {
  for (int end = own; end > 0;) {
    int first = end > PANEL ? end - PANEL : 0, n = end - first;
    if (!panelLDU(A, first, end, stride, diagonal, step)) return false;
    double *row = A + (size_t)first * stride, *F = row + first, *R = row + own, *column = A + first;
    if (first > 0) {
      dj_dtrsm(CblasLeft, CblasUpper, CblasNoTrans, CblasUnit, n, first, F, stride, row, stride);
      dj_dtrsm(CblasRight, CblasLower, CblasNoTrans, CblasUnit, first, n, F, stride, column,
               stride);
    }
    if (later > 0) {
      dj_dtrsm(CblasLeft, CblasUpper, CblasNoTrans, CblasUnit, n, later, F, stride, R, stride);
      dj_dtrsm(CblasLeft, CblasLower, CblasTrans, CblasUnit, n, later, F, stride,
               C + (size_t)first * later, later);
    }
    for (int k = 0; k < n; k++) {
      scaleRow(row + (size_t)k * stride, first, F[(size_t)k * stride + k]);
      scaleRow(R + (size_t)k * stride, later, F[(size_t)k * stride + k]);
    }
    if (first > 0) {
      dj_dgemm(CblasNoTrans, CblasNoTrans, first, first, n, -1, column, stride, row, stride, 1, A,
               stride);
    }
    if (first > 0 && later > 0) {
      dj_dgemm(CblasNoTrans, CblasNoTrans, first, later, n, -1, column, stride, R, stride, 1,
               A + own, stride);
      dj_dgemm(CblasTrans, CblasNoTrans, first, later, n, -1, row, stride,
               C + (size_t)first * later, later, 1, C, later);
    }
    scaleColumns(column, first, n, stride, F);
    end = first;
  }
  return true;
}

void dj_frontUpdate(double* out, int rows, int columns, int own, const double* P, int sp,
                    const double* Q, int sq) {
  dj_dgemm(CblasTrans, CblasNoTrans, rows, columns, own, -1, P, sp, Q, sq, 0, out, columns);
}

// ---- solution ---------------------------------------------------------------------------------

void dj_frontBack(double* X, const double* F, int n, int stride, int ncol) {
  dj_dtrsm(CblasLeft, CblasLower, CblasTrans, CblasUnit, n, ncol, F, stride, X, ncol);
}

void dj_frontDown(double* X, const double* F, int n, int stride, int ncol) {
  dj_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasUnit, n, ncol, F, stride, X, ncol);
}

void dj_frontUp(double* X, const double* F, int n, int stride, int ncol) {
  dj_dtrsm(CblasLeft, CblasUpper, CblasNoTrans, CblasUnit, n, ncol, F, stride, X, ncol);
}

void dj_frontDivide(double* X, const double* F, int n, int stride, int ncol) {
  for (int k = 0; k < n; k++) {
    scaleRow(X + (size_t)k * ncol, ncol, F[(size_t)k * stride + k]);
  }
}
