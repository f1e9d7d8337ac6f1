// Eight points of damped contact: places, velocities and forces.

#ifndef DJ_CONTACT_PENALTY_DAMPED_LANES_H_
#define DJ_CONTACT_PENALTY_DAMPED_LANES_H_

#include "contact/penalty/damped_law.h"
#include "contact/penalty/penalty_pair.h"
#include "shape/field_lanes.h"

// What all points of a way share. World axes; places count from O, the point of the twists of a.
typedef struct djWayLanes {
  const djPenaltyPair* pair;
  const djPenaltyWay* way;
  const djPenaltyWay* detected; // way of the start, or NULL where all act
  const djPenaltyWay* turned;   // way whose normals count
  const djDampedLaw* law;
  djVec3 O;    // of body a
  djVec3 w, u; // velocity of the points' body against the field's, at O
  double off;  // radius and what both are inflated by
  bool held;   // n does not follow poses now
} djWayLanes;
void dj_openWayLanes(djWayLanes* out, const djPenaltyPair* pair, const djPenaltyWay* way);

typedef struct djPointLanes {
  djLanes3 c, x, n, gradient, u, t, F; // F: on the points' body
  djLanes33 turn;                      // of n by c, where normals turn
  djLanes d, rate, N;
  djLanes slope, drag, drag_by_N, drag_by_speed; // as DJ_DAMPED_* of djPointForce.own
  djMask acts;                                   // those of which nothing does have N and F zero
} djPointLanes;

// Points first .. first + n - 1, n at most eight. least (or NULL): becomes no more than any d.
void dj_pointLanes(djPointLanes* out, double* least, const djWayLanes* way, int first, int n);

#endif // DJ_CONTACT_PENALTY_DAMPED_LANES_H_
