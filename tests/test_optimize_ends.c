// How runs of optimisers end: with nothing left to gain, where they cannot go on, without memory,
// by their tolerances; and laws that hold all the way.

#include "common/losses.h"
#include "common/optimize_case.h"
#include "common/random_model.h"
#include "common/test.h"

// Defined at the start alone.
static djStatus point(void* user, double* loss, double* grad, const double* x) {
  (void)user;
  if (x[0] != 1 || x[1] != 2) return DJ_INVALID;
  return slope(NULL, loss, grad, x);
}

// Its gradient points the wrong way.
static djStatus uphill(void* user, double* loss, double* grad, const double* x) {
  djStatus status = valley(user, loss, grad, x);
  for (int i = 0; i < N && grad; i++) grad[i] = -grad[i];
  return status;
}

// It has no gradient beyond x = 0.
static djStatus blind(void* user, double* loss, double* grad, const double* x) {
  djStatus status = valley(user, loss, grad, x);
  if (x[0] < 0 && grad) grad[0] = NAN;
  return status;
}

static void testStuck(void) {
  static const char* const types[] = {"adam", "trust_region", "lbfgsb"};
  for (int t = 0; t < 3; t++) {
    djOptimizer o = dj_defaultOptimizer();
    djOptimizeResult r;
    o.type = types[t];
    double x[N] = {1, 2};
    djOptimizeProblem p = {.n = N, .objective = point};
    assert_int_equal(dj_optimize(&r, x, &p, &o, NULL), DJ_NOT_CONVERGED);
    assert_true(r.stop == DJ_STOP_STUCK && r.iterations == 0 && x[0] == 1 && x[1] == 2);
    assert_true(r.refused > 0 && r.refused < r.evaluations && r.loss == r.first_loss);
    p.objective = uphill;
    o.restarts = 0;
    djStatus status = dj_optimize(&r, x, &p, &o, NULL);
    if (t > 0) assert_true(status == DJ_NOT_CONVERGED && r.stop == DJ_STOP_STUCK);
    assert_true(x[0] == 1 && x[1] == 2 && r.best_iteration == 0);
    p.objective = blind;
    o.restarts = 8;
    o.iterations = 200;
    o.rate = 0.05;
    assert_true(dj_optimize(&r, x, &p, &o, NULL) >= 0);
    assert_true(r.refused > 0 && x[0] >= 0 && r.loss < r.first_loss);
  }
}

// Memory that runs out ends a run at once, whichever evaluation it is.
typedef struct Poor {
  int calls, last;
} Poor;

static djStatus poor(void* user, double* loss, double* grad, const double* x) {
  Poor* p = user;
  return ++p->calls == p->last ? DJ_NO_MEMORY : valley(NULL, loss, grad, x);
}

static void testNoMemory(void) {
  static const char* const types[] = {"adam", "trust_region", "lbfgsb"};
  for (int t = 0; t < 3; t++) {
    for (int k = 1; k < 12; k++) {
      djOptimizer o = dj_defaultOptimizer();
      o.type = types[t];
      Poor mine = {0, k};
      djOptimizeProblem p = {.n = N, .objective = poor, .user = &mine};
      djOptimizeResult r;
      djError err = {""};
      double x[N] = {1, 2};
      assert_int_equal(dj_optimize(&r, x, &p, &o, &err), DJ_NO_MEMORY);
      assert_int_equal(mine.calls, k);
      assert_true(x[0] == 1 && x[1] == 2);
    }
  }
}

// A valley with kinks across: a line search ends there, and starting anew helps.
static djStatus kinks(void* user, double* loss, double* grad, const double* x) {
  const double* k = user;
  double a = x[0] - k[0] * x[1] * x[1], b = x[1] - k[1], sign = a < 0 ? -1 : 1;
  *loss = k[2] * fabs(a) + b * b + 0.1 * x[0] * x[0] + k[3];
  if (grad) {
    grad[0] = k[2] * sign + 0.2 * x[0];
    grad[1] = -2 * k[2] * sign * k[0] * x[1] + 2 * b;
  }
  return DJ_OK;
}

