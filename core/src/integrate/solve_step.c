// One step from its start; and opening it anew.

#include "base/status.h"
#include "integrate/attempts.h"
#include "integrate/impulse.h"
#include "integrate/mocap.h"
#include "integrate/method_need.h"
#include "integrate/solve_stage.h"

#include <math.h>
#include <string.h>

djStatus dj_solveStep(const djModel* m, djData* d) {
  djWork* w = d->work;
  w->stepped = w->linearized = w->cramped = w->may_grow = false;
  w->error.text[0] = 0;
  const bool opened = w->opened;
  w->opened = false;
  djStatus status = opened ? DJ_OK : dj_copyStart(m, d);
  if (status < 0) return status;
  w->h = dj_stepTime(m, w);
  w->npart = 1;
  const djMethod* own = dj_method(m->opt.integrator);
  if (!own) return dj_fail(&w->error, DJ_UNSUPPORTED, "integrator: unknown");
  status = dj_checkMethod(w, m, own);
  if (status < 0) return status;
  dj_chooseMethod(w, m, own->starter && !dj_hasHistory(m, d) ? own->starter : own);
  dj_dropImpulses(w);
  // Rest within a fraction of g h: SDRS stops at an absolute force instead.
  double unit = m->contact.gravity * w->h * sqrt(fmax(m->moving_mass, 1e-300));
  djNewtonResult result;
  djStepEnd ended;
  const int substitutes = w->count.substitute_attempts;
  w->begun = opened;
  status = dj_attemptStep(&result, &ended, w, m, unit);
  if (status < 0) return status;
  if ((int)ended > w->count.ended) w->count.ended = ended;
  d->stats.fallback_steps += w->count.substitute_attempts - substitutes;
  d->stats.iterations = result.iterations;
  d->stats.newton_iterations += result.iterations;
  d->stats.residual = result.decrement / unit;
  if (d->stats.residual > d->stats.worst_residual) d->stats.worst_residual = d->stats.residual;
  if (status == DJ_NOT_CONVERGED) d->stats.unconverged_steps++;
  w->stepped = true;
  return status;
}

// Before a stage that q solves is begun anew.
static void setLag(djWork* w, const djModel* m, const double* q) {
  w->lags = dj_lagsEnd(w, m) && !dj_isAhead(w);
  if (!w->lags) return;
  memcpy(w->lag.q, q, (size_t)m->nq * sizeof(double));
  dj_setPlaceAt(&w->lag, w, m, w->stage_part);
}

djStatus dj_reopenStage(djWork* w, const djModel* m, int k) {
  w->stage = k;
  setLag(w, m, w->at_stage[k].q);
  djStatus status = dj_beginStage(w, m, w->method);
  if (status < 0) return status;
  memcpy(w->now.q, w->at_stage[k].q, (size_t)m->nq * sizeof(double));
  dj_setPlaceAt(&w->now, w, m, w->stage_part);
  return dj_recoverHolds(w, m);
}

// Whether qpos is where the last step started, as when steps are replayed backward in time.
static bool isLastStart(const djModel* m, const djData* d, const double* qpos) {
  const djWork* w = d->work;
  size_t nq = m->nq, nmocap = m->nmocap, size = sizeof(double);
  return w->stepped && !w->carries && !memcmp(w->start.qpos, qpos, nq * size) &&
         !memcmp(w->start.mocap_pos, d->mocap_pos, 3 * nmocap * size) &&
         !memcmp(w->start.mocap_quat, d->mocap_quat, 4 * nmocap * size);
}

// The last step's start becomes the end of this one: all but its coordinates, which stay the
// view's.
static void swapStart(djWork* w) {
  djPlace place = w->now;
  w->now = w->begin;
  w->begin = place;
  double* q = w->now.q;
  w->now.q = w->begin.q;
  w->begin.q = q;
}

djStatus dj_replayStep(const djModel* m, djData* d, const djMethod* method, int stage,
                       const double* qpos, const double* const* psi) {
  djWork* w = d->work;
  bool known = isLastStart(m, d, qpos);
  w->stepped = w->linearized = false;
  w->error.text[0] = 0;
  djStatus status = dj_copyStart(m, d);
  if (status < 0) return status;
  w->h = dj_stepTime(m, w);
  w->npart = 1;
  known = known && !w->carries;
  if (known) swapStart(w);   // begin writes the start anew
  dj_chooseMethod(w, m, method);
  dj_dropImpulses(w);
  w->stage = stage;
  w->at_stage[stage].linear.factor.kind = w->kind;
  for (int k = 0; k < stage; k++) {
    memcpy(w->at_stage[k].linear.psi, psi[k], (size_t)m->nv * sizeof(double));
  }
  setLag(w, m, qpos);
  status = dj_beginStage(w, m, method);
  if (status < 0) return status;
  memcpy(w->now.q, qpos, (size_t)m->nq * sizeof(double));
  if (!known) dj_setPlaceAt(&w->now, w, m, w->stage_part);
  w->stepped = true;
  return dj_recoverHolds(w, m);
}
