// Which points of damped contact act: all, or those of balls with enough force.

#ifndef DJ_CONTACT_PENALTY_DAMPED_SEARCH_H_
#define DJ_CONTACT_PENALTY_DAMPED_SEARCH_H_

#include "contact/penalty/penalty_pair.h"

// Visits points first .. first + n - 1 of the tree's order, in as few parts as there are. Returns a
// lower bound of the others' d.
typedef void (*djRangeVisit)(void* user, int first, int n);
double dj_visitRanges(const djPenaltyPair* pair, const djPenaltyWay* way, djRangeVisit visit,
                      void* user);

// Where points are at the start of the step, or NULL where all act.
const djPenaltyWay* dj_detectedBy(const djPenaltyPair* pair, const djPenaltyWay* way);

#endif // DJ_CONTACT_PENALTY_DAMPED_SEARCH_H_
