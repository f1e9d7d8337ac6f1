// The damped Newton method on functions whose steps can be written down: what it reports, when it
// shortens a step, shifts a Jacobian, changes to the exact one, gives up, or hands on an error.

#include "common/near.h"
#include "common/test.h"

#include "solve/newton.h"

enum { MAX_LOG = 4096 };

// A function of n coordinates: the sum of one function of each. Value, slope, curvature; infinite
// value: infeasible.
typedef double (*Curve)(double x, double* slope, double* curvature);

typedef struct Problem {
  int n;
  Curve curve;
  double x[3], next[3];
  double curvature[3], factored[3];
  double exact;       // a majorizer evaluation adds this to every curvature, unless 0
  double cap;         // largest fraction
  double least;       // curvature that still counts as positive
  bool changes;       // the pattern of the Jacobian, from point to point
  bool fresh;         // the last factor is of the present one
  int ncall, fail_at; // the fail_at-th call that can fail returns `failure`
  djStatus failure;
  int nfraction, nshift, naccept, nevaluate, nmajorizer;
  double fraction[MAX_LOG], shift[MAX_LOG];
  double trial_value, value[MAX_LOG], point[MAX_LOG]; // of accepted points; their x[0]
} Problem;

static djStatus call(Problem* m) { return ++m->ncall == m->fail_at ? m->failure : DJ_OK; }

static double at(const Problem* m, const double* x, double* gradient, double* curvature) {
  double sum = 0;
  for (int i = 0; i < m->n; i++) {
    double slope, c;
    sum += m->curve(x[i], &slope, &c);
    if (gradient) gradient[i] = slope;
    if (curvature) curvature[i] = c;
  }
  return sum;
}

static djStatus systemAt(void* user, djSystemAt* asked) {
  Problem* m = user;
  const bool majorizer = asked->jacobian == DJ_JACOBIAN_MAJORIZER;
  djStatus status = call(m);
  if (status < 0) return status;
  if (asked->step) {
    if (m->nfraction < MAX_LOG) m->fraction[m->nfraction++] = asked->fraction;
    for (int i = 0; i < m->n; i++) m->next[i] = m->x[i] + asked->fraction * asked->step[i];
  } else {
    m->nevaluate++;
    m->nmajorizer += majorizer;
  }
  const double* x = asked->step ? m->next : m->x;
  asked->value = at(m, x, asked->gradient, asked->gradient ? m->curvature : NULL);
  if (asked->step) m->trial_value = asked->value;
  asked->majorizer = asked->gradient && majorizer && m->exact != 0;
  for (int i = 0; i < m->n && asked->majorizer; i++) m->curvature[i] += m->exact;
  return DJ_OK;
}

static bool factor(void* user, double shift) {
  Problem* m = user;
  if (m->nshift < MAX_LOG) m->shift[m->nshift++] = shift;
  m->fresh = true;
  for (int i = 0; i < m->n; i++) {
    m->factored[i] = m->curvature[i] + shift;
    if (!(m->factored[i] > m->least)) return false;
  }
  return true;
}

static bool solve(void* user, double* x) {
  Problem* m = user;
  if (m->changes && !m->fresh) return false;
  m->fresh = false;
  for (int i = 0; i < m->n; i++) x[i] /= m->factored[i];
  return true;
}

static djStatus cap(void* user, double* fraction, const double* step) {
  Problem* m = user;
  assert_true(isfinite(step[0]));
  djt_near(*fraction, 1, 0);
  *fraction = m->cap;
  return call(m);
}

static void accept(void* user) {
  Problem* m = user;
  memcpy(m->x, m->next, sizeof m->x);
  if (m->naccept == MAX_LOG) return;
  m->point[m->naccept] = m->x[0];
  m->value[m->naccept++] = m->trial_value;
}

static const djNewtonOption kOption = {
    .tolerance = 1e-8, .max_iterations = 50, .refinement_steps = 0, .max_cuts = 30, .noise = 0};

