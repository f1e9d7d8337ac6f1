// The touch of two implicit shapes: conditions, closed forms, other ways to the same alpha, warm
// starts, symmetries, coincident origins, and all derivatives against differences.

#include "common/implicit_case.h"
#include "common/test.h"
#include "common/worst.h"
#include "math/so3.h"
#include "shape/implicit_motion.h"
#include "shape/implicit_pair.h"

typedef struct Case {
  djtImplicit shape[2];
  djtPose pose[2];
  djcImplicitPair* pair;
} Case;

static djcImplicitPair* makePair(const djtImplicit* a, const djtImplicit* b) {
  djError err = {""};
  djcImplicitPair* pair;
  if (djc_makeImplicitPair(&pair, &a->given, &b->given, &err)) fail_msg("%s", err.text);
  return pair;
}

// Pair k of the fifteen, both of about `scale`, origins about 0.2 to 4 sizes apart.
static void makeCase(Case* c, int k, double scale, double sharp, djRng* rng) {
  static const int A[15] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 0, 1, 2, 3, 4};
  static const int B[15] = {0, 1, 2, 3, 1, 2, 3, 2, 3, 3, 4, 4, 4, 4, 4};
  djt_implicitShape(&c->shape[0], A[k % 15], scale, sharp, rng);
  djt_implicitShape(&c->shape[1], B[k % 15], scale, sharp, rng);
  djt_randomPose(&c->pose[0], 2 * scale, rng);
  djt_randomPose(&c->pose[1], 2 * scale, rng);
  c->pair = makePair(&c->shape[0], &c->shape[1]);
}

// phi and its gradient (world) of side k at a point, scaled about its origin by alpha.
static double scaledPhi(djVec3* g, const Case* c, int k, const double x[3], double alpha) {
  djImplicit shape;
  double mem[DJT_NUMBERS + 64];
  djImplicitPoint p;
  const djtImplicit* s = &c->shape[k];
  const djMat3 R = dju_quatToMat(dju_loadQuat(c->pose[k].quat));
  assert_int_equal(
      dj_makeImplicit(&shape, mem, dj_implicitRow(s->given.family), s->given.nface, s->size, NULL),
      DJ_OK);
  const djVec3 y = dju_mulMtV(R, dju_sub3(dju_load3(x), dju_load3(c->pose[k].pos)));
  shape.row->eval(&p, &shape, dju_scale3(1 / alpha, y));
  *g = dju_mulMV(R, p.g);
  return p.phi;
}

// (10) of the paper in the form (7): phi = 0, sum l phi_x = 0, 1 + sum l phi_alpha = 0.
static void testConditions(void) {
  djRng rng = {1};
  for (int k = 0; k < 2000; k++) {
    Case c;
    djcImplicit o;
    makeCase(&c, k, 1, k % 3 ? 20 : 90, &rng);
    evalAt(&o, c.pair, c.pose, 0);
    double sum[3] = {0}, one = 1, size = 0;
    for (int side = 0; side < 2; side++) {
      djVec3 g;
      const double phi = scaledPhi(&g, &c, side, o.x, o.alpha), l = o.multipliers[side];
      assert_true(fabs(phi) < 1e-11 * (1 + dju_norm3(g)));
      assert_true(l > 0);
      const djVec3 r = dju_sub3(dju_load3(o.x), dju_load3(c.pose[side].pos));
      one -= l / o.alpha * dju_dot3(g, r) / o.alpha;
      dju_addTo3(sum, l / o.alpha, g);
      size = fmax(size, l / o.alpha * dju_norm3(g));
    }
    assert_true(fabs(one) < 1e-9 * (1 + size));
    assert_true(djt_largest(sum, 3) < 1e-10 * size);
    const double D = dju_norm3(dju_sub3(dju_load3(c.pose[1].pos), dju_load3(c.pose[0].pos)));
    assert_true(fabs(o.gap - (1 - 1 / o.alpha) * D) < 1e-12 * D / o.alpha);
    djc_deleteImplicitPair(c.pair);
  }
}

