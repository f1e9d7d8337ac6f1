// Limited-memory BFGS with bounds: L-BFGS-B 3.0 by reverse communication. A run works on
// y = (x - x0)/radius and on the loss by its slope there, x0 being where it starts, so that its
// first step, along the gradient, has the length `radius`. Where the loss is not defined, a bowl
// about the best point takes its place, which turns the line search back.

#include "math/blas.h"
#include "optimize/lbfgsb_fortran.h"
#include "optimize/run.h"

#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct djLbfgs {
  djRun* run;
  int m;                 // stored pairs
  double radius;         // of this run
  double scale;          // what the loss is multiplied by
  double* from;          // (n) x0
  double* before;        // (n) the last iterate
  double *y, *g;         // (n)
  double *lower, *upper; // (n) of y
  double *wa, dsave[29];
  int *nbd, *iwa, lsave[4], isave[44];   // nbd (n): 0 none, 1 lower, 2 both, 3 upper bound
  char task[DJ_SETULB_TEXT], csave[DJ_SETULB_TEXT];
  double loss;           // where it was last asked for
  bool defined;          // whether there is one
  bool ended;            // the whole optimisation
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

// Memory for all runs. It counts in Fortran's integers, and pairs beyond the iterations are of no
// use.
static djStatus allocate(djLbfgs* l, djRun* run) {
  const djOptimizer* o = run->optimizer;
  int m = o->memory < o->iterations ? o->memory : o->iterations;
  double size = 2.0 * m * run->n + 5.0 * run->n + 11.0 * m * m + 8.0 * m;
  if (size > INT_MAX) return DJ_NO_MEMORY;
  l->run = run;
  l->m = m;
  size_t n = (size_t)run->n;
  double** list[] = {&l->from, &l->before, &l->y, &l->g, &l->lower, &l->upper};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    *list[i] = dj_poolTake(&run->pool, n, sizeof(double));
    if (!*list[i]) return DJ_NO_MEMORY;
  }
  l->wa = dj_poolTake(&run->pool, (size_t)size, sizeof(double));
  l->iwa = dj_poolTake(&run->pool, 3 * n, sizeof(int));
  l->nbd = dj_poolTake(&run->pool, n, sizeof(int));
  return l->wa && l->iwa && l->nbd ? DJ_OK : DJ_NO_MEMORY;
}

static void setTask(djLbfgs* l, const char* text) {
  memset(l->task, ' ', sizeof l->task);
  memcpy(l->task, text, strlen(text));
}

static bool isTask(const djLbfgs* l, const char* text) {
  return memcmp(l->task, text, strlen(text)) == 0;
}

// Start a run from the best point.
static void begin(djLbfgs* l) {
  static const int kind[2][2] = {{0, 3}, {1, 2}};
  const djRun* run = l->run;
  double size = 0;
  for (int i = 0; i < run->n; i++) {
    size += run->grad[i] * run->grad[i];
    l->from[i] = l->before[i] = run->x[i];
    l->y[i] = 0;
    l->lower[i] = (run->set.lower[i] - run->x[i]) / l->radius;
    l->upper[i] = (run->set.upper[i] - run->x[i]) / l->radius;
    l->nbd[i] = kind[isfinite(l->lower[i])][isfinite(l->upper[i])];
  }
  l->scale = size > 0 ? 1 / (l->radius * sqrt(size)) : 1;
  l->defined = true;
  setTask(l, "START");
}

// x at y, in the bounds to the last bit.
static void placeTrial(djLbfgs* l) {
  djRun* run = l->run;
  for (int i = 0; i < run->n; i++) {
    double x = l->from[i] + l->radius * l->y[i];
    run->trial[i] = fmin(fmax(x, run->set.lower[i]), run->set.upper[i]);
  }
}

// Loss and gradient at y; the best point is kept.
static djStatus evaluateAt(djLbfgs* l) {
  djRun* run = l->run;
  double loss = NAN;
  placeTrial(l);
  djStatus status = dj_evaluateRun(run, &loss, run->trial_grad, run->trial);
  if (status == DJ_NO_MEMORY) return status;
  l->defined = status >= 0;
  if (!l->defined) {
    loss = dj_bowl(run->trial_grad, run, run->trial);
  } else if (loss < run->loss) {
    memcpy(run->x, run->trial, (size_t)run->n * sizeof *run->x);
    memcpy(run->grad, run->trial_grad, (size_t)run->n * sizeof *run->grad);
    run->loss = loss;
  }
  l->loss = loss;
  for (int i = 0; i < run->n; i++) l->g[i] = l->scale * l->radius * run->trial_grad[i];
  return DJ_OK;
}

// The iterate is where the loss was last asked for. False: the optimisation ends there.
static bool endIteration(djLbfgs* l) {
  djRun* run = l->run;
  double norm = dj_stepLength(run->trial, l->before, run->n);
  memcpy(l->before, run->trial, (size_t)run->n * sizeof *l->before);
  run->result->iterations++;
  return dj_endIteration(run, l->loss, norm, run->trial, run->trial_grad);
}

// One run from the best point, to where L-BFGS-B ends, or to an iterate without a loss.
static djStatus runOnce(djLbfgs* l) {
  const double zero = 0;
  const int silent = -1;
  double f = 0;
  begin(l);
  for (;;) {
    dj_beginLapack();
    dj_setulb(&l->run->n, &l->m, l->y, l->lower, l->upper, l->nbd, &f, l->g, &zero, &zero, l->wa,
              l->iwa, l->task, &silent, l->csave, l->lsave, l->isave, l->dsave, sizeof l->task,
              sizeof l->csave);
    dj_endLapack();
    if (isTask(l, "FG")) {
      djStatus status = evaluateAt(l);
      if (status < 0) return status;
      f = l->scale * l->loss;
    } else if (isTask(l, "NEW_X") && l->defined) {
      l->ended = !endIteration(l);
      if (l->ended) return DJ_OK;
    } else {
      return DJ_OK;
    }
  }
}

// A run ends early at times (its line search, at a kink): another one is started as long as that
// helps. Where a new start along the gradient lowers nothing, the loss cannot show what remains of
// it.
static djStatus runLbfgsb(djRun* run) {
  djLbfgs l = {.radius = run->optimizer->radius};
  if (run->n == 0) {
    run->result->stop = DJ_STOP_STUCK;
    return DJ_OK;
  }
  djStatus status = allocate(&l, run);
  if (status < 0) return status;
  int refused = 0;
  for (bool more = true; more && !l.ended;) {
    double before = run->loss;
    refused = run->result->refused;
    status = runOnce(&l);
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
     .help = "limited-memory BFGS with bounds (L-BFGS-B 3.0); takes no connections",
     .key = (const djKey[]){{.name = "radius"}, {.name = "memory"}, {0}}},
    .run = runLbfgsb};
