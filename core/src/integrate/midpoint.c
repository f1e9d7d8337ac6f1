// The implicit midpoint rule. With the velocity u at the middle Q = q (+) h u/2,
//   r = ID(Q, u, 2 (u - v)/h) - forces,  q+ = q (+) h u,  v+ = 2 u - v;
// u = 2 psi/h. Of free bodies spin is balanced in space (spin.h).

#include "integrate/inverse.h"

static void midpoint(djCoefficients* c, double h) {
  c->velocity[0][DJ_SOURCE_STAGE] = 2 / h;
  c->accel[0][DJ_SOURCE_STAGE] = 4 / (h * h);
  c->accel[0][DJ_SOURCE_VELOCITY] = -2 / h;
  c->turns = true;
  c->position[DJ_SOURCE_STAGE] = 2;
  c->end[DJ_SOURCE_STAGE] = 4 / h;
  c->end[DJ_SOURCE_VELOCITY] = -1;
}

const djMethod dj_midpoint = {.name = "midpoint",
                              .kind = DJ_LDU,
                              .nstage = 1,
                              .mass = true,
                              .spins = true,
                              .within = true,
                              .coefficients = midpoint,
                              .begin = dj_beginInverse,
                              .evaluate = dj_evaluateInverse,
                              .linearize = dj_linearizeInverse,
                              .params = dj_inverseStageParams};