// ... as long as it does: a run that goes on from where one ended gains nothing.
static void testStartsAnew(void) {
  djRng rng = {5};
  int nhelped = 0;
  for (int trial = 0; trial < 60; trial++) {
    double k[4], x[N], y[N];
    k[3] = trial % 3 == 0 ? -100 : 0;
    for (int i = 0; i < 3; i++) k[i] = djt_uniform(&rng, 0.2, 3);
    for (int i = 0; i < N; i++) x[i] = djt_uniform(&rng, -2, 2);
    djOptimizer o = dj_defaultOptimizer();
    o.type = "lbfgsb";
    o.restarts = 0;
    o.iterations = 10000;
    djOptimizeProblem p = {.n = N, .objective = kinks, .user = k};
    djOptimizeResult r = djt_optimize(x, &p, &o);
    assert_true(r.iterations < o.iterations);
    memcpy(y, x, sizeof x);
    djOptimizeResult again = djt_optimize(y, &p, &o);
    assert_true(r.loss - again.loss <= 1e-12 * fabs(r.loss));
    nhelped += r.stop == DJ_STOP_GRADIENT;
  }
  assert_true(nhelped > 0);
}

// A bowl in so many dimensions, with stairs: at each plane x . normal = j the loss rises by `rise`,
// on the way down, too. It notes the least that was seen.
enum { WIDE = 20 };

typedef struct Stairs {
  double rise, normal[WIDE], to[WIDE], seen;
  int calls;
} Stairs;

static djStatus stairs(void* user, double* loss, double* grad, const double* x) {
  Stairs* s = user;
  double along = 0;
  *loss = 100;
  for (int i = 0; i < WIDE; i++) {
    double d = x[i] - s->to[i];
    along += s->normal[i] * x[i];
    *loss += (1 + i) * d * d;
    grad[i] = 2 * (1 + i) * d;
  }
  *loss += s->rise * floor(along);
  s->seen = fmin(s->seen, *loss);
  s->calls++;
  return DJ_OK;
}

static djOptimizeResult descend(Stairs* s, double* x, int restarts) {
  djOptimizer o = dj_defaultOptimizer();
  o.type = "lbfgsb";
  o.iterations = 500;
  o.restarts = restarts;
  s->seen = INFINITY;
  s->calls = 0;
  djOptimizeProblem p = {.n = WIDE, .objective = stairs, .user = s};
  djOptimizeResult r = djt_optimize(x, &p, &o);
  assert_true(r.evaluations == s->calls && r.loss - s->seen <= 1e-8 * r.loss);
  assert_true(restarts > 0 || r.restarts == 0);
  return r;
}

// Where the best point is at a jump runs from beside it lead on, nothing better than the result (but
// for rounding) was ever seen, and where there is none all goes as without restarts, to the last bit.
static void testJumps(void) {
  djRng rng = {17};
  int nbetter = 0, nrestarted = 0;
  for (int trial = 0; trial < 60; trial++) {
    Stairs s = {.rise = trial % 2 ? 0 : djt_uniform(&rng, 2, 8)};
    double start[WIDE], x[2][WIDE];
    djt_uniforms(s.normal, WIDE, &rng, 0.2, 1);
    djt_uniforms(s.to, WIDE, &rng, 0.5, 1);
    djt_uniforms(start, WIDE, &rng, -1, 0);
    djOptimizeResult r[2];
    for (int k = 0; k < 2; k++) {
      memcpy(x[k], start, sizeof start);
      r[k] = descend(&s, x[k], 8 * k);
    }
    assert_true(r[1].loss <= r[0].loss + 0.02 * s.rise);
    if (r[1].restarts > 0) {
      assert_true(s.rise > 0);
      nrestarted++;
      nbetter += r[1].loss < r[0].loss - 0.01;
    } else {
      assert_true(r[1].iterations == r[0].iterations);
      assert_memory_equal(x[0], x[1], sizeof start);
    }
  }
  print_message("%d of 30 restarted, %d better by it\n", nrestarted, nbetter);
  assert_true(nrestarted > 20 && nbetter > 20);
}

