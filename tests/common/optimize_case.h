// Optimizations that must end: djt_optimum without a warning.

#ifndef DJ_TESTS_COMMON_OPTIMIZE_CASE_H_
#define DJ_TESTS_COMMON_OPTIMIZE_CASE_H_

#include "common/test.h"

#include <dijoco/optimize.h>

static inline djOptimizeResult djt_optimizeTo(bool well, double* x, const djOptimizeProblem* p,
                                              const djOptimizer* o) {
  djOptimizeResult r;
  djError err = {""};
  djStatus status = dj_optimize(&r, x, p, o, &err);
  djt_failIf(status < 0 || (well && status != DJ_OK), "status %d: %s", status, err.text);
  return r;
}
#define djt_optimize(x, p, o) djt_optimizeTo(false, x, p, o)
#define djt_optimum(x, p, o) djt_optimizeTo(true, x, p, o)

#endif  // DJ_TESTS_COMMON_OPTIMIZE_CASE_H_
