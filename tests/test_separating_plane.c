// The separating-plane model itself: barrier, small factorizations, reference values in 50 digits,
// half spaces as limits of boxes, balance of momentum, the end of the range, starts and warm
// starts, lagged forces.

#include "common/pair_case.h"
#include "common/test.h"
#include "common/worst.h"
#include "math/barrier.h"
#include "contact/plane/plane_lag.h"
#include "contact/plane/plane_pair.h"
#include "contact/plane/separating_plane.h"
#include "math/small.h"

#include <dijoco/contact.h>

static const djKernel* const kernel = &dj_separatingPlane;

#define CLOSE(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance) * fabs(y))

static djPlaneState* planeState(PairCase* c) { return (djPlaneState*)(void*)c->state.bytes; }

// ------------------------------------------ building blocks ------------------------------------

typedef struct BarrierCase {
  double x;
  djBarrier law;
} BarrierCase;

static void barrierAt(double* y, void* user, double e) {
  const BarrierCase* c = user;
  dj_barrier(y, c->x + e, c->law);
}

static void slopeBySupport(double* y, void* user, double e) {
  const BarrierCase* c = user;
  double p[3];
  dj_barrier(p, c->x, (djBarrier){c->law.s + e, c->law.law});
  y[0] = p[1];
}

static double barrierAsWritten(djBarrier law, double x) {
  const double s = law.s, d = s - x;
  return law.law == DJ_BARRIER_SDRS ? pow(d, 4) / pow(x, 5) : -d * d * log(x / s) / (s * s * s);
}

static void testBarrier(void) {
  Random r = {1};
  for (int i = 0; i < 300; i++) {
    double p[3], d[3];
    BarrierCase c;
    const double s = c.law.s = logUniform(&r, 1e-4, 0.9), t = c.x = s * uniform(&r, 0.02, 0.999);
    c.law.law = (djBarrierLaw)(i % DJ_NBARRIER);
    dj_barrier(p, t, c.law);
    assert_true(p[0] > 0 && p[1] < 0 && p[2] > 0);
    CLOSE(p[0], barrierAsWritten(c.law, t), 1e-12);
    extrapolate(d, 2, 0.02 * fmin(t, s - t), 1, barrierAt, &c);
    CLOSE(d[0], p[1], 1e-9);
    CLOSE(d[1], p[2], 1e-9);
    assert_false(fabs(d[0] - 1.00001 * p[1]) <= 1e-9 * fabs(p[1]));
    extrapolate(d, 1, 0.02 * fmin(t, s - t), 1, slopeBySupport, &c);
    CLOSE(d[0], dj_barrierBySupport(t, c.law), 1e-9);
    // by lanes, and zero outside the mask
    djLanes lanes[3], at = {t, 2 * s, t, s, t, 0.5 * t, t, t};
    dj_barrierLanes(lanes, at, c.law, (at < s) & dju_firstLanes(7));
    for (int k = 0; k < 3; k++) {
      CLOSE(lanes[k][0], p[k], 1e-14);
      assert_true(lanes[k][1] == 0 && lanes[k][3] == 0 && lanes[k][7] == 0);
      assert_true(fabs(lanes[k][5]) > fabs(p[k]));
    }
  }
  for (djBarrierLaw law = 0; law < DJ_NBARRIER; law++) {
    double p[3];
    dj_barrier(p, 0.1, (djBarrier){0.1, law});
    assert_true(p[0] == 0 && p[1] == 0 && p[2] == 0);
    dj_barrier(p, 0, (djBarrier){0.1, law});
    assert_true(isinf(p[0]) && p[1] == 0);
    dj_barrier(p, -1, (djBarrier){0.1, law});
    assert_true(isinf(p[0]));
  }
}

