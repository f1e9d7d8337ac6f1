// The plane's own motion in lagged friction, apart from the forces that follow: displacements, the
// points that are gathered, the minimiser, its factor, and what is refused.

#include "common/friction_case.h"
#include "common/near.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/friction/friction_plane.h"

// Displacements of body-fixed points, straight from the poses.
static void testDisplacements(void) {
  for (int t = 0; t < 100; t++) {
    djPose T[3];   // now, start, rate
    for (int k = 0; k < 3; k++) T[k] = (djPose){randomVec(1), rotation(randomVec(2))};
    djMotion m = {&T[0], &T[1], t % 2 ? &T[2] : &T[1], randomVec(1)};
    djVec3 y = randomVec(1), l = dju_untransform(&T[1], y), now = dju_transform(&T[0], l);
    djVec3 moved = dju_sub3(now, dju_transform(m.rate, l)), got = dj_displace(&m, y);
    assert_true(dju_norm3(dju_sub3(got, moved)) < 1e-14);
    djVec3 arm = dj_armNow(&m, y, got);
    assert_true(dju_norm3(dju_sub3(arm, dju_sub3(now, m.ref))) < 1e-14);
    djPairInput in = {.pose_a = &T[0], .start_a = &T[1], .rate_a = &T[2], .ref_a = m.ref,
                      .pose_b = &T[2], .start_b = &T[0], .rate_b = &T[1], .ref_b = y};
    djMotion a = dj_motionOf(&in, 0), b = dj_motionOf(&in, 1);
    assert_true(a.now == &T[0] && a.start == &T[1] && a.rate == &T[2] && a.ref.x == m.ref.x);
    assert_true(b.now == &T[2] && b.start == &T[0] && b.rate == &T[1] && b.ref.x == y.x);
    // a point on the lagged plane, or the vertex itself
    djVec3 n = dju_scale3(1 / dju_norm3(y), y);
    djLagged lagged = {.normal = n, .offset = 0.3};
    djVec3 on = dj_armPoint(&lagged, DJ_ARMS_PLANE, now), same;
    assert_true(fabs(dju_dot3(n, on) + 0.3) < 1e-14);
    assert_true(dju_norm3(dju_cross3(n, dju_sub3(on, now))) < 1e-14);
    same = dj_armPoint(&lagged, DJ_ARMS_PAPER, now);
    assert_true(same.x == now.x && same.y == now.y && same.z == now.z);
  }
}

static void testCap(void) {
  for (int t = 0; t < 200; t++) {
    double f = pow(10, 6 * uniform()), eps = pow(10, 6 * uniform() - 3), e = 1e-4 * (f + sqrt(eps));
    long double exact = sqrtl((long double)f * f + eps) - sqrtl(eps);
    double cap = dj_forceCap(f, eps, DJ_CAP_PAPER), slope = dj_forceCapSlope(f, eps, DJ_CAP_PAPER);
    djt_near(cap, (double)exact, 1e-14 * cap + 1e-18 * sqrt(eps));
    double up = dj_forceCap(f + e, eps, DJ_CAP_PAPER), down = dj_forceCap(f - e, eps, DJ_CAP_PAPER);
    djt_near((up - down) / (2 * e), slope, 1e-6 * fmax(slope, 1e-2));
    assert_true(dj_forceCap(f, eps, DJ_CAP_MAGNITUDE) == f);
    assert_true(dj_forceCapSlope(f, eps, DJ_CAP_MAGNITUDE) == 1);
  }
}

