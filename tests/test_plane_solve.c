// The plane between two clouds of vertices, apart from the kernel: its energy summed vertex by
// vertex, minimiser, sums, starts, ends; derivatives by twists of the clouds.

#include "common/near.h"
#include "common/pair_case.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/plane/plane_solve.h"
#include "contact/plane/plane_twist.h"
#include "contact/plane/twist_lanes.h"
#include "shape/curve.h"

enum { MOST = 40, ROOM = MOST + 2 * DJU_LANES };

// Two clouds as points of two bodies, and as the solver has them.
typedef struct Cloud {
  djVec3 y[MOST];
  djBarrier law;
  double x[4][ROOM], lift[ROOM];
  djVec3 u;                // direction along which they are apart
  djClouds c;
} Cloud;

static double sigma(const Cloud* k, int i) { return i < k->c.na ? -1 : 1; }

static void packCloud(Cloud* k) {
  djClouds* c = &k->c;
  for (int i = 0; i < ROOM; i++) {
    int from = i < c->n ? i : c->n - 1;
    double sign = sigma(k, from), y[3];
    dju_store3(y, k->y[from]);
    for (int r = 0; r < 3; r++) k->x[r][i] = sign * y[r];
    k->x[3][i] = sign;
    k->lift[i] = c->r[from >= c->na];
  }
  for (int r = 0; r < 4; r++) c->x[r] = k->x[r];
  c->lift = k->lift;
}

// The vertex of a side that is farthest along n, in direction sign; how far the side reaches.
static int vertexAlong(const Cloud* k, int side, djVec3 n, double sign) {
  int best = side ? k->c.na : 0;
  for (int i = best; i < (side ? k->c.n : k->c.na); i++) {
    if (sign * dju_dot3(n, k->y[i]) > sign * dju_dot3(n, k->y[best])) best = i;
  }
  return best;
}

static double farthest(const Cloud* k, int side, djVec3 n, double sign) {
  double q = dju_norm3(dju_mulMtV(k->c.curve[side], n));
  double most = sign * dju_dot3(n, k->y[vertexAlong(k, side, n, sign)]);
  return most + k->c.r[side] * dju_norm3(n) + q;
}

static void moveSide(Cloud* k, int side, djVec3 d) {
  for (int i = side ? k->c.na : 0; i < (side ? k->c.n : k->c.na); i++) {
    k->y[i] = dju_add3(k->y[i], d);
  }
}

// Sides whose nearest points are gap apart, along a random direction. t chooses balls, ellipsoids
// and counts.
static void makeCloud(Cloud* k, Random* r, int t, double gap) {
  memset(k, 0, sizeof *k);
  k->law = (djBarrier){logUniform(r, 0.02, 0.5), (djBarrierLaw)(t / 4 % DJ_NBARRIER)};
  k->c.na = 1 + below(r, t % 2 ? 19 : 4);
  k->c.n = k->c.na + 1 + below(r, t % 2 ? 19 : 4);
  for (int i = 0; i < k->c.n; i++) k->y[i] = randomPoint(r, 0.5, 0.5, 0.5);
  for (int side = 0; side < 2; side++) {
    if (t % 3) k->c.r[side] = uniform(r, 0, 0.3);
    if (t % 5 < 3 || (side == 1 && t % 5 == 3)) continue;
    double axes[3];
    djt_uniforms(axes, 3, r, 0.05, 0.4);
    k->c.curved = true;
    k->c.curve[side] = dj_scaleColumns(dju_quatToMat(randomQuat(r)), axes);
  }
  k->u = randomUnit(r);
  for (int side = 0; side < 2; side++) {
    double sign = side ? -1 : 1;   // a's top and b's bottom
    djVec3 c, x = k->y[vertexAlong(k, side, k->u, sign)];
    dj_curveReach(&c, NULL, &k->c.curve[side], k->u);
    x = dju_madd3(dju_madd3(x, sign, c), sign * (k->c.r[side] + 0.5 * gap), k->u);
    moveSide(k, side, dju_neg3(x));
  }
  packCloud(k);
}

