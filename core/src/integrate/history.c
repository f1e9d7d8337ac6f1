// The method of a step, and what the state keeps of earlier ones for it.

#include "contact/contact.h"
#include "integrate/work.h"

#include <string.h>

static bool hasHistory(const djModel* m) {
  const djMethod* method = dj_method(m->opt.integrator);
  return method && method->history;
}

int dj_historySize(const djModel* m) { return hasHistory(m) ? m->nq + m->nv : 0; }

int dj_historyTangent(const djModel* m) { return hasHistory(m) ? 2 * m->nv : 0; }

int dj_tangentSize(const djModel* m) { return m ? 2 * m->nv + m->na + dj_historyTangent(m) : 0; }

int dj_stageCount(const djModel* m) {
  const djMethod* method = dj_method(m->opt.integrator);
  bool meets = method && method->impacts && m->collision && dj_hasRestitution(m);
  int n = meets ? method->impacts->nstage : method ? method->nstage : 1;
  return method && method->starter && method->starter->nstage > n ? method->starter->nstage : n;
}

bool dj_hasHistory(const djModel* m, const djData* d) {
  const djWork* w = d->work;
  return hasHistory(m) && w->mark_h == dj_stepTime(m, w) &&
         !memcmp(w->mark_q, d->qpos, (size_t)m->nq * sizeof(double)) &&
         !memcmp(w->mark_v, d->qvel, (size_t)m->nv * sizeof(double)) &&
         !memcmp(w->mark_act, d->act, (size_t)m->na * sizeof(double));
}

void dj_markHistory(const djModel* m, djData* d, bool valid) {
  djWork* w = d->work;
  w->mark_h = valid ? dj_stepTime(m, w) : 0;
  if (!valid) memset(d->history, 0, (size_t)dj_historySize(m) * sizeof(double));
  memcpy(w->mark_q, d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(w->mark_v, d->qvel, (size_t)m->nv * sizeof(double));
  memcpy(w->mark_act, d->act, (size_t)m->na * sizeof(double));
}

void dj_chooseMethod(djWork* w, const djModel* m, const djMethod* method) {
  w->method = method;
  w->kind = dj_hasNonpotentialForces(&w->forces, m) ? DJ_LDU : method->kind;
  w->drifts = w->bends = w->sum.path.acts = false;
  w->acting = DJ_ACTS_ALL;
  w->spins.n = 0;
  w->corrected = false;
  memset(&w->coef, 0, sizeof w->coef);
  method->coefficients(&w->coef, w->h, &m->opt);
}

void dj_keepHistory(const djModel* m, djData* d) {
  const djData* start = &d->work->start;
  d->work->mark_h = 0;
  if (!hasHistory(m)) return;
  memcpy(d->history, start->qpos, (size_t)m->nq * sizeof(double));
  memcpy(d->history + m->nq, start->qvel, (size_t)m->nv * sizeof(double));
  dj_markHistory(m, d, true);
}
