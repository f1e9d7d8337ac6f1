// Derivatives of every row of the kernel table (here with those of the tests, tests/kernels), for
// all pairs of shapes that it supports, against differences: by poses, velocities, start and rate
// poses, by settings and friction. Wrong ones are found out.

#include "common/kernel_case.h"
#include "common/test.h"

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

// Gradient by the rate poses, as the start stays; and by twists.
static void byRate(double* y, void* user, double e) {
  Along* A = user;
  djPairOutput out;
  moveAlong(A->c->rate, A, e);
  assert_int_equal(beginNew(A->k, A->c), DJ_OK);
  evalCase(&out, A->k, A->c, DJ_EVAL_GRADIENT);
  memcpy(y, out.gradient, sizeof out.gradient);
}

static void byPast(double* y, void* user, double e) {
  Along* A = user;
  djPairOutput out;
  moveAlong(A->c->past, A, e);
  assert_int_equal(beginNew(A->k, A->c), DJ_OK);
  evalCase(&out, A->k, A->c, DJ_EVAL_GRADIENT);
  memcpy(y, out.gradient, sizeof out.gradient);
}

static void byTwist(double* y, void* user, double e) {
  Along* A = user;
  djPairOutput out;
  double kept[2][6];
  memcpy(kept, A->c->twist, sizeof kept);
  for (int i = 0; i < 12; i++) A->c->twist[i / 6][i % 6] += e * A->dir[i];
  evalCase(&out, A->k, A->c, DJ_EVAL_GRADIENT);
  memcpy(A->c->twist, kept, sizeof kept);
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
  double gradient, hessian, start, rate, twist, past; // relative to the largest entry; -1: none
  double doubt;                                 // of the differences
} Errors;

static int pasts;   // cases that have such derivatives

// The largest entry grows by a part of it.
static void spoil(double* x, int n, double wrong) {
  double most = djt_largest(x, n);
  for (int i = 0; i < n; i++) {
    if (fabs(x[i]) == most) x[i] *= 1 + wrong;
  }
}

// What friction is measured by where a guide, which knows of no start, is far larger, or the barrier
// of a pair that recovers, or has just done so.
static double leastOf(const PairCase* c, double scale) {
  if (c->has_past && c->guide == 0) return 1e-4 * scale;
  return c->guide > 0 ? 1e-2 * scale : c->kernel == &dj_implicitSurface ? 1e-9 * scale : 0;
}

// Error of a Jacobian (12 x 12) by differences of f along its columns; scale: of the doubt, where
// the Jacobian is zero.
static double columnErrors(double* doubt, const double* jac, double scale, double step,
                           void (*f)(double*, void*, double), Along* A) {
  double most = djt_largest(jac, 144), worst = 0;
  double unit = most > 0 ? fmax(most, leastOf(A->c, scale)) : scale;
  for (int j = 0; j < 12; j++) {
    double y[12];
    memset(A->dir, 0, sizeof A->dir);
    A->dir[j] = 1;
    *doubt = djt_worst(*doubt, extrapolate(y, 12, step, unit, f, A));
    for (int i = 0; i < 12; i++) worst = djt_worst(worst, fabs(y[i] - jac[12 * i + j]) / unit);
  }
  return worst;
}

