// Methods whose stages balance forces by inverse dynamics, see inverse.c.

#ifndef DJ_INTEGRATE_INVERSE_H_
#define DJ_INTEGRATE_INVERSE_H_

#include "integrate/work.h"

typedef enum djBalance { DJ_BALANCE_VALUES, DJ_BALANCE_HELD, DJ_BALANCE_WHOLE } djBalance;

// r = ID(q, V, A) less forces at a place, with sums emptied, as gradient (nv), and the stage's M, its
// derivative by A. HELD: that by the dofs there is added to H, V and A held, that by V is work->Dv;
// WHOLE: V and A follow the stage's displacement.
djStatus dj_sumBalance(double* value, double* gradient, djWork* work, const djModel* model,
                       const djPlace* at, djBalance what);
// After HELD or WHOLE: adds its derivatives by the start's dofs, the place held, and by the velocity there.
djStatus dj_startBalanced(djMatrix* Rq, djMatrix* G, djWork* work, const djModel* model,
                          const djPlace* at);
// Adds d(z . r)/d parameter, z (nv).
djStatus dj_balancedParams(djParamSums* sums, djWork* work, const djModel* model, djPlace* at,
                           const double* z);

// Fails where a tendon along a path has armature.
djStatus dj_checkArmature(djWork* work, const djModel* model);

// For djMethod.
djStatus dj_beginInverse(djWork* work, const djModel* model);
djStatus dj_evaluateInverse(double* value, double* gradient, djWork* work, const djModel* model,
                            const djPlace* at, bool* majorizer);
djStatus dj_linearizeInverse(djWork* work, const djModel* model);
djStatus dj_inverseStageParams(djParamSums* sums, djWork* work, const djModel* model,
                               const double* z);

#endif  // DJ_INTEGRATE_INVERSE_H_
