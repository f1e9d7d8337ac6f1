#include "base/status.h"
#include "model/setting.h"
#include "optimize/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const djOptimizerRow* const table[] = {
#define X(name) &dj_optimizer##name,
    DJ_OPTIMIZERS(X)
#undef X
};
enum { NROW = sizeof table / sizeof table[0] };

const djEntry* dj_optimizerEntry(int i) { return i >= 0 && i < NROW ? &table[i]->entry : NULL; }

static const djOptimizerRow* findRow(const char* type) {
  for (int i = 0; type && i < NROW; i++) {
    if (strcmp(table[i]->entry.name, type) == 0) return table[i];
  }
  return NULL;
}

static djStatus failType(const char* type, djError* err) {
  char what[320];
  snprintf(what, sizeof what, "unknown optimizer '%.100s'", type ? type : "");
  for (int i = 0; i < NROW; i++) {
    dj_expectName(what, sizeof what, table[i]->entry.name, i == 0);
  }
  return dj_fail(err, DJ_INVALID, "%s", what);
}

djStatus dj_setOptimizerType(djOptimizer* o, const char* type, djError* err) {
  if (!o) return dj_fail(err, DJ_INVALID, "optimizer: NULL");
  const djOptimizerRow* row = findRow(type);
  if (!row) return failType(type, err);
  o->type = row->entry.name;
  return DJ_OK;
}

bool dj_isOptimizer(const char* type) { return findRow(type) != NULL; }

double dj_stepLength(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

// ---- record -----------------------------------------------------------------------------------

static bool allFinite(const double* v, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(v[i])) return false;
  }
  return true;
}

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
  if (*loss < r->loss) {
    r->loss = *loss;
    r->best_iteration = -1;  // of the iteration that is under way
    if (run->n > 0) memcpy(run->best, x, (size_t)run->n * sizeof *x);
  }
  return DJ_OK;
}

double dj_projectedGradient(djRun* run, const double* x, const double* grad) {
  double most = 0;
  for (int i = 0; i < run->n; i++) run->scratch[i] = x[i] - grad[i];
  if (dj_project(run->scratch, &run->set, run->scratch) < 0) return NAN;
  for (int i = 0; i < run->n; i++) most = fmax(most, fabs(x[i] - run->scratch[i]));
  return most;
}

bool dj_endIteration(djRun* run, double loss, double step_norm, const double* x,
                     const double* grad) {
  const djOptimizer* o = run->optimizer;
  djOptimizeResult* r = run->result;
  djOptimizeStep step = {.iteration = r->iterations, .loss = loss, .step_norm = step_norm,
                         .gradient_norm = NAN, .best_loss = r->loss, .x = x};
  if (grad) r->gradient_norm = step.gradient_norm = dj_projectedGradient(run, x, grad);
  if (r->best_iteration < 0) r->best_iteration = r->iterations;
  bool stop = true;
  if (run->problem->callback && !run->problem->callback(run->problem->callback_user, &step)) {
    r->stop = DJ_STOP_CALLBACK;
  } else if (step.gradient_norm <= o->gradient_tolerance) {
    r->stop = DJ_STOP_GRADIENT;
  } else if (r->iterations > 0 && o->step_tolerance > 0 && step_norm <= o->step_tolerance) {
    r->stop = DJ_STOP_STEP;
  } else if (r->iterations >= o->iterations) {
    r->stop = DJ_STOP_ITERATIONS;
  } else {
    stop = false;
  }
  return !stop;
}

// ---- start ------------------------------------------------------------------------------------

static djStatus checkOptimizer(const djOptimizer* o, const djOptimizeProblem* p, djError* err) {
  const djOptimizerRow* row = findRow(o->type);
  if (!row) return failType(o->type, err);
  if (p->nequal > 0 && !row->equations) {
    return dj_fail(err, DJ_UNSUPPORTED, "%s takes no equations", row->entry.name);
  }
  const djSetting* key;
  for (int i = 0; (key = dj_optimizerKey(i)); i++) {
    djProblemText what;
    double value;
    dj_readRow(&value, o, key);
    const char* problem = dj_rowProblem(&what, key, &value, false);
    if (!problem) continue;
    return dj_fail(err, DJ_INVALID, "%s: %s: %s", row->entry.name, key->name, problem);
  }
  return DJ_OK;
}

