// Lagged friction: gradient, Hessian, majorizer and start Jacobian against differences.

#include "common/friction_case.h"
#include "common/states.h"
#include "common/worst.h"

#include <lapacke.h>

// Directional derivative of (value, gradient) along dir by Richardson's scheme, three steps.
static void difference(double d[13], const Problem* P, const double dir[12], bool start,
                       double step) {
  double table[3][13];
  for (int l = 0; l < 3; l++, step /= 2) {
    double side[2][13];
    for (int k = 0; k < 2; k++) {
      double xi[12];
      for (int j = 0; j < 12; j++) xi[j] = (k ? -step : step) * dir[j];
      djPairOutput out = evaluate(P, start ? xi : NULL, start ? NULL : xi, DJ_EVAL_GRADIENT);
      side[k][0] = out.value;
      memcpy(side[k] + 1, out.gradient, sizeof(out.gradient));
    }
    for (int j = 0; j < 13; j++) table[l][j] = (side[0][j] - side[1][j]) / (2 * step);
  }
  for (int j = 0; j < 13; j++) {
    double a = (4 * table[1][j] - table[0][j]) / 3, b = (4 * table[2][j] - table[1][j]) / 3;
    d[j] = (16 * b - a) / 15;
  }
}

// Derivative of the gradient along xi from the Hessian in exponential coordinates: gradients at
// the moved pose refer to twists on top of it, which adds (xi_w x g_w)/2 + xi_v x g_v.
static void gradientSlope(double d[12], const double hessian[144], const double g[12],
                          const double xi[12]) {
  for (int i = 0; i < 12; i++) {
    d[i] = 0;
    for (int j = 0; j < 12; j++) d[i] += hessian[12 * i + j] * xi[j];
  }
  for (int k = 0; k < 12; k += 6) {
    djVec3 a = dju_cross3(dju_load3(xi + k), dju_load3(g + k));
    djVec3 b = dju_cross3(dju_load3(xi + k + 3), dju_load3(g + k + 3));
    d[k] += 0.5 * a.x + b.x, d[k + 1] += 0.5 * a.y + b.y, d[k + 2] += 0.5 * a.z + b.z;
  }
}

static const struct { double eps, speed, step, tol; } scale[] = {
    {1, 1, 2e-4, 2e-9},       {1e-2, 1, 2e-5, 2e-8},    {1e-2, 0.01, 2e-5, 2e-8},
    {1e-4, 0.3, 2e-6, 1e-6},  {1e-6, 1e-3, 2e-7, 1e-6}, {1e-8, 1e-5, 2e-8, 1e-5}};
enum { NSCALE = sizeof(scale) / sizeof(scale[0]) };

static void test_gradient(void** unused) {
  cone_kind = *(const int*)*unused;
  double worst = 0;
  for (int c = 0; c < NSCALE; c++) {
    for (int t = 0; t < 60; t++) {
      Problem P;
      double dir[12], d[13], expect = 0, wrong = 0;
      makeCase(&P, t, scale[c].eps, scale[c].speed);
      for (int j = 0; j < 12; j++) dir[j] = uniform();
      djPairOutput out = evaluate(&P, NULL, NULL, DJ_EVAL_GRADIENT);
      difference(d, &P, dir, false, scale[c].step);
      for (int j = 0; j < 12; j++) {
        expect += out.gradient[j] * dir[j];
        wrong += out.gradient[j] * dir[j] * (j == 4 ? 1.001 : 1);
      }
      double size = norm12(out.gradient, 12), error = fabs(d[0] - expect) / size;
      worst = djt_worst(worst, error / scale[c].tol);
      assert_true(error < scale[c].tol);
      if (fabs(out.gradient[4] * dir[4]) > 0.1 * size) {
        assert_true(fabs(d[0] - wrong) > 10 * scale[c].tol * size);
      }
    }
  }
  print_message("gradient: worst error %.2g of what is allowed\n", worst);
}

