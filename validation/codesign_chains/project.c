#include "codesign_chains/project.h"

#include <math.h>
#include <string.h>

// A = Q T Q^T, T tridiagonal with diagonal d and e[1..] beside it, by reflections.
static void reduce(double* Q, double* d, double* e, const double* A, int n) {
  double M[PROJECT_MAX * PROJECT_MAX], p[PROJECT_MAX], v[PROJECT_MAX][PROJECT_MAX];
  memcpy(M, A, (size_t)(n * n) * sizeof *M);
  for (int k = 0; k + 2 < n; k++) {
    double norm = 0, dot = 0;
    memset(v[k], 0, sizeof v[k]);
    for (int i = k + 1; i < n; i++) norm += M[i * n + k] * M[i * n + k];
    norm = sqrt(norm);
    const double first = M[(k + 1) * n + k], alpha = first > 0 ? -norm : norm;
    const double size = norm * (norm + fabs(first)); // |v|^2/2
    if (size == 0) continue;
    for (int i = k + 1; i < n; i++)
      v[k][i] = (M[i * n + k] - (i == k + 1 ? alpha : 0)) / sqrt(size);
    for (int i = k; i < n; i++) {
      p[i] = 0;
      for (int j = k + 1; j < n; j++) p[i] += M[i * n + j] * v[k][j];
      dot += p[i] * v[k][i] / 2;
    }
    for (int i = k; i < n; i++) p[i] -= dot * v[k][i];
    for (int i = k; i < n; i++) {
      for (int j = k; j < n; j++) M[i * n + j] -= v[k][i] * p[j] + p[i] * v[k][j];
    }
  }
  for (int i = 0; i < n; i++) {
    d[i] = M[i * n + i];
    e[i] = i > 0 ? M[i * n + i - 1] : 0;
    for (int j = 0; j < n; j++) Q[i * n + j] = i == j;
  }
  for (int k = n - 3; k >= 0; k--) { // Q = (1 - v v^T) Q
    for (int j = k + 1; j < n; j++) {
      double dot = 0;
      for (int i = k + 1; i < n; i++) dot += v[k][i] * Q[i * n + j];
      for (int i = k + 1; i < n; i++) Q[i * n + j] -= dot * v[k][i];
    }
  }
}

// One sweep of the QL method with a shift over l..m.
static void sweep(double* Q, double* d, double* e, int n, int l, int m) {
  double g = (d[l + 1] - d[l]) / (2 * e[l + 1]), r = hypot(g, 1);
  double s = 1, c = 1, p = 0;
  g = d[m] - d[l] + e[l + 1] / (g + (g >= 0 ? r : -r));
  for (int i = m - 1; i >= l; i--) {
    const double f = s * e[i + 1], b = c * e[i + 1];
    r = sqrt(f * f + g * g);
    if (i + 1 < m) e[i + 2] = r;
    if (r == 0) {
      d[i + 1] -= p;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    for (int k = 0; k < n; k++) {
      const double t = Q[k * n + i + 1];
      Q[k * n + i + 1] = s * Q[k * n + i] + c * t;
      Q[k * n + i] = c * Q[k * n + i] - s * t;
    }
  }
  d[l] -= p;
  e[l + 1] = g;
  if (m + 1 < n) e[m + 1] = 0;
}

double project_semidefinite(double* A, int n) {
  double Q[PROJECT_MAX * PROJECT_MAX], d[PROJECT_MAX], e[PROJECT_MAX + 1] = {0}, least = INFINITY;
  reduce(Q, d, e, A, n);
  for (int l = 0; l < n; l++) {
    for (int tries = 0; tries < 60; tries++) {
      int m = l;
      while (m + 1 < n && fabs(e[m + 1]) > 1e-16 * (fabs(d[m]) + fabs(d[m + 1]))) m++;
      if (m == l) break;
      sweep(Q, d, e, n, l, m);
    }
  }
  for (int i = 0; i < n; i++) least = fmin(least, d[i]);
  if (least >= 0) return least;
  for (int k = 0; k < n; k++) {
    if (d[k] >= 0) continue;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) A[i * n + j] -= d[k] * Q[i * n + k] * Q[j * n + k];
    }
  }
  return least;
}