static Problem problem(Curve curve, int n, double x0, double x1, double x2) {
  return (Problem){.n = n, .curve = curve, .x = {x0, x1, x2}, .cap = 1};
}

static djStatus minimize(djNewtonResult* r, Problem* m, const djNewtonOption* o) {
  djNewtonProblem p = {.n = m->n,
                       .user = m,
                       .system = systemAt,
                       .factor = factor,
                       .solve = solve,
                       .limit = cap,
                       .accept = accept};
  double gradient[3], step[3];
  memset(r, 0x5a, sizeof *r);
  return dj_newton(r, &p, o, gradient, step);
}

// ---- functions

// Minimum 7 at 2.
static double bowl(double x, double* slope, double* curvature) {
  *slope = 3 * (x - 2);
  *curvature = 3;
  return 1.5 * (x - 2) * (x - 2) + 7;
}

// A full Newton step from x leads to -x^3: it diverges where |x| > 1.
static double arms(double x, double* slope, double* curvature) {
  double r = sqrt(1 + x * x);
  *slope = x / r;
  *curvature = 1 / (r * r * r);
  return r;
}

// Two valleys, at -1 and 1; concave in between.
static double valleys(double x, double* slope, double* curvature) {
  *slope = 4 * x * (x * x - 1);
  *curvature = 12 * x * x - 4;
  return (x * x - 1) * (x * x - 1);
}

// Only x > 0 is feasible; minimum at 1.
static double infeasible;
static double wall(double x, double* slope, double* curvature) {
  *slope = 1 - 1 / x;
  *curvature = 1 / (x * x);
  return x > 0 ? x - log(x) : infeasible;
}

// Minimum at 0. The curvature is too large: each step leaves a share of the way.
static double left = 0.1;
static double slow(double x, double* slope, double* curvature) {
  *slope = x;
  *curvature = 1 / (1 - left);
  return 0.5 * x * x;
}

static double odd;
static double oddSlope(double x, double* slope, double* curvature) {
  *slope = odd;
  *curvature = 1;
  return x;
}

// ---- tests

// One step reaches a quadratic's minimum; the next finds nothing to do and goes on by full steps.
static void testQuadratic(void) {
  djNewtonResult r;
  Problem m = problem(bowl, 3, 5, -1, 2);
  assert_int_equal(minimize(&r, &m, &kOption), DJ_OK);
  for (int i = 0; i < 3; i++) djt_near(m.x[i], 2, 1e-15);
  assert_int_equal(r.iterations, 2);
  assert_int_equal(r.shifts, 0);
  assert_true(r.exact);
  djt_near(r.value, 21, 1e-14);
  djt_near(r.decrement, 0, 1e-14);
  assert_int_equal(m.nevaluate, 1);

  m = problem(bowl, 3, 5, -1, 2);
  djNewtonOption once = kOption;
  once.max_iterations = 1;
  assert_int_equal(minimize(&r, &m, &once), DJ_NOT_CONVERGED);
  assert_int_equal(r.iterations, 1);
  djt_near(r.decrement, sqrt(3 * (9 + 9)), 1e-14); // sqrt(g . H^-1 g) where it started
  djt_near(r.value, 21, 1e-14);
  djt_near(m.x[0], 2, 1e-15); // and the best point is kept
}

// From x a full step by the curvature there leads to -x^3. The next one by the same leaves 1.5 x^2
// of that, which is less than twice the square of what the first left over it.
static void testLastStep(void) {
  const double x = 0.02, bound = 2 * x * x * x * x * x;
  djNewtonOption o = kOption;
  o.tolerance = 1e-3;
  for (int way = 0; way < 5; way++) {
    djNewtonResult r;
    Problem m = problem(arms, 1, x, 0, 0);
    m.changes = way == 1;
    o.enough = way == 2 ? 0.9 * bound : 1.1 * bound;
    o.refinement_steps = way == 3;
    if (way == 4) o.tolerance = 1e-4; // too far to be the last
    assert_int_equal(minimize(&r, &m, &o), DJ_OK);
    assert_int_equal(r.iterations, 2);
    assert_int_equal(m.nshift, way == 3 ? 3 : way > 0 ? 2 : 1);
    djt_near(r.decrement, x * x * x, way == 3 ? 1 : 1e-3 * x * x * x);
    if (way == 0)
      djt_near(fabs(m.x[0]), 1.5 * x * x * x * x * x, 1e-2 * bound);
    else
      djt_near(m.x[0], 0, 1e-14);
  }
}

