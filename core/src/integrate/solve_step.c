// One step from its start: its stages, and the velocity at the end; and opening it anew.

#include "base/status.h"
#include "integrate/carry.h"
#include "integrate/impulse.h"
#include "integrate/solve_stage.h"
#include "model/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SOLVED = 1e-4;   // relative decrement of a step that no other method takes
static const double ROUNDED = 1e-7;  // and by a substitute of the Jacobian

// All stages of w->method. The result is the worst one's, with all iterations.
static djStatus solveStages(djNewtonResult* result, djWork* w, const djModel* m, double unit) {
  djStatus status = DJ_OK;
  memset(result, 0, sizeof *result);
  for (w->stage = 0; w->stage < w->method->nstage; w->stage++) {
    djNewtonResult stage;
    djStatus one = dj_solveStage(&stage, w, m, unit);
    if (one < 0 || w->jams) return one;
    if (one > 0) status = one;
    int before = result->iterations;
    bool exact = stage.exact && (w->stage == 0 || result->exact);
    if (w->stage == 0 || stage.decrement > result->decrement) *result = stage;
    result->iterations = before + stage.iterations;
    result->exact = exact;
  }
  w->stage = w->method->nstage - 1;
  return status;
}

// The same, taken anew where it found no room for its matrices or for pairs in contact.
static djStatus solveRoomy(djNewtonResult* result, djWork* w, const djModel* m, double unit) {
  djContacts* contacts = dj_contactsOf(&w->forces);
  const djStats count = w->count;
  for (;;) {
    w->count = count;
    w->count.attempts++;
    dj_fixContacts(contacts, true);
    djStatus status = solveStages(result, w, m, unit);
    dj_fixContacts(contacts, false);
    bool crowded = status == DJ_CROWDED, cramped = status == DJ_NO_MEMORY && w->cramped;
    if (!crowded && !cramped) return status;
    status = crowded ? dj_growContacts(contacts, m, &w->error) : dj_growRoom(w, m);
    if (status < 0) return status;
    w->growths += crowded;
  }
}

// The same, without the move of mocap bodies where what is in their way cannot give way.
static djStatus solveCarried(djNewtonResult* result, djWork* w, const djModel* m, double unit) {
  djStatus status = solveRoomy(result, w, m, unit);
  while (status >= 0 && w->jams) {
    dj_stopJammed(w, m);
    w->count.jammed_attempts++;
    status = solveRoomy(result, w, m, unit);
  }
  return status;
}

// Coordinates and velocity at the end, from all stages.
djStatus dj_endStep(djWork* w, const djModel* m) {
  const djCoefficients* c = &w->coef;
  int nstage = w->method->nstage;
  if (c->turns) {
    dj_sumSources(w->turn, c->position, w, m, nstage);
    dj_integratePos(w->qnext, m, w->start.qpos, w->turn, 1);
  } else {
    memcpy(w->qnext, w->now.q, (size_t)m->nq * sizeof(double));
  }
  if (w->method->velocity) return w->method->velocity(w, m);
  dj_sumSources(w->qvel, c->end, w, m, nstage);
  return DJ_OK;
}

// What takes a step that a method finds no solution for: NULL: nothing.
static const djMethod* nextMethod(const djWork* w, const djModel* m) {
  const djMethod *own = dj_method(m->opt.integrator), *start = own->starter;
  if (own == &dj_euler && dj_activeEquality(w, m) >= 0) return NULL;   // which others do not have
  if (start) return w->method == start ? NULL : start;
  if (w->method == &dj_position) return NULL;
  return &dj_position;
}

static djStepEnd endOf(djStatus status, const djNewtonResult* r, double unit) {
  if (status == DJ_OK) return DJ_END_SOLVED;
  if (r->decrement < (r->exact ? SOLVED : ROUNDED) * unit) return DJ_END_ROUNDED;
  return r->exhausted ? DJ_END_ITERATIONS : DJ_END_SEARCH;
}

// Where rounding keeps a solution from a small tolerance, it is still one. The decrement by a
// substitute of the Jacobian is small on the way past a saddle, too, where there may be no
// solution: it has to be as small as rounding makes it. The last method's best iterate is taken for
// one.
static bool isSolved(const djWork* w, const djModel* m, djStatus status, const djNewtonResult* r,
                     double unit) {
  if (status <= 0) return status == DJ_OK;
  return !nextMethod(w, m) || endOf(status, r, unit) == DJ_END_ROUNDED;
}