// The inverse of -P' s^2 = y, from a bound of it and a guess; what is near the onset; names.
static void testBarrierRows(void) {
  for (djBarrierLaw law = 0; law < DJ_NBARRIER; law++) {
    const djBarrierRow* row = &dj_barrierRows[law];
    double p[3];
    for (double q = 1e-7; q < 1e7; q *= 1.7) {
      dj_barrier(p, 0.3 / (1 + q), (djBarrier){0.3, law});
      const double y = -p[1] * 0.09, most = row->most_depth(y), near = row->near_depth(y);
      assert_true(most > q * (1 - 1e-8) && most < 2 * q);
      assert_true(near > 0.9 * q && near < 1.1 * q);
      CLOSE(dj_barrierDepth(law, y), q, 1e-8);
      dj_barrier(p, 0.3 / (1 + dj_barrierDepth(law, y)), (djBarrier){0.3, law});
      CLOSE(-p[1] * 0.09, y, 1e-8);
    }
    dj_barrier(p, 0.3 * (1 - 1e-5), (djBarrier){0.3, law});
    CLOSE(-p[1] * 0.09, dj_barrierOnset(law, 1e-5), 1e-4);
    CLOSE(p[0] * 0.3, row->coarse, 1e-4);
    djBarrierLaw found;
    assert_true(dj_barrierOf(&found, row->law) && found == law);
  }
  djBarrierLaw found;
  assert_false(dj_barrierOf(&found, DJ_LAW_HERTZ));
  assert_int_equal(found, DJ_BARRIER_SDRS);
}

static void testSmallMatrices(void) {
  Random r = {2};
  for (int i = 0; i < 500; i++) {
    // A = sum of columns g g^T, condition up to 1e12
    double A[10] = {0}, b[4], x[4], y[4], z[4], size = logUniform(&r, 1e-6, 1);
    for (int c = 0; c < 4; c++) {
      double g[4], weight = c == 0 ? 1 : pow(size, c / 3.0);
      for (int k = 0; k < 4; k++) g[k] = weight * uniform(&r, -1, 1);
      for (int j = 0, at = 0; j < 4; j++) {
        for (int k = j; k < 4; k++, at++) A[at] += g[j] * g[k];
      }
    }
    for (int k = 0; k < 4; k++) b[k] = uniform(&r, -1, 1);
    djLdl4 f;
    assert_true(dju_factorLdl4(&f, A));
    dju_solveLdl4(x, &f, b);
    dju_mulSym4(y, A, x);
    double scale = 0;
    for (int k = 0; k < 4; k++) scale = djt_worst(scale, fabs(x[k]));
    for (int k = 0; k < 4; k++) assert_true(fabs(y[k] - b[k]) <= 1e-14 * scale + 1e-13);
    // the fast one loses digits with the square of the condition
    if (dju_solveSpd4(z, A, b)) {
      double least = 1 / fmax(fmax(f.inv[0], f.inv[1]), fmax(f.inv[2], f.inv[3]));
      for (int k = 0; k < 4; k++) {
        assert_true(fabs(z[k] - x[k]) <= 1e-14 * scale / (least * least));
      }
    } else {
      assert_true(size < 1e-2);
    }
    // B^T A^-1 B by the half solve
    double Y[4], sum = 0, direct = 0;
    dju_forwardLdl4(Y, &f, b, 1);
    for (int k = 0; k < 4; k++) {
      sum += Y[k] * Y[k] * f.inv[k];
      direct += b[k] * x[k];
    }
    CLOSE(sum, direct, 1e-6);
  }
  // a direction without curvature is held
  double A[10] = {2, 0, 0, 0, 0, 0, 0, 3, 1, 2}, b[4] = {2, 0, 4, 3}, x[4];
  djLdl4 f;
  assert_false(dju_factorLdl4(&f, A));
  assert_true(f.inv[1] == 0);
  dju_solveLdl4(x, &f, b);
  assert_true(fabs(x[0] - 1) + fabs(x[1]) + fabs(x[2] - 1) + fabs(x[3] - 1) < 1e-14);
  assert_false(dju_solveSpd4(x, A, b));
}

