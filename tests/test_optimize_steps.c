// The steps that each optimiser takes: Adam's against its formulas, the trust region's radius in
// both phases, the first step of L-BFGS.

#include "common/losses.h"
#include "common/optimize_case.h"
#include "common/random_model.h"
#include "common/test.h"
#include "optimize/lbfgsb_fortran.h"

// ---- Adam -------------------------------------------------------------------------------------

typedef struct Adam {
  djObjective truth;
  const djOptimizer* o;
  long double m[N], v[N], x[N];
  int k;                       // steps since the moments were forgotten
  int iterations, forget_at;
  double lower, upper;
} Adam;

// m/(1 - b1^k) / (sqrt(v/(1 - b2^k)) + eps) as in the paper, in long double.
static bool followAdam(void* user, const djOptimizeStep* step) {
  Adam* a = user;
  const djOptimizer* o = a->o;
  double loss, grad[N], before[N];
  if (step->iteration > 0) {
    double moved = 0;
    for (int i = 0; i < N; i++) before[i] = (double)a->x[i];
    if (step->iteration == a->forget_at) {
      memset(a->m, 0, sizeof a->m);
      memset(a->v, 0, sizeof a->v);
      a->k = 0;
    }
    a->k++;
    a->truth(NULL, &loss, grad, before);
    double length = 0;
    for (int i = 0; i < N; i++) length = hypot(length, grad[i]);
    for (int i = 0; i < N && o->normalize; i++) grad[i] /= length;
    for (int i = 0; i < N; i++) {
      a->m[i] = o->beta1 * a->m[i] + (1 - (long double)o->beta1) * grad[i];
      a->v[i] = o->beta2 * a->v[i] + (1 - (long double)o->beta2) * grad[i] * grad[i];
      long double m = a->m[i] / (1 - powl(o->beta1, a->k));
      long double v = a->v[i] / (1 - powl(o->beta2, a->k));
      a->x[i] -= o->rate * m / (sqrtl(v) + o->epsilon);
      a->x[i] = fmaxl(a->lower, fminl(a->upper, a->x[i]));
      assert_true(fabsl(a->x[i] - step->x[i]) < 1e-12);
      moved += (step->x[i] - before[i]) * (step->x[i] - before[i]);
    }
    assert_true(fabs(sqrt(moved) - step->step_norm) < 1e-12);
  }
  for (int i = 0; i < N; i++) a->x[i] = step->x[i];   // no error is carried on
  a->iterations = step->iteration;
  return true;
}

static void testAdam(void) {
  djRng rng = {1};
  for (int trial = 0; trial < 30; trial++) {
    djOptimizer o = dj_defaultOptimizer();
    o.rate = djt_uniform(&rng, 0.01, 0.3);
    o.beta1 = trial % 5 ? djt_uniform(&rng, 0, 0.95) : 0.9;
    o.beta2 = trial % 5 ? djt_uniform(&rng, 0.5, 0.99) : 0.999;
    o.epsilon = trial % 3 ? 1e-8 : 0.5;
    o.normalize = trial % 7 == 2;
    o.iterations = 60;
    double x[N];
    djt_uniforms(x, N, &rng, -2, 2);
    double lower[N] = {-1, -1}, upper[N] = {0.7, 0.7};
    Adam a = {.truth = trial % 2 ? rosenbrock : valley, .o = &o, .lower = -100, .upper = 100};
    Loss l = {.truth = a.truth};
    djOptimizeProblem p = {.n = N, .objective = evaluate, .user = &l, .callback = followAdam,
                           .callback_user = &a};
    if (trial % 4 == 3) {
      a.lower = -1;
      a.upper = 0.7;
      p.lower = lower;
      p.upper = upper;
    }
    if (trial % 6 == 5) {   // refused at every part of the step: the moments are forgotten
      l.refuse_from = 10;
      l.refuse_to = 40;
      a.forget_at = 10;
    }
    djOptimizeResult r = djt_optimum(x, &p, &o);
    assert_int_equal(a.iterations, 60);
    assert_int_equal(r.refused, l.refuse_to - l.refuse_from);
  }
  djOptimizer o = dj_defaultOptimizer();   // the paper's
  assert_true(o.beta1 == 0.9 && o.beta2 == 0.999 && o.epsilon == 1e-8);
}

