#include "math/blas.h"

#include <pthread.h>

// The only variable of the core: what it guards is the process's, too.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void dj_beginLapack(void) {
  if (openblas_get_parallel() == OPENBLAS_SEQUENTIAL) pthread_mutex_lock(&lock);
}

void dj_endLapack(void) {
  if (openblas_get_parallel() == OPENBLAS_SEQUENTIAL) pthread_mutex_unlock(&lock);
}

const char* dj_blasKind(void) { return openblas_get_config(); }

void dj_dgemm(djBlasTrans transA, djBlasTrans transB, int m, int n, int k, double alpha,
              const double* A, int lda, const double* B, int ldb, double beta, double* C, int ldc) {
  dj_beginLapack();
  cblas_dgemm(CblasRowMajor, transA, transB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
  dj_endLapack();
}

void dj_dtrsm(CBLAS_SIDE side, CBLAS_UPLO uplo, djBlasTrans trans, CBLAS_DIAG diag, int m, int n,
              const double* A, int lda, double* B, int ldb) {
  dj_beginLapack();
  cblas_dtrsm(CblasRowMajor, side, uplo, trans, diag, m, n, 1, A, lda, B, ldb);
  dj_endLapack();
}

void dj_dsyrk(CBLAS_UPLO uplo, djBlasTrans trans, int n, int k, double alpha, const double* A,
              int lda, double beta, double* C, int ldc) {
  dj_beginLapack();
  cblas_dsyrk(CblasRowMajor, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
  dj_endLapack();
}

void dj_dgemv(djBlasTrans trans, int m, int n, double alpha, const double* A, int lda,
              const double* x, double beta, double* y) {
  dj_beginLapack();
  cblas_dgemv(CblasRowMajor, trans, m, n, alpha, A, lda, x, 1, beta, y, 1);
  dj_endLapack();
}