static void testLanes(void) {
  double x[8][8], sum[8];
  djLanes v[8];
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 8; k++) x[i][k] = 100 * i + k * k - 3 * ((i + k) % 5);
    v[i] = dju_loadLanes(x[i]);
  }
  dju_sumEight(sum, v);
  for (int i = 0; i < 8; i++) {
    double total = 0, least = INFINITY;
    for (int k = 0; k < 8; k++) {
      total += x[i][k];
      least = fmin(least, x[i][k]);
    }
    assert_true(sum[i] == total && dju_sumLanes(v[i]) == total && dju_least(v[i]) == least);
    for (int k = -1; k < 10; k++) {
      djMask m = dju_firstLanes(k);
      int n = 0;
      for (int j = 0; j < 8; j++) n += m[j] != 0;
      assert_true(n == (k < 0 ? 0 : k > 8 ? 8 : k));
      assert_true(dju_any(m) == (n > 0));
    }
  }
}

// ------------------------------------------ reference values -----------------------------------

// Made with mpmath in 60 digits: Newton on U_p = 0 for the same vertices, with a line search, until
// the squared decrement is below 1e-58 U; vertex gradients by sigma P' n; Hessian entries by
// fourth-order central differences of U over exact rotations, with steps of 1e-10.
typedef struct Reference {
  int na, nb;
  double a[24], b[24];
  double ra, rb, s, L, value;
  double plane[4];
  double force[3];         // on a: minus the sum of its vertex gradients
} Reference;