// Steep, then a plain: a loss of slope 1 where x0 < 0, and of slope 1e-10 beyond.
static djStatus cliff(void* user, double* loss, double* grad, const double* x) {
  (void)user;
  double slope = x[0] < 0 ? 1 : 1e-10;
  *loss = -slope * x[0];
  if (grad) grad[0] = -slope;
  if (grad) grad[1] = 0;
  return DJ_OK;
}

// Adam alone stands still beyond the edge, until the mean square has forgotten; normalised it keeps
// its pace, whatever the unit of the loss, and stays where the gradient is 0.
static void testNormalize(void) {
  double reached[2];
  for (int normalize = 0; normalize < 2; normalize++) {
    djOptimizer o = dj_defaultOptimizer();
    o.rate = 0.1;
    o.beta1 = 0.3;
    o.beta2 = 0.5;
    o.epsilon = 1e-30;
    o.iterations = 40;
    o.normalize = normalize;
    double x[N] = {-1, 0.25};
    Loss l = {.truth = cliff};
    djOptimizeProblem p = {.n = N, .objective = evaluate, .user = &l};
    djt_optimum(x, &p, &o);
    assert_true(x[1] == 0.25);
    reached[normalize] = x[0];
  }
  assert_true(reached[0] < 0.2);
  assert_true(fabs(reached[1] - 3) < 1e-12);
}

// ---- trust region -----------------------------------------------------------------------------

// Iterations as the callback sees them. In the first phase steps are as long as the radius; after
// some without a new best point it goes back there, forgets the mean gradient, and halves the
// radius; after four returns the second phase begins there, with steps as long as the radius too:
// it is halved where the loss falls by less than a quarter of g.d, doubled where by more than three
// quarters, but never beyond the first one, and divided by four where a step is refused.
typedef struct Walk {
  djObjective truth;
  const Loss* lies;
  double radius;               // the first one
  int returns, waited, longest, settled;
  double x[N], best[N], loss, best_loss, length, ratio;
  int counts[3];               // steps after which the radius fell, stayed, rose
} Walk;

static void checkTravel(Walk* w, const djOptimizeStep* step) {
  double d[N], loss, grad[N], moved = between(d, w->x, step->x);
  if (w->waited >= w->longest && w->longest > 0) {   // it must have gone back
    w->returns++;
    moved = between(d, w->best, step->x);
    w->truth(NULL, &loss, grad, w->best);
    w->loss = w->best_loss;
    w->waited = 0;
    if (w->returns < 4) assert_true(-along(grad, d) > moved * hypot(grad[0], grad[1]) * (1 - 1e-9));
  }
  assert_true(fabs(moved - step->step_norm) <= 1e-9 * moved);
  if (w->returns < 4) {
    assert_true(fabs(moved - ldexp(w->radius, -w->returns)) < 1e-9 * moved);
  }
}

static void checkSettled(Walk* w, const djOptimizeStep* step) {
  double d[N], loss, grad[N], moved = between(d, w->settled ? w->x : w->best, step->x);
  assert_true(step->loss < w->best_loss);
  assert_true(fabs(moved - step->step_norm) <= 1e-9 * moved);
  double change = w->settled == 0 ? 1 : w->ratio < 0.25 ? 0.5 : w->ratio > 0.75 ? 2 : 1;
  double last = w->settled ? w->length : w->radius / 16;
  double cuts = log2(fmin(change * last, w->radius) / moved) / 2;
  assert_true(fabs(cuts - round(cuts)) < 1e-6 && cuts > -1e-6);
  if (w->settled) w->counts[change == 0.5 ? 0 : change == 1 ? 1 : 2]++;
  w->truth(NULL, &loss, grad, w->settled ? w->x : w->best);
  w->ratio = (step->loss - (w->settled ? w->loss : w->best_loss)) / along(grad, d);
  w->length = moved;
  w->settled++;
}