static void testNothing(void) {
  djNewtonResult r;
  Problem m = problem(bowl, 0, 0, 0, 0);
  assert_int_equal(minimize(&r, &m, &kOption), DJ_OK);
  assert_int_equal(r.iterations + r.shifts + m.ncall, 0);
  djt_near(r.value + r.decrement, 0, 0);
}

// The error e is squared: near the valley at 1 it becomes f'''/(2 f'') e^2 = 1.5 e^2, but O(e^3).
static void testQuadraticConvergence(void) {
  djNewtonResult r;
  Problem m = problem(valleys, 1, 1.3, 0, 0);
  assert_int_equal(minimize(&r, &m, &kOption), DJ_OK);
  assert_true(r.iterations <= 6);
  int squared = 0;
  double before = 0.3;
  for (int k = 0; k < m.naccept; k++) {
    double error = fabs(m.point[k] - 1);
    if (before < 0.1 && before > 1e-6) {
      djt_near(error / (before * before), 1.5, 3 * before + 1e-2);
      squared++;
    }
    before = error;
  }
  assert_true(squared >= 2);
  djt_near(m.x[0], 1, 1e-15);
  for (int k = 0; k < m.nfraction; k++) djt_near(m.fraction[k], 1, 0);
}

// A decrement of the tolerance is small enough, whatever lies between there and the solution.
static void testTolerance(void) {
  double decrement = 0.05 * sqrt(0.9);
  for (int k = -1; k <= 1; k += 2) {
    djNewtonResult r;
    djNewtonOption o = kOption;
    o.tolerance = decrement * (1 + 1e-9 * k);
    Problem m = problem(slow, 1, 0.05, 0, 0);
    assert_int_equal(minimize(&r, &m, &o), DJ_OK);
    assert_int_equal(r.iterations, k < 0 ? 2 : 1);
    djt_near(m.x[0], k < 0 ? 0.0005 : 0.005, 1e-16);
    djt_near(r.decrement, k < 0 ? decrement / 10 : decrement, 1e-15);
  }
}

// Every accepted value is lower by Armijo's share; a step is halved until then.
static void testSearch(void) {
  djNewtonResult r;
  Problem m = problem(arms, 1, 2, 0, 0);
  assert_int_equal(minimize(&r, &m, &kOption), DJ_OK);
  djt_near(m.x[0], 0, 1e-12);
  // From 2 the step is -10: to -8, -3 (sqrt 10 > sqrt 5), -.5.
  djt_near(m.fraction[0], 1, 0);
  djt_near(m.fraction[1], 0.5, 0);
  djt_near(m.fraction[2], 0.25, 0);
  djt_near(m.value[0], sqrt(1.25), 1e-14);
  djt_near(m.fraction[3], 1, 0);
  for (int k = 1; k < m.naccept; k++) assert_true(m.value[k] <= m.value[k - 1]);
}

// A decrease of less than a ten-thousandth of what the slope promises is none. The step from 1 is
// -1 and promises 1; at its end and in its middle the function has fallen by so much.
static double fall[2];
static double shelf(double x, double* slope, double* curvature) {
  *slope = x > 0.75 ? 1 : 0.4;
  *curvature = 1;
  return x > 0.75 ? 1 : 1 - fall[x > 0.25];
}

static double endOnShelf(double end, double middle, double noise) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  o.max_iterations = 1;
  o.noise = noise;
  fall[0] = end;
  fall[1] = middle;
  Problem m = problem(shelf, 1, 1, 0, 0);
  minimize(&r, &m, &o);
  djt_near(r.value, shelf(m.x[0], &(double){0}, &(double){0}), 0);
  return m.x[0];
}

