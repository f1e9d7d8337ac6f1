// Rotations, smooth scalar functions, and the sparse factorization.

#include "common/random_model.h"
#include "common/test.h"
#include "common/worst.h"

#include "math/factor.h"
#include "math/ldl.h"
#include "math/piecewise.h"
#include "math/smooth.h"
#include "math/so3.h"

static djVec3 randomVector(djRng* rng, double size) {
  double v[3];
  djt_unitVector(v, rng);
  return dju_scale3(size, dju_load3(v));
}

static double distance(djVec3 a, djVec3 b) { return dju_norm3(dju_sub3(a, b)); }

// Sizes on both sides of every switch between series and closed form.
static const double sizes[] = {0,     1e-9, 1e-4, 0.009, 0.011, 0.0316, 0.032,
                               0.141, 0.142, 0.5,  1,     2,     3,      3.1};
enum { NSIZE = sizeof(sizes) / sizeof(sizes[0]) };

static void testExpLog(void) {
  djRng rng = {1};
  for (int i = 0; i < NSIZE; i++) {
    djVec3 w = randomVector(&rng, sizes[i]);
    djQuat q = dju_expQuat(w);
    assert_true(fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1) < 1e-14);
    assert_true(distance(dju_logQuat(q), w) < 4e-15 * (1 + sizes[i]) + 1e-15);
    djQuat negative = {-q.w, -q.x, -q.y, -q.z};
    assert_true(distance(dju_logQuat(negative), w) < 4e-15 * (1 + sizes[i]) + 1e-15);
  }
}

// log(exp(w)^-1 exp(w + d)) = J_r d to first order; J_r and its inverse multiply to one.
static void testJacobian(void) {
  djRng rng = {2};
  for (int i = 0; i < NSIZE; i++) {
    djVec3 w = randomVector(&rng, sizes[i]), d = randomVector(&rng, 1e-4);
    djQuat base = dju_conj(dju_expQuat(w));
    djVec3 p = dju_logQuat(dju_mulQuat(base, dju_expQuat(dju_add3(w, d))));
    djVec3 n = dju_logQuat(dju_mulQuat(base, dju_expQuat(dju_sub3(w, d))));
    djVec3 fd = dju_scale3(0.5, dju_sub3(p, n));
    djMat3 J = dju_rightJacobian(w), inverse = dju_rightJacobianInv(w);
    assert_true(distance(fd, dju_mulMV(J, d)) < 1e-11);
    if (sizes[i] > 0.4) assert_true(distance(fd, dju_mulMtV(J, d)) > 1e-7);   // the left one
    djMat3 one = dju_mulMM(J, inverse), eye = dju_eye3();
    for (int k = 0; k < 9; k++) assert_true(fabs(one.m[k] - eye.m[k]) < 1e-12);
  }
}

// sum over n of f(n) x^n (-1)^n/(2 n + m)!, and its derivative by x.
static long double powerSeries(long double* slope, long double x, int m, int factor) {
  long double sum = 0, term = 1, power = 1, before = 0;
  if (slope) *slope = 0;
  for (int n = 1; n <= m; n++) term /= n;
  for (int n = 0; n < 25; n++) {
    long double f = factor ? 2 * (n + 1) * term : term;
    sum += f * power;
    if (slope) *slope += n * f * before;
    before = power;
    power *= x;
    term /= -(long double)(2 * n + m + 1) * (2 * n + m + 2);
  }
  return sum;
}

