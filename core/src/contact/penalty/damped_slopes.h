// Derivatives of the force at a point of damped contact, summed over points.

#ifndef DJ_CONTACT_PENALTY_DAMPED_SLOPES_H_
#define DJ_CONTACT_PENALTY_DAMPED_SLOPES_H_

#include "contact/penalty/penalty_pair.h"

// For djPointModel. Until dj_completeDampedSum twists of both bodies count about ref_a, and
// by_twist holds those of a alone: those of b are opposite.
void dj_addDampedSlopes(djPenaltySum* sum, const djPenaltyPair* pair, const djPenaltyWay* way,
                        const djPointForce* p);
void dj_completeDampedSum(djPenaltySum* sum, const djPenaltyPair* pair);

#endif // DJ_CONTACT_PENALTY_DAMPED_SLOPES_H_
