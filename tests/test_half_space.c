// Vertices against a half space, by what a minimum is: its gradient vanishes as far as rounding
// lets it, wherever the search starts, and the derivatives that it hands on are those at the
// minimum. Sums are made here anew, in long double.

#include "common/pair_case.h"
#include "common/test.h"
#include "common/worst.h"
#include "math/barrier.h"
#include "contact/plane/half_space.h"

enum { MOST = 40, ROOM = MOST + DJU_LANES };

typedef struct Case {
  djHalfSpace space;
  double y[3][ROOM];
  djBarrier law;
} Case;

// n points whose lowest is at `least` above the surface, the others up to `spread` higher.
static void makeCase(Case* c, Random* r, int n, djBarrier law, double least,
                     double spread) {
  djVec3 N = randomUnit(r);
  double size = 2 * law.s / (1 - law.s);   // within which there is a force
  memset(c, 0, sizeof *c);
  c->law = law;
  c->space.n = n;
  c->space.k = size * uniform(r, -1, 1);
  dju_store3(c->space.normal, N);
  for (int i = 0; i < ROOM; i++) {
    djVec3 x = dju_scale3(size, randomUnit(r));
    double height = i == 0 ? least : least + spread * uniform(r, 0, 1);
    x = dju_madd3(x, height - c->space.k - dju_dot3(N, x), N);
    for (int k = 0; k < 3; k++) c->y[k][i] = i < n ? (&x.x)[k] : c->y[k][n - 1];
  }
  for (int k = 0; k < 3; k++) c->space.y[k] = c->y[k];
}

// The barrier by its definition, and its derivatives.
static void barrier(long double p[3], long double x, djBarrier law) {
  const long double s = law.s;
  p[0] = p[1] = p[2] = 0;
  if (x >= s) return;
  if (law.law == DJ_BARRIER_LOG) {
    const long double d = s - x, l = log1pl(-d / s), s3 = s * s * s;
    p[0] = -d * d * l / s3;
    p[1] = (2 * d * l - d * d / x) / s3;
    p[2] = (-2 * l + 4 * d / x + d * d / (x * x)) / s3;
    return;
  }
  long double a = x - s, x5 = x * x * x * x * x;
  p[0] = a * a * a * a / x5;
  p[1] = a * a * a * (5 * s - x) / (x5 * x);
  p[2] = a * a * (2 * x * x - 20 * s * x + 30 * s * s) / (x5 * x * x);
}

typedef struct Sums {
  long double value, g[2], h[3], moment[15];
} Sums;

static void sumUp(Sums* e, const Case* c, double t, double o) {
  long double p[3];
  memset(e, 0, sizeof *e);
  barrier(p, 1 - (long double)t, c->law);
  e->value = p[0];
  e->g[0] = -p[1];
  e->h[0] = p[2];
  barrier(p, -(long double)o, c->law);
  e->value += 4 * p[0];
  e->g[1] = -4 * p[1];
  e->h[2] = 4 * p[2];
  for (int i = 0; i < c->space.n; i++) {
    const long double y[4] = {c->y[0][i], c->y[1][i], c->y[2][i], 1};
    long double z = c->space.k;
    for (int k = 0; k < 3; k++) z += c->space.normal[k] * y[k];
    barrier(p, t * z + o, c->law);
    e->value += p[0];
    e->g[0] += p[1] * z;
    e->g[1] += p[1];
    e->h[0] += p[2] * z * z;
    e->h[1] += p[2] * z;
    e->h[2] += p[2];
    e->moment[0] += p[0];
    for (int k = 0; k < 4; k++) e->moment[1 + k] += p[1] * y[k];
    for (int k = 0, at = 5; k < 4; k++) {
      for (int j = k; j < 4; j++) e->moment[at++] += p[2] * y[k] * y[j];
    }
  }
}

static bool near(long double a, long double b, long double part, long double size) {
  return fabsl(a - b) <= part * size;
}

static void checkMinimum(const djHalfSolution* sol, const Case* c) {
  Sums e;
  sumUp(&e, c, sol->t, sol->o);
  assert_true(sol->t > 0 && sol->t < 1 && sol->o < 0);
  assert_true(near(sol->value, e.value, 1e-11, e.value));
  // Another step would lower the value by less than rounding shows.
  long double det = e.h[0] * e.h[2] - e.h[1] * e.h[1];
  long double down = (e.h[2] * e.g[0] * e.g[0] - 2 * e.h[1] * e.g[0] * e.g[1] +
                      e.h[0] * e.g[1] * e.g[1]) / det;
  assert_true(down >= 0 && down < 1e-21L * e.value);
  const long double inv[3] = {e.h[2] / det, -e.h[1] / det, e.h[0] / det};
  for (int k = 0; k < 3; k++) assert_true(near(sol->inv[k], inv[k], 1e-5, inv[0] + inv[2]));
  long double size[3] = {0, 0, 0};
  for (int k = 0; k < 15; k++) {
    int order = k < 1 ? 0 : k < 5 ? 1 : 2;
    size[order] = fmaxl(size[order], fabsl(e.moment[k]));
  }
  for (int k = 0; k < 15; k++) {
    int order = k < 1 ? 0 : k < 5 ? 1 : 2;
    assert_true(near(sol->m.sum[k], e.moment[k], 1e-6, size[order]));
  }
}