// Every coefficient to rounding, on both sides of every switch from series to closed form: a and b
// of J_r by their power series; with x = t^2/4, P = sum (-x)^n 2 (n + 1)/(2 n + 3)! and
// S = sum (-x)^n/(2 n + 1)!, c = P/(4 S) and e = (P'S - P S')/(8 S^2).
static void testCoefficients(void) {
  static const double size[] = {1e-5,   0.0019, 0.00199, 0.00201, 0.0099, 0.0101, 0.02, 0.0315,
                                0.0317, 0.05,   0.1,     0.1413,  0.1415, 0.3,    1,    2.5};
  for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
    double t = size[i], rounding = t < 0.1414 ? 6e-16 : 3e-13;
    double coarse = t < 0.0316 ? 1e-15 : 1e-15 * (1 + 1 / (t * t));
    djVec3 w = {0.6 * t, 0.8 * t, 0}, G;
    djQuat q = dju_expQuat((djVec3){0, t, 0});
    assert_true(fabs(q.w - (double)cosl(0.5L * t)) <= 2.3e-16);
    assert_true(fabs(q.y / (double)sinl(0.5L * t) - 1) <= 5e-16 && q.x == 0 && q.z == 0);
    djVec3 back = dju_logQuat((djQuat){(double)cosl(0.5L * t), 0, 0, (double)sinl(0.5L * t)});
    assert_true(fabs(back.z / t - 1) <= 1e-15);
    djMat3 J = dju_rightJacobian(w), inverse = dju_rightJacobianInv(w), K, none = {{0}};
    double a = (double)powerSeries(NULL, (long double)t * t, 2, 0);
    double b = (double)powerSeries(NULL, (long double)t * t, 3, 0);
    assert_true(fabs(-J.m[2] / (a * w.y) - 1) <= coarse);
    assert_true(fabs(J.m[1] / (b * w.x * w.y) - 1) <= coarse);
    long double dP, dS, x = 0.25L * t * t;
    long double P = powerSeries(&dP, x, 3, 1), S = powerSeries(&dS, x, 1, 0);
    double c = (double)(P / (4 * S)), e = (double)((dP * S - P * dS) / (8 * S * S));
    assert_true(fabs(inverse.m[1] / (c * w.x * w.y) - 1) <= rounding);
    // K of a constant y across phi: its entry 2, 0 is -phi_0 (2 c + e t^2).
    dju_pullback(&G, &K, w, (djVec3){0, 0, 1}, &none);
    assert_true(fabs(-K.m[6] / w.x / (2 * c + e * t * t) - 1) <= rounding);
  }
}

// A potential of phi: V = a . phi + phi^T B phi/2 + c . phi^3.
static double potential(djVec3* y, djMat3* Y, djVec3 p) {
  static const double B[9] = {1, 0.2, -0.3, 0.2, 2, 0.4, -0.3, 0.4, 1.5};
  memcpy(Y->m, B, sizeof(B));
  Y->m[0] += 6 * 0.3 * p.x;
  Y->m[4] -= 6 * 0.2 * p.y;
  djVec3 Bp = dju_mulMV((djMat3){{1, 0.2, -0.3, 0.2, 2, 0.4, -0.3, 0.4, 1.5}}, p);
  *y = dju_add3(Bp, (djVec3){0.7 + 0.9 * p.x * p.x, -0.5 - 0.6 * p.y * p.y, 1.1});
  return 0.7 * p.x - 0.5 * p.y + 1.1 * p.z + 0.5 * dju_dot3(p, Bp) + 0.3 * p.x * p.x * p.x -
         0.2 * p.y * p.y * p.y;
}

static djVec3 pulledGradient(double* value, djQuat q0, djQuat q) {
  djVec3 y, G, phi = dju_logQuat(dju_mulQuat(dju_conj(q0), q));
  djMat3 Y;
  *value = potential(&y, &Y, phi);
  dju_pullback(&G, NULL, phi, y, NULL);
  return G;
}

