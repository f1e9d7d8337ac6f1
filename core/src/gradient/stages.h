// Runs of an optimizer in stages.

#ifndef DJ_GRADIENT_STAGES_H_
#define DJ_GRADIENT_STAGES_H_

#include <dijoco/design.h>

// dj_optimize of one stage after the other, each from the result of the one before. The models of
// all phases keep what the last stage set. problem->callback is told the stage, too.
djStatus dj_optimizeStages(djOptimizeResult* result, double* x, djPhases* phases,
                           const djOptimizeProblem* problem, const djOptimizer* optimizer,
                           djError* err);

#endif  // DJ_GRADIENT_STAGES_H_
