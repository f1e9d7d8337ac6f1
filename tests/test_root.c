// Newton's method for equations without an energy: on systems whose solutions are known. Those of
// smooth ones by few steps, those with kinks from many starts; what has no solution is said to have
// none.

#include "common/near.h"
#include "common/random.h"
#include "common/test.h"
#include "common/worst.h"

#include "solve/root.h"

enum { MOST = 6 };

// Residual of a point and its Jacobian (row-major).
typedef void (*System)(double* r, double* J, const double* x, int n);

typedef struct Problem {
  int n;
  System system;
  double x[MOST], next[MOST], J[MOST * MOST];
  double cap;
  int ntrial, naccept, ncall, fail_at;
} Problem;

static djStatus sizeAt(Problem* p, double* size, double* residual, const double* x) {
  if (++p->ncall == p->fail_at) return DJ_NO_MEMORY;
  p->system(residual, p->J, x, p->n);
  *size = 0;
  for (int i = 0; i < p->n; i++) *size += residual[i] * residual[i];
  return DJ_OK;
}

static djStatus evaluate(void* user, double* size, double* residual) {
  Problem* p = user;
  return sizeAt(p, size, residual, p->x);
}

// Gauss, with pivots.
static djStatus direction(void* user, double* step, const double* residual) {
  Problem* p = user;
  const int n = p->n;
  if (++p->ncall == p->fail_at) return DJ_NO_MEMORY;
  double A[MOST * (MOST + 1)];
  for (int i = 0; i < n; i++) {
    memcpy(A + i * (n + 1), p->J + i * n, (size_t)n * sizeof(double));
    A[i * (n + 1) + n] = -residual[i];
  }
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k; i < n; i++) {
      if (fabs(A[i * (n + 1) + k]) > fabs(A[best * (n + 1) + k])) best = i;
    }
    if (A[best * (n + 1) + k] == 0) return DJ_SINGULAR;
    for (int j = 0; j <= n; j++) {
      const double x = A[k * (n + 1) + j];
      A[k * (n + 1) + j] = A[best * (n + 1) + j];
      A[best * (n + 1) + j] = x;
    }
    for (int i = 0; i < n; i++) {
      if (i == k) continue;
      const double f = A[i * (n + 1) + k] / A[k * (n + 1) + k];
      for (int j = k; j <= n; j++) A[i * (n + 1) + j] -= f * A[k * (n + 1) + j];
    }
  }
  for (int i = 0; i < n; i++) step[i] = A[i * (n + 1) + n] / A[i * (n + 1) + i];
  return DJ_OK;
}

static djStatus cap(void* user, double* fraction, const double* step) {
  Problem* p = user;
  if (++p->ncall == p->fail_at) return DJ_NO_MEMORY;
  assert_true(isfinite(step[0]));
  *fraction = p->cap;
  return DJ_OK;
}

static djStatus trial(void* user, double* size, double* residual, const double* step,
                      double fraction) {
  Problem* p = user;
  assert_true(fraction > 0 && fraction <= p->cap);
  p->ntrial++;
  for (int i = 0; i < p->n; i++) p->next[i] = p->x[i] + fraction * step[i];
  return sizeAt(p, size, residual, p->next);
}

static void accept(void* user) {
  Problem* p = user;
  p->naccept++;
  memcpy(p->x, p->next, sizeof p->x);
}

static djStatus run(djNewtonResult* r, Problem* p, double tolerance, int refinement) {
  const djRootProblem root = {p->n, p, evaluate, direction, cap, trial, accept};
  const djRootOption option = {tolerance, 200, refinement};
  double residual[MOST], step[MOST];
  return dj_root(r, &root, &option, residual, step);
}

// ------------------------------------------ smooth ---------------------------------------------

// A turn by nearly 90 degrees: no part of it is the gradient of anything, and its symmetric part is
// not positive. One step.
static void turned(double* r, double* J, const double* x, int n) {
  (void)n;
  const double M[4] = {-0.1, -1, 1, -0.1};
  memcpy(J, M, sizeof M);
  for (int i = 0; i < 2; i++) r[i] = M[2 * i] * (x[0] - 3) + M[2 * i + 1] * (x[1] + 2);
}

