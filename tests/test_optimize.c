// Optimisers on functions with known minima.

#include "common/near.h"
#include "common/optimize_case.h"
#include "common/random_model.h"
#include "common/test.h"
#include "optimize/run.h"

enum { N = 6 };

static const char* const types[] = {"adam", "trust_region", "lbfgsb", "newton_cg"};
enum { NTYPE = 4 };

// What an objective and a callback see of a run.
typedef struct Seen {
  int calls, iterations;
  double last, best, best_told;
  int best_iteration;
  bool inside;       // every point was within these bounds
  const double* lower;
  const double* upper;
  int n, stop_at;
} Seen;

static void look(Seen* s, const double* x, double loss) {
  s->calls++;
  s->best = fmin(s->best, loss);
  for (int i = 0; i < s->n && s->lower; i++) {
    if (x[i] < s->lower[i] || x[i] > s->upper[i]) s->inside = false;
  }
}

// sum k (x_k - k)^2, minimum at (0, 1, 2, ...)
static djStatus quadratic(void* user, double* loss, double* grad, const double* x) {
  Seen* s = user;
  *loss = 0;
  for (int k = 0; k < s->n; k++) {
    *loss += (k + 1) * (x[k] - k) * (x[k] - k);
    if (grad) grad[k] = 2 * (k + 1) * (x[k] - k);
  }
  look(s, x, *loss);
  return DJ_OK;
}

static djStatus rosenbrock(void* user, double* loss, double* grad, const double* x) {
  double a = 1 - x[0], b = x[1] - x[0] * x[0];
  *loss = a * a + 100 * b * b;
  if (grad) {
    grad[0] = -2 * a - 400 * b * x[0];
    grad[1] = 200 * b;
  }
  look(user, x, *loss);
  return DJ_OK;
}

// A loss that goes along a table, its gradient 1.
typedef struct Series {
  const double* loss;
  int calls;
} Series;
static djStatus along(void* user, double* loss, double* grad, const double* x) {
  Series* s = user;
  (void)x;
  *loss = s->loss[s->calls++];
  if (grad) grad[0] = 1;
  return DJ_OK;
}

// Minimum at x = 2, not defined beyond 2.5 and below 0.
static djStatus partial(void* user, double* loss, double* grad, const double* x) {
  ((Seen*)user)->calls++;
  if (x[0] > 2.5 || x[0] < 0) return DJ_INVALID;
  *loss = x[0] - 2 * log(x[0] + 1e-3);
  if (grad) grad[0] = 1 - 2 / (x[0] + 1e-3);
  return DJ_OK;
}

static bool callback(void* user, const djOptimizeStep* step) {
  Seen* s = user;
  assert_int_equal(step->iteration, s->iterations);
  assert_true(isfinite(step->loss) && step->best_loss <= step->loss);
  assert_true((step->iteration == 0) == (step->step_norm == 0) || step->iteration > 0);
  if (s->iterations == 0 || step->best_loss < s->best_told) s->best_iteration = step->iteration;
  s->best_told = step->best_loss;
  s->iterations++;
  s->last = step->loss;
  return s->stop_at == 0 || step->iteration < s->stop_at;
}

static Seen start(int n, const double* lower, const double* upper) {
  return (Seen){.best = INFINITY, .inside = true, .lower = lower, .upper = upper, .n = n};
}

static djOptimizeProblem problemOf(Seen* s, djObjective objective) {
  return (djOptimizeProblem){.n = s->n, .lower = s->lower, .upper = s->upper,
                             .objective = objective, .user = s, .callback = callback,
                             .callback_user = s};
}

// The gradients of these functions themselves.
static void checkGradient(djObjective f, int n, double low, double high) {
  djRng rng = {3};
  for (int trial = 0; trial < 20; trial++) {
    double x[N], y[N], grad[N], loss[2];
    Seen s = start(n, NULL, NULL);
    for (int k = 0; k < N; k++) grad[k] = NAN;
    for (int k = 0; k < n; k++) x[k] = djt_uniform(&rng, low, high);
    assert_int_equal(f(&s, &loss[0], grad, x), DJ_OK);
    for (int k = 0; k < n; k++) {
      for (int side = 0; side < 2; side++) {
        memcpy(y, x, sizeof y);
        y[k] += side ? 1e-5 : -1e-5;
        assert_int_equal(f(&s, &loss[side], NULL, y), DJ_OK);
      }
      assert_true(fabs((loss[1] - loss[0]) / 2e-5 - grad[k]) < 1e-6 * (1 + fabs(grad[k])));
    }
  }
}

