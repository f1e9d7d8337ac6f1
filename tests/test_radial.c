// A potential of a vector's length: gradient and Hessian against its formula and differences.

#include "common/near.h"
#include "common/test.h"
#include "force/radial.h"

// V = r^4/4 + 3 r^2/2
static djJet potential(double r) {
  return (djJet){r * r * r * r / 4 + 1.5 * r * r, r * r * r + 3 * r, 3 * r * r + 3};
}

static double at(double y[3], double Y[9], djVec3 x) {
  double value = 0, r = dju_norm3(x);
  dj_addRadial(y, Y, &value, potential(r), x, r);
  return value;
}

static void testDerivatives(void) {
  const double x[3] = {0.4, -0.7, 1.1}, h = 1e-5;
  double y[3] = {5, 0, 0}, Y[9] = {0};
  djt_near(at(y, Y, dju_load3(x)), potential(sqrt(0.16 + 0.49 + 1.21)).f, 1e-14);
  y[0] -= 5;   // it adds
  for (int k = 0; k < 3; k++) {
    double value[2], g[2][3] = {{0}}, H[9];
    for (int side = 0; side < 2; side++) {
      double moved[3] = {x[0], x[1], x[2]};
      moved[k] += side ? h : -h;
      value[side] = at(g[side], H, dju_load3(moved));
    }
    djt_near(y[k], (value[1] - value[0]) / (2 * h), 1e-8);
    for (int i = 0; i < 3; i++) djt_near(Y[3 * i + k], (g[1][i] - g[0][i]) / (2 * h), 1e-8);
  }
}

// At the origin the Hessian is V'' times the identity.
static void testOrigin(void) {
  double y[3] = {0}, Y[9] = {0};
  djt_near(at(y, Y, (djVec3){0, 0, 0}), 0, 0);
  for (int i = 0; i < 9; i++) djt_near(Y[i], i % 4 == 0 ? 3 : 0, 1e-15);
  djt_near(fabs(y[0]) + fabs(y[1]) + fabs(y[2]), 0, 0);
}

DJT_MAIN(testDerivatives, testOrigin)