static void test_hessian(void** unused) {
  cone_kind = *(const int*)*unused;
  double worst = 0;
  int major_differs = 0, count = 0;
  for (int c = 0; c < NSCALE; c++) {
    for (int t = 0; t < 60; t++) {
      Problem P;
      double dir[12], d[13], expect[12], wrong[12];
      makeCase(&P, t, scale[c].eps, scale[c].speed);
      for (int j = 0; j < 12; j++) dir[j] = uniform();
      djPairOutput out = evaluate(&P, NULL, NULL, DJ_EVAL_HESSIAN);
      djPairOutput major = evaluate(&P, NULL, NULL, DJ_EVAL_MAJORIZER);
      difference(d, &P, dir, false, scale[c].step);
      gradientSlope(expect, out.hessian, out.gradient, dir);
      gradientSlope(wrong, major.hessian, out.gradient, dir);
      double size = norm12(d + 1, 12), error = distance12(d + 1, expect, 12) / size;
      worst = djt_worst(worst, error / scale[c].tol);
      assert_true(error < scale[c].tol);
      for (int i = 0; i < 12; i++) {
        for (int j = 0; j < i; j++) {
          double skew = out.hessian[12 * i + j] - out.hessian[12 * j + i];
          assert_true(fabs(skew) <= 1e-14 * norm12(out.hessian, 144));
        }
      }
      major_differs += distance12(d + 1, wrong, 12) > 100 * scale[c].tol * size;
      count++;
    }
  }
  assert_true(major_differs > count / 2);
  print_message("hessian: worst error %.2g of what is allowed\n", worst);
}

static void test_start(void** unused) {
  cone_kind = *(const int*)*unused;
  double worst = 0;
  for (int c = 0; c < NSCALE; c++) {
    int differs[3] = {0}, count = 0;
    for (int t = 0; t < 60; t++) {
      Problem P;
      double dir[12], d[13], jac[144], expect[12];
      makeCase(&P, t, scale[c].eps, scale[c].speed);
      for (int j = 0; j < 12; j++) dir[j] = uniform();
      difference(d, &P, dir, true, scale[c].step);
      double size = norm12(d + 1, 12);
      for (int wrong = -1; wrong < 3; wrong++) {
        startJacobian(jac, &P, wrong < 0 ? 7 : 7 & ~(1 << wrong));
        for (int i = 0; i < 12; i++) {
          expect[i] = 0;
          for (int j = 0; j < 12; j++) expect[i] += jac[12 * i + j] * dir[j];
        }
        double error = distance12(d + 1, expect, 12) / size;
        if (wrong < 0) {
          worst = djt_worst(worst, error / scale[c].tol);
          if (!(error < scale[c].tol)) print_message("c %d t %d error %g\n", c, t, error);
          assert_true(error < scale[c].tol);
        } else {
          differs[wrong] += error > 10 * scale[c].tol;
        }
      }
      count++;
    }
    if (c < 3) {
      for (int k = 0; k < 2; k++) assert_true(differs[k] > count / 2);
      assert_true(differs[2] > count / 8);   // the offset matters little, and only to arms = plane
    }
  }
  print_message("start: worst error %.2g of what is allowed\n", worst);
}

// Remainders of first-order expansions fall as t^2.
static void test_slope(void** unused) {
  cone_kind = *(const int*)*unused;
  for (int t = 0; t < 30; t++) {
    Problem P;
    double dir[12], now[12], step = 2e-5, last[3] = {0};
    double jac[144];
    makeCase(&P, t, 1e-2, 1);
    for (int j = 0; j < 12; j++) dir[j] = uniform();
    djPairOutput out = evaluate(&P, NULL, NULL, DJ_EVAL_HESSIAN);
    startJacobian(jac, &P, 7);
    gradientSlope(now, out.hessian, out.gradient, dir);
    for (int l = 0; l < 2; l++, step /= 2) {
      double xi[12], rest[3] = {0};
      for (int j = 0; j < 12; j++) xi[j] = step * dir[j];
      djPairOutput a = evaluate(&P, NULL, xi, 1), b = evaluate(&P, xi, NULL, 1);
      rest[0] = a.value - out.value;
      for (int i = 0; i < 12; i++) {
        double e = a.gradient[i] - out.gradient[i] - step * now[i];
        double f = b.gradient[i] - out.gradient[i];
        rest[0] -= out.gradient[i] * xi[i];
        for (int j = 0; j < 12; j++) f -= jac[12 * i + j] * xi[j];
        rest[1] += e * e, rest[2] += f * f;
      }
      rest[0] = fabs(rest[0]), rest[1] = sqrt(rest[1]), rest[2] = sqrt(rest[2]);
      for (int k = 0; k < 3; k++) {
        if (l) assert_true(fabs(log2(last[k] / rest[k]) - 2) < 0.25);
        last[k] = rest[k];
      }
    }
  }
}

