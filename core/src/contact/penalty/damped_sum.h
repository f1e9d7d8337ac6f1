// Points of damped contact, eight at a time: forces and their derivatives, summed.

#ifndef DJ_CONTACT_PENALTY_DAMPED_SUM_H_
#define DJ_CONTACT_PENALTY_DAMPED_SUM_H_

#include "contact/penalty/penalty_pair.h"

// For djPointModel.
double dj_sumDamped(djPenaltySum* sum, bool derivatives, const djPenaltyPair* pair,
                    const djPenaltyWay* way);

#endif // DJ_CONTACT_PENALTY_DAMPED_SUM_H_