static djStatus bowl(void* user, double* loss, double* grad, const double* x) {
  double unused[N], best[N] = {0.3, -2, 1, 0, 5, -0.1};
  const djRun run = {.n = N, .x = best, .loss = -3};
  (void)user;
  *loss = dj_bowl(grad ? grad : unused, &run, x);
  bool same = memcmp(x, best, sizeof best) == 0;
  assert_true(same ? *loss == run.loss : *loss > run.loss);
  return DJ_OK;
}

static void testGradients(void) {
  checkGradient(quadratic, N, -9, 9);
  checkGradient(rosenbrock, 2, -1.5, 1.5);
  checkGradient(partial, 1, 0.1, 2.4);
  checkGradient(bowl, N, -9, 9);
  double loss, best[N] = {0.3, -2, 1, 0, 5, -0.1};
  assert_int_equal(bowl(NULL, &loss, NULL, best), DJ_OK);
}

static void testBounds(void) {
  static const double lower[N] = {-9, 2, -9, 0, -9, 5}, upper[N] = {9, 9, 1, 9, 9, 5};
  static const double expected[N] = {0, 2, 1, 3, 4, 5};
  for (int t = 0; t < NTYPE; t++) {
    djOptimizer o = dj_defaultOptimizer();
    o.type = types[t];
    o.rate = 0.1;
    o.radius = 1;
    o.iterations = 2000;
    o.gradient_tolerance = 1e-7;
    double x[N] = {7, -7, 7, -7, 7, -7};
    Seen s = start(N, lower, upper);
    djOptimizeProblem p = problemOf(&s, quadratic);
    djOptimizeResult r = djt_optimum(x, &p, &o);
    assert_int_equal(r.stop, DJ_STOP_GRADIENT);
    assert_true(r.gradient_norm <= 1e-6);
    for (int k = 0; k < N; k++) assert_true(fabs(x[k] - expected[k]) < 1e-6);
    assert_true(s.inside);
    assert_true(r.loss == s.best && r.loss < r.first_loss);
    assert_int_equal(r.evaluations, s.calls);
    assert_int_equal(r.iterations + 1, s.iterations);
    assert_int_equal(r.best_iteration, s.best_iteration);
    assert_true(s.best_told == r.loss && r.refused == 0);
  }
}

static void testRosenbrock(void) {
  static const int iterations[NTYPE] = {20000, 20000, 200, 200};
  static const double close_by[NTYPE] = {1e-3, 0.2, 1e-5, 1e-5};
  for (int t = 0; t < NTYPE; t++) {
    djOptimizer o = dj_defaultOptimizer();
    o.type = types[t];
    o.iterations = iterations[t];
    double x[2] = {-1.2, 1};
    Seen s = start(2, NULL, NULL);
    djOptimizeProblem p = problemOf(&s, rosenbrock);
    djOptimizeResult r = djt_optimize(x, &p, &o);
    assert_true(fabs(x[0] - 1) < close_by[t] && fabs(x[1] - 1) < 2 * close_by[t]);
    double loss;
    rosenbrock(&s, &loss, NULL, x);
    assert_true(loss == r.loss);  // x is the best point
    assert_int_equal(r.best_iteration, s.best_iteration);
  }
  // With a bound at 0.5 the minimum is at (0.5, 0.25).
  static const double lower[2] = {-2, -2}, upper[2] = {0.5, 2};
  djOptimizer o = dj_defaultOptimizer();
  o.type = "lbfgsb";
  double x[2] = {-1.2, 1};
  Seen s = start(2, lower, upper);
  djOptimizeProblem p = problemOf(&s, rosenbrock);
  djt_optimize(x, &p, &o);
  assert_true(x[0] == 0.5 && fabs(x[1] - 0.25) < 1e-6 && s.inside);
}

// The loss is not defined everywhere: all back off.
static void testPartial(void) {
  for (int t = 0; t < NTYPE; t++) {
    djOptimizer o = dj_defaultOptimizer();
    o.type = types[t];
    o.rate = 2;
    o.radius = 20;
    o.iterations = 300;
    o.gradient_tolerance = 1e-6;
    double x[1] = {0.1};
    Seen s = start(1, NULL, NULL);
    djOptimizeProblem p = problemOf(&s, partial);
    djOptimizeResult r = djt_optimize(x, &p, &o);
    assert_true(r.refused > 0);
    assert_true(fabs(x[0] - 1.999) < (t == 0 ? 0.1 : 1e-4));
    double far[1] = {-3};
    djError err = {""};
    djt_refused(DJ_INVALID, dj_optimize(&r, far, &p, &o, &err), err,
                "the loss is not defined at the start");
    assert_true(far[0] == -3);
  }
}