// L D L^T, and pivots below rounding, which are raised.
static void testFactor(void) {
  for (int t = 0; t < 100; t++) {
    double A[9] = {0}, H[6];
    for (int k = 0; k < 3; k++) {
      double g[3] = {uniform(), uniform(), uniform()};
      for (int i = 0; i < 9; i++) A[i] += g[i / 3] * g[i % 3];
    }
    for (int r = 0, at = 0; r < 3; r++) {
      for (int c = 0; c <= r; c++) H[at++] = A[3 * r + c];
    }
    djPlaneFactor f;
    dj_factorSlips(&f, H);
    double L[9] = {1, 0, 0, f.l10, 1, 0, f.l20, f.l21, 1}, D[3] = {f.d0, f.d1, f.d2};
    for (int i = 0; i < 9; i++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += L[i / 3 * 3 + k] * D[k] * L[i % 3 * 3 + k];
      djt_near(sum, A[i], 1e-13 * (1 + fabs(f.l21) * fabs(f.l21)));
    }
  }
  const double flat[6] = {2, 2, 2, 0, 0, 3};   // the second pivot vanishes
  djPlaneFactor f;
  dj_factorSlips(&f, flat);
  assert_true(f.d0 == 2 && f.d1 > 0 && f.d1 < 1e-14 && f.d2 == 3 && f.l10 == 1);
  const double last[6] = {2, 0, 1, 2, 0, 2};   // and the third
  dj_factorSlips(&f, last);
  assert_true(f.d0 == 2 && f.d1 == 1 && f.d2 > 0 && f.d2 < 1e-14 && f.l20 == 1);
}

static void testSpin(void) {
  double slope, other, total = 3, size = 0.2, range = 1e-3 * size, h = 0.01;
  double full = dj_spinStiffness(&slope, total, 0, size, h);
  djt_near(full, 1e-2 * total * h * size, 1e-18);
  for (double t = 0.05; t < 1; t += 0.1) {
    double spread = t * range * range, e = 1e-3 * range * range;
    double k = dj_spinStiffness(&slope, total, spread, size, h);
    djt_near(k, full * pow(1 - t, 3), 1e-14 * full);
    double up = dj_spinStiffness(&other, total, spread + e, size, h);
    double down = dj_spinStiffness(&other, total, spread - e, size, h);
    djt_near((up - down) / (2 * e) / slope, 1, 1e-3);
  }
  assert_true(dj_spinStiffness(&slope, total, range * range, size, h) == 0 && slope == 0);
  assert_true(dj_spinStiffness(&slope, total, 1, size, h) == 0 && slope == 0);
}

// Energy of the plane's motion (u, w about the centre c), point by point.
static double energyOf(const Instance* X, djVec3 c, djVec3 u, double w) {
  const djLagged* L = &X->lagged;
  double U = 0;
  for (int i = 0; i < L->n; i++) {
    int k = i >= L->na;
    djVec3 n = L->normal, y = dj_armPoint(L, L->law.arms, dju_load3(X->point + 3 * i));
    djVec3 l = dju_untransform(&X->start[k], y);
    const djPose* rate = k ? X->in.rate_b : X->in.rate_a;
    djVec3 s = dju_sub3(dju_transform(&X->now[k], l), dju_transform(rate, l));
    s = dju_madd3(dju_scale3(1 / X->in.h, s), -w, dju_cross3(n, dju_sub3(y, c)));
    s = dju_sub3(s, u);
    s = dju_madd3(s, -dju_dot3(n, s), n);
    double A = dj_forceCap(X->force[i], L->law.eps, L->law.cap);
    U += X->in.friction * X->in.h * A * sqrt(dju_dot3(s, s) + L->law.eps);
  }
  return U;
}

