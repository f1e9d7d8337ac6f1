// Small vectors, matrices, quaternions and poses against their definitions, entry by entry.

#include "common/random_model.h"
#include "common/test.h"
#include "math/vec.h"

enum { ROUNDS = 100 };

static void draw(double* x, int n, djRng* rng) {
  for (int i = 0; i < n; i++) x[i] = djt_uniform(rng, -1, 1);
}

static djMat3 drawMatrix(djRng* rng) {
  djMat3 A;
  draw(A.m, 9, rng);
  return A;
}

static djQuat drawQuat(djRng* rng) {
  double q[4];
  draw(q, 4, rng);
  return dju_normalizeQuat(dju_loadQuat(q));
}

static void near(double a, double b) {
  if (!(fabs(a - b) <= 2e-15)) fail_msg("%.17g is not %.17g", a, b);
}

static void nearVector(djVec3 v, const double x[3]) {
  near(v.x, x[0]);
  near(v.y, x[1]);
  near(v.z, x[2]);
}

static void testVectors(void) {
  djRng rng = {1};
  for (int round = 0; round < ROUNDS; round++) {
    double a[3], b[3], out[3], s = djt_uniform(&rng, -2, 2), dot = 0;
    draw(a, 3, &rng);
    draw(b, 3, &rng);
    djVec3 u = dju_load3(a), v = dju_vec3(b[0], b[1], b[2]);
    double sum[3], difference[3], scaled[3], minus[3], along[3], cross[3];
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      sum[i] = a[i] + b[i];
      difference[i] = a[i] - b[i];
      scaled[i] = s * a[i];
      minus[i] = -a[i];
      along[i] = a[i] + s * b[i];
      cross[i] = a[j] * b[k] - a[k] * b[j];
      dot += a[i] * b[i];
    }
    nearVector(u, a);
    nearVector(v, b);
    nearVector(dju_add3(u, v), sum);
    nearVector(dju_sub3(u, v), difference);
    nearVector(dju_scale3(s, u), scaled);
    nearVector(dju_neg3(u), minus);
    nearVector(dju_madd3(u, s, v), along);
    nearVector(dju_cross3(u, v), cross);
    nearVector(dju_mulMV(dju_skew(u), v), cross);
    near(dju_dot3(u, v), dot);
    near(dju_norm3(u), sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]));
    dju_store3(out, u);
    assert_memory_equal(out, a, sizeof out);
  }
}

static void testMatrices(void) {
  djRng rng = {2};
  for (int round = 0; round < ROUNDS; round++) {
    djMat3 A = drawMatrix(&rng), B = drawMatrix(&rng);
    djMat3 AB = dju_mulMM(A, B), AtB = dju_mulMtM(A, B), I = dju_eye3();
    double x[3], Ax[3] = {0}, Atx[3] = {0};
    draw(x, 3, &rng);
    for (int i = 0; i < 3; i++) {
      double column[3] = {A.m[i], A.m[3 + i], A.m[6 + i]};
      nearVector(dju_column(&A, i), column);
      for (int j = 0; j < 3; j++) {
        double product = 0, transposed = 0;
        for (int k = 0; k < 3; k++) {
          product += A.m[3 * i + k] * B.m[3 * k + j];
          transposed += A.m[3 * k + i] * B.m[3 * k + j];
        }
        near(AB.m[3 * i + j], product);
        near(AtB.m[3 * i + j], transposed);
        near(I.m[3 * i + j], i == j);
        Ax[i] += A.m[3 * i + j] * x[j];
        Atx[i] += A.m[3 * j + i] * x[j];
      }
    }
    nearVector(dju_mulMV(A, dju_load3(x)), Ax);
    nearVector(dju_mulMtV(A, dju_load3(x)), Atx);
  }
}

// Quaternions multiply as Hamilton's units do: i j = k and so on, ii = jj = kk = -1.
static void testQuaternions(void) {
  static const int unit[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
  static const int sign[4][4] = {{1, 1, 1, 1}, {1, -1, 1, -1}, {1, -1, -1, 1}, {1, 1, -1, -1}};
  djRng rng = {3};
  for (int round = 0; round < ROUNDS; round++) {
    double p[4], q[4], expected[4] = {0}, out[4];
    draw(p, 4, &rng);
    draw(q, 4, &rng);
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < 4; j++) expected[unit[i][j]] += sign[i][j] * p[i] * q[j];
    }
    dju_storeQuat(out, dju_mulQuat(dju_loadQuat(p), dju_loadQuat(q)));
    for (int k = 0; k < 4; k++) near(out[k], expected[k]);
    dju_storeQuat(out, dju_conj(dju_loadQuat(p)));
    for (int k = 0; k < 4; k++) near(out[k], k ? -p[k] : p[k]);
    double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    dju_storeQuat(out, dju_normalizeQuat(dju_loadQuat(p)));
    for (int k = 0; k < 4; k++) near(out[k], p[k] / length);
  }
  // Short ones have a direction; none, or what is no number, is the identity.
  static const double bad[3][4] = {{0, 0, 0, 0}, {1e-16, 0, 0, -1e-16}, {0, NAN, 0, 0}};
  for (int i = 0; i < 3; i++) {
    djQuat one = dju_normalizeQuat(dju_loadQuat(bad[i]));
    assert_true(one.w == 1 && one.x == 0 && one.y == 0 && one.z == 0);
  }
  djQuat small = dju_normalizeQuat((djQuat){0, 3e-14, 0, 4e-14});
  near(small.x, 0.6);
  near(small.z, 0.8);
}

// The matrix of a quaternion turns a vector as q x q* does.
static void testRotations(void) {
  djRng rng = {4};
  for (int round = 0; round < ROUNDS; round++) {
    djQuat q = drawQuat(&rng);
    double x[3], y[4], p[3], moved[3];
    draw(x, 3, &rng);
    draw(p, 3, &rng);
    djVec3 v = dju_load3(x);
    djPose T = {dju_load3(p), dju_quatToMat(q)};
    dju_storeQuat(y, dju_mulQuat(dju_mulQuat(q, (djQuat){0, x[0], x[1], x[2]}), dju_conj(q)));
    near(y[0], 0);
    nearVector(dju_mulMV(T.R, v), y + 1);
    for (int k = 0; k < 3; k++) moved[k] = y[1 + k] + p[k];
    nearVector(dju_transform(&T, v), moved);
    nearVector(dju_untransform(&T, dju_load3(moved)), x);
  }
}

DJT_MAIN(testVectors, testMatrices, testQuaternions, testRotations)
