// Barriers: laws P(x) of an argument x that are positive on (0, s), 0 beyond and infinite for
// x <= 0; s is the support. The first row is that of SDRS,
//
//   P(x)   = (x - s)^4 / x^5
//   P'(x)  = (x - s)^3 (5s - x) / x^6                         <= 0
//   P''(x) = (x - s)^2 (2x^2 - 20 s x + 30 s^2) / x^7         >= 0
//
// convex and, at s, C3. With q = (s - x)/x, so that s/x = 1 + q:
//
//   P = f0(q)/x,  P' = -f1(q)/x^2,  P'' = f2(q)/x^3,
//   f0 = q^4,  f1 = f0 + (1 + q) f0' = q^3 (4 + 5q),
//   f2 = 2 f1 + (1 + q) f1' = q^2 (12 + 40 q + 30 q^2).
//
// All that is said of a law is in f0, f1, f2 and in what is near the inverse of f1 (1 + q)^2:
// another one is a row of barrier.c, if it is convex, of degree -1 in (x, s), and C2 at s. P' is
// then of degree -2, x P'' + s dP'/ds = -2 P': derivatives by the support follow from f2. The first
// row alone is inline, here and in lanes.

#ifndef DJ_MATH_BARRIER_H_
#define DJ_MATH_BARRIER_H_

#include "math/lanes.h"

#include <dijoco/types.h>

#include <math.h>

typedef struct djBarrierRow {
  djLaw law;                         // among those of implicit surfaces
  void (*by_depth)(double f[3], double q);
  double (*most_depth)(double y);    // no less than q where y = -P'(x) s^2 = f1(q) (1 + q)^2
  double (*near_depth)(double y);    // about it
  // Near the onset, d = 1 - x/s: -P' s^2 is about onset d^order.
  double onset;
  int order;
  double coarse;                     // P s at d = 1e-5
} djBarrierRow;

extern const djBarrierRow dj_barrierRows[DJ_NBARRIER];   // by djBarrierLaw

// A row with a support.
typedef struct djBarrier {
  double s;
  djBarrierLaw law;
} djBarrier;

// *barrier: the row of one of those laws. False: it has none, and *barrier is the first.
static inline bool dj_barrierOf(djBarrierLaw* barrier, djLaw law) {
  for (int k = 0; k < DJ_NBARRIER; k++) {
    *barrier = (djBarrierLaw)k;
    if (dj_barrierRows[k].law == law) return true;
  }
  *barrier = DJ_BARRIER_SDRS;
  return false;
}

static inline void dj_barrierByDepth(double f[3], djBarrierLaw law, double q) {
  if (law != DJ_BARRIER_SDRS) {
    dj_barrierRows[law].by_depth(f, q);
    return;
  }
  double q2 = q * q;
  f[0] = q2 * q2;
  f[1] = (q2 * q) * (4 + 5 * q);
  f[2] = q2 * (12 + q * (40 + 30 * q));
}

// -P' s^2 where d = c, which is small.
static inline double dj_barrierOnset(djBarrierLaw law, double c) {
  double y = dj_barrierRows[law].onset;
  for (int k = 0; k < dj_barrierRows[law].order; k++) y *= c;
  return y;
}

// f1'.
static inline double dj_barrierDepthSlope(const double f[3], double q) {
  return (f[2] - 2 * f[1]) / (1 + q);
}

// Value and derivatives at x > 0; for x <= 0 the value is infinite and the rest is 0.
static inline void dj_barrier(double p[3], double x, djBarrier law) {
  const double s = law.s;
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
  dj_barrierByDepth(f, law.law, (s - x) * inv);
  p[0] = f[0] * inv;
  p[1] = -f[1] * inv2;
  p[2] = f[2] * (inv2 * inv);
}

// dP'/ds, 0 where P is 0 or infinite.
static inline double dj_barrierBySupport(double x, djBarrier law) {
  const double s = law.s;
  if (!(x < s) || !(x > 0)) return 0;
  double f[3], inv = 1 / x, q = (s - x) * inv;
  dj_barrierByDepth(f, law.law, q);
  return -dj_barrierDepthSlope(f, q) * (inv * inv * inv);
}

// q where y = -P'(x) s^2 = f1(q) (1 + q)^2 by Newton's method, to a relative step.
static inline double dj_mostBarrierDepth(djBarrierLaw law, double y) {
  return dj_barrierRows[law].most_depth(y);
}
static inline double dj_barrierDepthFrom(djBarrierLaw law, double y, double q, double last) {
  for (int k = 0; k < 8; k++) {
    double f[3], b = 1 + q;
    dj_barrierByDepth(f, law, q);
    double step = (f[1] * b * b - y) / (b * f[2]);   // (f1 b^2)' = b (2 f1 + b f1')
    q -= step;
    if (fabs(step) < last * q) break;
  }
  return q;
}
static inline double dj_barrierDepth(djBarrierLaw law, double y) {
  return dj_barrierDepthFrom(law, y, dj_mostBarrierDepth(law, y), 1e-13);
}

// w/x and its derivatives: a guide's tail.
static inline void dj_tail(double p[3], double x, double w) {
  double inv = 1 / x;
  p[0] = w * inv;
  p[1] = -p[0] * inv;
  p[2] = -2 * p[1] * inv;
}

// Other rows than the first, in lanes.
void dj_otherBarrierLanes(double p[3 * DJU_LANES], const double* x, djBarrier law);

// The barrier for the lanes of a mask, whose x must be positive; zero in the others, whose x must
// not be zero.
DJU_INLINE void dj_barrierLanes(djLanes p[3], djLanes x, djBarrier law, djMask mask) {
  if (law.law != DJ_BARRIER_SDRS) {
    double at[DJU_LANES], out[3 * DJU_LANES];
    dju_storeLanes(at, dju_pick(mask, x, dju_splat(law.s)));
    dj_otherBarrierLanes(out, at, law);
    for (int k = 0; k < 3; k++) p[k] = dju_loadLanes(out + k * DJU_LANES);
    return;
  }
  djLanes inv = 1.0 / x, q = dju_keep((law.s - x) * inv, mask), q2 = q * q, inv2 = inv * inv;
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
