// What every contact kernel must hold, run over every row of the kernel table and all pairs of
// shapes that it supports: derivatives against differences (and wrong derivatives found out),
// action = reaction, invariance under rigid motions and exchange of the bodies, determinism, warm
// starts that change nothing, the declared smoothness, extreme poses and sizes, bad input.

#include "common/pair_case.h"
#include "common/worst.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const int types[] = {DJ_PLANE,    DJ_SPHERE, DJ_CAPSULE, DJ_BOX,
                            DJ_MESH, DJ_ELLIPSOID, DJ_CYLINDER};
enum { NTYPE = sizeof types / sizeof types[0] };

typedef void (*PairTest)(const djKernel* k, Random* r, int type_a, int type_b);

// Every row of the table, every pair of types.
static void forAllPairs(PairTest test, uint64_t seed) {
  for (int m = 0; m < DJ_NCONTACT; m++) {
    const djKernel* k = dj_kernel((djContactModel)m);
    assert_non_null(k);
    assert_true(k->state_size <= PAIR_STATE);
    int pairs = 0;
    for (int a = 0; a < NTYPE; a++) {
      for (int b = 0; b < NTYPE; b++) {
        if (!k->supports(types[a], types[b])) continue;
        Random r = {seed + 100 * (uint64_t)(NTYPE * a + b)};
        test(k, &r, types[a], types[b]);
        pairs++;
      }
    }
    assert_true(pairs > 0);
  }
}

// Repetitions of a long test: of pairs of curved shapes, which are many, a third.
static int some(int n, int type_a, int type_b) {
  bool curved = type_a == DJ_ELLIPSOID || type_a == DJ_CYLINDER || type_b == DJ_ELLIPSOID ||
                type_b == DJ_CYLINDER;
  return curved ? (n + 2) / 3 : n;
}

static double largest(const double* x, int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = djt_worst(worst, fabs(x[i]));
  return worst;
}

static double distance(const double* x, const double* y, int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = djt_worst(worst, fabs(x[i] - y[i]));
  return worst;
}

// Begin with the case's start poses on a new state.
static djStatus beginNew(const djKernel* k, PairCase* c) {
  memset(&c->state, 0, sizeof c->state);
  djPairInput in = *pairInput(c);
  in.pose_a = &c->start[0];
  in.pose_b = &c->start[1];
  return k->begin(stateOf(c), &in);
}

static void evalCase(djPairOutput* out, const djKernel* k, PairCase* c, int flags) {
  memset(out, 0xff, sizeof *out);
  assert_int_equal(k->eval(out, stateOf(c), pairInput(c), flags), DJ_OK);
}

// A pair with friction that has moved by part of its range since the start. part: gap / range.
static void movingPair(PairCase* c, Random* r, int type_a, int type_b, double part) {
  randomPair(c, r, type_a, type_b, 1, 0.02, 1, part);
  double xi[12], move = 0.005 * 0.02;
  for (int i = 0; i < 12; i++) xi[i] = move * uniform(r, -1, 1);
  for (int k = 0; k < 2; k++) c->now[k] = twistPose(&c->start[k], c->ref[k], xi + 6 * k);
  c->K = 1e-3;
  c->friction = 0.5;
  c->in.friction_eps = 4e-2;
  c->in.recover = true;
  c->in.force_cap = 0.2;
  c->in.arms = below(r, 2) ? DJ_ARMS_PLANE : DJ_ARMS_PAPER;
  c->in.cap = below(r, 2) ? DJ_CAP_MAGNITUDE : DJ_CAP_PAPER;
}

// ------------------------------------------ derivatives ----------------------------------------

typedef struct Along {
  const djKernel* k;
  PairCase* c;
  djPose base[2];
  double dir[12];
} Along;

static void moveAlong(djPose out[2], const Along* A, double e) {
  double xi[12];
  for (int i = 0; i < 12; i++) xi[i] = e * A->dir[i];
  for (int k = 0; k < 2; k++) out[k] = twistPose(&A->base[k], A->c->ref[k], xi + 6 * k);
}

