// An optimization that must end well.

#ifndef DJ_TESTS_COMMON_OPTIMIZE_CASE_H_
#define DJ_TESTS_COMMON_OPTIMIZE_CASE_H_

#include "common/test.h"

#include <dijoco/optimize.h>

static inline djOptimizeResult djt_optimize(double* x, const djOptimizeProblem* p,
                                            const djOptimizer* o) {
  djOptimizeResult r;
  djError err = {""};
  djStatus status = dj_optimize(&r, x, p, o, &err);
  djt_failIf(status != DJ_OK, "status %d: %s", status, err.text);
  return r;
}

#endif // DJ_TESTS_COMMON_OPTIMIZE_CASE_H_