static void testPullback(void) {
  djRng rng = {3};
  for (int i = 0; i < NSIZE - 1; i++) {
    djVec3 phi = randomVector(&rng, sizes[i]), y, G;
    djQuat q0 = dju_expQuat(randomVector(&rng, 1)), q = dju_mulQuat(q0, dju_expQuat(phi));
    djMat3 Y, K, J = dju_rightJacobianInv(phi);
    potential(&y, &Y, phi);
    dju_pullback(&G, &K, phi, y, &Y);
    djVec3 d = randomVector(&rng, 1);
    double h = 1e-4, vp, vm;
    djQuat turn = dju_expQuat(dju_scale3(h, d)), back = dju_conj(turn);
    djVec3 gp = pulledGradient(&vp, q0, dju_mulQuat(q, turn));
    djVec3 gm = pulledGradient(&vm, q0, dju_mulQuat(q, back));
    assert_true(fabs((vp - vm) / (2 * h) - dju_dot3(G, d)) < 1e-6);
    djVec3 fd = dju_scale3(0.5 / h, dju_sub3(gp, gm));
    assert_true(distance(fd, dju_mulMV(K, dju_mulMV(J, d))) < 1e-5);
    gp = pulledGradient(&vp, dju_mulQuat(q0, turn), q);
    gm = pulledGradient(&vm, dju_mulQuat(q0, back), q);
    fd = dju_scale3(0.5 / h, dju_sub3(gp, gm));
    assert_true(distance(fd, dju_neg3(dju_mulMV(K, dju_mulMtV(J, d)))) < 1e-5);
    // transposing J_r^-1 is the likely mistake
    if (sizes[i] > 0.4) assert_true(distance(fd, dju_neg3(dju_mulMV(K, dju_mulMV(J, d)))) > 1e-3);
  }
}

typedef djJet (*Function)(double x);
static djJet clampJet(double x) { return dju_smoothClamp(x, -1, 2); }
static djJet inputJet(double x) { return dju_inputClamp(x, -1, 2); }
static djJet limitJet(double x) { return dju_softLimit(x, 100, 0.1); }
static djJet stepJet(double x) { return dju_smoothStep(x); }
static djJet absJet(double x) { return dju_smoothAbs(x, 0.05); }
static djJet rootJet(double x) { return dju_smoothRoot(x + 2.1, 1.5); }
static djJet rampRootJet(double x) { return dju_smoothRampRoot(x, 1.2); }

static void testSmoothFunctions(void) {
  static const Function function[] = {clampJet, inputJet, limitJet,   stepJet,
                                      absJet,   rootJet,  rampRootJet};
  djRng rng = {4};
  for (size_t f = 0; f < sizeof(function) / sizeof(function[0]); f++) {
    for (int i = 0; i < 2000; i++) {
      double x = djt_uniform(&rng, -2, 3), h = 1e-5;
      djJet j = function[f](x), p = function[f](x + h), n = function[f](x - h);
      assert_true(fabs((p.f - n.f) / (2 * h) - j.d) < 1e-6 * (1 + fabs(j.d)));
      assert_true(fabs((p.d - n.d) / (2 * h) - j.dd) < 0.01 * (1 + fabs(j.dd)));
      // C2: no jump of the second derivative
      assert_true(fabs(p.dd - n.dd) < 0.05 * (1 + fabs(j.dd)) + 2 * h * 2e4);
    }
  }
}

static void testClamp(void) {
  djRng rng = {5};
  for (int i = 0; i < 1000; i++) {
    double x = djt_uniform(&rng, -3, 4), hard = fmin(2, fmax(-1, x));
    double soft = dju_smoothClamp(x, -1, 2).f;
    if (fabs(x + 1) > 0.03 && fabs(x - 2) > 0.03) assert_true(soft == hard);
    assert_true(fabs(soft - hard) <= 0.1876 * 0.03 && soft >= -1 && soft <= 2);
    // Its mean over ways of all lengths, piece by piece.
    double b = i % 2 ? x + exp(djt_uniform(&rng, -20, 0)) : djt_uniform(&rng, -3, 4);
    double low = fmin(x, b), high = fmax(x, b), sum = 0, edge[6];
    double lo = i % 5 ? -1 : -INFINITY, hi = i % 7 ? 2 : INFINITY;
    assert_int_equal(dju_clampEdges(edge + 1, lo, hi), 4);
    edge[0] = low;
    edge[5] = high;
    for (int k = 0; k < 5; k++) {
      edge[k + 1] = fmin(fmax(edge[k + 1], low), high);
      for (int e = 0; e < DJ_GAUSS_POINTS; e++) {
        double at = edge[k] + dju_gauss[e][0] * (edge[k + 1] - edge[k]);
        sum += (edge[k + 1] - edge[k]) * dju_gauss[e][1] * dju_smoothClamp(at, lo, hi).f;
      }
    }
    sum /= high - low;
    assert_true(fabs(dju_smoothClampMean(x, b, lo, hi) - sum) < 1e-14);
  }
  assert_true(dju_smoothClamp(5, 1, 1).f == 1 && dju_smoothClamp(5, -INFINITY, INFINITY).f == 5);
  assert_true(dju_smoothClamp(5, -INFINITY, 3).f == 3);
}