static void testArmijo(void) {
  djt_near(endOnShelf(1.05e-4, 0.75, 0), 0, 0);
  djt_near(endOnShelf(0.95e-4, 0.75, 0), 0.5, 0);
  djt_near(endOnShelf(0.95e-4, 0.55e-4, 0), 0.5, 0); // half of the step, half of the promise
  assert_true(endOnShelf(0.95e-4, 0.45e-4, 0) > 0.5);
  // With values that are known to 1e-5 only, nearly as much is as good.
  djt_near(endOnShelf(0.95e-4, 0.75, 1e-5), 0, 0);
  djt_near(endOnShelf(0.85e-4, 0.75, 1e-5), 0.5, 0);
}

// Values are known to 1e-13 of their size: a step that rises by less than that is taken.
static double height, rise;
static double plain(double x, double* slope, double* curvature) {
  *slope = 1e-4;
  *curvature = 1;
  return height + (x == 0 ? 0 : rise);
}

static void testRounding(void) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  o.max_iterations = 1;
  o.max_cuts = 0;
  for (int sign = -1; sign <= 1; sign += 2) {
    for (int large = 0; large <= 1; large++) {
      height = sign * 1e6;
      rise = large ? 2e-7 : 5e-8;
      Problem m = problem(plain, 1, 0, 0, 0);
      minimize(&r, &m, &o);
      assert_int_equal(m.naccept, !large);
    }
  }
}

// Outside of what is feasible a step is quartered; so it is where the value is no number.
static void testInfeasible(void) {
  static const double beyond[] = {INFINITY, NAN};
  for (int k = 0; k < 2; k++) {
    djNewtonResult r;
    infeasible = beyond[k];
    Problem m = problem(wall, 1, 5, 0, 0);
    assert_int_equal(minimize(&r, &m, &kOption), DJ_OK);
    djt_near(m.x[0], 1, 1e-12);
    // The step from 5 is -20: 1/4 ends at 0, which is infeasible as well. At 1/16 nine tenths of
    // the slope are left, at 1/8 three quarters, at 3/16 a quarter.
    djt_near(m.fraction[1], 0.25, 0);
    djt_near(m.fraction[2], 0.0625, 0);
    djt_near(m.fraction[3], 0.125, 1e-16);
    djt_near(m.fraction[4], 0.1875, 1e-16);
    djt_near(m.value[0], 1.25 - log(1.25), 1e-14);
  }
}

// Under a force, with a stop at 1.
static double hardness;
static double stop(double x, double* slope, double* curvature) {
  double in = x > 1 ? x - 1 : 0;
  *slope = 0.1 * x - 1 + hardness * in;
  *curvature = 0.1 + (in > 0 ? hardness : 0);
  return 0.05 * x * x - x + 0.5 * hardness * in * in;
}

// A step that was cut goes on to the minimum along itself, so that the next one knows what cut it;
// never beyond a point that has no less, and no trial is lost.
static void testApproach(void) {
  for (int k = 1; k < 9; k++) {
    djNewtonResult r;
    hardness = pow(10, k);
    Problem m = problem(stop, 1, -3, 0, 0); // the step is 13, the slope -1.3
    assert_int_equal(minimize(&r, &m, &kOption), DJ_OK);
    djt_near(m.x[0], 1 + 0.9 / (hardness + 0.1), 1e-9);
    double slope, curvature;
    stop(m.point[0], &slope, &curvature);
    assert_true(m.point[0] > 0.9 && slope < 0.65);
    assert_true(r.iterations <= 8);
    for (int i = 1; i < m.naccept; i++) assert_true(m.value[i] <= m.value[i - 1] + 1e-12);
  }
}

static void testCap(void) {
  djNewtonResult r;
  Problem m = problem(bowl, 1, 10, 0, 0);
  m.cap = 0.75;
  assert_int_equal(minimize(&r, &m, &kOption), DJ_OK);
  djt_near(m.fraction[0], 0.75, 0);
  djt_near(m.value[0], 7 + 1.5 * 4, 1e-13);
  djt_near(m.x[0], 2, 1e-12);
}

