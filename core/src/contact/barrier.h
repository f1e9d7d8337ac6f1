// The barrier of SDRS: P(x) = (x - s)^4 / x^5 on (0, s), 0 beyond, infinite for x <= 0.
//
//   P'(x)  = (x - s)^3 (5s - x) / x^6                         <= 0
//   P''(x) = (x - s)^2 (2x^2 - 20 s x + 30 s^2) / x^7         >= 0
//
// It is convex and, at s, C3.

#ifndef DJ_CONTACT_BARRIER_H_
#define DJ_CONTACT_BARRIER_H_

#include "math/lanes.h"

#include <math.h>

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
  double inv = 1 / x, t = s - x, t2 = t * t;
  double inv2 = inv * inv, inv5 = inv2 * inv2 * inv;
  p[0] = t2 * t2 * inv5;
  p[1] = -t2 * t * (5 * s - x) * (inv5 * inv);
  p[2] = t2 * (2 * x * x - 20 * s * x + 30 * s * s) * (inv5 * inv2);
}

// The same for the lanes of a mask, whose x must be positive; zero in the others.
DJU_INLINE void dj_barrierLanes(djLanes p[3], djLanes x, double s, djMask mask) {
  djLanes inv = 1.0 / x, t = s - x, t2 = t * t;
  djLanes inv2 = inv * inv, inv5 = inv2 * inv2 * inv;
  p[0] = dju_keep(t2 * t2 * inv5, mask);
  p[1] = dju_keep(-t2 * t * (5 * s - x) * (inv5 * inv), mask);
  p[2] = dju_keep(t2 * ((2 * x - 20 * s) * x + 30 * s * s) * (inv5 * inv2), mask);
}

#endif  // DJ_CONTACT_BARRIER_H_