// Worst errors over all directions, of derivatives multiplied by (1 + wrong) in one entry each.
static Errors derivativeErrors(const djKernel* k, PairCase* c, double step, double wrong) {
  Errors e = {0, 0, -1, -1, -1, -1, 0};
  djPairOutput out;
  djPairPast past;
  bool any = false;
  double jac[144], rate_jac[144], by_twist[144], by_past[144] = {0};
  assert_int_equal(beginNew(k, c), DJ_OK);
  evalCase(&out, k, c, DJ_EVAL_HESSIAN);
  memcpy(by_twist, twist_jac, sizeof by_twist);
  assert_int_equal(startCase(jac, rate_jac, k, c), DJ_OK);
  if (k->past) assert_int_equal(k->past(&any, &past, stateOf(c), pairInput(c)), DJ_OK);
  for (int i = 0; i < 144 && any; i++) by_past[i] = past.by[i / 12] * past.number[i % 12];
  double g = djt_largest(out.gradient, 12), H = djt_largest(out.hessian, 144);
  spoil(out.gradient, 12, wrong);
  spoil(out.hessian, 144, wrong);
  spoil(jac, 144, wrong);
  spoil(rate_jac, 144, wrong);
  spoil(by_twist, 144, wrong);
  spoil(by_past, 144, wrong);
  Along A = {k, c, {c->now[0], c->now[1]}, {0}};
  for (int j = 0; j < 12; j++) {
    double y[13], column[12];
    memset(A.dir, 0, sizeof A.dir);
    A.dir[j] = 1;
    e.doubt = djt_worst(e.doubt, extrapolate(y, 13, step, H, byPosesNow, &A));
    double slope = traitsOf(k, c).energy ? y[0] : out.gradient[j];
    e.gradient = djt_worst(e.gradient, fabs(slope - out.gradient[j]) / g);
    for (int i = 0; i < 12; i++) column[i] = out.hessian[12 * i + j];
    addBrackets(column, out.gradient, j);
    e.hessian = djt_worst(e.hessian, djt_furthest(column, y + 1, 12) / H);
  }
  memcpy(c->now, A.base, sizeof c->now);
  if (k->traits.uses_twist) e.twist = columnErrors(&e.doubt, by_twist, H, step, byTwist, &A);
  if (c->apart) {
    memcpy(A.base, c->rate, sizeof A.base);
    e.rate = columnErrors(&e.doubt, rate_jac, H, step, byRate, &A);
    memcpy(c->rate, A.base, sizeof c->rate);
  }
  if (c->has_past) {
    memcpy(A.base, c->past, sizeof A.base);
    e.past = columnErrors(&e.doubt, by_past, H, step, byPast, &A);
    memcpy(c->past, A.base, sizeof c->past);
    pasts += any;
  }
  memcpy(A.base, c->start, sizeof A.base);
  e.start = columnErrors(&e.doubt, jac, H, step, byStart, &A);
  memcpy(c->start, A.base, sizeof c->start);
  double least = leastOf(c, H);
  if (djt_largest(jac, 144) <= least && wrong > 0) e.start = -1; // nothing to be wrong
  if (djt_largest(rate_jac, 144) <= least && wrong > 0) e.rate = -1;
  if (djt_largest(by_past, 144) <= least && wrong > 0) e.past = -1;
  return e;
}

static bool passes(const Errors* e) {
  const double all[] = {e->gradient, e->hessian, e->start, e->rate, e->twist, e->past};
  bool good = true;
  for (int i = 0; i < 6; i++) good = good && all[i] < 5e-7;
  return good;
}

// Derivatives of one kind want larger steps, where they are small, than those of another.
static void leastErrors(Errors* e, const Errors* now) {
  e->gradient = fmin(e->gradient, now->gradient);
  e->hessian = fmin(e->hessian, now->hessian);
  e->start = fmin(e->start, now->start);
  e->rate = fmin(e->rate, now->rate);
  e->twist = fmin(e->twist, now->twist);
  e->past = fmin(e->past, now->past);
  e->doubt = fmin(e->doubt, now->doubt);
}

// Every derivative that there is has been found out.
static bool isFound(const Errors* e, const djTraits* traits) {
  const double all[] = {e->start, e->rate, e->twist, e->past};
  for (int i = 0; i < 4; i++) {
    if (all[i] >= 0 && !(all[i] > 2e-6)) return false;
  }
  return (!traits->energy || e->gradient > 2e-6) && e->hessian > 2e-6;
}

// Put the centres this far apart, in metres, with the start there too.
static void setCentres(PairCase* c, Random* r, double apart) {
  djVec3 a = dju_transform(&c->start[0], c->shape[0].shape.center);
  djVec3 b = dju_transform(&c->start[1], c->shape[1].shape.center);
  djVec3 move = dju_sub3(dju_madd3(a, apart, randomUnit(r)), b);
  c->start[1].p = dju_add3(c->start[1].p, move);
  c->now[1].p = dju_add3(c->now[1].p, move);
}

