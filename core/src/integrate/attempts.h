// A step's equations solved: attempts one after another (attempts.c).

#ifndef DJ_INTEGRATE_ATTEMPTS_H_
#define DJ_INTEGRATE_ATTEMPTS_H_

#include "integrate/work.h"
#include "solve/newton.h"

// From work->start with work->method, which an attempt may change: all stages, and qnext, qvel.
// *result: of the worst stage, with the iterations of all; *ended: why they ended.
// unit: of decrements. > 0: of the last attempt the best iterate is kept.
djStatus dj_attemptStep(djNewtonResult* result, djStepEnd* ended, djWork* work,
                        const djModel* model, double unit);

#endif  // DJ_INTEGRATE_ATTEMPTS_H_
