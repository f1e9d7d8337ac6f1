// Laws of implicit surfaces: the force is the derivative of the energy, its own derivatives by
// depth, start and settings, damping that never pulls and is Hunt and Crossley's while bodies
// approach, the barrier's rise to infinity.

#include "common/random.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/implicit/implicit_law.h"

enum { H = DJ_LAW_HERTZ, B = DJ_LAW_BARRIER };
#define STEP 0.01

typedef struct Case {
  double setting[DJ_IMPLICIT_NSETTING];
  double depth, start;
} Case;

// A depth at which the law acts, and a start from which it comes at some speed, either way.
static Case randomCase(djRng* rng, int law, double damping) {
  double u[6];
  djt_uniforms(u, 6, rng, 0, 1);
  const double support = 0.1 + 0.2 * u[1];
  const double depth = law == B ? -support * (0.1 + 0.8 * u[3]) : 0.01 + 0.5 * u[3];
  const double approach = (6 * u[4] - 3) * STEP / (damping > 0 ? damping : 1);
  return (Case){.setting = {[DJ_IMPLICIT_LAW] = law,
                            [DJ_IMPLICIT_STIFFNESS_SCALE] = 1,
                            [DJ_IMPLICIT_EXPONENT] = 1 + 3 * u[0],
                            [DJ_IMPLICIT_SUPPORT_SCALE] = 1,
                            [DJ_IMPLICIT_SUPPORT] = support,
                            [DJ_IMPLICIT_STIFFNESS] = 1 + 4 * u[2],
                            [DJ_IMPLICIT_DAMPING] = damping,
                            [DJ_IMPLICIT_FRICTION_EPS] = 1},
                .depth = depth,
                .start = depth - approach};
}

static djImplicitForce at(const Case* c) {
  djImplicitForce f;
  dj_implicitForce(&f, c->setting, c->depth, c->start, STEP);
  return f;
}

// Central difference of value and force by the number at x.
static void slope(double out[2], Case* c, double* x, double e) {
  const double base = *x;
  djImplicitForce f[4];
  for (int k = 0; k < 4; k++) {
    *x = base + e * (k < 2 ? 2 * k - 1 : 0.5 * (2 * k - 5));
    f[k] = at(c);
  }
  *x = base;
  const double v[2] = {(f[1].value - f[0].value) / (2 * e), (f[3].value - f[2].value) / e};
  const double g[2] = {(f[1].f - f[0].f) / (2 * e), (f[3].f - f[2].f) / e};
  out[0] = (4 * v[1] - v[0]) / 3;
  out[1] = (4 * g[1] - g[0]) / 3;
}

// phi's second derivative jumps at both ends of its square part: differences across are worse.
static bool isNearKink(const Case* c, double e) {
  const double damping = c->setting[DJ_IMPLICIT_DAMPING];
  const double y = damping / STEP * (c->depth - c->start), far = 4 * e * damping / STEP + 1e-6;
  return damping > 0 && (fabs(y + 0.5) < far || fabs(y + 1.5) < far);
}

static void testDerivatives(void) {
  djRng rng = {3};
  for (int law = H; law <= B; law++) {
    int some = 0;
    for (int i = 0; i < 400; i++) {
      const double damping = djt_uniform(&rng, 0.5, 20);
      Case c = randomCase(&rng, law, i % 2 ? damping : 0);
      const djImplicitForce f = at(&c);
      double by[2];
      const double e = 1e-4 * fabs(c.depth);
      if (isNearKink(&c, e)) continue;
      some++;
      const double scale = fabs(f.f) + 1e-3, second = fabs(f.by_depth) + scale / fabs(c.depth);
      slope(by, &c, &c.depth, e);
      assert_true(fabs(by[0] - f.f) <= 1e-8 * second * fabs(c.depth));
      assert_true(fabs(by[1] - f.by_depth) <= 1e-7 * second);
      slope(by, &c, &c.start, e);
      assert_true(fabs(by[1] - f.by_start) <= 1e-7 * second);
      for (int k = 0; k < DJ_IMPLICIT_NSETTING; k++) {
        if (k == DJ_IMPLICIT_LAW || c.setting[k] == 0) continue;
        slope(by, &c, &c.setting[k], 1e-4 * c.setting[k]);
        if (isNearKink(&c, 1e-4)) continue;
        const double unit = scale / c.setting[k] + fabs(f.by_setting[k]);
        assert_true(fabs(by[1] - f.by_setting[k]) <= 1e-6 * unit);
      }
    }
    assert_true(some > 300);
  }
}

// Approaching, and going apart slowly: f (1 + c v). Apart fast: less, to nothing, never less.
static void testDamping(void) {
  djRng rng = {5};
  for (int i = 0; i < 200; i++) {
    Case c = randomCase(&rng, i % 3, 4), plain = c;
    plain.setting[DJ_IMPLICIT_DAMPING] = 0;
    const double f = at(&plain).f;
    for (int k = -40; k <= 40; k++) {
      const double y = 0.1 * k;
      c.start = c.depth - y * STEP / 4;
      const djImplicitForce d = at(&c);
      assert_true(d.f >= 0 && d.by_depth >= 0 && d.by_start <= 0);
      if (k > -5) assert_true(fabs(d.f - f * (1 + y)) <= 1e-12 * f * (2 + fabs(y)));
      if (k < -15) assert_true(d.f == 0);
      if (k > -15 && k < -5) assert_true(d.f > f * (1 + y) && d.f < f);
    }
  }
}

// The energy of a path through the kinks of phi is the integral of the force.
static void testEnergy(void) {
  djRng rng = {7};
  for (int i = 0; i < 60; i++) {
    Case c = randomCase(&rng, i % 3, 10);
    const double low = i % 3 == B ? -0.95 * c.setting[DJ_IMPLICIT_SUPPORT] : 1e-3;
    const double high = c.depth, n = 4000;
    double sum = 0, most = 0;
    if (high <= low) continue;
    for (int k = 0; k < n; k++) {   // Simpson's rule
      double f[3];
      for (int j = 0; j < 3; j++) {
        c.depth = low + (high - low) * (k + 0.5 * j) / n;
        f[j] = at(&c).f;
        most = fmax(most, f[j]);
      }
      sum += (high - low) / n * (f[0] + 4 * f[1] + f[2]) / 6;
    }
    c.depth = low;
    const double first = at(&c).value;
    c.depth = high;
    assert_true(fabs(at(&c).value - first - sum) <= 1e-7 * most * (high - low));
  }
}

static void testBarrier(void) {
  Case c = {.setting = {[DJ_IMPLICIT_LAW] = B,
                        [DJ_IMPLICIT_SUPPORT] = 0.1,
                        [DJ_IMPLICIT_STIFFNESS] = 2,
                        [DJ_IMPLICIT_EXPONENT] = 1.5}};
  assert_true(dj_lawReach(c.setting) == -0.1);
  c.depth = -0.05; // (1 - x)^4/x^5 and its slope at 1/2: 2, -36
  assert_true(fabs(at(&c).value - 2 * 2) < 1e-13 && fabs(at(&c).f - 2 * 36 / 0.1) < 1e-10);
  c.depth = 0;
  assert_true(at(&c).value == INFINITY && at(&c).f == 0);
  c.depth = 0.01;
  assert_true(at(&c).value == INFINITY);
  c.setting[DJ_IMPLICIT_LAW] = H;
  assert_true(dj_lawReach(c.setting) == 0);
  assert_true(fabs(at(&c).f - 2 * pow(0.01, 1.5)) < 1e-15);
}

DJT_MAIN(testDerivatives, testDamping, testEnergy, testBarrier)
