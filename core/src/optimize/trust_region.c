// SDRS eq. 15: the step that lowers the linearised loss most among those that keep the constraints
// and stay within a ball,
//   min g.d  over  x + d in C, |d| <= r  (a ball for each of the two groups of entries).
// For the multiplier 1/u of the ball the minimiser is d(u) = P_C(x - u g) - x, whose length grows
// with u, piece by piece nearly as a straight line: u is found by false position, and by bisection
// where that does not halve its interval. C is convex and x in C, so that shortening d keeps it
// feasible.
//
// The paper steps by a fixed r for ever: so does the direction `gradient`. So does the first phase
// of the others, with the running mean of the gradient (Adam's first moment) as g, or minus Adam's
// step (`adam`), which carries the design across the kinks and narrow valleys of losses with
// contact: losses may rise on the way. After some steps without a new best point it
// goes back to that one with half the radius, and after some of these the second phase begins,
// which settles down: g is the gradient, a step is taken only where it lowers the loss, r is halved
// where the loss falls by less than a quarter of g.d, and doubled again where by more than three
// quarters.

#include "optimize/moments.h"

#include <math.h>
#include <string.h>

enum { PATIENCE = 8, RETURNS = 4 };  // steps without a new best point; returns to it
enum { GROUPS = 2, DOUBLINGS = 60, PLATEAU = 6, TRIALS = 90, SWEEPS = 3 };
#define EXACT 1e-12   // relative, of u and of the step's length

static int groupOf(const djRun* run, int i) {
  return run->problem->group ? run->problem->group[i] : 0;
}

// d = P(x - u g) - x, u by group; returns its length in a group.
static double stepOf(double* d, djRun* run, const double* g, const double u[GROUPS], int group) {
  double sum = 0;
  for (int i = 0; i < run->n; i++) d[i] = run->x[i] - u[groupOf(run, i)] * g[i];
  if (dj_project(d, &run->set, d) < 0) return NAN;
  for (int i = 0; i < run->n; i++) {
    d[i] -= run->x[i];
    if (groupOf(run, i) == group) sum += d[i] * d[i];
  }
  return sqrt(sum);
}

// A side of the interval of u, and by how much the step is longer than the radius there.
typedef struct djSide {
  double u, excess;
} djSide;

// u[group] between two sides, the lower one with a step that is too short. False position by Illinois'
// rule: a side that stays has its excess halved.
static void closeIn(double u[GROUPS], double* d, djRun* run, const double* g, int group,
                    double radius, djSide low, djSide high) {
  double width = high.u - low.u;
  int stayed = 0;   // > 0: the lower side did last time
  for (int k = 0; k < TRIALS && high.u - low.u > EXACT * high.u; k++) {
    double at = (low.u * high.excess - high.u * low.excess) / (high.excess - low.excess);
    if (k % 3 == 2) {
      if (high.u - low.u > width / 2 || !isfinite(at)) at = (low.u + high.u) / 2;
      width = high.u - low.u;
    }
    if (!(at > low.u && at < high.u)) at = (low.u + high.u) / 2;
    u[group] = at;
    double excess = stepOf(d, run, g, u, group) - radius;
    if (fabs(excess) <= EXACT * radius) return;
    if (excess < 0) {
      low = (djSide){at, excess};
      if (stayed < 0) high.excess /= 2;
      stayed = -1;
    } else {
      high = (djSide){at, excess};
      if (stayed > 0) low.excess /= 2;
      stayed = 1;
    }
  }
  u[group] = low.u;
}

// u[group] such that the step is as long as the radius, or as long as the constraints allow. By
// blocks a point far outside is projected inexactly: doubling ends where it changes nothing.
static void fitGroup(double u[GROUPS], double* d, djRun* run, const double* g, int group,
                     double radius) {
  double size = 0;
  for (int i = 0; i < run->n; i++) {
    if (groupOf(run, i) == group) size += g[i] * g[i];
  }
  u[group] = 0;
  if (size == 0) return;
  djSide low = {0, -radius}, high = {radius / sqrt(size), NAN};
  double before = 0;
  for (int k = 0, same = 0; k < DOUBLINGS && same < PLATEAU; k++) {
    u[group] = high.u;
    double length = stepOf(d, run, g, u, group);
    high.excess = length - radius;
    if (!(length < radius * (1 - EXACT))) break;
    bool grew = length > before * (1 + EXACT) || run->set.nblock == 0;
    if (grew) low = high;
    same = grew ? 0 : same + 1;
    before = length;
    high.u *= 2;
    if (same == PLATEAU) high = low;
  }
  if (fabs(high.excess) <= EXACT * radius) u[group] = high.u;
  else if (high.excess < 0) u[group] = low.u;
  else closeIn(u, d, run, g, group, radius, low, high);
}

