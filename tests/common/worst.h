// The worst of many errors.

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

#endif  // DJ_TESTS_WORST_H_
