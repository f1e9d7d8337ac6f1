// Recovery's erosion: what it does to a shape in each of its phases, the gap that it makes and how
// fast, and derivatives by the shapes.

#include "common/test.h"
#include "common/varied_shape.h"
#include "contact/friction/recovering.h"
#include "contact/plane/plane_lag.h"
#include "contact/plane/plane_pair.h"
#include "contact/plane/separating_plane.h"

static const djKernel* const kernel = &dj_separatingPlane;

enum { MAXPAD = 32 };

#define CLOSE(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance) * fabs(y))

static djPlaneState* planeState(PairCase* c) { return (djPlaneState*)(void*)c->state.bytes; }

// ------------------------------------------ one shape ------------------------------------------

static const int types[] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_MESH, DJ_ELLIPSOID, DJ_CYLINDER};
enum { NTYPE = sizeof types / sizeof types[0], NPHASE = 4 };

static void randomShape(TestShape* t, Random* r, int type) {
  double dims[3];
  for (int k = 0; k < 3; k++) dims[k] = uniform(r, 0.5, 1);
  setGeom(t, type, dims, 20, r);
  assert_true(t->shape.npad <= MAXPAD);
  djVec3 place = dju_scale3(0.3, randomUnit(r));   // the centre is not the origin
  for (int i = 0; i < t->shape.npad; i++) {
    t->buffer[i] += place.x;
    t->buffer[t->shape.npad + i] += place.y;
    t->buffer[2 * t->shape.npad + i] += place.z;
  }
  t->shape.center = dju_add3(t->shape.center, place);
}

// Where the phases of a pair end: the caps of both shapes, and the least scale.
static void phaseEnds(double end[3], const djErosion* er) {
  end[0] = fmin(er->first_end[0], er->first_end[1]);
  end[1] = fmax(er->first_end[0], er->first_end[1]);
  end[2] = end[1] + 0.98 * er->span;
}

// An erosion in the middle of a phase: before and between both caps, and phases 2 and 3.
static djErosion randomErosion(Random* r, int phase, double span) {
  djErosion er = {.span = span, .centres = 1, .apart = randomUnit(r)};
  double end[3];
  for (int k = 0; k < 2; k++) er.first_end[k] = uniform(r, 0.1, 0.45);
  for (int k = 0; k < 2; k++) er.local[k] = randomUnit(r);
  phaseEnds(end, &er);
  double low = phase > 0 ? end[phase - 1] : 0, high = phase < 3 ? end[phase] : low + 1;
  er.e = low + uniform(r, 0.05, 0.95) * (high - low);
  return er;
}

// As recovery.h says: the vertices by -f m and the radius and semi-axes likewise, f at most the
// shape's own cap; then scaled by S about the centre, to no less than 0.02; then moved by t.
static void expectEroded(const djShape* out, const djShape* s, const djErosion* er, int side) {
  double end[3];
  phaseEnds(end, er);
  double f = fmin(er->e, er->first_end[side]);
  double S = fmax(1 - fmax(er->e - end[1], 0) / er->span, 0.02), t = fmax(er->e - end[2], 0);
  djVec3 shift = dju_scale3(t, er->local[side]), c = s->center;
  for (int i = 0; i < s->npad; i++) {
    djVec3 x = {out->vert[0][i], out->vert[1][i], out->vert[2][i]};
    djVec3 v = {s->vert[0][i], s->vert[1][i], s->vert[2][i]};
    djVec3 m = {s->move[0][i], s->move[1][i], s->move[2][i]};
    djVec3 arm = dju_sub3(dju_madd3(v, -f, m), c);
    assert_true(dju_norm3(dju_sub3(x, dju_add3(dju_madd3(c, S, arm), shift))) < 1e-14);
    // all within the bounding ball about the eroded shape's centre
    double round = s->curved ? dj_curveSize(&out->curve) : 0;
    assert_true(dju_norm3(dju_sub3(x, out->center)) + out->radius + round <=
                out->bound * (1 + 1e-12));
  }
  assert_true(fabs(out->radius - S * (s->radius + f * s->radius_slope)) < 1e-14);
  assert_true(dju_norm3(dju_sub3(out->center, dju_add3(c, shift))) < 1e-14);
  for (int i = 0; i < 9 && s->curved; i++) {
    assert_true(fabs(out->curve.m[i] - S * (s->curve.m[i] - f * s->curve_move.m[i])) < 1e-14);
  }
}