// Value and gradient by the poses now.
static void byPosesNow(double* y, void* user, double e) {
  Along* A = user;
  djPairOutput out;
  moveAlong(A->c->now, A, e);
  evalCase(&out, A->k, A->c, DJ_EVAL_GRADIENT);
  y[0] = out.value;
  memcpy(y + 1, out.gradient, sizeof out.gradient);
}

// Gradient by the poses now, as the start moves.
static void byStart(double* y, void* user, double e) {
  Along* A = user;
  djPairOutput out;
  moveAlong(A->c->start, A, e);
  assert_int_equal(beginNew(A->k, A->c), DJ_OK);
  evalCase(&out, A->k, A->c, DJ_EVAL_GRADIENT);
  memcpy(y, out.gradient, sizeof out.gradient);
}

// Gradients are by twists of the moved poses: along direction j, d g_i/de is the Hessian in
// exponential coordinates plus g_w.(e_i x e_j)/2 among rotations and g_v.(e_i x e_j) where j
// translates.
static void addBrackets(double column[12], const double gradient[12], int j) {
  int side = j / 6 * 6;
  djVec3 e = dju_vec3(j % 3 == 0, j % 3 == 1, j % 3 == 2);
  djVec3 w = dju_cross3(e, dju_load3(gradient + side + (j % 6 < 3 ? 0 : 3)));
  double half = j % 6 < 3 ? 0.5 : 1;
  column[side] += half * w.x;
  column[side + 1] += half * w.y;
  column[side + 2] += half * w.z;
}

typedef struct Errors {
  double gradient, hessian, start;   // relative to the largest entry
  double doubt;                      // of the differences
} Errors;

// Worst errors over all directions, of derivatives multiplied by (1 + wrong) in one entry each.
static Errors derivativeErrors(const djKernel* k, PairCase* c, double step, double wrong) {
  Errors e = {0, 0, 0, 0};
  djPairOutput out;
  double jac[144];
  assert_int_equal(beginNew(k, c), DJ_OK);
  evalCase(&out, k, c, DJ_EVAL_HESSIAN);
  assert_int_equal(k->start(jac, stateOf(c), pairInput(c)), DJ_OK);
  double g = largest(out.gradient, 12), H = largest(out.hessian, 144), J = largest(jac, 144);
  for (int i = 0; i < 12; i++) {
    if (fabs(out.gradient[i]) == g) out.gradient[i] *= 1 + wrong;
  }
  for (int i = 0; i < 144; i++) {
    if (fabs(out.hessian[i]) == H) out.hessian[i] *= 1 + wrong;
    if (fabs(jac[i]) == J) jac[i] *= 1 + wrong;
  }
  Along A = {k, c, {c->now[0], c->now[1]}, {0}};
  for (int j = 0; j < 12; j++) {
    double y[13], column[12];
    memset(A.dir, 0, sizeof A.dir);
    A.dir[j] = 1;
    e.doubt = djt_worst(e.doubt, extrapolate(y, 13, step, H, byPosesNow, &A));
    e.gradient = djt_worst(e.gradient, fabs(y[0] - out.gradient[j]) / g);
    for (int i = 0; i < 12; i++) column[i] = out.hessian[12 * i + j];
    addBrackets(column, out.gradient, j);
    e.hessian = djt_worst(e.hessian, distance(column, y + 1, 12) / H);
  }
  memcpy(c->now, A.base, sizeof c->now);
  memcpy(A.base, c->start, sizeof A.base);
  for (int j = 0; j < 12 && J > 0; j++) {
    double y[12];
    memset(A.dir, 0, sizeof A.dir);
    A.dir[j] = 1;
    e.doubt = djt_worst(e.doubt, extrapolate(y, 12, step, J, byStart, &A));
    for (int i = 0; i < 12; i++) e.start = djt_worst(e.start, fabs(y[i] - jac[12 * i + j]) / J);
  }
  memcpy(c->start, A.base, sizeof c->start);
  return e;
}

static bool passes(const Errors* e) {
  return e->gradient < 2e-7 && e->hessian < 2e-7 && e->start < 2e-7;
}

// Put the centres this far apart, in metres, with the start there too.
static void setCentres(PairCase* c, Random* r, double apart) {
  djVec3 a = dju_transform(&c->start[0], c->shape[0].shape.center);
  djVec3 b = dju_transform(&c->start[1], c->shape[1].shape.center);
  djVec3 move = dju_sub3(dju_madd3(a, apart, randomUnit(r)), b);
  c->start[1].p = dju_add3(c->start[1].p, move);
  c->now[1].p = dju_add3(c->now[1].p, move);
}

