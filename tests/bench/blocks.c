// Where BLAS overtakes factors and solutions that are written by hand: times of both, which choose
// DJ_BIG. `make bench` runs it.

#include "math/front.h"
#include "math/ldl.h"
#include "math/ldu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Timed {
  int n;
  double *H, *F, *X;   // (n x n) matrix and factor, (n x 2n) right sides
  bool failed;
} Timed;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Diagonally dominant.
static void fill(Timed* t) {
  int n = t->n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double x = sin(12.9898 * i + 78.233 * j);
      t->H[(size_t)i * n + j] = t->H[(size_t)j * n + i] = i == j ? n : x;
    }
  }
}

static bool factor(const Timed* t, bool symmetric, bool blas) {
  int n = t->n;
  if (!blas) {
    return symmetric ? dj_factorLDL(t->F, t->H, NULL, n) : dj_factorLDU(t->F, t->H, NULL, n);
  }
  memcpy(t->F, t->H, (size_t)n * (size_t)n * sizeof(double));
  return symmetric ? dj_eliminateLDL(t->F, n, 0, n, t->H, (size_t)n + 1)
                   : dj_eliminateLDU(t->F, NULL, n, 0, n, t->H, (size_t)n + 1);
}

static void solve(const Timed* t, bool blas) {
  int n = t->n, ncol = 2 * n;
  if (!blas) {
    dj_solveLDLMulti(t->X, t->F, n, ncol);
    return;
  }
  dj_frontBack(t->X, t->F, n, n, ncol);
  dj_frontDivide(t->X, t->F, n, n, ncol);
  dj_frontDown(t->X, t->F, n, n, ncol);
}

// Best of some, in microseconds.
static double timeFactor(Timed* t, bool symmetric, bool blas) {
  double best = INFINITY;
  for (int k = 0; k < 3 + 2000000 / (t->n * t->n * t->n); k++) {
    double start = seconds();
    t->failed |= !factor(t, symmetric, blas);
    best = fmin(best, seconds() - start);
  }
  return 1e6 * best;
}

static double timeSolution(const Timed* t, bool blas) {
  double best = INFINITY;
  for (int k = 0; k < 5; k++) {
    for (int i = 0; i < 2 * t->n * t->n; i++) t->X[i] = i % 7;
    double start = seconds();
    solve(t, blas);
    best = fmin(best, seconds() - start);
  }
  return 1e6 * best;
}

int main(void) {
  static const int size[] = {32, 64, DJ_BIG, 128, 3 * DJ_BIG};
  printf("Dense blocks, microseconds by hand and by BLAS (from %d rows on BLAS is used)\n", DJ_BIG);
  printf("%6s %20s %20s %24s\n", "rows", "LDL^T", "LDU", "2 rows right sides");
  for (size_t k = 0; k < sizeof size / sizeof size[0]; k++) {
    size_t n2 = (size_t)size[k] * (size_t)size[k];
    double* memory = malloc(4 * n2 * sizeof *memory);
    if (!memory) return 1;
    Timed t = {size[k], memory, memory + n2, memory + 2 * n2, false};
    fill(&t);
    double us[3][2];
    for (int blas = 0; blas < 2; blas++) {
      us[1][blas] = timeFactor(&t, false, blas);
      us[0][blas] = timeFactor(&t, true, blas);
      us[2][blas] = timeSolution(&t, blas);
    }
    free(memory);
    if (t.failed) return 1;
    printf("%6d %10.1f %9.1f %10.1f %9.1f %12.0f %11.0f\n", size[k], us[0][0], us[0][1], us[1][0],
           us[1][1], us[2][0], us[2][1]);
  }
  return 0;
}
