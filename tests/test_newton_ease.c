// Newton's method led by an easier system: a mass pulled by a force against friction that turns
// within 1e-6 of its coordinate, and eased within 1e-2.

#include "common/near.h"
#include "common/test.h"
#include "common/whole_step.h"

#include "solve/newton.h"

typedef struct Problem {
  double pull, x, next, curvature;
  bool may_ease;
  double wall, height;         // points of the plain system beyond are as high: infeasible
  djSystem way;
  bool leaps, leapt;           // the next trial is a leap; it was accepted
  int asked, changes, naccept, nevaluate;
  djSystem change[8];
} Problem;

static const double EPS[] = {1e-12, 1e-4};

static double at(const Problem* m, double x, double* slope, double* curvature) {
  double eps = EPS[m->way != DJ_SYSTEM_ITSELF], r = sqrt(x * x + eps), y = x / r;
  double value = 0.5 * (x - m->pull) * (x - m->pull) + r, s = x;
  if (m->way == DJ_SYSTEM_FORESEEN) {
    s = fabs(y) < 0.97 ? x * sqrt(EPS[0] / EPS[1]) : x;
    r = sqrt(s * s + EPS[0]);
    y = s / r;
  }
  double k = (1 - y * y) / r;
  *slope = x - m->pull + y + k * (x - s);
  *curvature = 1 + k;
  return m->way == DJ_SYSTEM_ITSELF && x > m->wall ? m->height : value;
}

static bool factor(void* user, double shift) {
  Problem* m = user;
  m->curvature += shift;
  return m->curvature > 0;
}

static bool solve(void* user, double* x) {
  *x /= ((Problem*)user)->curvature;
  return true;
}

static void accept(void* user) {
  Problem* m = user;
  m->x = m->next;
  m->naccept++;
  if (m->leaps) m->leapt = true;
  m->leaps = false;
}

// The system becomes another; false: it has no easier one.
static bool change(Problem* m, djSystem way) {
  if (way == DJ_SYSTEM_EASED) {
    m->asked++;
    assert_int_equal(m->nevaluate, 1);
    if (!m->may_ease) return false;
  } else {
    m->leaps = way == DJ_SYSTEM_ITSELF;
    m->change[m->changes++] = way;
    assert_true(m->changes <= 8);
  }
  m->way = way;
  return true;
}

static djStatus systemAt(void* user, djSystemAt* asked) {
  Problem* m = user;
  double slope, curvature;
  asked->none = m->way != asked->system && !change(m, asked->system);
  if (asked->none) return DJ_OK;
  if (asked->step) m->next = m->x + asked->fraction * *asked->step;
  else m->leaps = false, m->nevaluate++;
  asked->value = at(m, asked->step ? m->next : m->x, &slope, &curvature);
  if (asked->gradient) *asked->gradient = slope, m->curvature = curvature;
  return DJ_OK;
}

static djStatus minimizeFrom(djNewtonResult* r, Problem* m, bool near, int plain) {
  djNewtonProblem p = {.n = 1, .user = m, .system = systemAt, .factor = factor, .solve = solve,
                       .limit = djt_wholeStep, .accept = accept, .eases = true};
  djNewtonOption o = {.tolerance = 1e-11, .max_iterations = 60, .max_cuts = 30,
                      .ease_tolerance = 1e-2, .near = near ? 1e-2 : 0,
                      .plain_iterations = plain};
  double gradient, step;
  return dj_newton(r, &p, &o, &gradient, &step);
}

static djStatus minimize(djNewtonResult* r, Problem* m) { return minimizeFrom(r, m, false, 0); }

// Root of x - pull + x/sqrt(x^2 + eps), which rises.
static double solution(double pull) {
  double low = -3, high = 3;
  for (int k = 0; k < 200; k++) {
    double x = 0.5 * (low + high);
    if (x - pull + x / sqrt(x * x + EPS[0]) > 0) high = x;
    else low = x;
  }
  return low;
}

