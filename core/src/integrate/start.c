// The start of a step: its state and inputs, and what they fix.

#include "base/status.h"
#include "integrate/armature.h"
#include "model/activation.h"

#include <math.h>
#include <string.h>

djStatus dj_checkFinite(djError* err, const char* name, const double* v, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(v[i])) return dj_fail(err, DJ_INVALID, "%s[%d]: not a finite number", name, i);
  }
  return DJ_OK;
}

typedef struct Part {
  const char* name;
  const double* from;
  double* to;
  int n;
} Part;

enum { NSTATE = 4, NPART = 9 };   // the state, and inputs after it

static void listParts(Part part[NPART], const djModel* m, const djData* d) {
  djData* s = &d->work->start;
  const Part list[NPART] = {{"qpos", d->qpos, s->qpos, m->nq},
                            {"qvel", d->qvel, s->qvel, m->nv},
                            {"act", d->act, s->act, m->na},
                            {"history", d->history, s->history, dj_historySize(m)},
                            {"ctrl", d->ctrl, s->ctrl, m->nu},
                            {"qfrc_applied", d->qfrc_applied, s->qfrc_applied, m->nv},
                            {"xfrc_applied", d->xfrc_applied, s->xfrc_applied, m->nbody * 6},
                            {"mocap_pos", d->mocap_pos, s->mocap_pos, m->nmocap * 3},
                            {"mocap_quat", d->mocap_quat, s->mocap_quat, m->nmocap * 4}};
  memcpy(part, list, sizeof list);
}

static djStatus checkParts(const Part* part, int n, djData* d) {
  djError* err = &d->work->error;
  for (int k = 0; k < n; k++) {
    djStatus status = dj_checkFinite(err, part[k].name, part[k].from, part[k].n);
    if (status < 0) return status;
  }
  if (isfinite(d->gravity_scale) && isfinite(d->time)) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "time or gravity_scale: not a finite number");
}

djStatus dj_checkInputs(const djModel* m, djData* d) {
  Part part[NPART];
  listParts(part, m, d);
  return checkParts(part + NSTATE, NPART - NSTATE, d);
}

// Copies state and inputs into the view of the start, with unit quaternions.
djStatus dj_copyStart(const djModel* m, djData* d) {
  djWork* w = d->work;
  djData* s = &w->start;
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  Part part[NPART];
  listParts(part, m, d);
  status = checkParts(part, NPART, d);
  if (status < 0) return status;
  for (int k = 0; k < NPART; k++) {
    memcpy(part[k].to, part[k].from, (size_t)part[k].n * sizeof(double));
  }
  if (!dj_hasHistory(m, d)) {
    memset(s->history, 0, (size_t)dj_historySize(m) * sizeof(double));
  }
  s->time = d->time;
  s->gravity_scale = d->gravity_scale;
  s->work = w;
  for (int j = 0; j < m->njnt; j++) {
    if (dj_rotationDof(m, j) < 0) continue;
    double* q = s->qpos + dj_rotationQpos(m, j);
    dju_storeQuat(q, dju_normalizeQuat(dju_loadQuat(q)));
  }
  return DJ_OK;
}

void dj_setStart(djWork* w, const djModel* m) {
  dj_setPlace(&w->begin, m, w->start.mocap_pos, w->start.mocap_quat);
  for (int b = 0; b < m->nbody; b++) w->ref[b] = w->begin.kin.com[m->body_root[b]];
}

djMotion dj_motionAt(const djWork* w, const djModel* m, const djPlace* at) {
  djPoint start = dj_pointOf(&w->begin), rate = w->drifts ? dj_pointOf(&w->rate) : start;
  return (djMotion){m, &w->start, w->ref, start, rate, dj_pointOf(at), w->time};
}

djStatus dj_beginStep(djWork* w, const djModel* m, double time) {
  const djData* d = &w->start;
  w->time = time;
  dj_setStart(w, m);
  dj_integratePos(w->back.q, m, d->qpos, d->qvel, -time);
  dj_setPlace(&w->back, m, d->mocap_pos, d->mocap_quat);
  if (w->drifts) {
    dj_integratePos(w->rate.q, m, d->qpos, w->drift, 1);
    dj_setPlace(&w->rate, m, d->mocap_pos, d->mocap_quat);
  }
  dj_nextActivations(w->act_next, m, d, w->h);
  dj_setArmature(w, m);
  djMotion motion = dj_motionAt(w, m, &w->begin);
  return dj_beginForces(&w->forces, &motion, &w->error);
}

// ---- history ------------------------------------------------------------------------------------

int dj_historySize(const djModel* m) {
  const djMethod* method = dj_method(m->opt.integrator);
  return method ? method->nhistory * m->nv : 0;
}

int dj_tangentSize(const djModel* m) { return m ? 2 * m->nv + m->na + dj_historySize(m) : 0; }

int dj_stageCount(const djModel* m) {
  const djMethod* method = dj_method(m->opt.integrator);
  int n = method ? method->nstage : 1;
  return method && method->starter && method->starter->nstage > n ? method->starter->nstage : n;
}

bool dj_hasHistory(const djModel* m, const djData* d) {
  const djWork* w = d->work;
  return dj_historySize(m) > 0 && w->mark_h == m->opt.timestep &&
         !memcmp(w->mark_q, d->qpos, (size_t)m->nq * sizeof(double)) &&
         !memcmp(w->mark_v, d->qvel, (size_t)m->nv * sizeof(double));
}

void dj_markHistory(const djModel* m, djData* d, bool valid) {
  djWork* w = d->work;
  w->mark_h = valid ? m->opt.timestep : 0;
  if (!valid) memset(d->history, 0, (size_t)dj_historySize(m) * sizeof(double));
  memcpy(w->mark_q, d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(w->mark_v, d->qvel, (size_t)m->nv * sizeof(double));
}

// What a starter leaves is the integrator's history by its own last stage.
void dj_chooseMethod(djWork* w, const djModel* m, const djMethod* method) {
  const djMethod* own = dj_method(m->opt.integrator);
  w->method = method;
  w->kind = dj_hasNonpotentialForces(&w->forces, m) ? DJ_LDU : method->kind;
  w->drifts = false;
  memset(&w->coef, 0, sizeof w->coef);
  method->coefficients(&w->coef, m->opt.timestep);
  if (method == own || method != own->starter) return;
  djCoefficients c = {0};
  own->coefficients(&c, m->opt.timestep);
  int from = DJ_SOURCE_STAGE + own->nstage - 1, to = DJ_SOURCE_STAGE + method->nstage - 1;
  for (int k = 0; k < own->nhistory; k++) {
    w->coef.history[k][DJ_SOURCE_VELOCITY] = c.history[k][DJ_SOURCE_VELOCITY];
    w->coef.history[k][to] = c.history[k][from];
  }
}

void dj_keepHistory(const djModel* m, djData* d) {
  const djWork* w = d->work;
  const djMethod* own = dj_method(m->opt.integrator);
  if (own->nhistory == 0) return;
  for (int k = 0; k < own->nhistory; k++) {
    dj_sumSources(d->history + (size_t)k * m->nv, w->coef.history[k], w, m, w->method->nstage);
  }
  dj_markHistory(m, d, w->method == own || w->method == own->starter);
}