// Itself within the bounds, them included, with the slope 1 there; the bound from 1% of the range
// outside on.
static void testInputClamp(void) {
  djRng rng = {6};
  double most = 0;
  for (int i = 0; i < 1000; i++) {
    static const double from[4] = {-1.03, -1.1, 2, 2.03}, to[4] = {-1, 2, 2.03, 2.1};
    double x = i < 2 ? 3 * i - 1 : djt_uniform(&rng, from[i % 4], to[i % 4]);
    djJet at = dju_inputClamp(x, -1, 2);
    double hard = fmin(2, fmax(-1, x));
    if (x == hard) assert_true(at.f == x && at.d == 1 && at.dd == 0);
    else if (x < -1.03 || x > 2.03) assert_true(at.f == hard && at.d == 0 && at.dd == 0);
    else assert_true(at.d < 1 && (at.f - hard) * (x - hard) >= 0);
    most = fmax(most, fabs(at.f - hard));
  }
  assert_true(most > 0.19 * 0.03 && most < 0.1976 * 0.03);
  assert_true(dju_inputClamp(1, 1, 1).f == 1 && dju_inputClamp(1, 1, 1).d == 0);
  assert_true(dju_inputClamp(5, -INFINITY, INFINITY).f == 5);
  assert_true(dju_inputClamp(5, -INFINITY, 3).f == 3 && dju_inputClamp(3, -INFINITY, 3).d == 1);
}

// Nodes and weights are exact up to degree 25, polynomials go through their values, and change
// signs where they were made to.
static void testPiecewise(void) {
  for (int degree = 0; degree <= 25; degree++) {
    double sum = 0;
    for (int k = 0; k < DJ_GAUSS_POINTS; k++) sum += dju_gauss[k][1] * pow(dju_gauss[k][0], degree);
    assert_true(fabs(sum - 1.0 / (degree + 1)) < 1e-15);
  }
  djRng rng = {7};
  int crossed = 0;
  for (int i = 0; i < 2000; i++) {
    int degree = 1 + i % DJ_MAX_DEGREE, within = 0, found;
    double root[DJ_MAX_DEGREE], y[DJ_MAX_DEGREE + 1], p[DJ_MAX_DEGREE + 1], u[DJ_MAX_DEGREE];
    bool apart = true;
    for (int k = 0; k < degree; k++) {
      root[k] = djt_uniform(&rng, -0.5, 1.5);
      for (int e = 0; e < k; e++) apart = apart && fabs(root[k] - root[e]) > 0.01;
      within += root[k] > 0 && root[k] < 1;
    }
    double scale = djt_uniform(&rng, -1, 1);
    for (int k = 0; k <= degree; k++) {
      y[k] = scale;
      for (int e = 0; e < degree; e++) y[k] *= (double)k / degree - root[e];
    }
    dju_fitPolynomial(p, y, degree);
    for (int k = 0; k <= degree; k++) {
      double value = 0;
      for (int e = degree; e >= 0; e--) value = value * k / degree + p[e];
      assert_true(fabs(value - y[k]) < 1e-13);
    }
    found = dju_signChanges(u, p, degree);
    if (!apart) continue;
    assert_int_equal(found, within);
    for (int k = 0; k < found; k++) {
      double nearest = INFINITY;
      for (int e = 0; e < degree; e++) nearest = fmin(nearest, fabs(u[k] - root[e]));
      assert_true(nearest < 1e-6 && (k == 0 || u[k] > u[k - 1]));
    }
    crossed += found;
  }
  assert_true(crossed > 500);
}