static void test_majorizer(void** unused) {
  cone_kind = *(const int*)*unused;
  for (int t = 0; t < 300; t++) {
    Problem P;
    double diff[144], major[144], low[12], eig[12];
    makeCase(&P, t, pow(10, -2 - t % 9), pow(10, 2 * uniform() - 2));
    djPairOutput a = evaluate(&P, NULL, NULL, DJ_EVAL_HESSIAN);
    djPairOutput b = evaluate(&P, NULL, NULL, DJ_EVAL_MAJORIZER);
    djPairOutput c = evaluate(&P, NULL, NULL, DJ_EVAL_MAJORIZER | DJ_EVAL_HESSIAN);
    assert_memory_equal(a.gradient, b.gradient, sizeof(a.gradient));
    assert_true(a.value == b.value);
    assert_memory_equal(b.hessian, c.hessian, sizeof(b.hessian));
    for (int i = 0; i < 144; i++) diff[i] = b.hessian[i] - a.hessian[i], major[i] = b.hessian[i];
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', 12, diff, 12, low), 0);
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', 12, major, 12, eig), 0);
    double noise = 0;   // rounding of the sum before the plane is eliminated
    for (int i = 0; i < P.n; i++) noise += P.force[i];
    noise *= 1e-14 / (P.in.h * sqrt(P.law.eps));
    assert_true(eig[11] > 0);
    assert_true(low[0] > -noise);
    assert_true(eig[0] > -noise);
  }
}

// Derivatives where the spin term acts: points within 1e-3 of each other.
static void test_spin_term(void** unused) {
  cone_kind = *(const int*)*unused;
  double worst = 0;
  for (int t = 0; t < 40; t++) {
    Problem P;
    double dir[12], d[13], jac[144], expect[12];
    makeProblem(&P, 2, 2, 1e-2, 1, t & 1, DJ_CAP_MAGNITUDE);
    djVec3 n = dju_load3(P.normal), c = dju_scale3(-P.offset, n);
    for (int i = 0; i < P.n; i++) {
      djVec3 x = dju_add3(c, randomVec(i < P.na ? 7e-4 : 3e-4));
      dju_store3(P.vertex + 3 * i, dju_untransform(&P.start[i >= P.na], x));
    }
    for (int j = 0; j < 12; j++) dir[j] = uniform();
    for (int start = 0; start < 2; start++) {
      difference(d, &P, dir, start, start ? 4e-7 : 4e-5);
      if (start) {
        startJacobian(jac, &P, 7);
        for (int i = 0; i < 12; i++) {
          expect[i] = 0;
          for (int j = 0; j < 12; j++) expect[i] += jac[12 * i + j] * dir[j];
        }
      } else {
        djPairOutput out = evaluate(&P, NULL, NULL, 2);
        gradientSlope(expect, out.hessian, out.gradient, dir);
      }
      double error = distance12(d + 1, expect, 12) / norm12(d + 1, 12);
      worst = djt_worst(worst, error);
      assert_true(error < 1e-5);
    }
  }
  print_message("spin term: worst error %.2g\n", worst);
}

#define EACH_CONE(test)                                                                            \
  djt_of(test, int, PLAIN), djt_of(test, int, TORSION), djt_of(test, int, ROLLING),                \
      djt_of(test, int, TURNING), djt_of(test, int, TWO), djt_of(test, int, ALL)

DJT_MAIN_ROWS(EACH_CONE(test_gradient), EACH_CONE(test_hessian), EACH_CONE(test_start),
              EACH_CONE(test_slope), EACH_CONE(test_majorizer), EACH_CONE(test_spin_term))