static void testShape(void) {
  Random r = {21};
  for (int i = 0; i < 240; i++) {
    TestShape t;
    djShape out;
    double mem[3 * MAXPAD];
    int side = i / NPHASE % 2;
    randomShape(&t, &r, types[i % NTYPE]);
    djErosion er = randomErosion(&r, i % NPHASE, t.shape.bound * uniform(&r, 1, 2));
    dj_erodeShape(&out, mem, &t.shape, &er, side, false);
    expectEroded(&out, &t.shape, &er, side);
    double end = fmax(er.first_end[0], er.first_end[1]) + 0.98 * er.span;
    assert_true(fabs(dj_erosionShift(&er) - fmax(er.e - end, 0)) < 1e-14);
    freeShape(&t);
  }
}

// Nothing jumps where one phase follows another: over a step of d in e nothing moves by more than
// the fastest of the rates does.
static void testContinuous(void) {
  Random r = {22};
  const double d = 1e-9;
  for (int i = 0; i < 120; i++) {
    TestShape t;
    djShape out[2];
    double mem[2][3 * MAXPAD], end[3];
    int side = i / 3 % 2;
    randomShape(&t, &r, types[i % NTYPE]);
    djErosion er = randomErosion(&r, 0, t.shape.bound * uniform(&r, 1, 2));
    phaseEnds(end, &er);
    for (int k = 0; k < 2; k++) {
      er.e = end[i % 3] + (k - 0.5) * d;
      dj_erodeShape(&out[k], mem[k], &t.shape, &er, side, false);
    }
    for (int k = 0; k < 3 * t.shape.npad; k++) assert_true(fabs(mem[1][k] - mem[0][k]) < 10 * d);
    assert_true(fabs(out[1].radius - out[0].radius) < 10 * d);
    assert_true(dju_norm3(dju_sub3(out[1].center, out[0].center)) < 10 * d);
    for (int k = 0; k < 9; k++) {
      assert_true(fabs(out[1].curve.m[k] - out[0].curve.m[k]) < 10 * d);
    }
    freeShape(&t);
  }
}

// ------------------------------------------ the gap --------------------------------------------

static void gapFunction(double* y, void* user, double e) {
  const double* g = user;
  double derivative;
  y[0] = dj_recoveryGap(&derivative, *g + e);
  y[1] = derivative;
}

// g_eff: identity to second order at 0.8, between 0.6 and 0.8, rising.
static void testRecoveryFunctions(void) {
  double derivative, d[2];
  CLOSE(dj_recoveryGap(&derivative, 0.8), 0.8, 1e-15);
  CLOSE(derivative, 1.0, 1e-15);
  double e = 1e-4, near = dj_recoveryGap(&derivative, 0.8 - e);
  assert_true(fabs(near - (0.8 - e)) < 100 * e * e * e && near > 0.8 - e);
  assert_true(fabs(derivative - 1) < 200 * e * e);
  double last = 0.6;
  for (double g = -1e4; g < 0.8; g += g < -1 ? 0.1 * -g : 0.01) {
    double value = dj_recoveryGap(&derivative, g);
    assert_true(value > last && value < 0.8 && derivative > 0);
    last = value;
    if (g < -100) continue;
    extrapolate(d, 1, 0.01, 1, gapFunction, &g);
    assert_true(fabs(d[0] - derivative) <= 1e-7 * derivative + 1e-13);
  }
  assert_true(dj_recoveryGap(&derivative, -1e9) - 0.6 < 1e-15);
}