// Gaps within the range, in the transition to recovery, in recovery, overlapping, and with centres
// almost at the same place. Steps that meet a vertex entering the support (where third derivatives
// jump) tell themselves by `doubt`.
static void checkDerivatives(const djKernel* k, Random* r, int type_a, int type_b) {
  static const double part[] = {0.95, 0.85, 0.79, 0.7, 0.3, -0.5, -3, 0.5, 0.5};
  static const double apart[] = {0, 0, 0, 0, 0, 0, 0, 0.05, 0.002};
  int sure = 0, cases = 0;
  for (int i = 0; i < 9; i++) {
    for (int repeat = 0; repeat < some(3, type_a, type_b); repeat++) {
      PairCase c;
      movingPair(&c, r, type_a, type_b, part[i]);
      if (apart[i] > 0 && type_b != DJ_PLANE) setCentres(&c, r, apart[i]);
      Errors e = {0, 0, 0, 0};
      bool good = false;
      for (double step = 2e-4; step > 1e-7 && !good; step *= 0.2) {
        e = derivativeErrors(k, &c, step, 0);
        if (!(e.doubt < 1e-6)) continue;
        good = passes(&e);
        if (good && (i % 3 == 0 || some(3, type_a, type_b) == 3)) {
          Errors wrong = derivativeErrors(k, &c, step, 1e-5);
          assert_true(wrong.gradient > 2e-6 && wrong.hessian > 2e-6);
          if (wrong.start > 0) assert_true(wrong.start > 2e-6);
        }
      }
      cases++;
      sure += good;
      if (!good) {
        print_message("%s %d-%d gap %g range: errors %.1e %.1e %.1e, of differences %.1e\n",
                      k->name, type_a, type_b, part[i], e.gradient, e.hessian, e.start, e.doubt);
      }
      freeCase(&c);
    }
  }
  assert_int_equal(sure, cases);
}

static void testDerivatives(void** state) {
  (void)state;
  forAllPairs(checkDerivatives, 1);
}

// ------------------------------------------ physics --------------------------------------------

