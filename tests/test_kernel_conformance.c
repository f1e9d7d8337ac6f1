// What every contact kernel must hold, run over every row of the kernel table (here with those of
// the tests, tests/kernels) and all pairs of shapes that it takes: action = reaction, invariance
// under rigid motions and exchange of the bodies, determinism, warm starts that change nothing, bad
// input. Derivatives: test_kernel_derivatives.c, smoothness: test_kernel_smoothness.c.

#include "common/kernel_case.h"
#include "common/test.h"

// ------------------------------------------ physics --------------------------------------------

// Force on a + force on b = 0, and so for torques about one point.
static void checkReaction(const djKernel* k, Random* r, int type_a, int type_b) {
  for (int i = 0; i < 40; i++) {
    PairCase c;
    movingPair(&c, k, r, type_a, type_b, somePart(r, 0.1, 0.98));
    c.friction = 0;   // friction's arms differ by the motion since the start
    c.in.recover = i % 2;
    djPairOutput out;
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_GRADIENT);
    if (!out.active) {
      freeCase(&c);
      continue;
    }
    djVec3 fa = dju_load3(out.gradient + 3), fb = dju_load3(out.gradient + 9);
    djVec3 ta = dju_add3(dju_load3(out.gradient), dju_cross3(c.ref[0], fa));
    djVec3 tb = dju_add3(dju_load3(out.gradient + 6), dju_cross3(c.ref[1], fb));
    double f = dju_norm3(fa), arm = 3 * c.size;
    assert_true(f > 0);
    assert_true(dju_norm3(dju_add3(fa, fb)) < 3e-11 * f);
    assert_true(dju_norm3(dju_add3(ta, tb)) < 3e-11 * f * arm);
    // with the start as the pose now, friction balances too
    c.friction = 0.5;
    memcpy(c.start, c.now, sizeof c.start);
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_GRADIENT);
    fa = dju_load3(out.gradient + 3), fb = dju_load3(out.gradient + 9);
    assert_true(dju_norm3(dju_add3(fa, fb)) < 3e-11 * dju_norm3(fa));
    freeCase(&c);
  }
}

static void testReaction(void) { forAllPairs(checkReaction, 2); }

// Gradient (6 of one body) turned by Q.
static void turned(double out[6], const double g[6], djMat3 Q) {
  dju_store3(out, dju_mulMV(Q, dju_load3(g)));
  dju_store3(out + 3, dju_mulMV(Q, dju_load3(g + 3)));
}

// Rounding of friction where the barrier hardly acts within a tail, which is far larger.
static double leastOf(const PairCase* c, double hessian) {
  return c->guide > 0 ? 1e-14 * hessian : 0;
}

static void checkRigidMotion(const djKernel* k, Random* r, int type_a, int type_b) {
  for (int i = 0; i < 20; i++) {
    PairCase c;
    movingPair(&c, k, r, type_a, type_b, somePart(r, -0.5, 0.97));
    c.in.cone.friction2 = 0;   // tangents are by the world's axes
    c.in.cone.rolling[1] = c.in.cone.rolling[0];
    djPairOutput out, moved;
    double jac[4][144], by[4][144];   // Hessian, by start, rate, twist
    if (i % 2) setRates(&c, r);
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
    memcpy(jac[0], out.hessian, sizeof jac[0]);
    memcpy(jac[3], twist_jac, sizeof jac[3]);
    assert_int_equal(startCase(jac[1], jac[2], k, &c), DJ_OK);
    djVec3 shift = dju_scale3(5, randomUnit(r));
    djPose T = poseOf(shift, randomQuat(r));
    for (int b = 0; b < 2; b++) {
      c.now[b] = (djPose){dju_transform(&T, c.now[b].p), dju_mulMM(T.R, c.now[b].R)};
      c.start[b] = (djPose){dju_transform(&T, c.start[b].p), dju_mulMM(T.R, c.start[b].R)};
      c.rate[b] = (djPose){dju_transform(&T, c.rate[b].p), dju_mulMM(T.R, c.rate[b].R)};
      c.ref[b] = dju_transform(&T, c.ref[b]);
      double twist[6];
      turned(twist, c.twist[b], T.R);
      memcpy(c.twist[b], twist, sizeof twist);
    }
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&moved, k, &c, DJ_EVAL_HESSIAN);
    memcpy(by[0], moved.hessian, sizeof by[0]);
    memcpy(by[3], twist_jac, sizeof by[3]);
    assert_int_equal(startCase(by[1], by[2], k, &c), DJ_OK);
    assert_true(fabs(moved.value - out.value) <= 1e-10 * fabs(out.value));
    double g[12], v[12], Hv[12], Jv[12], e[6], scale = djt_largest(out.gradient, 12);
    turned(g, out.gradient, T.R);
    turned(g + 6, out.gradient + 6, T.R);
    assert_true(djt_furthest(g, moved.gradient, 12) <= 1e-9 * scale);
    // the Hessian and the others on one direction
    for (int j = 0; j < 12; j++) v[j] = uniform(r, -1, 1);
    double w[12];
    turned(w, v, T.R);
    turned(w + 6, v + 6, T.R);
    double least = leastOf(&c, djt_largest(jac[0], 144));
    for (int m = 0; m < 4; m++) {
      const double *A = jac[m], *B = by[m];
      for (int a = 0; a < 12; a++) {
        Hv[a] = Jv[a] = 0;
        for (int b = 0; b < 12; b++) {
          Hv[a] += A[12 * a + b] * v[b];
          Jv[a] += B[12 * a + b] * w[b];
        }
      }
      for (int b = 0; b < 2; b++) {
        turned(e, Hv + 6 * b, T.R);
        assert_true(djt_furthest(e, Jv + 6 * b, 6) <= 1e-8 * djt_largest(A, 144) + least);
      }
    }
    freeCase(&c);
  }
}