// d (n); false when there is none.
static bool findStep(double* d, djRun* run, const double* g, const double radius[GROUPS]) {
  double u[GROUPS] = {0, 0};
  int sweeps = run->set.couples ? SWEEPS : 1;
  for (int s = 0; s < sweeps; s++) {
    for (int k = 0; k < GROUPS; k++) fitGroup(u, d, run, g, k, radius[k]);
  }
  double scale = 1;
  for (int k = 0; k < GROUPS; k++) {
    double length = stepOf(d, run, g, u, k);
    if (!isfinite(length)) return false;
    if (length > radius[k]) scale = fmin(scale, radius[k] / length);
  }
  bool moved = false;
  for (int i = 0; i < run->n; i++) {
    d[i] *= scale;
    moved = moved || d[i] != 0;
  }
  return moved;
}

static void radiusOf(double radius[GROUPS], const djRun* run) {
  const djOptimizer* o = run->optimizer;
  radius[0] = o->radius;
  radius[1] = o->control_radius > 0 ? o->control_radius : o->radius;
}

// ---- first phase

typedef struct djTravel {
  double* step;        // (n)
  double* best_grad;   // (n) at run->best
  djAdam adam;         // its moment: the running mean of the gradient, whose length is of no matter
  double shrink;       // of the radii
} djTravel;

// What the next step goes down; its length is of no matter.
static const double* aim(djRun* run, djTravel* t, const double radius[GROUPS]) {
  double *g = t->adam.moment, beta = run->optimizer->beta1;
  if (run->optimizer->direction == DJ_DIRECTION_GRADIENT) return run->grad;
  if (run->optimizer->direction == DJ_DIRECTION_ADAM) {
    dj_stepAdam(&t->adam, run, fmin(radius[0], radius[1]));
    for (int i = 0; i < run->n; i++) t->adam.step[i] = -t->adam.step[i];
    return t->adam.step;
  }
  for (int i = 0; i < run->n; i++) g[i] = beta * g[i] + (1 - beta) * run->grad[i];
  return g;
}

// Takes the step, or the part of it at whose end the loss is defined.
static djStatus travelStep(bool* taken, double* norm, djRun* run, djTravel* t) {
  double radius[GROUPS], loss = NAN;
  radiusOf(radius, run);
  for (int k = 0; k < GROUPS; k++) radius[k] *= t->shrink;
  *taken = false;
  if (!findStep(t->step, run, aim(run, t, radius), radius)) return DJ_OK;
  djStatus status = dj_evaluateAlong(&loss, run, t->step, false);
  if (status < 0) return status == DJ_NO_MEMORY ? status : DJ_OK;
  *norm = dj_stepLength(run->trial, run->x, run->n);
  memcpy(run->x, run->trial, (size_t)run->n * sizeof *run->x);
  memcpy(run->grad, run->trial_grad, (size_t)run->n * sizeof *run->grad);
  run->loss = loss;
  *taken = true;
  return DJ_OK;
}

// Back to the best point.
static void goBack(djRun* run, djTravel* t) {
  size_t size = (size_t)run->n * sizeof(double);
  memcpy(run->x, run->best, size);
  memcpy(run->grad, t->best_grad, size);
  dj_forgetAdam(&t->adam, run->n);
  run->loss = run->result->loss;
}

// *more: iterations are left.
static djStatus travel(bool* more, djRun* run, djTravel* t) {
  size_t size = (size_t)run->n * sizeof(double);
  memcpy(t->best_grad, run->grad, size);
  for (int returns = 0, waited = 0; *more && returns < RETURNS;) {
    bool taken;
    double norm = 0, best = run->result->loss;
    djStatus status = travelStep(&taken, &norm, run, t);
    if (status < 0) return status;
    if (taken) {
      run->result->iterations++;
      *more = dj_endIteration(run, run->loss, norm, run->x, run->grad);
    }
    bool better = run->result->loss < best;
    if (better) memcpy(t->best_grad, run->grad, size);
    waited = better ? 0 : waited + 1;
    if (*more && (!taken || waited >= PATIENCE)) {
      goBack(run, t);
      if (!taken && dj_renewHere(run)) memcpy(t->best_grad, run->grad, size);
      t->shrink /= 2;
      returns++;
      waited = 0;
    }
  }
  if (*more) goBack(run, t);
  return DJ_OK;
}

