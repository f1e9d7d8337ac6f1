// Adam (Kingma and Ba 2015), each step projected on the constraints:
//   m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
//   x+ = P(x - rate m/(1 - b1^k) / (sqrt(v/(1 - b2^k)) + eps)).
// With normalize = 1, g is divided by its length: v otherwise remembers a gradient that has been
// 1e5 times as long for 33 iterations with b2 = .5 (2 lg 1e5/lg 2), and steps vanish meanwhile. So
// it is with tails of contact once the contact itself is lost. Then eps has the unit of 1.
// With equations g is first projected too, (x - P(x - t g))/t with a small t: scaling by v would
// otherwise move the point where nothing changes any more.
// Where the loss is not defined at x+, the step is halved; where no part of it is allowed, the
// moments are forgotten.

#include "optimize/moments.h"

#include <math.h>
#include <string.h>

djStatus dj_makeAdam(djAdam* a, djRun* run) {
  size_t n = (size_t)run->n;
  double* memory = dj_poolTake(&run->pool, 3 * n, sizeof *memory);
  if (!memory) return DJ_NO_MEMORY;
  *a = (djAdam){memory, memory + n, memory + 2 * n, 1, 1};
  return DJ_OK;
}

// The gradient that Adam sees, in run->trial.
static void seenGradient(djRun* run, double rate) {
  double* g = run->trial;
  memcpy(g, run->grad, (size_t)run->n * sizeof *g);
  if (run->set.nequal == 0) return;
  double most = 0;
  for (int i = 0; i < run->n; i++) most = fmax(most, fabs(run->grad[i]));
  double t = most > 0 ? rate / most : 1;
  for (int i = 0; i < run->n; i++) g[i] = run->x[i] - t * run->grad[i];
  if (dj_project(g, &run->set, g) < 0) return;
  for (int i = 0; i < run->n; i++) g[i] = (run->x[i] - g[i]) / t;
}

// By the largest entry first: squares of the entries may not be numbers.
static void divideByLength(double* g, int n) {
  double most = 0, square = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(g[i]));
  if (!(most > 0)) return;
  for (int i = 0; i < n; i++) square += (g[i] / most) * (g[i] / most);
  for (int i = 0; i < n; i++) g[i] = g[i] / most / sqrt(square);
}

void dj_stepAdam(djAdam* a, djRun* run, double rate) {
  const djOptimizer* o = run->optimizer;
  seenGradient(run, rate);
  if (o->normalize) divideByLength(run->trial, run->n);
  a->power1 *= o->beta1;
  a->power2 *= o->beta2;
  for (int i = 0; i < run->n; i++) {
    double g = run->trial[i];
    a->moment[i] = o->beta1 * a->moment[i] + (1 - o->beta1) * g;
    a->square[i] = o->beta2 * a->square[i] + (1 - o->beta2) * g * g;
    a->step[i] = -rate * (a->moment[i] / (1 - a->power1)) /
                 (sqrt(a->square[i] / (1 - a->power2)) + o->epsilon);
  }
}

void dj_forgetAdam(djAdam* a, int n) {
  memset(a->moment, 0, (size_t)n * sizeof *a->moment);
  memset(a->square, 0, (size_t)n * sizeof *a->square);
  a->power1 = a->power2 = 1;
}

static djStatus runAdam(djRun* run) {
  size_t n = (size_t)run->n;
  djAdam a;
  if (dj_makeAdam(&a, run) < 0) return DJ_NO_MEMORY;
  for (bool more = true, fresh = true; more;) {
    double loss = NAN;
    dj_stepAdam(&a, run, run->optimizer->rate);
    dj_beginIteration(run);
    djStatus status = dj_evaluateAlong(&loss, run, a.step, true);
    if (status == DJ_NO_MEMORY) return status;
    if (status < 0 && fresh && !dj_renewHere(run)) {
      run->result->stop = DJ_STOP_STUCK;
      return DJ_OK;
    }
    fresh = status < 0;
    if (fresh) {
      dj_forgetAdam(&a, run->n);
      continue;
    }
    double norm = dj_stepLength(run->trial, run->x, run->n);
    memcpy(run->x, run->trial, n * sizeof *run->x);
    memcpy(run->grad, run->trial_grad, n * sizeof *run->grad);
    run->result->iterations++;
    more = dj_endIteration(run, loss, norm, run->x, run->grad);
  }
  return DJ_OK;
}

const djOptimizerRow dj_optimizerAdam = {
    {.name = "adam", .unit = "",
     .help = "first and second moments of the gradient; steps are projected on bounds and "
             "connections",
     .key = (const djKey[]){{.name = "rate"}, {.name = "beta1"}, {.name = "beta2"},
                            {.name = "epsilon"}, {.name = "normalize"}, {0}}},
    .equations = true, .changes = true, .renews = true, .run = runAdam};
