// The implicit midpoint rule, with a share theta in [1/2, 1] of the end in the velocity of the step,
// u = (1 - theta) v + theta v+. With the middle Q = q (+) h u/2,
//   r = ID(Q, u, (u - v)/(theta h)) - forces,  q+ = q (+) h u,  v+ = (u - (1 - theta) v)/theta;
// u = 2 psi/h. Of free bodies spin is balanced in space (spin.h).
//
// At 1/2 the rule is of second order and its own inverse in time. A stiff force at the end lets u
// alone bring q to where it holds it, and v+ = -(1 - theta)/theta v + ...: what theta is for, see
// docs/damped.md.

#include "integrate/inverse.h"

static void midpoint(djCoefficients* c, double h, const djOption* option) {
  const double theta = option->theta;
  c->velocity[0][DJ_SOURCE_STAGE] = 2 / h;
  c->accel[0][DJ_SOURCE_STAGE] = 2 / (theta * (h * h));
  c->accel[0][DJ_SOURCE_VELOCITY] = -1 / (theta * h);
  c->turns = true;
  c->position[DJ_SOURCE_STAGE] = 2;
  c->end[DJ_SOURCE_STAGE] = 2 / (theta * h);
  c->end[DJ_SOURCE_VELOCITY] = -(1 - theta) / theta;
}

const djMethod dj_midpoint = {.name = "midpoint",
                              .kind = DJ_LDU,
                              .nstage = 1,
                              .mass = true,
                              .spins = true,
                              .within = true,
                              .substitute = &dj_position,
                              .coefficients = midpoint,
                              .begin = dj_beginInverse,
                              .evaluate = dj_evaluateInverse,
                              .linearize = dj_linearizeInverse,
                              .params = dj_inverseStageParams};