static const Reference references[] = {
    {1, 1, {0, 0, 0}, {0, 0, 1.25}, 0.5, 0.625, 0.1, 1, 9.749927178406890287,
     {0, 0, 0.93032031683641760224, -0.52330517822048490126}, {0, 0, -779.97116167611281903}},
    {4, 4, {0, 0, 0, 1, 0.125, 0.0625, 0.25, 1, -0.125, 0.375, 0.25, -1},
     {0.25, 0.375, 0.375, 0.125, 0.25, 1.5, 1.25, 0.5, 0.75, 0.5, 1.5, 1}, 0.0625, 0.03125, 0.2, 1,
     1.800633973522188182991723,
     {-0.07688810117409640830158839, 0.1195435524272464122260408, 0.8477900212153581508013311,
      -0.1890784100521563853344828},
     {5.904910615259249918824016, -9.180796260205520705817352, -65.10922001377237406549782}},
    {8, 8, {-0.5, -0.5, -0.5, 0.5, -0.5, -0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5, -0.5, -0.5, 0.5,
            0.5, -0.5, 0.5, -0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
     {-0.25, -0.375, 0.625, 0.75, -0.375, 0.625, -0.25, 0.625, 0.625, 0.75, 0.625, 0.625, -0.25,
      -0.375, 1.625, 0.75, -0.375, 1.625, -0.25, 0.625, 1.625, 0.75, 0.625, 1.625}, 0, 0, 0.1, 1,
     34.7711961576055208301064,
     {0.002877888557993325432645093, 0.001415509330131938246272469, 0.9372878372280973957949466,
      -0.5276726138436871969541301},
     {-8.5890452000035232984, -4.2245811026147886279, -2797.3312507204959543}},
    // crossed edges of a millimetre, L = 1 mm
    {4, 4, {-0.001, 0, 0, 0.001, 0, 0, 0, 0.001, -0.001, 0, -0.001, -0.001},
     {0, -0.001, 0.00015625, 0.0005, 0.001, 0.00015625, 0.001, 0, 0.002, -0.001, 0, 0.002}, 0, 0,
     0.1, 0.001, 1.32164300427295313323916,
     {0.001317466344692906553224903, -0.0003290779158168307431847291,
      0.9221369746099138028767699, -0.00007228370087380671716389404},
     {-173.31370911034608174, 43.290452470580091809, -121307.82696744335433}},
};
enum { NREFERENCE = sizeof references / sizeof references[0] };

static djcShape vertexShape(int n, const double* vert, double radius) {
  return (djcShape){.nvert = n, .vert = vert, .radius = radius};
}

static void testReferences(void) {
  for (int i = 0; i < NREFERENCE; i++) {
    const Reference* ref = &references[i];
    djcShape a = vertexShape(ref->na, ref->a, ref->ra), b = vertexShape(ref->nb, ref->b, ref->rb);
    djcOption option = djc_defaultOption();
    option.support = ref->s;
    option.length_scale = ref->L;
    djcResult result;
    double ga[24], gb[24];
    assert_int_equal(djc_pair(&result, ga, gb, NULL, &a, &b, &option), DJ_OK);
    CLOSE(result.value, ref->value, 1e-12);
    double n = fabs(ref->plane[2]), f = fabs(ref->force[2]);
    assert_true(result.has_plane);
    for (int k = 0; k < 3; k++) assert_true(fabs(result.plane[k] - ref->plane[k]) < 1e-13 * n);
    CLOSE(result.plane[3], ref->plane[3], 1e-13);
    for (int k = 0; k < 3; k++) {
      double on_a = 0, on_b = 0;
      for (int j = 0; j < ref->na; j++) on_a -= ga[3 * j + k];
      for (int j = 0; j < ref->nb; j++) on_b -= gb[3 * j + k];
      assert_true(fabs(on_a - ref->force[k]) < 2e-12 * f);
      assert_true(fabs(on_a + on_b) < 2e-12 * f);
      assert_true(fabs(on_a + result.twist_gradient[3 + k]) < 2e-12 * f);
    }
  }
}

static void testReferenceHessian(void) {
  static const struct {
    int i, j;
    double value;
  } entry[] = {{5, 5, 2248.3611394428419091},   {0, 0, 260.52453900172930127},
               {1, 9, -121.54674811949995852},  {6, 10, 103.72448191524711265},
               {8, 8, 16.434956903522463024},   {2, 7, -109.21966382444313042}};
  const Reference* ref = &references[1];
  djcShape a = vertexShape(ref->na, ref->a, ref->ra), b = vertexShape(ref->nb, ref->b, ref->rb);
  b.origin[0] = 1;
  djcOption option = djc_defaultOption();
  option.support = ref->s;
  djcResult result;
  assert_int_equal(djc_pair(&result, NULL, NULL, NULL, &a, &b, &option), DJ_OK);
  for (int k = 0; k < 6; k++) {
    CLOSE(result.twist_hessian[12 * entry[k].i + entry[k].j], entry[k].value, 2e-12);
    CLOSE(result.twist_hessian[12 * entry[k].j + entry[k].i], entry[k].value, 2e-12);
  }
}

// The minimiser over (t, o), also in 60 digits: vertices at heights 0.09375, 0.125, 0.15625, 1.5.
static void testHalfSpaceReference(void) {
  const double vert[12] = {0, 0, 0.09375, 1, 0, 0.125, 0, 1, 0.15625, 0, 0, 1.5};
  djcShape a = vertexShape(4, vert, 0), b = {.geom = DJ_PLANE, .quat = {1, 0, 0, 0}};
  djcOption option = djc_defaultOption();
  option.support = 0.1;
  djcResult result;
  assert_int_equal(djc_pair(&result, NULL, NULL, NULL, &a, &b, &option), DJ_OK);
  CLOSE(result.value, 235.8961501968255856382071, 1e-12);
  CLOSE(result.plane[2], -0.9466305228702376382785357, 1e-13);
  CLOSE(result.plane[3], 0.04797722351950699657140052, 1e-13);
}

// A box of half size R, and the plane that is its face for R to infinity: differences fall as 1/R.
static void testHalfSpaceLimit(void) {
  const double vert[12] = {0, 0, 0.0375, 1, 0.25, 0.05, -0.5, 1, 0.042, 0, 0, 1.5};
  double values[2], error[2];
  for (int i = 0; i < 2; i++) {
    double R = i ? 1e4 : 1e2, box[24];
    djcOption option = djc_defaultOption();
    option.support = 0.03;
    boxVertices(box, R, R, R);
    for (int k = 0; k < 8; k++) box[3 * k + 2] -= R;
    djcShape a = vertexShape(4, vert, 0.01), b = vertexShape(8, box, 0);
    djcShape plane = {.geom = DJ_PLANE, .quat = {1, 0, 0, 0}};
    djcResult hull, half;
    assert_int_equal(djc_pair(&hull, NULL, NULL, NULL, &a, &b, &option), DJ_OK);
    assert_int_equal(djc_pair(&half, NULL, NULL, NULL, &a, &plane, &option), DJ_OK);
    values[i] = hull.value;
    error[i] = fabs(hull.value - half.value) / half.value;
    assert_true(half.value > 0);
    if (i == 0) continue;
    for (int k = 0; k < 12; k++) {   // b's rotations have no counterpart at its far corners
      assert_true(fabs(hull.twist_gradient[k] - half.twist_gradient[k]) <
                  1e-3 * fabs(half.twist_gradient[5]));
    }
  }
  assert_true(error[0] < 0.05 && error[1] < 0.03 * error[0] && values[0] != values[1]);
}

// ------------------------------------------ the inner problem ----------------------------------

// Forces and torques on both bodies balance to rounding because the plane is at its minimum, also
// where the problem is ill-conditioned: corner to corner, edge to edge, far from the origin.
static void testBalance(void) {
  Random r = {3};
  const int types[] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_MESH};
  double worst = 0;
  for (int i = 0; i < 4000; i++) {
    PairCase c;
    double s = logUniform(&r, 1e-4, 0.2);
    int a = types[below(&r, 4)], b = types[below(&r, 4)];
    randomPair(&c, &r, a, b, 1, s, 1, uniform(&r, 0.05, 0.99));
    djPairOutput out;
    assert_int_equal(beginCase(&c, kernel), DJ_OK);
    assert_int_equal(kernel->eval(&out, stateOf(&c), pairInput(&c), DJ_EVAL_GRADIENT), DJ_OK);
    djVec3 fa = dju_load3(out.gradient + 3), fb = dju_load3(out.gradient + 9);
    djVec3 ta = dju_add3(dju_load3(out.gradient), dju_cross3(c.ref[0], fa));
    djVec3 tb = dju_add3(dju_load3(out.gradient + 6), dju_cross3(c.ref[1], fb));
    double f = dju_norm3(fa), part = dju_norm3(dju_add3(fa, fb)) / f;
    part = djt_worst(part, dju_norm3(dju_add3(ta, tb)) / (f * 5));
    worst = djt_worst(worst, part * s);   // arguments are exact to eps/s
    freeCase(&c);
  }
  assert_true(worst < 1e-13);
}