// Force on a + force on b = 0, and so for torques about one point.
static void checkReaction(const djKernel* k, Random* r, int type_a, int type_b) {
  for (int i = 0; i < 40; i++) {
    PairCase c;
    movingPair(&c, r, type_a, type_b, uniform(r, 0.1, 0.98));
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

static void testReaction(void** state) {
  (void)state;
  forAllPairs(checkReaction, 2);
}

// Gradient (6 of one body) turned by Q.
static void turned(double out[6], const double g[6], djMat3 Q) {
  dju_store3(out, dju_mulMV(Q, dju_load3(g)));
  dju_store3(out + 3, dju_mulMV(Q, dju_load3(g + 3)));
}

static void checkRigidMotion(const djKernel* k, Random* r, int type_a, int type_b) {
  for (int i = 0; i < 20; i++) {
    PairCase c;
    movingPair(&c, r, type_a, type_b, uniform(r, -0.5, 0.97));
    djPairOutput out, moved;
    double jac[144], jac2[144];
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
    assert_int_equal(k->start(jac, stateOf(&c), pairInput(&c)), DJ_OK);
    djPose T = poseOf(dju_scale3(5, randomUnit(r)), randomQuat(r));
    for (int b = 0; b < 2; b++) {
      c.now[b] = (djPose){dju_transform(&T, c.now[b].p), dju_mulMM(T.R, c.now[b].R)};
      c.start[b] = (djPose){dju_transform(&T, c.start[b].p), dju_mulMM(T.R, c.start[b].R)};
      c.ref[b] = dju_transform(&T, c.ref[b]);
    }
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&moved, k, &c, DJ_EVAL_HESSIAN);
    assert_int_equal(k->start(jac2, stateOf(&c), pairInput(&c)), DJ_OK);
    assert_true(fabs(moved.value - out.value) <= 1e-10 * out.value);
    double g[12], v[12], Hv[12], Jv[12], e[6], scale = largest(out.gradient, 12);
    turned(g, out.gradient, T.R);
    turned(g + 6, out.gradient + 6, T.R);
    assert_true(distance(g, moved.gradient, 12) <= 1e-9 * scale);
    // the Hessian and the start's derivative on one direction
    double H = largest(out.hessian, 144), J = largest(jac, 144);
    for (int j = 0; j < 12; j++) v[j] = uniform(r, -1, 1);
    double w[12];
    turned(w, v, T.R);
    turned(w + 6, v + 6, T.R);
    for (int m = 0; m < 2; m++) {
      const double *A = m ? jac : out.hessian, *B = m ? jac2 : moved.hessian;
      for (int a = 0; a < 12; a++) {
        Hv[a] = Jv[a] = 0;
        for (int b = 0; b < 12; b++) {
          Hv[a] += A[12 * a + b] * v[b];
          Jv[a] += B[12 * a + b] * w[b];
        }
      }
      for (int b = 0; b < 2; b++) {
        turned(e, Hv + 6 * b, T.R);
        assert_true(distance(e, Jv + 6 * b, 6) <= 1e-8 * (m ? J : H));
      }
    }
    freeCase(&c);
  }
}

static void testRigidMotion(void** state) {
  (void)state;
  forAllPairs(checkRigidMotion, 3);
}

static void exchange(PairCase* c) {
  TestShape t = c->shape[0];
  c->shape[0] = c->shape[1];
  c->shape[1] = t;
  for (int m = 0; m < 2; m++) {
    djPose* T = m ? c->start : c->now;
    djPose p = T[0];
    T[0] = T[1];
    T[1] = p;
  }
  djVec3 ref = c->ref[0];
  c->ref[0] = c->ref[1];
  c->ref[1] = ref;
}

static void checkExchange(const djKernel* k, Random* r, int type_a, int type_b) {
  if (!k->supports(type_b, type_a)) return;
  for (int i = 0; i < 20; i++) {
    PairCase c;
    movingPair(&c, r, type_a, type_b, uniform(r, -0.5, 0.97));
    djPairOutput out, other;
    double jac[144], jac2[144];
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
    assert_int_equal(k->start(jac, stateOf(&c), pairInput(&c)), DJ_OK);
    exchange(&c);
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&other, k, &c, DJ_EVAL_HESSIAN);
    assert_int_equal(k->start(jac2, stateOf(&c), pairInput(&c)), DJ_OK);
    assert_true(fabs(other.value - out.value) <= 1e-10 * out.value);
    double g = largest(out.gradient, 12), H = largest(out.hessian, 144), J = largest(jac, 144);
    for (int a = 0; a < 12; a++) {
      assert_true(fabs(out.gradient[a] - other.gradient[(a + 6) % 12]) <= 1e-9 * g);
      for (int b = 0; b < 12; b++) {
        int at = 12 * ((a + 6) % 12) + (b + 6) % 12;
        assert_true(fabs(out.hessian[12 * a + b] - other.hessian[at]) <= 1e-8 * H);
        assert_true(fabs(jac[12 * a + b] - jac2[at]) <= 1e-8 * J);
      }
    }
    freeCase(&c);
  }
}

static void testExchange(void** state) {
  (void)state;
  forAllPairs(checkExchange, 4);
}

// ------------------------------------------ states ---------------------------------------------

// The same calls give the same bits; a state that has seen other poses gives the same to rounding.
static void checkStates(const djKernel* k, Random* r, int type_a, int type_b) {
  for (int i = 0; i < 20; i++) {
    PairCase c;
    movingPair(&c, r, type_a, type_b, uniform(r, -0.5, 0.97));
    djPairOutput out, again;
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&again, k, &c, DJ_EVAL_HESSIAN);
    assert_memory_equal(out.gradient, again.gradient, sizeof out.gradient);
    assert_memory_equal(out.hessian, again.hessian, sizeof out.hessian);
    assert_true(out.value == again.value);
    double worst = 0, g = largest(out.gradient, 12), H = largest(out.hessian, 144);
    djPose now[2] = {c.now[0], c.now[1]};
    for (int m = 0; m < 10; m++) {
      double xi[12], size = logUniform(r, 1e-8, 0.3);
      for (int j = 0; j < 12; j++) xi[j] = size * uniform(r, -1, 1);
      for (int b = 0; b < 2; b++) c.now[b] = twistPose(&now[b], c.ref[b], xi + 6 * b);
      evalCase(&again, k, &c, m % 3);
      memcpy(c.now, now, sizeof now);
      evalCase(&again, k, &c, DJ_EVAL_HESSIAN);
      assert_true(fabs(out.value - again.value) <= 1e-10 * fabs(out.value));
      worst = djt_worst(worst, distance(out.gradient, again.gradient, 12) / g);
      assert_true(distance(out.hessian, again.hessian, 144) <= 1e-8 * H);
    }
    assert_true(worst < 1e-9);
    freeCase(&c);
  }
}

