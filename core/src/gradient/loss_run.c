#include "gradient/loss_run.h"

#include "base/status.h"
#include "gradient/loss_row.h"

#include <math.h>
#include <string.h>

// ---- targets of relative terms ----------------------------------------------------------------

// State at which a relative term's target is measured.
static int originOf(const djLossTerm* t) {
  bool ranges = t->when == DJ_WHEN_RUNNING || t->when == DJ_WHEN_EVERY;
  return ranges && t->from > 0 ? t->from : 0;
}

static bool isRelative(const djLossTerm* t) { return dj_lossRows[t->type].relative; }

size_t dj_lossReferences(const djRollout* r) {
  for (int i = 0; i < r->nloss; i++) {
    if (isRelative(&r->loss[i])) return 6 * (size_t)r->nloss;
  }
  return 0;
}

void dj_beginPulls(const djLossRun* run) {
  if (!run->pull) return;
  memset(run->pull, 0, 3 * (size_t)run->rollout->nloss * sizeof(double));
}

djLossTerm dj_termOf(const djRollout* r, const double* reference, int i) {
  djLossTerm t = r->loss[i];
  if (reference && isRelative(&t)) memcpy(t.target, reference + 3 * (size_t)i, 3 * sizeof(double));
  return t;
}

void dj_noteReferences(djLossRun* run, const double* qpos, const double* qvel, int k) {
  const djRollout* r = run->rollout;
  bool begun = false;
  for (int i = 0; i < r->nloss && run->reference; i++) {
    const djLossTerm* t = &r->loss[i];
    if (!isRelative(t) || originOf(t) != k) continue;
    if (!begun) dj_beginLoss(&run->work, run->model, run->data, qpos);
    begun = true;
    const djLossAt at = {&run->work, run->model, t, qpos, qvel};
    djVec3 target, x = dj_lossRows[t->type].vector(&target, &at);
    dju_store3(run->reference + 3 * (size_t)i, x);
  }
}

// ---- value ------------------------------------------------------------------------------------

// The square of the controls.
static long double effort(const djModel* m, const djRollout* r, int row) {
  long double sum = 0;
  for (int i = 0; i < m->nu; i++) {
    long double u = r->ctrl[(size_t)row * (size_t)m->nu + (size_t)i];
    sum += u * u;
  }
  return sum;
}

djStatus dj_addRunLoss(long double* sum, double* term, djLossRun* run, const double* qpos,
                       const double* qvel, int k, djError* err) {
  const djModel* m = run->model;
  const djRollout* r = run->rollout;
  bool begun = false;
  for (int i = 0; i < r->nloss; i++) {
    double factor = dj_lossFactor(m, &r->loss[i], k, r->horizon);
    long double value;
    if (factor == 0) continue;
    const djLossTerm t = dj_termOf(r, run->reference, i);
    if (t.type == DJ_LOSS_EFFORT) {
      value = factor * dj_lossOfSquare(&t, effort(m, r, k - 1));
    } else {
      if (!begun) dj_beginLoss(&run->work, m, run->data, qpos);
      begun = true;
      value = factor * dj_lossValue(&run->work, m, &t, qpos, qvel);
    }
    *sum += value;
    if (term) term[i] += (double)value;
    if (isfinite((double)*sum)) continue;
    return dj_fail(err, DJ_INVALID, "loss[%d]: is not finite at step %d", i, k);
  }
  return DJ_OK;
}

// ---- derivatives ------------------------------------------------------------------------------

static void push(const djLossSums* s, djLossRun* run, const djLossTerm* t, const double* q,
                 const double* v, djVec3 by) {
  const djModel* m = run->model;
  dj_pushLoss(s->lambda, s->lambda + m->nv, &run->work, m, t, q, v, by);
  if (s->param) dj_pushLossParams(s->param, &run->work, m, t, q, v, by, run->scratch);
}

static void addEffort(const djLossSums* s, const djLossRun* run, const djLossTerm* t, double factor,
                      int row) {
  const djRollout* r = run->rollout;
  size_t nu = (size_t)run->model->nu;
  const double* u = r->ctrl + (size_t)row * nu;
  double by = dj_lossBySquare(t, effort(run->model, r, row));
  if (!s->ctrl || by == 0) return;
  if (t->norm) factor *= by;
  double* g = s->ctrl + (size_t)row * nu;
  for (size_t c = 0; c < nu; c++) g[c] += 2 * factor * u[c];
}

void dj_addRunGradient(const djLossSums* s, djLossRun* run, const double* q, const double* v,
                       int k) {
  const djModel* m = run->model;
  const djRollout* r = run->rollout;
  bool begun = false;
  for (int i = 0; i < r->nloss; i++) {
    const djLossTerm t = dj_termOf(r, run->reference, i);
    double* pull = run->pull && isRelative(&t) ? run->pull + 3 * (size_t)i : NULL;
    double factor = k > 0 ? dj_lossFactor(m, &t, k, r->horizon) : 0;
    bool origin = pull && originOf(&t) == k;
    if (factor == 0 && !origin) continue;
    if (t.type == DJ_LOSS_EFFORT) {
      addEffort(s, run, &t, factor, k - 1);
      continue;
    }
    if (!begun) dj_beginLoss(&run->work, m, run->data, q);
    begun = true;
    if (origin) { // where the term itself is 0
      push(s, run, &t, q, v, dju_load3(pull));
      continue;
    }
    djVec3 by;
    if (!dj_lossSlope(&by, &run->work, m, &t, q, v, factor)) continue;
    push(s, run, &t, q, v, by);
    if (pull) dju_addTo3(pull, -1, by);
  }
}

void dj_addResidualGradient(const djLossSums* s, djLossRun* run, const double* q, const double* v,
                            int k, const djResidual* one) {
  const djLossTerm* t = &run->rollout->loss[one->term];
  if (t->type == DJ_LOSS_EFFORT) {
    if (!s->ctrl || k != one->step) return;
    s->ctrl[(size_t)(k - 1) * (size_t)run->model->nu + (size_t)one->component] += one->by.x;
    return;
  }
  bool here = k == one->step, origin = isRelative(t) && originOf(t) == k;
  if (here == origin) return; // neither, or both: nothing is measured
  dj_beginLoss(&run->work, run->model, run->data, q);
  push(s, run, t, q, v, here ? one->by : dju_neg3(one->by));
}