// Spheres: alpha = D/(r + R). Ellipsoids: alpha^2 is the maximum over l of Perram and Wertheim's
// l (1 - l) r.((1 - l) A + l B)^-1 r with A = R diag(a^2) R^T.
static void testEllipsoids(void) {
  djRng rng = {2};
  for (int k = 0; k < 200; k++) {
    Case c;
    djcImplicit o;
    double S[2][9];
    for (int side = 0; side < 2; side++) {
      double size[4] = {0, 0, 0, 1};
      djt_uniforms(size, 3, &rng, 0.05, 2);
      if (k < 20) size[1] = size[2] = size[0];
      setNumbers(&c.shape[side], "superellipsoid", 4, size);
      djt_randomPose(&c.pose[side], 3, &rng);
      const djMat3 R = dju_quatToMat(dju_loadQuat(c.pose[side].quat));
      for (int i = 0; i < 9; i++) {
        S[side][i] = 0;
        for (int j = 0; j < 3; j++) {
          S[side][i] += R.m[3 * (i / 3) + j] * R.m[3 * (i % 3) + j] * size[j] * size[j];
        }
      }
    }
    c.pair = makePair(&c.shape[0], &c.shape[1]);
    evalAt(&o, c.pair, c.pose, 0);
    const djVec3 r = dju_sub3(dju_load3(c.pose[1].pos), dju_load3(c.pose[0].pos));
    double low = 0, high = 1, best = 0;
    for (int it = 0; it < 200; it++) { // thirds: it is concave
      double f[2], at[2] = {low + (high - low) / 3, high - (high - low) / 3};
      for (int j = 0; j < 2; j++) {
        double Q[6];
        static const int I[6] = {0, 4, 8, 1, 2, 5};
        for (int i = 0; i < 6; i++) Q[i] = (1 - at[j]) * S[0][I[i]] + at[j] * S[1][I[i]];
        double inverse[6];
        dj_invertImplicit(inverse, Q);
        f[j] = at[j] * (1 - at[j]) * dju_dot3(r, dj_bendImplicit(inverse, r));
        best = fmax(best, f[j]);
      }
      if (f[0] < f[1])
        low = at[0];
      else
        high = at[1];
    }
    assert_true(fabs(o.alpha - sqrt(best)) < 1e-11 * o.alpha);
    if (k < 20) assert_true(o.iterations <= 3);
    djc_deleteImplicitPair(c.pair);
  }
}

// The least larger gauge over a ring of points about x is not below alpha: x is the minimum.
static void testMinimum(void) {
  djRng rng = {3};
  for (int k = 0; k < 200; k++) {
    Case c;
    djcImplicit o;
    makeCase(&c, k, 1, 20, &rng);
    evalAt(&o, c.pair, c.pose, 0);
    for (int i = 0; i < 40; i++) {
      double x[3], u[3];
      djVec3 g;
      djt_unitVector(u, &rng);
      for (int j = 0; j < 3; j++) x[j] = o.x[j] + djt_uniform(&rng, 1e-3, 1) * u[j];
      const double a = scaledPhi(&g, &c, 0, x, o.alpha * (1 - 1e-9));
      const double b = scaledPhi(&g, &c, 1, x, o.alpha * (1 - 1e-9));
      assert_true(a > 0 || b > 0);
    }
    djc_deleteImplicitPair(c.pair);
  }
}

// Sharp and slender shapes, and sizes from 1e-3 to 1e3 m: solved, and the same from a warm start,
// from the other side, moved as a whole, and in other units. alpha(t r) = t alpha(r).
static void testHard(void) {
  djRng rng = {4};
  for (int k = 0; k < 3000; k++) {
    static const double SCALE[3] = {1, 1e-3, 1e3}, SHARP[4] = {20, 120, 60, 500};
    Case c;
    djcImplicit o, other;
    const double scale = SCALE[k % 3];
    makeCase(&c, k, scale, k % 40 == 0 ? 120 : SHARP[k % 4 * (k % 10 < 7)], &rng);
    if (k % 5 == 0 && c.shape[0].given.nface == 0) { // 1:50
      c.shape[0].size[0] *= 7;
      c.shape[0].size[1] /= 7;
      djc_deleteImplicitPair(c.pair);
      c.pair = makePair(&c.shape[0], &c.shape[1]);
    }
    evalAt(&o, c.pair, c.pose, DJC_CONDITION);
    // Where faces lie flat on each other, alpha alone is certain.
    const bool sure = o.condition < 1e8;
    djtPose moved[2] = {c.pose[0], c.pose[1]};
    for (int i = 0; i < 3; i++) moved[1].pos[i] += 1e-3 * scale * djt_uniform(&rng, -1, 1);
    evalAt(&other, c.pair, moved, 0);
    evalAt(&other, c.pair, c.pose, 0);
    assert_true(fabs(other.alpha - o.alpha) < 1e-10 * o.alpha);
    if (sure) assert_true(fabs(other.x[0] - o.x[0]) < 1e-7 * scale);
    djcImplicitPair* swapped = makePair(&c.shape[1], &c.shape[0]);
    const djtPose turned[2] = {c.pose[1], c.pose[0]};
    evalAt(&other, swapped, turned, 0);
    assert_true(fabs(other.alpha - o.alpha) < 1e-10 * o.alpha);
    if (sure) assert_true(fabs(other.normal[2] + o.normal[2]) < 1e-6);
    for (int i = 0; i < 3; i++) moved[1].pos[i] = 3 * c.pose[1].pos[i] - 2 * c.pose[0].pos[i];
    evalAt(&other, c.pair, moved, 0);
    assert_true(fabs(other.alpha - 3 * o.alpha) < 1e-10 * o.alpha);
    djc_deleteImplicitPair(swapped);
    djc_deleteImplicitPair(c.pair);
  }
}

