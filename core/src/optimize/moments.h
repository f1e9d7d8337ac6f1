// Adam's moments of the gradient.

#ifndef DJ_OPTIMIZE_MOMENTS_H_
#define DJ_OPTIMIZE_MOMENTS_H_

#include "optimize/run.h"

typedef struct djAdam {
  double* moment;        // (n) m
  double* square;        // (n) v
  double* step;          // (n)
  double power1, power2; // b1^k, b2^k
} djAdam;

// From the run's pool, as if nothing had been seen.
djStatus dj_makeAdam(djAdam* adam, djRun* run);

// Adam's step for the run's gradient, which the moments have seen then. Overwrites run->trial.
void dj_stepAdam(djAdam* adam, djRun* run, double rate);

void dj_forgetAdam(djAdam* adam, int n);

#endif // DJ_OPTIMIZE_MOMENTS_H_