static void testRigidMotion(void) { forAllPairs(checkRigidMotion, 3); }

static void exchange(PairCase* c) {
  TestShape t = c->shape[0];
  c->shape[0] = c->shape[1];
  c->shape[1] = t;
  double twist[6];
  memcpy(twist, c->twist[0], sizeof twist);
  memcpy(c->twist[0], c->twist[1], sizeof twist);
  memcpy(c->twist[1], twist, sizeof twist);
  for (int m = 0; m < 3; m++) {
    djPose* T = m == 0 ? c->now : m == 1 ? c->start : c->rate;
    djPose p = T[0];
    T[0] = T[1];
    T[1] = p;
  }
  djVec3 ref = c->ref[0];
  c->ref[0] = c->ref[1];
  c->ref[1] = ref;
}

static void checkExchange(const djKernel* k, Random* r, int type_a, int type_b) {
  if (!k->takes(type_b, type_a)) return;
  for (int i = 0; i < 20; i++) {
    PairCase c;
    movingPair(&c, k, r, type_a, type_b, somePart(r, -0.5, 0.97));
    djPairOutput out, other;
    double jac[3][144], by[3][144];   // by start, rate, twist
    if (i % 2) setRates(&c, r);
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
    memcpy(jac[2], twist_jac, sizeof jac[2]);
    assert_int_equal(startCase(jac[0], jac[1], k, &c), DJ_OK);
    exchange(&c);
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&other, k, &c, DJ_EVAL_HESSIAN);
    memcpy(by[2], twist_jac, sizeof by[2]);
    assert_int_equal(startCase(by[0], by[1], k, &c), DJ_OK);
    assert_true(fabs(other.value - out.value) <= 1e-10 * fabs(out.value));
    double g = djt_largest(out.gradient, 12), H = djt_largest(out.hessian, 144);
    double least = leastOf(&c, H);
    for (int a = 0; a < 12; a++) {
      assert_true(fabs(out.gradient[a] - other.gradient[(a + 6) % 12]) <= 1e-9 * g);
      for (int b = 0; b < 12; b++) {
        int at = 12 * ((a + 6) % 12) + (b + 6) % 12;
        assert_true(fabs(out.hessian[12 * a + b] - other.hessian[at]) <= 1e-8 * H);
        for (int m = 0; m < 3; m++) {
          double error = fabs(jac[m][12 * a + b] - by[m][at]);
          assert_true(error <= 1e-8 * djt_largest(jac[m], 144) + least);
        }
      }
    }
    freeCase(&c);
  }
}

static void testExchange(void) { forAllPairs(checkExchange, 4); }

// ------------------------------------------ states ---------------------------------------------

