// Queries of implicit surfaces beyond their touch: planes, the distance, and the kernel.

#include "common/implicit_case.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/kernel.h"
#include "contact/query/implicit_query.h"
#include "math/so3.h"
#include "shape/implicit_distance.h"

#include <dijoco/contact.h>

static const djcImplicitShape PLANE = {"plane", 0, 0, NULL};

static djcImplicitPair* makePair(const djcImplicitShape* a, const djcImplicitShape* b) {
  djError err = {""};
  djcImplicitPair* pair;
  if (djc_makeImplicitPair(&pair, a, b, &err)) fail_msg("%s", err.text);
  return pair;
}

// Sixth order.
static double extrapolated(const double v[6], double h) {
  return (45 * (v[2] - v[3]) - 9 * (v[1] - v[4]) + (v[0] - v[5])) / (60 * h);
}
static const double STEP[6] = {3, 2, 1, -1, -2, -3};

// ------------------------------------------ planes ----------------------------------------------

// Shape of a family, some of them slender: one number in ten times more.
static void drawShape(djtImplicit* s, int k, double sharp, double slender, djRng* rng) {
  djt_implicitShape(s, k % DJT_FAMILIES, 1, sharp, rng);
  if (s->given.nface == 0) s->size[0] *= slender;
}

// alpha = D/T, with T the support function; the points on both surfaces; also of a plane that is
// first, and from below.
static void testPlane(void) {
  djRng rng = {1};
  static const double SHARP[3] = {20, 500, 8}, SLENDER[4] = {1, 50, 0.02, 5};
  for (int k = 0; k < 1500; k++) {
    djtImplicit s;
    djtPose pose[2];
    djcImplicit o, turned;
    drawShape(&s, k, k % 40 < 2 ? 120 : SHARP[k / 5 % 3], SLENDER[k / 15 % 4], &rng);
    djt_randomPose(&pose[0], 2, &rng);
    djt_randomPose(&pose[1], 2, &rng);
    djcImplicitPair* pair = makePair(&s.given, &PLANE);
    evalAt(&o, pair, pose, 0);
    const djMat3 R[2] = {dju_quatToMat(dju_loadQuat(pose[0].quat)),
                         dju_quatToMat(dju_loadQuat(pose[1].quat))};
    const djVec3 N = dju_column(&R[1], 2), at = dju_load3(pose[0].pos);
    const double D = dju_dot3(N, dju_sub3(at, dju_load3(pose[1].pos))), T = D / o.alpha;
    assert_true(T > 0 && fabs(o.gap - (D - T)) < 1e-11 * T);
    assert_true(dju_norm3(dju_add3(dju_load3(o.normal), N)) < 1e-11);
    const djVec3 arm = dju_sub3(dju_load3(o.point_a), at);
    assert_true(fabs(dju_dot3(N, arm) + T) < 1e-11 * T);
    const djVec3 apart = dju_sub3(dju_load3(o.point_b), dju_load3(o.point_a));
    assert_true(dju_norm3(dju_madd3(apart, o.gap, N)) < 1e-11 * T);
    djImplicit shape;
    double mem[DJT_NUMBERS + 64];
    assert_int_equal(
        dj_makeImplicit(&shape, mem, dj_implicitRow(s.given.family), s.given.nface, s.size, NULL),
        DJ_OK);
    djImplicitPoint p;
    shape.row->eval(&p, &shape, dju_mulMtV(R[0], arm));
    const djVec3 n = dju_scale3(1 / dju_norm3(p.g), dju_mulMV(R[0], p.g));
    assert_true(fabs(p.phi) < 1e-10 && dju_norm3(dju_add3(n, N)) < 1e-7);
    if (k % DJT_FAMILIES == 2 && s.size[3] == 1) {
      const djVec3 m = dju_mulMtV(R[0], N);
      const double h = hypot(hypot(s.size[0] * m.x, s.size[1] * m.y), s.size[2] * m.z);
      assert_true(fabs(h - T) < 1e-11 * T);
    }
    djcImplicitPair* other = makePair(&PLANE, &s.given);
    const djtPose back[2] = {pose[1], pose[0]};
    evalAt(&turned, other, back, 0);
    assert_true(fabs(turned.alpha - o.alpha) <= 1e-11 * fabs(o.alpha));
    assert_true(fabs(turned.gap - o.gap) < 1e-11 * T);
    assert_true(dju_norm3(dju_add3(dju_load3(turned.normal), dju_load3(o.normal))) < 1e-11);
    djc_deleteImplicitPair(other);
    djc_deleteImplicitPair(pair);
  }
}