static djStatus refuse(djWork* w, const djModel* m, djObject type, int id, const char* why) {
  djElementText name = dj_elementText(dj_objectName(type), dj_id2name(m, type, id), id);
  return dj_fail(&w->error, DJ_UNSUPPORTED, "%s: %s", name.text, why);
}

// What `euler` alone has, and what methods that are solved within the step cannot have.
static djStatus checkMethod(djWork* w, const djModel* m, const djMethod* own) {
  char why[160];
  if (own == &dj_euler) return DJ_OK;
  int hard = dj_hardEquality(w, m), soft = dj_activeEquality(w, m), lifted = dj_firstCompensated(m);
  int sticky = dj_firstAdhesion(m), muscle = dj_firstMuscle(m);
  if (hard >= 0 && own->within) {
    snprintf(why, sizeof why, "integrator %s has no hard equality constraints, all others have",
             own->name);
    return refuse(w, m, DJ_OBJ_EQUALITY, hard, why);
  }
  if (soft >= 0) {
    snprintf(why, sizeof why, "integrator %s has no soft equality constraints, euler has "
             "(equality: hard, or disable: equality)", own->name);
    return refuse(w, m, DJ_OBJ_EQUALITY, soft, why);
  }
  if (lifted >= 0) {
    return refuse(w, m, DJ_OBJ_JOINT, lifted, "actgravcomp within a range, or without actuation, "
                  "needs the integrator euler");
  }
  if (sticky >= 0) {
    return refuse(w, m, DJ_OBJ_ACTUATOR, sticky, "adhesion needs the integrator euler");
  }
  if (muscle < 0) return DJ_OK;
  return dj_fail(&w->error, DJ_UNSUPPORTED, "actuator '%.100s' (#%d): %s the integrator euler",
                 m->names + m->name_actuator[muscle], muscle,
                 m->actuator_zadr[muscle] >= 0 ? "an integral needs" : "muscles need");
}

djStatus dj_solveStep(const djModel* m, djData* d) {
  djWork* w = d->work;
  w->stepped = w->linearized = w->cramped = w->may_grow = false;
  w->error.text[0] = 0;
  const bool opened = w->opened;
  w->opened = false;
  djStatus status = opened ? DJ_OK : dj_copyStart(m, d);
  if (status < 0) return status;
  w->h = dj_partTime(m, w);
  w->npart = 1;
  const djMethod* own = dj_method(m->opt.integrator);
  if (!own) return dj_fail(&w->error, DJ_UNSUPPORTED, "integrator: unknown");
  status = checkMethod(w, m, own);
  if (status < 0) return status;
  dj_chooseMethod(w, m, own->starter && !dj_hasHistory(m, d) ? own->starter : own);
  dj_dropImpulses(w);
  // Rest within a fraction of g h: SDRS stops at an absolute force instead.
  double unit = m->contact.gravity * w->h * sqrt(fmax(m->moving_mass, 1e-300));
  djNewtonResult result;
  w->begun = opened;
  status = solveCarried(&result, w, m, unit);
  bool solved = isSolved(w, m, status, &result, unit);
  djStatus end = solved ? dj_endStep(w, m) : status;
  while (end == DJ_NOT_CONVERGED && nextMethod(w, m)) {
    // No solution may exist, as for turns beyond a quarter in a step: position.c always has one.
    int before = result.iterations;
    dj_chooseMethod(w, m, solved && !own->starter ? &dj_position : nextMethod(w, m));
    dj_dropImpulses(w);
    w->count.substitute_attempts++;
    status = solveCarried(&result, w, m, unit);
    result.iterations += before;
    d->stats.fallback_steps++;
    solved = isSolved(w, m, status, &result, unit);
    end = solved ? dj_endStep(w, m) : status;
  }
  if (end < 0) return end;
  const djStepEnd ended = endOf(status, &result, unit);
  if ((int)ended > w->count.ended) w->count.ended = ended;
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
  w->h = dj_partTime(m, w);
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
