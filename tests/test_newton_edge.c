// The damped Newton method where slopes change within a hair's breadth, as the forces of faces that
// lie on each other: it ends there, or says soon that it cannot.

#include "common/near.h"
#include "common/test.h"
#include "common/whole_step.h"

#include "solve/newton.h"

// (x - place - 0.3)^2/2 + edge(x - place), whose slope goes from -1 to 1 over a few orders of
// magnitude of width. By noise the value is off at random.
typedef struct Edge {
  double width, noise, place, x, next;
  double curvature;
  int nevaluate;
} Edge;

static double at(const Edge* e, double x, double* slope, double* curvature) {
  double d = x - e->place, most = asinh(1 / e->width), u = d / e->width;
  *slope = d - 0.3 + asinh(u) / most;
  *curvature = 1 + 1 / (hypot(d, e->width) * most);
  double value = 0.5 * (d - 0.3) * (d - 0.3) + (d * asinh(u) - hypot(d, e->width)) / most;
  return value + e->noise * sin(1e17 * x);
}

static djStatus systemAt(void* user, djSystemAt* asked) {
  Edge* e = user;
  double slope, x = e->x;
  if (asked->step) x = e->next = e->x + asked->fraction * *asked->step;
  asked->value = at(e, x, asked->gradient ? asked->gradient : &slope, &e->curvature);
  e->nevaluate++;
  return DJ_OK;
}

static bool factor(void* user, double shift) {
  (void)user;
  return shift == 0;
}

static bool solve(void* user, double* x) {
  *x /= ((Edge*)user)->curvature;
  return true;
}

static void accept(void* user) {
  Edge* e = user;
  e->x = e->next;
}

static djStatus minimize(djNewtonResult* r, Edge* e, const djNewtonOption* o) {
  djNewtonProblem p = {.n = 1, .user = e, .system = systemAt, .factor = factor, .solve = solve,
                       .limit = djt_wholeStep, .accept = accept};
  double gradient, step;
  return dj_newton(r, &p, o, &gradient, &step);
}

static double slopeAt(const Edge* e) {
  double slope, curvature;
  at(e, e->x, &slope, &curvature);
  return slope;
}

static const djNewtonOption kOption = {.tolerance = 1e-12, .max_iterations = 100, .max_cuts = 30};

// However narrow the edge, and where values tell steps only down to 1e-5.
static void testNarrow(void) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  for (int noisy = 0; noisy < 2; noisy++) {
    o.noise = noisy ? 2e-5 : 0;
    for (double width = 1e-3; width > 1e-14; width *= 0.1) {
      Edge e = {.width = width, .x = 1, .noise = 0.5 * o.noise};
      assert_int_equal(minimize(&r, &e, &o), DJ_OK);
      djt_near(slopeAt(&e), 0, 1e-14);
      assert_true(r.iterations <= 15 && e.nevaluate <= 60);
    }
  }
}

// One bit of the point changes the slope by a good part of all: it is told soon that this is no
// solution, at the next point to it.
static void testUnresolved(void) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  o.noise = 1e-15;
  Edge e = {.width = 1e-30, .place = 1, .x = 2};
  assert_int_equal(minimize(&r, &e, &o), DJ_NOT_CONVERGED);
  djt_near(e.x, 1, 1e-15);
  assert_true(fabs(slopeAt(&e)) > 0.1 && r.iterations <= 30);
}

// A loose tolerance, refined: where full steps lead away from the edge, others go on.
static void testRefined(void) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  o.tolerance = 0.05;
  o.refinement_steps = 30;
  for (double width = 1e-3; width > 1e-14; width *= 0.1) {
    Edge e = {.width = width, .x = 1};
    assert_int_equal(minimize(&r, &e, &o), DJ_OK);
    djt_near(slopeAt(&e), 0, 1e-14);
    assert_true(r.decrement < 1e-9);
  }
}

DJT_MAIN(testNarrow, testUnresolved, testRefined)