// A cap that is nearly flat on a plane: the point is as certain as the condition lets it be, from
// whatever start.
static void testFlat(void) {
  static const double SIZE[5] = {1, 0.6, 0.7, 0.8, 20}, ZERO[3] = {0, 0, 0}, ONE[4] = {1, 0, 0, 0};
  const djcImplicitShape cone = {"truncated_cone", 0, 5, SIZE}, plane = {"plane", 0, 0, NULL};
  const double pos[3] = {0, 0, 1.2};
  djRng rng = {10};
  for (int k = 0; k < 400; k++) {
    djcImplicitPair* pair;
    djcImplicit o, other;
    const double tilt = pow(10, djt_uniform(&rng, -9, -1)), way = djt_uniform(&rng, 0, 6.28);
    assert_int_equal(djc_makeImplicitPair(&pair, &cone, &plane, NULL), DJ_OK);
    for (int i = 0; i < 3; i++) { // cold, elsewhere, back again
      const double turn = 0.5 * (i == 1 ? 1.03 * tilt : tilt), s = sin(turn) * sqrt(0.5);
      const double c = cos(turn) * sqrt(0.5); // the axis down, then tilted
      const double quat[4] = {c - s * sin(way), s * cos(way), c + s * sin(way), s * cos(way)};
      assert_int_equal(
          djc_evalImplicitPair(i ? &other : &o, pair, pos, quat, ZERO, ONE, DJC_CONDITION), DJ_OK);
    }
    // Nor is an angle within rounding taken for a touch far away on the cap.
    const double most = tilt > 1e-7 ? 2e-15 * o.condition : 1e-3;
    for (int i = 0; i < 3; i++) assert_true(fabs(other.point_a[i] - o.point_a[i]) < most);
    assert_true(fabs(other.gap - o.gap) < 1e-15);
    djc_deleteImplicitPair(pair);
  }
}

// Faces exactly flat on each other, or on a plane, without curvature where they touch: alpha's
// derivative is right, the others are finite.
static void testAligned(void) {
  static const double SIZE[4] = {0.1, 0.08, 0.06, 8}, ONE[4] = {1, 0, 0, 0}, ZERO[3] = {0, 0, 0};
  const djcImplicitShape box = {"superellipsoid", 0, 4, SIZE}, plane = {"plane", 0, 0, NULL};
  for (int k = 0; k < 2; k++) {
    djcImplicit o;
    const double pos[3] = {0, 0, k ? 0.05 : 0.1}, T = k ? 0.06 : 0.12;
    assert_int_equal(djc_implicit(&o, NULL, NULL, &box, pos, ONE, k ? &plane : &box, ZERO, ONE,
                                  DJC_DERIVATIVES | DJC_CONDITION, NULL),
                     DJ_OK);
    assert_true(fabs(o.dalpha[5] - 1 / T) < 1e-9 && fabs(o.gap - pos[2] + T) < 1e-12);
    const double all = djt_largest(o.dx, 36) + djt_largest(o.dnormal, 36) +
                       djt_largest(o.dgap, 12) + djt_largest(o.dpoint_a, 36) +
                       djt_largest(o.dpoint_b, 36);
    assert_true(isfinite(all));
  }
}