static bool follow(void* user, const djOptimizeStep* step) {
  Walk* w = user;
  if (step->iteration > 0) {
    if (w->returns < 4) checkTravel(w, step);
    if (w->returns == 4) checkSettled(w, step);
  }
  w->waited = step->iteration == 0 || step->loss < w->best_loss ? 0 : w->waited + 1;
  if (w->waited == 0) {
    memcpy(w->best, step->x, sizeof w->best);
    w->best_loss = step->loss;
  }
  assert_true(step->best_loss == w->best_loss);
  memcpy(w->x, step->x, sizeof w->x);
  w->loss = step->loss;
  return w->settled < 300;
}

static void testTrustRegion(void) {
  static const struct {
    djObjective truth;
    int lies;                  // for how many calls
    double x[N], radius;
  } cases[] = {{rosenbrock, 0, {-1.2, 1}, 0.5},
               {rosenbrock, 33, {-1.2, 1}, 0.1},
               {slope, 33, {0, 0}, 0.1},        // good steps only
               {valley, 33, {0.003, 0.2}, 1}};  // starts with refused ones
  int counts[3] = {0, 0, 0};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    djOptimizer o = dj_defaultOptimizer();
    o.type = "trust_region";
    o.iterations = 4000;
    o.radius = cases[i].radius;
    double x[N];
    memcpy(x, cases[i].x, sizeof x);
    Loss l = {.truth = cases[i].truth, .lie_from = 1, .lie_to = cases[i].lies};
    Walk w = {.truth = l.truth, .lies = &l, .radius = o.radius, .longest = 8};
    djOptimizeProblem p = {.n = N, .objective = evaluate, .user = &l, .callback = follow,
                           .callback_user = &w};
    djt_optimize(x, &p, &o);
    assert_true(w.settled > 5);
    for (int k = 0; k < 3; k++) counts[k] += w.counts[k];
    if (l.truth == slope) assert_true(w.length > 0.999 * o.radius);
  }
  for (int k = 0; k < 3; k++) assert_true(counts[k] > 5);
}

// With equations that couple both groups a step stays in both balls, and on the equations.
static void testCoupledGroups(void) {
  djRng rng = {7};
  int full = 0;
  for (int trial = 0; trial < 60; trial++) {
    double equal[N];
    equal[0] = djt_uniform(&rng, 0.2, 1);
    equal[1] = djt_uniform(&rng, -1, -0.2);
    double x[N];
    djt_uniforms(x, N, &rng, -2, 2);
    double value[1] = {along(equal, x)}, before[N] = {x[0], x[1]}, d[N];
    int group[N] = {0, 1};
    djOptimizer o = dj_defaultOptimizer();
    o.type = "trust_region";
    o.radius = djt_uniform(&rng, 0.01, 0.3);
    o.control_radius = djt_uniform(&rng, 0.01, 0.3);
    o.iterations = 1;
    Loss l = {.truth = rosenbrock};
    djOptimizeProblem p = {.n = N, .group = group, .nequal = 1, .equal = equal, .value = value,
                           .objective = evaluate, .user = &l};
    djOptimizeResult r = djt_optimize(x, &p, &o);
    if (r.iterations == 0 || r.best_iteration == 0) continue;
    between(d, before, x);
    assert_true(fabs(d[0]) <= o.radius * (1 + 1e-9));
    assert_true(fabs(d[1]) <= o.control_radius * (1 + 1e-9));
    assert_true(fabs(along(equal, d)) < 1e-10);
    full += fabs(d[0]) > 0.9 * o.radius || fabs(d[1]) > 0.9 * o.control_radius;
  }
  assert_true(full > 20);
}

