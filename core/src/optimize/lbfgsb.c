// Limited-memory BFGS with bounds, by NLopt (Luksan's). NLopt reports evaluations, not iterations:
// an iteration is an evaluation that lowers the loss. The loss is scaled so that the first step,
// along the gradient, has the length `radius`. Where the loss is not defined, a bowl about the best
// point takes its place, which turns the line search back.

#include "optimize/run.h"

#include <math.h>
#include <nlopt.h>
#include <string.h>

enum { EVALUATIONS = 50 };  // per iteration, at most

typedef struct djLbfgs {
  djRun* run;
  nlopt_opt opt;
  double scale;
  bool ended;
  djStatus status;
} djLbfgs;

double dj_bowl(double* grad, const djRun* run, const double* x) {
  double steep = 1 + fabs(run->loss), sum = 0;
  for (int i = 0; i < run->n; i++) {
    double d = x[i] - run->x[i];
    sum += d * d;
    grad[i] = 2 * steep * d;
  }
  return run->loss + steep * sum;
}

static double objective(unsigned n, const double* x, double* grad, void* user) {
  djLbfgs* l = user;
  djRun* run = l->run;
  if (l->ended) return HUGE_VAL;   // NLopt finishes its line search
  double loss = NAN;
  djStatus status = dj_evaluateRun(run, &loss, run->trial_grad, x);
  if (status == DJ_NO_MEMORY) {
    l->status = status;
    l->ended = true;
    nlopt_force_stop(l->opt);
  }
  const double* from = run->trial_grad;
  if (status < 0) {
    loss = dj_bowl(run->trial_grad, run, x);
  } else if (loss < run->loss) {
    double norm = dj_stepLength(x, run->x, run->n);
    memcpy(run->x, x, n * sizeof *x);
    memcpy(run->grad, run->trial_grad, n * sizeof *x);
    run->loss = loss;
    run->result->iterations++;
    if (!dj_endIteration(run, loss, norm, run->x, run->grad)) {
      l->ended = true;
      nlopt_force_stop(l->opt);
    }
  }
  for (unsigned i = 0; i < n && grad; i++) grad[i] = l->scale * from[i];
  return l->scale * loss;
}

static bool prepare(djLbfgs* l) {
  djRun* run = l->run;
  l->opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)run->n);
  return l->opt && nlopt_set_min_objective(l->opt, objective, l) > 0 &&
         nlopt_set_lower_bounds(l->opt, run->set.lower) > 0 &&
         nlopt_set_upper_bounds(l->opt, run->set.upper) > 0 &&
         nlopt_set_vector_storage(l->opt, (unsigned)run->optimizer->memory) > 0;
}

// One run from the present iterate.
static djStatus runOnce(djLbfgs* l) {
  djRun* run = l->run;
  double value = 0, size = 0;
  for (int i = 0; i < run->n; i++) size += run->grad[i] * run->grad[i];
  l->scale = size > 0 ? run->optimizer->radius / sqrt(size) : 1;
  if (!prepare(l)) {
    if (l->opt) nlopt_destroy(l->opt);
    return DJ_NO_MEMORY;
  }
  int left = run->optimizer->iterations - run->result->iterations;
  nlopt_set_maxeval(l->opt, left < 1000000 ? EVALUATIONS * left : 0);
  memcpy(run->trial, run->x, (size_t)run->n * sizeof *run->x);
  nlopt_result result = nlopt_optimize(l->opt, run->trial, &value);
  nlopt_destroy(l->opt);
  l->opt = NULL;
  return result == NLOPT_OUT_OF_MEMORY ? DJ_NO_MEMORY : l->status;
}

// NLopt gives up early at times (its line search, after a kink): it is started anew as long as that
// helps. Where a new start along the gradient lowers nothing, the loss cannot show what remains of
// it.
static djStatus runLbfgsb(djRun* run) {
  djLbfgs l = {.run = run};
  int refused = 0;
  for (bool more = run->n > 0; more && !l.ended;) {
    double before = run->loss;
    refused = run->result->refused;
    djStatus status = runOnce(&l);
    if (status < 0) return status;
    more = before - run->loss > 1e-12 * fabs(before);
  }
  if (l.ended) return DJ_OK;
  bool flat = run->result->iterations > 0 && run->result->refused == refused;
  run->result->stop = flat ? DJ_STOP_GRADIENT : DJ_STOP_STUCK;
  return DJ_OK;
}

const djOptimizerRow dj_optimizerLbfgsb = {
    {.name = "lbfgsb", .unit = "",
     .help = "limited-memory BFGS with bounds (NLopt); takes no connections",
     .key = (const djKey[]){{.name = "radius"}, {.name = "memory"}, {0}}},
    false, runLbfgsb};