// From nowhere, from a plane at random, and from the minimum itself.
static void testMinimum(void) {
  Random r = {7};
  double z[ROOM];
  static const double supports[] = {1e-3, 0.02, 0.3, 0.7};
  int most = 0;
  for (int i = 0; i < 4000; i++) {
    Case c;
    const djBarrier law = {supports[i % 4], (djBarrierLaw)(i / 4 % DJ_NBARRIER)};
    double s = law.s, range = 2 * s / (1 - s);
    int n = 1 + below(&r, MOST);
    double least = range * logUniform(&r, 1e-3, 0.9);
    makeCase(&c, &r, n, law, least, range * logUniform(&r, 1e-3, 1e3));
    djHalfSolution cold = {0}, warm, again;
    assert_int_equal(dj_solveHalfSpace(&cold, &c.space, law, z, 60), DJ_PLANE_DONE);
    checkMinimum(&cold, &c);
    warm = cold;
    warm.t = uniform(&r, 0, 1);
    warm.o = -warm.t * cold.least * uniform(&r, 0, 1);
    assert_int_equal(dj_solveHalfSpace(&warm, &c.space, law, z, 60), DJ_PLANE_DONE);
    checkMinimum(&warm, &c);
    again = cold;
    assert_int_equal(dj_solveHalfSpace(&again, &c.space, law, z, 60), DJ_PLANE_DONE);
    checkMinimum(&again, &c);
    assert_true(again.iterations <= 1);
    if (cold.iterations > most) most = cold.iterations;
    if (warm.iterations > most) most = warm.iterations;
  }
  assert_true(most <= 15);   // steps are bounded by the way to the borders, and not just halved
}

// Heights from which on nothing acts, those below the surface, and too few steps.
static void testEnds(void) {
  Random r = {8};
  double z[ROOM];
  static const double supports[] = {1e-3, 0.02, 0.3, 0.7};
  for (int i = 0; i < 400; i++) {
    Case c;
    const djBarrier law = {supports[i % 4], (djBarrierLaw)(i / 4 % DJ_NBARRIER)};
    double s = law.s, range = 2 * s / (1 - s);
    int n = 1 + below(&r, MOST);
    djHalfSolution sol = {0};
    makeCase(&c, &r, n, law, range * (1 + 1e-9), range);
    assert_int_equal(dj_solveHalfSpace(&sol, &c.space, law, z, 60), DJ_PLANE_ZERO);
    assert_true(sol.value == 0 && fabs(sol.least - range) < 1e-8 * range);
    makeCase(&c, &r, n, law, range * 0.99, range);
    assert_int_equal(dj_solveHalfSpace(&sol, &c.space, law, z, 60), DJ_PLANE_DONE);
    assert_true(sol.value > 0);
    checkMinimum(&sol, &c);
    int steps = sol.iterations;
    assert_true(steps > 0);
    sol.t = sol.o = 0;
    makeCase(&c, &r, n, law, range * 0.1, range);
    assert_int_equal(dj_solveHalfSpace(&sol, &c.space, law, z, 60), DJ_PLANE_DONE);
    steps = sol.iterations;
    sol.t = sol.o = 0;
    djPlaneStatus status = dj_solveHalfSpace(&sol, &c.space, law, z, 1);
    if (steps > 2) assert_int_equal(status, DJ_PLANE_LOST);
    sol.t = sol.o = 0;
    assert_int_equal(dj_solveHalfSpace(&sol, &c.space, law, z, steps), DJ_PLANE_DONE);
    assert_int_equal(sol.iterations, steps);
    makeCase(&c, &r, n, law, -range * 1e-6, range);
    assert_int_equal(dj_solveHalfSpace(&sol, &c.space, law, z, 60), DJ_PLANE_LOST);
    assert_true(sol.least < 0 && sol.iterations == 0);
  }
}

// Where shapes all but leave each other's reach, energies drown in rounding: an end is found all
// the same, near where the centred plane is, and what is handed on belongs to it.
static void testAlmostApart(void) {
  Random r = {9};
  double z[ROOM];
  static const double supports[] = {1e-3, 0.02, 0.3, 0.7};
  int found = 0;
  for (int i = 0; i < 2000; i++) {
    Case c;
    const djBarrier law = {supports[i % 4], (djBarrierLaw)(i / 4 % DJ_NBARRIER)};
    double s = law.s, range = 2 * s / (1 - s), part = logUniform(&r, 1e-9, 1e-2);
    djHalfSolution sol = {0}, again;
    makeCase(&c, &r, 1 + below(&r, MOST), law, range * (1 - part), range);
    djPlaneStatus status = dj_solveHalfSpace(&sol, &c.space, law, z, 60);
    if (status == DJ_PLANE_ZERO) continue;
    assert_int_equal(status, DJ_PLANE_DONE);
    assert_true(sol.iterations <= 15);
    found++;
    Sums e;
    sumUp(&e, &c, sol.t, sol.o);
    long double det = e.h[0] * e.h[2] - e.h[1] * e.h[1];
    const long double inv[3] = {e.h[2] / det, -e.h[1] / det, e.h[0] / det};
    for (int k = 0; k < 3; k++) assert_true(near(sol.inv[k], inv[k], 1e-3, inv[0] + inv[2]));
    assert_true(near(sol.value, e.value, 1e-3, e.value));
    // Two barriers at least share what is missing.
    const int order = dj_barrierRows[law.law].order + 1;
    assert_true(sol.value <= 1.01 * (c.space.n + 4) * pow(2 * part, order) / s);
    again = sol;
    status = dj_solveHalfSpace(&again, &c.space, law, z, 60);
    assert_int_equal(status, DJ_PLANE_DONE);
    assert_true(again.value <= 1.001 * sol.value);
  }
  assert_true(found > 1000);
}

DJT_MAIN(testMinimum, testEnds, testAlmostApart)