// Barriers that do not recover have no overlaps.
static bool mayBeSo(const djKernel* k, PairCase* c) {
  djPairOutput out;
  if (beginNew(k, c) < 0) return false;
  evalCase(&out, k, c, 0);
  return out.value < INFINITY;
}

// A step before it recovered, or nearly.
static void makeDeeper(PairCase* c, const djKernel* k, int seed, double gap) {
  Random own = {(uint64_t)seed}, *r = &own;
  const double from = k == &dj_implicitSurface ? 0.2 : 0.8;
  if (gap - from > 0.12) return;   // of so little friction differences tell nothing
  setPast(c, k, r, (fmax(gap - from, 0) + uniform(r, 0, 0.15)) * gapOf(k, c, 1));
}

// Kernels that take long are repeated less for each gap: gaps take turns, then, in what repetitions do.
static const struct {
  const djKernel* k;
  int most;
} slowKernels[] = {{&dj_longRange, 1}};

static int repetitions(bool* turns, const djKernel* k, int type_a, int type_b) {
  int n = some(3, type_a, type_b);
  *turns = false;
  for (size_t i = 0; i < sizeof slowKernels / sizeof slowKernels[0]; i++) {
    if (k != slowKernels[i].k) continue;
    *turns = true;
    if (n > slowKernels[i].most) n = slowKernels[i].most;
  }
  return n;
}

// Gaps within the range, in the transition to recovery, in recovery, overlapping, and with centres
// almost at the same place: each kernel has its own. Steps that meet a vertex entering the support (where third derivatives
// jump) tell themselves by `doubt`.
static void checkDerivatives(const djKernel* k, Random* r, int type_a, int type_b) {
  double range = planeRange(0.02, 1);
  enum { NEAR = 11 };
  static const double part[NEAR] = {0.95, 0.85, 0.79, 0.7, 0.3, 0.17, 0.14, -0.5, -3, 0.5, 0.5};
  static const double apart[NEAR + NAPART] = {[NEAR - 2] = 0.05, [NEAR - 1] = 0.002};
  int sure = 0, cases = 0;
  bool turns;
  const int n = kernel_guide > 0 ? NEAR + NAPART : NEAR;
  const int most = repetitions(&turns, k, type_a, type_b);
  for (int i = 0; i < n; i++) {
    for (int repeat = 0; repeat < most; repeat++) {
      const bool odd = (repeat + (turns ? i : 0)) % 2;
      PairCase c;
      const double gap = i < NEAR ? part[i] : sizesApart[i - NEAR] / range;
      movingPair(&c, k, r, type_a, type_b, gap);
      if (apart[i] > 0 && !isGround(type_b)) setCentres(&c, r, apart[i]);
      if (odd) setRates(&c, r);
      if (!odd && apart[i] == 0) makeDeeper(&c, k, 10 * i + repeat, gap);
      if (!mayBeSo(k, &c)) {
        freeCase(&c);
        continue;
      }
      Errors e = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
      bool good = false;
      for (double step = i < NEAR ? 2e-4 : 5e-3; step > 1e-7 && !good; step *= 0.2) {
        const Errors now = derivativeErrors(k, &c, step, 0);
        leastErrors(&e, &now);
        if (!(now.doubt < 1e-5)) continue;
        good = passes(&e);
        if (passes(&now) && (i % 3 == 0 || most == 3)) {
          Errors wrong = derivativeErrors(k, &c, step, 1e-5);
          const djTraits traits = traitsOf(k, &c);
          assert_true(isFound(&wrong, &traits));
        }
      }
      cases++;
      sure += good;
      if (!good) {
        print_message("%s %d-%d gap %g range: errors %.1e %.1e %.1e %.1e %.1e %.1e, of "
                      "differences %.1e\n",
                      k->settings->name, type_a, type_b, gap, e.gradient, e.hessian, e.start, e.rate,
                      e.twist, e.past, e.doubt);
      }
      freeCase(&c);
    }
  }
  assert_int_equal(sure, cases);
}

static void testDerivatives(void) {
  pasts = 0;
  forAllPairs(checkDerivatives, 1);
  assert_true(pasts > 100);
}