// The smallest shift of 0, .1, .4, 1.6, ... that makes the Jacobian positive.
static void testShift(void) {
  static const double ladder[] = {0, 0.1, 0.4, 1.6, 6.4};
  djNewtonResult r, once;
  Problem m = problem(valleys, 1, 0.25, 0, 0); // curvature -3.25
  assert_int_equal(minimize(&r, &m, &kOption), DJ_OK);
  for (int k = 0; k < 5; k++) djt_near(m.shift[k], ladder[k], 1e-15);
  djt_near(m.x[0], 1, 1e-12);
  int shifted = 0, ladders = 0;
  for (int k = 0; k < m.nshift; k++) {
    bool ends = k + 1 == m.nshift || m.shift[k + 1] == 0;
    ladders += ends;
    shifted += ends && m.shift[k] > 0;
  }
  assert_true(shifted >= 1);
  assert_int_equal(r.shifts, shifted);
  assert_int_equal(ladders, r.iterations);
  // The smallest shift counts as one, too.
  m = problem(valleys, 1, 0.575, 0, 0); // curvature -.03
  djNewtonOption o = kOption;
  o.max_iterations = 1;
  minimize(&once, &m, &o);
  djt_near(m.shift[m.nshift - 1], 0.1, 0);
  assert_int_equal(once.shifts, 1);
  assert_false(once.exact); // the decrement is by the shift
  assert_true(r.exact);
}

// Factors may exist although the step leads upwards: that, too, asks for a shift.
static void testUphill(void) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  o.max_iterations = 1;
  Problem m = problem(valleys, 1, 0.25, 0, 0);
  m.least = -INFINITY;
  minimize(&r, &m, &o);
  assert_int_equal(m.nshift, 5);
  assert_int_equal(r.shifts, 1);
  assert_true(m.x[0] > 0.25);
}

static void testHopeless(void) {
  djNewtonResult r;
  Problem m = problem(valleys, 1, 0.25, 0, 0);
  m.least = INFINITY;
  assert_int_equal(minimize(&r, &m, &kOption), DJ_NOT_CONVERGED);
  djt_near(m.x[0], 0.25, 0);
  assert_int_equal(m.nfraction, 0);
  assert_true(m.shift[m.nshift - 1] > 1e11 && m.shift[m.nshift - 1] <= 1e12);
  const double slopes[] = {NAN, INFINITY, -INFINITY, 1e200};
  for (int k = 0; k < 4; k++) {
    odd = slopes[k];
    m = problem(oddSlope, 1, 0.25, 0, 0);
    assert_int_equal(minimize(&r, &m, &kOption), DJ_NOT_CONVERGED);
    djt_near(m.x[0], 0.25, 0);
    assert_int_equal(m.nfraction, 0);
  }
}

// Near the solution a substitute decides nothing: the exact Jacobian takes over and ends it.
static void testSubstitute(void) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  o.tolerance = 1e-3;
  Problem m = problem(bowl, 1, 2 + 1e-4, 0, 0);
  m.exact = 3;
  assert_int_equal(minimize(&r, &m, &o), DJ_OK);
  djt_near(m.x[0], 2, 1e-15);
  assert_int_equal(r.iterations, 2);
  assert_int_equal(m.nevaluate, 2);
  assert_int_equal(m.nmajorizer, 1);
  djt_near(r.decrement, sqrt(3) * 1e-4, 1e-15);
  // Below a hundredth of the tolerance it is good enough.
  for (int k = 0; k <= 1; k++) {
    m = problem(bowl, 1, 2 + (k ? 1.1 : 0.9) * sqrt(6) * 1e-5 / 3, 0, 0);
    m.exact = 3;
    assert_int_equal(minimize(&r, &m, &o), DJ_OK);
    assert_int_equal(r.iterations, 1 + k);
    assert_int_equal(m.nevaluate, 1 + k);
    assert_int_equal(r.exact, k);
  }
  // Far away it is used: half of the way, whose end has an exact one.
  m = problem(bowl, 1, 10, 0, 0);
  m.exact = 3;
  assert_int_equal(minimize(&r, &m, &o), DJ_OK);
  djt_near(m.value[0], 7 + 1.5 * 16, 1e-13);
  djt_near(m.value[1], 7, 1e-13);
  // What an accepted trial had is known to be exact: near the end nothing is evaluated anew.
  o.tolerance = 0.1;
  m = problem(slow, 1, 1, 0, 0);
  m.exact = 3;
  assert_int_equal(minimize(&r, &m, &o), DJ_OK);
  assert_int_equal(r.iterations, 3);
  assert_int_equal(m.nevaluate, 1);
}

