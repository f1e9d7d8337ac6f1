// Comparing numbers in tests: cmocka does it in single precision.

#ifndef DJ_TESTS_NEAR_H_
#define DJ_TESTS_NEAR_H_

#include "common/test.h"

#define djt_near(a, b, epsilon) djt_nearAt(a, b, epsilon, __FILE__, __LINE__)
static inline void djt_nearAt(double a, double b, double epsilon, const char* file, int line) {
  if (!(fabs(a - b) <= epsilon)) {
    print_error("%.17g, not %.17g by more than %g\n", a, b, epsilon);
    _fail(file, line);
  }
}

#endif  // DJ_TESTS_NEAR_H_