static void testStates(void** state) {
  (void)state;
  forAllPairs(checkStates, 5);
}

// Lesser flags give the same numbers; inactive pairs give zeros; `active` tells the truth.
static void checkFlags(const djKernel* k, Random* r, int type_a, int type_b) {
  for (int i = 0; i < 10; i++) {
    PairCase c;
    movingPair(&c, r, type_a, type_b, uniform(r, 0.3, 0.9));
    djPairOutput full, less, major;
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&full, k, &c, DJ_EVAL_HESSIAN);
    assert_true(full.active && full.value > 0);
    evalCase(&less, k, &c, DJ_EVAL_GRADIENT);
    assert_true(fabs(less.value - full.value) <= 1e-11 * full.value);
    assert_true(distance(less.gradient, full.gradient, 12) <= 1e-9 * largest(full.gradient, 12));
    evalCase(&less, k, &c, 0);
    assert_true(fabs(less.value - full.value) <= 1e-11 * full.value);
    // the majorizer is no less than the exact Hessian in any direction
    evalCase(&major, k, &c, DJ_EVAL_MAJORIZER);
    for (int m = 0; m < 10; m++) {
      double v[12], sum = 0;
      for (int j = 0; j < 12; j++) v[j] = uniform(r, -1, 1);
      for (int j = 0; j < 144; j++) {
        sum += (major.hessian[j] - full.hessian[j]) * v[j / 12] * v[j % 12];
      }
      assert_true(sum >= -1e-9 * largest(major.hessian, 144));
    }
    // symmetric
    for (int j = 0; j < 144; j++) {
      assert_true(fabs(full.hessian[j] - full.hessian[j % 12 * 12 + j / 12]) <=
                  1e-14 * largest(full.hessian, 144));
    }
    // apart
    setGap(&c, 1.01 * k->range(c.s, c.L));
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&full, k, &c, DJ_EVAL_HESSIAN);
    assert_false(full.active);
    assert_true(full.value == 0 && largest(full.gradient, 12) == 0 &&
                largest(full.hessian, 144) == 0);
    assert_true(full.gap > 0 && full.gap <= 1.0100001 * k->range(c.s, c.L));
    double jac[144];
    assert_int_equal(k->start(jac, stateOf(&c), pairInput(&c)), DJ_OK);
    assert_true(largest(jac, 144) == 0);
    freeCase(&c);
  }
}

static void testFlags(void** state) {
  (void)state;
  forAllPairs(checkFlags, 6);
}

// ------------------------------------------ smoothness -----------------------------------------

// Along a path through the end of the range, recovery's threshold and changes of the touching
// features, derivatives up to the declared order do not jump: the interval of the largest change is
// divided, and again, until its parts change less. A jump would stay in one of them. (Changes may
// be quick: a second vertex that enters the support stiffens the plane's tilt by size^2 P''.)
typedef struct Path {
  const djKernel* k;
  PairCase* c;
  djPose base;
  double dir[6];
  bool begin;              // move the start too
} Path;

static void onPath(djPairOutput* out, const Path* p, double t) {
  double xi[6];
  for (int i = 0; i < 6; i++) xi[i] = t * p->dir[i];
  p->c->now[1] = twistPose(&p->base, p->c->ref[1], xi);
  if (p->begin) {
    p->c->start[1] = p->c->now[1];
    assert_int_equal(beginNew(p->k, p->c), DJ_OK);
  }
  evalCase(out, p->k, p->c, DJ_EVAL_HESSIAN);
}