// Beyond 2sL/(1-s) nothing acts; just inside, U falls as the fourth power of the depth, the
// gradient as the third, the Hessian as the second.
static void testRangeEnd(void) {
  Random r = {4};
  const int types[] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_MESH, DJ_PLANE};
  for (int i = 0; i < 60; i++) {
    PairCase c;
    double L = logUniform(&r, 0.1, 10), s = logUniform(&r, 1e-3, 0.3);
    int b = types[below(&r, 5)];
    randomPair(&c, &r, types[below(&r, 4)], b, L, s, L, 0.9);
    double range = planeRange(s, L), value[2], g[2], H[2];
    CLOSE(range, 2 * s * L / (1 - s), 1e-15);
    for (int k = 0; k < 2; k++) {
      djPairOutput out;
      setGap(&c, range * (1 - (k ? 1e-4 : 2e-4)));
      assert_int_equal(beginCase(&c, kernel), DJ_OK);
      assert_int_equal(kernel->eval(&out, stateOf(&c), pairInput(&c), DJ_EVAL_HESSIAN), DJ_OK);
      assert_true(out.active && out.value > 0);
      value[k] = out.value;
      g[k] = dju_norm3(dju_load3(out.gradient + 3));
      H[k] = out.hessian[39] + out.hessian[52] + out.hessian[65];
      setGap(&c, range * (1 + 1e-9));
      assert_int_equal(beginCase(&c, kernel), DJ_OK);
      assert_int_equal(kernel->eval(&out, stateOf(&c), pairInput(&c), DJ_EVAL_HESSIAN), DJ_OK);
      assert_true(!out.active && out.value == 0 && out.hessian[39] == 0);
    }
    assert_true(fabs(log2(value[0] / value[1]) - 4) < 0.05);
    assert_true(fabs(log2(g[0] / g[1]) - 3) < 0.05);
    assert_true(fabs(log2(H[0] / H[1]) - 2) < 0.05);
    freeCase(&c);
  }
}