// A step of eq. 15 is optimal: no other one in the ball and the bounds lowers g.d more.
static void testTrustRegionStep(void) {
  djRng rng = {5};
  for (int trial = 0; trial < 20; trial++) {
    double lower[N], upper[N], x[N], first[N];
    int group[N];
    for (int k = 0; k < N; k++) {
      first[k] = x[k] = djt_uniform(&rng, -8, 8);
      lower[k] = x[k] - (djt_integer(&rng, 2) ? djt_uniform(&rng, 0, 0.2) : 9);
      upper[k] = x[k] + (djt_integer(&rng, 2) ? djt_uniform(&rng, 0, 0.2) : 9);
      group[k] = djt_integer(&rng, 2);
    }
    djOptimizer o = dj_defaultOptimizer();
    o.type = "trust_region";
    o.radius = 0.3;
    o.control_radius = 0.05;
    o.iterations = 1;
    Seen s = start(N, lower, upper);
    djOptimizeProblem p = problemOf(&s, quadratic);
    p.group = group;
    djt_optimum(x, &p, &o);
    const double radius[2] = {0.3, 0.05};
    double length[2] = {0, 0}, loss, grad[N], gained = 0;
    quadratic(&s, &loss, grad, first);
    for (int k = 0; k < N; k++) {
      length[group[k]] += (x[k] - first[k]) * (x[k] - first[k]);
      gained += grad[k] * (x[k] - first[k]);
    }
    for (int g = 0; g < 2; g++) assert_true(sqrt(length[g]) <= radius[g] * (1 + 1e-9));
    double most = 0;
    for (int other = 0; other < 3000; other++) {
      double d[N], size[2] = {0, 0}, sum = 0;
      for (int k = 0; k < N; k++) {  // near the step found, and elsewhere
        d[k] = (other % 2 ? x[k] - first[k] : 0) + 0.1 * djt_uniform(&rng, -1, 1);
        d[k] = fmin(fmax(d[k], lower[k] - first[k]), upper[k] - first[k]);
        size[group[k]] += d[k] * d[k];
      }
      for (int k = 0; k < N; k++) {
        double excess = sqrt(size[group[k]]) / radius[group[k]];
        sum += grad[k] * d[k] / fmax(1, excess);
      }
      most = fmin(most, sum);
    }
    assert_true(gained <= most * (1 - 1e-9));
    assert_true(gained > 1.5 * most);  // and others come close to it
  }
}

// Equations: least distance to a random point on a random affine set within bounds, by the
// conditions of optimality, and designs that stay on it.
static void testEquations(void) {
  djRng rng = {9};
  for (int trial = 0; trial < 40; trial++) {
    double equal[2 * N], value[2] = {0, 0}, lower[N], upper[N], inside[N];
    for (int k = 0; k < N; k++) {
      inside[k] = djt_uniform(&rng, -1, 1);
      lower[k] = inside[k] - djt_uniform(&rng, 0, 1);
      upper[k] = inside[k] + djt_uniform(&rng, 0, 1);
      for (int e = 0; e < 2; e++) {
        equal[e * N + k] = djt_uniform(&rng, -1, 1);
        value[e] += equal[e * N + k] * inside[k];
      }
    }
    double adam = 0;
    for (int t = 0; t < 2; t++) {
      djOptimizer o = dj_defaultOptimizer();
      o.type = types[t];
      o.iterations = 4000;
      o.rate = 0.02;
      o.gradient_tolerance = t == 0 ? 1e-4 : 1e-7;
      double x[N] = {5, -5, 5, -5, 5, -5};
      Seen s = start(N, lower, upper);
      djOptimizeProblem p = problemOf(&s, quadratic);
      p.nequal = 2;
      p.equal = equal;
      p.value = value;
      djOptimizeResult r = djt_optimize(x, &p, &o);
      for (int e = 0; e < 2; e++) {
        double residual = -value[e];
        for (int k = 0; k < N; k++) residual += equal[e * N + k] * x[k];
        assert_true(fabs(residual) < 1e-10);
      }
      for (int k = 0; k < N; k++) assert_true(x[k] >= lower[k] && x[k] <= upper[k]);
      if (t == 0) adam = r.loss;
      else assert_true(fabs(r.loss - adam) < 1e-5 * adam);
      // Along feasible directions the loss does not fall.
      double loss, best, grad[N];
      quadratic(&s, &best, grad, x);
      for (int other = 0; other < 200; other++) {
        double y[N], slope = 0, w = djt_uniform(&rng, 0, 1);
        for (int k = 0; k < N; k++) y[k] = (1 - w) * x[k] + w * inside[k];
        for (int k = 0; k < N; k++) slope += grad[k] * (y[k] - x[k]);
        quadratic(&s, &loss, NULL, y);
        assert_true(slope >= -1e-3 * w && loss >= best - 1e-4);
      }
    }
    djOptimizer o = dj_defaultOptimizer();
    o.type = "lbfgsb";
    Seen s = start(N, lower, upper);
    djOptimizeProblem p = problemOf(&s, quadratic);
    p.nequal = 1;
    p.equal = equal;
    p.value = value;
    djOptimizeResult r;
    assert_int_equal(dj_optimize(&r, inside, &p, &o, NULL), DJ_UNSUPPORTED);
  }
}