// It works with any number of pairs that can be counted.
static void testManyPairs(void) {
  djOptimizer o = dj_defaultOptimizer();
  o.type = "lbfgsb";
  o.memory = 2000000000;
  o.iterations = 50;
  double x[N] = {1, 2};
  djOptimizeProblem p = {.n = N, .objective = valley};
  djOptimizeResult r = djt_optimize(x, &p, &o);
  assert_true(r.loss < 1e-12);
  o.iterations = 2000000000;
  x[0] = 1;
  assert_int_equal(dj_optimize(&r, x, &p, &o, NULL), DJ_NO_MEMORY);
}

// Where the loss ends along a curve, no iterate is beyond it.
static djStatus walled(void* user, double* loss, double* grad, const double* x) {
  const double* k = user;
  if (x[1] > k[0] + k[1] * sin(k[2] * x[0])) return DJ_INVALID;
  *loss = x[0] * x[0] - 3 * x[1];
  if (grad) {
    grad[0] = 2 * x[0];
    grad[1] = -3;
  }
  return DJ_OK;
}

static bool isDefined(void* user, const djOptimizeStep* step) {
  double loss;
  assert_int_equal(walled(user, &loss, NULL, step->x), DJ_OK);
  assert_true(loss == step->loss);
  return true;
}

static void testDefinedIterates(void) {
  djRng rng = {8};
  for (int trial = 0; trial < 200; trial++) {
    double k[3], x[N];
    for (int i = 0; i < 3; i++) k[i] = djt_uniform(&rng, 0.1, 3);
    x[0] = djt_uniform(&rng, -2, 2);
    x[1] = k[0] + k[1] * sin(k[2] * x[0]) - djt_uniform(&rng, 0, 3);
    djOptimizer o = dj_defaultOptimizer();
    o.type = "lbfgsb";
    o.radius = djt_uniform(&rng, 0.01, 5);
    djOptimizeProblem p = {.n = N, .objective = walled, .user = k, .callback = isDefined,
                           .callback_user = k};
    djOptimizeResult r = djt_optimize(x, &p, &o);
    assert_true(r.refused > 0 && r.evaluations < 21 * (o.iterations + 10));
  }
}

// Adam does not see the size of a loss, on equations and at bounds neither.
static djStatus scaled(void* user, double* loss, double* grad, const double* x) {
  double c = *(const double*)user;
  *loss = 0;
  for (int i = 0; i < 3; i++) {
    double d = x[i] - i * 0.7;
    *loss += c * (1 + i) * d * d;
    if (grad) grad[i] = 2 * c * (1 + i) * d;
  }
  return DJ_OK;
}

static void testScaledLoss(void) {
  static const double low[3] = {-0.1, -9, -9}, high[3] = {9, 9, 0.5}, equal[3] = {1, 1, 1};
  double value[1] = {0.3}, first[3] = {0}, c[3] = {1, 0x1p20, 0x1p-10};
  for (int k = 0; k < 3; k++) {
    double x[3] = {2, -0.7, -1};
    djOptimizer o = dj_defaultOptimizer();
    o.iterations = 40;
    o.rate = 0.1;
    o.epsilon = 1e-30;
    djOptimizeProblem p = {.n = 3, .lower = low, .upper = high, .nequal = 1, .equal = equal,
                           .value = value, .objective = scaled, .user = &c[k]};
    djt_optimum(x, &p, &o);
    if (k == 0) memcpy(first, x, sizeof first);
    for (int i = 0; i < 3; i++) assert_true(fabs(x[i] - first[i]) < 1e-7);
    assert_true(fabs(x[0] + x[1] + x[2] - 0.3) < 1e-11);
  }
}