// P and its derivatives as they are written.
static void barrierOf(double b[3], double x, djBarrier law) {
  const double s = law.s, d = s - x;
  b[0] = b[1] = b[2] = 0;
  if (x >= s) return;
  if (law.law == DJ_BARRIER_LOG) {
    const double l = log1p(-d / s);
    b[0] = -d * d * l / (s * s * s);
    b[1] = (2 * d * l - d * d / x) / (s * s * s);
    b[2] = (-2 * l + 4 * d / x + d * d / (x * x)) / (s * s * s);
    return;
  }
  b[0] = pow(x - s, 4) / pow(x, 5);
  b[1] = pow(x - s, 3) * (5 * s - x) / pow(x, 6);
  b[2] = pow(x - s, 2) * (2 * x * x - 20 * s * x + 30 * s * s) / pow(x, 7);
}

// U at p, U_p, and the sums of both sides.
static double energyOf(double g[4], djPlaneSums side[2], const Cloud* k, const double p[4]) {
  double b[3], U;
  djVec3 n = dju_load3(p);
  double length = dju_norm3(n);
  barrierOf(b, 1 - length, k->law);
  U = b[0];
  for (int r = 0; r < 3; r++) g[r] = -b[1] * p[r] / length;
  g[3] = 0;
  memset(side, 0, 2 * sizeof *side);
  for (int i = 0; i < k->c.n; i++) {
    int which = i >= k->c.na;
    djPlaneSums* sum = &side[which];
    djVec3 half = dju_mulMtV(k->c.curve[which], n);
    double r = k->c.r[which], q = dju_norm3(half), xi[4];
    djVec3 reach = dju_scale3(r / length, n);
    if (q > 0) reach = dju_madd3(reach, 1 / q, dju_mulMV(k->c.curve[which], half));
    double D = sigma(k, i) * (dju_dot3(n, k->y[i]) + p[3]) - r * length - q;
    barrierOf(b, D, k->law);
    U += b[0];
    sum->value += b[0];
    dju_store3(xi, dju_madd3(k->y[i], -sigma(k, i), reach));
    xi[3] = 1;
    for (int a = 0, at = 0; a < 4; a++) {
      g[a] += sigma(k, i) * b[1] * xi[a];
      sum->f[a] += sigma(k, i) * b[1] * xi[a];
      for (int c = a; c < 4; c++) sum->m[at++] += b[2] * xi[a] * xi[c];
    }
    sum->rp += r * b[1];
  }
  return U;
}

static djPlaneStatus solveFrom(djPlaneSolution* sol, const Cloud* k, djVec3 n) {
  dju_store3(sol->p, n);
  sol->p[3] = 0;
  assert_true(dj_centrePlane(sol->p, &k->c, k->law) > 0);
  return dj_solvePlane(sol, &k->c, k->law, 80);
}

// ------------------------------------------ the plane ------------------------------------------

typedef struct Line {
  const Cloud* cloud;
  double p[4], along[4];
} Line;

static void gradientAlong(double* g, void* user, double e) {
  const Line* l = user;
  djPlaneSums side[2];
  double p[4];
  for (int r = 0; r < 4; r++) p[r] = l->p[r] + e * l->along[r];
  energyOf(g, side, l->cloud, p);
}

static void curveAlong(double* y, void* user, double e) {
  const Line* l = user;
  for (int side = 0; side < 2; side++) {
    djVec3 c, n = dju_madd3(dju_load3(l->p), e, dju_load3(l->along));
    dj_curveReach(&c, NULL, &l->cloud->c.curve[side], n);
    dju_store3(y + 3 * side, c);
  }
}

static void compareSums(const djPlaneSums* a, const djPlaneSums* b) {
  double size = b->value;
  for (int i = 5; i < 15; i++) size = fmax(size, fabs(b->sum[i]));
  for (int i = 0; i < 16; i++) djt_near(a->sum[i], b->sum[i], 1e-11 * size);
}

