// The method of a step, and what the state keeps of earlier ones for it.

#include "integrate/work.h"

#include <string.h>

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

double dj_partTime(const djModel* m, const djWork* w) { return m->opt.timestep / w->parts; }

bool dj_hasHistory(const djModel* m, const djData* d) {
  const djWork* w = d->work;
  return dj_historySize(m) > 0 && w->mark_h == dj_partTime(m, w) &&
         !memcmp(w->mark_q, d->qpos, (size_t)m->nq * sizeof(double)) &&
         !memcmp(w->mark_v, d->qvel, (size_t)m->nv * sizeof(double));
}

void dj_markHistory(const djModel* m, djData* d, bool valid) {
  djWork* w = d->work;
  w->mark_h = valid ? dj_partTime(m, w) : 0;
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
  method->coefficients(&w->coef, w->h);
  if (method == own || method != own->starter) return;
  djCoefficients c = {0};
  own->coefficients(&c, w->h);
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