// Any start gives the same minimum: planes turned, shifted, shortened, or no numbers at all.
static void testStarts(void) {
  Random r = {5};
  int worst = 0;
  for (int i = 0; i < 400; i++) {
    PairCase c;
    randomPair(&c, &r, DJ_MESH, i % 2 ? DJ_BOX : DJ_MESH, 1, 0.02, 1, uniform(&r, 0.1, 0.98));
    djPlaneState* st = planeState(&c);
    djPairOutput out, again;
    djFound f;
    djPlaneWork w;
    assert_int_equal(beginCase(&c, kernel), DJ_OK);
    assert_int_equal(kernel->eval(&out, stateOf(&c), pairInput(&c), DJ_EVAL_GRADIENT), DJ_OK);
    djPlaneState good = *st;
    for (int k = 0; k < 8; k++) {
      *st = good;
      double size = logUniform(&r, 1e-6, 1);
      for (int j = 0; j < 4; j++) st->plane[j] += size * uniform(&r, -1, 1);
      if (k == 5) st->plane[0] = NAN;
      if (k == 6) memset(st->plane, 0, sizeof st->plane);
      if (k == 7) st->center = dju_scale3(3, randomUnit(&r));
      st->normal = randomUnit(&r);
      assert_int_equal(dj_openPlaneWork(&w, pairInput(&c), &st->erosion, false), DJ_OK);
      assert_int_equal(dj_findPlane(&f, &w, st), DJ_OK);
      assert_int_equal(f.kind, DJ_TOUCHING);
      worst = f.iterations > worst ? f.iterations : worst;
      assert_int_equal(kernel->eval(&again, stateOf(&c), pairInput(&c), DJ_EVAL_GRADIENT), DJ_OK);
      CLOSE(again.value, out.value, 1e-10);
    }
    freeCase(&c);
  }
  assert_true(worst < 60);
}

// Slender and flat shapes, and all ratios of sizes.
static void testNeedles(void) {
  Random r = {6};
  for (int i = 0; i < 1500; i++) {
    PairCase c;
    randomPair(&c, &r, DJ_BOX, DJ_BOX, 1, 0.01, 1, 0.5);
    for (int b = 0; b < 2; b++) {
      double dims[3];
      for (int k = 0; k < 3; k++) dims[k] = logUniform(&r, 1e-4, b ? 10 : 1);
      freeShape(&c.shape[b]);
      setGeom(&c.shape[b], i % 3 == b ? DJ_MESH : DJ_BOX, dims, 60, &r);
    }
    c.size = 10;
    c.now[1].p = dju_madd3(c.now[0].p, 30, randomUnit(&r));
    setGap(&c, uniform(&r, 0.02, 0.98) * planeRange(0.01, 1));
    djPairOutput out;
    assert_int_equal(beginCase(&c, kernel), DJ_OK);
    assert_int_equal(kernel->eval(&out, stateOf(&c), pairInput(&c), DJ_EVAL_HESSIAN), DJ_OK);
    assert_true(out.active && out.value > 0 && isfinite(out.value));
    for (int k = 0; k < 144; k++) assert_true(isfinite(out.hessian[k]));
    freeCase(&c);
  }
}