static void columnOf(double v[DJT_OUTPUTS], const djcImplicit* o, int j) {
  v[0] = o->dalpha[j];
  v[1] = o->dgap[j];
  for (int i = 0; i < 3; i++) {
    v[2 + i] = o->dx[12 * i + j];
    v[5 + i] = o->dnormal[12 * i + j];
    v[8 + i] = o->dpoint_a[12 * i + j];
    v[11 + i] = o->dpoint_b[12 * i + j];
  }
}

static void testPlaneDerivatives(void) {
  djRng rng = {2};
  double worst = 0;
  for (int k = 0; k < 100; k++) {
    djtImplicit s;
    djtPose pose[2];
    djcImplicit o;
    const int side = k % 3 == 2; // of the shape
    drawShape(&s, k, 8, 1, &rng);
    djt_randomPose(&pose[0], 1, &rng);
    djt_randomPose(&pose[1], 1, &rng);
    if (k % 5 == 4) memcpy(pose[0].pos, pose[1].pos, sizeof pose[0].pos); // on the plane
    djcImplicitPair* pair = side ? makePair(&PLANE, &s.given) : makePair(&s.given, &PLANE);
    evalAt(&o, pair, pose, DJC_DERIVATIVES | DJC_CONDITION);
    const double fast = djt_largest(o.dx, 36), h = 1e-3 / (1 + fast * fast);
    for (int j = 0; j < 12 && o.condition < 1e4; j++) {
      double v[6][DJT_OUTPUTS], mine[DJT_OUTPUTS];
      for (int q = 0; q < 6; q++) {
        djtPose moved[2] = {pose[0], pose[1]};
        djcImplicit at;
        djt_movePose(&moved[j / 6], j % 6, STEP[q] * h);
        evalAt(&at, pair, moved, 0);
        djt_outputs(v[q], &at);
      }
      columnOf(mine, &o, j);
      for (int i = 0; i < DJT_OUTPUTS; i++) {
        const double line[6] = {v[0][i], v[1][i], v[2][i], v[3][i], v[4][i], v[5][i]};
        const double d = extrapolated(line, h);
        worst = djt_worst(worst, fabs(d - mine[i]) / (1 + fabs(d)) / sqrt(o.condition));
      }
    }
    double by[8 * DJT_NUMBERS];
    const int n = s.given.nsize;
    evalAt(&o, pair, pose, DJC_CONDITION);
    assert_int_equal(djc_implicitBySize(by, pair, side), DJ_OK);
    assert_int_equal(djc_implicitBySize(by, pair, !side), DJ_OK); // the plane has none
    for (int j = 0; j < n && o.condition < 1e4; j++) {
      double v[6][DJT_OUTPUTS];
      for (int q = 0; q < 6; q++) {
        djtImplicit other = s;
        djcImplicit at;
        other.given.size = other.size;
        other.size[j] += STEP[q] * 0.1 * h;
        djcImplicitPair* moved =
            side ? makePair(&PLANE, &other.given) : makePair(&other.given, &PLANE);
        evalAt(&at, moved, pose, 0);
        djc_deleteImplicitPair(moved);
        djt_outputs(v[q], &at);
      }
      for (int i = 0; i < 8; i++) { // alpha, x, normal, gap
        static const int OF[8] = {0, 2, 3, 4, 5, 6, 7, 1};
        const int at = OF[i];
        const double line[6] = {v[0][at], v[1][at], v[2][at], v[3][at], v[4][at], v[5][at]};
        const double d = extrapolated(line, 0.1 * h);
        worst = djt_worst(worst, fabs(d - by[i * n + j]) / (1 + fabs(d)) / sqrt(o.condition));
      }
    }
    djc_deleteImplicitPair(pair);
  }
  print_message("planes: derivatives %.1e of the square root of the condition\n", worst);
  assert_true(worst < 1e-6);
}

// ----------------------------------------- distance ---------------------------------------------

typedef struct Case {
  djtImplicit shape[2];
  djtPose pose[2];
} Case;

