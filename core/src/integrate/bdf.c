// Backward differentiation: bdf1, the implicit Euler method of inverse dynamics (DiffHand eq. 3-5),
//   v+ = log(q^-1 q+)/h,  a+ = (v+ - v)/h,  r = ID(q+, v+, a+) - forces.

#include "integrate/inverse.h"

static void bdf1(djCoefficients* c, double h) {
  c->velocity[0][DJ_SOURCE_STAGE] = 1 / h;
  c->accel[0][DJ_SOURCE_STAGE] = 1 / (h * h);
  c->accel[0][DJ_SOURCE_VELOCITY] = -1 / h;
  c->end[DJ_SOURCE_STAGE] = 1 / h;
}

const djMethod dj_bdf1 = {.name = "bdf1",
                          .kind = DJ_LDU,
                          .nstage = 1,
                          .mass = true,
                          .coefficients = bdf1,
                          .begin = dj_beginInverse,
                          .evaluate = dj_evaluateInverse,
                          .linearize = dj_linearizeInverse,
                          .params = dj_inverseStageParams};
