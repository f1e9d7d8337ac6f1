// SDRS eq. 15: the step that lowers the linearised loss most among those that keep the constraints
// and stay within a ball,
//   min g.d  over  x + d in C, |d| <= r  (a ball for each of the two groups of entries).
// For the multiplier 1/u of the ball the minimiser is d(u) = P_C(x - u g) - x, whose length grows
// with u: u is found by bisection. C is convex and x in C, so that shortening d keeps it feasible.
//
// The paper steps by a fixed r. Here a step is taken only where it lowers the loss; r is halved
// where the loss falls by less than a quarter of g.d, and doubled again, up to the given one, where
// by more than three quarters.

#include "optimize/run.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 2, DOUBLINGS = 60, PLATEAU = 6, BISECTIONS = 60, SWEEPS = 3 };

static int groupOf(const djRun* run, int i) {
  return run->problem->group ? run->problem->group[i] : 0;
}

// d = P(x - u g) - x, u by group; returns its length in a group.
static double stepOf(double* d, djRun* run, const double u[GROUPS], int group) {
  double sum = 0;
  for (int i = 0; i < run->n; i++) d[i] = run->x[i] - u[groupOf(run, i)] * run->grad[i];
  if (dj_project(d, &run->set, d) < 0) return NAN;
  for (int i = 0; i < run->n; i++) {
    d[i] -= run->x[i];
    if (groupOf(run, i) == group) sum += d[i] * d[i];
  }
  return sqrt(sum);
}

// u[group] such that the step is as long as the radius, or as long as the constraints allow. With
// equations a point far outside is projected inexactly: doubling ends where it changes nothing.
static void fitGroup(double u[GROUPS], double* d, djRun* run, int group, double radius) {
  double size = 0;
  for (int i = 0; i < run->n; i++) {
    if (groupOf(run, i) == group) size += run->grad[i] * run->grad[i];
  }
  u[group] = 0;
  if (size == 0) return;
  double low = 0, high = radius / sqrt(size), before = 0;
  for (int k = 0, same = 0; k < DOUBLINGS && same < PLATEAU; k++) {
    u[group] = high;
    double length = stepOf(d, run, u, group);
    if (!(length < radius * (1 - 1e-12))) break;
    bool grew = length > before * (1 + 1e-12) || run->set.nequal == 0;
    if (grew) low = high;
    same = grew ? 0 : same + 1;
    before = length;
    high *= 2;
    if (same == PLATEAU) high = low;
  }
  for (int k = 0; k < BISECTIONS && high - low > 1e-12 * high; k++) {
    u[group] = (low + high) / 2;
    if (stepOf(d, run, u, group) < radius) low = u[group];
    else high = u[group];
  }
  u[group] = low;
}

// d (n); false when there is none.
static bool findStep(double* d, djRun* run, const double radius[GROUPS]) {
  double u[GROUPS] = {0, 0};
  int sweeps = run->set.nequal > 0 ? SWEEPS : 1;  // only equations couple the groups
  for (int s = 0; s < sweeps; s++) {
    for (int g = 0; g < GROUPS; g++) fitGroup(u, d, run, g, radius[g]);
  }
  double scale = 1;
  for (int g = 0; g < GROUPS; g++) {
    double length = stepOf(d, run, u, g);
    if (!isfinite(length)) return false;
    if (length > radius[g]) scale = fmin(scale, radius[g] / length);
  }
  bool moved = false;
  for (int i = 0; i < run->n; i++) {
    d[i] *= scale;
    moved = moved || d[i] != 0;
  }
  return moved;
}

// One accepted step; none is left otherwise, and *flat tells whether that is for rounding: then the
// loss cannot show what remains of the gradient.
static djStatus takeStep(bool* taken, bool* flat, double* norm, djRun* run, double* d, double* shrink) {
  const djOptimizer* o = run->optimizer;
  const double first[GROUPS] = {o->radius, o->control_radius > 0 ? o->control_radius : o->radius};
  *taken = *flat = false;
  for (; *shrink > 1e-12; *shrink /= 4) {
    const double radius[GROUPS] = {*shrink * first[0], *shrink * first[1]};
    double predicted = 0, loss = NAN;
    *flat = true;
    if (!findStep(d, run, radius)) return DJ_OK;
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

djStatus dj_runTrustRegion(djRun* run) {
  double* d = dj_poolTake(&run->pool, (size_t)run->n, sizeof *d);
  if (!d) return DJ_NO_MEMORY;
  double shrink = 1;
  for (bool more = true; more;) {
    bool taken, flat;
    double norm = 0;
    djStatus status = takeStep(&taken, &flat, &norm, run, d, &shrink);
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
