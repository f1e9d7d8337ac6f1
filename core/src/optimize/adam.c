// Adam (Kingma and Ba 2015), each step projected on the constraints:
//   m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
//   x+ = P(x - rate m/(1 - b1^k) / (sqrt(v/(1 - b2^k)) + eps)).
// Where the loss is not defined at x+, the step is halved.

#include "optimize/run.h"

#include <math.h>
#include <string.h>

enum { CUTS = 30 };

djStatus dj_runAdam(djRun* run) {
  const djOptimizer* o = run->optimizer;
  size_t n = (size_t)run->n;
  double* moment = dj_poolTake(&run->pool, 3 * n, sizeof *moment);
  if (!moment) return DJ_NO_MEMORY;
  double *square = moment + n, *step = square + n, power1 = 1, power2 = 1;
  for (bool more = true; more;) {
    power1 *= o->beta1;
    power2 *= o->beta2;
    for (size_t i = 0; i < n; i++) {
      double g = run->grad[i];
      moment[i] = o->beta1 * moment[i] + (1 - o->beta1) * g;
      square[i] = o->beta2 * square[i] + (1 - o->beta2) * g * g;
      step[i] = -o->rate * (moment[i] / (1 - power1)) /
                (sqrt(square[i] / (1 - power2)) + o->epsilon);
    }
    djStatus status = DJ_INVALID;
    double loss = NAN, scale = 1;
    for (int cut = 0; cut < CUTS && status < 0; cut++, scale /= 2) {
      for (size_t i = 0; i < n; i++) run->trial[i] = run->x[i] + scale * step[i];
      status = dj_project(run->trial, &run->set, run->trial);
      if (status == DJ_OK) status = dj_evaluateRun(run, &loss, run->grad, run->trial);
      if (status == DJ_NO_MEMORY) return status;
    }
    if (status < 0) {
      run->result->stop = DJ_STOP_STUCK;
      return DJ_OK;
    }
    double norm = dj_stepLength(run->trial, run->x, run->n);
    memcpy(run->x, run->trial, n * sizeof *run->x);
    run->result->iterations++;
    more = dj_endIteration(run, loss, norm, run->x, run->grad);
  }
  return DJ_OK;
}