// Where the loss is not defined steps are halved.
static void testHalved(void) {
  for (int t = 0; t < 2; t++) {
    for (int cuts = 0; cuts < 5; cuts++) {
      djOptimizer o = dj_defaultOptimizer();
      o.type = t ? "trust_region" : "adam";
      o.iterations = 1;
      o.rate = o.radius = 0.1;
      double x[N] = {-1.2, 1}, d[N];
      Loss l = {.truth = slope, .refuse_from = 1, .refuse_to = 1 + cuts};
      djOptimizeProblem p = {.n = N, .objective = evaluate, .user = &l};
      djOptimizeResult r = djt_optimum(x, &p, &o);
      assert_int_equal(r.refused, cuts);
      double moved = between(d, l.start, x), full = t ? 0.1 : 0.1 * sqrt(2);
      assert_true(fabs(moved - ldexp(full, -cuts)) < 1e-8);
    }
  }
}

static djStatus flat(void* user, double* loss, double* grad, const double* x) {
  (void)user;
  (void)grad;   // given as zeros
  (void)x;
  *loss = 1;
  return DJ_OK;
}

// Bounds on one side only.
static void testOneSide(void) {
  static const char* const types[] = {"adam", "trust_region", "lbfgsb"};
  static const double bound[N] = {0.5, 0.5}, never[N] = {-INFINITY, 0};
  for (int t = 0; t < 3; t++) {
    djOptimizer o = dj_defaultOptimizer();
    djOptimizeResult r;
    o.type = types[t];
    o.iterations = 500;
    o.rate = 0.05;
    for (int upper = 0; upper < 2; upper++) {
      double x[N] = {3, -3};
      djOptimizeProblem p = {.n = N, .lower = upper ? NULL : bound, .upper = upper ? bound : NULL,
                             .objective = valley};
      assert_true(dj_optimize(&r, x, &p, &o, NULL) >= 0);
      for (int i = 0; i < N; i++) {
        if (upper) assert_true(x[i] <= 0.5);
        else assert_true(x[i] >= 0.5);
      }
    }
    double x[N] = {3, -3};
    djError err;
    djOptimizeProblem p = {.n = N, .upper = never, .objective = valley};
    djt_refused(DJ_INVALID, dj_optimize(&r, x, &p, &o, &err), err,
                "bounds of x[0] contradict each other");
  }
}

// Many equations and bounds: what the projection gives satisfies all, and no point that does is
// nearer, since what is left is a sum of the equations' rows and of outward pushes at bounds.
static void testManyEquations(void) {
  enum { MANY = 60, ROWS = 30 };
  djRng rng = {21};
  static double equal[ROWS * MANY], value[ROWS], low[MANY], high[MANY];
  double inside[MANY], x[MANY], start[MANY];
  int nbound = 0;
  for (int i = 0; i < MANY; i++) {
    low[i] = djt_uniform(&rng, -1, 0);
    high[i] = djt_uniform(&rng, 0.1, 1);
    inside[i] = djt_uniform(&rng, low[i], high[i]);
    x[i] = start[i] = djt_uniform(&rng, -2, 2);
  }
  for (int r = 0; r < ROWS; r++) {
    value[r] = 0;
    for (int i = 0; i < MANY; i++) {
      equal[r * MANY + i] = djt_integer(&rng, 3) ? 0 : djt_uniform(&rng, -1, 1);
      value[r] += equal[r * MANY + i] * inside[i];
    }
  }
  djOptimizer o = dj_defaultOptimizer();
  o.iterations = 0;
  djOptimizeProblem p = {.n = MANY, .lower = low, .upper = high, .nequal = ROWS, .equal = equal,
                         .value = value, .objective = flat};
  djOptimizeResult r = djt_optimum(x, &p, &o);
  for (int k = 0; k < ROWS; k++) {
    double sum = -value[k];
    for (int i = 0; i < MANY; i++) sum += equal[k * MANY + i] * x[i];
    assert_true(fabs(sum) < 1e-10);
  }
  // <start - x, y - x> <= 0 for all feasible y: here `inside`.
  double product = 0;
  for (int i = 0; i < MANY; i++) {
    assert_true(x[i] >= low[i] && x[i] <= high[i]);
    nbound += x[i] == low[i] || x[i] == high[i];
    product += (start[i] - x[i]) * (inside[i] - x[i]);
  }
  assert_true(product <= 1e-9 && nbound > 3);
  // The same equations by what is not 0.
  double entry[ROWS * MANY];
  int at[ROWS + 1] = {0}, index[ROWS * MANY], n = 0;
  for (int k = 0; k < ROWS * MANY; k++) {
    if (equal[k] != 0) index[n] = k % MANY, entry[n++] = equal[k];
    at[k / MANY + 1] = n;
  }
  assert_true(n < ROWS * MANY / 2);
  p.equal = entry;
  p.equal_start = at;
  p.equal_index = index;
  assert_int_equal(dj_optimize(&r, start, &p, &o, NULL), DJ_OK);
  assert_memory_equal(start, x, sizeof x);
  p.equal_index = NULL;
  assert_int_equal(dj_optimize(&r, start, &p, &o, NULL), DJ_INVALID);
  p.equal_index = index;
  static const int bad[] = {-1, MANY};
  for (int k = 0; k < 3; k++) {
    djError err = {""};
    index[2] = k < 2 ? bad[k] : index[1];
    djt_refused(DJ_INVALID, dj_optimize(&r, start, &p, &o, &err), err, "equation 0: bad entries");
  }
}