typedef struct FactorCase {
  djLagLaw law;
  double x[4];             // F, g, g_, log A
} FactorCase;

static djLagFactor factorOf(const FactorCase* c, const double x[4]) {
  djLagLaw law = c->law;
  law.scale = exp(x[3]);
  return dj_lagFactor(x[0], x[1], x[2], &law);
}

static void factorFunction(double* y, void* user, double e) {
  const FactorCase* c = ((void**)user)[0];
  const int k = *(const int*)((void**)user)[1];
  double x[4];
  memcpy(x, c->x, sizeof x);
  x[k] += e;
  y[0] = factorOf(c, x).c;
}

// What lagged forces are multiplied by: 1 where nothing recovers, a bound in recovery, none of what
// a pair that has left it was not pressed with; and its derivatives.
static void testLagFactor(void) {
  const djLagLaw plane = {0.8, 0.6, log(8e-6), 0.1, 1, 2.5, 0};
  const djLagLaw surface = {0.2, 0.1, 0, 0, 1, 2.5, 0};
  Random r = {81};
  int shares = 0, bounds = 0;
  for (int k = 0; k < 4000; k++) {
    FactorCase c = {k % 2 ? plane : surface, {0}};
    c.law.barrier = (djBarrierLaw)(k / 2 % DJ_NBARRIER);
    const double from = c.law.from, width = from - c.law.floor;
    c.x[1] = uniform(&r, from - 2 * width, 1);
    c.x[2] = c.x[1] + uniform(&r, -2, 0.3) * width;
    c.x[3] = uniform(&r, -2, 14);
    c.x[0] = exp(c.x[3] + uniform(&r, -14, 3));
    const djLagFactor f = factorOf(&c, c.x);
    assert_true(f.c >= 0 && f.c <= 1);
    if (c.x[1] >= from && c.x[2] >= from) assert_true(f.c == 1);
    if (c.x[1] <= c.law.floor) assert_true(f.c * c.x[0] <= c.law.weight * (1 + 1e-14));
    if (c.x[2] >= c.x[1] || c.x[2] >= from) assert_true(f.by_past == 0 && f.by_scale == 0);
    const double by[4] = {f.by_force, f.by_gap, f.by_past, f.by_scale};
    shares += f.by_past != 0;
    bounds += f.by_force != 0 && f.by_past == 0;
    for (int i = 0; i < 4; i++) {
      double d[1];
      void* user[2] = {&c, &i};
      extrapolate(d, 1, 1e-4 * (i == 0 ? c.x[0] : width), 1, factorFunction, user);
      const double unit = i == 0 ? c.x[0] : i == 3 ? 1 : width;
      assert_true(fabs(d[0] - by[i]) * unit < 1e-5 * (1 + fabs(by[i]) * unit));
    }
  }
  assert_true(shares > 300 && bounds > 100);
  // As the last step had it: eroded by e_ and softer, whose barrier is at u + e_.
  const double g = 0.95, past = 0.7, e = dj_recoveryGap(&(double){0}, past) - past;
  const double own = pow(1 - g, 3) * (5 - g) / pow(g, 6), v = g + e;
  const double was = 2.828e-3 * pow(1 - v, 3) * (5 - v) / pow(v, 6);
  const double c = dj_lagFactor(own, g, past, &plane).c;
  assert_true(c > 0.5 * was / own && c < 2 * was / own);
  // Nothing is bounded without a weight or where nothing recovers.
  assert_true(dj_lagFactor(1e9, INFINITY, INFINITY, &plane).c == 1);
  const djLagLaw free = {0.8, 0.6, 0, 0, 1, INFINITY, 0}, none = {0.8, 0.6, 0, 0, 1, 0, 0};
  assert_true(dj_lagFactor(1e9, 0, INFINITY, &free).c == 1);
  assert_true(dj_lagFactor(1e9, 0, INFINITY, &none).c == 1);
}

