// Paths around spheres and cylinders and through them: derivatives by ends and radius against
// differences, and how they set in. Values: test_mj_wrap.c.

#include "model/wrap.h"

#include "common/near.h"
#include "common/random.h"
#include "common/random_vec.h"
#include "common/test.h"
#include "common/worst.h"
#include "math/block6.h"

static djWrapShape randomShape(djRng* rng, int trial) {
  double axis[3];
  djt_unitVector(axis, rng);
  djWrapShape s = {.centre = djt_vec3(rng, 0.2),
                   .axis = dju_load3(axis),
                   .radius = djt_uniform(rng, 0.1, 0.3),
                   .onset = trial % 3 ? 0.02 : 0,
                   .cylinder = trial % 2,
                   .sided = trial % 4 > 1};
  double reach = trial % 8 > 3 ? 0.4 : 3;
  s.side = dju_add3(s.centre, djt_vec3(rng, reach * s.radius));
  return s;
}

// x of 7: both ends and the radius.
static bool lengthAt(djWrapLength* l, djWrapShape s, const double x[7]) {
  s.radius = x[6];
  return dj_wrapLength(l, &s, dju_load3(x), dju_load3(x + 3), 2);
}

static void gradient(double g[7], const djWrapLength* l) {
  dju_store3(g, l->g[0]);
  dju_store3(g + 3, l->g[1]);
  g[6] = l->by_radius;
}

static double hessian(const djWrapLength* l, int i, int k) {
  double v[3];
  if (i < 6 && k < 6) return l->A[i / 3][k / 3].m[3 * (i % 3) + k % 3];
  if (i == 6 && k == 6) return NAN;
  int at = i < k ? i : k;
  dju_store3(v, l->g_by_radius[at / 3]);
  return v[at % 3];
}

// Errors of g and of its derivatives at x. False: differences of two widths disagree, as where a
// path sets in, or a derivative is large.
static bool checkAt(double worst[2], const djWrapShape* s, const double x[7]) {
  const double h = 1e-5;
  djWrapLength l, at;
  double g[7], error[2] = {0, 0};
  if (!lengthAt(&l, *s, x)) return false;
  gradient(g, &l);
  djWrapLength less;   // without second derivatives
  double g1[7];
  assert_true(dj_wrapLength(&less, s, dju_load3(x), dju_load3(x + 3), 1));
  gradient(g1, &less);
  djt_near(less.value, l.value, 1e-14);
  for (int k = 0; k < 7; k++) djt_near(g1[k], g[k], 1e-12);
  for (int i = 0; i < 36; i++) {
    if (fabs(hessian(&l, i / 6, i % 6)) > 100) return false;
  }
  for (int i = 0; i < 7; i++) {
    double d[2][8] = {{0}};   // of g and the value, by h and by 2 h
    for (int n = 0; n < 4; n++) {
      double y[7], by[7], step = h * (1 + n / 2), f = (n % 2 ? -0.5 : 0.5) / step;
      memcpy(y, x, sizeof y);
      y[i] += n % 2 ? -step : step;
      if (!lengthAt(&at, *s, y)) return false;
      gradient(by, &at);
      for (int k = 0; k < 7; k++) d[n / 2][k] += f * by[k];
      d[n / 2][7] += f * at.value;
    }
    for (int k = 0; k < 8; k++) {
      if (fabs(d[0][k] - d[1][k]) > 1e-5 * (1 + fabs(d[0][k]))) return false;
      double fd = (4 * d[0][k] - d[1][k]) / 3, want = k < 7 ? hessian(&l, i, k) : g[i];
      if (k == 6 && i == 6) continue;   // not told
      error[k < 7] = djt_worst(error[k < 7], fabs(fd - want) / (1 + fabs(want)));
    }
  }
  for (int k = 0; k < 2; k++) worst[k] = djt_worst(worst[k], error[k]);
  return true;
}

static void testDerivatives(void) {
  djRng rng = {81};
  double worst[2] = {0, 0};
  int seen[8] = {0};
  for (int trial = 0; trial < 12000; trial++) {
    djWrapShape s = randomShape(&rng, trial);
    double x[7];
    djt_uniforms(x, 6, &rng, -1, 1);
    x[6] = s.radius;
    seen[trial % 8] += checkAt(worst, &s, x);
  }
  print_message("around %d, %d; by sides %d, %d; through %d, %d: gradient %.1e, derivatives %.1e\n",
                seen[0] + seen[4], seen[1] + seen[5], seen[2], seen[3], seen[6], seen[7], worst[0],
                worst[1]);
  for (int k = 0; k < 8; k++) assert_true(seen[k] > 20);
  for (int k = 0; k < 2; k++) assert_true(worst[k] < 1e-7);
}

