// What Newton's method does with a trial that was refused because one part of the value is met on
// the way: that part is learned, and all else takes its whole step.

#include "common/near.h"
#include "common/test.h"
#include "common/whole_step.h"

#include "solve/newton.h"

enum { N = 6 };
#define PLACE 0.1

// sum (x_i - 1)^2/2 + wall (x_0 - PLACE)_+^4
typedef struct Wall {
  double wall, x[N], next[N], curvature;
  enum { USEFUL, NOTHING, UPHILL, LEVEL, INDEFINITE, STIFF } lesson;
  double stiff;     // of all coordinates, beside what they have
  djStatus failure; // of learn
  bool ends;        // beyond the middle the value is infinite
  double excess;    // of the last lesson
  int nlearn, ntrial, naccept;
  double first[N]; // after the first step
} Wall;

// The wall alone.
static double wallAt(const Wall* w, double x, double* slope, double* curvature) {
  const double d = fmax(x - PLACE, 0);
  *slope = 4 * w->wall * d * d * d;
  *curvature = 12 * w->wall * d * d;
  return w->wall * d * d * d * d;
}

static double at(Wall* w, const double* x, double* gradient) {
  double slope, value = wallAt(w, x[0], &slope, &w->curvature);
  for (int i = 0; i < N; i++) {
    value += 0.5 * (x[i] - 1) * (x[i] - 1);
    if (gradient) gradient[i] = x[i] - 1 + (i == 0 ? slope : 0);
  }
  w->curvature++;
  w->stiff = 0;
  return w->ends && x[0] > 0.5 ? INFINITY : value;
}

static bool factor(void* user, double shift) { return ((Wall*)user)->curvature + shift > 0; }
static bool solve(void* user, double* x) {
  const Wall* w = user;
  x[0] /= w->curvature;
  for (int i = 0; i < N; i++) x[i] /= 1 + w->stiff;
  return true;
}

static void accept(void* user) {
  Wall* w = user;
  memcpy(w->x, w->next, sizeof w->x);
  if (w->naccept++ == 0) memcpy(w->first, w->x, sizeof w->first);
}

// The wall by its quadratic where it is as high as the excess.
static djStatus learn(djSystemAt* asked, Wall* w) {
  double slope, curvature, excess = asked->excess, *gradient = asked->gradient;
  asked->none = w->lesson == NOTHING;
  w->excess = excess;
  w->nlearn++;
  if (w->failure < 0 || asked->none) return w->failure;
  asked->value = at(w, w->x, gradient);
  gradient[0] = w->x[0] - 1;
  const double place = PLACE + sqrt(sqrt(excess / w->wall));
  wallAt(w, place, &slope, &curvature);
  gradient[0] += slope + curvature * (w->x[0] - place);
  w->curvature = 1 + curvature;
  if (w->lesson == UPHILL) {
    for (int i = 0; i < N; i++) gradient[i] *= -1;
  }
  if (w->lesson == LEVEL) {   // downhill by a thousandth
    for (int i = 0; i < N; i++) gradient[i] = (w->x[i] - 1) * (i % 2 ? -1 : 1.002);
    w->curvature = 1;
  }
  if (w->lesson == INDEFINITE) w->curvature = -INFINITY;
  if (w->lesson == STIFF) w->stiff = 30;
  return DJ_OK;
}

static djStatus systemAt(void* user, djSystemAt* asked) {
  Wall* w = user;
  if (asked->jacobian == DJ_JACOBIAN_LEARNED) return learn(asked, w);
  w->ntrial += asked->step != NULL;
  for (int i = 0; i < N && asked->step; i++) w->next[i] = w->x[i] + asked->fraction * asked->step[i];
  asked->value = at(w, asked->step ? w->next : w->x, asked->gradient);
  return DJ_OK;
}