static double gapNow(PairCase* c, const djPlaneState* st) {
  djPlaneWork w;
  djDistance d;
  djPlaneState copy = *st;
  double gap;
  assert_int_equal(dj_openPlaneWork(&w, pairInput(c), &st->erosion, true), DJ_OK);
  assert_int_equal(dj_pairDistance(&gap, &d, &w, &copy), DJ_OK);
  return gap;
}

// Caps are 0.95 of the inner radius, skin included; the larger bounding ball shrinks as fast as e
// grows; shapes part along the line of their centres, a backwards.
static void expectPath(const djErosion* er, const PairCase* c) {
  djVec3 centre[2];
  for (int k = 0; k < 2; k++) {
    const djShape* s = &c->shape[k].shape;
    centre[k] = dju_transform(&c->start[k], s->center);
    assert_true(fabs(er->first_end[k] - fmax(0.95 * s->inner - s->skin, 0)) < 1e-15);
    djVec3 local = dju_mulMV(c->start[k].R, er->local[k]);
    assert_true(dju_norm3(dju_madd3(local, k ? -1 : 1, er->apart)) < 1e-14);
  }
  assert_true(er->span == fmax(c->shape[0].shape.bound, c->shape[1].shape.bound));
  assert_true(fabs(dju_norm3(er->apart) - 1) < 1e-14);
  djVec3 between = dju_sub3(centre[1], centre[0]);
  double length = dju_norm3(between);
  if (length < 0.99e-6 * er->span) {   // as good as none: along the least separation
    djDistance d;
    dj_distance(&d, NULL, &c->shape[0].shape, &c->start[0], 0, &c->shape[1].shape, &c->start[1], 0);
    assert_true(dju_dot3(er->apart, d.normal) > 1 - 1e-9 && er->centres == 0);
  }
  if (length < 1.01e-6 * er->span) return;
  assert_true(fabs(er->centres - length) < 1e-14);
  assert_true(dju_norm3(dju_madd3(er->apart, -1 / length, between)) < 1e-14 / length);
}

// The eroded shapes are g_eff range apart, from the threshold to coincident centres; erosion grows
// with the overlap; nothing is eroded above the threshold.
static void testErosion(void) {
  Random r = {8};
  const int kinds[] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_MESH, DJ_PLANE};
  int phases[4] = {0};
  for (int i = 0; i < 2000; i++) {
    PairCase c;
    int b = kinds[below(&r, 5)];
    int a = kinds[below(&r, 4)];
    randomPair(&c, &r, a, b, 1, logUniform(&r, 1e-3, 0.03), 1, 0.5);
    double range = planeRange(c.s, 1), derivative;
    c.in.recover = true;
    c.in.inflate = i % 5 ? 0 : uniform(&r, -0.05, 0.05);
    for (int k = 0; k < 2; k++) c.shape[k].shape.skin = 0.1 * c.shape[k].shape.inner;
    if (i % 4 && b != DJ_PLANE) {   // centres at a given distance
      djVec3 apart = randomAway(&r, 1e-9, 0.5);
      c.start[1].p = dju_add3(dju_sub3(dju_transform(&c.start[0], c.shape[0].shape.center),
                                       dju_mulMV(c.start[1].R, c.shape[1].shape.center)),
                              apart);
    } else {
      setGap(&c, uniform(&r, -0.2, 1) * range);
    }
    memcpy(c.now, c.start, sizeof c.now);
    assert_int_equal(beginCase(&c, kernel), DJ_OK);
    djPlaneState* st = planeState(&c);
    double lift = b == DJ_PLANE ? dj_lowestVertices(pairInput(&c), range).lift : 0;
    double g = (st->gap_start - lift) / range, gap = gapNow(&c, st) - lift;
    assert_true(lift >= 0 && lift < 0.2 * range);
    if (g >= 0.8) {
      assert_true(st->erosion.e == 0);
      phases[0]++;
    } else {
      assert_true(st->erosion.e > 0);
      assert_true(fabs(gap - range * dj_recoveryGap(&derivative, g)) < 1e-12);
      if (b != DJ_PLANE) expectPath(&st->erosion, &c);
      bool beyond = st->erosion.e > fmax(st->erosion.first_end[0], st->erosion.first_end[1]);
      phases[b == DJ_PLANE || !beyond ? 1 : dj_erosionShift(&st->erosion) > 0 ? 3 : 2]++;
    }
    freeCase(&c);
  }
  for (int k = 0; k < 4; k++) assert_true(phases[k] > 50);
}