// lambda . gradient by settings and the coefficient of friction; the lagged quantities follow.
static double alongLambda(const djKernel* k, PairCase* c, const double lambda[12]) {
  djPairOutput out;
  double sum = 0;
  assert_int_equal(beginNew(k, c), DJ_OK);
  evalCase(&out, k, c, DJ_EVAL_GRADIENT);
  for (int i = 0; i < 12; i++) sum += lambda[i] * out.gradient[i];
  return sum;
}

// The coefficients of friction, from the last: -5 to -1.
static double* coefficientOf(double* friction, djCone* cone, int m) {
  double* all[] = {friction, &cone->friction2, &cone->torsion, &cone->rolling[0],
                   &cone->rolling[1]};
  return all[-1 - m];
}

// Kernels that have more than one.
static bool conical(const djKernel* k) {
  return k == &dj_separatingPlane || k == &dj_implicitSurface;
}

static void checkSettings(const djKernel* k, Random* r, int type_a, int type_b) {
  static double memory[4][2048];
  if (!k->vjp) return;
  const bool surfaces = k == &dj_implicitSurface;
  for (int i = 0; i < (surfaces ? 7 : 4); i++) { // the last three recover under the barrier law
    static const double part[] = {0.9, 0.6, 0.9, 0.6, 0.15, 0.12, -0.5};
    PairCase c;
    movingPair(&c, k, r, type_a, type_b, kernel_guide > 0 && i > 1 ? 20 : part[i]);
    c.in.recover = surfaces || i == 1;
    if (c.in.recover) makeDeeper(&c, k, i, part[i]);
    double lambda[12];
    for (int j = 0; j < 12; j++) lambda[j] = uniform(r, -1, 1);
    double scale = fabs(alongLambda(k, &c, lambda));
    djShapeGrad shape[2] = {{.radius = 0}, {.radius = 0}};
    djPairGrad grad = {.a = &shape[0], .b = &shape[1]};
    memset(memory, 0, sizeof memory);
    for (int b = 0; b < 2; b++) {
      int npad = c.shape[b].shape.npad;
      assert_true(6 * npad <= 2048);
      for (int m = 0; m < 3; m++) {
        shape[b].vert[m] = memory[b] + m * npad;
        shape[b].move[m] = memory[b] + (3 + m) * npad;
      }
      shape[b].number = memory[2 + b];
      assert_true(c.shape[b].shape.nnumber <= 2048);
    }
    assert_int_equal(k->vjp(&grad, stateOf(&c), pairInput(&c), lambda), DJ_OK);
    const bool more = c.in.cone.friction2 > 0 || c.in.cone.torsion > 0;
    for (int m = more && conical(k) ? -5 : -1; m < k->settings->n; m++) {
      bool none = k == &dj_separatingPlane && m == DJ_PLANE_GUIDE && c.guide == 0;
      if (m >= 0 && (!k->settings->rule[m].param.name || none)) {
        assert_true(grad.setting[m] == 0);
        continue;
      }
      double* x = m < 0 ? coefficientOf(&c.friction, &c.in.cone, m) : &c.setting[m];
      if (k == &dj_separatingPlane && m >= 0) {
        x = m == DJ_PLANE_SUPPORT ? &c.s : m == DJ_PLANE_GUIDE ? &c.guide : &c.K;
      }
      double base = *x, y[3];
      double got = m < 0 ? *coefficientOf(&grad.friction, &grad.cone, m) : grad.setting[m];
      if (m < -1 && base == 0) continue;   // a switch
      double e = base > 0 ? 1e-5 * base : 1e-4; // 0: to one side
      for (int j = 0; j < 3; j++) {
        *x = base + (base > 0 ? j - 1 : j) * e;
        y[j] = alongLambda(k, &c, lambda);
      }
      *x = base;
      double wanted = base > 0 ? (y[2] - y[0]) / (2 * e) : (4 * y[1] - 3 * y[0] - y[2]) / (2 * e);
      assert_true(fabs(got - wanted) <= 1e-5 * (fabs(wanted) + scale / (base > 0 ? base : 1)));
    }
    freeCase(&c);
  }
}

static void testSettings(void) { forAllPairs(checkSettings, 13); }

DJT_MAIN(testDerivatives, testSettings)
