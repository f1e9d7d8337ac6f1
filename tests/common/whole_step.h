// A callback of Newton's method for problems without a bound on the way.

#ifndef DJ_TESTS_WHOLE_STEP_H_
#define DJ_TESTS_WHOLE_STEP_H_

#include "solve/newton.h"

// djNewtonProblem.limit: the whole step may be taken.
static inline djStatus djt_wholeStep(void* user, double* fraction, const double* step) {
  (void)user, (void)step;
  *fraction = 1;
  return DJ_OK;
}

#endif // DJ_TESTS_WHOLE_STEP_H_