// Random sparse positive definite matrices.
static void testLDL(void) {
  enum { N = 30 };
  djRng rng = {6};
  for (int trial = 0; trial < 20; trial++) {
    double A[N * N] = {0}, L[N * N], x[N], b[N];
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < i; j++) {
        if (djt_integer(&rng, 4) == 0) A[i * N + j] = A[j * N + i] = djt_uniform(&rng, -1, 1);
      }
      A[i * N + i] = N;
    }
    for (int i = 0; i < N; i++) x[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < N; i++) {
      b[i] = 0;
      for (int j = 0; j < N; j++) b[i] += A[i * N + j] * x[j];
    }
    assert_true(dj_factorLDL(L, A, NULL, N));
    dj_solveLDL(b, L, N);
    for (int i = 0; i < N; i++) assert_true(fabs(b[i] - x[i]) < 1e-12);
    A[(N / 2) * (N + 1)] = -1;
    assert_false(dj_factorLDL(L, A, NULL, N));
    A[(N / 2) * (N + 1)] = NAN;
    assert_false(dj_factorLDL(L, A, NULL, N));
  }
}

// Random sparse matrices with positive definite symmetric part: solutions, transposed ones and
// several at once; both kinds agree where the matrix is symmetric.
static void testFactor(void) {
  enum { N = 30, C = 3 };
  djRng rng = {7};
  void* memory = malloc(dj_diagonalSize(N, 1));
  assert_non_null(memory);
  djBlocks blocks = dj_diagonalBlocks(memory, N, 1, (int[]){0, N});
  for (int trial = 0; trial < 20; trial++) {
    double A[N * N] = {0}, F[N * N], x[N], b[N], t[N], X[N * C], shift[N];
    bool symmetric = trial % 4 == 0;
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < i; j++) {
        if (djt_integer(&rng, 4) > 0) continue;
        A[i * N + j] = djt_uniform(&rng, -1, 1);
        A[j * N + i] = symmetric ? A[i * N + j] : djt_uniform(&rng, -1, 1);
      }
      A[i * N + i] = N / 2;
      shift[i] = djt_uniform(&rng, 0, N);
    }
    djFactor f = {.kind = symmetric ? DJ_LDL : DJ_LDU, .n = N, .data = F};
    assert_int_equal(dj_factorNeeds(f.kind, &blocks), N * N);
    const djMatrix H = {A, &blocks};
    assert_true(dj_factor(&f, &H, shift));
    double worst_wrong = 0;
    for (int i = 0; i < N; i++) x[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < N; i++) {
      b[i] = t[i] = shift[i] * x[i];
      for (int j = 0; j < N; j++) {
        b[i] += A[i * N + j] * x[j];
        t[i] += A[j * N + i] * x[j];
      }
      for (int c = 0; c < C; c++) X[i * C + c] = (c + 1) * b[i];
      worst_wrong = djt_worst(worst_wrong, fabs(b[i] - t[i]));
    }
    assert_true(symmetric ? worst_wrong < 1e-12 : worst_wrong > 0.1);
    dj_solve(b, &f);
    dj_solveTranspose(t, &f);
    dj_solveMulti(X, &f, C);
    for (int i = 0; i < N; i++) {
      assert_true(fabs(b[i] - x[i]) < 1e-12);
      assert_true(fabs(t[i] - x[i]) < 1e-12);
      for (int c = 0; c < C; c++) assert_true(fabs(X[i * C + c] - (c + 1) * x[i]) < 1e-12);
    }
    assert_true(dj_condition(&f) > 1);
    A[(N / 2) * (N + 1)] = -1;
    assert_false(dj_factor(&f, &H, NULL));
    A[(N / 2) * (N + 1)] = NAN;
    assert_false(dj_factor(&f, &H, NULL));
  }
  free(memory);
}

DJT_MAIN(testExpLog, testJacobian, testPullback, testSmoothFunctions, testClamp, testInputClamp,
         testPiecewise, testLDL, testFactor, testCoefficients)
