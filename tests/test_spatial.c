// 3 x 3 blocks of 6 x 6 matrices, twists, wrenches and inertias of one body.

#include "common/near.h"
#include "common/test.h"
#include "math/block6.h"
#include "math/spatial.h"

static const djVec3 u = {0.3, -1.2, 0.7}, v = {-0.4, 0.5, 2};

static void testOuter(void) {
  djMat3 A = {{1, 2, 3, 4, 5, 6, 7, 8, 9}}, B = A;
  dju_addOuter3(&A, 2, u, v);
  djt_near(A.m[1], 2 + 2 * u.x * v.y, 1e-15);
  djt_near(A.m[6], 7 + 2 * u.z * v.x, 1e-15);
  djMat3 X = dju_skew(u), Y = dju_skew(v), XY = dju_mulMM(X, Y);
  dju_addSkewProduct(&B, -1.5, u, v);
  for (int i = 0; i < 9; i++) djt_near(B.m[i], i + 1 - 1.5 * XY.m[i], 1e-14);
}

static void testBlocks(void) {
  double B[36] = {0}, y[6] = {0}, z[6] = {1, 1, 1, 1, 1, 1};
  djMat3 A = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
  dju_addBlock6(B, 0, 3, 2, &A);
  dju_addBlock6(B, 3, 3, -1, &A);
  assert_true(B[3] == 2 && B[6 + 5] == 12 && B[18] == 0 && B[18 + 3] == -1 && B[35] == -9);
  const double x[6] = {1, 2, 3, 4, 5, 6};
  dju_mulAdd6(y, B, 6, x, 0);
  assert_true(y[0] == 2 * (4 + 2 * 5 + 3 * 6) && y[5] == -(7 * 4 + 8 * 5 + 9 * 6));
  dju_mulAdd6(z, B, 6, x, 1);
  assert_true(z[0] == 1 && z[3] == 1 + 2 * (1 + 4 * 2 + 7 * 3) - (4 + 4 * 5 + 7 * 6));
}

// The rate of a wrench keeps its power with twists that move along: x . (y X f) = -(y x) . f.
static void testRates(void) {
  djSix x = {u, v}, y = {v, {1, 0.2, -3}}, f = {{2, -1, 0.5}, {0.1, 4, -2}};
  djt_near(dju_dot6(x, dju_crossWrench(y, f)), -dju_dot6(dju_crossTwist(y, x), f), 1e-14);
  djSix back = dju_crossTwist(x, y), forth = dju_crossTwist(y, x);
  djt_near(dju_norm3(dju_add6(back, forth).w) + dju_norm3(dju_add6(back, forth).v), 0, 1e-14);
  djt_near(dju_norm3(dju_crossTwist(x, x).v), 0, 1e-15);
  double six[6];
  dju_store6(six, dju_madd6(x, 2, dju_sub6(y, x)));
  djt_near(six[4], v.y + 2 * (0.2 - v.y), 1e-15);
  djt_near(dju_load6(six).w.x, u.x + 2 * (v.x - u.x), 1e-15);
}

// Momentum of a body by its formula and by the matrix; twice the kinetic energy by parts.
static void testInertia(void) {
  djInertia I = {2.5, {0.1, -0.3, 0.2}, {{0.4, 0.01, 0, 0.01, 0.5, 0.02, 0, 0.02, 0.3}}};
  djSix x = {u, v}, p = dju_mulInertia(&I, x);
  double N[36] = {0}, q[6] = {0}, six[6];
  dju_addInertia(N, &I);
  dju_store6(six, x);
  dju_mulAdd6(q, N, 6, six, 0);
  djSix by = dju_load6(q);
  djt_near(dju_norm3(dju_sub3(p.w, by.w)) + dju_norm3(dju_sub3(p.v, by.v)), 0, 1e-14);
  djVec3 c = dju_add3(v, dju_cross3(u, I.arm));   // of the centre of mass
  djt_near(dju_dot6(x, p), 2.5 * dju_dot3(c, c) + dju_dot3(u, dju_mulMV(I.I, u)), 1e-13);
}

DJT_MAIN(testOuter, testBlocks, testRates, testInertia)
