#include "optimize/run.h"

#include "base/status.h"

#include <math.h>
#include <string.h>

enum { CUTS = 30 };   // of a step
// Of a loss: what it falls by hardly falls at all.
static const double LITTLE = 1e-3;
// Of a loss: a jump that is told to first order.
static const double SMALL_JUMP = 1e-3;

double dj_stepLength(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

static bool allFinite(const double* v, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(v[i])) return false;
  }
  return true;
}

// Of equal losses the first counts, so that a plan that gets there is kept (a receding horizon that
// takes up another one each time never does); but the last while the loss has been flat, for there
// gradients of what is to come lead on.
djStatus dj_evaluateRun(djRun* run, double* loss, double* grad, const double* x) {
  const djOptimizeProblem* p = run->problem;
  djOptimizeResult* r = run->result;
  djStatus status = p->objective(p->user, loss, grad, x);
  r->evaluations++;
  if (status >= 0 && (!isfinite(*loss) || (grad && !allFinite(grad, run->n)))) status = DJ_INVALID;
  if (status < 0) {
    r->refused++;
    return status;
  }
  run->varied |= isfinite(r->loss) && *loss != r->loss;
  if (*loss < r->loss || (*loss == r->loss && !run->varied)) {
    r->loss = *loss;
    r->best_iteration = -1;  // of the iteration that is under way
    if (run->n > 0) memcpy(run->best, x, (size_t)run->n * sizeof *x);
  }
  return DJ_OK;
}

djStatus dj_evaluateAlong(double* loss, djRun* run, const double* step, bool project) {
  djStatus status = DJ_INVALID;
  double part = 1;
  for (int cut = 0; cut < CUTS && status < 0; cut++, part /= 2) {
    for (int i = 0; i < run->n; i++) run->trial[i] = run->x[i] + part * step[i];
    status = project ? dj_project(run->trial, &run->set, run->trial) : DJ_OK;
    if (status == DJ_OK) status = dj_evaluateRun(run, loss, run->trial_grad, run->trial);
    if (status == DJ_NO_MEMORY) return status;
  }
  return status;
}

bool dj_renewHere(djRun* run) {
  const djOptimizeProblem* p = run->problem;
  const size_t size = (size_t)run->n * sizeof *run->x;
  double loss = run->loss;
  if (!p->renew || !run->renews || !p->renew(p->renew_user, &loss, run->x)) return false;
  run->result->renewals++;
  run->result->evaluations++;
  const djStatus status = p->objective(p->user, &loss, run->trial_grad, run->x);
  if (status < 0 || !isfinite(loss) || !allFinite(run->trial_grad, run->n)) return false;
  run->loss = loss;
  if (run->n > 0) memcpy(run->grad, run->trial_grad, size);
  if (run->n == 0 || memcmp(run->best, run->x, size) == 0) run->result->loss = loss;
  return true;
}

double dj_projectedGradient(djRun* run, const double* x, const double* grad) {
  double most = 0;
  for (int i = 0; i < run->n; i++) run->scratch[i] = x[i] - grad[i];
  if (dj_project(run->scratch, &run->set, run->scratch) < 0) return NAN;
  for (int i = 0; i < run->n; i++) most = fmax(most, fabs(x[i] - run->scratch[i]));
  return most;
}

void dj_beginIteration(djRun* run) {
  const djOptimizeProblem* p = run->problem;
  if (p->change && p->change(p->change_user, run->result->iterations + 1)) {
    run->result->loss = INFINITY;
    run->varied = false;
  }
}

// Has the best loss hardly fallen for so many iterations?
static bool isOutOfPatience(djRun* run) {
  int k = run->result->iterations, n = run->optimizer->patience;
  if (!run->past) return false;
  double now = run->result->loss, *then = &run->past[k % n];
  bool ends = k >= n && !(*then - now > LITTLE * fabs(*then));
  *then = now;
  return ends;
}

// The objective may become another one; where x is the best, its loss is that one's. That is known
// to first order, which will do for what is told; not for losses that are compared, nor where it is
// much.
static void renew(djRun* run, djOptimizeStep* step) {
  const djOptimizeProblem* p = run->problem;
  djOptimizeResult* r = run->result;
  double loss = step->loss;
  if (!p->renew || !run->renews || !p->renew(p->renew_user, &loss, step->x)) return;
  if (run->compares || !(fabs(loss - step->loss) <= SMALL_JUMP * fabs(step->loss))) {
    djStatus status = p->objective(p->user, &loss, NULL, step->x);
    r->evaluations++;
    if (status < 0 || !isfinite(loss)) return;
  }
  step->jump = loss - step->loss;
  r->renewals++;
  r->largest_jump = fmax(r->largest_jump, fabs(step->jump));
  run->loss = loss;
  if (memcmp(run->best, step->x, (size_t)run->n * sizeof *run->best) == 0) r->loss = loss;
}

bool dj_endIteration(djRun* run, double loss, double step_norm, const double* x,
                     const double* grad) {
  const djOptimizer* o = run->optimizer;
  djOptimizeResult* r = run->result;
  djOptimizeStep step = {.iteration = r->iterations, .loss = loss, .step_norm = step_norm,
                         .gradient_norm = NAN, .best_loss = r->loss, .x = x};
  if (grad) r->gradient_norm = step.gradient_norm = dj_projectedGradient(run, x, grad);
  if (r->best_iteration < 0) r->best_iteration = r->iterations;
  renew(run, &step);
  // A loss that still changes has other minima to come.
  bool changing = run->problem->change && r->iterations < o->iterations, stop = true;
  bool tired = isOutOfPatience(run);
  if (run->problem->callback && !run->problem->callback(run->problem->callback_user, &step)) {
    r->stop = DJ_STOP_CALLBACK;
  } else if (!changing && step.gradient_norm <= o->gradient_tolerance) {
    r->stop = DJ_STOP_GRADIENT;
  } else if (!changing && r->iterations > 0 && o->step_tolerance > 0 &&
             step_norm <= o->step_tolerance) {
    r->stop = DJ_STOP_STEP;
  } else if (r->iterations >= o->iterations) {
    r->stop = DJ_STOP_ITERATIONS;
  } else if (!changing && tired) {
    r->stop = DJ_STOP_PATIENCE;
  } else {
    stop = false;
  }
  return !stop;
}

djStatus dj_iterate(djRun* run, djTakeStep* take, void* user) {
  for (bool more = true; more;) {
    bool taken, flat;
    double norm = 0;
    djStatus status = take(&taken, &flat, &norm, user);
    if (status < 0) return status;
    if (!taken) {
      run->result->stop = flat ? DJ_STOP_GRADIENT : DJ_STOP_STUCK;
      return DJ_OK;
    }
    run->result->iterations++;
    more = dj_endIteration(run, run->loss, norm, run->x, run->grad);
  }
  return DJ_OK;
}