static void drawCase(Case* c, int k, double sharp, double spread, djRng* rng) {
  djt_implicitShape(&c->shape[0], k % DJT_FAMILIES, 1, sharp, rng);
  djt_implicitShape(&c->shape[1], k / DJT_FAMILIES % DJT_FAMILIES, 1, sharp, rng);
  djt_randomPose(&c->pose[0], spread, rng);
  djt_randomPose(&c->pose[1], spread, rng);
}

// phi, and the unit normal (world), of side k at a point.
static double phiAt(djVec3* n, const Case* c, int k, const double x[3]) {
  djImplicit shape;
  double mem[DJT_NUMBERS + 64];
  djImplicitPoint p;
  const djtImplicit* s = &c->shape[k];
  const djMat3 R = dju_quatToMat(dju_loadQuat(c->pose[k].quat));
  assert_int_equal(
      dj_makeImplicit(&shape, mem, dj_implicitRow(s->given.family), s->given.nface, s->size, NULL),
      DJ_OK);
  shape.row->eval(&p, &shape, dju_mulMtV(R, dju_sub3(dju_load3(x), dju_load3(c->pose[k].pos))));
  *n = dju_scale3(1 / dju_norm3(p.g), dju_mulMV(R, p.g));
  return p.phi;
}

// On both surfaces, normal to both, apart along the normal: of convex shapes that are apart that is
// the distance. At contact it is the gap, and it is no less than its part along the normal.
static void testDistance(void) {
  djRng rng = {3};
  int apart = 0;
  for (int k = 0; k < 1200; k++) {
    Case c;
    djcImplicit o;
    djcImplicitDistance d, again;
    drawCase(&c, k, k % 3 ? 20 : 120, 2, &rng);
    djcImplicitPair* pair = makePair(&c.shape[0].given, &c.shape[1].given);
    evalAt(&o, pair, c.pose, 0);
    const djStatus status = djc_implicitDistance(&d, NULL, NULL, pair, 0);
    assert_int_equal(status, DJ_OK);
    {
      djVec3 na, nb;
      const djVec3 n = dju_load3(d.normal);
      const double phi = fabs(phiAt(&na, &c, 0, d.point_a)) + fabs(phiAt(&nb, &c, 1, d.point_b));
      assert_true(phi < 1e-8);
      assert_true(dju_norm3(dju_sub3(na, n)) + dju_norm3(dju_add3(nb, n)) < 1e-7);
      const djVec3 q = dju_sub3(dju_load3(d.point_b), dju_load3(d.point_a));
      assert_true(dju_norm3(dju_madd3(q, -d.distance, n)) < 1e-8);
      assert_true((d.distance > 0) == (o.gap > 0));
      const djVec3 r = dju_sub3(dju_load3(c.pose[1].pos), dju_load3(c.pose[0].pos));
      const double part = dju_dot3(dju_load3(o.normal), r) / dju_norm3(r);
      assert_true(o.gap < 0 || d.distance <= o.gap + 1e-9);
      assert_true(d.distance >= o.gap * part - 1e-9);
    }
    if (o.gap > 0) { // from elsewhere and back; then in contact
      djtPose moved[2] = {c.pose[0], c.pose[1]};
      apart++;
      djt_movePose(&moved[1], k % 3, 0.1);
      evalAt(&o, pair, moved, 0);
      djc_implicitDistance(&again, NULL, NULL, pair, 0);
      evalAt(&o, pair, c.pose, 0);
      assert_int_equal(djc_implicitDistance(&again, NULL, NULL, pair, 0), DJ_OK);
      assert_true(fabs(again.distance - d.distance) < 1e-9);
      memcpy(moved[1].quat, c.pose[1].quat, sizeof moved[1].quat);
      for (int i = 0; i < 3; i++) {
        moved[1].pos[i] = c.pose[0].pos[i] + (c.pose[1].pos[i] - c.pose[0].pos[i]) / o.alpha;
      }
      evalAt(&o, pair, moved, 0);
      assert_int_equal(djc_implicitDistance(&again, NULL, NULL, pair, 0), DJ_OK);
      assert_true(fabs(again.distance - o.gap) < 1e-9);
      assert_true(dju_norm3(dju_sub3(dju_load3(again.normal), dju_load3(o.normal))) < 1e-6);
    }
    djc_deleteImplicitPair(pair);
  }
  assert_true(apart > 600);
}