static void testMinimum(void) {
  Random r = {1};
  int curved = 0;
  for (int t = 0; t < 300; t++) {
    Cloud k;
    djPlaneSolution sol;
    djPlaneSums side[2];
    makeCloud(&k, &r, t, 0);
    double range = 2 * k.law.s / (1 - k.law.s), g[4], Hv[4], back[4], change[6];
    moveSide(&k, 1, dju_scale3(range * uniform(&r, 0.05, 0.8), k.u));
    packCloud(&k);
    assert_int_equal(solveFrom(&sol, &k, k.u), DJ_PLANE_DONE);
    double U = energyOf(g, side, &k, sol.p);
    djt_near(sol.value, U, 1e-11 * U);
    for (int b = 0; b < 2; b++) {
      compareSums(&sol.side[b], &side[b]);
      djVec3 n = dju_load3(sol.p);
      double sign = b ? 1 : -1;
      double least = sign * sol.p[3] - farthest(&k, b, n, -sign);
      djt_near(sol.least[b], least, 1e-13);
    }
    // a minimum: nothing pulls, and the factor is that of U_pp
    Line line = {&k, {0}, {0}};
    memcpy(line.p, sol.p, sizeof line.p);
    djt_uniforms(line.along, 4, &r, -1, 1);
    double room = fmin(fmin(sol.least[0], sol.least[1]), 1 - dju_norm3(dju_load3(sol.p)));
    extrapolate(Hv, 4, 0.02 * room, 1, gradientAlong, &line);
    dju_solveLdl4(back, &sol.factor, Hv);
    for (int i = 0; i < 4; i++) djt_near(back[i], line.along[i], 1e-5);
    dju_solveLdl4(back, &sol.factor, g);
    for (int i = 0; i < 4; i++) djt_near(back[i], 0, 1e-8 * room);
    assert_int_equal(sol.curved, k.c.curved);
    if (!k.c.curved) continue;
    extrapolate(change, 6, 0.01, 1, curveAlong, &line);
    for (int b = 0; b < 2; b++) {
      djVec3 bent = dju_mulMV(sol.bend[b], dju_load3(line.along));
      double F = (b ? 1 : -1) * side[b].f[3], got[3];
      dju_store3(got, bent);
      for (int i = 0; i < 3; i++) djt_near(got[i], -F * change[3 * b + i], 1e-6 * fabs(F));
    }
    curved++;
  }
  assert_true(curved > 50);
}

// The start: midway, as long as is good, and what it returns.
static void testCentre(void) {
  Random r = {2};
  for (int t = 0; t < 200; t++) {
    Cloud k;
    double gap = uniform(&r, -0.3, 1), p[4], length = uniform(&r, 0.1, 3);
    makeCloud(&k, &r, t, gap);
    dju_store3(p, dju_scale3(length, k.u));
    p[3] = uniform(&r, -5, 5);
    djt_near(dj_centrePlane(p, &k.c, k.law), gap, 1e-13);
    djVec3 n = dju_load3(p);
    length = dju_norm3(n);
    djt_near(dju_norm3(dju_sub3(n, dju_scale3(length, k.u))), 0, 1e-14);
    double least[2] = {-p[3] - farthest(&k, 0, n, 1), p[3] - farthest(&k, 1, n, -1)};
    djt_near(least[0], least[1], 1e-13);
    djt_near(least[0], 0.5 * length * gap, 1e-13);
    assert_true(length > 0 && length < 1 + 1e-15 && (gap > 0) == (length < 1 - 1e-12));
    if (gap * (1 - k.law.s) < 2 * k.law.s) continue;
    double g[4];
    djPlaneSums side[2];
    assert_true(energyOf(g, side, &k, p) == 0);   // no barrier acts
  }
  Cloud k;
  makeCloud(&k, &r, 0, 0.1);
  double none[4] = {0, 0, 0, 3};
  assert_true(dj_centrePlane(none, &k.c, k.law) < 0);
  assert_true(none[3] == 3);
}