enum { PARTS = 40 };

static double secondDifference(const double* x, const double* y, const double* z, int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = djt_worst(worst, fabs(x[i] - 2 * y[i] + z[i]));
  return worst;
}

// Largest second difference of the gradient (order 1) or Hessian (order 2) over n parts of
// [t0, t1]; *at is the number of its middle point.
static double largestChange(int* at, const Path* p, int order, double t0, double t1, int n) {
  djPairOutput out[3];
  double worst = -1;
  for (int i = 0; i <= n; i++) {
    djPairOutput *x = &out[i % 3], *y = &out[(i + 2) % 3], *z = &out[(i + 1) % 3];
    onPath(x, p, t0 + (t1 - t0) * i / n);
    assert_true(x->value < INFINITY);
    if (i < 2) continue;
    double change = order == 1 ? secondDifference(x->gradient, y->gradient, z->gradient, 12)
                               : secondDifference(x->hessian, y->hessian, z->hessian, 144);
    if (change > worst) {
      worst = change;
      *at = i - 1;
    }
  }
  return worst;
}

static bool isContinuous(const Path* p, int order) {
  djPairOutput out;
  int at = 0, n = 600;
  double t0 = 0, t1 = 1;
  onPath(&out, p, 0);
  double scale = order == 1 ? largest(out.gradient, 12) : largest(out.hessian, 144);
  double change = largestChange(&at, p, order, t0, t1, n);
  for (int level = 0; level < 5; level++) {
    double width = (t1 - t0) / n;
    t0 += (at - 1) * width;
    t1 = t0 + 2 * width;
    n = PARTS;
    double finer = largestChange(&at, p, order, t0, t1, n);
    if (finer < 0.2 * change || finer < 1e-8 * scale) return true;
    change = finer;
  }
  return false;
}

static void checkSmoothness(const djKernel* k, Random* r, int type_a, int type_b) {
  for (int i = 0; i < some(6, type_a, type_b); i++) {
    PairCase c;
    movingPair(&c, r, type_a, type_b, 0.75);
    memcpy(c.now, c.start, sizeof c.now);
    c.friction = 0;
    double range = k->range(c.s, c.L);
    djDistance d;
    dj_distance(&d, NULL, &c.shape[0].shape, &c.now[0], 0, &c.shape[1].shape, &c.now[1], 0);
    c.ref[1] = d.point_b;
    Path p = {k, &c, c.now[1], {0}, i % 2 == 1};
    c.in.recover = p.begin;
    dju_store3(p.dir, dju_scale3(0.05, randomUnit(r)));
    dju_store3(p.dir + 3, dju_madd3(dju_scale3(0.5 * range, d.normal), 0.02, randomUnit(r)));
    assert_int_equal(beginNew(k, &c), DJ_OK);
    if (k->smoothness >= DJ_C1) assert_true(isContinuous(&p, 1));
    if (k->smoothness >= DJ_C2) assert_true(isContinuous(&p, 2));
    freeCase(&c);
  }
}

// A kernel whose Hessian jumps by a thousandth where the value passes a threshold.
static double jump_at;
static djStatus jumpingEval(djPairOutput* out, djPairState* state, const djPairInput* in,
                            int flags) {
  djStatus status = dj_kernel(DJ_SEPARATING_PLANE)->eval(out, state, in, flags);
  for (int i = 0; i < 144 && out->value < jump_at; i++) out->hessian[i] *= 0.999;
  return status;
}

static void testSmoothness(void** state) {
  (void)state;
  forAllPairs(checkSmoothness, 7);
  djKernel jumping = *dj_kernel(DJ_SEPARATING_PLANE);
  jumping.eval = jumpingEval;
  Random r = {7};
  PairCase c;
  djPairOutput out;
  randomPair(&c, &r, DJ_BOX, DJ_SPHERE, 1, 0.02, 1, 0.75);
  Path p = {&jumping, &c, c.now[1], {0, 0, 0, 0, 0, 0}, false};
  djDistance d;
  dj_distance(&d, NULL, &c.shape[0].shape, &c.now[0], 0, &c.shape[1].shape, &c.now[1], 0);
  dju_store3(p.dir + 3, dju_scale3(0.01, d.normal));
  assert_int_equal(beginNew(&jumping, &c), DJ_OK);
  jump_at = 0;
  onPath(&out, &p, 0.31271828182845905);
  bool without = isContinuous(&p, 2);
  jump_at = out.value;
  bool with = isContinuous(&p, 2);
  freeCase(&c);
  assert_true(without && !with);
}

