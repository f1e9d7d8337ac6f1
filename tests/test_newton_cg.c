// Newton's method with conjugate gradients: few steps where losses are smooth, also past a saddle,
// within bounds, by products of its own and by differences, and on the loss of a task.

#include "common/design_case.h"
#include "common/optimize_case.h"
#include "common/test.h"
#include "optimize/run.h"

enum { N = 12 };

// What a problem counts.
typedef struct Seen {
  int evaluations, products;
  const double *lower, *upper;
  bool outside;
} Seen;

static void look(Seen* s, const double* x, int n) {
  for (int i = 0; i < n && s->lower; i++) s->outside |= x[i] < s->lower[i] || x[i] > s->upper[i];
}

// sum k (x_k - k)^2 with a chain between neighbours: its Hessian is not diagonal.
static djStatus chain(void* user, double* loss, double* grad, const double* x) {
  Seen* s = user;
  s->evaluations++;
  look(s, x, N);
  *loss = 0;
  for (int k = 0; k < N; k++) {
    double own = x[k] - k, next = k + 1 < N ? x[k + 1] - x[k] - 1 : 0;
    *loss += (k + 1) * own * own + 3 * next * next;
    if (!grad) continue;
    double before = k > 0 ? x[k] - x[k - 1] - 1 : 0;
    grad[k] = 2 * (k + 1) * own - 6 * next + 6 * before;
  }
  return DJ_OK;
}

static djStatus chainProduct(void* user, double* out, const double* x, const double* v) {
  Seen* s = user;
  (void)x;
  s->products++;
  for (int k = 0; k < N; k++) {
    double next = k + 1 < N ? v[k + 1] - v[k] : 0, before = k > 0 ? v[k] - v[k - 1] : 0;
    out[k] = 2 * (k + 1) * v[k] - 6 * next + 6 * before;
  }
  return DJ_OK;
}

static djOptimizer newton(void) {
  djOptimizer o = dj_defaultOptimizer();
  o.type = "newton_cg";
  o.radius = 100;
  o.gradient_tolerance = 1e-9;
  return o;
}

// A quadratic function takes few iterations, and few more products than it has entries in each.
static void testQuadratic(void) {
  Seen s = {0};
  double x[N] = {0};
  djOptimizer o = newton();
  o.products = 2 * N;
  djOptimizeProblem p = {.n = N, .objective = chain, .product = chainProduct, .user = &s};
  djOptimizeResult r = djt_optimize(x, &p, &o);
  for (int k = 0; k < N; k++) assert_true(fabs(x[k] - k) < 1e-8);
  print_message("quadratic: %d iterations, %d products\n", r.iterations, r.products);
  assert_true(r.iterations <= 12 && r.products == s.products && s.products <= 6 * N);
  o.products = 2; // of a step: more of these
  memset(x, 0, sizeof x);
  assert_true(dj_optimize(&r, x, &p, &o, NULL) >= 0);
  for (int k = 0; k < N; k++) assert_true(fabs(x[k] - k) < 1e-7);
  assert_true(r.products <= 2 * r.iterations + 2);
}

// Entries end at their bounds, and no point is beyond them, by differences too.
static void testBounds(void) {
  double lower[N], upper[N];
  for (int k = 0; k < N; k++) {
    lower[k] = k % 3 == 0 ? k + 0.5 : -100;
    upper[k] = k % 3 == 1 ? k - 0.5 : 100;
  }
  double best = INFINITY;
  for (int differs = 0; differs < 2; differs++) {
    Seen s = {.lower = lower, .upper = upper};
    double x[N] = {0};
    djOptimizer o = newton();
    djOptimizeProblem p = {.n = N,
                           .lower = lower,
                           .upper = upper,
                           .objective = chain,
                           .product = differs ? NULL : chainProduct,
                           .user = &s};
    djOptimizeResult r = djt_optimize(x, &p, &o);
    assert_false(s.outside);
    assert_true(r.gradient_norm < 1e-6 && r.iterations < 30);
    int held = 0;
    for (int k = 0; k < N; k++) held += x[k] == lower[k] || x[k] == upper[k];
    assert_true(held >= 6);
    if (differs) assert_true(fabs(r.loss - best) < 1e-9 * best);
    best = r.loss;
  }
}

// x^2 - y^2 + y^4 from near its saddle, where the Hessian says nothing of where to stop.
static djStatus saddle(void* user, double* loss, double* grad, const double* x) {
  ((Seen*)user)->evaluations++;
  double y2 = x[1] * x[1];
  *loss = x[0] * x[0] - y2 + y2 * y2;
  if (grad) {
    grad[0] = 2 * x[0];
    grad[1] = -2 * x[1] + 4 * x[1] * y2;
  }
  return DJ_OK;
}