static djStatus checkProblem(const djOptimizeProblem* p, const double* x, djError* err) {
  if (p->n < 0 || p->nequal < 0) return dj_fail(err, DJ_INVALID, "n: negative");
  if (!p->objective) return dj_fail(err, DJ_INVALID, "objective: NULL");
  if (p->nequal > 0 && (!p->equal || !p->value)) {
    return dj_fail(err, DJ_INVALID, "equations: NULL");
  }
  for (int i = 0; i < p->n; i++) {
    if (!isfinite(x[i])) return dj_fail(err, DJ_INVALID, "x[%d] is not finite", i);
    double low = p->lower ? p->lower[i] : -INFINITY, high = p->upper ? p->upper[i] : INFINITY;
    if (!(low <= high) || low == INFINITY || high == -INFINITY) {
      return dj_fail(err, DJ_INVALID, "bounds of x[%d] contradict each other", i);
    }
    if (p->group && p->group[i] != 0 && p->group[i] != 1) {
      return dj_fail(err, DJ_INVALID, "group of x[%d] is not 0 or 1", i);
    }
  }
  return DJ_OK;
}

static djStatus makeRun(djRun* run, djError* err) {
  const djOptimizeProblem* p = run->problem;
  size_t n = (size_t)p->n, m = (size_t)p->nequal;
  double *lower, *upper;
  struct {
    double** array;
    size_t n;
  } list[] = {{&run->x, n}, {&run->grad, n}, {&run->trial, n}, {&run->trial_grad, n},
              {&run->best, n}, {&run->scratch, n}, {&run->set.x, n}, {&lower, n}, {&upper, n},
              {&run->set.y, m}, {&run->set.ytry, m}, {&run->set.residual, m},
              {&run->set.H, m * m}, {&run->set.L, m * m},
              {&run->set.free, m < DJ_MANY_EQUATIONS ? 0 : m * n}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    *list[i].array = dj_poolTake(&run->pool, list[i].n, sizeof(double));
    if (!*list[i].array) return dj_failMemory(err);
  }
  for (size_t i = 0; i < n; i++) {
    lower[i] = p->lower ? p->lower[i] : -INFINITY;
    upper[i] = p->upper ? p->upper[i] : INFINITY;
  }
  run->n = p->n;
  run->set.n = p->n;
  run->set.nequal = p->nequal;
  run->set.lower = lower;
  run->set.upper = upper;
  run->set.equal = p->equal;
  run->set.value = p->value;
  return DJ_OK;
}

static djStatus optimize(djRun* run, double* x, djError* err) {
  djOptimizeResult* r = run->result;
  djStatus status = makeRun(run, err);
  if (status < 0) return status;
  if (dj_project(run->x, &run->set, x) < 0) {
    return dj_fail(err, DJ_INVALID, "bounds and equations contradict each other");
  }
  status = dj_evaluateRun(run, &run->loss, run->grad, run->x);
  if (status < 0) return dj_fail(err, status, "the loss is not defined at the start");
  r->first_loss = run->loss;
  if (dj_endIteration(run, run->loss, 0, run->x, run->grad)) {
    status = findRow(run->optimizer->type)->run(run);
    if (status == DJ_NO_MEMORY) return dj_failMemory(err);
  }
  if (x && run->n > 0) memcpy(x, run->best, (size_t)run->n * sizeof *x);
  if (r->best_iteration < 0) r->best_iteration = r->iterations;
  return r->stop == DJ_STOP_STUCK ? DJ_NOT_CONVERGED : DJ_OK;
}

djStatus dj_optimize(djOptimizeResult* result, double* x, const djOptimizeProblem* problem,
                     const djOptimizer* optimizer, djError* err) {
  if (!result || !problem || !optimizer || (!x && problem->n > 0)) {
    return dj_fail(err, DJ_INVALID, "result, x, problem or optimizer: NULL");
  }
  *result = (djOptimizeResult){.loss = INFINITY, .gradient_norm = NAN};
  djStatus status = checkOptimizer(optimizer, problem, err);
  if (status == DJ_OK) status = checkProblem(problem, x, err);
  if (status < 0) return status;
  djRun run = {.problem = problem, .optimizer = optimizer, .result = result};
  status = optimize(&run, x, err);
  dj_poolFree(&run.pool);
  return status;
}
