// A pair of geoms: its ways, and the forces at their points.

#ifndef DJ_CONTACT_PENALTY_PENALTY_PAIR_H_
#define DJ_CONTACT_PENALTY_PENALTY_PAIR_H_

#include "contact/penalty/penalty.h"
#include "contact/penalty/penalty_law.h"
#include "contact/penalty/penalty_search.h"

typedef struct djPenaltyPair {
  const djPairInput* in;
  int nway;
  djPenaltyWay way[2];
} djPenaltyPair;

// DJ_INVALID: shapes, poses or velocities are not as they must be. Settings are the caller's to
// check.
djStatus dj_openPenaltyPair(djPenaltyPair* out, const djPairInput* in);

djPenaltyLaw dj_penaltyLaw(const djPenaltyPair* pair, const djPenaltyWay* way);

// The force of point i of a way. at (or NULL): the field there, in its own frame x.
void dj_findPoint(djPointForce* out, djFieldAt* at, double x[3], const djPenaltyPair* pair,
                  const djPenaltyWay* way, int i);

// Adds to gradient, and where they are wanted (not NULL) to its derivatives by poses (plain, see
// dj_toExponential) and twists (12 x 12).
void dj_addPoint(double gradient[12], double* by_pose, double* by_twist, const djPenaltyPair* pair,
                 const djPenaltyWay* way, const djPointForce* p);

// Adds the derivative of lambda . gradient by parameters.
void dj_addWayVjp(djPairGrad* grad, const djPenaltyPair* pair, const djPenaltyWay* way,
                  const double lambda[12]);
#endif  // DJ_CONTACT_PENALTY_PENALTY_PAIR_H_
