// The declared smoothness of every row of the kernel table; and of barriers extreme poses and
// sizes, recovery.

#include "common/kernel_case.h"
#include "common/test.h"

// ------------------------------------------ smoothness -----------------------------------------

// Along a path through the end of the range, recovery's threshold and changes of the touching
// features, derivatives up to the declared order do not jump: the interval of the largest change is
// divided, and again, until its parts change less: by a factor of 20^1/2 at least where a law's
// curvature begins as the root of the depth. A jump would stay in one of them. (Changes may be
// quick: a second vertex that enters the support stiffens the plane's tilt by size^2 P''.)
typedef struct Path {
  const djKernel* k;
  PairCase* c;
  djPose base;
  double dir[6];
  bool begin; // move the start too
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
  double scale = order == 1 ? djt_largest(out.gradient, 12) : djt_largest(out.hessian, 144);
  double change = largestChange(&at, p, order, t0, t1, n);
  for (int level = 0; level < 5; level++) {
    double width = (t1 - t0) / n;
    t0 += (at - 1) * width;
    t1 = t0 + 2 * width;
    n = PARTS;
    double finer = largestChange(&at, p, order, t0, t1, n);
    if (finer < 0.25 * change || finer < 1e-8 * scale) return true;
    change = finer;
  }
  return false;
}

static void checkSmoothness(const djKernel* k, Random* r, int type_a, int type_b) {
  for (int i = 0; i < some(6, type_a, type_b); i++) {
    PairCase c;
    movingPair(&c, k, r, type_a, type_b, 0.75);
    memcpy(c.now, c.start, sizeof c.now);
    c.friction = 0;
    double range = rangeOf(k, &c);
    if (range == 0 || range == INFINITY) range = 0.1;
    const djDistance d = apartOf(&c);
    c.ref[1] = d.point_b;
    Path p = {k, &c, c.now[1], {0}, i % 2 == 1};
    c.in.recover = p.begin;
    dju_store3(p.dir, dju_scale3(0.05, randomUnit(r)));
    dju_store3(p.dir + 3, dju_madd3(dju_scale3(0.5 * range, d.normal), 0.02, randomUnit(r)));
    assert_int_equal(beginNew(k, &c), DJ_OK);
    if (k->smoothness >= DJ_C1) assert_true(isContinuous(&p, 1));
    // The exception of implicit surfaces: an exponent of 1. It does jump, unless damping, by a start
    // that stays, holds back all force where shapes part.
    const bool linear = k == &dj_implicitSurface &&
                        pairInput(&c)->setting[DJ_IMPLICIT_EXPONENT] == 1 &&
                        traitsOf(k, &c).overlaps;
    if (k->smoothness >= DJ_C2 && !linear) assert_true(isContinuous(&p, 2));
    if (linear && p.begin) assert_false(isContinuous(&p, 2));
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

static void testSmoothness(void) {
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
    double s = logUniform(r, 1e-4, 0.3);
    const double part = logUniform(r, 0.01, 0.98);
    randomPair(&c, r, type_a, type_b, size, s, size, part);
    useKernel(&c, k);
    if (k == &dj_implicitSurface) setSurfaceGap(&c, part * rangeOf(k, &c));
    djPairOutput out;
    c.in.recover = false;
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
    assert_true(out.active && out.value > 0 && isfinite(out.value));
    assert_true(isfinite(djt_largest(out.gradient, 12)) && isfinite(djt_largest(out.hessian, 144)));
    djVec3 fa = dju_load3(out.gradient + 3), fb = dju_load3(out.gradient + 9);
    assert_true(dju_norm3(dju_add3(fa, fb)) <= 1e-8 * dju_norm3(fa));
    freeCase(&c);
  }
}

static void testSizes(void) { forBarriers(checkSizes, 8); }

// Faces, edges and corners exactly aligned; needles 1000 times longer than wide, 50 times those of
// implicit surfaces.
static void checkAligned(const djKernel* k, Random* r, int type_a, int type_b) {
  if (isGround(type_b)) return;
  const bool surfaces = k == &dj_implicitSurface;
  const double thin = surfaces ? 0.02 : 1e-3;
  static const double angle[] = {0, 0.7853981633974483, 1.5707963267948966, 3.141592653589793};
  for (int i = 0; i < some(128, type_a, type_b); i++) {
    PairCase c;
    randomPair(&c, r, type_a, type_b, 1, 0.01, 1, 0.5);
    for (int b = 0; b < 2; b++) {
      double dims[3] = {1, 1, 1};
      if (i % 8 == 7) dims[below(r, 3)] = thin;
      if (i % 8 == 6) dims[0] = dims[1] = thin;
      freeShape(&c.shape[b]);
      setGeom(&c.shape[b], b ? type_b : type_a, dims, 30, r);
      double q[4] = {cos(0.5 * angle[below(r, 4)]), 0, 0, 0};
      q[1 + below(r, 3)] = sqrt(1 - q[0] * q[0]);
      c.now[b].R = dju_quatToMat(dju_loadQuat(q));
      if (i % 4 == 1) { // a corner or an edge up
        djQuat tilt = {cos(0.4776583090622546), sin(0.4776583090622546), 0, 0};
        c.now[b].R = dju_mulMM(dju_quatToMat(tilt), c.now[b].R);
      }
    }
    useKernel(&c, k);
    c.now[0].p = dju_vec3(0, 0, 0);
    double shift = i % 3 == 0 ? 0 : 0.5 * below(r, 3);
    c.now[1].p = dju_vec3(shift, 0.25 * below(r, 2), 4);
    setGap(&c, 0.9 * rangeOf(k, &c));
    djPairOutput out;
    assert_int_equal(beginNew(k, &c), DJ_OK);
    evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
    assert_true(out.active && out.value > 0 && isfinite(out.value));
    assert_true(isfinite(djt_largest(out.hessian, 144)));
    // overlapping: centres nearer than the inscribed balls allow
    const djShape *a = &c.shape[0].shape, *b = &c.shape[1].shape;
    double distance = 0.125 * below(r, 8) * (a->inner + b->inner);
    djVec3 apart = dju_scale3(distance, randomUnit(r));
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
    const double part = report.gap / rangeOf(k, &c);
    assert_true(surfaces ? part > 0.099 && part < 0.201 : part > 0.59 && part < 0.81);
    freeCase(&c);
  }
}

static void testAligned(void) { forBarriers(checkAligned, 9); }

// Without recovery an overlapping start is refused and an overlapping pose has infinite energy.
static void checkOverlap(const djKernel* k, Random* r, int type_a, int type_b) {
  PairCase c;
  randomPair(&c, r, type_a, type_b, 1, 0.01, 1, 0.5);
  useKernel(&c, k);
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
  c.now[1].p = c.start[1].p = dju_sub3(dju_transform(&c.now[0], c.shape[0].shape.center),
                                       dju_mulMV(c.now[1].R, c.shape[1].shape.center));
  c.in.recover = true;
  c.in.force_cap = 1;
  c.friction = 1;
  assert_int_equal(beginNew(k, &c), DJ_OK);
  evalCase(&out, k, &c, DJ_EVAL_HESSIAN);
  assert_true(out.active && isfinite(out.value) && out.value > 0);
  double jac[144], rate_jac[144];
  assert_int_equal(startCase(jac, rate_jac, k, &c), DJ_OK);
  assert_true(isfinite(djt_largest(jac, 144)));
  freeCase(&c);
}

static void testOverlap(void) { forBarriers(checkOverlap, 10); }

DJT_MAIN(testSmoothness, testSizes, testAligned, testOverlap)
