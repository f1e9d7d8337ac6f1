// The worst of many errors, and what else is asked of two lists of numbers.

#ifndef DJ_TESTS_WORST_H_
#define DJ_TESTS_WORST_H_

#include <math.h>

// The larger; NaN when one is NaN, where fmax would drop it and the error with it.
static inline double djt_worst(double a, double b) { return isnan(a) || a > b ? a : b; }

static inline double djt_largest(const double* x, int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = djt_worst(worst, fabs(x[i]));
  return worst;
}

// Largest |a - b|, and in parts of the largest |b|.
static inline double djt_furthest(const double* a, const double* b, int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = djt_worst(worst, fabs(a[i] - b[i]));
  return worst;
}
static inline double djt_relative(const double* a, const double* b, int n) {
  return djt_furthest(a, b, n) / djt_worst(djt_largest(b, n), 1e-300);
}

static inline double djt_dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

#endif  // DJ_TESTS_WORST_H_