// ------------------------------------------ extremes -------------------------------------------

// Sizes from a micrometre to a kilometre, slender shapes, gaps from 1% of the range.
static void checkSizes(const djKernel* k, Random* r, int type_a, int type_b) {
  for (int i = 0; i < 60; i++) {
    PairCase c;
    double size = logUniform(r, 1e-6, 1e3);
    randomPair(&c, r, type_a, type_b, size, logUniform(r, 1e-4, 0.3), size,
               logUniform(r, 0.01, 0.98));
    djPairOutput out;
    c.in.recover = false;
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
    assert_true(out.active && out.value > 0 && isfinite(out.value));
    assert_true(isfinite(largest(out.gradient, 12)) && isfinite(largest(out.hessian, 144)));
    djVec3 fa = dju_load3(out.gradient + 3), fb = dju_load3(out.gradient + 9);
    assert_true(dju_norm3(dju_add3(fa, fb)) <= 1e-8 * dju_norm3(fa));
    freeCase(&c);
  }
}

static void testSizes(void** state) {
  (void)state;
  forAllPairs(checkSizes, 8);
}

// Faces, edges and corners exactly aligned; needles 1000 times longer than wide.
static void checkAligned(const djKernel* k, Random* r, int type_a, int type_b) {
  if (type_b == DJ_PLANE) return;
  static const double angle[] = {0, 0.7853981633974483, 1.5707963267948966, 3.141592653589793};
  for (int i = 0; i < some(128, type_a, type_b); i++) {
    PairCase c;
    randomPair(&c, r, type_a, type_b, 1, 0.01, 1, 0.5);
    for (int b = 0; b < 2; b++) {
      double dims[3] = {1, 1, 1};
      if (i % 8 == 7) dims[below(r, 3)] = 1e-3;
      if (i % 8 == 6) dims[0] = dims[1] = 1e-3;
      freeShape(&c.shape[b]);
      setGeom(&c.shape[b], b ? type_b : type_a, dims, 30, r);
      double q[4] = {cos(0.5 * angle[below(r, 4)]), 0, 0, 0};
      q[1 + below(r, 3)] = sqrt(1 - q[0] * q[0]);
      c.now[b].R = dju_quatToMat(dju_loadQuat(q));
      if (i % 4 == 1) {   // a corner or an edge up
        djQuat tilt = {cos(0.4776583090622546), sin(0.4776583090622546), 0, 0};
        c.now[b].R = dju_mulMM(dju_quatToMat(tilt), c.now[b].R);
      }
    }
    c.now[0].p = dju_vec3(0, 0, 0);
    double shift = i % 3 == 0 ? 0 : 0.5 * below(r, 3);
    c.now[1].p = dju_vec3(shift, 0.25 * below(r, 2), 4);
    setGap(&c, 0.9 * k->range(c.s, c.L));
    djPairOutput out;
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
    assert_true(out.active && out.value > 0 && isfinite(out.value));
    assert_true(isfinite(largest(out.hessian, 144)));
    // overlapping: centres nearer than the inscribed balls allow
    const djShape *a = &c.shape[0].shape, *b = &c.shape[1].shape;
    djVec3 apart = dju_scale3(0.125 * below(r, 8) * (a->inner + b->inner), randomUnit(r));
    djVec3 middle = dju_sub3(dju_transform(&c.now[0], a->center), dju_mulMV(c.now[1].R, b->center));
    c.now[1].p = c.start[1].p = dju_add3(middle, apart);
    c.in.recover = true;
    c.friction = 0.3;
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
    assert_true(out.value > 0 && isfinite(out.value));
    djPairReport report;
    assert_int_equal(k->report(&report, stateOf(&c), pairInput(&c)), DJ_OK);
    assert_true(report.recovering && report.erosion > 0 && report.normal_force > 0);
    assert_true(report.gap > 0.59 * k->range(c.s, c.L) && report.gap < 0.81 * k->range(c.s, c.L));
    freeCase(&c);
  }
}