// ---- where a path sets in ----------------------------------------------------------------------

// Ends at distances 1 and .7 along x and the line at height y from the centre; lengths with two
// derivatives by y.
typedef struct Onset {
  double value, slope, curve;
} Onset;

static Onset onsetAt(djWrapShape s, double y) {
  djVec3 p0 = {-1, y, 0.1}, p1 = {0.7, y, -0.1}, u = {0, 1, 0};
  djWrapLength l;
  if (!dj_wrapLength(&l, &s, p0, p1, 2)) return (Onset){dju_norm3(dju_sub3(p1, p0)), 0, 0};
  djVec3 sum = dju_add3(l.g[0], l.g[1]), a = {0, 0, 0};
  for (int k = 0; k < 4; k++) a = dju_add3(a, dju_mulMV(l.A[k / 2][k % 2], u));
  return (Onset){l.value, dju_dot3(sum, u), dju_dot3(a, u)};
}

static void checkOnset(bool cylinder, bool through) {
  const double R = 0.2, w = 0.02;
  djWrapShape sharp = {.axis = {0, 0, 1}, .radius = R, .cylinder = cylinder, .sided = through};
  djWrapShape soft = sharp;
  soft.onset = w;
  double last = 0, sign = through ? 1 : -1, z = cylinder ? 0 : 0.1 * (1 - 2 / 1.7);
  double edge = sqrt(R * R - z * z), jump = 0, sharpest = 0, most = 0;
  for (int i = -20; i <= 400; i++) {   // steps of a hundredth of the band
    double y = edge + sign * (i + 0.5) * 0.01 * w * R;
    Onset a = onsetAt(sharp, y), b = onsetAt(soft, y);
    double inside = through ? y * y + z * z - R * R : R * R - y * y - z * z;
    if (inside < 0) assert_true(b.value == a.value && b.curve == 0);
    if (i > 110) {
      assert_true(fabs(b.value - a.value) < 1e-14 && fabs(b.slope - a.slope) < 1e-13);
      assert_true(fabs(b.curve - a.curve) < 1e-10);
    }
    if (i > -20) jump = fmax(jump, fabs(b.curve - last));
    last = b.curve;
    sharpest = fmax(sharpest, fabs(a.curve));
    most = fmax(most, fabs(b.value - a.value));
    assert_true(b.value >= dju_norm3((djVec3){1.7, 0, -0.2}) - 1e-15);
  }
  print_message("%s %s: curvature %.3g, its largest jump %.2g; length off by %.2g at most\n",
                through ? "through" : "around", cylinder ? "a cylinder" : "a sphere", sharpest,
                jump, most);
  assert_true(jump < 0.1 * sharpest && sharpest > 1);   // else it is as large
  assert_true(most < 0.5 * sharpest * w * w * R * R);
}

static void testOnset(void) {
  for (int k = 0; k < 4; k++) checkOnset(k % 2, k / 2);
}

// Where no plane is defined, ends at the surface, no room: finite, or straight.
static void testOdd(void) {
  djRng rng = {82};
  int wrapped = 0;
  for (int trial = 0; trial < 4000; trial++) {
    djWrapShape s = randomShape(&rng, trial);
    double sizes[] = {0, 1e-9, s.radius, s.radius * (1 + 1e-15), 1, 1e10};
    double u[3], t = sizes[djt_integer(&rng, 6)];
    djt_unitVector(u, &rng);
    djVec3 e = dju_load3(u), p0 = dju_madd3(s.centre, t, e);
    djVec3 p1 = dju_madd3(s.centre, (trial % 3 - 1) * sizes[djt_integer(&rng, 6)], e);
    if (trial % 5 == 0) s.radius = 0;
    if (trial % 7 == 0) s.side = dju_madd3(s.centre, trial % 2 ? 1 : 0.01, e);
    djWrapLength l;
    if (!dj_wrapLength(&l, &s, p0, p1, 2)) continue;
    wrapped++;
    assert_true(isfinite(l.value) && l.value >= 0 && isfinite(l.by_radius));
    for (int k = 0; k < 36; k++) assert_true(isfinite(hessian(&l, k / 6, k % 6)));
    double g[7];
    gradient(g, &l);
    for (int k = 0; k < 7; k++) assert_true(isfinite(g[k]));
  }
  print_message("%d odd paths\n", wrapped);
  assert_true(wrapped > 100);
}

DJT_MAIN(testDerivatives, testOnset, testOdd)