// Vertices and radii of the eroded shape move at the given rate.
static void testErosionRate(void) {
  Random r = {9};
  for (int i = 0; i < 200; i++) {
    TestShape t;
    double dims[3] = {0.5, 0.7, 0.9}, mem[3][96], rate[96], radius_rate;
    int type = i % 3 == 0 ? DJ_CAPSULE : i % 3 == 1 ? DJ_BOX : DJ_MESH;
    setGeom(&t, type, dims, 20, &r);
    djErosion er = {.first_end = {0.4, 0.3}, .span = 0.8, .apart = randomUnit(&r), .centres = 1};
    er.local[0] = randomUnit(&r);
    er.local[1] = randomUnit(&r);
    er.e = uniform(&r, 0.01, 1.6);
    int side = i % 2;
    djShape out[3];
    for (int k = 0; k < 3; k++) {
      djErosion at = er;
      at.e += 1e-6 * (k - 1);
      dj_erodeShape(&out[k], mem[k], &t.shape, &at, side, false);
    }
    dj_erosionRate(rate, &radius_rate, &t.shape, &er, side);
    int n = 3 * t.shape.npad;
    for (int k = 0; k < n; k++) {
      assert_true(fabs((mem[2][k] - mem[0][k]) / 2e-6 - rate[k]) < 1e-8);
    }
    assert_true(fabs((out[2].radius - out[0].radius) / 2e-6 - radius_rate) < 1e-8);
    assert_true(out[1].radius >= 0);
    freeShape(&t);
  }
}

// ------------------------------------------ slopes ---------------------------------------------

typedef struct Eroding {
  PairCase* c;
  djErosion er;
} Eroding;

// The signed gap at the start with e + d; inflation leaves no negative sum of radii.
static void gapAt(double* y, void* user, double d) {
  const Eroding* x = user;
  const djPairInput* in = pairInput(x->c);
  djErosion er = x->er;
  djShape out[2];
  djDistance found;
  double mem[2][3 * MAXPAD];
  er.e += d;
  dj_erodeShape(&out[0], mem[0], in->a, &er, 0, false);
  dj_erodeShape(&out[1], mem[1], in->b, &er, 1, false);
  assert_true(dj_distance(&found, NULL, &out[0], in->start_a, 0, &out[1], in->start_b, 0) >= 0);
  double radii = out[0].radius + out[1].radius;
  y[0] = found.gap + radii - fmax(radii + in->inflate, 0);
}

