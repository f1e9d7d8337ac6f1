// A number with its derivatives by a few variables, carried through a formula.

#ifndef DJ_MUJOCO_DUAL_H_
#define DJ_MUJOCO_DUAL_H_

#include <math.h>

enum { DJM_NDUAL = 12 };

typedef struct djmDual {
  double x, d[DJM_NDUAL];
} djmDual;

static inline djmDual dConst(double x) { return (djmDual){.x = x}; }

static inline djmDual dVar(double x, int i) {
  djmDual r = {.x = x};
  r.d[i] = 1;
  return r;
}

// a value, and b's share of the derivative added to a's: f with df = by_a da + by_b db
static inline djmDual dMake(double x, djmDual a, double by_a, djmDual b, double by_b) {
  djmDual r = {.x = x};
  for (int i = 0; i < DJM_NDUAL; i++) r.d[i] = by_a * a.d[i] + by_b * b.d[i];
  return r;
}

static inline djmDual dChain(djmDual a, double x, double by) {
  djmDual r = {.x = x};
  for (int i = 0; i < DJM_NDUAL; i++) r.d[i] = by * a.d[i];
  return r;
}

static inline djmDual dAdd(djmDual a, djmDual b) { return dMake(a.x + b.x, a, 1, b, 1); }

static inline djmDual dSub(djmDual a, djmDual b) { return dMake(a.x - b.x, a, 1, b, -1); }

static inline djmDual dMul(djmDual a, djmDual b) { return dMake(a.x * b.x, a, b.x, b, a.x); }

static inline djmDual dDiv(djmDual a, djmDual b) {
  return dMake(a.x / b.x, a, 1 / b.x, b, -a.x / (b.x * b.x));
}

static inline djmDual dScl(djmDual a, double s) { return dChain(a, s * a.x, s); }

static inline djmDual dShift(djmDual a, double s) {
  a.x += s;
  return a;
}

static inline djmDual dAbs(djmDual a) { return a.x < 0 ? dScl(a, -1) : a; }

static inline djmDual dSqrt(djmDual a) {
  double root = sqrt(a.x);
  return dChain(a, root, root > 0 ? 0.5 / root : 0);
}

static inline djmDual dExp(djmDual a) {
  double e = exp(a.x);
  return dChain(a, e, e);
}

static inline djmDual dSin(djmDual a) { return dChain(a, sin(a.x), cos(a.x)); }

// the ends of the range belong to its inside
static inline djmDual dClip(djmDual a, double low, double high) {
  return a.x < low ? dConst(low) : a.x > high ? dConst(high) : a;
}

#endif // DJ_MUJOCO_DUAL_H_