// U of two vertices a side, d apart, by the normal's length.
static double valueOfLength(double length, double d, djBarrier law) {
  double a[3], b[3];
  barrierOf(a, 1 - length, law);
  barrierOf(b, 0.5 * length * d, law);
  return a[0] + 4 * b[0];
}

static void startLengths(djBarrier law) {
  const double s = law.s;
  for (double part = 0.01; part < 1; part += 0.07) {
    double d = part * 2 * s / (1 - s), length = dj_startLength(d, law), best = INFINITY;
    assert_true(length > 1 - s && length < 1);
    for (int i = 1; i < 2000; i++) {
      best = fmin(best, valueOfLength(1 - s + s * i / 2000, d, law));
    }
    assert_true(valueOfLength(length, d, law) < 1.4 * best);
  }
}

static void testStartLength(void) {
  for (double s = 0.01; s < 0.3; s *= 1.3) {
    for (djBarrierLaw law = 0; law < DJ_NBARRIER; law++) startLengths((djBarrier){s, law});
  }
}

static void testEnds(void) {
  Random r = {3};
  for (int t = 0; t < 100; t++) {
    Cloud k;
    djPlaneSolution sol;
    makeCloud(&k, &r, t, 0);
    double range = 2 * k.law.s / (1 - k.law.s);
    // too far for a force: known at the start, or found from a start on the wrong side
    moveSide(&k, 1, dju_scale3(1.01 * range, k.u));
    packCloud(&k);
    assert_int_equal(solveFrom(&sol, &k, k.u), DJ_PLANE_ZERO);
    assert_true(sol.value == 0 && sol.least[0] > 0 && sol.least[1] > 0);
    dju_store3(sol.p, dju_scale3(0.9, k.u));
    sol.p[3] = 10;
    assert_int_equal(dj_solvePlane(&sol, &k.c, k.law, 80), DJ_PLANE_ZERO);
    assert_true(sol.value == 0 && sol.least[0] > 0 && sol.least[1] > 0);
    // a start that is not feasible, in a direction that is, finds the same plane
    moveSide(&k, 1, dju_scale3(-0.8 * range, k.u));
    packCloud(&k);
    djPlaneSolution other;
    assert_int_equal(solveFrom(&sol, &k, k.u), DJ_PLANE_DONE);
    dju_store3(other.p, dju_scale3(0.9, k.u));
    other.p[3] = 10;
    assert_int_equal(dj_solvePlane(&other, &k.c, k.law, 80), DJ_PLANE_DONE);
    for (int i = 0; i < 4; i++) djt_near(other.p[i], sol.p[i], 1e-9);
    // no iterations; sides that overlap along the direction; no direction
    dj_centrePlane(other.p, &k.c, k.law);
    assert_int_equal(dj_solvePlane(&other, &k.c, k.law, 0), DJ_PLANE_LOST);
    dju_store3(other.p, dju_scale3(-0.5, k.u));
    other.p[3] = 0;
    assert_int_equal(dj_solvePlane(&other, &k.c, k.law, 80), DJ_PLANE_LOST);
    memset(other.p, 0, sizeof other.p);
    assert_int_equal(dj_solvePlane(&other, &k.c, k.law, 80), DJ_PLANE_LOST);
  }
  // P at a depth of 1e-5 s
  for (djBarrierLaw law = 0; law < DJ_NBARRIER; law++) {
    const djBarrier at = {0.1, law};
    double b[3];
    barrierOf(b, 0.1 * (1 - 0.99e-5), at);
    assert_true(dj_isCoarse(b[0], at));
    barrierOf(b, 0.1 * (1 - 1.01e-5), at);
    assert_false(dj_isCoarse(b[0], at));
  }
}

// ------------------------------------------ twists ---------------------------------------------

typedef struct Twisted {
  Cloud start;
  djVec3 ref[2];
  double K, L, xi[12], p[4];
} Twisted;