// The same calls give the same bits; a state that has seen other poses gives the same to rounding.
static void checkStates(const djKernel* k, Random* r, int type_a, int type_b) {
  for (int i = 0; i < 20; i++) {
    PairCase c;
    movingPair(&c, k, r, type_a, type_b, somePart(r, -0.5, 0.97));
    djPairOutput out, again;
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&again, k, &c, DJ_EVAL_HESSIAN);
    assert_memory_equal(out.gradient, again.gradient, sizeof out.gradient);
    assert_memory_equal(out.hessian, again.hessian, sizeof out.hessian);
    assert_true(out.value == again.value);
    double worst = 0, g = djt_largest(out.gradient, 12), H = djt_largest(out.hessian, 144);
    djPose now[2] = {c.now[0], c.now[1]};
    for (int m = 0; m < 10; m++) {
      double xi[12], size = logUniform(r, 1e-8, 0.3);
      for (int j = 0; j < 12; j++) xi[j] = size * uniform(r, -1, 1);
      for (int b = 0; b < 2; b++) c.now[b] = twistPose(&now[b], c.ref[b], xi + 6 * b);
      evalCase(&again, k, &c, m % 3);
      memcpy(c.now, now, sizeof now);
      evalCase(&again, k, &c, DJ_EVAL_HESSIAN);
      assert_true(fabs(out.value - again.value) <= 1e-10 * fabs(out.value));
      worst = djt_worst(worst, djt_furthest(out.gradient, again.gradient, 12) / g);
      assert_true(djt_furthest(out.hessian, again.hessian, 144) <= 1e-8 * H);
    }
    assert_true(worst < 1e-9);
    freeCase(&c);
  }
}

static void testStates(void) { forAllPairs(checkStates, 5); }

// Lesser flags give the same numbers; inactive pairs give zeros; `active` tells the truth.
static void checkFlags(const djKernel* k, Random* r, int type_a, int type_b) {
  for (int i = 0; i < 10; i++) {
    PairCase c;
    movingPair(&c, k, r, type_a, type_b, somePart(r, 0.3, 0.9));
    djPairOutput full, less, major;
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&full, k, &c, DJ_EVAL_HESSIAN);
    assert_true(full.active && (full.value > 0 || c.decay > 0 || !traitsOf(k, &c).energy));
    evalCase(&less, k, &c, DJ_EVAL_GRADIENT);
    assert_true(fabs(less.value - full.value) <= 1e-11 * fabs(full.value));
    assert_true(djt_furthest(less.gradient, full.gradient, 12) <=
                1e-9 * djt_largest(full.gradient, 12));
    evalCase(&less, k, &c, 0);
    assert_true(fabs(less.value - full.value) <= 1e-11 * fabs(full.value));
    // the majorizer is no less than the exact Hessian in any direction
    evalCase(&major, k, &c, DJ_EVAL_MAJORIZER);
    for (int m = 0; m < 10 && traitsOf(k, &c).energy; m++) {
      double v[12], sum = 0;
      for (int j = 0; j < 12; j++) v[j] = uniform(r, -1, 1);
      for (int j = 0; j < 144; j++) {
        sum += (major.hessian[j] - full.hessian[j]) * v[j / 12] * v[j % 12];
      }
      assert_true(sum >= -1e-9 * djt_largest(major.hessian, 144));
    }
    for (int j = 0; j < 144 && traitsOf(k, &c).symmetric; j++) {
      assert_true(fabs(full.hessian[j] - full.hessian[j % 12 * 12 + j / 12]) <=
                  1e-14 * djt_largest(full.hessian, 144));
    }
    // apart
    double range = rangeOf(k, &c);
    if (!(range < INFINITY) || c.guide > 0 || k->everywhere) {
      freeCase(&c);
      continue;
    }
    setGap(&c, 1.01 * range + 1e-6);
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&full, k, &c, DJ_EVAL_HESSIAN);
    assert_false(full.active);
    assert_true(full.value == 0 && djt_largest(full.gradient, 12) == 0 &&
                djt_largest(full.hessian, 144) == 0);
    assert_true(full.gap > 0 && full.gap <= 1.0100001 * range + 1.01e-6);
    double jac[144], rate_jac[144];
    assert_int_equal(startCase(jac, rate_jac, k, &c), DJ_OK);
    assert_true(djt_largest(jac, 144) == 0 && djt_largest(twist_jac, 144) == 0);
    freeCase(&c);
  }
}

static void testFlags(void) { forAllPairs(checkFlags, 6); }

