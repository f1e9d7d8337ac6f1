// Products of rows with a vector. Each sum is in the order of its entries, where every one waits
// for that before it: four rows go side by side.

#ifndef DJ_MATH_PRODUCTS_H_
#define DJ_MATH_PRODUCTS_H_

#include <math.h>
#include <stddef.h>

enum { DJU_ROWS = 4 };

// a x + y, one instruction where there is one. Of a sum in order compilers make vectors of products
// that they take apart again.
static inline double dju_fused(double a, double x, double y) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return fma(a, x, y);
#else
  return a * x + y;
#endif
}

// sum (4) = A x, rows of A (4 x n) `stride` apart.
static inline void dju_fourProducts(double sum[DJU_ROWS], const double* A, size_t stride,
                                    const double* x, int n) {
  const double *b = A + stride, *c = b + stride, *d = c + stride;
  double s = 0, t = 0, u = 0, v = 0;
  for (int j = 0; j < n; j++) {
    s = dju_fused(A[j], x[j], s);
    t = dju_fused(b[j], x[j], t);
    u = dju_fused(c[j], x[j], u);
    v = dju_fused(d[j], x[j], v);
  }
  sum[0] = s;
  sum[1] = t;
  sum[2] = u;
  sum[3] = v;
}

// y (nrow) += f A x, rows of A (nrow x n) `stride` apart.
static inline void dju_addProducts(double* y, double f, const double* A, size_t stride,
                                   const double* x, int nrow, int n) {
  int i = 0;
  for (; i + DJU_ROWS <= nrow; i += DJU_ROWS) {
    double sum[DJU_ROWS];
    dju_fourProducts(sum, A + (size_t)i * stride, stride, x, n);
    for (int k = 0; k < DJU_ROWS; k++) y[i + k] += f * sum[k];
  }
  for (; i < nrow; i++) {
    const double* row = A + (size_t)i * stride;
    double sum = 0;
    for (int j = 0; j < n; j++) sum = dju_fused(row[j], x[j], sum);
    y[i] += f * sum;
  }
}

#endif  // DJ_MATH_PRODUCTS_H_
