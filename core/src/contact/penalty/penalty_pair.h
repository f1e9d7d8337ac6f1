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

// The force of point i of a way; at: the field there.
void dj_findPoint(djPointForce* out, const djPenaltyPair* pair, const djPenaltyWay* way, int i,
                  const djFieldAt* at);

// Minus the wrench on a about ref_a, and its derivatives by twists of poses (plain, see
// dj_toExponential) and by velocities, row-major.
typedef struct djPenaltySum {
  double gradient[6];
  double by_pose[72], by_twist[72]; // (6 x 12)
} djPenaltySum;
// Adds a point; derivatives where they are wanted. Then all of that for both bodies, with (12 x 12)
// matrices, or NULL.
void dj_addPoint(djPenaltySum* sum, bool derivatives, const djPenaltyPair* pair,
                 const djPenaltyWay* way, const djPointForce* p);
void dj_completeSum(double gradient[12], double* by_pose, double* by_twist, const djPenaltySum* sum,
                    const djPenaltyPair* pair);

// Adds the derivative of lambda . gradient by parameters.
void dj_addWayVjp(djPairGrad* grad, const djPenaltyPair* pair, const djPenaltyWay* way,
                  const double lambda[12]);
#endif // DJ_CONTACT_PENALTY_PENALTY_PAIR_H_