// Where the exact Jacobian leads nowhere, the substitute goes on.
static void testSubstituteHelps(void) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  o.max_cuts = 0;
  Problem m = problem(arms, 1, 2, 0, 0); // beyond 1 full steps of the exact one rise
  m.exact = 10;
  assert_int_equal(minimize(&r, &m, &o), DJ_OK);
  djt_near(m.x[0], 0, 1e-9);
  assert_true(m.nmajorizer > 5);
}

// Trials use the exact Jacobian, those cut to less than 0.15 the substitute.
static djStatus noting(void* user, djSystemAt* asked) {
  const bool majorizer = asked->jacobian == DJ_JACOBIAN_MAJORIZER;
  if (asked->step && asked->gradient) assert_true(majorizer == (asked->fraction < 0.15));
  return systemAt(user, asked);
}

static void testTrialsAsk(void) {
  djNewtonResult r;
  Problem m = problem(arms, 1, 2, 0, 0);
  m.exact = 1e-3;
  djNewtonProblem p = {.n = m.n,
                       .user = &m,
                       .system = noting,
                       .factor = factor,
                       .solve = solve,
                       .limit = cap,
                       .accept = accept};
  double gradient[3], step[3];
  assert_int_equal(dj_newton(&r, &p, &kOption, gradient, step), DJ_OK);
  djt_near(m.x[0], 0, 1e-8);
}

// No step helps by the exact Jacobian: once more with the substitute, then it gives up where it is.
static double cliff(double x, double* slope, double* curvature) {
  *slope = 1; // a lie: it rises wherever one goes
  *curvature = 1;
  return x == 3 ? 1 : 2;
}

static void testNoProgress(void) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  o.max_cuts = 4;
  for (int n = 1; n <= 2; n++) {
    Problem m = problem(cliff, 1, 3, 0, 0);
    m.exact = n - 1;
    assert_int_equal(minimize(&r, &m, &o), DJ_NOT_CONVERGED);
    djt_near(m.x[0], 3, 0);
    assert_int_equal(m.naccept, 0);
    // The first time the substitute is had and fails; without one it is asked for once more.
    assert_int_equal(m.nevaluate, n == 1 ? 2 : 1);
    assert_int_equal(m.nfraction, 5);
    djt_near(m.fraction[4], 0.0625, 0); // four cuts
  }
}

