// Methods whose stages balance forces by inverse dynamics, see inverse.c.

#ifndef DJ_INTEGRATE_INVERSE_H_
#define DJ_INTEGRATE_INVERSE_H_

#include "integrate/work.h"

// For djMethod.
djStatus dj_beginInverse(djWork* work, const djModel* model);
djStatus dj_evaluateInverse(double* value, double* gradient, djWork* work, const djModel* model,
                            const djPlace* at, bool* majorizer);
djStatus dj_linearizeInverse(djWork* work, const djModel* model);
djStatus dj_inverseStageParams(djParamSums* sums, djWork* work, const djModel* model,
                               const double* z);

#endif  // DJ_INTEGRATE_INVERSE_H_