static void testAligned(void** state) {
  (void)state;
  forAllPairs(checkAligned, 9);
}

// Without recovery an overlapping start is refused and an overlapping pose has infinite energy.
static void checkOverlap(const djKernel* k, Random* r, int type_a, int type_b) {
  PairCase c;
  randomPair(&c, r, type_a, type_b, 1, 0.01, 1, 0.5);
  djPairOutput out;
  djPairReport report;
  assert_int_equal(beginNew(k, &c), DJ_OK);
  setGap(&c, -0.01);
  evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
  assert_true(out.active && isinf(out.value) && out.value > 0 && out.gap <= 0);
  assert_int_equal(beginNew(k, &c), DJ_OVERLAP);
  assert_int_equal(k->report(&report, stateOf(&c), pairInput(&c)), DJ_OK);
  assert_true(fabs(report.gap_start + 0.01) < 1e-9);
  // coincident
  c.now[1].p = c.start[1].p =
      dju_sub3(dju_transform(&c.now[0], c.shape[0].shape.center),
               dju_mulMV(c.now[1].R, c.shape[1].shape.center));
  c.in.recover = true;
  c.in.force_cap = 1;
  c.friction = 1;
  assert_int_equal(beginNew(k, &c), DJ_OK);
  evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
  assert_true(out.active && isfinite(out.value) && out.value > 0);
  double jac[144];
  assert_int_equal(k->start(jac, stateOf(&c), pairInput(&c)), DJ_OK);
  assert_true(isfinite(largest(jac, 144)));
  freeCase(&c);
}

static void testOverlap(void** state) {
  (void)state;
  forAllPairs(checkOverlap, 10);
}

// ------------------------------------------ bad input ------------------------------------------

static void expectInvalid(const djKernel* k, PairCase* c, const djPairInput* in) {
  djPairOutput out;
  djPairReport report;
  double jac[144];
  assert_true(k->begin(stateOf(c), in) < 0);
  assert_true(k->eval(&out, stateOf(c), in, DJ_EVAL_HESSIAN) < 0);
  assert_true(k->start(jac, stateOf(c), in) < 0);
  assert_true(k->report(&report, stateOf(c), in) < 0);
}

static void checkBadInput(const djKernel* k, Random* r, int type_a, int type_b) {
  PairCase c;
  movingPair(&c, r, type_a, type_b, 0.5);
  djPairInput good = *pairInput(&c), in;
  djShape shape = c.shape[0].shape;
  djPose pose = c.now[0];
#define BAD(change)            \
  do {                         \
    in = good;                 \
    change;                    \
    expectInvalid(k, &c, &in); \
  } while (0)
  expectInvalid(k, &c, NULL);
  BAD(in.a = NULL);
  BAD(in.b = NULL);
  BAD((in.pose_a = NULL, in.start_a = NULL));
  BAD((in.pose_b = NULL, in.start_b = NULL));
  BAD(in.support = 0);
  BAD(in.support = 1);
  BAD(in.support = -0.1);
  BAD(in.support = NAN);
  BAD(in.length_scale = 0);
  BAD(in.length_scale = -1);
  BAD(in.length_scale = NAN);
  BAD(in.length_scale = INFINITY);
  BAD(in.stiffness = -1);
  BAD(in.stiffness = NAN);
  BAD(in.inflate = NAN);
  BAD(in.scratch = NULL);
  BAD(in.nscratch = 0);
  BAD(in.nscratch = 8);
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
#undef BAD
  freeCase(&c);
}

static void testBadInput(void** state) {
  (void)state;
  forAllPairs(checkBadInput, 11);
  assert_null(dj_kernel(DJ_CONTACT_NONE));
  assert_null(dj_kernel(DJ_NCONTACT));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testDerivatives), cmocka_unit_test(testReaction),
      cmocka_unit_test(testRigidMotion), cmocka_unit_test(testExchange),
      cmocka_unit_test(testStates),      cmocka_unit_test(testFlags),
      cmocka_unit_test(testSmoothness),  cmocka_unit_test(testSizes),
      cmocka_unit_test(testAligned),     cmocka_unit_test(testOverlap),
      cmocka_unit_test(testBadInput),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