// Sharp and slender shapes that overlap, or are apart: a local minimum of depth, or the distance.
// In directions around it they are no less deep.
static void testSharpDistance(void) {
  djRng rng = {9};
  for (int k = 0; k < 1500; k++) {
    Case c;
    djcImplicit o;
    djcImplicitDistance d;
    drawCase(&c, k, k % 3 ? 100 : 500, 2, &rng);
    for (int i = 0; i < 2; i++) {
      djtImplicit* s = &c.shape[i];
      const int m = s->given.nface, j = djt_integer(&rng, 2);
      const double thin = djt_uniform(&rng, 1, 40);
      for (int q = 0; q < m; q++) s->size[3 * q + j] *= thin;
      if (m == 0) s->size[s->given.nsize == 5 ? 2 + j : j] /= thin;
      if (s->given.nsize == 4) s->size[3] = 1 + s->size[3] / 8;
    }
    djcImplicitPair* pair = makePair(&c.shape[0].given, &c.shape[1].given);
    evalAt(&o, pair, c.pose, 0);
    const double to = k % 4 ? djt_uniform(&rng, 0.05, 1) : djt_uniform(&rng, 1, 3);
    for (int i = 0; i < 3; i++) {
      c.pose[1].pos[i] = c.pose[0].pos[i] + (c.pose[1].pos[i] - c.pose[0].pos[i]) * to / o.alpha;
    }
    evalAt(&o, pair, c.pose, 0);
    assert_int_equal(djc_implicitDistance(&d, NULL, NULL, pair, 0), DJ_OK);
    for (int q = 0; q < 12; q++) {
      djImplicitTouch far[2];
      double u[3], g = 0;
      djt_unitVector(u, &rng);
      djVec3 n = dju_madd3(dju_load3(d.normal), 1e-3, dju_load3(u));
      n = dju_scale3(1 / dju_norm3(n), n);
      for (int i = 0; i < 2; i++) {
        const djVec3 m = dju_mulMtV(pair->R[i], i ? dju_neg3(n) : n);
        assert_int_equal(dj_supportImplicit(&far[i], NULL, &pair->shape[i], m), DJ_OK);
        g += (i ? 1 : -1) * dju_dot3(n, dju_load3(c.pose[i].pos)) - far[i].T;
      }
      assert_true(g < d.distance + 1e-8);
    }
    djc_deleteImplicitPair(pair);
  }
}

// Balls that are concentric are singular; apart, in each other and with a plane there are formulas.
static void testClosedForms(void) {
  const double one[4] = {1, 1, 1, 1}, two[4] = {2, 2, 2, 1}, egg[4] = {1, 2, 3, 1};
  const djcImplicitShape ball = {"superellipsoid", 0, 4, one},
                         large = {"superellipsoid", 0, 4, two};
  const djcImplicitShape oval = {"superellipsoid", 0, 4, egg};
  djcImplicit o;
  djcImplicitDistance d;
  djtPose pose[2] = {{{0, 0, 0}, {1, 0, 0, 0}}, {{0, 0, 4}, {1, 0, 0, 0}}};
  djcImplicitPair* pair = makePair(&ball, &large);
  assert_int_equal(djc_implicitDistance(&d, NULL, NULL, pair, 0), DJ_INVALID);
  static const double HEIGHT[3] = {4, 2.5, 0.5};
  for (int k = 0; k < 3; k++) {
    pose[1].pos[2] = HEIGHT[k];
    evalAt(&o, pair, pose, 0);
    assert_int_equal(djc_implicitDistance(&d, NULL, NULL, pair, DJC_DERIVATIVES), DJ_OK);
    assert_true(fabs(d.distance - (HEIGHT[k] - 3)) < 1e-12);
    assert_true(fabs(d.dnormal[9] - 1 / HEIGHT[k]) < 1e-9);
    assert_true(fabs(d.ddistance[11] - 1) < 1e-12);
  }
  pose[1].pos[2] = 0;
  evalAt(&o, pair, pose, 0);
  assert_int_equal(djc_implicitDistance(&d, NULL, NULL, pair, DJC_DERIVATIVES), DJ_SINGULAR);
  assert_true(fabs(d.distance + 3) < 1e-9 && djt_largest(d.dnormal, 36) == 0);
  djc_deleteImplicitPair(pair);
  pair = makePair(&PLANE, &oval);
  pose[1].pos[2] = 5;
  evalAt(&o, pair, pose, 0);
  assert_int_equal(djc_implicitDistance(&d, NULL, NULL, pair, 0), DJ_OK);
  assert_true(fabs(d.distance - 2) < 1e-12 && fabs(o.gap - 2) < 1e-12);
  assert_true(fabs(d.normal[2] - 1) < 1e-12 && fabs(d.point_a[2]) < 1e-12);
  djc_deleteImplicitPair(pair);
}

