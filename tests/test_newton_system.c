// The Newton method on coupled equations that are no gradient of any function: near the root full
// steps, which square the error.

#include "common/test.h"
#include "solve/newton.h"

static const djNewtonOption kOption = {
    .tolerance = 1e-8, .max_iterations = 50, .refinement_steps = 0, .max_cuts = 30, .noise = 0};

// g = A (x - root) + x^3 - root^3 for each coordinate; the symmetric part of A is positive.
static const double kA[4] = {2, 3, -1, 1}, kRoot[2] = {0.5, -1};

typedef struct System {
  double x[2], next[2], J[4], value, trial_value;
  int naccept;
  double error[50];       // of accepted points
} System;

static void residual(double g[2], double J[4], const double x[2]) {
  for (int i = 0; i < 2; i++) {
    g[i] = x[i] * x[i] * x[i] - kRoot[i] * kRoot[i] * kRoot[i];
    for (int j = 0; j < 2; j++) g[i] += kA[2 * i + j] * (x[j] - kRoot[j]);
    for (int j = 0; j < 2; j++) J[2 * i + j] = kA[2 * i + j] + (i == j ? 3 * x[i] * x[i] : 0);
  }
}

static bool factorSystem(void* user, double shift) {
  System* s = user;
  double mean = (s->J[1] + s->J[2]) / 2;
  return shift == 0 && s->J[0] > 0 && s->J[0] * s->J[3] > mean * mean;
}

static bool solveSystem(void* user, double* x) {
  System* s = user;
  const double *J = s->J, det = J[0] * J[3] - J[1] * J[2], a = x[0], b = x[1];
  x[0] = (J[3] * a - J[1] * b) / det;
  x[1] = (J[0] * b - J[2] * a) / det;
  return true;
}

static djStatus capSystem(void* user, double* fraction, const double* step) {
  (void)user, (void)fraction, (void)step;
  return DJ_OK;
}

// The value is the work along the step: from another point it would be another.
static void tryStep(System* s, const double* step, double fraction) {
  static const double node[3] = {-0.7745966692414834, 0, 0.7745966692414834};
  static const double weight[3] = {5. / 18, 8. / 18, 5. / 18};
  double g[2], J[4];
  s->trial_value = s->value;
  for (int k = 0; k < 3; k++) {
    double t = fraction * (1 + node[k]) / 2;
    residual(g, J, (double[2]){s->x[0] + t * step[0], s->x[1] + t * step[1]});
    s->trial_value += fraction * weight[k] * (g[0] * step[0] + g[1] * step[1]);
  }
  for (int i = 0; i < 2; i++) s->next[i] = s->x[i] + fraction * step[i];
}

static djStatus systemAt(void* user, djSystemAt* at) {
  System* s = user;
  if (at->step) tryStep(s, at->step, at->fraction);
  at->value = at->step ? s->trial_value : s->value;
  if (at->gradient) residual(at->gradient, s->J, at->step ? s->next : s->x);
  return DJ_OK;
}

static void acceptSystem(void* user) {
  System* s = user;
  memcpy(s->x, s->next, sizeof s->x);
  s->value = s->trial_value;
  s->error[s->naccept++] = hypot(s->x[0] - kRoot[0], s->x[1] - kRoot[1]);
}

static void testSystem(void) {
  static const double start[3][2] = {{0.6, -0.9}, {3, 4}, {-20, 1}};
  for (int k = 0; k < 3; k++) {
    System s = {.x = {start[k][0], start[k][1]}};
    djNewtonProblem p = {.n = 2, .user = &s, .system = systemAt, .factor = factorSystem,
                         .solve = solveSystem, .limit = capSystem, .accept = acceptSystem};
    djNewtonResult r;
    double gradient[2], step[2];
    assert_int_equal(dj_newton(&r, &p, &kOption, gradient, step), DJ_OK);
    assert_int_equal(r.shifts, 0);
    assert_true(r.iterations == s.naccept && s.naccept < 20);
    assert_true(s.error[s.naccept - 1] < 1e-14);
    int squared = 0;
    for (int i = 1; i < s.naccept; i++) {
      if (s.error[i - 1] > 0.2 || s.error[i - 1] < 1e-7) continue;
      assert_true(s.error[i] < 2 * s.error[i - 1] * s.error[i - 1]);
      squared++;
    }
    assert_true(squared >= 2);
  }
}

DJT_MAIN(testSystem)
