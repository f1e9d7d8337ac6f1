// Newton's method where the Jacobian is not positive definite: its convex substitute comes before
// any shift, and only then.

#include "common/near.h"
#include "common/test.h"
#include "common/whole_step.h"

#include "solve/newton.h"

// f = a (x^2 - 1)^2 + 3/2 (y - 2)^2: two valleys with a stiff ridge between them.
typedef struct Ridge {
  double a, x[2], next[2], curvature[2], factored[2];
  bool helps;               // the substitute makes curvatures positive,
  double stiffness;         //   at least this large or, 0, 5 a
  double least;             // share of it that can be factored
  double shares[60];        // that were asked for
  bool substituted;         // the Jacobian in force is the substitute
  int nconvex, nshift, naccept;
  djStatus failure;         // what asking for it returns
  double first[2];          // after the first step
} Ridge;

static double at(const Ridge* r, const double* x, double* gradient, double* curvature) {
  double w = x[0] * x[0] - 1;
  if (gradient) {
    gradient[0] = 4 * r->a * x[0] * w;
    gradient[1] = 3 * (x[1] - 2);
    curvature[0] = r->a * (12 * x[0] * x[0] - 4);
    curvature[1] = 3;
  }
  return r->a * w * w + 1.5 * (x[1] - 2) * (x[1] - 2);
}

static bool factor(void* user, double shift) {
  Ridge* r = user;
  r->nshift += shift > 0;
  for (int i = 0; i < 2; i++) r->factored[i] = r->curvature[i] + shift;
  bool enough = !r->substituted || r->shares[(r->nconvex - 1) % 60] >= r->least;
  return r->factored[0] > 0 && r->factored[1] > 0 && enough;
}

static bool solve(void* user, double* x) {
  Ridge* r = user;
  for (int i = 0; i < 2; i++) x[i] /= r->factored[i];
  return true;
}

static void accept(void* user) {
  Ridge* r = user;
  memcpy(r->x, r->next, sizeof r->x);
  if (r->naccept++ == 0) memcpy(r->first, r->x, sizeof r->first);
}

static djStatus convexify(djSystemAt* asked, Ridge* r) {
  const double share = asked->share;
  r->shares[r->nconvex++ % 60] = share;
  if (r->failure < 0) return r->failure;
  asked->value = at(r, r->x, asked->gradient, r->curvature);
  r->substituted = true;
  double stiffness = r->stiffness > 0 ? r->stiffness : 5 * r->a;
  for (int i = 0; i < 2 && r->helps; i++) {
    r->curvature[i] += share * fmax(0, stiffness - r->curvature[i]);
  }
  return DJ_OK;
}

static djStatus systemAt(void* user, djSystemAt* asked) {
  Ridge* r = user;
  if (asked->jacobian == DJ_JACOBIAN_CONVEX) return convexify(asked, r);
  r->substituted = false;
  for (int i = 0; i < 2 && asked->step; i++) r->next[i] = r->x[i] + asked->fraction * asked->step[i];
  asked->value = at(r, asked->step ? r->next : r->x, asked->gradient, r->curvature);
  return DJ_OK;
}

static djStatus minimize(djNewtonResult* result, Ridge* r, bool substitute) {
  djNewtonProblem p = {.n = 2, .user = r, .system = systemAt, .factor = factor, .solve = solve,
                       .limit = djt_wholeStep, .accept = accept, .convex = substitute};
  djNewtonOption o = {.tolerance = 1e-8, .max_iterations = 60, .max_cuts = 30};
  double gradient[2], step[2];
  return dj_newton(result, &p, &o, gradient, step);
}

static void testStiff(void) {
  djNewtonResult with, without;
  Ridge r = {.a = 1e6, .x = {0.1, 0}, .helps = true};
  assert_int_equal(minimize(&with, &r, true), DJ_OK);
  djt_near(fabs(r.x[0]), 1, 1e-12);
  djt_near(r.x[1], 2, 1e-12);
  assert_true(r.nconvex >= 1 && r.nshift == 0 && with.shifts == 0);
  // Beside a stiff ridge a shift is no small change, its substitute none.
  Ridge s = {.a = 1e6, .x = {0.1, 0}};
  assert_int_equal(minimize(&without, &s, false), DJ_OK);
  assert_true(without.shifts > 0 && s.nshift > 5);
  assert_true(fabs(s.first[1] - 2) > 1.99);
}

static void testOnlyWhereNeeded(void) {
  djNewtonResult result;
  Ridge r = {.a = 1, .x = {0.8, 0}, .helps = true};   // convex from there on
  assert_int_equal(minimize(&result, &r, true), DJ_OK);
  assert_int_equal(r.nconvex, 0);
  Ridge s = {.a = 1, .x = {0.1, 0}};                  // a substitute that does not help
  assert_int_equal(minimize(&result, &s, true), DJ_OK);
  assert_true(s.nconvex > 0 && result.shifts > 0 && s.nshift > 0);
  djt_near(fabs(s.x[0]), 1, 1e-9);
}

// Almost at rest on the ridge, where decrements are within the tolerance, a substitute does not end
// the search; nor does it go on for ever where the point is exact.
static void testSaddle(void) {
  djNewtonResult result;
  Ridge r = {.a = 1, .x = {3e-9, 2}, .helps = true};   // the decrement is half of the tolerance
  assert_int_equal(minimize(&result, &r, true), DJ_OK);
  djt_near(r.x[0], 1, 1e-9);
  Ridge s = {.a = 1, .x = {0, 2}, .helps = true};
  assert_int_equal(minimize(&result, &s, true), DJ_OK);
  assert_int_equal(result.iterations, 1);
}

// A substitute that is much too stiff: its steps are stretched, and less of it is tried, but not
// where less cannot be factored.
static void testTooStiff(void) {
  static const double least[] = {1, 0.25, 0};
  int iterations = 60;
  for (int k = 0; k < 3; k++) {
    djNewtonResult result;
    Ridge r = {.a = 1, .x = {0.05, 0}, .helps = true, .stiffness = 1000, .least = least[k]};
    assert_int_equal(minimize(&result, &r, true), DJ_OK);
    djt_near(r.x[0], 1, 1e-9);
    djt_near(r.x[1], 2, 1e-9);
    assert_true(r.nconvex < 60 && result.shifts == 0);
    assert_true(r.shares[0] == 1);
    double low = 1;
    for (int i = 0; i < r.nconvex; i++) {
      low = fmin(low, r.shares[i]);
      if (i > 0 && r.shares[i - 1] < least[k]) djt_near(r.shares[i], 2 * r.shares[i - 1], 1e-15);
    }
    assert_true(k < 2 ? low >= 0.49 * least[k] : low < 0.1);
    assert_true(low < 1 && result.iterations <= iterations);
    iterations = k == 0 ? 30 : result.iterations;
  }
}

static void testError(void) {
  djNewtonResult result;
  Ridge r = {.a = 1, .x = {0.1, 0}, .failure = DJ_INVALID};
  assert_int_equal(minimize(&result, &r, true), DJ_INVALID);
  assert_int_equal(r.naccept, 0);
}

DJT_MAIN(testStiff, testOnlyWhereNeeded, testSaddle, testTooStiff, testError)
