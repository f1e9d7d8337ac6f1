// What steps of the trust region go down, its two balls, and patience.

#include "common/losses.h"
#include "common/optimize_case.h"
#include "common/test.h"
#include "optimize/moments.h"

static djOptimizer trustRegion(djDirection direction) {
  djOptimizer o = dj_defaultOptimizer();
  o.type = "trust_region";
  o.direction = (int)direction;
  return o;
}

// ---- full steps ---------------------------------------------------------------------------------

// x+ = x - radius g/|g| in each group, whatever the loss does.
typedef struct Steps {
  const djOptimizer* o;
  const int* group;
  djObjective truth;
  int n, rises;
  double x[N], loss;
} Steps;

static bool followFull(void* user, const djOptimizeStep* step) {
  Steps* s = user;
  double loss, grad[N];
  if (step->iteration > 0) {
    s->truth(NULL, &loss, grad, s->x);
    for (int i = 0; i < N; i++) {
      bool control = s->group && s->group[i] == 1;
      double radius = control && s->o->control_radius > 0 ? s->o->control_radius : s->o->radius;
      double length = s->group ? fabs(grad[i]) : hypot(grad[0], grad[1]);
      double wanted = s->x[i] - radius * grad[i] / length;
      if (fabs(step->x[i] - wanted) > 1e-9 * radius) fail_msg("%g, not %g", step->x[i], wanted);
    }
    s->rises += step->loss > s->loss;
    s->n++;
  }
  memcpy(s->x, step->x, sizeof s->x);
  s->loss = step->loss;
  return true;
}

static void testFullSteps(void) {
  static const int group[N] = {0, 1};
  for (int trial = 0; trial < 4; trial++) {
    djOptimizer o = trustRegion(DJ_DIRECTION_GRADIENT);
    o.radius = 0.07;
    o.control_radius = trial >= 2 ? 0.02 : 0;
    o.iterations = 200;
    double x[N] = {-1.2, 1};
    Steps s = {.o = &o, .group = trial % 2 ? group : NULL, .truth = rosenbrock};
    Loss l = {.truth = rosenbrock};
    djOptimizeProblem p = {.n = N,
                           .group = s.group,
                           .objective = evaluate,
                           .user = &l,
                           .callback = followFull,
                           .callback_user = &s};
    djOptimizeResult r = djt_optimum(x, &p, &o);
    assert_int_equal(r.stop, DJ_STOP_ITERATIONS);
    assert_true(s.n == 200 && s.rises > 20 && r.loss < r.first_loss / 4); // the best is kept
  }
}

static djStatus refused(void* user, double* loss, double* grad, const double* x) {
  (void)user;
  if (x[0] < 0.5) return DJ_INVALID;
  *loss = x[0];
  if (grad) grad[0] = 1, grad[1] = 0;
  return DJ_OK;
}

// A step at whose end there is no loss is shortened; where no part of it is left the run is stuck.
static void testShortened(void) {
  djOptimizer o = trustRegion(DJ_DIRECTION_GRADIENT);
  o.radius = 1;
  o.iterations = 1000;
  double x[N] = {2.2, 0};
  Loss l = {.truth = refused};
  djOptimizeProblem p = {.n = N, .objective = evaluate, .user = &l};
  djOptimizeResult r;
  assert_int_equal(dj_optimize(&r, x, &p, &o, NULL), DJ_NOT_CONVERGED);
  assert_int_equal(r.stop, DJ_STOP_STUCK);
  assert_true(r.refused >= 30 && x[0] >= 0.5 && x[0] < 0.5 + 1e-8);
}

// ---- Adam's direction ---------------------------------------------------------------------------

typedef struct Adams {
  const djOptimizer* o;
  double m[N], v[N], x[N], best;
  int k, waited, n;
  bool done;
} Adams;

