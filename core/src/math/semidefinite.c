// Eigenvalues by Householder's reduction to a tridiagonal matrix and QR steps with Wilkinson's shift
// (Golub and Van Loan, Matrix Computations, 8.3). At these sizes a call of LAPACK's costs several
// times as much, and so does Jacobi's method.

#include "math/semidefinite.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define MAX DJU_MAX_SEMIDEFINITE
#define MAX_STEPS (30 * MAX)   // some two for each eigenvalue are needed
#define ROUNDING 1e-15         // of the largest entry, which is 1/2 to 1
#define LARGE 1e300

// A = V^T T V with T tridiagonal.
typedef struct Tridiagonal {
  double d[MAX], e[MAX], V[MAX][MAX];
} Tridiagonal;

// Whether all pivots of L D L^T are positive.
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

// v (n) with (I - 2 v v^T) x along the first axis, |v| = 1; false: x is along it already. *first:
// what x becomes there.
static bool reflector(double* v, double* first, int n) {
  double square = 0;
  for (int i = 1; i < n; i++) square += v[i] * v[i];
  *first = v[0];
  if (!(square > ROUNDING * ROUNDING)) return false;
  double size = sqrt(v[0] * v[0] + square);
  *first = v[0] > 0 ? -size : size;
  v[0] -= *first;
  double scale = 1 / sqrt(v[0] * v[0] + square);
  for (int i = 0; i < n; i++) v[i] *= scale;
  return true;
}

// Rows and columns from k + 1 of A, and those rows of V, are reflected so that A_ik = 0 for
// i > k + 1. A' = A - v w^T - w v^T, w = 2 (A v - (v . A v) v).
static void reflect(Tridiagonal* t, double A[MAX][MAX], int n, int k) {
  double v[MAX] = {0}, w[MAX] = {0}, y[MAX] = {0}, along = 0;
  int from = k + 1;
  for (int i = from; i < n; i++) v[i] = A[k][i];
  if (!reflector(v + from, &t->e[k], n - from)) return;
  for (int i = from; i < n; i++) {
    for (int j = 0; j < MAX; j++) {
      w[j] += v[i] * A[i][j];
      y[j] += v[i] * t->V[i][j];
    }
  }
  for (int i = from; i < n; i++) along += v[i] * w[i];
  for (int i = from; i < n; i++) w[i] = 2 * (w[i] - along * v[i]);
  for (int i = from; i < n; i++) {
    for (int j = from; j < n; j++) A[i][j] -= v[i] * w[j] + w[i] * v[j];
    for (int j = 0; j < MAX; j++) t->V[i][j] -= 2 * v[i] * y[j];
  }
}

static void reduce(Tridiagonal* t, double A[MAX][MAX], int n) {
  memset(t, 0, sizeof *t);
  for (int i = 0; i < n; i++) t->V[i][i] = 1;
  for (int k = 0; k + 2 < n; k++) reflect(t, A, n, k);
  if (n > 1) t->e[n - 2] = A[n - 2][n - 1];
  for (int i = 0; i < n; i++) t->d[i] = A[i][i];
}

// One QR step of rows lo to hi.
static void chase(Tridiagonal* t, int lo, int hi) {
  double *d = t->d, *e = t->e, last = e[hi - 1], half = 0.5 * (d[hi - 1] - d[hi]);
  double root = sqrt(half * half + last * last);
  double x = d[lo] - (d[hi] - last * last / (half + (half < 0 ? -root : root))), z = e[lo];
  for (int k = lo; k < hi; k++) {
    double r = sqrt(x * x + z * z), c = r > 0 ? x / r : 1, s = r > 0 ? z / r : 0;
    if (k > lo) e[k - 1] = r;
    double a = d[k], b = d[k + 1], mixed = e[k];
    d[k] = c * (c * a + s * mixed) + s * (c * mixed + s * b);
    d[k + 1] = s * (s * a - c * mixed) + c * (c * b - s * mixed);
    e[k] = c * (c * mixed - s * a) + s * (c * b - s * mixed);
    x = e[k];
    if (k + 1 < hi) {
      z = s * e[k + 1];
      e[k + 1] *= c;
    }
    double *restrict p = t->V[k], *restrict q = t->V[k + 1];
    for (int j = 0; j < MAX; j++) {
      double u = p[j], v = q[j];
      p[j] = c * u + s * v;
      q[j] = c * v - s * u;
    }
  }
}

static bool isSmall(double x) { return !(fabs(x) > ROUNDING); }   // or NaN

static void diagonalize(Tridiagonal* t, int n) {
  int hi = n - 1;
  for (int step = 0; step < MAX_STEPS; step++) {
    while (hi > 0 && isSmall(t->e[hi - 1])) hi--;
    if (hi <= 0) return;
    int lo = hi - 1;
    while (lo > 0 && !isSmall(t->e[lo - 1])) lo--;
    chase(t, lo, hi);
  }
}

// What is multiplied by a power of two takes the same way. What is too small or too large for that
// is kept.
void dju_semidefinite(double* A, int n) {
  double D[MAX][MAX] = {{0}}, largest = 0;
  Tridiagonal t;
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) {
      D[r][c] = 0.5 * (A[n * r + c] + A[n * c + r]);
      double size = fabs(D[r][c]);
      if (size > largest) largest = size;   // fmax would be a call
    }
  }
  if (!(largest > 1 / LARGE && largest < LARGE) || isDefinite(D, n)) return;
  int exponent;
  frexp(largest, &exponent);
  double unit = ldexp(1, exponent), scale = 1 / unit;
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < MAX; c++) D[r][c] *= scale;
  }
  reduce(&t, D, n);
  diagonalize(&t, n);
  for (int k = 0; k < n; k++) {
    double value = t.d[k] * unit;
    if (!(value < 0)) continue;
    for (int r = 0; r < n; r++) {
      for (int c = 0; c < n; c++) A[n * r + c] -= value * t.V[k][r] * t.V[k][c];
    }
  }
}