// A cone's end lies along another's flank but for an angle. Where it presses goes from the edge to
// the middle by about as much for each tenth of the angle, and is found however flat that is, from
// wherever the search begins.
static void testFlank(void) {
  static const double cone[] = {0.6, 0.05, 0.375, 1.125, 40}, drum[] = {0.64, 0.32, 0.3, 0.5, 40};
  const double lean = atan2(0.64 - 0.32, 0.3 + 0.5) - 0.5 * M_PI;
  djtImplicit shape[2];
  memcpy(shape[0].size, cone, sizeof cone);
  memcpy(shape[1].size, drum, sizeof drum);
  for (int k = 0; k < 2; k++) {
    shape[k].given = (djcImplicitShape){"truncated_cone", 0, 5, shape[k].size};
  }
  djcImplicitPair* pair = makePair(&shape[0], &shape[1]);
  double last = NAN;
  for (double angle = 1e-5; angle > 1e-12; angle *= 0.1) {
    djcImplicit cold, warm;
    djtPose pose[2] = {{.quat = {1, 0, 0, 0}}, {{-0.9, 0.2, 0}, {1, 0, 0, 0}}};
    djt_movePose(&pose[1], 2, lean + angle);
    djc_forgetImplicitPair(pair);
    evalAt(&cold, pair, pose, 0);
    for (int k = 0; k < 3; k++) {
      djtPose other[2] = {pose[0], pose[1]};
      djt_movePose(&other[1], k, 1e-3);
      evalAt(&warm, pair, other, 0);
      evalAt(&warm, pair, pose, 0);
      for (int i = 0; i < 3; i++) assert_true(fabs(warm.x[i] - cold.x[i]) < 2e-5);
    }
    if (angle < 5e-6) assert_true(fabs(cold.x[1] - last - 0.0329) < 2e-4);
    last = cold.x[1];
  }
  djc_deleteImplicitPair(pair);
  // Where rounding hides how flat it is, the point still moves far by the least turn.
  shape[0].size[4] = shape[1].size[4] = 150;
  pair = makePair(&shape[0], &shape[1]);
  for (int k = -20; k <= 20; k++) {
    djcImplicit o;
    const double y = 0.2 * cos(0.1 * k), z = 0.2 * sin(0.1 * k);
    djtPose pose[2] = {{.quat = {1, 0, 0, 0}}, {{-0.9, y, z}, {1, 0, 0, 0}}};
    djt_movePose(&pose[1], 2, lean);
    djt_movePose(&pose[1], 0, 0.1 * k);
    evalAt(&o, pair, pose, DJC_DERIVATIVES);
    const double turn = fabs(o.dx[12 + 8]) + fabs(o.dx[24 + 7]);
    assert_true(turn > 1e6 && isfinite(turn));
  }
  djc_deleteImplicitPair(pair);
}

static double extrapolated(const double v[6][DJT_OUTPUTS], int i, double h) {
  return (45 * (v[2][i] - v[3][i]) - 9 * (v[1][i] - v[4][i]) + (v[0][i] - v[5][i])) / (60 * h);
}

static void testTwists(void) {
  static const double STEP[6] = {3, 2, 1, -1, -2, -3};
  djRng rng = {5};
  double worst = 0, wrong = 0;
  for (int k = 0; k < 100; k++) {
    Case c;
    djcImplicit o;
    makeCase(&c, k, 1, k % 2 ? 20 : 8, &rng);
    evalAt(&o, c.pair, c.pose, DJC_DERIVATIVES | DJC_CONDITION);
    if (o.condition > 1e4 || o.alpha < 0.1) {
      djc_deleteImplicitPair(c.pair);
      continue;
    }
    for (int j = 0; j < 12; j++) {
      double v[6][DJT_OUTPUTS], mine[DJT_OUTPUTS];
      const double h = 1e-3 / fmax(1, log10(o.condition));
      for (int s = 0; s < 6; s++) {
        djtPose pose[2] = {c.pose[0], c.pose[1]};
        djcImplicit at;
        djt_movePose(&pose[j / 6], j % 6, STEP[s] * h);
        evalAt(&at, c.pair, pose, 0);
        djt_outputs(v[s], &at);
      }
      mine[0] = o.dalpha[j];
      mine[1] = o.dgap[j];
      for (int i = 0; i < 3; i++) {
        mine[2 + i] = o.dx[12 * i + j];
        mine[5 + i] = o.dnormal[12 * i + j];
        mine[8 + i] = o.dpoint_a[12 * i + j];
        mine[11 + i] = o.dpoint_b[12 * i + j];
      }
      for (int i = 0; i < DJT_OUTPUTS; i++) {
        const double d = extrapolated(v, i, h);
        worst = djt_worst(worst, fabs(d - mine[i]) / (1 + fabs(d)) / sqrt(o.condition));
        wrong = fmax(wrong, fabs(d - mine[(i + 1) % DJT_OUTPUTS]) / (1 + fabs(d)));
      }
    }
    djc_deleteImplicitPair(c.pair);
  }
  print_message("derivatives by twists: %.1e of the square root of the condition\n", worst);
  assert_true(worst < 1e-6 && wrong > 0.1);
}

