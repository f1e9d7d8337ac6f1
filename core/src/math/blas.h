// BLAS by rows, as several threads may call it at once. OpenBLAS shares buffers between all calls,
// and its build without threads guards them by nothing: of that build one call is made at a time.

#ifndef DJ_MATH_BLAS_H_
#define DJ_MATH_BLAS_H_

#include <cblas.h>

typedef CBLAS_TRANSPOSE djBlasTrans;

// C = alpha op(A) op(B) + beta C
void dj_dgemm(djBlasTrans transA, djBlasTrans transB, int m, int n, int k, double alpha,
              const double* A, int lda, const double* B, int ldb, double beta, double* C, int ldc);

// B = op(A)^-1 B, or B op(A)^-1; A is a triangle.
void dj_dtrsm(CBLAS_SIDE side, CBLAS_UPLO uplo, djBlasTrans trans, CBLAS_DIAG diag, int m, int n,
              const double* A, int lda, double* B, int ldb);

// C = alpha A A^T + beta C, or with A^T A; a triangle of it.
void dj_dsyrk(CBLAS_UPLO uplo, djBlasTrans trans, int n, int k, double alpha, const double* A,
              int lda, double beta, double* C, int ldc);

// y = alpha op(A) x + beta y
void dj_dgemv(djBlasTrans trans, int m, int n, double alpha, const double* A, int lda,
              const double* x, double beta, double* y);

// Which build of BLAS it is, and for which processor.
const char* dj_blasKind(void);

// Around calls of LAPACK, which uses BLAS.
void dj_beginLapack(void);
void dj_endLapack(void);

#endif  // DJ_MATH_BLAS_H_