static void testCallback(void) {
  for (int t = 0; t < NTYPE; t++) {
    djOptimizer o = dj_defaultOptimizer();
    o.type = types[t];
    double x[2] = {-1.2, 1};
    Seen s = start(2, NULL, NULL);
    s.stop_at = 3;
    djOptimizeProblem p = problemOf(&s, rosenbrock);
    djOptimizeResult r = djt_optimum(x, &p, &o);
    assert_int_equal(r.stop, DJ_STOP_CALLBACK);
    assert_int_equal(r.iterations, 3);
    s = start(2, NULL, NULL);
    o.iterations = 5;
    assert_int_equal(dj_optimize(&r, x, &p, &o, NULL), DJ_OK);
    assert_int_equal(r.stop, DJ_STOP_ITERATIONS);
    assert_int_equal(r.iterations, 5);
    s = start(2, NULL, NULL);
    o.iterations = 0;
    assert_int_equal(dj_optimize(&r, x, &p, &o, NULL), DJ_OK);
    assert_true(r.stop == DJ_STOP_ITERATIONS && s.calls == 1 && s.iterations == 1);
    s = start(2, NULL, NULL);
    o.iterations = 1000;
    o.step_tolerance = 1e3;
    assert_int_equal(dj_optimize(&r, x, &p, &o, NULL), DJ_OK);
    assert_true(r.stop == DJ_STOP_STEP && r.iterations == 1);
  }
}

static djStatus refuse(void* user, double* loss, double* grad, const double* x) {
  (void)grad;
  (void)x;
  *loss = NAN;
  ((Seen*)user)->calls++;
  return DJ_OK;
}

