// BLAS by rows, against sums by hand.

#include "common/near.h"
#include "common/test.h"
#include "math/blas.h"

enum { M = 3, N = 4, K = 2 };

static void fill(double* x, int n, double seed) {
  for (int i = 0; i < n; i++) x[i] = sin(seed + i);
}

static void testProducts(void) {
  double A[M * K], At[K * M], B[K * N], C[M * N], D[M * N], x[K], y[M], z[M], S[M * M] = {0};
  fill(A, M * K, 1);
  fill(B, K * N, 2);
  fill(C, M * N, 3);
  fill(x, K, 4);
  fill(y, M, 5);
  for (int i = 0; i < M * K; i++) At[i % K * M + i / K] = A[i];
  for (int i = 0; i < M * N; i++) D[i] = C[i];
  for (int i = 0; i < M; i++) z[i] = y[i];
  dj_dgemm(CblasNoTrans, CblasNoTrans, M, N, K, 2, A, K, B, N, -1, C, N);
  dj_dgemm(CblasTrans, CblasNoTrans, M, N, K, 2, At, M, B, N, -1, D, N);
  dj_dgemv(CblasNoTrans, M, K, 2, A, K, x, -1, y);
  dj_dgemv(CblasTrans, K, M, 2, At, M, x, -1, z);
  dj_dsyrk(CblasLower, CblasNoTrans, M, K, 3, A, K, 0, S, M);
  for (int i = 0; i < M; i++) {
    double by = -sin(5 + i);
    for (int k = 0; k < K; k++) by += 2 * A[K * i + k] * x[k];
    djt_near(y[i], by, 1e-15);
    djt_near(z[i], by, 1e-15);
    for (int j = 0; j < N; j++) {
      double sum = -sin(3 + N * i + j);
      for (int k = 0; k < K; k++) sum += 2 * A[K * i + k] * B[N * k + j];
      djt_near(C[N * i + j], sum, 1e-15);
      djt_near(D[N * i + j], sum, 1e-15);
    }
    for (int j = 0; j < M; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++) sum += 3 * A[K * i + k] * A[K * j + k];
      djt_near(S[M * i + j], j <= i ? sum : 0, 1e-15);
    }
  }
}

static void testSolve(void) {
  const double L[9] = {2, 9, 9, 1, 3, 9, -1, 0.5, 4};   // above the diagonal: not read
  double x[3] = {1, -2, 3}, y[3];
  dj_beginLapack();
  dj_endLapack();
  for (int i = 0; i < 3; i++) {
    y[i] = 0;
    for (int k = 0; k <= i; k++) y[i] += L[3 * i + k] * x[k];
  }
  dj_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 3, 1, L, 3, y, 1);
  for (int i = 0; i < 3; i++) djt_near(y[i], x[i], 1e-15);
}

DJT_MAIN(testProducts, testSolve)
