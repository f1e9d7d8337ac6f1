// What a step fixes of a pair of implicit surfaces, how far a motion may go, and derivatives by
// settings: spheres, for which all of it is known. Derivatives in general: test_kernel_derivatives,
// test_kernel_vjp.

#include "common/pair_case.h"
#include "common/test.h"
#include "contact/implicit/implicit_lag.h"
#include "contact/implicit/implicit_max_step.h"
#include "contact/implicit/implicit_query.h"
#include "contact/implicit/implicit_recovery.h"
#include "contact/implicit/implicit_vjp.h"
#include "shape/implicit_distance.h"

#define STEP 0.01

_Static_assert(sizeof(djSurfaceState) <= 520, "a pair's memory");

// Two spheres with radii 0.3 and 0.5 whose centres are apart by 0.8 + gap, along a direction.
static djVec3 spheres(PairCase* c, double gap, int law, double damping) {
  const double size[2][3] = {{0.3, 0.3, 0.3}, {0.5, 0.5, 0.5}};
  const djVec3 d = {0.6, 0, 0.8}, at = {1, 2, 3};
  Random r = {1};
  memset(c, 0, sizeof *c);
  for (int k = 0; k < 2; k++) {
    setGeom(&c->shape[k], DJ_SPHERE, size[k], 1, &r);
    const djVec3 p = dju_madd3(at, k * (0.8 + gap), d);
    c->now[k] = c->start[k] = c->rate[k] = poseOf(p, (djQuat){1, 0, 0, 0});
    c->ref[k] = p;
  }
  const djContactScale scale = {{1, 1}, {1, 1}, 1, 9.81, STEP, 1, 1};
  double given[DJ_MAX_OF_KERNEL];
  for (int i = 0; i < DJ_MAX_OF_KERNEL; i++) given[i] = -1;
  given[DJ_IMPLICIT_LAW] = law;
  given[DJ_IMPLICIT_STIFFNESS] = 100;
  given[DJ_IMPLICIT_SUPPORT] = 0.04;
  given[DJ_IMPLICIT_DAMPING] = damping;
  c->kernel = &dj_implicitSurface;
  assert_int_equal(dj_applyRules(c->setting, c->kernel, &scale, given, NULL), DJ_OK);
  fitCase(c);
  return d;
}

static djPairInput inputOf(PairCase* c) {
  djPairInput in = *pairInput(c);
  in.setting = c->setting;
  in.friction = 0.5;
  in.h = STEP;
  return in;
}

// Point, plane and load of the start; the depth where velocities count from.
static void testBegin(void) {
  for (int law = DJ_LAW_HERTZ; law <= DJ_LAW_BARRIER; law++) {
    const bool barrier = law == DJ_LAW_BARRIER;
    PairCase c;
    const double gap = barrier ? 0.02 : -0.01;
    const djVec3 d = spheres(&c, gap, law, 2);
    djSurfaceState s = {.load = 0};
    djPose apart[2] = {c.start[0], c.start[1]};
    apart[1].p = dju_madd3(apart[1].p, 0.07, d);
    djPairInput in = inputOf(&c);
    in.rate_b = &apart[1];
    assert_int_equal(dj_beginSurfaces(&s, &in), DJ_OK);
    const double load = barrier ? 100 * 36 / 0.04 : 100 * pow(0.01, 1.5);
    assert_true(fabs(s.load - load) <= 1e-10 * load);
    assert_true(fabs(s.depth + gap + 0.07) < 1e-13);
    // the common point divides the way between the centres as the radii do
    const djVec3 x = dju_madd3(c.start[0].p, 0.3 / 0.8 * (0.8 + gap), d);
    assert_true(dju_norm3(dju_sub3(s.point, x)) < 1e-12);
    assert_true(dju_norm3(dju_sub3(s.normal, d)) < 1e-12);
    djSurfaceLag lag;
    assert_true(dj_hasSurfaceLag(&s, &in));
    dj_openSurfaceLag(&lag, &s, &in);
    assert_true(lag.lagged.n == 2 && lag.lagged.na == 1 && !lag.lagged.half_space);
    assert_true(fabs(dju_dot3(s.normal, s.point) + lag.lagged.offset) < 1e-12);
    in.friction = 0;
    assert_false(dj_hasSurfaceLag(&s, &in));
    freeCase(&c);
  }
}

