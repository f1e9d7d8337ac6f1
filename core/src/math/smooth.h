// Smooth scalar functions: clamps, one-sided springs, switches, norms.

#ifndef DJ_MATH_SMOOTH_H_
#define DJ_MATH_SMOOTH_H_

#include <math.h>

// A value with its first two derivatives.
typedef struct djJet {
  double f, d, dd;
} djJet;

// Clamp to [lo, hi], C2: equal to the hard one further than 1% of the range from a bound, at most
// 0.19% of the range below it at the bound. Returns the value and derivatives. Infinite bounds are
// allowed; lo > hi gives the identity.
djJet dju_smoothClamp(double x, double lo, double hi);

// The same of inputs, C2: x from lo to hi, so that at a bound the slope is that inside; the bound
// further than 1% of the range outside; between, at most 0.198% (16/81 of 1%) beyond the bound.
djJet dju_inputClamp(double x, double lo, double hi);

// x clipped to [lo, hi]; at a bound the slope is that inside.
static inline djJet dju_clip(double x, double lo, double hi) {
  if (x < lo || x > hi) return (djJet){x < lo ? lo : hi, 0, 0};
  return (djJet){x, 1, 0};
}

// Edges of the pieces of dju_smoothClamp, polynomials of degree 4 at most, ascending. Returns their
// number: 4, or 0 where lo < hi does not hold.
int dju_clampEdges(double edge[4], double lo, double hi);

// Mean of dju_smoothClamp over the interval from a to b, to rounding.
double dju_smoothClampMean(double a, double b, double lo, double hi);

// One-sided spring: f = 0 for x <= 0, then f'' = k x/w up to x = w and k beyond. C2.
djJet dju_softLimit(double x, double k, double w);

// Derivative of its slope f' by w.
double dju_softLimitByWidth(double x, double k, double w);

// max(x, 0), C2: equal to it further than w from 0, 3/16 w at 0. w > 0.
djJet dju_smoothRamp(double x, double w);

// 0 for t <= 0, 1 for t >= 1, quintic between (C2).
djJet dju_smoothStep(double t);

// sqrt(x^2 + e^2) - e
djJet dju_smoothAbs(double x, double e);

// sqrt(y), y >= 0, with bounded derivatives, C2: equal to it from e^2 on, 3/8 e at 0. e > 0.
djJet dju_smoothRoot(double y, double e);

// sqrt(max(y, 0)), C2: equal to it outside of (0, e^2), rising. e > 0.
djJet dju_smoothRampRoot(double y, double e);

#endif  // DJ_MATH_SMOOTH_H_
