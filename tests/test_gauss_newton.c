// Levenberg and Marquardt's method with bounds, on residuals with known minima.

#include "common/optimize_case.h"
#include "common/random_model.h"
#include "common/test.h"

#include <dijoco/optimize.h>

enum { N = 4, M = 6 };

// Residuals and what was asked for; the loss follows from them.
typedef struct Squares {
  djResiduals residuals;
  int n, m, calls, jacobians;
  double A[M * N], b[M];
  double lower[N], upper[N];
  int poor;                    // memory ends in this call
} Squares;

static djStatus residuals(void* user, double* r, double* J, const double* x) {
  Squares* s = user;
  s->jacobians++;
  return s->residuals(user, r, J, x);
}

static djStatus loss(void* user, double* value, double* grad, const double* x) {
  Squares* s = user;
  double r[M], J[M * N];
  if (++s->calls == s->poor) return DJ_NO_MEMORY;
  for (int i = 0; i < s->n; i++) assert_true(x[i] >= s->lower[i] && x[i] <= s->upper[i]);
  djStatus status = s->residuals(user, r, J, x);
  if (status < 0) return status;
  *value = 0;
  for (int k = 0; k < s->n && grad; k++) grad[k] = 0;
  for (int i = 0; i < s->m; i++) {
    *value += r[i] * r[i];
    for (int k = 0; k < s->n && grad; k++) grad[k] += 2 * J[i * s->n + k] * r[i];
  }
  return DJ_OK;
}

static djStatus rosenbrock(void* user, double* r, double* J, const double* x) {
  (void)user;
  r[0] = 1 - x[0];
  r[1] = 10 * (x[1] - x[0] * x[0]);
  if (J) memcpy(J, (double[]){-1, 0, -20 * x[0], 10}, 4 * sizeof *J);
  return DJ_OK;
}

static djStatus linear(void* user, double* r, double* J, const double* x) {
  const Squares* s = user;
  for (int i = 0; i < M; i++) {
    r[i] = -s->b[i];
    for (int k = 0; k < N; k++) r[i] += s->A[i * N + k] * x[k];
  }
  if (J) memcpy(J, s->A, sizeof s->A);
  return DJ_OK;
}

static Squares squares(djResiduals f, int n, int m) {
  Squares s = {.residuals = f, .n = n, .m = m};
  for (int i = 0; i < N; i++) {
    s.lower[i] = -INFINITY;
    s.upper[i] = INFINITY;
  }
  return s;
}

static djOptimizeProblem problemOf(Squares* s) {
  return (djOptimizeProblem){.n = s->n, .lower = s->lower, .upper = s->upper, .objective = loss,
                             .nresidual = s->m, .residuals = residuals, .user = s};
}

static djOptimizer gaussNewton(void) {
  djOptimizer o = dj_defaultOptimizer();
  o.type = "gauss_newton";
  return o;
}

// Few steps to the bottom of the valley, and with a bound to where it meets it.
static void testRosenbrock(void) {
  for (int bound = 0; bound < 2; bound++) {
    Squares s = squares(rosenbrock, 2, 2);
    if (bound) s.upper[0] = 0.5;
    djOptimizer o = gaussNewton();
    o.gradient_tolerance = 1e-9;
    double x[2] = {-1.2, 1};
    djOptimizeProblem p = problemOf(&s);
    djOptimizeResult r = djt_optimum(x, &p, &o);
    assert_int_equal(r.stop, DJ_STOP_GRADIENT);
    assert_true(r.iterations < 30 && r.evaluations == s.calls);
    assert_true(s.jacobians - 1 == r.iterations);
    if (bound) assert_true(x[0] == 0.5 && fabs(x[1] - 0.25) < 1e-9);
    else assert_true(fabs(x[0] - 1) < 1e-8 && fabs(x[1] - 1) < 1e-8);
  }
}

// Linear residuals within bounds: the conditions of the minimum, in a few steps.
static void testLinear(void) {
  djRng rng = {4};
  int nheld = 0;
  for (int trial = 0; trial < 100; trial++) {
    Squares s = squares(linear, N, M);
    double x[N], grad[N], value;
    for (int i = 0; i < M * N; i++) s.A[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < M; i++) s.b[i] = djt_uniform(&rng, -1, 1);
    for (int k = 0; k < N; k++) {
      double low = djt_uniform(&rng, -1, 0.3);
      if (trial % 3) s.lower[k] = low;
      if (trial % 3 == 2) s.upper[k] = low + djt_uniform(&rng, 0, 0.5);
      x[k] = djt_uniform(&rng, -3, 3);
    }
    djOptimizer o = gaussNewton();
    o.gradient_tolerance = 1e-10;
    djOptimizeProblem p = problemOf(&s);
    djOptimizeResult r = djt_optimum(x, &p, &o);
    assert_true(r.iterations <= 25);
    loss(&s, &value, grad, x);
    assert_true(value == r.loss);
    for (int k = 0; k < N; k++) {
      bool low = x[k] == s.lower[k], high = x[k] == s.upper[k];
      assert_true(low ? grad[k] > -1e-6 : high ? grad[k] < 1e-6 : fabs(grad[k]) < 1e-6);
      nheld += low || high;
    }
  }
  assert_true(nheld > 60);
}