// A run ends at the first step that is as short as the tolerance.
static bool noteNorm(void* user, const djOptimizeStep* step) {
  double* norm = user;                 // of the last step, and the least before it
  if (step->iteration > 1) norm[1] = fmin(norm[1], norm[0]);
  norm[0] = step->step_norm;
  return true;
}

static void testStepTolerance(void) {
  static const char* const types[] = {"adam", "trust_region", "lbfgsb"};
  for (int t = 0; t < 3; t++) {
    djOptimizer o = dj_defaultOptimizer();
    o.type = types[t];
    o.iterations = 10000;
    o.step_tolerance = 1e-4;
    double x[N] = {-1.2, 1}, norm[2] = {0, INFINITY};
    Loss l = {.truth = rosenbrock};
    djOptimizeProblem p = {.n = N, .objective = evaluate, .user = &l, .callback = noteNorm,
                           .callback_user = norm};
    djOptimizeResult r = djt_optimum(x, &p, &o);
    assert_int_equal(r.stop, DJ_STOP_STEP);
    assert_true(r.iterations > 3 && norm[0] <= 1e-4 && norm[1] > 1e-4);
  }
}

// Only variables between their bounds move along with a multiplier: the last one, whose coefficient
// is large, stays at its bound, on either side.
static void testProjection(void) {
  for (int side = -1; side <= 1; side += 2) {
    const double low[3] = {-INFINITY, -INFINITY, side < 0 ? 0 : -INFINITY};
    const double high[3] = {INFINITY, INFINITY, side < 0 ? INFINITY : 0};
    const double equal[3] = {1, 2, 1e4 * side}, value[1] = {10};
    double x[3] = {1, 1, 5 * side};
    djOptimizer o = dj_defaultOptimizer();
    o.iterations = 0;
    djOptimizeProblem p = {.n = 3, .lower = low, .upper = high, .nequal = 1, .equal = equal,
                           .value = value, .objective = flat};
    // From (1, 1, beyond its bound) along (1, 2): 7 are missing, so 7/5 of it.
    djt_optimum(x, &p, &o);
    assert_true(fabs(x[0] - 2.4) < 1e-9 && fabs(x[1] - 3.8) < 1e-9 && x[2] == 0);
  }
}

DJT_MAIN(testStuck, testNoMemory, testStartsAnew, testJumps, testManyPairs, testDefinedIterates,
         testHalved, testScaledLoss, testProjection, testManyEquations, testOneSide,
         testStepTolerance)
