// The terms of a loss along a run: each at the states where it counts. A relative term also depends
// on the state where its target is measured.

#ifndef DJ_GRADIENT_LOSS_RUN_H_
#define DJ_GRADIENT_LOSS_RUN_H_

#include "gradient/loss.h"

typedef struct djLossRun {
  djLossWork work;
  const djModel* model;
  const djData* data;
  const djRollout* rollout;
  double* reference; // (nloss x 3) targets of relative terms, once they are measured
  double* pull;      // (nloss x 3) derivative by them, of the states so far
  double* scratch;   // (nbody x 12)
} djLossRun;

// What a backward pass adds to; NULL: not asked for.
typedef struct djLossSums {
  double* lambda; // (nv of q, nv of v) adjoint of the state
  double* ctrl;   // (horizon x nu)
  double* param;  // dj_paramGradSize
} djLossSums;

// Numbers of reference and pull together: 0 where no term is relative.
size_t dj_lossReferences(const djRollout* rollout);

// Zero pulls.
void dj_beginPulls(const djLossRun* run);

// Measure the targets that state k is for.
void dj_noteReferences(djLossRun* run, const double* qpos, const double* qvel, int k);

// Term i with its target.
djLossTerm dj_termOf(const djRollout* rollout, const double* reference, int i);

// Adds the terms at state k >= 1 to sum and term (nloss, or NULL). An error names the one that is
// not finite.
djStatus dj_addRunLoss(long double* sum, double* term, djLossRun* run, const double* qpos,
                       const double* qvel, int k, djError* err);

// Adds their derivatives at state k >= 0; from the last to the first.
void dj_addRunGradient(const djLossSums* sums, djLossRun* run, const double* qpos,
                       const double* qvel, int k);

// The same of one residual.
void dj_addResidualGradient(const djLossSums* sums, djLossRun* run, const double* qpos,
                            const double* qvel, int k, const djResidual* one);

#endif // DJ_GRADIENT_LOSS_RUN_H_