// The clouds moved by e xi; refs go with them.
static void twistCloud(Cloud* k, double ref[2][3], const Twisted* t, double e) {
  *k = t->start;
  for (int side = 0; side < 2; side++) {
    const double* xi = t->xi + 6 * side;
    djMat3 Q = turn(dju_scale3(e, dju_load3(xi)));
    djVec3 moved = dju_madd3(t->ref[side], e / t->L, dju_load3(xi + 3));
    for (int i = side ? k->c.na : 0; i < (side ? k->c.n : k->c.na); i++) {
      k->y[i] = dju_add3(moved, dju_mulMV(Q, dju_sub3(k->y[i], t->ref[side])));
    }
    k->c.curve[side] = dju_mulMM(Q, k->c.curve[side]);
    dju_store3(ref[side], moved);
  }
  packCloud(k);
}

// K times the least U, and its slope along xi.
static void leastAlong(double* y, void* user, double e) {
  const Twisted* t = user;
  Cloud k;
  double ref[2][3], g[12];
  djPlaneSolution sol;
  twistCloud(&k, ref, t, e);
  assert_int_equal(solveFrom(&sol, &k, dju_load3(t->p)), DJ_PLANE_DONE);
  dj_planeTwist(g, NULL, NULL, &sol, ref, k.c.r, t->K, t->L);
  y[0] = t->K * sol.value;
  y[1] = djt_dot(g, t->xi, 12);
}

// U_p of the plane p that stays.
static void pullAlong(double* g, void* user, double e) {
  const Twisted* t = user;
  Cloud k;
  double ref[2][3];
  djPlaneSums side[2];
  twistCloud(&k, ref, t, e);
  energyOf(g, side, &k, t->p);
}

static void testTwist(void) {
  Random r = {4};
  double worst[3] = {0};
  for (int t = 0; t < 120; t++) {
    Twisted w;
    djPlaneSolution sol;
    double ref[2][3], g[12], mixed[48], H[144], d[4], size[3] = {0};
    makeCloud(&w.start, &r, t, 0);
    const double s = w.start.law.s, range = 2 * s / (1 - s);
    const double gap = range * uniform(&r, 0.2, 0.6);
    moveSide(&w.start, 1, dju_scale3(gap, w.start.u));
    packCloud(&w.start);
    w.K = logUniform(&r, 0.1, 10);
    w.L = logUniform(&r, 0.1, 10);
    for (int k = 0; k < 2; k++) {
      w.ref[k] = dju_madd3(w.start.y[k ? w.start.c.na : 0], 0.5, randomUnit(&r));
      dju_store3(ref[k], w.ref[k]);
    }
    assert_int_equal(solveFrom(&sol, &w.start, w.start.u), DJ_PLANE_DONE);
    memcpy(w.p, sol.p, sizeof w.p);
    dj_planeTwist(g, mixed, H, &sol, ref, w.start.c.r, w.K, w.L);
    for (int i = 0; i < 144; i++) assert_true(H[i] == H[12 * (i % 12) + i / 12]);
    for (int i = 0; i < 12; i++) size[0] = fmax(size[0], fabs(g[i]) * (i % 6 < 3 ? 1 : w.L));
    for (int k = 0; k < 8; k++) {
      djt_uniforms(w.xi, 12, &r, -1, 1);
      for (int i = 0; i < 12; i++) w.xi[i] *= i % 6 < 3 ? 1 : w.L;
      double bent = 0, e = 0.005 * fmin(sol.least[0], sol.least[1]);
      for (int i = 0; i < 12; i++) bent += w.xi[i] * djt_dot(H + 12 * i, w.xi, 12);
      extrapolate(d, 2, e, 1, leastAlong, &w);
      size[1] = fmax(size[1], fabs(d[1]));
      worst[0] = djt_worst(worst[0], fabs(d[0] - djt_dot(g, w.xi, 12)) / size[0]);
      worst[1] = djt_worst(worst[1], fabs(d[1] - bent) / size[1]);
      extrapolate(d, 4, e, 1, pullAlong, &w);
      for (int i = 0; i < 4; i++) size[2] = fmax(size[2], fabs(d[i]));
      for (int i = 0; i < 4; i++) {
        worst[2] = djt_worst(worst[2], fabs(d[i] - djt_dot(mixed + 12 * i, w.xi, 12)) / size[2]);
      }
    }
  }
  print_message("gradient %.1e, Hessian %.1e, mixed %.1e\n", worst[0], worst[1], worst[2]);
  assert_true(worst[0] < 1e-8 && worst[1] < 1e-5 && worst[2] < 1e-8);
}