enum { PLACES = 10 };
static void places(double v[PLACES], const djcImplicitDistance* d) {
  v[0] = d->distance;
  memcpy(v + 1, d->normal, sizeof d->normal);
  memcpy(v + 4, d->point_a, sizeof d->point_a);
  memcpy(v + 7, d->point_b, sizeof d->point_b);
}

static void distanceAt(double v[PLACES], const djcImplicitShape* a, const djcImplicitShape* b,
                       const djtPose pose[2]) {
  djcImplicit o;
  djcImplicitDistance d;
  djcImplicitPair* pair = makePair(a, b);
  evalAt(&o, pair, pose, 0);
  assert_int_equal(djc_implicitDistance(&d, NULL, NULL, pair, 0), DJ_OK);
  places(v, &d);
  djc_deleteImplicitPair(pair);
}

static double worstOf(double worst, double v[6][PLACES], const double* mine, int stride, double h) {
  for (int i = 0; i < PLACES; i++) {
    const double line[6] = {v[0][i], v[1][i], v[2][i], v[3][i], v[4][i], v[5][i]};
    const double d = extrapolated(line, h);
    worst = djt_worst(worst, fabs(d - mine[stride * i]) / (1 + fabs(d)));
  }
  return worst;
}

// Of both signs, and with a plane, which is first in one case in two.
static void testDistanceDerivatives(void) {
  djRng rng = {4};
  double worst = 0;
  int used[2] = {0, 0};
  for (int k = 0; k < 120; k++) {
    Case c;
    djcImplicit o;
    djcImplicitDistance d;
    double by[2][PLACES * DJT_NUMBERS];
    const bool plane = k % 6 >= 4;
    drawCase(&c, k, 8, k % 2 ? 0.6 : 1.5, &rng);
    const djcImplicitShape* shape[2] = {plane && k % 2 ? &PLANE : &c.shape[0].given,
                                        plane && k % 2 == 0 ? &PLANE : &c.shape[1].given};
    djcImplicitPair* pair = makePair(shape[0], shape[1]);
    evalAt(&o, pair, c.pose, DJC_CONDITION);
    const djStatus status = djc_implicitDistance(&d, by[0], by[1], pair, DJC_DERIVATIVES);
    djc_deleteImplicitPair(pair);
    const double fast =
        djt_largest(d.dnormal, 36) + djt_largest(d.dpoint_a, 36) + djt_largest(d.dpoint_b, 36);
    if (status != DJ_OK || o.condition > 1e4 || fast > 30) continue;
    used[o.gap < 0]++;
    const double h = 1e-3 / (1 + fast);
    for (int j = 0; j < 12; j++) {
      double v[6][PLACES], mine[PLACES];
      for (int q = 0; q < 6; q++) {
        djtPose moved[2] = {c.pose[0], c.pose[1]};
        djt_movePose(&moved[j / 6], j % 6, STEP[q] * h);
        distanceAt(v[q], shape[0], shape[1], moved);
      }
      mine[0] = d.ddistance[j];
      for (int i = 0; i < 3; i++) {
        mine[1 + i] = d.dnormal[12 * i + j];
        mine[4 + i] = d.dpoint_a[12 * i + j];
        mine[7 + i] = d.dpoint_b[12 * i + j];
      }
      worst = worstOf(worst, v, mine, 1, h);
    }
    for (int side = 0; side < 2; side++) {
      const int n = shape[side]->nsize;
      for (int j = 0; j < n; j++) {
        double v[6][PLACES];
        for (int q = 0; q < 6; q++) {
          djtImplicit other = c.shape[side];
          other.given.size = other.size;
          other.size[j] += STEP[q] * 0.1 * h;
          distanceAt(v[q], side ? shape[0] : &other.given, side ? &other.given : shape[1], c.pose);
        }
        worst = worstOf(worst, v, by[side] + j, n, 0.1 * h);
      }
    }
  }
  print_message("distance: derivatives %.1e, of %d apart and %d that overlap\n", worst, used[0],
                used[1]);
  assert_true(worst < 1e-5 && used[0] > 20 && used[1] > 20);
}