// Damped at will: so far the first step goes.
static void testDamping(void) {
  double before = INFINITY;
  for (double damping = 1e-3; damping < 1e3; damping *= 10) {
    Squares s = squares(linear, N, M);
    for (int k = 0; k < N; k++) s.A[k * N + k] = 1 + k;   // D = A^T A
    for (int i = 0; i < M; i++) s.b[i] = i < N ? 1 + i : 0;
    djOptimizer o = gaussNewton();
    o.iterations = 1;
    o.damping = damping;
    double x[N] = {0};
    djOptimizeProblem p = problemOf(&s);
    djt_optimum(x, &p, &o);
    for (int k = 0; k < N; k++) assert_true(fabs(x[k] - 1 / (1 + damping)) < 1e-12);
    assert_true(x[0] < before);
    before = x[0];
  }
}

// An entry that a step takes to its bound is put there, and the others at once to their best.
static void testBoundInOneStep(void) {
  Squares s = squares(linear, N, M);
  for (int i = 0; i < M * N; i++) s.A[i] = i % (N + 1) == 0 ? 1 : 0.1 * (i % 3);
  for (int i = 0; i < M; i++) s.b[i] = 3 - i;
  s.upper[0] = 0.1;
  djOptimizer o = gaussNewton();
  o.iterations = 1;
  o.damping = 1e-12;
  double x[N] = {0}, value, grad[N];
  djOptimizeProblem p = problemOf(&s);
  djt_optimum(x, &p, &o);
  loss(&s, &value, grad, x);
  assert_true(x[0] == 0.1 && grad[0] < -0.01);
  for (int k = 1; k < N; k++) assert_true(fabs(grad[k]) < 1e-9);
}

// Defined on one side, or with derivatives on one side alone: it backs off.
static djStatus walled(void* user, double* r, double* J, const double* x) {
  if (x[0] > 1.5 && (user == NULL || J)) return DJ_INVALID;
  return rosenbrock(user, r, J, x);
}

static djStatus nowhere(void* user, double* r, double* J, const double* x) {
  if (x[0] != -1.2) return DJ_INVALID;
  return rosenbrock(user, r, J, x);
}

static djStatus uphill(void* user, double* r, double* J, const double* x) {
  djStatus status = rosenbrock(user, r, J, x);
  for (int i = 0; i < 4 && J; i++) J[i] = -J[i];
  return status;
}

static djStatus constant(void* user, double* r, double* J, const double* x) {
  (void)user;
  (void)x;
  r[0] = r[1] = 1;
  if (J) memset(J, 0, 4 * sizeof *J);
  return DJ_OK;
}

static void testEnds(void) {
  static const struct {
    djResiduals f;
    djStop stop;
    double first;
  } cases[] = {{walled, DJ_STOP_GRADIENT, -1.2}, {nowhere, DJ_STOP_STUCK, -1.2},
               {uphill, DJ_STOP_STUCK, -1.2}, {constant, DJ_STOP_GRADIENT, -1.2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Squares s = squares(cases[i].f, 2, 2);
    djOptimizer o = gaussNewton();
    o.gradient_tolerance = 1e-9;
    double x[2] = {cases[i].first, -6};
    djOptimizeProblem p = problemOf(&s);
    djOptimizeResult r;
    djStatus status = dj_optimize(&r, x, &p, &o, NULL);
    assert_int_equal(r.stop, cases[i].stop);
    assert_int_equal(status, cases[i].stop == DJ_STOP_STUCK ? DJ_NOT_CONVERGED : DJ_OK);
    if (i == 0) assert_true(fabs(x[0] - 1) < 1e-8);
    else assert_true(x[0] == -1.2 && x[1] == -6 && r.iterations == 0);
  }
  for (int poor = 1; poor < 6; poor++) {
    Squares s = squares(rosenbrock, 2, 2);
    s.poor = poor;
    djOptimizer o = gaussNewton();
    double x[2] = {-1.2, 1};
    djOptimizeProblem p = problemOf(&s);
    djOptimizeResult r;
    assert_int_equal(dj_optimize(&r, x, &p, &o, NULL), DJ_NO_MEMORY);
    assert_int_equal(s.calls, poor);
  }
}

static void testErrors(void) {
  Squares s = squares(rosenbrock, 2, 2);
  djOptimizer o = gaussNewton();
  double x[2] = {-1.2, 1};
  djOptimizeProblem p = problemOf(&s);
  djOptimizeResult r;
  djError err = {""};
  p.residuals = NULL;
  djt_refused(DJ_UNSUPPORTED, dj_optimize(&r, x, &p, &o, &err), err,
              "gauss_newton needs a loss that is a sum of squares");
  p = problemOf(&s);
  p.nresidual = -1;
  assert_int_equal(dj_optimize(&r, x, &p, &o, &err), DJ_INVALID);
  p = problemOf(&s);
  p.nequal = 1;
  p.equal = (const double[]){1, 1};
  p.value = (const double[]){0};
  djt_refused(DJ_UNSUPPORTED, dj_optimize(&r, x, &p, &o, &err), err,
              "gauss_newton takes no equations");
}

DJT_MAIN(testRosenbrock, testLinear, testDamping, testBoundInOneStep, testEnds, testErrors)
