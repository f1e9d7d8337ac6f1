#include "base/status.h"
#include "model/setting.h"
#include "optimize/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- start ------------------------------------------------------------------------------------

static djStatus checkOptimizer(const djOptimizer* o, const djOptimizeProblem* p, djError* err) {
  const djOptimizerRow* row = dj_findOptimizer(o->type);
  if (!row) return dj_failOptimizer(o->type, err);
  if (row->residuals && !p->residuals) {
    return dj_fail(err, DJ_UNSUPPORTED, "%s needs a loss that is a sum of squares%s%s",
                   row->entry.name, p->no_residuals ? ": " : "",
                   p->no_residuals ? p->no_residuals : "");
  }
  if (p->nequal > 0 && !row->equations) {
    return dj_fail(err, DJ_UNSUPPORTED, "%s takes no equations", row->entry.name);
  }
  if (p->change && !row->changes) {
    return dj_fail(err, DJ_UNSUPPORTED, "%s takes no losses that change with the iterations",
                   row->entry.name);
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

static djStatus checkEquations(const djOptimizeProblem* p, djError* err) {
  const int* start = p->equal_start;
  if (p->nequal == 0) return DJ_OK;
  if (!p->equal || !p->value || (start && !p->equal_index)) {
    return dj_fail(err, DJ_INVALID, "equations: NULL");
  }
  for (int r = 0; start && r < p->nequal; r++) {
    bool good = start[0] == 0 && start[r] <= start[r + 1];
    for (int k = start[r]; good && k < start[r + 1]; k++) {
      int before = k > start[r] ? p->equal_index[k - 1] : -1;
      good = p->equal_index[k] > before && p->equal_index[k] < p->n;
    }
    if (!good) return dj_fail(err, DJ_INVALID, "equation %d: bad entries", r);
  }
  return DJ_OK;
}

static djStatus checkProblem(const djOptimizeProblem* p, const double* x, djError* err) {
  if (p->n < 0 || p->nequal < 0) return dj_fail(err, DJ_INVALID, "n: negative");
  if (!p->objective) return dj_fail(err, DJ_INVALID, "objective: NULL");
  if (p->residuals && p->nresidual < 0) return dj_fail(err, DJ_INVALID, "nresidual: negative");
  djStatus status = checkEquations(p, err);
  if (status < 0) return status;
  for (int i = 0; i < p->n && x; i++) {
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
  size_t n = (size_t)p->n;
  double *lower, *upper;
  struct {
    double** array;
    size_t n;
  } list[] = {{&run->x, n}, {&run->grad, n}, {&run->trial, n}, {&run->trial_grad, n},
              {&run->best, n}, {&run->scratch, n}, {&lower, n}, {&upper, n}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    *list[i].array = dj_poolTake(&run->pool, list[i].n, sizeof(double));
    if (!*list[i].array) return dj_failMemory(err);
  }
  for (size_t i = 0; i < n; i++) {
    lower[i] = p->lower ? p->lower[i] : -INFINITY;
    upper[i] = p->upper ? p->upper[i] : INFINITY;
  }
  run->n = p->n;
  int patience = run->optimizer->patience;
  if (patience > 0 && patience <= run->optimizer->iterations) {   // else it never ends a run
    run->past = dj_poolTake(&run->pool, (size_t)patience, sizeof *run->past);
    if (!run->past) return dj_failMemory(err);
  }
  djEquations q = {p->n, p->nequal, p->equal_start, p->equal_index, p->equal, p->value};
  djStatus status = DJ_OK;
  if (p->nequal > 0 && !p->equal_start) {
    status = dj_sparseEquations(&q, &run->pool, p->n, p->nequal, p->equal, p->value);
  }
  if (status == DJ_OK) {
    status = dj_makeFeasible(&run->set, &run->pool, lower, upper, &q, p->group);
  }
  return status < 0 ? dj_failMemory(err) : DJ_OK;
}

static djStatus optimize(djRun* run, double* x, djError* err) {
  djOptimizeResult* r = run->result;
  djStatus status = makeRun(run, err);
  if (status < 0) return status;
  if (dj_project(run->x, &run->set, x) < 0) {
    r->contradiction = run->set.failed;
    return dj_fail(err, DJ_INVALID, "bounds and equations contradict each other");
  }
  if (run->problem->change) run->problem->change(run->problem->change_user, 0);
  status = dj_evaluateRun(run, &run->loss, run->grad, run->x);
  if (status < 0) return dj_fail(err, status, "the loss is not defined at the start");
  r->first_loss = run->loss;
  if (dj_endIteration(run, run->loss, 0, run->x, run->grad)) {
    status = dj_findOptimizer(run->optimizer->type)->run(run);
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
  *result = (djOptimizeResult){.loss = INFINITY, .gradient_norm = NAN, .contradiction = -1};
  djStatus status = checkOptimizer(optimizer, problem, err);
  if (status == DJ_OK) status = checkProblem(problem, x, err);
  if (status < 0) return status;
  djRun run = {.problem = problem, .optimizer = optimizer, .result = result,
               .renews = dj_findOptimizer(optimizer->type)->renews};
  status = optimize(&run, x, err);
  dj_poolFree(&run.pool);
  return status;
}