// Columns of both sides change places, by the sign; a shift of the whole turns nothing.
static void testParts(void) {
  double by[12], a[2] = {1, 2}, b[2] = {3, 4};
  for (int k = 0; k < 12; k++) by[k] = k;
  dj_swapTwists(by, 1, -1);
  for (int k = 0; k < 12; k++) assert_true(by[k] == -((k + 6) % 12));
  dj_swapVectors(a, b, 2);
  assert_true(a[0] == 3 && a[1] == 4 && b[0] == 1 && b[1] == 2);
  djImplicitGap gap = {.delta = 1, .Ka = {1, 0.2, 2}, .Kb = {0.5, 0.1, 1}, .regular = true};
  djImplicitShift s = {.A = {1, 0}, .B = {1, 0}, .w = {1, 0}}; // b carried round a by its rotation
  dj_shiftGap(&s, &gap);
  assert_true(djt_largest(s.tau, 2) < 1e-15 && djt_largest(s.sigma, 2) < 1e-15);
  assert_true(fabs(s.dn[0] - 1) < 1e-15 && fabs(s.dn[1]) < 1e-15);
}

static void testBadPlanes(void) {
  djError err = {""};
  djcImplicitPair* pair;
  const double one = 1;
  const djcImplicitShape sized = {"plane", 0, 1, &one}, ball = {"ball", 0, 0, NULL};
  djt_refusedWith(DJ_INVALID, djc_makeImplicitPair(&pair, &PLANE, &PLANE, &err), err,
                  "both are planes");
  const double numbers[4] = {1, 1, 1, 1};
  const djcImplicitShape sphere = {"superellipsoid", 0, 4, numbers};
  djt_refusedWith(DJ_INVALID, djc_makeImplicitPair(&pair, &sized, &sphere, &err), err,
                  "a: a plane");
  djt_refusedWith(DJ_INVALID, djc_makeImplicitPair(&pair, &PLANE, &ball, &err), err,
                  "b: unknown family 'ball'");
}

// ------------------------------------------ the kernel ------------------------------------------

// A geom of a random size of about 1, or points on an ellipsoid (24 x 3).
static djcShape drawGeom(double* vert, djGeomType type, djRng* rng) {
  djcShape s = {.geom = type, .quat = {1, 0, 0, 0}};
  djt_uniforms(s.size, 3, rng, 0.6, 1.2);
  if (type != DJ_MESH) return s;
  for (int i = 0; i < 24; i++) {
    djt_unitVector(vert + 3 * i, rng);
    for (int k = 0; k < 3; k++) vert[3 * i + k] *= s.size[k];
  }
  for (int k = 0; k < 3; k++) vert[k] *= 0.1; // inside of the others
  return (djcShape){.nvert = 24, .vert = vert, .quat = {1, 0, 0, 0}};
}

static double valueAt(double g[12], double H[144], djcPair* pair, const djtPose from[2],
                      const double w[12], double h) {
  djtPose p[2] = {from[0], from[1]};
  double value = NAN;
  for (int k = 0; k < 2; k++) {
    const djQuat turn = dju_expQuat(dju_scale3(h, dju_load3(w + 6 * k)));
    dju_storeQuat(p[k].quat, dju_mulQuat(turn, dju_loadQuat(p[k].quat)));
    for (int c = 0; c < 3; c++) p[k].pos[c] += h * w[6 * k + 3 + c];
  }
  const djStatus status =
      djc_evalPair(&value, g, H, pair, p[0].pos, p[0].quat, p[1].pos, p[1].quat);
  if (status) fail_msg("status %d", status);
  return value;
}