// Before the first return: as long as the radius, along m/(1 - b1^k) / (sqrt(v/(1 - b2^k)) + eps).
static bool followAdams(void* user, const djOptimizeStep* step) {
  Adams* a = user;
  const djOptimizer* o = a->o;
  double loss, grad[N], d[N];
  if (step->iteration > 0 && !a->done) {
    rosenbrock(NULL, &loss, grad, a->x);
    a->k++;
    for (int i = 0; i < N; i++) {
      a->m[i] = o->beta1 * a->m[i] + (1 - o->beta1) * grad[i];
      a->v[i] = o->beta2 * a->v[i] + (1 - o->beta2) * grad[i] * grad[i];
      d[i] = a->m[i] / (1 - pow(o->beta1, a->k)) /
             (sqrt(a->v[i] / (1 - pow(o->beta2, a->k))) + o->epsilon);
    }
    double length = hypot(d[0], d[1]);
    for (int i = 0; i < N; i++) {
      double wanted = a->x[i] - o->radius * d[i] / length;
      if (fabs(step->x[i] - wanted) > 1e-9 * o->radius) fail_msg("%g, not %g", step->x[i], wanted);
    }
    a->n++;
  }
  a->waited = step->iteration == 0 || step->loss < a->best ? 0 : a->waited + 1;
  a->best = step->best_loss;
  a->done |= a->waited >= 8;
  memcpy(a->x, step->x, sizeof a->x);
  return true;
}

static void testAdams(void) {
  for (int trial = 0; trial < 3; trial++) {
    djOptimizer o = trustRegion(DJ_DIRECTION_ADAM);
    o.radius = 0.02;
    o.beta1 = trial == 1 ? 0.5 : 0.9;
    o.beta2 = trial == 2 ? 0.9 : 0.999;
    o.epsilon = trial ? 1e-8 : 3;
    o.iterations = 2000;
    double x[N] = {-1.2, 1};
    Adams a = {.o = &o};
    Loss l = {.truth = rosenbrock};
    djOptimizeProblem p = {
        .n = N, .objective = evaluate, .user = &l, .callback = followAdams, .callback_user = &a};
    djOptimizeResult r = djt_optimize(x, &p, &o);
    assert_true(a.done && a.n > 10);
    assert_true(r.loss < 0.1); // and the second phase settles down
  }
}

// ---- patience -----------------------------------------------------------------------------------

// Rosenbrock's, and 9.
static djStatus raised(void* user, double* loss, double* grad, const double* x) {
  djStatus status = rosenbrock(user, loss, grad, x);
  *loss += 9;
  return status;
}

static djStatus residuals(void* user, double* r, double* J, const double* x) {
  Loss* l = user;
  l->calls++;
  r[0] = 1 - x[0];
  r[1] = 10 * (x[1] - x[0] * x[0]);
  r[2] = 3;
  if (!J) return DJ_OK;
  J[0] = -1, J[1] = 0;
  J[2] = -20 * x[0], J[3] = 10;
  J[4] = J[5] = 0;
  return DJ_OK;
}

enum { MOST = 3000 };

typedef struct Bests {
  int n;
  double best[MOST + 1];
} Bests;

static bool noteBest(void* user, const djOptimizeStep* step) {
  Bests* b = user;
  assert_int_equal(step->iteration, b->n);
  b->best[b->n++] = step->best_loss;
  return true;
}