// ------------------------------------------ bad input ------------------------------------------

static void expectInvalid(const djKernel* k, PairCase* c, const djPairInput* in) {
  djPairOutput out = {.twist_jac = NULL};
  djPairReport report;
  djPairGrad grad = {.a = NULL};
  double jac[144], lambda[12] = {0};
  if (k->begin) assert_true(k->begin(stateOf(c), in) < 0);
  assert_true(k->eval(&out, stateOf(c), in, DJ_EVAL_HESSIAN) < 0);
  if (k->start) assert_true(k->start(jac, NULL, stateOf(c), in) < 0);
  if (k->report) assert_true(k->report(&report, stateOf(c), in) < 0);
  if (k->vjp) assert_true(k->vjp(&grad, stateOf(c), in, lambda) < 0);
}

#define BAD(change)            \
  do {                         \
    in = good;                 \
    change;                    \
    expectInvalid(k, &c, &in); \
  } while (0)

// Rules alone look at factors. A default that is a parameter has one, and it comes before.
static bool isFactor(const djKernel* k, int row) {
  bool factor = false;
  for (int i = 0; i < k->settings->n; i++) {
    factor |= k->settings->rule[i].factor == row + 1;
    bool scales = k->settings->row[i].automatic && k->settings->rule[i].param.name;
    assert_true(!scales || (k->settings->rule[i].factor > 0 && k->settings->rule[i].factor <= i));
  }
  return factor;
}

static void checkBadSettings(const djKernel* k, Random* r, int type_a, int type_b) {
  PairCase c;
  movingPair(&c, k, r, type_a, type_b, 0.5);
  djPairInput good = *pairInput(&c), in;
  double setting[DJ_MAX_OF_KERNEL];
  BAD(in.setting = NULL);
  in = good;
  in.setting = setting;
  for (int i = 0; i < k->settings->n; i++) {
    const djSetting* row = &k->settings->row[i];
    // Friction checks its own; choices that there are not mean the last.
    if (row->kind != DJ_SETTING_REAL || row->per_geom || isFactor(k, i)) continue;
    if (k == &dj_separatingPlane && i == DJ_PLANE_FRICTION_EPS) continue;
    bool zero = row->zero || (k == &dj_separatingPlane && i == DJ_PLANE_STIFFNESS);
    const double wrong[] = {NAN, -1, -INFINITY, zero ? NAN : 0, row->below > 0 ? row->below : NAN};
    for (int m = 0; m < 5; m++) {
      memcpy(setting, c.setting, sizeof setting);
      setting[i] = wrong[m];
      expectInvalid(k, &c, &in);
    }
  }
  freeCase(&c);
}

static void checkBadInput(const djKernel* k, Random* r, int type_a, int type_b) {
  PairCase c;
  movingPair(&c, k, r, type_a, type_b, 0.5);
  djPairInput good = *pairInput(&c), in;
  djShape shape = c.shape[0].shape;
  djPose pose = c.now[0];
  expectInvalid(k, &c, NULL);
  BAD(in.a = NULL);
  BAD(in.b = NULL);
  BAD((in.pose_a = NULL, in.start_a = NULL));
  BAD((in.pose_b = NULL, in.start_b = NULL));
  BAD(in.inflate = NAN);
  if (k == &dj_separatingPlane) {
    BAD(in.rate_a = NULL);
    BAD(in.rate_b = NULL);
    BAD(in.scratch = NULL);
    BAD(in.nscratch = 0);
    BAD(in.nscratch = 8);
  }
  shape.nvert = 0;
  BAD(in.a = &shape);
  shape = c.shape[0].shape;
  shape.npad = shape.nvert - 1;
  BAD(in.a = &shape);
  pose.p.x = NAN;
  BAD((in.pose_a = &pose, in.start_a = &pose));
  pose = c.now[0];
  pose.R.m[4] = INFINITY;
  BAD((in.pose_b = &pose, in.start_b = &pose));
  freeCase(&c);
}
#undef BAD

static void testBadInput(void) {
  forAllPairs(checkBadInput, 11);
  forAllPairs(checkBadSettings, 12);
  assert_null(dj_kernel(DJ_CONTACT_NONE));
  assert_null(dj_kernel(dj_kernelCount()));
}

DJT_MAIN(testReaction, testRigidMotion, testExchange, testStates, testFlags, testBadInput)