static void testSizes(void) {
  static const double STEP[6] = {3, 2, 1, -1, -2, -3};
  djRng rng = {6};
  double worst = 0, wrong = 0;
  for (int k = 0; k < 60; k++) {
    Case c;
    djcImplicit o;
    makeCase(&c, k, 1, 10, &rng);
    evalAt(&o, c.pair, c.pose, DJC_CONDITION);
    for (int side = 0; side < 2 && o.condition < 1e4; side++) {
      double by[8 * DJT_NUMBERS];
      const int n = c.shape[side].given.nsize;
      evalAt(&o, c.pair, c.pose, DJC_CONDITION);
      assert_int_equal(djc_implicitBySize(by, c.pair, side), DJ_OK);
      for (int j = 0; j < n; j++) {
        double v[6][DJT_OUTPUTS];
        const double h = 4e-5 * fmax(0.3, fabs(c.shape[side].size[j]));
        for (int s = 0; s < 6; s++) {
          Case moved = c;
          djcImplicit at;
          for (int i = 0; i < 2; i++) moved.shape[i].given.size = moved.shape[i].size;
          moved.shape[side].size[j] += STEP[s] * h;
          moved.pair = makePair(&moved.shape[0], &moved.shape[1]);
          evalAt(&at, moved.pair, c.pose, 0);
          djc_deleteImplicitPair(moved.pair);
          djt_outputs(v[s], &at);
        }
        for (int i = 0; i < 8; i++) { // alpha, x, normal, gap
          static const int OF[8] = {0, 2, 3, 4, 5, 6, 7, 1};
          const double d = extrapolated(v, OF[i], h);
          worst = djt_worst(worst, fabs(d - by[i * n + j]) / (1 + fabs(d)) / sqrt(o.condition));
          wrong = fmax(wrong, fabs(d - by[(i + 1) % 8 * n + j]) / (1 + fabs(d)));
        }
      }
    }
    djc_deleteImplicitPair(c.pair);
  }
  print_message("derivatives by numbers: %.1e of the square root of the condition\n", worst);
  assert_true(worst < 1e-6 && wrong > 0.1);
}

// Origins that coincide: alpha is 0, the rest by the last direction, all finite.
static void testCoincident(void) {
  djRng rng = {7};
  for (int k = 0; k < 40; k++) {
    Case c;
    djcImplicit o, near;
    makeCase(&c, k, 1, 20, &rng);
    djtPose pose[2] = {c.pose[0], c.pose[1]};
    for (int i = 0; i < 3; i++) {
      pose[1].pos[i] = c.pose[0].pos[i] + 1e-6 * (c.pose[1].pos[i] - c.pose[0].pos[i]);
    }
    evalAt(&near, c.pair, pose, 0);
    memcpy(pose[1].pos, pose[0].pos, sizeof pose[0].pos);
    evalAt(&o, c.pair, pose, DJC_DERIVATIVES);
    assert_true(o.degenerate && !near.degenerate && o.alpha == 0);
    assert_true(fabs(o.gap - near.gap) < 1e-5 && fabs(o.normal[0] - near.normal[0]) < 1e-9);
    const double all = djt_largest(o.dalpha, 12) + djt_largest(o.dx, 36) + djt_largest(o.dgap, 12) +
                       djt_largest(o.dnormal, 36);
    assert_true(isfinite(all) && djt_largest(o.dalpha, 12) > 0);
    djc_forgetImplicitPair(c.pair);
    djc_deleteImplicitPair(c.pair);
    c.pair = makePair(&c.shape[0], &c.shape[1]);
    evalAt(&o, c.pair, pose, DJC_DERIVATIVES); // no last direction
    assert_true(o.degenerate && isfinite(o.gap) && o.gap < 0);
    djc_deleteImplicitPair(c.pair);
  }
}