static void testLinear(void) {
  Problem p = {.n = 2, .system = turned, .x = {10, 20}, .cap = 1};
  djNewtonResult r;
  assert_int_equal(run(&r, &p, 1e-9, 0), DJ_OK);
  djt_near(p.x[0], 3, 1e-14);
  djt_near(p.x[1], -2, 1e-14);
  assert_true(r.iterations <= 3 && r.decrement < 1e-9);
  // A part of each step: still there.
  p = (Problem){.n = 2, .system = turned, .x = {10, 20}, .cap = 0.5};
  assert_int_equal(run(&r, &p, 1e-9, 0), DJ_OK);
  djt_near(p.x[0], 3, 1e-8);
  assert_true(p.naccept > 20);
}

// asinh: whole steps lead from large x to larger ones; quadratic near its end.
static void bent(double* r, double* J, const double* x, int n) {
  for (int i = 0; i < n; i++) {
    const double y = x[i] + 0.3 * (i > 0 ? x[i - 1] : 0);
    r[i] = asinh(y);
    for (int j = 0; j < n; j++) J[i * n + j] = 0;
    J[i * n + i] = 1 / hypot(1, y);
    if (i > 0) J[i * n + i - 1] = 0.3 * J[i * n + i];
  }
}

static void testSearch(void) {
  Problem p = {.n = 3, .system = bent, .x = {20, -3, 8}, .cap = 1};
  djNewtonResult r;
  assert_int_equal(run(&r, &p, 1e-6, 0), DJ_OK);
  assert_true(p.ntrial > p.naccept);
  for (int i = 0; i < 3; i++) assert_true(fabs(p.x[i]) < 1e-9);
  // Further steps while the decrement falls, which it does to rounding.
  Problem finer = {.n = 3, .system = bent, .x = {20, -3, 8}, .cap = 1};
  djNewtonResult better;
  assert_int_equal(run(&better, &finer, 1e-2, 5), DJ_OK);
  assert_true(better.decrement < 1e-12);
  Problem coarse = {.n = 3, .system = bent, .x = {20, -3, 8}, .cap = 1};
  assert_int_equal(run(&r, &coarse, 1e-2, 0), DJ_OK);
  assert_true(r.iterations < better.iterations && r.decrement > better.decrement);
}

// ------------------------------------------ kinks ----------------------------------------------

// A body on a plane with friction by a stiff penalty, as an implicit step has it: x along, y down;
// from free motion to (5, 1). One-sided in y, and friction is between kt x and mu N. Unsymmetric.
static double mu, stiff;
static void rubbed(double* r, double* J, const double* x, int n) {
  (void)n;
  const double N = x[1] > 0 ? stiff * x[1] : 0, by = x[1] > 0 ? stiff : 0, k = 0.1 * stiff;
  const bool slip = fabs(k * x[0]) > mu * N;
  const double side = x[0] > 0 ? 1 : -1;
  r[0] = x[0] - 5 + (slip ? side * mu * N : k * x[0]);
  r[1] = x[1] - 1 + 0.3 * x[0] + N;
  J[0] = 1 + (slip ? 0 : k);
  J[1] = slip ? side * mu * by : 0;
  J[2] = 0.3;
  J[3] = 1 + by;
}

static void testKinks(void) {
  djRng rng = {1};
  for (int k = 0; k < 2000; k++) {
    double x[2];
    djt_uniforms(x, 2, &rng, -10, 10);
    mu = djt_uniform(&rng, 0, 1);
    stiff = pow(10, djt_uniform(&rng, 0, 6));
    Problem p = {.n = 2, .system = rubbed, .x = {x[0], x[1]}, .cap = 1};
    djNewtonResult r;
    if (run(&r, &p, 1e-8, 1) != DJ_OK) fail_msg("%d: mu %g stiffness %g", k, mu, stiff);
    double residual[2], J[4];
    rubbed(residual, J, p.x, 2);
    assert_true(hypot(residual[0], residual[1]) < 1e-6 * stiff);
    assert_true(r.decrement <= 1e-8);
  }
}

