// The force at one point of a body in the distance field of another (DiffHand 12-14, corrected).
//
// With c the point, r its radius, D the field's distance, n its normal and i what both are inflated
// by:
//   d = D(c) - r - i,   x = c - r n,   u the velocity of c's body at x against the field's,
//   d' = n.u,   t = u - d' n,
//   N = s max(0, -kn d + kd d' d) where d < 0, else 0,
//   F = N n - min(s kt |t|, mu N) t/|t|   on the point's body at x, -F on the field's.
//
// Continuous, but not C1: where d = 0, N = 0, and s kt |t| = mu N.

#ifndef DJ_CONTACT_PENALTY_PENALTY_LAW_H_
#define DJ_CONTACT_PENALTY_PENALTY_LAW_H_

#include "contact/kernel.h"
#include "shape/field.h"

typedef enum djPointState { DJ_POINT_FREE, DJ_POINT_STICK, DJ_POINT_SLIP } djPointState;

struct djPointRow;

// s kn, s kt, s kd and mu; of another row what it is of.
typedef struct djPenaltyLaw {
  double kn, kt, kd, mu;
  const struct djPointRow* row; // NULL: the law above
  const void* own;
  double share; // s, of another row
} djPenaltyLaw;

typedef struct djPointForce {
  djVec3 c, x, n, u, t; // world axes
  djVec3 gradient;      // of D by c
  djMat3 turn;          // of n by c
  djVec3 w;             // angular velocity of the point's body against the field's
  double radius;
  double d, rate;  // d, d'
  double N, speed; // speed: |t|
  djPointState state;
  djVec3 F;      // N
  bool held;     // derivatives are those for a fixed normal
  double own[5]; // what another row keeps for its derivatives
} djPointForce;

// Sets what follows from n, d, radius, c and the velocities of both bodies (6 each) about refs.
void dj_pointForce(djPointForce* p, const djPenaltyLaw* law, const double* twist_point,
                   djVec3 ref_point, const double* twist_field, djVec3 ref_field);

// The change of F where n, d and u change.
djVec3 dj_pointChanges(const djPointForce* p, const djPenaltyLaw* law, djVec3 dn, double dd,
                       djVec3 du);

// Derivatives of V . F(x) + m . x, V and m held, by what it depends on. `law` is by kn, kt, kd and
// mu of the law.
typedef struct djPointGrad {
  djVec3 c;         // as the field stays
  djVec3 n;         // as c and d stay, x and u follow
  double d, radius; // by d as c and n stay; by radius all told
  djPenaltyLaw law;
  double own[4]; // by numbers of another row's
} djPointGrad;
void dj_pointVjp(djPointGrad* out, const djPointForce* p, const djPenaltyLaw* law, djVec3 V,
                 djVec3 m);

// Another law of the force at a point: F by n, d and u.
typedef struct djPointRow {
  // Sets N, state and F, which are 0 so far.
  void (*force)(djPointForce* p, const djPenaltyLaw* law);
  djVec3 (*changes)(const djPointForce* p, const djPenaltyLaw* law, djVec3 dn, double dd,
                    djVec3 du);
  // Sets out->d, law and own; returns V . dF/dt, and *by_rate that by d', both as N and t depend on
  // no other.
  djVec3 (*vjp)(djPointGrad* out, double* by_rate, const djPointForce* p, const djPenaltyLaw* law,
                djVec3 V);
} djPointRow;

#endif // DJ_CONTACT_PENALTY_PENALTY_LAW_H_