// What is gathered is what the definition says, and no motion of the plane has less energy.
static void testMinimum(void) {
  double buffer[DJ_SLIP_FIXED * DJ_SLIP_WIDTH];
  for (int t = 0; t < 300; t++) {
    Problem P;
    Instance X;
    djSlips S;
    djFrictionState state = {0};
    makeProblem(&P, 2 + t % 12, 1 + t % 7, pow(10, -6 + t % 6), 0.1, t & 1, t & 2);
    makeInstance(&X, &P, NULL, NULL);
    X.force[1] = 0;   // is left out
    djPose rate[2];
    for (int k = 0; k < 2; k++) {
      double xi[6];
      for (int i = 0; i < 6; i++) xi[i] = 1e-3 * uniform();
      rate[k] = twisted(X.start[k], P.ref[k], xi);
    }
    if (t % 3 == 0) X.in.rate_a = &rate[0], X.in.rate_b = &rate[1];
    assert_true(dj_checkFriction(&X.lagged, &X.in));
    poisonStack();
    assert_int_equal(dj_gatherSlips(&S, buffer, &X.lagged, &X.in), DJ_OK);
    assert_true(S.n == P.n - 1 && S.na == P.na - 1);
    djVec3 n = X.lagged.normal, c = {0, 0, 0};
    double sum = 0, spread = 0;
    for (int i = 0, k = 0; i < P.n; i++) {
      if (X.force[i] == 0) continue;
      double W = 0.7 * P.in.h * dj_forceCap(X.force[i], P.law.eps, P.law.cap);
      djt_near(S.W[k], W, 1e-14 * W);
      assert_true(S.px[k] == X.point[3 * i] && S.pz[k] == X.point[3 * i + 2]);
      c = dju_madd3(c, W, dj_armPoint(&X.lagged, P.law.arms, dju_load3(X.point + 3 * i)));
      sum += W;
      k++;
    }
    c = dju_scale3(1 / sum, c);
    djt_near(S.total, sum, 1e-14 * sum);
    double ex = 0, ey = 0;
    for (int i = 0, k = 0; i < P.n; i++) {
      if (X.force[i] == 0) continue;
      const djMotion m = dj_motionOf(&X.in, i >= P.na);
      djVec3 y = dj_armPoint(&X.lagged, P.law.arms, dju_load3(X.point + 3 * i));
      djVec3 move = dj_displace(&m, y), e = dju_sub3(y, c);
      e = dju_madd3(e, -dju_dot3(n, e), n);
      djVec3 arm = dj_armNow(&m, y, move);
      djt_near(S.ex[k] * S.scale, dju_dot3(S.t1, e), 1e-13);
      djt_near(S.ey[k] * S.scale, dju_dot3(S.t2, e), 1e-13);
      djt_near(S.bx[k] + S.mean[0], dju_dot3(S.t1, move) / P.in.h, 1e-12);
      djt_near(S.by[k] + S.mean[1], dju_dot3(S.t2, move) / P.in.h, 1e-12);
      djt_near(S.rx[k], arm.x, 1e-14);
      djt_near(S.ry[k], arm.y, 1e-14);
      djt_near(S.rz[k], arm.z, 1e-14);
      ex += S.W[k] * S.ex[k];
      ey += S.W[k] * S.ey[k];
      spread += S.W[k] * dju_dot3(e, e) / sum;
      k++;
    }
    djt_near(ex, 0, 1e-13 * sum);
    djt_near(ey, 0, 1e-13 * sum);
    djt_near(S.spread, spread, 1e-13);
    djt_near(dju_dot3(dju_cross3(S.t1, S.t2), n), 1, 1e-14);
    assert_int_equal(dj_solveSlips(&S, &state, P.law.eps), DJ_OK);
    double least = energyOf(&X, c, dju_load3(state.u), state.w);
    djt_near(S.at.value, least, 1e-12 * least);
    djt_near(dju_dot3(n, dju_load3(state.u)), 0, 1e-13);
    for (int k = 0; k < 10; k++) {
      djVec3 u = dju_add3(dju_load3(state.u), randomVec(pow(10, -k % 5)));
      double w = state.w + pow(10, -k % 5) * uniform();
      assert_true(energyOf(&X, c, u, w) >= least * (1 - 1e-13));
    }
    for (int k = 0; k < 3; k++) djt_near(S.at.g[k], 0, 1e-7 * S.total);
    // a solution is its own warm start
    djFrictionState again = state;
    assert_int_equal(dj_solveSlips(&S, &again, P.law.eps), DJ_OK);
    assert_true(again.iterations <= 2 && fabs(again.w - state.w) < 1e-6 * (1 + fabs(state.w)));
  }
}