// What a lift follows from, at 0.2 of the support and deeper; its derivatives by differences.
static void testLift(void) {
  double setting[DJ_IMPLICIT_NSETTING] = {[DJ_IMPLICIT_SUPPORT] = 0.04};
  djSurfaceLift lift, more[4];
  dj_liftSurfaces(&lift, setting, -0.2 * 0.04);
  assert_true(lift.e == 0 && lift.by_depth == 0);
  dj_liftSurfaces(&lift, setting, 1e3);
  assert_true(fabs(lift.e - 1e3 - 0.1 * 0.04) < 1e-9);
  static const double part[] = {0.19, 0.15, 0.1, 0, -0.7, -30};
  for (int k = 0; k < 6; k++) {
    const double s = setting[DJ_IMPLICIT_SUPPORT], t = -part[k] * s, e = 1e-6 * s;
    dj_liftSurfaces(&lift, setting, t);
    const double g = part[k] + lift.e / s;
    assert_true(lift.e > 0 && g > 0.1 && g < 0.2);
    dj_liftSurfaces(&more[0], setting, t + e);
    dj_liftSurfaces(&more[1], setting, t - e);
    for (int i = 0; i < 2; i++) {
      setting[DJ_IMPLICIT_SUPPORT] = i ? s - e : s + e;
      dj_liftSurfaces(&more[2 + i], setting, t);
    }
    setting[DJ_IMPLICIT_SUPPORT] = s;
    const double got[2] = {lift.by_depth, lift.by_support};
    const double wanted[2] = {more[0].e - more[1].e, more[2].e - more[3].e};
    for (int i = 0; i < 2; i++) {
      assert_true(fabs(got[i] - wanted[i] / (2 * e)) < 1e-6 * (1 + fabs(got[i])));
    }
  }
}

// A pair that overlaps is lifted, its load bounded; without recovery it is refused. Other laws know
// nothing of that.
static void testOverlaps(void) {
  for (int law = DJ_LAW_HERTZ; law <= DJ_LAW_BARRIER; law++) {
    const bool barrier = law == DJ_LAW_BARRIER;
    PairCase c;
    spheres(&c, -0.1, law, 0);
    djSurfaceState s = {.load = 0}, refused = {.load = 0};
    djPairInput in = inputOf(&c);
    in.recover = true;
    in.force_cap = 7;
    assert_int_equal(dj_beginSurfaces(&s, &in), DJ_OK);
    assert_true((s.lift > 0) == barrier);
    if (barrier) {
      assert_true(s.lift > 0.1 + 0.1 * 0.04 && s.lift < 0.1 + 0.2 * 0.04);
      assert_true(s.load > 6.9 && s.load < 7 + 1e-9);
    }
    in.recover = false;
    assert_int_equal(dj_beginSurfaces(&refused, &in), barrier ? DJ_OVERLAP : DJ_OK);
    freeCase(&c);
  }
}

// Spheres out of reach have no load, but a depth.
static void testApart(void) {
  PairCase c;
  spheres(&c, 0.5, DJ_LAW_HERTZ, 1);
  djSurfaceState s = {.load = 0};
  const djPairInput in = inputOf(&c);
  assert_int_equal(dj_beginSurfaces(&s, &in), DJ_OK);
  assert_true(s.load == 0 && fabs(s.depth + 0.5) < 1e-13);
  freeCase(&c);
}

// Of surfaces that do not act the kernel tells a bound of the distance, which the gap is not, nor
// do the points of its gap lie further apart along the normal; with what inflates them.
static void testDistance(void) {
  static const int types[4] = {DJ_BOX, DJ_CYLINDER, DJ_ELLIPSOID, DJ_CAPSULE};
  const djContactScale scale = {{1, 1}, {1, 1}, 1, 9.81, STEP, 1, 1};
  double given[DJ_MAX_OF_KERNEL], least = 1;
  for (int i = 0; i < DJ_MAX_OF_KERNEL; i++) given[i] = -1;
  for (int i = 0; i < 60; i++) {
    PairCase c;
    Random r = {(uint64_t)i};
    randomPair(&c, &r, types[i % 4], types[i / 4 % 4], 1, 0.02, 1, 1);
    assert_int_equal(dj_applyRules(c.setting, &dj_implicitSurface, &scale, given, NULL), DJ_OK);
    c.kernel = &dj_implicitSurface;
    fitCase(&c);
    c.in.inflate = i % 3 == 0 ? 0 : i % 3 == 1 ? 0.05 : -0.05;
    setSurfaceGap(&c, 0.2);
    const djPairInput in = *pairInput(&c);
    djSurfaceState s = {.load = 0};
    djSurfacePair pair;
    djSurfaceTouch t;
    djImplicitTouch touch;
    djImplicitGap apart;
    assert_int_equal(dj_touchAt(&pair, &t, &s, &in, in.pose_a, in.pose_b), DJ_OK);
    assert_int_equal(dj_touchImplicit(&touch, NULL, &pair.a, &pair.b, &pair.place), DJ_OK);
    assert_int_equal(
        dj_distanceImplicit(&apart, NULL, &pair.a, &pair.b, &pair.place, pair.D, &touch), DJ_OK);
    const double distance = apart.delta - pair.inflate;
    djPairOutput out = {.twist_jac = NULL};
    djDistance d;
    const djGeomPair geoms = {
        .a = in.a, .b = in.b, .pose_a = in.pose_a, .pose_b = in.pose_b, .inflate = in.inflate};
    memset(&c.state, 0, sizeof c.state);
    assert_int_equal(dj_implicitSurface.eval(&out, (djPairState*)(void*)&c.state, &in, 0), DJ_OK);
    assert_int_equal(dj_implicitSurface.gap(&d, NULL, &geoms), DJ_OK);
    const double planes = dju_dot3(d.normal, dju_sub3(d.point_b, d.point_a));
    assert_true(!out.active && fabs(d.gap - 0.2) < 1e-9);
    assert_true(out.gap < distance + 1e-9 && planes < distance + 1e-9);
    assert_true(out.gap <= planes + 1e-9);
    least = fmin(least, distance / d.gap);
    freeCase(&c);
  }
  assert_true(least < 0.9); // or nothing is told
}

