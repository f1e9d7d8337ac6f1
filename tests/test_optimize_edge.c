// Losses that are not defined everywhere, as those of designs are that are not possible beyond an
// edge: every optimizer of the table makes its step shorter there, and ends with a point that is
// defined, as far along as others get. Only a start beyond the edge is an error.

#include "common/near.h"
#include "common/random.h"
#include "common/test.h"

#include <dijoco/entry.h>
#include <dijoco/optimize.h>

enum { N = 4 };

// |r|^2 with r = A (x - goal), where |x - centre| < radius.
typedef struct Ball {
  double A[N][N], goal[N], centre[N], radius;
  int refused;
} Ball;

static bool isIn(const Ball* b, const double* x) {
  double square = 0;
  for (int i = 0; i < N; i++) square += (x[i] - b->centre[i]) * (x[i] - b->centre[i]);
  return square < b->radius * b->radius;
}

static djStatus residuals(void* user, double* r, double* J, const double* x) {
  Ball* b = user;
  if (!isIn(b, x)) return DJ_INVALID;
  for (int i = 0; i < N; i++) {
    r[i] = 0;
    for (int k = 0; k < N; k++) r[i] += b->A[i][k] * (x[k] - b->goal[k]);
    for (int k = 0; k < N && J; k++) J[i * N + k] = b->A[i][k];
  }
  return DJ_OK;
}

static djStatus objective(void* user, double* loss, double* grad, const double* x) {
  Ball* b = user;
  double r[N];
  if (residuals(user, r, NULL, x) < 0) {
    b->refused++;
    return DJ_INVALID;
  }
  *loss = 0;
  for (int i = 0; i < N; i++) *loss += r[i] * r[i];
  for (int k = 0; k < N && grad; k++) {
    grad[k] = 0;
    for (int i = 0; i < N; i++) grad[k] += 2 * b->A[i][k] * r[i];
  }
  return DJ_OK;
}

static Ball randomBall(djRng* rng) {
  Ball b = {.radius = djt_uniform(rng, 0.8, 2)};
  double away[N];
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < N; k++) b.A[i][k] = (i == k) + 0.3 * djt_uniform(rng, -1, 1);
  }
  djt_uniforms(b.centre, N, rng, -1, 1);
  djt_unit(away, N, rng);
  const double far = b.radius * djt_uniform(rng, 0.7, 1.5);   // some goals are beyond the edge
  for (int i = 0; i < N; i++) b.goal[i] = b.centre[i] + far * away[i];
  return b;
}

static bool isDefined(void* user, const djOptimizeStep* step) {
  return *(bool*)user &= isfinite(step->loss) && isfinite(step->best_loss);
}

static djOptimizer bold(const char* type) {
  djOptimizer o = dj_defaultOptimizer();
  o.type = type;
  o.rate = 1;
  o.radius = o.control_radius = 4;
  o.damping = 1e-6;
  o.iterations = 60;
  return o;
}

static void testEdge(void) {
  const djEntry* entry;
  for (int t = 0; (entry = dj_optimizerEntry(t)); t++) {
    djRng rng = {7};
    int met = 0;
    for (int trial = 0; trial < 40; trial++) {
      Ball b = randomBall(&rng);
      bool defined = true;
      double x[N], loss, away[N];
      djt_unit(away, N, &rng);
      for (int i = 0; i < N; i++) x[i] = b.centre[i] + 0.5 * b.radius * away[i];
      djOptimizer o = bold(entry->name);
      djOptimizeProblem p = {.n = N, .objective = objective, .nresidual = N,
                             .residuals = residuals, .user = &b, .callback = isDefined,
                             .callback_user = &defined};
      djOptimizeResult r;
      djError err = {""};
      if (dj_optimize(&r, x, &p, &o, &err) < 0) fail_msg("%s: %s", entry->name, err.text);
      assert_true(defined && isIn(&b, x));
      met += b.refused > 0;
      assert_true(r.refused <= b.refused && (r.refused > 0 || b.refused == 0));
      assert_int_equal(objective(&b, &loss, NULL, x), DJ_OK);
      assert_true(loss == r.loss);
      djt_failIf(!(r.loss < 0.8 * r.first_loss), "%s, %d: %g of %g", entry->name, trial, r.loss,
                 r.first_loss);
      for (int i = 0; i < N; i++) x[i] = b.centre[i] + 1.01 * b.radius * away[i];
      djt_refused(DJ_INVALID, dj_optimize(&r, x, &p, &o, &err), err,
                  "the loss is not defined at the start");
    }
    if (met < 20) fail_msg("%s: met the edge %d times", entry->name, met);
  }
}

// A loss that keeps something of the point where it was renewed last, as masses keep the facets of
// hulls, and is defined near there alone.
typedef struct Kept {
  double at[2], reach;
  int renewals;
} Kept;

static djStatus valley(void* user, double* loss, double* grad, const double* x) {
  const Kept* k = user;
  const double a = 1 - x[0], b = x[1] - x[0] * x[0];
  if (hypot(x[0] - k->at[0], x[1] - k->at[1]) > k->reach) return DJ_INVALID;
  *loss = a * a + 100 * b * b;
  if (grad) {
    grad[0] = -2 * a - 400 * b * x[0];
    grad[1] = 200 * b;
  }
  return DJ_OK;
}

static bool renew(void* user, double* loss, const double* x) {
  Kept* k = user;
  (void)loss;
  const bool other = x[0] != k->at[0] || x[1] != k->at[1];
  memcpy(k->at, x, sizeof k->at);
  k->renewals += other;
  return other;
}

// Who asks for renewal gets as far as where the loss is defined everywhere; who does not ends where
// it is no more, and says nothing of an error.
static void testKept(void) {
  static const char* const types[] = {"trust_region", "trust_region", "trust_region", "adam",
                                      "lbfgsb"};
  for (int k = 0; k < 5; k++) {
    djOptimizer o = dj_defaultOptimizer();
    o.type = types[k];
    if (k < 3) o.direction = k;   // mean, adam, gradient
    o.radius = o.control_radius = 0.5;
    o.rate = 0.3;
    o.epsilon = 1e-8;
    o.iterations = 800;
    Kept kept = {{-1.2, 1}, 0.12, 0};
    double x[2] = {-1.2, 1};
    djOptimizeProblem p = {.n = 2, .objective = valley, .user = &kept, .renew = renew,
                           .renew_user = &kept};
    djOptimizeResult r;
    djError err = {""};
    if (dj_optimize(&r, x, &p, &o, &err) < 0) fail_msg("%s: %s", o.type, err.text);
    assert_true(r.refused > 0 && isfinite(r.loss) && r.loss < r.first_loss);
    if (k == 4) assert_true(kept.renewals == 0 && hypot(x[0] + 1.2, x[1] - 1) <= 0.12);
    else assert_true(kept.renewals > 10);
    // Without the edge these two get to 0; with steps this short they are on their way.
    if (k < 2 && !(r.loss < 0.02)) fail_msg("direction %d: %g", k, r.loss);
  }
}

DJT_MAIN(testEdge, testKept)
