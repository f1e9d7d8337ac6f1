// Terms of a loss and their derivatives by state and control.

#ifndef DJ_GRADIENT_LOSS_H_
#define DJ_GRADIENT_LOSS_H_

#include "model/kinematics.h"

#include <dijoco/gradient.h>

// Scratch of loss evaluations: kinematics at one state.
typedef struct djLossWork {
  djKin kin;
  djVec3* ref;       // (nbody)
  double* wrench;    // (nbody x 6)
  const unsigned char* wants;   // (nbody) parameters asked for, see djConfig
} djLossWork;

size_t dj_lossWorkSize(const djModel* model);      // bytes
djLossWork dj_initLossWork(const djModel* model, void* memory);

// Kinematics at a state, for the functions below.
void dj_beginLoss(djLossWork* work, const djModel* model, const djData* data, const double* qpos);

// Value of a term from the square of what it measures, and the derivative by that square: itself,
// or the root of a norm, beyond the tolerance. Where a norm is 0 its derivative counts as 0.
long double dj_lossOfSquare(const djLossTerm* term, long double square);
double dj_lossBySquare(const djLossTerm* term, long double square);

// Value of a term (not effort) at the state of dj_beginLoss, without weight.
long double dj_lossValue(djLossWork* work, const djModel* model, const djLossTerm* term,
                         const double* qpos, const double* qvel);

// Derivative of factor * that value by what the term measures; false: it is 0, for the tolerance.
bool dj_lossSlope(djVec3* by, djLossWork* work, const djModel* model, const djLossTerm* term,
                  const double* qpos, const double* qvel, double factor);

// A term (not effort, no norm) as a sum of squares, factor (not negative) times it: residuals r (3),
// and the derivative of each by what the term measures, for the two functions below. Returns how
// many: 1 or 3.
int dj_lossResiduals(double r[3], djVec3 by[3], djLossWork* work, const djModel* model,
                     const djLossTerm* term, const double* qpos, const double* qvel,
                     double factor);

// From the derivative by what the term measures: dq (nv), dv (nv) += that by the state; param
// (dj_paramGradSize) += that by the model's parameters, scratch: nbody x 12.
void dj_pushLoss(double* dq, double* dv, djLossWork* work, const djModel* model,
                 const djLossTerm* term, const double* qpos, const double* qvel, djVec3 by);
void dj_pushLossParams(double* param, djLossWork* work, const djModel* model,
                       const djLossTerm* term, const double* qpos, const double* qvel, djVec3 by,
                       double* scratch);

// Factor of a term at state k (1..horizon), or at control row k - 1 for effort; 0: not there.
double dj_lossFactor(const djModel* model, const djLossTerm* term, int k, int horizon);

// One residual of a run: of a term at a state 1..horizon, or of effort's row `step - 1`.
typedef struct djResidual {
  int term, step;
  int component;     // effort: which control
  djVec3 by;         // derivative by what the term measures; effort: by.x, by the control
} djResidual;

// djd_rolloutBackward of one residual instead of the loss. Runs with a callback have none.
djStatus dj_residualBackward(djRolloutResult* result, const djModel* model, djData* data,
                             const djRollout* rollout, djTape* tape, const djResidual* residual);

// Term of a tape's last run with the target that it had.
djLossTerm dj_tapeTerm(const djTape* tape, const djRollout* rollout, int term);

// State of a recorded run, 0..horizon.
const double* dj_tapeQpos(const djTape* tape, const djModel* model, int k);
const double* dj_tapeQvel(const djTape* tape, const djModel* model, int k);

// Loss of a tape's last forward pass before it was rounded to a double.
long double dj_tapeLoss(const djTape* tape);

// Its derivative by the moments of bodies whose mass follows geoms (nbody): of the last run, after a
// backward pass; else NULL.
const struct djQuadratic* dj_tapeMoments(const djTape* tape);

// Checks ids, weights and steps; the text names the term.
djStatus dj_checkLoss(const djModel* model, const djLossTerm* term, int nterm, int horizon,
                      djError* err);

#endif  // DJ_GRADIENT_LOSS_H_