// Without equations every step is as long, in its group, as the group's radius, and both radii fall
// and rise together.
typedef struct Pair {
  double radius[2], x[N], best[N], best_loss, least;
  int nstep;
} Pair;

static bool together(const Pair* g, const double* from, const double* to, double* share) {
  *share = fabs(to[0] - from[0]) / g->radius[0];
  return fabs(*share - fabs(to[1] - from[1]) / g->radius[1]) < 1e-6 * *share;
}

static bool followPair(void* user, const djOptimizeStep* step) {
  Pair* g = user;
  double share = 1;
  if (step->iteration > 0) {
    assert_true(together(g, g->x, step->x, &share) || together(g, g->best, step->x, &share));
    assert_true(share < 1 + 1e-6);
    g->nstep++;
  }
  g->least = fmin(g->least, share);
  memcpy(g->x, step->x, sizeof g->x);
  if (step->iteration == 0 || step->loss < g->best_loss) {
    g->best_loss = step->loss;
    memcpy(g->best, step->x, sizeof g->best);
  }
  return g->least > 0.01;
}

static void testGroupsShrinkTogether(void) {
  djOptimizer o = dj_defaultOptimizer();
  o.type = "trust_region";
  o.radius = 0.1;
  o.control_radius = 0.013;
  o.iterations = 2000;
  int group[N] = {0, 1};
  double x[N] = {-1.2, 1};
  Pair g = {.radius = {o.radius, o.control_radius}, .least = 1};
  Loss l = {.truth = rosenbrock};
  djOptimizeProblem p = {.n = N, .group = group, .objective = evaluate, .user = &l,
                         .callback = followPair, .callback_user = &g};
  djt_optimize(x, &p, &o);
  assert_true(g.least <= 0.01 && g.nstep > 20);
}

// ---- L-BFGS -----------------------------------------------------------------------------------

// The first step goes along the gradient and is as long as the radius, also between far bounds.
static void testFirstStep(void) {
  static const djObjective truth[] = {rosenbrock, slope, valley};
  static const double far[2][N] = {{-9, -9}, {9, 9}};
  for (int i = 0; i < 18; i++) {
    djOptimizer o = dj_defaultOptimizer();
    o.type = "lbfgsb";
    o.radius = 0.003 * (1 + i);
    o.iterations = 1;
    double x[N] = {-1.2, 1}, d[N], loss, grad[N];
    Loss l = {.truth = truth[i % 3]};
    djOptimizeProblem p = {.n = N, .objective = evaluate, .user = &l};
    if (i >= 9) p.lower = far[0], p.upper = far[1];
    djt_optimize(x, &p, &o);
    l.truth(NULL, &loss, grad, l.start);
    double moved = between(d, l.start, l.first);
    assert_true(fabs(moved - o.radius) < 1e-9 * o.radius);
    assert_true(-along(grad, d) > moved * hypot(grad[0], grad[1]) * (1 - 1e-9));
  }
}

// A kink along x = y^2, least at (0.25, 0.5).
static djStatus kinked(void* user, double* loss, double* grad, const double* x) {
  double side = x[0] - x[1] * x[1] >= 0 ? 1 : -1;
  (void)user;
  *loss = 10 * side * (x[0] - x[1] * x[1]) + (x[1] - 0.5) * (x[1] - 0.5);
  if (grad) {
    grad[0] = 10 * side;
    grad[1] = -20 * side * x[1] + 2 * (x[1] - 0.5);
  }
  return DJ_OK;
}