// Energies of geoms of all types (djc_evalPair) along random motions beside gradient and Hessian;
// those of ellipsoids beside the law of their gap; of a mesh the hull counts alone.
static void testKernel(void) {
  static const djGeomType TYPE[7] = {DJ_SPHERE, DJ_CAPSULE, DJ_ELLIPSOID, DJ_CYLINDER,
                                     DJ_BOX,    DJ_MESH,    DJ_PLANE};
  static const djcSetting LAW[2] = {{"stiffness", 1}, {"exponent", 3}};
  djRng rng = {21};
  double worst[2] = {0, 0};
  int active = 0;
  for (int k = 0; k < 49 * 6; k++) {
    const djGeomType type[2] = {TYPE[k % 7], TYPE[k / 7 % 7]};
    if (type[0] == DJ_PLANE && type[1] == DJ_PLANE) continue;
    double vert[2][72], w[12], g[12], H[144], unused[144], u[12];
    djtPose pose[2];
    djcShape s[2];
    djcPair* pair;
    djError err = {""};
    for (int i = 0; i < 2; i++) {
      s[i] = drawGeom(vert[i], type[i], &rng);
      djt_randomPose(&pose[i], 0.6, &rng);
    }
    djcOption option = djc_defaultOption();
    option.model = DJ_IMPLICIT_SURFACE;
    option.nsetting = 2;
    option.setting = LAW;
    if (djc_makePair(&pair, &s[0], &s[1], &option, &err)) fail_msg("%s", err.text);
    djt_uniforms(w, 12, &rng, -1, 1);
    const double value = valueAt(g, H, pair, pose, w, 0), h = 2e-4;
    double v[6], slope = 0, bend = 0;
    for (int i = 0; i < 6; i++) v[i] = valueAt(u, unused, pair, pose, w, STEP[i] * h);
    for (int i = 0; i < 12; i++) {
      slope += g[i] * w[i];
      for (int j = 0; j < 12; j++) bend += w[i] * H[12 * i + j] * w[j];
    }
    const double second =
        (2 * (v[0] + v[5]) - 27 * (v[1] + v[4]) + 270 * (v[2] + v[3]) - 490 * value) /
        (180 * h * h);
    active += value > 1e-3;
    if (value > 1e-3) {
      worst[0] = djt_worst(worst[0], fabs(extrapolated(v, h) - slope) / (1 + fabs(slope)));
      worst[1] = djt_worst(worst[1], fabs(second - bend) / (1 + fabs(bend)));
    }
    if (type[0] == DJ_ELLIPSOID && type[1] == DJ_ELLIPSOID) {
      const double size[2][4] = {{s[0].size[0], s[0].size[1], s[0].size[2], 1},
                                 {s[1].size[0], s[1].size[1], s[1].size[2], 1}};
      const djcImplicitShape egg[2] = {{"superellipsoid", 0, 4, size[0]},
                                       {"superellipsoid", 0, 4, size[1]}};
      djcImplicit o;
      djcImplicitPair* eggs = makePair(&egg[0], &egg[1]);
      evalAt(&o, eggs, pose, 0);
      assert_true(fabs(value - pow(fmax(-o.gap, 0), 4) / 4) < 1e-12);
      djc_deleteImplicitPair(eggs);
    }
    djc_deletePair(pair);
    if (type[0] != DJ_MESH) continue;
    s[0].vert += 3;
    s[0].nvert--;
    assert_int_equal(djc_makePair(&pair, &s[0], &s[1], &option, NULL), DJ_OK);
    assert_true(fabs(valueAt(u, unused, pair, pose, w, 0) - value) <= 1e-9 * value);
    djc_deletePair(pair);
  }
  print_message("kernel: gradients %.1e, Hessians %.1e, of %d in contact\n", worst[0], worst[1],
                active);
  assert_true(active > 150);
  assert_true(worst[0] < 1e-7);
  assert_true(worst[1] < 1e-5);
}

// Vertices without volume have no surface; the pair's state is small.
static void testKernelBad(void) {
  const double flat[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  const djcShape a = {.geom = DJ_SPHERE, .size = {1, 1, 1}, .quat = {1, 0, 0, 0}};
  const djcShape b = {.nvert = 4, .vert = flat, .quat = {1, 0, 0, 0}};
  djcOption option = djc_defaultOption();
  djcPair* pair;
  djError err = {""};
  option.model = DJ_IMPLICIT_SURFACE;
  assert_int_equal(djc_makePair(&pair, &a, &b, &option, &err), DJ_INVALID);
  assert_null(pair);
  assert_string_equal(err.text, "b: its vertices have no volume");
  assert_true(dj_kernel(DJ_IMPLICIT_SURFACE)->state_size <= 520);
}

DJT_MAIN(testKernel, testKernelBad, testPlane, testPlaneDerivatives, testDistance,
         testSharpDistance, testClosedForms, testDistanceDerivatives, testParts, testBadPlanes)