// Full steps down the gradient, as long as there are any.
static djStatus march(djRun* run, djTravel* t) {
  for (bool more = true; more;) {
    bool taken;
    double norm = 0;
    djStatus status = travelStep(&taken, &norm, run, t);
    if (status < 0) return status;
    if (!taken && dj_renewHere(run)) continue;
    if (!taken) {
      run->result->stop = DJ_STOP_STUCK;
      return DJ_OK;
    }
    run->result->iterations++;
    more = dj_endIteration(run, run->loss, norm, run->x, run->grad);
  }
  return DJ_OK;
}

// ---- second phase

// One accepted step; none is left otherwise, and *flat tells whether that is for rounding: then the
// loss cannot show what remains of the gradient.
static djStatus takeStep(bool* taken, bool* flat, double* norm, djRun* run, double* d,
                         double* shrink) {
  double first[GROUPS];
  radiusOf(first, run);
  *taken = *flat = false;
  for (; *shrink > 1e-12; *shrink /= 4) {
    const double radius[GROUPS] = {*shrink * first[0], *shrink * first[1]};
    double predicted = 0, loss = NAN;
    *flat = true;
    if (!findStep(d, run, run->grad, radius)) return DJ_OK;
    for (int i = 0; i < run->n; i++) {
      run->trial[i] = run->x[i] + d[i];
      predicted -= run->grad[i] * d[i];
    }
    if (!(predicted > 0)) return DJ_OK;
    *flat = predicted < 1e-14 * fabs(run->loss);
    djStatus status = dj_evaluateRun(run, &loss, run->trial_grad, run->trial);
    if (status == DJ_NO_MEMORY) return status;
    if (status < 0 || !(loss < run->loss)) {
      if (*flat) return DJ_OK;
      continue;
    }
    double ratio = (run->loss - loss) / predicted;
    if (ratio < 0.25) *shrink /= 2;
    else if (ratio > 0.75) *shrink = fmin(1, 2 * *shrink);
    *norm = dj_stepLength(run->trial, run->x, run->n);
    memcpy(run->x, run->trial, (size_t)run->n * sizeof *run->x);
    memcpy(run->grad, run->trial_grad, (size_t)run->n * sizeof *run->grad);
    run->loss = loss;
    *taken = true;
    return DJ_OK;
  }
  return DJ_OK;
}

static djStatus settle(djRun* run, double* d, double shrink) {
  const double first = shrink;
  run->compares = true;
  for (bool more = true; more;) {
    bool taken, flat;
    double norm = 0;
    djStatus status = takeStep(&taken, &flat, &norm, run, d, &shrink);
    if (status < 0) return status;
    if (!taken && !flat && dj_renewHere(run)) {
      shrink = first;
      continue;
    }
    if (!taken) {
      run->result->stop = flat ? DJ_STOP_GRADIENT : DJ_STOP_STUCK;
      run->result->gradient_norm = dj_projectedGradient(run, run->x, run->grad);
      return DJ_OK;
    }
    run->result->iterations++;
    more = dj_endIteration(run, run->loss, norm, run->x, run->grad);
  }
  return DJ_OK;
}

static djStatus runTrustRegion(djRun* run) {
  djTravel t = {.step = dj_poolTake(&run->pool, (size_t)run->n, sizeof(double)),
                .best_grad = dj_poolTake(&run->pool, (size_t)run->n, sizeof(double)),
                .shrink = 1};
  if (!t.step || !t.best_grad || dj_makeAdam(&t.adam, run) < 0) return DJ_NO_MEMORY;
  if (run->optimizer->direction == DJ_DIRECTION_GRADIENT) return march(run, &t);
  bool more = true;
  djStatus status = travel(&more, run, &t);
  return status < 0 || !more ? status : settle(run, t.step, t.shrink);
}

const djOptimizerRow dj_optimizerTrustRegion = {
    {.name = "trust_region", .unit = "",
     .help = "the least linearised loss within a ball and the constraints (SDRS eq. 15), one ball "
             "for parameters and one for controls and start; with the mean gradient (or Adam's "
             "step) at first, and steps that may raise the loss, later settling down with "
             "shrinking balls; with the direction `gradient` full steps for ever",
     .key = (const djKey[]){{.name = "direction"}, {.name = "radius"}, {.name = "control_radius"},
                            {.name = "beta1"}, {.name = "beta2"}, {.name = "epsilon"}, {0}}},
    .equations = true, .renews = true, .run = runTrustRegion};