// Of equal losses the last counts while all have been equal, and then the first.
static void testTies(void) {
  enum { LOSSES = 7 };
  static const struct {
    double loss[LOSSES];
    int best;
  } list[] = {{{1, 1, 1, 1, 1, 1, 1}, 6}, {{1, 1, 1, 0.5, 0.7, 0.5, 0.5}, 3},
              {{1, 1, 1, 2, 1, 1, 1}, 2}, {{1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, 1},
              {{1, 2, 1, 1, 0.5, 0.4, 0.4}, 5}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    Series series = {list[i].loss, 0};
    djOptimizer o = dj_defaultOptimizer();
    o.type = "adam";
    o.rate = 0.1;
    o.iterations = LOSSES - 1;
    djOptimizeProblem p = {.n = 1, .objective = along, .user = &series};
    double x = 0;
    djOptimizeResult r = djt_optimum(&x, &p, &o);
    assert_int_equal(series.calls, LOSSES);
    assert_int_equal(r.best_iteration, list[i].best);
    djt_near(x, -0.1 * list[i].best, 1e-6);   // Adam's steps by an equal gradient
  }
}

static void testErrors(void) {
  static const double low[2] = {1, 1}, high[2] = {0, 2}, ones[2] = {1, 1}, far[1] = {9};
  double x[2] = {0.5, 0.5};
  djOptimizeResult r;
  djError err = {""};
  Seen s = start(2, NULL, NULL);
  djOptimizer o = dj_defaultOptimizer();
  djOptimizeProblem good = problemOf(&s, rosenbrock), p = good;
  p.lower = low;
  p.upper = high;
  djt_refused(DJ_INVALID, dj_optimize(&r, x, &p, &o, &err), err,
              "bounds of x[0] contradict each other");
  p = good;
  p.lower = (const double[2]){0, 0};
  p.upper = ones;
  p.nequal = 1;
  p.equal = ones;
  p.value = far;
  djt_refused(DJ_INVALID, dj_optimize(&r, x, &p, &o, &err), err,
              "bounds and equations contradict each other");
  p = good;
  p.objective = refuse;
  assert_int_equal(dj_optimize(&r, x, &p, &o, &err), DJ_INVALID);
  o.type = "luck";
  assert_int_equal(dj_optimize(&r, x, &good, &o, &err), DJ_INVALID);
  assert_string_equal(
      err.text,
      "unknown optimizer 'luck', expected one of adam, trust_region, lbfgsb, gauss_newton, "
      "newton_cg");
  assert_false(dj_isOptimizer("luck") || dj_isOptimizer(NULL));
  static const struct {
    size_t field;
    double value;
  } bad[] = {{offsetof(djOptimizer, rate), 0},        {offsetof(djOptimizer, rate), INFINITY},
             {offsetof(djOptimizer, beta1), 1},       {offsetof(djOptimizer, beta1), -0.1},
             {offsetof(djOptimizer, beta2), 1},       {offsetof(djOptimizer, beta2), -0.1},
             {offsetof(djOptimizer, epsilon), 0},     {offsetof(djOptimizer, radius), 0},
             {offsetof(djOptimizer, radius), NAN},    {offsetof(djOptimizer, radius), INFINITY},
             {offsetof(djOptimizer, control_radius), -1},
             {offsetof(djOptimizer, control_radius), INFINITY},
             {offsetof(djOptimizer, gradient_tolerance), -1},
             {offsetof(djOptimizer, step_tolerance), -1}};
  static const struct {
    size_t field;
    int value;
  } whole[] = {{offsetof(djOptimizer, memory), 0},
               {offsetof(djOptimizer, iterations), -1},
               {offsetof(djOptimizer, normalize), 2}};
  enum { NBAD = sizeof bad / sizeof bad[0], NWHOLE = sizeof whole / sizeof whole[0] };
  for (int i = 0; i < NBAD + NWHOLE; i++) {
    o = dj_defaultOptimizer();
    size_t place = i < NBAD ? bad[i].field : whole[i - NBAD].field;
    if (i < NBAD) memcpy((char*)&o + place, &bad[i].value, sizeof(double));
    else memcpy((char*)&o + place, &whole[i - NBAD].value, sizeof(int));
    assert_int_equal(dj_optimize(&r, x, &good, &o, &err), DJ_INVALID);
    const djSetting* key;
    char named[100] = "";
    for (int k = 0; (key = dj_optimizerKey(k)); k++) {
      if (key->offset == place) snprintf(named, sizeof named, "adam: %s: ", key->name);
    }
    assert_true(*named && strncmp(err.text, named, strlen(named)) == 0);
  }
  o = dj_defaultOptimizer();
  p = good;
  p.group = (const int[2]){0, 2};
  assert_int_equal(dj_optimize(&r, x, &p, &o, &err), DJ_INVALID);
  p = good;
  p.nequal = 1;
  p.equal = ones;
  djt_refused(DJ_INVALID, dj_optimize(&r, x, &p, &o, &err), err, "equations: NULL");
  // an equation without variables: true or false
  static const double zeros[2] = {0, 0}, one[1] = {1};
  p.equal = zeros;
  p.value = zeros;
  o.iterations = 1;
  assert_int_equal(dj_optimize(&r, x, &p, &o, &err), DJ_OK);
  p.value = one;
  assert_int_equal(dj_optimize(&r, x, &p, &o, &err), DJ_INVALID);
  static const double both[4] = {1, 1, 0, 0}, sum[2] = {3, 0};
  p.nequal = 2;
  p.equal = both;
  p.value = sum;
  s.iterations = 0;
  assert_int_equal(dj_optimize(&r, x, &p, &o, &err), DJ_OK);
  assert_true(fabs(x[0] + x[1] - 3) < 1e-11);
  o = dj_defaultOptimizer();
  x[1] = NAN;
  djt_refused(DJ_INVALID, dj_optimize(&r, x, &good, &o, &err), err, "x[1] is not finite");
  assert_int_equal(dj_optimize(NULL, x, &good, &o, &err), DJ_INVALID);
  assert_int_equal(dj_optimize(&r, NULL, &good, &o, &err), DJ_INVALID);
  s = start(0, NULL, NULL);
  good = problemOf(&s, quadratic);
  for (int t = 0; t < NTYPE; t++) {  // nothing to vary
    o.type = types[t];
    s.iterations = 0;
    assert_int_equal(dj_optimize(&r, NULL, &good, &o, &err), DJ_OK);
    assert_true(r.loss == 0 && r.iterations == 0);
  }
}

DJT_MAIN(testGradients, testBounds, testRosenbrock, testPartial, testTrustRegionStep, testEquations,
         testCallback, testTies, testErrors)
