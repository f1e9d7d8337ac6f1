// Numbers with their change along a motion: dual numbers.

#ifndef DJ_CONTACT_TRIANGLES_DUAL_H_
#define DJ_CONTACT_TRIANGLES_DUAL_H_

#include "math/vec.h"

#include <math.h>

typedef struct djDual {
  double x, d;
} djDual;

static inline djDual dj_minus(djDual a, djDual b) { return (djDual){a.x - b.x, a.d - b.d}; }
static inline djDual dj_times(djDual a, djDual b) {
  return (djDual){a.x * b.x, a.x * b.d + a.d * b.x};
}
static inline djDual dj_scaled(double s, djDual a) { return (djDual){s * a.x, s * a.d}; }
static inline djDual dj_shifted(djDual a, double s) { return (djDual){a.x + s, a.d}; }
static inline djDual dj_over(djDual a, djDual b) {
  const double q = a.x / b.x;
  return (djDual){q, (a.d - q * b.d) / b.x};
}
static inline djDual dj_exponential(djDual a) {
  const double e = exp(a.x);
  return (djDual){e, e * a.d};
}
static inline djDual dj_dualRoot(djDual a) {
  const double r = sqrt(a.x);
  return (djDual){r, 0.5 * a.d / r};
}

typedef struct djDualVec {
  djVec3 x, d;
} djDualVec;

static inline djDualVec dj_timesVec(djDual s, djDualVec v) {
  return (djDualVec){dju_scale3(s.x, v.x), dju_madd3(dju_scale3(s.x, v.d), s.d, v.x)};
}

#endif // DJ_CONTACT_TRIANGLES_DUAL_H_
