// Limited-memory BFGS with bounds: L-BFGS-B 3.0 by reverse communication. A run works on
// y = (x - x0)/radius and on the loss by its slope there, x0 being where it starts, so that its
// first step, along the gradient, has the length `radius`. Where the loss is not defined, a bowl
// about the best point takes its place, which turns the line search back.
//
// Losses of contact have jumps and kinks, and what is lowest is often their edge: no step along the
// gradient, however short, leads on from there. Then runs start from points beside the best one,
// though the loss is higher there: at random, at distances that are a part of the way so far, and
// every second time the lowest of a few, for some edges are those of cliffs.

#include "math/blas.h"
#include "optimize/lbfgsb_fortran.h"
#include "optimize/run.h"

#include <dijoco/check.h>

#include <limits.h>
#include <math.h>
#include <string.h>

enum {
  CANDIDATES = 4,          // of which one is the start
  SHORT_SEARCH = 8,        // evaluations in a line search that are few
  LONG_SEARCH = 20         // the same of L-BFGS-B, which then forgets what it knew
};
// Of what was gained before: by more a run led on; by less in each of two iterations it is left.
static const double LED = 1e-3, STALLED = 5e-4;

typedef struct djLbfgs {
  djRun* run;
  int m;                 // stored pairs
  double radius;         // of this run
  double scale;          // what the loss is multiplied by
  double* first;         // (n) where all began
  double *from, *slope;  // (n) x0 and the gradient there
  double level;          // the best loss as it was set up
  double* before;        // (n) the last iterate
  double *y, *g;         // (n)
  double *lower, *upper; // (n) of y
  double *wa, dsave[29];
  int *nbd, *iwa, lsave[4], isave[44];   // nbd (n): 0 none, 1 lower, 2 both, 3 upper bound
  char task[DJ_SETULB_TEXT], csave[DJ_SETULB_TEXT];
  double loss;           // where it was last asked for
  bool defined;          // whether there is one
  int search;            // evaluations in a line search, at most; 0: as L-BFGS-B has it
  double iterate, gain;  // the last iterate's loss, and by how much the one before had more
  int stalled;           // iterations in a row that hardly gained
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
  double** list[] = {&l->first, &l->from, &l->slope, &l->before,
                     &l->y,     &l->g,    &l->lower, &l->upper};
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

// Start a run from x0.
static void begin(djLbfgs* l) {
  static const int kind[2][2] = {{0, 3}, {1, 2}};
  const djRun* run = l->run;
  double size = 0;
  for (int i = 0; i < run->n; i++) {
    size += l->slope[i] * l->slope[i];
    l->before[i] = run->x[i];
    l->y[i] = 0;
    l->lower[i] = (run->set.lower[i] - l->from[i]) / l->radius;
    l->upper[i] = (run->set.upper[i] - l->from[i]) / l->radius;
    l->nbd[i] = kind[isfinite(l->lower[i])][isfinite(l->upper[i])];
  }
  l->iterate = INFINITY;
  l->stalled = 0;
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

// Loss and gradient at run->trial; the best point is kept.
static djStatus evaluateTrial(djLbfgs* l) {
  djRun* run = l->run;
  double loss = NAN;
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
  return DJ_OK;
}

// The same at y, and scaled.
static djStatus evaluateAt(djLbfgs* l) {
  placeTrial(l);
  djStatus status = evaluateTrial(l);
  for (int i = 0; i < l->run->n; i++) l->g[i] = l->scale * l->radius * l->run->trial_grad[i];
  return status;
}

// The iterate is where the loss was last asked for. False: the optimisation ends there.
static bool endIteration(djLbfgs* l) {
  djRun* run = l->run;
  double norm = dj_stepLength(run->trial, l->before, run->n);
  memcpy(l->before, run->trial, (size_t)run->n * sizeof *l->before);
  run->result->iterations++;
  double least = STALLED * (run->result->first_loss - run->loss);
  l->gain = l->iterate - l->loss;
  l->stalled = l->gain < least ? l->stalled + 1 : 0;
  l->iterate = l->loss;
  return dj_endIteration(run, l->loss, norm, run->trial, run->trial_grad);
}

// Only runs before the first from beside the best point look for edges.
static bool mayRestart(const djLbfgs* l) {
  return l->run->optimizer->restarts > 0 && l->run->result->restarts == 0;
}

// run->trial: the best point and a step along the projected gradient's opposite, which is expected
// to lower the loss by `fall`. The length of that gradient's square.
static double stepDown(djRun* run, double fall) {
  double size = 0;
  for (int pass = 0; pass < 2; pass++) {
    double t = size > 0 ? fall / size : 0;
    for (int i = 0; i < run->n; i++) {
      double x = run->x[i], g = run->grad[i];
      bool held = g > 0 ? x <= run->set.lower[i] : x >= run->set.upper[i];
      run->trial[i] = held ? x : fmin(fmax(x - t * g, run->set.lower[i]), run->set.upper[i]);
      if (pass == 0 && !held) size += g * g;
    }
  }
  return size;
}

// Whether the loss rises from the best point on, though its gradient says that it falls by so much:
// what it lies above the tangent by shrinks at a kink like the step, at a jump not at all, and else
// like the step's square, so to a sixteenth. These losses are looked at only: where there is no edge
// all goes on as if they had not been. *falls: the loss does fall by half of that, at least.
static djStatus findEdge(bool* edge, bool* falls, djRun* run, double fall) {
  double above[2];
  *edge = *falls = false;
  for (int k = 0; k < 2; k++, fall /= 4) {
    double loss = NAN;
    if (!(stepDown(run, fall) > 0) || fall == 0) return DJ_OK;
    djStatus status =
        run->problem->objective(run->problem->user, &loss, run->trial_grad, run->trial);
    run->result->evaluations++;
    if (status == DJ_NO_MEMORY) return status;
    *falls |= status >= 0 && loss < run->loss - fall / 2;
    if (status < 0 || !(loss > run->loss)) return DJ_OK;
    above[k] = loss - run->loss + fall;
  }
  *edge = above[0] < 8 * above[1];
  return DJ_OK;
}

// Whether the line search is given up: after few evaluations in runs from beside the best point.
// Else where that is at an edge, before the last evaluation that L-BFGS-B takes, or after few of
// them where the last iteration hardly gained; and there, too, where a small step along the
// gradient gains more than that one: its memory of jumps misleads it, and the next run has none.
static djStatus leaveSearch(bool* leave, djLbfgs* l) {
  const djRun* run = l->run;
  int n = l->isave[35];
  *leave = l->search > 0 && n >= l->search;
  bool look = n == LONG_SEARCH || (n == SHORT_SEARCH && l->stalled > 0);
  if (l->search > 0 || !look || run->optimizer->restarts == 0) return DJ_OK;
  bool falls;
  double fall = 1e-8 * fabs(run->loss);
  djStatus status = findEdge(leave, &falls, l->run, fall);
  *leave |= falls && l->stalled > 0 && l->gain < fall / 2;
  return status;
}

// One run from x0, to where L-BFGS-B ends, or to an iterate without a loss.
static djStatus runOnce(djLbfgs* l) {
  const double zero = 0;
  const int silent = -1;
  double f = 0;
  bool leave = false;
  begin(l);
  for (;;) {
    dj_beginLapack();
    dj_setulb(&l->run->n, &l->m, l->y, l->lower, l->upper, l->nbd, &f, l->g, &zero, &zero, l->wa,
              l->iwa, l->task, &silent, l->csave, l->lsave, l->isave, l->dsave, sizeof l->task,
              sizeof l->csave);
    dj_endLapack();
    if (isTask(l, "FG")) {
      djStatus status = leaveSearch(&leave, l);
      if (status < 0 || leave) return status;
      status = evaluateAt(l);
      if (status < 0) return status;
      f = l->scale * l->loss;
    } else if (isTask(l, "NEW_X") && l->defined) {
      l->ended = !endIteration(l);
      if (l->ended || (l->search > 0 && l->stalled > 1)) return DJ_OK;
    } else {
      return DJ_OK;
    }
  }
}

// The next run starts from the best point.
static void fromBest(djLbfgs* l) {
  size_t size = (size_t)l->run->n * sizeof *l->from;
  memcpy(l->from, l->run->x, size);
  memcpy(l->slope, l->run->grad, size);
  l->radius = l->run->optimizer->radius;
  l->search = 0;
  l->level = l->run->loss;
}

// ---- at jumps and kinks -----------------------------------------------------------------------

// run->trial: a point beside x, which `draw` tells.
static void placeBeside(djRun* run, const double* x, double distance, unsigned long draw) {
  double size = 0;
  for (int i = 0; i < run->n; i++) {
    run->trial[i] = 2 * djd_random(draw, 0, (unsigned long)i) - 1;
    size += run->trial[i] * run->trial[i];
  }
  for (int i = 0; i < run->n; i++) {
    double to = x[i] + distance / sqrt(size) * run->trial[i];
    run->trial[i] = fmin(fmax(to, run->set.lower[i]), run->set.upper[i]);
  }
}

// The next run starts beside the best point; `tried` runs before did in vain.
static djStatus fromBeside(djLbfgs* l, int tried) {
  static const double part[] = {0.1, 0.03, 0.3, 0.01};
  djRun* run = l->run;
  size_t size = (size_t)run->n * sizeof *l->from;
  double way = fmax(dj_stepLength(run->x, l->first, run->n), run->optimizer->radius);
  double distance = way * part[tried / 2 % (int)(sizeof part / sizeof *part)], least = INFINITY;
  unsigned long draw = CANDIDATES * (unsigned long)run->result->restarts++;
  fromBest(l);
  memcpy(l->before, run->x, size);
  for (unsigned long k = draw; k < draw + (tried % 2 ? CANDIDATES : 1); k++) {
    placeBeside(run, l->before, distance, k);
    djStatus status = evaluateTrial(l);
    if (status < 0) return status;
    if (!l->defined || l->loss >= least) continue;
    least = l->loss;
    memcpy(l->from, run->trial, size);
    memcpy(l->slope, run->trial_grad, size);
  }
  l->radius = distance;
  l->search = SHORT_SEARCH;
  return DJ_OK;
}

// ---- all runs ---------------------------------------------------------------------------------

// Where the next run starts; *tried counts those from beside the best point that led nowhere. The
// last of all goes from the best point as far as L-BFGS-B can. *more: there is one.
static djStatus startNext(bool* more, int* tried, djLbfgs* l) {
  djRun* run = l->run;
  int most = run->optimizer->restarts;
  double gain = l->level - run->loss;
  bool led = gain > LED * (run->result->first_loss - l->level), edge = l->search > 0;
  if (edge) {
    *tried = led ? 0 : *tried + 1;
  } else if (mayRestart(l)) {
    double fall = led ? 0 : 16 * gain;
    bool falls;
    djStatus status = findEdge(&edge, &falls, run, fmax(1e-8 * fabs(run->loss), fall));
    if (status < 0) return status;
  }
  *more = edge || (run->result->restarts == 0 && gain > 1e-12 * fabs(l->level));
  if (edge && *tried < most) return fromBeside(l, *tried);
  fromBest(l);
  return DJ_OK;
}

// A run ends early at times: another one is started as long as that helps. Where a new start along
// the gradient lowers nothing, the loss cannot show what remains of it.
static djStatus runLbfgsb(djRun* run) {
  djLbfgs l = {0};
  if (run->n == 0) {
    run->result->stop = DJ_STOP_STUCK;
    return DJ_OK;
  }
  djStatus status = allocate(&l, run);
  if (status < 0) return status;
  memcpy(l.first, run->x, (size_t)run->n * sizeof *l.first);
  fromBest(&l);
  int refused = 0, tried = 0;
  for (bool more = true; more;) {
    refused = run->result->refused;
    status = runOnce(&l);
    if (status < 0 || l.ended) return status < 0 ? status : DJ_OK;
    status = startNext(&more, &tried, &l);
    if (status < 0) return status;
  }
  bool flat = run->result->iterations > 0 && run->result->refused == refused;
  run->result->stop = flat ? DJ_STOP_GRADIENT : DJ_STOP_STUCK;
  return DJ_OK;
}

const djOptimizerRow dj_optimizerLbfgsb = {
    {.name = "lbfgsb", .unit = "",
     .help = "limited-memory BFGS with bounds (L-BFGS-B 3.0); takes no connections",
     .key = (const djKey[]){{.name = "radius"}, {.name = "memory"}, {.name = "restarts"}, {0}}},
    .run = runLbfgsb};