// Each output may be left out, and is the same without the others.
static void testParts(void) {
  Random r = {5};
  Cloud k;
  djPlaneSolution sol;
  const double ref[2][3] = {{0.1, 0.2, -0.3}, {0.5, 0, 0.1}};
  double g[12], mixed[48], H[144], one[144];
  makeCloud(&k, &r, 4, 0.05);
  assert_int_equal(solveFrom(&sol, &k, k.u), DJ_PLANE_DONE);
  dj_planeTwist(g, mixed, H, &sol, ref, k.c.r, 2, 0.5);
  dj_planeTwist(one, NULL, NULL, &sol, ref, k.c.r, 2, 0.5);
  assert_memory_equal(one, g, sizeof g);
  dj_planeTwist(NULL, one, NULL, &sol, ref, k.c.r, 2, 0.5);
  assert_memory_equal(one, mixed, sizeof mixed);
  dj_planeTwist(NULL, NULL, one, &sol, ref, k.c.r, 2, 0.5);
  assert_memory_equal(one, H, sizeof H);
  dj_planeTwist(NULL, NULL, NULL, &sol, ref, k.c.r, 2, 0.5);
}

// Rows of lanes: by vectors, and what is written of them.
static void testTwistLanes(void) {
  Random r = {6};
  for (int t = 0; t < 20; t++) {
    djVec3 n = randomUnit(&r), ref = randomPoint(&r, 1, 1, 1), f = randomPoint(&r, 1, 1, 1);
    double inv_L = uniform(&r, 0.1, 10), v[3], M[10], MK[4][8], K[4][8], row[12], H[146];
    double f0 = uniform(&r, -1, 1), want[6];
    djLanes Kt[4], out[4];
    dju_store3(v, f);
    djt_uniforms(M, 10, &r, -1, 1);
    dj_twistRows(Kt, n, ref, inv_L);
    // K (m, m0) = (m x n - m0 ref x n, m0 n/L)
    djLanes sum = dj_combine(v[0], v[1], v[2], f0, Kt);
    dju_store3(want, dju_madd3(dju_cross3(f, n), -f0, dju_cross3(ref, n)));
    dju_store3(want + 3, dju_scale3(f0 * inv_L, n));
    for (int i = 0; i < 6; i++) djt_near(sum[i], want[i], 1e-13);
    dj_mulRows(out, M, Kt);
    for (int i = 0; i < 4; i++) {
      dju_storeLanes(K[i], Kt[i]);
      dju_storeLanes(MK[i], out[i]);
    }
    for (int i = 0; i < 4; i++) {
      for (int c = 0; c < 6; c++) {
        double entry = 0;
        for (int j = 0; j < 4; j++) {
          int low = i < j ? i : j, high = i < j ? j : i;
          entry += M[low * (7 - low) / 2 + high] * K[j][c];
        }
        djt_near(MK[i][c], entry, 1e-13);
      }
    }
    dj_storeTwist(row, Kt[0], Kt[3]);
    for (int i = 0; i < 6; i++) assert_true(row[i] == K[0][i] && row[6 + i] == K[3][i]);
    H[144] = H[145] = 7;
    for (int i = 0; i < 12; i++) dj_storeTwistRow(H, i, i * Kt[1], i * Kt[3]);
    for (int i = 0; i < 144; i++) {
      double entry = i % 12 < 6 ? K[1][i % 12] : K[3][i % 12 - 6];
      assert_true(H[i] == i / 12 * entry);
    }
    assert_true(H[144] == 7 && H[145] == 7);   // no lane beyond the last row
  }
}

DJT_MAIN(testMinimum, testCentre, testStartLength, testEnds, testTwist, testParts, testTwistLanes)