// Three such contacts of a body of six freedoms, in ways that are coupled.
static double normal[3][MOST], along[3][MOST], free_motion[MOST];
static void add(double* r, double* J, double f, const double* way, double by, const double* of) {
  for (int i = 0; i < MOST; i++) {
    r[i] += f * way[i];
    for (int j = 0; j < MOST; j++) J[i * MOST + j] += by * way[i] * of[j];
  }
}
static void crowded(double* r, double* J, const double* x, int n) {
  (void)n;
  memset(J, 0, MOST * MOST * sizeof(double));
  for (int i = 0; i < MOST; i++) {
    r[i] = x[i] - free_motion[i];
    J[i * MOST + i] = 1;
  }
  for (int c = 0; c < 3; c++) {
    const double y = djt_dot(normal[c], x, MOST), t = djt_dot(along[c], x, MOST), k = 0.1 * stiff;
    if (!(y > 0)) continue;
    add(r, J, stiff * y, normal[c], stiff, normal[c]);
    if (fabs(k * t) > mu * stiff * y) {
      const double side = t > 0 ? mu : -mu;
      add(r, J, side * stiff * y, along[c], side * stiff, normal[c]);
    } else
      add(r, J, k * t, along[c], k, along[c]);
  }
}

// Nearly all are solved: 997, and 963 where no step may rise.
static void testCrossing(void) {
  enum { N = 1000 };
  djRng rng = {5};
  int solved = 0;
  for (int k = 0; k < N; k++) {
    for (int c = 0; c < 3; c++) {
      djt_uniforms(normal[c], MOST, &rng, -1, 1);
      djt_uniforms(along[c], MOST, &rng, -1, 1);
    }
    djt_uniforms(free_motion, MOST, &rng, -1, 1);
    mu = djt_uniform(&rng, 0, 0.8);
    stiff = pow(10, djt_uniform(&rng, 0, 5));
    Problem p = {.n = MOST, .system = crowded, .cap = 1};
    djNewtonResult r;
    solved += run(&r, &p, 1e-8, 0) == DJ_OK;
  }
  assert_true(solved >= 990);
}

// ------------------------------------------ none -----------------------------------------------

static void jump(double* r, double* J, const double* x, int n) {
  (void)n;
  r[0] = x[0] + (x[0] > 0 ? 1 : -1);
  J[0] = 1;
}
static void square(double* r, double* J, const double* x, int n) {
  (void)n;
  r[0] = x[0] * x[0] + 1;
  J[0] = 2 * x[0];
}
static void nothing(double* r, double* J, const double* x, int n) {
  (void)n;
  r[0] = x[0] > 2 ? NAN : 1;
  J[0] = 0;
}

static void testNone(void) {
  const System system[] = {jump, square, nothing};
  for (int k = 0; k < 3; k++) {
    Problem p = {.n = 1, .system = system[k], .x = {1.7}, .cap = 1};
    djNewtonResult r;
    assert_int_equal(run(&r, &p, 1e-9, 1), DJ_NOT_CONVERGED);
    assert_true(isfinite(p.x[0]) && p.naccept <= 200);
  }
}

// Any call may fail.
static void testErrors(void) {
  for (int k = 1;; k++) {
    Problem p = {.n = 3, .system = bent, .x = {20, -3, 8}, .cap = 1, .fail_at = k};
    djNewtonResult r;
    const djStatus status = run(&r, &p, 1e-6, 0);
    assert_int_equal(status, p.ncall < k ? DJ_OK : DJ_NO_MEMORY);
    if (status == DJ_OK) break;
  }
}

DJT_MAIN(testLinear, testSearch, testKinks, testCrossing, testNone, testErrors)
