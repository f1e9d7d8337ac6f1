// Spatial vectors: twists and wrenches (angular, linear) about one point in world axes, their cross
// products, and inertia (Featherstone, Rigid body dynamics algorithms, 2008, chapter 2).

#ifndef DJ_MATH_SPATIAL_H_
#define DJ_MATH_SPATIAL_H_

#include "math/block6.h"

// A twist or a wrench.
typedef struct djSix {
  djVec3 w, v;
} djSix;

static inline djSix dju_load6(const double x[6]) {
  return (djSix){dju_load3(x), dju_load3(x + 3)};
}
static inline void dju_store6(double x[6], djSix a) {
  dju_store3(x, a.w);
  dju_store3(x + 3, a.v);
}
static inline djSix dju_add6(djSix a, djSix b) {
  return (djSix){dju_add3(a.w, b.w), dju_add3(a.v, b.v)};
}
static inline djSix dju_sub6(djSix a, djSix b) {
  return (djSix){dju_sub3(a.w, b.w), dju_sub3(a.v, b.v)};
}
// a + s b
static inline djSix dju_madd6(djSix a, double s, djSix b) {
  return (djSix){dju_madd3(a.w, s, b.w), dju_madd3(a.v, s, b.v)};
}
static inline double dju_dot6(djSix a, djSix b) { return dju_dot3(a.w, b.w) + dju_dot3(a.v, b.v); }

// Rate of a twist y that moves with the twist x; of a wrench f. x . (y X f) = -(y x) . f.
static inline djSix dju_crossTwist(djSix x, djSix y) {
  return (djSix){dju_cross3(x.w, y.w), dju_add3(dju_cross3(x.w, y.v), dju_cross3(x.v, y.w))};
}
static inline djSix dju_crossWrench(djSix x, djSix f) {
  return (djSix){dju_add3(dju_cross3(x.w, f.w), dju_cross3(x.v, f.v)), dju_cross3(x.w, f.v)};
}

// Inertia of one body: mass, centre of mass from the point, rotational inertia about it.
typedef struct djInertia {
  double mass;
  djVec3 arm;
  djMat3 I;
} djInertia;

static inline djSix dju_mulInertia(const djInertia* I, djSix x) {
  djVec3 p = dju_scale3(I->mass, dju_add3(x.v, dju_cross3(x.w, I->arm)));
  return (djSix){dju_add3(dju_mulMV(I->I, x.w), dju_cross3(I->arm, p)), p};
}

// N (6 x 6) += [[I - m [arm]^2, m [arm]], [-m [arm], m]].
static inline void dju_addInertia(double N[36], const djInertia* I) {
  djMat3 A = I->I, X = dju_skew(I->arm);
  dju_addSkewProduct(&A, -I->mass, I->arm, I->arm);
  dju_addBlock6(N, 0, 0, 1, &A);
  dju_addBlock6(N, 0, 3, I->mass, &X);
  dju_addBlock6(N, 3, 0, -I->mass, &X);
  for (int k = 3; k < 6; k++) N[7 * k] += I->mass;
}

#endif  // DJ_MATH_SPATIAL_H_