// d gap/de in all phases, with inflation that makes the radii vanish or not. Erosion may be any
// that is on the pair's path.
static void testSlope(void) {
  Random r = {23};
  int clamped = 0, cases = 0, sure = 0;
  for (int i = 0; i < 800; i++) {
    PairCase c;
    int kinds = i % 3 == 1 ? 2 : NTYPE;   // those that have a radius
    int a = types[below(&r, kinds)], b = types[below(&r, kinds)];
    randomPair(&c, &r, a, b, 1, 0.02, 1, 0.5);
    const djShape* shape[2] = {&c.shape[0].shape, &c.shape[1].shape};
    Eroding x = {&c, randomErosion(&r, i % NPHASE, fmax(shape[0]->bound, shape[1]->bound))};
    double end[3], slope, difference, scratch[12 * MAXPAD], radii = 0, mem[3 * MAXPAD];
    x.er.apart = dju_sub3(dju_transform(&c.start[1], shape[1]->center),
                          dju_transform(&c.start[0], shape[0]->center));
    x.er.apart = dju_scale3(1 / dju_norm3(x.er.apart), x.er.apart);
    phaseEnds(end, &x.er);
    for (int k = 0; k < 2; k++) {
      djShape out;
      x.er.local[k] = dju_scale3(k ? 1 : -1, dju_mulMtV(c.start[k].R, x.er.apart));
      dj_erodeShape(&out, mem, shape[k], &x.er, k, false);
      radii += out.radius;
    }
    c.in.inflate = i % 3 == 0 ? 0 : i % 3 == 1 ? -radii * uniform(&r, 0.99, 1.01) : 0.1;
    double step = fmin(1e-3, 0.4 * fabs(radii + c.in.inflate));
    for (int k = 0; k < 3; k++) step = fmin(step, 0.4 * fabs(x.er.e - end[k]));
    if (radii == 0) step = 1e-3;
    djDistance d;
    djDistanceCache cache = {0};
    djStatus status = dj_erodedSlope(&slope, &d, &cache, &x.er, pairInput(&c), scratch);
    assert_int_equal(status, slope > 0 ? DJ_OK : DJ_SINGULAR);   // as of points, in phase 1
    bool good = false;
    for (int k = 0; k < 4 && !good; k++, step *= 0.2) {
      double doubt = extrapolate(&difference, 1, step, 1, gapAt, &x);
      good = doubt < 1e-7 && fabs(difference - slope) < 1e-6;
    }
    cases++;
    sure += good;
    clamped += radii > 0 && radii + c.in.inflate <= 0;
    freeCase(&c);
  }
  assert_int_equal(sure, cases);
  assert_true(clamped > 30);
}

// ------------------------------------------ by the shape ---------------------------------------

// A shape, and directions in which its numbers, the erosion's and a functional's weights lie.
typedef struct Moving {
  TestShape* t;
  djShape base;
  djErosion er;
  int side;
  double start[6 * MAXPAD], along[6 * MAXPAD];
  djShapeGrad rate;
  djErosionGrad er_rate;
  double weight[3 * MAXPAD], radius;
  djMat3 curve;
} Moving;

static void functional(double* y, void* user, double e) {
  Moving* x = user;
  djShape s = x->base, out;
  djErosion er = x->er;
  double mem[3 * MAXPAD];
  for (int i = 0; i < 6 * s.npad; i++) x->t->buffer[i] = x->start[i] + e * x->along[i];
  s.radius += e * x->rate.radius;
  s.radius_slope += e * x->rate.radius_slope;
  s.center = dju_madd3(s.center, e, x->rate.center);
  for (int i = 0; i < 9; i++) {
    s.curve.m[i] += e * x->rate.curve.m[i];
    s.curve_move.m[i] += e * x->rate.curve_move.m[i];
  }
  er.e += e * x->er_rate.e;
  er.span += e * x->er_rate.span;
  for (int k = 0; k < 2; k++) {
    er.first_end[k] += e * x->er_rate.first_end[k];
    er.local[k] = dju_madd3(er.local[k], e, x->er_rate.local[k]);
  }
  dj_erodeShape(&out, mem, &s, &er, x->side, false);
  y[0] = x->radius * out.radius;
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < s.nvert; i++) y[0] += x->weight[k * s.npad + i] * out.vert[k][i];
  }
  for (int i = 0; i < 9 && s.curved; i++) y[0] += x->curve.m[i] * out.curve.m[i];
}

static void moveRandomly(Moving* x, TestShape* t, Random* r, int side, const djErosion* er) {
  memset(x, 0, sizeof *x);
  x->t = t;
  x->base = t->shape;
  x->er = *er;
  x->side = side;
  memcpy(x->start, t->buffer, 6 * (size_t)t->shape.npad * sizeof(double));
  for (int i = 0; i < 6 * t->shape.npad; i++) x->along[i] = uniform(r, -1, 1);
  for (int i = 0; i < 3 * t->shape.npad; i++) x->weight[i] = uniform(r, -1, 1);
  for (int i = 0; i < 9 && t->shape.curved; i++) {
    x->curve.m[i] = uniform(r, -1, 1);
    x->rate.curve.m[i] = uniform(r, -1, 1);
    x->rate.curve_move.m[i] = uniform(r, -1, 1);
  }
  x->radius = uniform(r, -1, 1);
  x->rate.radius = uniform(r, -1, 1);
  x->rate.radius_slope = uniform(r, -1, 1);
  x->rate.center = randomUnit(r);
  x->er_rate.e = uniform(r, -1, 1);
  x->er_rate.span = uniform(r, -1, 1);
  for (int k = 0; k < 2; k++) {
    x->er_rate.first_end[k] = uniform(r, -1, 1);
    x->er_rate.local[k] = randomUnit(r);
  }
}