// Inflation is a change of radii; it never makes them negative.
static void testInflation(void) {
  Random r = {7};
  for (int i = 0; i < 100; i++) {
    PairCase c;
    randomPair(&c, &r, i % 2 ? DJ_SPHERE : DJ_BOX, i % 3 ? DJ_CAPSULE : DJ_PLANE, 1, 0.02, 1, 0.5);
    djPairOutput out, same;
    double delta = uniform(&r, -0.2, 0.2);
    c.in.inflate = delta;
    setGap(&c, 0.7 * planeRange(0.02, 1));
    assert_int_equal(beginCase(&c, kernel), DJ_OK);
    assert_int_equal(kernel->eval(&out, stateOf(&c), pairInput(&c), DJ_EVAL_HESSIAN), DJ_OK);
    assert_true(out.active);
    c.in.inflate = 0;
    c.shape[i % 3 ? 1 : 0].shape.radius += delta;
    c.shape[i % 3 ? 1 : 0].shape.bound += delta;
    if (c.shape[0].shape.radius >= 0 || i % 3 == 0) {
      assert_int_equal(beginCase(&c, kernel), DJ_OK);
      assert_int_equal(kernel->eval(&same, stateOf(&c), pairInput(&c), DJ_EVAL_HESSIAN), DJ_OK);
      CLOSE(same.value, out.value, 1e-10);
      CLOSE(same.hessian[39], out.hessian[39], 1e-9);
    }
    freeCase(&c);
  }
  // two boxes cannot shrink by inflation
  PairCase c;
  randomPair(&c, &r, DJ_BOX, DJ_BOX, 1, 0.02, 1, 0.7);
  djPairOutput out, same;
  assert_int_equal(beginCase(&c, kernel), DJ_OK);
  assert_int_equal(kernel->eval(&out, stateOf(&c), pairInput(&c), 0), DJ_OK);
  c.in.inflate = -0.01;
  assert_int_equal(beginCase(&c, kernel), DJ_OK);
  assert_int_equal(kernel->eval(&same, stateOf(&c), pairInput(&c), 0), DJ_OK);
  CLOSE(same.value, out.value, 1e-12);
  freeCase(&c);
}

// ------------------------------------------ lagged forces --------------------------------------

