// The barrier of SDRS: P(x) = (x - s)^4 / x^5 on (0, s), 0 beyond, infinite for x <= 0.
//
//   P'(x)  = (x - s)^3 (5s - x) / x^6                         <= 0
//   P''(x) = (x - s)^2 (2x^2 - 20 s x + 30 s^2) / x^7         >= 0
//
// It is convex and, at s, C3. With q = (s - x)/x, so that s/x = 1 + q:
//
//   P = f0(q)/x,  P' = -f1(q)/x^2,  P'' = f2(q)/x^3,
//   f0 = q^4,  f1 = f0 + (1 + q) f0' = q^3 (4 + 5q),
//   f2 = 2 f1 + (1 + q) f1' = q^2 (12 + 40 q + 30 q^2).
//
// All that is said of the law is in f0, f1, f2, alone and in lanes, and in what is near the inverse of
// f1 (1 + q)^2: another one takes its place here, if it is convex, of degree -1 in (x, s), and C2 at s.

#ifndef DJ_MATH_BARRIER_H_
#define DJ_MATH_BARRIER_H_

#include "math/lanes.h"

#include <math.h>

static inline void dj_barrierByDepth(double f[3], double q) {
  double q2 = q * q;
  f[0] = q2 * q2;
  f[1] = (q2 * q) * (4 + 5 * q);
  f[2] = q2 * (12 + q * (40 + 30 * q));
}

// f1'.
static inline double dj_barrierDepthSlope(const double f[3], double q) {
  return (f[2] - 2 * f[1]) / (1 + q);
}

// Value and derivatives at x > 0; for x <= 0 the value is infinite and the rest is 0.
static inline void dj_barrier(double p[3], double x, double s) {
  if (!(x < s)) {
    p[0] = p[1] = p[2] = 0;
    return;
  }
  if (!(x > 0)) {
    p[0] = INFINITY;
    p[1] = p[2] = 0;
    return;
  }
  double f[3], inv = 1 / x, inv2 = inv * inv;
  dj_barrierByDepth(f, (s - x) * inv);
  p[0] = f[0] * inv;
  p[1] = -f[1] * inv2;
  p[2] = f[2] * (inv2 * inv);
}

// dP'/ds, 0 where P is 0 or infinite.
static inline double dj_barrierBySupport(double x, double s) {
  if (!(x < s) || !(x > 0)) return 0;
  double f[3], inv = 1 / x, q = (s - x) * inv;
  dj_barrierByDepth(f, q);
  return -dj_barrierDepthSlope(f, q) * (inv * inv * inv);
}

// q where y = -P'(x) s^2 = f1(q) (1 + q)^2, which is convex: no less than it; about it, with 1.65 for
// (5 - x/s)^(1/3); and by Newton's method.
static inline double dj_mostBarrierDepth(double y) {
  double c = cbrt(y);
  return fmin(0.63 * c, sqrt(0.585 * c));
}
static inline double dj_nearBarrierDepth(double y) {
  return 0.5 * (sqrt(1 + 4 / 1.65 * cbrt(y)) - 1);
}
static inline double dj_barrierDepthFrom(double y, double q) {
  for (int k = 0; k < 8; k++) {
    double f[3], b = 1 + q;
    dj_barrierByDepth(f, q);
    double step = (f[1] * b * b - y) / (b * f[2]);   // (f1 b^2)' = b (2 f1 + b f1')
    q -= step;
    if (fabs(step) < 1e-13 * q) break;
  }
  return q;
}
static inline double dj_barrierDepth(double y) {
  return dj_barrierDepthFrom(y, dj_mostBarrierDepth(y));
}

// w/x and its derivatives: a guide's tail.
static inline void dj_tail(double p[3], double x, double w) {
  double inv = 1 / x;
  p[0] = w * inv;
  p[1] = -p[0] * inv;
  p[2] = -2 * p[1] * inv;
}

// The barrier for the lanes of a mask, whose x must be positive; zero in the others, whose x must
// not be zero.
DJU_INLINE void dj_barrierLanes(djLanes p[3], djLanes x, double s, djMask mask) {
  djLanes inv = 1.0 / x, q = dju_keep((s - x) * inv, mask), q2 = q * q, inv2 = inv * inv;
  const djLanes c4 = dju_splat(-4), c5 = dju_splat(-5), c12 = dju_splat(12);
  const djLanes c40 = dju_splat(40), c30 = dju_splat(30);
  p[0] = (q2 * q2) * inv;
  p[1] = ((q2 * q) * inv2) * dju_fmaLanes(q, c5, c4);
  p[2] = ((q2 * inv) * inv2) * dju_fmaLanes(dju_fmaLanes(q, c30, c40), q, c12);
}

DJU_INLINE void dj_tailLanes(djLanes p[3], djLanes x, djLanes w) {
  djLanes inv = 1.0 / x;
  p[0] = w * inv;
  p[1] = -(p[0] * inv);
  p[2] = -2.0 * (p[1] * inv);
}

#endif  // DJ_MATH_BARRIER_H_