static djStatus saddleProduct(void* user, double* out, const double* x, const double* v) {
  ((Seen*)user)->products++;
  out[0] = 2 * v[0];
  out[1] = (12 * x[1] * x[1] - 2) * v[1];
  return DJ_OK;
}

static void testSaddle(void) {
  Seen s = {0};
  double x[2] = {1, 1e-3};
  djOptimizer o = newton();
  o.radius = 0.3;
  djOptimizeProblem p = {.n = 2, .objective = saddle, .product = saddleProduct, .user = &s};
  djOptimizeResult r = djt_optimize(x, &p, &o);
  assert_true(fabs(x[0]) < 1e-9 && fabs(fabs(x[1]) - sqrt(0.5)) < 1e-9);
  assert_true(r.iterations < 20 && s.evaluations < 40);
}

// Products that fail leave steps along the gradient.
static djStatus noProduct(void* user, double* out, const double* x, const double* v) {
  (void)user, (void)out, (void)x, (void)v;
  return DJ_INVALID;
}

static void testNoProducts(void) {
  Seen s = {0};
  double x[2] = {1, 0.3};
  djOptimizer o = newton();
  o.radius = 0.3;
  djOptimizeProblem p = {.n = 2, .objective = saddle, .product = noProduct, .user = &s};
  djt_optimize(x, &p, &o);
  assert_true(fabs(x[0]) < 1e-4 && fabs(x[1] - sqrt(0.5)) < 1e-4);
}

// A pendulum of two links with a motor each swings its end to a place.
static const char pendulum[] =
    "{\"dijoco_model\":1,\"option\":{\"timestep\":0.02},\"bodies\":[{\"name\":\"world\"},"
    "{\"name\":\"a\",\"ipos\":[0,0,-0.2],\"mass\":1,\"inertia\":[0.02,0.02,0.002]},"
    "{\"name\":\"b\",\"parent\":\"a\",\"pos\":[0,0,-0.4],\"ipos\":[0,0,-0.2],\"mass\":1,"
    "\"inertia\":[0.02,0.02,0.002]}],"
    "\"joints\":[{\"name\":\"ja\",\"type\":\"hinge\",\"body\":\"a\",\"axis\":[0,1,0]},"
    "{\"name\":\"jb\",\"type\":\"hinge\",\"body\":\"b\",\"axis\":[0,1,0]}],"
    "\"sites\":[{\"name\":\"end\",\"body\":\"b\",\"pos\":[0,0,-0.4]}],"
    "\"actuators\":[{\"name\":\"ma\",\"joint\":\"ja\"},{\"name\":\"mb\",\"joint\":\"jb\"}]}";
static const char swing[] =
    "{\"scene\":\"s\",\"horizon\":30,\"loss\":[{\"type\":\"position\",\"site\":\"end\","
    "\"target\":[0.5,0,0.1],\"weight\":100},{\"type\":\"velocity\",\"body\":\"b\","
    "\"target\":[0,0,0]},{\"type\":\"effort\",\"weight\":1e-3}],"
    "\"variables\":[{\"name\":\"ctrl\",\"min\":-20,\"max\":20}]}";

static void testTask(void) {
  djOptimizeResult result[2];
  static const char* const type[] = {"newton_cg", "lbfgsb"};
  for (int k = 0; k < 2; k++) {
    DesignCase c;
    djt_openDesign(&c, pendulum, swing);
    double* x = calloc((size_t)c.d->n, sizeof *x);
    djError err = {""};
    djOptimizer o = dj_defaultOptimizer();
    o.type = type[k];
    o.radius = 1;
    o.gradient_tolerance = 1e-8;
    djt_failIf(djd_optimizeDesign(&result[k], x, c.d, &o, 1, NULL, NULL, &err) < 0, "%s", err.text);
    print_message("%s: %.8g after %d iterations, %d losses, %d products\n", type[k], result[k].loss,
                  result[k].iterations, result[k].evaluations, result[k].products);
    free(x);
    djt_closeDesign(&c);
  }
  assert_true(result[0].iterations <= result[1].iterations);
  assert_true(result[0].loss < 0.2 * result[1].loss && result[0].products > 0);
}

DJT_MAIN(testQuadratic, testBounds, testSaddle, testNoProducts, testTask)
