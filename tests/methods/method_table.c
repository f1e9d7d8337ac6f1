// A table of methods in the place of the library's, for tests of what the library's own methods do
// not have: a history and two stages.
//
// In the place of bdf1: a method of two steps, written against the table alone, BDF2 with bdf1 as
// its starter,
//   v+ = (3 psi - d)/(2 h),  a+ = (3 v+ - 4 v + v-)/(2 h),  history (d, v-).

#include "integrate/inverse.h"
#include "integrate/method.h"

#include <math.h>
#include <string.h>

static void bdf2(djCoefficients* c, double h) {
  enum { V = DJ_SOURCE_VELOCITY, D = DJ_SOURCE_HISTORY, OLD, PSI = DJ_SOURCE_STAGE };
  c->velocity[0][PSI] = 1.5 / h;
  c->velocity[0][D] = -0.5 / h;
  for (int k = 0; k < DJ_NSOURCE; k++) c->accel[0][k] = 1.5 / h * c->velocity[0][k];
  c->accel[0][V] = -2 / h;
  c->accel[0][OLD] = 0.5 / h;
  memcpy(c->end, c->velocity[0], sizeof c->end);
  c->history[0][PSI] = 1;
  c->history[1][V] = 1;
}

static const djMethod twoStep = {.name = "two_step",
                                 .kind = DJ_LDU,
                                 .nstage = 1,
                                 .mass = true,
                                 .nhistory = 2,
                                 .starter = &dj_bdf1,
                                 .coefficients = bdf2,
                                 .begin = dj_beginInverse,
                                 .evaluate = dj_evaluateInverse,
                                 .linearize = dj_linearizeInverse,
                                 .params = dj_inverseStageParams};

// Two stages: SDIRK2 (DiffHand eq. 6-9), alpha = 1 - 1/sqrt 2. The first is bdf1 over alpha h, with
// v_a and a_a; then v+ = (psi - (1-alpha) h v_a)/(alpha h), a+ = (v+ - v - (1-alpha) h a_a)/(alpha
// h).
static void stages(djCoefficients* c, double h) {
  enum { V = DJ_SOURCE_VELOCITY, A = DJ_SOURCE_STAGE, B };
  double alpha = 1 - sqrt(0.5), t = alpha * h, rest = (1 - alpha) * h;
  c->velocity[0][A] = 1 / t;
  c->accel[0][A] = 1 / (t * t);
  c->accel[0][V] = -1 / t;
  c->velocity[1][B] = 1 / t;
  c->velocity[1][A] = -rest / (t * t);
  for (int k = 0; k < DJ_NSOURCE; k++) {
    c->accel[1][k] = (c->velocity[1][k] - rest * c->accel[0][k]) / t;
  }
  c->accel[1][V] -= 1 / t;
  memcpy(c->end, c->velocity[1], sizeof c->end);
}

static const djMethod twoStages = {.name = "two_stages",
                                   .kind = DJ_LDU,
                                   .nstage = 2,
                                   .mass = true,
                                   .coefficients = stages,
                                   .begin = dj_beginInverse,
                                   .evaluate = dj_evaluateInverse,
                                   .linearize = dj_linearizeInverse,
                                   .params = dj_inverseStageParams};

const djMethod* dj_method(djIntegrator integrator) {
  if (integrator == DJ_BDF1) return &twoStep;
  if (integrator == DJ_MIDPOINT) return &twoStages;
  return integrator == DJ_POSITION ? &dj_position : integrator == DJ_VARIATIONAL ? &dj_variational
                                                                                 : NULL;
}