// Towards each other by a quarter of gap, support and the thinner one's thickness; along each other
// as far as one likes.
static void testMaxStep(void) {
  PairCase c;
  const djVec3 d = spheres(&c, 0.1, DJ_LAW_BARRIER, 0), side = {-0.8, 0, 0.6};
  const double limit = 0.25 * (0.1 + 0.04 + 2 * 0.3);
  const djPairInput in = inputOf(&c);
  const djGeomPair pair = {
      .a = in.a, .b = in.b, .pose_a = in.pose_a, .pose_b = in.pose_b, .scratch = in.scratch};
  assert_true(fabs(dj_surfaceRoom(c.setting, in.a, in.b) - 0.64) < 1e-14);
  for (int away = 0; away < 3; away++) {
    djPose trial = c.now[0];
    trial.p = dju_madd3(trial.p, away == 1 ? -3 : 3, away == 2 ? side : d);
    const djPairMotion motion = {&trial, &c.now[1], c.setting, 3};
    double factor = 1, gap = 0;
    assert_int_equal(dj_surfaceMaxStep(&factor, &gap, &pair, &motion), DJ_OK);
    assert_true(fabs(gap - 0.1) < 1e-12);
    assert_true(fabs(factor - (away == 0 ? limit / 3 : 1)) < 1e-12);
  }
  freeCase(&c);
}

// The gradient is proportional to the stiffness; damping's derivative at zero is upward.
static void testSettings(void) {
  PairCase c;
  const djVec3 d = spheres(&c, -0.01, DJ_LAW_HERTZ, 0);
  c.rate[1].p = dju_madd3(c.start[1].p, 0.005, d);
  c.apart = true;
  djPairInput in = inputOf(&c);
  in.friction = 0;
  in.rate_a = &c.rate[0];
  in.rate_b = &c.rate[1];
  djPairOutput out = {.twist_jac = NULL};
  djSurfaceState s;
  assert_int_equal(dj_beginPair(c.kernel, (djPairState*)(void*)&s, &in), DJ_OK);
  assert_int_equal(c.kernel->eval(&out, (djPairState*)(void*)&s, &in, DJ_EVAL_GRADIENT), DJ_OK);
  double lambda[12], along = 0;
  for (int i = 0; i < 12; i++) {
    lambda[i] = sin(i + 1.0);
    along += lambda[i] * out.gradient[i];
  }
  double memory[2][64] = {{0}};
  djShapeGrad shape[2] = {{.radius = 0}, {.radius = 0}};
  for (int k = 0; k < 2; k++) {
    for (int j = 0; j < 3; j++) shape[k].vert[j] = memory[k] + 8 * j;
  }
  djPairGrad grad = {.a = &shape[0], .b = &shape[1]};
  djSurfacePair pair;
  djSurfaceTouch touch;
  djImplicitForce force;
  assert_int_equal(dj_touchAt(&pair, &touch, &s, &in, in.pose_a, in.pose_b), DJ_OK);
  dj_implicitForce(&force, in.setting, touch.depth, s.depth, in.h);
  assert_int_equal(dj_surfaceVjp(&grad, &s, &in, &pair, &touch, &force, lambda), DJ_OK);
  assert_true(fabs(grad.setting[DJ_IMPLICIT_STIFFNESS] - along / 100) < 1e-13 * fabs(along));
  const double speed = 0.005 / STEP; // of approach
  assert_true(fabs(grad.setting[DJ_IMPLICIT_DAMPING] - along * speed) < 1e-10 * fabs(along));
  assert_true(fabs(grad.setting[DJ_IMPLICIT_EXPONENT] - along * log(0.01)) < 1e-9 * fabs(along));
  freeCase(&c);
}

DJT_MAIN(testBegin, testLift, testOverlaps, testDistance, testApart, testMaxStep, testSettings)
