// The equations of a stage, solved: by the forces of contact and limits where these lead there
// (row_pass.h), by Newton's method from there or from a guess, and with what is by the end.

#ifndef DJ_INTEGRATE_SOLVE_STAGE_H_
#define DJ_INTEGRATE_SOLVE_STAGE_H_

#include "integrate/work.h"
#include "solve/newton.h"

// Stage work->stage, into work->at_stage. unit: of the decrement. work->jams: mocap bodies can't move
// as they are to, nothing is solved.
djStatus dj_solveStage(djNewtonResult* result, djWork* work, const djModel* model, double unit);

// Whether friction acts by the end.
bool dj_lagsEnd(const djWork* work, const djModel* model);

#endif  // DJ_INTEGRATE_SOLVE_STAGE_H_