// It ends at the first iteration before which the best loss fell by no more than a thousandth in so
// many, and nothing but that changes.
static void testPatience(void) {
  static const char* const types[] = {"adam", "trust_region", "lbfgsb", "gauss_newton"};
  int ended[4] = {0};
  for (int t = 0; t < 4; t++) {
    for (int patience = 0; patience <= 8; patience = patience ? 2 * patience : 1) {
      for (int direction = 0; direction < (t == 1 ? 3 : 1); direction++) {
        djOptimizer o = trustRegion((djDirection)direction);
        o.type = types[t];
        o.iterations = 300;
        o.rate = o.radius = 0.01;
        o.patience = patience;
        double x[N] = {-1.2, 1};
        Loss l = {.truth = raised};
        Bests b = {0}, plain = {0};
        djOptimizeProblem p = {.n = N,
                               .objective = evaluate,
                               .user = &l,
                               .nresidual = 3,
                               .residuals = residuals,
                               .callback = noteBest,
                               .callback_user = &plain};
        o.patience = 0;
        djOptimizeResult without = djt_optimize(x, &p, &o);
        o.patience = patience;
        x[0] = -1.2, x[1] = 1;
        l = (Loss){.truth = raised};
        p.callback_user = &b;
        djOptimizeResult r = djt_optimize(x, &p, &o);
        assert_memory_equal(b.best, plain.best, (size_t)b.n * sizeof(double));
        for (int k = patience; k < b.n && patience > 0; k++) {
          bool tired = b.best[k - patience] - b.best[k] <= 1e-3 * fabs(b.best[k - patience]);
          if (k < b.n - 1)
            assert_false(tired);
          else if (r.stop == DJ_STOP_PATIENCE)
            assert_true(tired);
        }
        assert_true(r.stop == DJ_STOP_PATIENCE || r.stop == without.stop);
        if (r.stop == DJ_STOP_PATIENCE) assert_true(r.iterations >= patience);
        if (patience == 0) assert_true(b.n == plain.n && r.stop != DJ_STOP_PATIENCE);
        ended[t] += r.stop == DJ_STOP_PATIENCE;
      }
    }
  }
  assert_true(ended[0] > 2 && ended[1] > 2 && ended[2] > 0 && ended[3] > 0);
}

// Of losses below 0 it is the size that counts, and a loss that stays 0 ends a run, too.
static void testSign(void) {
  djOptimizer o = trustRegion(DJ_DIRECTION_GRADIENT);
  o.radius = 0.01;
  o.patience = 5;
  o.iterations = 2000;
  double x[N] = {-300, 0}; // each step lowers the loss by 0.0316, from -900 on
  Loss l = {.truth = slope};
  Bests b = {0};
  djOptimizeProblem p = {
      .n = N, .objective = evaluate, .user = &l, .callback = noteBest, .callback_user = &b};
  djOptimizeResult r = djt_optimum(x, &p, &o);
  assert_true(r.stop == DJ_STOP_PATIENCE && r.iterations == 5);
  x[0] = -50;
  x[1] = 0;
  b.n = 0; // five steps lower it by 0.158: more than a thousandth up to -158
  assert_int_equal(dj_optimize(&r, x, &p, &o, NULL), DJ_OK);
  assert_true(r.stop == DJ_STOP_PATIENCE && r.loss < -157 && r.loss > -159);
  o.patience = 2001; // longer than the run
  b.n = 0;
  assert_int_equal(dj_optimize(&r, x, &p, &o, NULL), DJ_OK);
  assert_int_equal(r.stop, DJ_STOP_ITERATIONS);
}

// ---- by name ------------------------------------------------------------------------------------

static void testNames(void) {
  static const char* const names[] = {"mean", "adam", "gradient"};
  djOptimizer o = dj_defaultOptimizer();
  djError err;
  assert_true(o.direction == DJ_DIRECTION_MEAN && o.patience == 0);
  for (int k = 2; k >= 0; k--) {
    assert_int_equal(dj_setOptimizerText(&o, "direction", names[k], &err), DJ_OK);
    assert_int_equal(o.direction, k);
  }
  assert_int_equal(dj_setOptimizerText(&o, "direction", "up", &err), DJ_INVALID);
  assert_string_equal(err.text,
                      "direction: unknown value 'up', expected one of mean, adam, gradient");
  djt_refused(DJ_INVALID, dj_setOptimizerText(&o, "radius", "mean", &err), err,
              "radius: takes no text");
  assert_int_equal(dj_setOptimizerText(&o, "direction", NULL, &err), DJ_INVALID);
  assert_int_equal(dj_setOptimizer(&o, "direction", 3, &err), DJ_INVALID);
}

DJT_MAIN(testFullSteps, testShortened, testAdams, testPatience, testSign, testNames)
