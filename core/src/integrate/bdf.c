// Backward differentiation on inverse dynamics, r = ID(q+, v+, a+) - forces.
//
// bdf1, the implicit Euler method (DiffHand eq. 3-5): v+ = log(q^-1 q+)/h,  a+ = (v+ - v)/h.
//
// bdf2 (eq. 10-11), d+ = log(q^-1 q+), d = log(q-^-1 q):
//   v+ = (3 d+ - d)/(2 h),  a+ = (3 v+ - 4 v + v-)/(2 h).
//
// Its start, SDIRK2 (eq. 6-9): with alpha = 1 - 1/sqrt 2, stage a is bdf1 over alpha h, then
//   v+ = (d+ - (1-alpha) h v_a)/(alpha h),  a+ = (v+ - v - (1-alpha) h a_a)/(alpha h).
//
// Both are of second order as long as forces are those of a stage's end (`prompt`, force/motion.h)
// and smooth in time. Of first order are contact that is lagged, with friction, damping or recovery
// (docs/contact.md) and a jump of what acts between two steps, as of ctrl, of which bdf2 misses
// the velocity h (a_before - a_after)/2; SDIRK2 does not. Activations within the rounded corners
// of their clamps, which act once a step, are of none.

#include "integrate/inverse.h"

#include <math.h>
#include <string.h>

static void bdf1(djCoefficients* c, double h, const djOption* option) {
  (void)option;
  c->velocity[0][DJ_SOURCE_STAGE] = 1 / h;
  c->accel[0][DJ_SOURCE_STAGE] = 1 / (h * h);
  c->accel[0][DJ_SOURCE_VELOCITY] = -1 / h;
  c->end[DJ_SOURCE_STAGE] = 1 / h;
}

static void bdf2(djCoefficients* c, double h, const djOption* option) {
  (void)option;
  c->velocity[0][DJ_SOURCE_STAGE] = 1.5 / h;
  c->velocity[0][DJ_SOURCE_BEFORE] = -0.5 / h;
  for (int k = 0; k < DJ_NSOURCE; k++) c->accel[0][k] = 1.5 / h * c->velocity[0][k];
  c->accel[0][DJ_SOURCE_VELOCITY] = -2 / h;
  c->accel[0][DJ_SOURCE_VELOCITY_BEFORE] = 0.5 / h;
  memcpy(c->end, c->velocity[0], sizeof c->end);
  c->time[0] = h;
}

static void sdirk2(djCoefficients* c, double h, const djOption* option) {
  (void)option;
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
  c->time[0] = t;
  c->time[1] = h;
}

const djMethod dj_bdf1 = {.name = "bdf1",
                          .kind = DJ_LDU,
                          .nstage = 1,
                          .mass = true,
                          .path_rates = true,
                          .substitute = &dj_position,
                          .coefficients = bdf1,
                          .begin = dj_beginInverse,
                          .evaluate = dj_evaluateInverse,
                          .linearize = dj_linearizeInverse,
                          .params = dj_inverseStageParams};

static const djMethod start = {.name = "sdirk2",
                               .kind = DJ_LDU,
                               .nstage = 2,
                               .mass = true,
                               .path_rates = true,
                               .prompt = true,
                               .coefficients = sdirk2,
                               .begin = dj_beginInverse,
                               .evaluate = dj_evaluateInverse,
                               .linearize = dj_linearizeInverse,
                               .params = dj_inverseStageParams};

const djMethod dj_bdf2 = {.name = "bdf2",
                          .kind = DJ_LDU,
                          .nstage = 1,
                          .mass = true,
                          .path_rates = true,
                          .prompt = true,
                          .history = true,
                          .starter = &start,
                          .substitute = &start,
                          .coefficients = bdf2,
                          .begin = dj_beginInverse,
                          .evaluate = dj_evaluateInverse,
                          .linearize = dj_linearizeInverse,
                          .params = dj_inverseStageParams};
