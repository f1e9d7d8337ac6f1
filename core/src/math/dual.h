// Numbers with their derivatives by twelve others: forward differentiation of short formulas.

#ifndef DJ_MATH_DUAL_H_
#define DJ_MATH_DUAL_H_

#include <math.h>

enum { DJ_NDUAL = 12 };

typedef struct djDual {
  double f;
  double d[DJ_NDUAL];
} djDual;

// The k-th of the twelve.
static inline djDual dju_dual(double f, int k) {
  djDual x = {.f = f};
  x.d[k] = 1;
  return x;
}

// f, whose derivatives by a and b are p and q.
static inline djDual dju_dualBy(double f, double p, const djDual* a, double q, const djDual* b) {
  djDual x = {.f = f};
  for (int k = 0; k < DJ_NDUAL; k++) x.d[k] = p * a->d[k] + q * b->d[k];
  return x;
}

static inline djDual dju_dualAdd(djDual a, djDual b) { return dju_dualBy(a.f + b.f, 1, &a, 1, &b); }
static inline djDual dju_dualSub(djDual a, djDual b) {
  return dju_dualBy(a.f - b.f, 1, &a, -1, &b);
}
static inline djDual dju_dualMul(djDual a, djDual b) {
  return dju_dualBy(a.f * b.f, b.f, &a, a.f, &b);
}
static inline djDual dju_dualDiv(djDual a, djDual b) {
  return dju_dualBy(a.f / b.f, 1 / b.f, &a, -a.f / (b.f * b.f), &b);
}
static inline djDual dju_dualScale(double s, djDual a) { return dju_dualBy(s * a.f, s, &a, 0, &a); }
static inline djDual dju_dualSqrt(djDual a) {
  return dju_dualBy(sqrt(a.f), 0.5 / sqrt(a.f), &a, 0, &a);
}

// Of three numbers each.
static inline void dju_dualSub3(djDual out[3], const djDual a[3], const djDual b[3]) {
  for (int k = 0; k < 3; k++) out[k] = dju_dualSub(a[k], b[k]);
}
static inline djDual dju_dualDot3(const djDual a[3], const djDual b[3]) {
  djDual sum = dju_dualMul(a[0], b[0]);
  for (int k = 1; k < 3; k++) sum = dju_dualAdd(sum, dju_dualMul(a[k], b[k]));
  return sum;
}
static inline void dju_dualCross3(djDual out[3], const djDual a[3], const djDual b[3]) {
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    out[k] = dju_dualSub(dju_dualMul(a[i], b[j]), dju_dualMul(a[j], b[i]));
  }
}

#endif // DJ_MATH_DUAL_H_