// Further full steps while each leaves less than half of the decrement; others where values tell
// them from noise.
static void testPolish(void) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  o.tolerance = 0.1;
  for (int refinement_steps = 0; refinement_steps <= 3; refinement_steps++) {
    o.refinement_steps = refinement_steps;
    Problem m = problem(slow, 1, 0.05, 0, 0);
    assert_int_equal(minimize(&r, &m, &o), DJ_OK);
    djt_near(m.x[0], 0.05 * pow(0.1, 1 + refinement_steps), 1e-16);
    djt_near(r.decrement, 0.05 * pow(0.1, refinement_steps) * sqrt(0.9), 1e-15);
    assert_int_equal(r.iterations, 1);
    assert_int_equal(m.nevaluate, 1 + refinement_steps);
    m = problem(slow, 1, 0.05, 0, 0);
    m.exact = 3; // refinement is exact
    assert_int_equal(minimize(&r, &m, &o), DJ_OK);
    djt_near(m.x[0], 0.05 * pow(0.1, 1 + refinement_steps), 1e-16);
    assert_int_equal(m.nmajorizer, 1);
  }
  o.refinement_steps = 3;
  for (int k = 0; k <= 2; k++) {
    left = k ? 0.55 : 0.45;
    o.noise = k < 2 ? 0 : 1e-4;
    Problem m = problem(slow, 1, 0.05, 0, 0);
    assert_int_equal(minimize(&r, &m, &o), DJ_OK);
    djt_near(m.x[0], 0.05 * pow(left, k < 2 ? 4 : 1), 1e-16);
    djt_near(r.decrement, 0.05 * pow(left, k < 2 ? 3 : 0) * sqrt(1 - left), 1e-15);
  }
  o.noise = 0;
  left = 0.1;
  // At the minimum the decrement stops falling: no step is taken for it.
  o.refinement_steps = 9;
  Problem m = problem(bowl, 1, 2, 0, 0);
  assert_int_equal(minimize(&r, &m, &o), DJ_OK);
  assert_int_equal(m.naccept, 1);
  djt_near(r.value, 7, 0);
}

// An infeasible full step ends the refinement, not the success.
static double edge(double x, double* slope, double* curvature) {
  *slope = x;
  *curvature = 1 / 0.9;
  return x > 0.001 ? 0.5 * x * x : INFINITY;
}

static void testPolishMeetsTheEdge(void) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  o.tolerance = 0.1;
  o.refinement_steps = 9;
  Problem m = problem(edge, 1, 0.05, 0, 0);
  assert_int_equal(minimize(&r, &m, &o), DJ_OK);
  djt_near(m.x[0], 0.005, 1e-16);
  djt_near(r.decrement, 0.05 * sqrt(0.9), 1e-15);
}

// Near the solution a full step that is infeasible is searched for after all.
static void testNearTheEdge(void) {
  djNewtonResult r;
  djNewtonOption o = kOption;
  o.tolerance = 0.1;
  Problem m = problem(edge, 1, 0.005, 0, 0);
  m.exact = 1e-9;
  o.max_iterations = 3;
  assert_int_equal(minimize(&r, &m, &o), DJ_NOT_CONVERGED);
  assert_true(m.x[0] > 0.001 && m.x[0] < 0.005);
}

// Whichever call fails: its status comes out and the point stays one that was accepted.
static void failsAt(Curve curve, double x, double exact, const djNewtonOption* o) {
  djNewtonResult r;
  Problem m = problem(curve, 1, x, 0, 0);
  m.exact = exact;
  djStatus usual = minimize(&r, &m, o);
  assert_true(usual >= 0);
  int ncall = m.ncall;
  assert_true(ncall > 4);
  for (int k = 1; k <= ncall; k++) {
    m = problem(curve, 1, x, 0, 0);
    m.exact = exact;
    m.fail_at = k;
    m.failure = k % 2 ? DJ_INVALID : DJ_CANCELLED;
    assert_int_equal(minimize(&r, &m, o), m.failure);
    assert_int_equal(m.ncall, k);
    double slope, curvature;
    djt_near(curve(m.x[0], &slope, &curvature),
             m.naccept ? m.value[m.naccept - 1] : curve(x, &slope, &curvature), 0);
  }
}

static void testErrors(void) {
  djNewtonOption o = kOption;
  o.refinement_steps = 3;
  o.tolerance = 1e-3;
  failsAt(arms, 2, 0, &o);
  failsAt(slow, 2, 0, &o);
  failsAt(bowl, 10, 3, &o);
  o.max_cuts = 2;
  failsAt(cliff, 3, 0, &o);
}

DJT_MAIN(testQuadratic, testNothing, testLastStep, testSearch, testArmijo, testInfeasible,
         testApproach, testCap, testShift, testUphill, testHopeless, testSubstitute, testTrialsAsk,
         testNoProgress, testPolish, testPolishMeetsTheEdge, testNearTheEdge, testRounding,
         testSubstituteHelps, testErrors, testQuadraticConvergence, testTolerance)