// The product of dj_erodeShapeVjp with the direction.
static double product(Moving* x) {
  const djShape* s = &x->base;
  double mem[6 * MAXPAD] = {0};
  djShapeGrad g = {.radius = 0};
  djErosionGrad h = {.e = 0};
  for (int k = 0; k < 3; k++) {
    g.vert[k] = mem + k * s->npad;
    g.move[k] = mem + (3 + k) * s->npad;
  }
  djErodedGrad eroded = {x->weight, x->radius, x->curve};
  memcpy(x->t->buffer, x->start, 6 * (size_t)s->npad * sizeof(double));
  dj_erodeShapeVjp(&g, &h, &eroded, s, &x->er, x->side);
  double sum = g.radius * x->rate.radius + g.radius_slope * x->rate.radius_slope +
               dju_dot3(g.center, x->rate.center) + h.e * x->er_rate.e + h.span * x->er_rate.span;
  for (int k = 0; k < 6; k++) {
    for (int i = 0; i < s->nvert; i++) sum += mem[k * s->npad + i] * x->along[k * s->npad + i];
  }
  for (int k = 0; k < 2; k++) {
    sum += h.first_end[k] * x->er_rate.first_end[k] + dju_dot3(h.local[k], x->er_rate.local[k]);
  }
  for (int i = 0; i < 9; i++) {
    sum += g.curve.m[i] * x->rate.curve.m[i] + g.curve_move.m[i] * x->rate.curve_move.m[i];
  }
  return sum;
}

// In each phase, either cap the larger one, seen from either shape.
static void testShapeVjp(void) {
  Random r = {24};
  int larger[2] = {0, 0};
  for (int i = 0; i < 480; i++) {
    TestShape t;
    Moving x;
    double difference;
    randomShape(&t, &r, types[i % NTYPE]);
    djErosion er = randomErosion(&r, i / NTYPE % NPHASE, t.shape.bound * uniform(&r, 1, 2));
    moveRandomly(&x, &t, &r, i / (NTYPE * NPHASE) % 2, &er);
    double expected = product(&x);
    double doubt = extrapolate(&difference, 1, 1e-4, 1, functional, &x);
    assert_true(doubt < 1e-8);
    assert_true(fabs(expected - difference) < 1e-8 * (1 + fabs(expected)));
    larger[er.first_end[1] > er.first_end[0]]++;
    freeShape(&t);
  }
  assert_true(larger[0] > 100 && larger[1] > 100);
}

// ------------------------------------------ by both shapes -------------------------------------

// A pair whose shapes and support move, and a functional of its erosion.
typedef struct Erosive {
  PairCase c;
  Varied v[2];
  double support, rate;
  djErosionGrad weight;
} Erosive;

static djErosion solveErosion(Erosive* x) {
  const djPairInput* in = pairInput(&x->c);
  djErosion er;
  djDistance d;
  double scratch[12 * MAXPAD];
  assert_true(dj_distance(&d, NULL, in->a, in->start_a, 0, in->b, in->start_b, 0) >= 0);
  double gap = d.gap - dj_pairInflation(in->a, in->b, in->inflate);
  double s = in->setting[DJ_PLANE_SUPPORT], L = in->setting[DJ_PLANE_LENGTH_SCALE];
  double range = 2 * s * L / (1 - s);
  assert_int_equal(dj_solveErosion(&er, &d, gap, in, range, scratch), DJ_OK);
  return er;
}