static djStatus minimize(djNewtonResult* r, Wall* w, bool learns) {
  double gradient[N], step[N], scratch[3 * N];
  const djNewtonProblem p = {.n = N,
                             .user = w,
                             .system = systemAt,
                             .factor = factor,
                             .solve = solve,
                             .limit = djt_wholeStep,
                             .accept = accept,
                             .learns = learns,
                             .scratch = scratch};
  const djNewtonOption o = {.tolerance = 1e-10, .max_iterations = 100, .max_cuts = 30};
  return dj_newton(r, &p, &o, gradient, step);
}

static void checkSolved(const Wall* w) {
  double slope, curvature;
  wallAt(w, w->x[0], &slope, &curvature);
  djt_near(w->x[0] - 1 + slope, 0, 1e-9);
  for (int i = 1; i < N; i++) djt_near(w->x[i], 1, 1e-9);
}

// Whatever the wall's height, the rest is there after the first step.
static void testMet(void) {
  for (double wall = 1e2; wall < 1e12; wall *= 100) {
    djNewtonResult with, without;
    Wall w = {.wall = wall}, v = {.wall = wall};
    assert_int_equal(minimize(&with, &w, true), DJ_OK);
    assert_int_equal(minimize(&without, &v, false), DJ_OK);
    checkSolved(&w);
    checkSolved(&v);
    assert_true(w.nlearn > 0 && w.nlearn <= 4);
    djt_near(w.first[1], 1, 1e-12);
    assert_true(w.first[0] > PLACE && w.first[0] < 0.9);
    assert_true(with.iterations <= 15);
    if (wall < 1e6) continue;
    assert_true(v.first[1] < 0.3 && w.ntrial < v.ntrial);
  }
}

// Where the whole step is accepted no one asks.
static void testNotAsked(void) {
  djNewtonResult r;
  Wall w = {.wall = 0};
  assert_int_equal(minimize(&r, &w, true), DJ_OK);
  checkSolved(&w);
  assert_int_equal(w.nlearn, 0);
}

// A lesson that is of no use leaves all as it was.
static void testUseless(void) {
  djNewtonResult with, without;
  Wall v = {.wall = 1e8};
  assert_int_equal(minimize(&without, &v, false), DJ_OK);
  for (int lesson = NOTHING; lesson <= INDEFINITE; lesson++) {
    Wall w = {.wall = 1e8, .lesson = lesson};
    assert_int_equal(minimize(&with, &w, true), DJ_OK);
    assert_true(w.nlearn > 0);
    assert_memory_equal(w.x, v.x, sizeof w.x);
    assert_int_equal(w.ntrial, v.ntrial);
    assert_int_equal(with.iterations, without.iterations);
    assert_true(with.value == without.value);
  }
}

// Also where there is no value: a wall behind which there is none is met by one lesson.
static void testInfinite(void) {
  djNewtonResult r;
  Wall w = {.wall = 1e4, .ends = true};
  assert_int_equal(minimize(&r, &w, true), DJ_OK);
  checkSolved(&w);
  assert_true(w.nlearn > 0);
  for (int i = 1; i < N; i++) djt_near(w.first[i], 1, 1e-12);
}

// A lesson thirty times as stiff as all else: its step, a thirtieth of the way, is gone on from.
static void testStiff(void) {
  djNewtonResult r;
  Wall w = {.wall = 1e6, .lesson = STIFF};
  assert_int_equal(minimize(&r, &w, true), DJ_OK);
  checkSolved(&w);
  for (int i = 1; i < N; i++) assert_true(w.first[i] > 0.3 && w.first[i] < 1);
}

static void testError(void) {
  djNewtonResult r;
  Wall w = {.wall = 1e8, .failure = DJ_INVALID};
  assert_int_equal(minimize(&r, &w, true), DJ_INVALID);
  assert_int_equal(w.naccept, 0);
  assert_true(w.excess > 0 && w.excess < 0.1);
}

DJT_MAIN(testMet, testNotAsked, testUseless, testInfinite, testStiff, testError)