static Problem make(double pull, double x) {
  return (Problem){.pull = pull, .x = x, .may_ease = true, .wall = INFINITY, .height = INFINITY};
}

// It ends at the solution of the system itself, in few iterations, whether that sticks or slides.
static void testLeads(void) {
  static const double pull[] = {0, 0.5, -0.9, 1.3, -2};
  for (int k = 0; k < 5; k++) {
    djNewtonResult r;
    Problem m = make(pull[k], 1.7);
    assert_int_equal(minimize(&r, &m), DJ_OK);
    djt_near(m.x, solution(pull[k]), 1e-9 * fabs(solution(pull[k])) + 1e-16);
    assert_int_equal(m.asked, 1);
    assert_int_equal(m.changes, 2);
    assert_int_equal(m.change[0], DJ_SYSTEM_FORESEEN);
    assert_int_equal(m.change[1], DJ_SYSTEM_ITSELF);
    assert_true(r.iterations <= 12);
    assert_true(m.naccept == r.iterations);
  }
}

// After the leap what sticks is found almost: the easier system has told where.
static void testLeap(void) {
  djNewtonResult r;
  Problem m = make(0.5, 0.01 / sqrt(3));   // at the solution of the easier one, nearly
  assert_int_equal(minimize(&r, &m), DJ_OK);
  assert_true(r.iterations <= 4);
  djt_near(m.x, solution(0.5), 1e-15);
}

static void testDeclined(void) {
  djNewtonResult r;
  Problem m = make(1.3, 1.7);
  m.may_ease = false;
  assert_int_equal(minimize(&r, &m), DJ_OK);
  assert_int_equal(m.asked, 1);
  assert_int_equal(m.changes, 0);
  assert_int_equal(m.nevaluate, 1);
  djt_near(m.x, solution(1.3), 1e-12);
}

// A leap to where the system itself is infeasible is not taken.
static void testInfeasible(void) {
  djNewtonResult r;
  Problem m = make(0.5, -1e-3);
  m.wall = -1e-8;
  minimize(&r, &m);
  assert_true(m.x <= m.wall);
  assert_int_equal(m.way, DJ_SYSTEM_ITSELF);
}

// A leap to a height that speaks against all that was foreseen is not taken, one somewhat above the
// start is: the first decrement is 3.2.
static void testHeight(void) {
  for (int high = 0; high <= 1; high++) {
    djNewtonResult r;
    Problem m = make(0.5, -1.7);
    m.wall = -1e-3;
    m.height = high ? 2000 : 500;
    minimize(&r, &m);
    assert_int_equal(m.leapt, !high);
  }
}

// What is nearly solved is not eased.
static void testNearly(void) {
  djNewtonResult r;
  Problem m = make(1.3, 0.301);
  assert_int_equal(minimize(&r, &m), DJ_OK);
  assert_int_equal(m.asked, 0);
  djt_near(m.x, solution(1.3), 1e-12);
}

// Nor what is solved before it is to be, else from there.
static void testLater(void) {
  for (int plain = 1; plain <= 40; plain += 39) {
    djNewtonResult r;
    Problem m = make(0.5, 1.7);
    assert_int_equal(minimizeFrom(&r, &m, false, plain), DJ_OK);
    assert_int_equal(m.asked, plain == 1);
    djt_near(m.x, solution(0.5), 1e-15);
  }
}

// A guess that claims to be near is gone on from, without easing, or refused before a step.
static void testGuess(void) {
  for (int off = 0; off <= 1; off++) {
    djNewtonResult r;
    Problem m = make(1.3, 0.3 + (off ? 0.1 : 1e-3));   // all but its friction is solved at .3
    assert_int_equal(minimizeFrom(&r, &m, true, 0), off ? DJ_NOT_CONVERGED : DJ_OK);
    assert_int_equal(m.asked, 0);
    if (off) assert_int_equal(m.naccept, 0);
    else djt_near(m.x, solution(1.3), 1e-12);
  }
}

DJT_MAIN(testLeads, testLeap, testDeclined, testInfeasible, testHeight, testNearly, testLater,
         testGuess)
