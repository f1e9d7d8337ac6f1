// Numbers with their change along a motion: dual numbers of one part; math/dual.h has those of 12.

#ifndef DJ_CONTACT_TRIANGLES_DUAL_H_
#define DJ_CONTACT_TRIANGLES_DUAL_H_

#include "math/vec.h"

#include <math.h>

typedef struct djDual1 {
  double x, d;
} djDual1;

static inline djDual1 dj_minus(djDual1 a, djDual1 b) { return (djDual1){a.x - b.x, a.d - b.d}; }
static inline djDual1 dj_times(djDual1 a, djDual1 b) {
  return (djDual1){a.x * b.x, a.x * b.d + a.d * b.x};
}
static inline djDual1 dj_scaled(double s, djDual1 a) { return (djDual1){s * a.x, s * a.d}; }
static inline djDual1 dj_shifted(djDual1 a, double s) { return (djDual1){a.x + s, a.d}; }
static inline djDual1 dj_over(djDual1 a, djDual1 b) {
  const double q = a.x / b.x;
  return (djDual1){q, (a.d - q * b.d) / b.x};
}
static inline djDual1 dj_exponential(djDual1 a) {
  const double e = exp(a.x);
  return (djDual1){e, e * a.d};
}
static inline djDual1 dj_dualRoot(djDual1 a) {
  const double r = sqrt(a.x);
  return (djDual1){r, 0.5 * a.d / r};
}

typedef struct djDualVec {
  djVec3 x, d;
} djDualVec;

static inline djDualVec dj_timesVec(djDual1 s, djDualVec v) {
  return (djDualVec){dju_scale3(s.x, v.x), dju_madd3(dju_scale3(s.x, v.d), s.d, v.x)};
}

#endif // DJ_CONTACT_TRIANGLES_DUAL_H_