// It ends where a new run, which forgets what it knew of the loss, lowers nothing any more. And it
// remembers as many steps as it is told to.
static void testRuns(void) {
  djRng rng = {11};
  int differ = 0;
  for (int trial = 0; trial < 40; trial++) {
    djOptimizer o = dj_defaultOptimizer();
    o.type = "lbfgsb";
    o.restarts = 0;
    o.iterations = 1000000;
    double x[N], y[N];
    djt_uniforms(x, N, &rng, -2, 2);
    memcpy(y, x, sizeof y);
    djOptimizeProblem p = {.n = N, .objective = kinked};
    djOptimizeResult r = djt_optimize(x, &p, &o);
    djOptimizeResult again = djt_optimize(x, &p, &o);
    assert_true(again.loss >= r.loss - 1e-11 * fabs(r.loss));
    p.objective = rosenbrock;
    assert_true(dj_optimize(&r, y, &p, &o, NULL) >= 0);
    o.memory = 1;
    memcpy(x, y, sizeof x);
    x[0] = -x[0];
    memcpy(y, x, sizeof y);
    assert_true(dj_optimize(&r, x, &p, &o, NULL) >= 0);
    o.memory = 10;
    assert_true(dj_optimize(&again, y, &p, &o, NULL) >= 0);
    differ += r.evaluations != again.evaluations;
  }
  assert_true(differ > 20);
}

// Texts of Fortran end in blanks.
static void testTexts(void) {
  assert_int_equal(dj_fortranCompare(2, "FG", 4, "FG  "), 0);
  assert_int_equal(dj_fortranCompare(5, "FG_LN", 2, "FG"), 1);
  assert_int_equal(dj_fortranCompare(2, "FG", 5, "FG_LN"), -1);
  assert_int_equal(dj_fortranCompare(2, "FG", 2, "NE"), -1);
  assert_int_equal(dj_fortranCompare(0, "", 3, "   "), 0);
  float seconds = NAN;
  dj_fortranTime(&seconds);
  assert_true(seconds == 0);
}

// Many variables in a curved valley, every third of them at a bound: it comes to the least value,
// in few losses, by steps of any first length, and every point is within the bounds.
enum { CHAIN = 60 };

typedef struct Chain {
  double lower[CHAIN], upper[CHAIN];
} Chain;

static djStatus chain(void* user, double* loss, double* grad, const double* x) {
  const Chain* c = user;
  for (int i = 0; i < CHAIN; i++) assert_true(x[i] >= c->lower[i] && x[i] <= c->upper[i]);
  *loss = 0;
  memset(grad, 0, CHAIN * sizeof *grad);
  for (int i = 0; i + 1 < CHAIN; i++) {
    double a = 1 - x[i], b = x[i + 1] - x[i] * x[i];
    *loss += a * a + 10 * b * b;
    grad[i] += -2 * a - 40 * b * x[i];
    grad[i + 1] += 20 * b;
  }
  return DJ_OK;
}

static void testManyVariables(void) {
  Chain c;
  for (int i = 0; i < CHAIN; i++) {
    c.lower[i] = i % 4 ? -2 : -INFINITY;
    c.upper[i] = i % 3 == 1 ? 0.7 : INFINITY;
  }
  double least = INFINITY, most = 0;
  int nbound = 0;
  for (int trial = 0; trial < 5; trial++) {
    djOptimizer o = dj_defaultOptimizer();
    o.type = "lbfgsb";
    o.radius = pow(10, trial - 3);
    o.iterations = 500;
    double x[CHAIN];
    for (int i = 0; i < CHAIN; i++) x[i] = -1;
    djOptimizeProblem p = {.n = CHAIN, .lower = c.lower, .upper = c.upper, .objective = chain,
                           .user = &c};
    djOptimizeResult r = djt_optimum(x, &p, &o);
    assert_true(r.gradient_norm < 1e-5 && r.evaluations < 500);
    for (int i = 1; i < CHAIN; i += 3) nbound += x[i] == 0.7;
    least = fmin(least, r.loss);
    most = fmax(most, r.loss);
  }
  assert_true(most - least < 1e-9 * least && nbound > 30);
}

DJT_MAIN(testAdam, testNormalize, testTrustRegion, testCoupledGroups, testFirstStep, testRuns,
         testManyVariables, testTexts, testGroupsShrinkTogether)