// Friction's normal forces add up to the normal force on either side, few points or many, and are
// bounded in recovery.
static void testLaggedForces(void) {
  Random r = {10};
  for (int i = 0; i < 200; i++) {
    PairCase c;
    bool plane = i % 4 == 0, many = i % 2 == 0;
    randomPair(&c, &r, DJ_BOX, plane ? DJ_PLANE : DJ_BOX, 1, 0.02, 1, 0.9);
    if (many) {   // a prism of 40 sides stands on its face
      double vert[240];
      for (int k = 0; k < 80; k++) {
        double angle = 2 * 3.141592653589793 * (k / 2) / 40;
        dju_store3(vert + 3 * k, dju_vec3(cos(angle), sin(angle), k % 2 ? 0.5 : -0.5));
      }
      freeShape(&c.shape[0]);
      assert_int_equal(setHull(&c.shape[0], 80, vert), DJ_OK);
      c.shape[0].shape.type = DJ_MESH;
      c.now[0] = poseOf(dju_vec3(0, 0, 0), (djQuat){1, 0, 0, 0});
      c.now[1] = poseOf(dju_vec3(0.1, 0.2, -3), (djQuat){1, 0, 0, 0});
      c.shape[1].shape.normal = dju_vec3(0, 0, 1);
      c.size = 2;
    }
    c.in.recover = i % 8 >= 4;
    setGap(&c, (c.in.recover ? -0.2 : 0.9) * planeRange(0.02, 1));
    c.friction = 0.5;
    c.in.force_cap = 10;
    djPairOutput out;
    assert_int_equal(beginCase(&c, kernel), DJ_OK);
    assert_int_equal(kernel->eval(&out, stateOf(&c), pairInput(&c), DJ_EVAL_GRADIENT), DJ_OK);
    djPlaneState* st = planeState(&c);
    djPlaneWork w;
    djLagged lagged;
    assert_true(st->lagged);
    assert_int_equal(dj_openPlaneWork(&w, pairInput(&c), &st->erosion, false), DJ_OK);
    assert_int_equal(dj_getLagged(&lagged, st, &w), DJ_OK);
    if (many) assert_true(lagged.n > DJ_LAGGED_POINTS);
    double sum[2] = {0, 0}, f = dju_norm3(dju_load3(out.gradient + 3));
    for (int k = 0; k < lagged.n; k++) {
      assert_true(lagged.force[k] > 0);
      sum[k >= lagged.na] += lagged.force[k];
    }
    if (!plane) CLOSE(sum[1], sum[0], 1e-11);
    if (c.in.recover) {
      assert_true(sum[0] < 10 * (1 + 1e-12) && sum[0] > 9);
    } else {
      CLOSE(sum[0], f, 1e-11);
    }
    // points lie on the side of their bodies
    for (int k = 0; k < lagged.n; k++) {
      double h = dju_dot3(lagged.normal, dju_load3(lagged.point + 3 * k)) + lagged.offset;
      assert_true(c.in.recover || (k < lagged.na ? h < 0 : h > 0));
    }
    freeCase(&c);
  }
}

// The report adds up: forces are opposite, the point lies between the shapes.
static void testReport(void) {
  Random r = {11};
  const int types[] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_MESH, DJ_PLANE};
  for (int i = 0; i < 200; i++) {
    PairCase c;
    int a = types[below(&r, 4)], b = types[below(&r, 5)];
    randomPair(&c, &r, a, b, 1, 0.02, 1, uniform(&r, 0.05, 0.99));
    djPairReport report;
    djDistance d;
    double range = planeRange(0.02, 1);
    c.friction = 0.5;
    c.in.recover = i % 2;
    assert_int_equal(beginCase(&c, kernel), DJ_OK);
    assert_int_equal(kernel->report(&report, stateOf(&c), pairInput(&c)), DJ_OK);
    dj_distance(&d, NULL, &c.shape[0].shape, &c.now[0], 0, &c.shape[1].shape, &c.now[1], 0);
    assert_true(fabs(report.gap_start - d.gap) < 1e-12);
    assert_true(report.recovering == (c.in.recover && d.gap < 0.8 * range));
    if (!report.recovering) assert_true(fabs(report.gap - d.gap) < 1e-12);
    djVec3 fa = dju_load3(report.wrench_a + 3), fb = dju_load3(report.wrench_b + 3);
    CLOSE(dju_norm3(fa), report.normal_force, 1e-9);
    assert_true(dju_norm3(dju_add3(fa, fb)) < 1e-10 * report.normal_force);
    CLOSE(dju_dot3(fb, report.normal), report.normal_force, 1e-10);
    // between the support planes of both shapes along the normal
    if (report.recovering) {
      freeCase(&c);
      continue;
    }
    double low = dju_dot3(report.normal, dju_sub3(d.point_a, report.point));
    double high = dju_dot3(report.normal, dju_sub3(d.point_b, report.point));
    assert_true(low < 0.1 * range && high > -0.1 * range);
    freeCase(&c);
  }
}

DJT_MAIN(testBarrier, testBarrierRows, testSmallMatrices, testLanes, testReferences,
         testReferenceHessian, testHalfSpaceReference, testHalfSpaceLimit, testBalance, testRangeEnd, testStarts,
         testNeedles, testInflation, testLaggedForces, testReport)
