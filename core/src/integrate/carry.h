// The first iterate of a stage in which mocap bodies move.
//
// They go to where they are wanted whatever is in their way, and a barrier has no energy there. So
// they go from where they were together with what they push: by Newton's method for all that moves,
// of which their part is given, as far at a time as shapes stay apart.

#ifndef DJ_INTEGRATE_CARRY_H_
#define DJ_INTEGRATE_CARRY_H_

#include "integrate/mocap.h"
#include "solve/newton.h"

// The trial's poses, whose coordinates are set, at a fraction of a step from `now`.
void dj_setTrialPlace(djWork* work, const djModel* model, double fraction);

// *found: work->now is where a solution may be looked for, shapes apart; else any guess will do, or
// work->jams: there is no way.
djStatus dj_carry(bool* found, const djNewtonProblem* problem, djWork* work, const djModel* model);

// Where it jams: the mocap bodies that squeeze do not move in this step, at least one.
void dj_stopJammed(djWork* work, const djModel* model);

#endif  // DJ_INTEGRATE_CARRY_H_
