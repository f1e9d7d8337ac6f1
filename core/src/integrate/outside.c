#include "integrate/outside.h"

#include "base/arena.h"
#include "base/status.h"
#include "integrate/impulse.h"
#include "integrate/mocap.h"

#include <math.h>
#include <string.h>

// A step without stages: all that is done for each of them is left out.
static const djMethod method = {.name = "outside"};

// ---- memory -----------------------------------------------------------------------------------

void dj_layoutOutside(djWork* w, djArena* a, const djModel* m) {
  if (!dj_isOutside(m)) return;
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  w->outside.A = dj_take(a, nx * nx + 1, sizeof(double));
  w->outside.B = dj_take(a, nx * nu + 1, sizeof(double));
}

djStatus dj_makeOutside(djWork* w, const djModel* m, djError* err) {
  if (!dj_isOutside(m)) return DJ_OK;
  if (!m->physics) {
    return dj_fail(err, DJ_UNSUPPORTED,
                   "option: contact: mujoco is of scenes that are loaded by MuJoCo (.xml, .mjb)");
  }
  w->outside.physics = m->physics;
  return m->physics->make_data(&w->outside.data, m->physics_own, err);
}

void dj_freeOutside(djWork* w) {
  dj_freeReports(&w->outside.report);
  if (w->outside.data) w->outside.physics->delete_data(w->outside.data);
}

size_t dj_heldOutside(const djWork* w) {
  return w->outside.data ? w->outside.physics->data_bytes(w->outside.data) : 0;
}

// ---- steps ------------------------------------------------------------------------------------

// Derivatives of a run are of solutions, not of iterates.
static djPhysicsStep callOf(djWork* w, const djModel* m, bool exact) {
  return (djPhysicsStep){.model = m,
                         .own = m->physics_own,
                         .data = w->outside.data,
                         .start = &w->start,
                         .exact = exact || w->refinement_steps > 0,
                         .err = &w->error};
}

// Quaternions that are of unit length up to rounding stay as they are: another's steps may keep
// their bits.
static void keepQuats(djWork* w, const djModel* m, const djData* d) {
  for (int j = 0; j < m->njnt; j++) {
    if (dj_rotationDof(m, j) < 0) continue;
    int k = dj_rotationQpos(m, j);
    double *to = w->start.qpos + k, distance = 0;
    for (int i = 0; i < 4; i++) distance = fmax(distance, fabs(to[i] - d->qpos[k + i]));
    if (distance < 1e-14) memcpy(to, d->qpos + k, 4 * sizeof(double));
  }
}

static djStatus begin(const djModel* m, djData* d) {
  djWork* w = d->work;
  w->stepped = w->linearized = false;
  w->error.text[0] = 0;
  djStatus status = dj_copyStart(m, d);
  if (status < 0) return status;
  keepQuats(w, m, d);
  w->h = dj_stepTime(m, w);
  w->npart = 1;
  w->method = &method;
  memset(&w->coef, 0, sizeof w->coef);
  w->stage = 0;
  w->lags = w->drifts = w->bends = false;
  dj_dropImpulses(w);
  return DJ_OK;
}

djStatus dj_takeOutside(const djModel* m, djData* d) {
  djWork* w = d->work;
  djStatus status = begin(m, d);
  if (status < 0) return status;
  dj_setStart(w, m);
  int iterations = 0;
  djPhysicsStep call = callOf(w, m, false);
  status = m->physics->step(w->qnext, w->qvel, w->act_next, &iterations, &call);
  if (status < 0) return status;
  memcpy(w->now.q, w->qnext, (size_t)m->nq * sizeof(double));
  dj_setPlaceAt(&w->now, w, m, 1);
  d->stats.iterations = iterations;
  d->stats.newton_iterations += iterations;
  w->count = (djStats){.evaluations = iterations, .attempts = 1, .ended = DJ_END_SOLVED};
  d->stats.residual = 0;
  w->stepped = true;
  return DJ_OK;
}

djStatus dj_reportOutside(const djModel* m, djData* d) {
  djWork* w = d->work;
  djReportRoom* room = &w->outside.report;
  d->npair = d->ncontact = 0;
  d->stats.gap = INFINITY;
  d->stats.overlap = 0;
  if (!m->physics->contacts) return DJ_OK;
  djPhysicsStep call = callOf(w, m, false);
  int n = m->physics->contacts(d->pair, room->npair, &call);
  if (n > room->npair) {
    djStatus status = dj_roomForReport(d, room, n);
    if (status < 0) return dj_failMemory(&w->error);
    n = m->physics->contacts(d->pair, room->npair, &call);
  }
  for (d->npair = 0; d->npair < n; d->npair++) {
    const djContactPair* p = &d->pair[d->npair];
    dj_addReported(d, p, m, w->begin.kin.body);
    d->stats.gap = fmin(d->stats.gap, p->gap);
    d->stats.overlap = fmax(d->stats.overlap, -p->gap);
  }
  d->stats.smallest_gap = fmin(d->stats.smallest_gap, d->stats.gap);
  d->stats.deepest_overlap = fmax(d->stats.deepest_overlap, d->stats.overlap);
  return DJ_OK;
}

djStatus dj_linearizeOutside(djLinear* linear, const djModel* m, djData* d) {
  djWork* w = d->work;
  *linear = (djLinear){.method = &method, .A = w->outside.A, .B = w->outside.B, .keeps = true};
  if (w->linearized) return DJ_OK;
  djPhysicsStep call = callOf(w, m, true);
  djStatus status = m->physics->transition(w->outside.A, w->outside.B, &call);
  if (status < 0) return status;
  w->linearized = true;
  return DJ_OK;
}

djStatus dj_openOutside(djLinear* linear, const djModel* m, djData* d) {
  djStatus status = begin(m, d);
  return status < 0 ? status : dj_linearizeOutside(linear, m, d);
}

// ---- adjoints ---------------------------------------------------------------------------------

djStatus dj_lastOutsideVjp(double* dx, double* du, const djModel* m, djData* d,
                           const double* lambda) {
  djPhysicsStep call = callOf(d->work, m, true);
  return m->physics->vjp(dx, du, &call, lambda);
}

djStatus dj_outsideVjp(double* dx, double* du, const djModel* m, djData* d, const double* lambda) {
  djStatus status = begin(m, d);
  return status < 0 ? status : dj_lastOutsideVjp(dx, du, m, d, lambda);
}

djStatus dj_askOutside(const djModel* m, djData* d, int nparam, const djParam* param) {
  djPhysicsStep call = callOf(d->work, m, true);
  return m->physics->ask ? m->physics->ask(&call, nparam, param) : DJ_OK;
}

djStatus dj_answerOutside(double* gradient, const djModel* m, djData* d, int nparam,
                          const djParam* param) {
  djPhysicsStep call = callOf(d->work, m, true);
  return m->physics->answer(gradient, &call, nparam, param);
}
