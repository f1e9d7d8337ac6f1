// The nearest semi-definite matrix: what it takes away and what it leaves.

#include "math/semidefinite.h"

#include "common/near.h"
#include "common/random.h"
#include "common/test.h"

static double product(const double* A, const double* B, int n, int r, int c) {
  double sum = 0;
  for (int k = 0; k < n; k++) sum += A[n * r + k] * B[n * k + c];
  return sum;
}

// A = P - N is the only pair of semi-definite matrices with P N = 0. Whether x.Px and x.Nx are
// positive is seen in random directions and along the columns of P and N themselves.
static void checkSplit(const double* A, const double* P, int n, double scale, djRng* rng) {
  double N[144];
  for (int i = 0; i < n * n; i++) N[i] = P[i] - A[i];
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) {
      assert_true(fabs(P[n * r + c] - P[n * c + r]) <= 1e-12 * scale);
      assert_true(fabs(product(P, N, n, r, c)) <= 1e-12 * scale * scale);
    }
  }
  for (int k = 0; k < 60 + 2 * n; k++) {
    double x[12], p = 0, q = 0;
    for (int i = 0; i < n; i++) {
      x[i] = k < n ? P[n * i + k] : k < 2 * n ? N[n * i + k - n] : djt_uniform(rng, -1, 1);
    }
    for (int r = 0; r < n; r++) {
      for (int c = 0; c < n; c++) p += x[r] * P[n * r + c] * x[c], q += x[r] * N[n * r + c] * x[c];
    }
    assert_true(p >= -1e-12 * scale * scale * scale && q >= -1e-12 * scale * scale * scale);
  }
}

static void testRandom(void) {
  djRng rng = {4};
  for (int k = 0; k < 200; k++) {
    int n = 1 + k % 12;
    double A[144], P[144], stiff = k % 3 ? 1 : 1e6;
    for (int r = 0; r < n; r++) {
      for (int c = 0; c <= r; c++) {
        double x = djt_uniform(&rng, -1, 1);
        if (r < 3 && c < 3) x *= stiff;
        A[n * r + c] = A[n * c + r] = x;
      }
    }
    memcpy(P, A, sizeof P);
    dju_semidefinite(P, n);
    checkSplit(A, P, n, n * stiff, &rng);
  }
}

// |A| for A = Q diag(d) Q^T with a known Q: a reflection about u.
static void testKnown(void) {
  const double d[4] = {3, -2, 0, 5}, u[4] = {0.5, -0.5, 0.5, 0.5};
  double A[16], P[16];
  for (int r = 0; r < 4; r++) {
    for (int c = 0; c < 4; c++) {
      double sum = 0, plus = 0;
      for (int k = 0; k < 4; k++) {
        double q = ((r == k) - 2 * u[r] * u[k]) * ((c == k) - 2 * u[c] * u[k]);
        sum += d[k] * q;
        plus += fmax(d[k], 0) * q;
      }
      A[4 * r + c] = sum;
      P[4 * r + c] = plus;
    }
  }
  dju_semidefinite(A, 4);
  for (int i = 0; i < 16; i++) assert_true(fabs(A[i] - P[i]) < 1e-14);
}

static void testKept(void) {
  double zero[144] = {0}, kept[4] = {2, -1, -1, 2}, tiny[4] = {-0x1p-1030, 0, 0, 1};
  dju_semidefinite(zero, 12);
  for (int i = 0; i < 144; i++) assert_true(zero[i] == 0);
  dju_semidefinite(kept, 2);   // to the last bit
  assert_true(kept[0] == 2 && kept[1] == -1 && kept[2] == -1 && kept[3] == 2);
  dju_semidefinite(tiny, 2);
  assert_true(tiny[0] == 0 && tiny[3] == 1);
}

DJT_MAIN(testRandom, testKnown, testKept)