// Both parts of a motion at once are what moves: the shapes turned together about a's origin, d
// with them, turn the touch and leave T; and a's size by its own number as of a ball.
static void testMotion(void) {
  djRng rng = {9};
  for (int k = 0; k < 60; k++) {
    Case c;
    djImplicit shape[2];
    double mem[2][DJT_NUMBERS + 64];
    djImplicitTouch touch;
    djImplicitFrame f;
    djImplicitRates r;
    makeCase(&c, k, 1, 12, &rng);
    for (int i = 0; i < 2; i++) {
      const djtImplicit* s = &c.shape[i];
      assert_int_equal(dj_makeImplicit(&shape[i], mem[i], dj_implicitRow(s->given.family),
                                       s->given.nface, s->size, NULL),
                       DJ_OK);
    }
    double d[3];
    djt_unitVector(d, &rng);
    const djImplicitPlace place = {dju_quatToMat(dju_loadQuat(c.pose[0].quat)), dju_load3(d)};
    assert_int_equal(dj_touchImplicit(&touch, NULL, &shape[0], &shape[1], &place), DJ_OK);
    dj_frameImplicit(&f, &touch, &place, dju_eye3());
    dj_moveTouch(&r, &f);
    for (int j = 0; j < 3; j++) {
      const djVec3 w = dju_vec3(j == 0, j == 1, j == 2), e = dju_cross3(w, f.d);
      const djVec3 dy = dju_cross3(w, f.y), dn = dju_cross3(w, f.n);
      const double by[9] = {w.x, w.y, w.z, w.x, w.y, w.z, e.x, e.y, e.z};
      const double y[3] = {dy.x, dy.y, dy.z}, n[3] = {dn.x, dn.y, dn.z};
      double T = 0;
      for (int i = 0; i < 9; i++) T += r.T[i] * by[i];
      assert_true(fabs(T) < 1e-9);
      for (int i = 0; i < 3; i++) {
        double sum[2] = {0, 0};
        for (int q = 0; q < 9; q++) {
          sum[0] += r.y[9 * i + q] * by[q];
          sum[1] += r.n[9 * i + q] * by[q];
        }
        assert_true(fabs(sum[0] - y[i]) < 1e-6 && fabs(sum[1] - n[i]) < 1e-6);
      }
    }
    djc_deleteImplicitPair(c.pair);
  }
}

static void testBad(void) {
  djRng rng = {8};
  Case c;
  djcImplicit o;
  double by[8 * DJT_NUMBERS];
  makeCase(&c, 7, 1, 20, &rng);
  assert_int_equal(djc_implicitBySize(by, c.pair, 0), DJ_INVALID); // not evaluated
  const double nan[3] = {NAN, 0, 0}, zero[3] = {0}, flat[4] = {0}, one[4] = {1, 0, 0, 0};
  assert_int_equal(djc_evalImplicitPair(&o, c.pair, nan, one, zero, one, 0), DJ_INVALID);
  assert_int_equal(djc_evalImplicitPair(&o, c.pair, zero, flat, zero, one, 0), DJ_INVALID);
  assert_int_equal(djc_evalImplicitPair(NULL, c.pair, zero, one, zero, one, 0), DJ_INVALID);
  assert_int_equal(djc_evalImplicitPair(&o, NULL, zero, one, zero, one, 0), DJ_INVALID);
  evalAt(&o, c.pair, c.pose, 0);
  assert_int_equal(djc_implicitBySize(by, c.pair, 2), DJ_INVALID);
  assert_int_equal(djc_implicitBySize(NULL, c.pair, 0), DJ_INVALID);
  djc_deleteImplicitPair(c.pair);
  djc_deleteImplicitPair(NULL);
  djc_forgetImplicitPair(NULL);
  djError err = {""};
  assert_int_equal(djc_implicit(&o, NULL, NULL, &c.shape[0].given, nan, one, &c.shape[1].given,
                                zero, one, 0, &err),
                   DJ_INVALID);
  assert_non_null(strstr(err.text, "poses"));
}

DJT_MAIN(testConditions, testEllipsoids, testMinimum, testHard, testFlat, testAligned, testTwists,
         testSizes, testCoincident, testMotion, testFlank, testBad)
