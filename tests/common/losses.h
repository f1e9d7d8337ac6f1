// Losses of two variables with known minima, and one that lies or refuses in some of its calls.
// Used by the tests of optimisers.

#ifndef DJ_TESTS_LOSSES_H_
#define DJ_TESTS_LOSSES_H_

#include <dijoco/optimize.h>

#include <math.h>
#include <string.h>

enum { N = 2 };

// A loss, which lies, or refuses, in some of its calls.
typedef struct Loss {
  djObjective truth;
  int calls;
  int lie_from, lie_to;        // calls in which it adds 1000
  int refuse_from, refuse_to;
  double start[N], first[N];   // first point that is asked for, and first other one
} Loss;

static inline djStatus rosenbrock(void* user, double* loss, double* grad, const double* x) {
  double a = 1 - x[0], b = x[1] - x[0] * x[0];
  (void)user;
  *loss = a * a + 100 * b * b;
  if (grad) {
    grad[0] = -2 * a - 400 * b * x[0];
    grad[1] = 200 * b;
  }
  return DJ_OK;
}

static inline djStatus slope(void* user, double* loss, double* grad, const double* x) {
  (void)user;
  *loss = 3 * x[0] - x[1];
  if (grad) {
    grad[0] = 3;
    grad[1] = -1;
  }
  return DJ_OK;
}

static inline djStatus valley(void* user, double* loss, double* grad, const double* x) {
  (void)user;
  *loss = 50 * x[0] * x[0] + x[1] * x[1];
  if (grad) {
    grad[0] = 100 * x[0];
    grad[1] = 2 * x[1];
  }
  return DJ_OK;
}

static inline djStatus evaluate(void* user, double* loss, double* grad, const double* x) {
  Loss* l = user;
  int call = l->calls++;
  if (call == 0) {
    memcpy(l->start, x, sizeof l->start);
    memcpy(l->first, x, sizeof l->first);
  }
  if (memcmp(l->start, l->first, sizeof l->start) == 0) memcpy(l->first, x, sizeof l->first);
  if (call >= l->refuse_from && call < l->refuse_to) return DJ_INVALID;
  djStatus status = l->truth(NULL, loss, grad, x);
  if (call >= l->lie_from && call < l->lie_to) *loss += 1000;
  return status;
}

static inline double between(double d[N], const double* x, const double* y) {
  for (int i = 0; i < N; i++) d[i] = y[i] - x[i];
  return hypot(d[0], d[1]);
}

static inline double along(const double* grad, const double* d) {
  return grad[0] * d[0] + grad[1] * d[1];
}

#endif  // DJ_TESTS_LOSSES_H_