// A point of each side, nearly the same, has its friction across what is between them, too: no
// spin of the plane takes it away. Further apart one does.
static void testNearPoints(void) {
  double buffer[DJ_SLIP_FIXED * DJ_SLIP_WIDTH];
  for (int t = 0; t < 6; t++) {
    Problem P;
    Instance X;
    djSlips S;
    djFrictionState state = {0};
    double apart = pow(10, -7 + t), move = 1e-3;
    makeProblem(&P, 1, 1, 1e-10, 0, DJ_ARMS_PLANE, DJ_CAP_MAGNITUDE);
    djVec3 n = dju_load3(P.normal), x = dju_transform(&P.start[0], dju_load3(P.vertex));
    djVec3 along = dju_cross3(n, dju_vec3(0.3, 0.5, 0.1));
    along = dju_scale3(1 / dju_norm3(along), along);
    dju_store3(P.vertex + 3, dju_untransform(&P.start[1], dju_madd3(x, apart, along)));
    P.force[1] = P.force[0];
    P.now[0] = P.start[0];
    P.now[1] = P.start[1];
    P.now[1].p = dju_madd3(P.now[1].p, move, dju_cross3(n, along));
    makeInstance(&X, &P, NULL, NULL);
    assert_int_equal(dj_gatherSlips(&S, buffer, &X.lagged, &X.in), DJ_OK);
    assert_int_equal(dj_solveSlips(&S, &state, P.law.eps), DJ_OK);
    double share = S.at.value / (0.5 * S.total * move / P.in.h);
    assert_true(apart < 2e-4 ? share > 0.99 && share < 1.001 : apart < 2e-3 || share < 0.01);
  }
}

// Forces that cannot be, none at all, and too little room.
static void testEnds(void) {
  double buffer[DJ_SLIP_FIXED * DJ_SLIP_WIDTH], *point = calloc(900, sizeof *point), force[300];
  Problem P;
  Instance X;
  djSlips S;
  makeProblem(&P, 3, 2, 1e-4, 0.1, 0, 0);
  makeInstance(&X, &P, NULL, NULL);
  static const double bad[] = {-1, NAN, INFINITY};
  for (int k = 0; k < 3; k++) {
    X.force[4] = bad[k];
    assert_int_equal(dj_gatherSlips(&S, buffer, &X.lagged, &X.in), DJ_INVALID);
  }
  memset(X.force, 0, sizeof X.force);
  assert_int_equal(dj_gatherSlips(&S, buffer, &X.lagged, &X.in), DJ_OK);
  assert_int_equal(S.n, 0);
  X.force[0] = 1e-200;   // its weight vanishes
  X.lagged.law.cap = DJ_CAP_PAPER;
  assert_int_equal(dj_gatherSlips(&S, buffer, &X.lagged, &X.in), DJ_OK);
  assert_int_equal(S.n, 0);
  for (int i = 0; i < 300; i++) {
    djVec3 x = randomVec(0.3);
    dju_store3(point + 3 * i, x);
    force[i] = 1;
  }
  X.lagged.point = point;
  X.lagged.force = force;
  for (int n = 240; n <= 256; n += 8) {   // a lane of padding follows
    X.lagged.n = n, X.lagged.na = n / 2;
    djStatus status = n <= 248 ? DJ_OK : DJ_NO_MEMORY;
    assert_int_equal(dj_gatherSlips(&S, buffer, &X.lagged, &X.in), status);
  }
  int room = (256 + 8) * DJ_SLIP_WIDTH;
  double* scratch = calloc((size_t)room, sizeof *scratch);
  X.in.scratch = scratch;
  X.in.nscratch = room - 1;
  assert_int_equal(dj_gatherSlips(&S, buffer, &X.lagged, &X.in), DJ_NO_MEMORY);
  X.in.nscratch = room;
  assert_int_equal(dj_gatherSlips(&S, buffer, &X.lagged, &X.in), DJ_OK);
  assert_true(S.n == 256 && S.W == scratch);
  free(scratch);
  free(point);
}

DJT_MAIN(testDisplacements, testCap, testFactor, testSpin, testMinimum, testNearPoints, testEnds)