static void weighted(double* y, void* user, double e) {
  Erosive* x = user;
  const djErosionGrad* w = &x->weight;
  for (int i = 0; i < 2; i++) moveVaried(&x->c.shape[i].shape, &x->v[i], e);
  x->c.s = x->support + e * x->rate;
  djErosion er = solveErosion(x);
  y[0] = w->e * er.e + w->t * er.t + w->span * er.span;
  for (int k = 0; k < 2; k++) {
    y[0] += w->first_end[k] * er.first_end[k] + dju_dot3(w->local[k], er.local[k]);
  }
}

// Every number of the erosion, in each phase, by every number of the shapes and the support.
static void testErosionVjp(void) {
  Random r = {25};
  int phases[NPHASE] = {0}, sure = 0, cases = 0;
  for (int i = 0; i < 400; i++) {
    Erosive x;
    memset(&x, 0, sizeof x);
    PairCase* c = &x.c;
    bool plane = i % 8 == 0;
    int b = plane ? DJ_PLANE : types[below(&r, NTYPE)];
    int a = types[below(&r, NTYPE)];
    randomPair(c, &r, a, b, 1, 0.02, 1, uniform(&r, -2, 0.75));
    if (!plane && i % 4 < 3) {
      djVec3 apart = randomAway(&r, 0.01, 0.5);
      c->start[1].p = dju_add3(dju_sub3(dju_transform(&c->start[0], c->shape[0].shape.center),
                                        dju_mulMV(c->start[1].R, c->shape[1].shape.center)),
                               apart);
    }
    if (i % 3 == 0) c->shape[below(&r, 2)].shape.skin = 1.2;   // nothing left of the first phase
    x.support = c->s;
    x.rate = c->s * uniform(&r, -1, 1);
    for (int k = 0; k < 2; k++) openVaried(&x.v[k], &c->shape[k], &r, 0.3);
    djErosionGrad* w = &x.weight;
    *w = (djErosionGrad){.e = uniform(&r, -1, 1)};
    w->t = 0.1 * uniform(&r, -1, 1);
    if (!plane) w->span = uniform(&r, -1, 1);
    for (int k = 0; k < 2 && !plane; k++) {
      w->first_end[k] = uniform(&r, -1, 1);
      w->local[k] = dju_scale3(0.01, randomUnit(&r));
    }
    djErosion er = solveErosion(&x);
    if (!(er.e > 0)) {
      freeCase(c);
      for (int k = 0; k < 2; k++) free(x.v[k].start);
      continue;
    }
    double end[3], difference, scratch[12 * MAXPAD], expected;
    djPairGrad grad = {.a = &x.v[0].grad, .b = &x.v[1].grad};
    djPairInput in = *pairInput(c);
    assert_int_equal(dj_erosionVjp(&grad, w, &er, &in, scratch), DJ_OK);
    expected = dotVaried(&x.v[0]) + dotVaried(&x.v[1]) + grad.setting[DJ_PLANE_SUPPORT] * x.rate;
    phaseEnds(end, &er);
    phases[plane ? 0 : (er.e > end[0]) + (er.e > end[1]) + (er.e > end[2])]++;
    bool good = false;
    for (double step = 1e-4; step > 1e-8 && !good; step *= 0.1) {
      double doubt = extrapolate(&difference, 1, step, 1, weighted, &x);
      good = doubt < 1e-5 && fabs(difference - expected) < 1e-6 * (1 + fabs(expected));
    }
    cases++;
    sure += good;
    freeCase(c);
    for (int k = 0; k < 2; k++) free(x.v[k].start);
  }
  assert_int_equal(sure, cases);
  for (int k = 0; k < NPHASE; k++) assert_true(phases[k] > 30);
}

DJT_MAIN(testShape, testContinuous, testRecoveryFunctions, testLagFactor, testErosion,
         testErosionRate, testSlope, testShapeVjp, testErosionVjp)
