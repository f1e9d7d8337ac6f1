// From x to the values of parameters, start and controls.

#include "gradient/design_parts.h"
#include "gradient/problem.h"
#include "math/so3.h"
#include "model/joint_type.h"
#include "model/make.h"

#include <string.h>

// q = normalised q0, turned by w.
static void turn(double q[4], const double q0[4], const double w[3]) {
  if (w[0] == 0 && w[1] == 0 && w[2] == 0) return;
  djQuat start = dju_normalizeQuat(dju_loadQuat(q0));
  djQuat step = dju_expQuat(dju_load3(w));
  dju_storeQuat(q, dju_normalizeQuat(dju_mulQuat(start, step)));
}

// Entries of a parameter: plain numbers first, then a quaternion's 3-vector if it has one. Only
// what has changed, as a whole vector and a part of it may vary.
static void placeParam(djDesign* d, int variable, const double* x) {
  djDesignMemory* w = dj_designMemory(d);
  const djVariable* v = &d->problem->variable[variable];
  const djParam* param = &d->problem->param[v->param];
  double* value = w->value + w->valueadr[v->param];
  int plain = dj_plainValues(param);
  double turned[3] = {0, 0, 0};
  for (int k = 0; k < v->n; k++) {
    int i = v->index[k], e = d->adr[variable] + k;
    if (x[e] == d->x0[e]) continue;
    if (i < plain) value[i] = x[e];
    else turned[i - plain] = x[e];
  }
  if (plain < param->nvalue) turn(value + plain, value + plain, turned);
}

// Positions: plain entries at once, rotation vectors (nv) are gathered first. Those of the start,
// or of its history.
static void placeQpos(double* qpos, double* tangent, djDesign* d, const double* x, bool history) {
  const djModel* m = d->model;
  const djProblem* p = d->problem;
  memset(tangent, 0, (size_t)m->nv * sizeof(double));
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    bool start = v->kind == DJ_VAR_QPOS0 || v->kind == DJ_VAR_QPOS0_JOINT;
    if (history ? v->kind != DJ_VAR_HISTORY_QPOS0 : !start) continue;
    for (int k = 0; k < v->n; k++) {
      int dof = v->adr + v->index[k], e = d->adr[i] + k;
      if (x[e] == d->x0[e]) continue;  // a whole vector and a part of it may vary
      if (dj_variableIsRotation(p, m, v, v->index[k])) tangent[dof] = x[e];
      else qpos[dj_plainQpos(m, dof)] = x[e];
    }
  }
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j);
    double* q = qpos + dj_rotationQpos(m, j);
    if (dof >= 0) turn(q, q, tangent + dof);
  }
}

static void placeEntries(double* array, const djDesign* d, int variable, const double* x) {
  const djVariable* v = &d->problem->variable[variable];
  for (int k = 0; k < v->n; k++) {
    int e = d->adr[variable] + k;
    if (x[e] != d->x0[e]) array[v->adr + v->index[k]] = x[e];
  }
}

static void placeAll(djDesign* d, const double* x) {
  djDesignMemory* w = dj_designMemory(d);
  const djProblem* p = d->problem;
  dj_copyNumbers(w->value, w->base, w->nvalue);
  dj_copyNumbers(w->qpos0, p->qpos0, d->model->nq);
  dj_copyNumbers(w->qvel0, p->qvel0, d->model->nv);
  dj_copyNumbers(w->act0, p->act0, d->model->na);
  dj_copyNumbers(w->ctrl, p->ctrl, w->nctrl);
  if (p->history_qpos0) {
    dj_copyNumbers(w->history_qpos0, p->history_qpos0, d->model->nq);
    dj_copyNumbers(w->history_qvel0, p->history_qvel0, d->model->nv);
  }
  for (int k = 0; k < p->nfree; k++) {
    dj_copyNumbers(w->z + w->zadr[k], p->free[k].value, p->free[k].n);
  }
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    switch (v->kind) {
      case DJ_VAR_CTRL: placeEntries(w->ctrl, d, i, x); break;
      case DJ_VAR_QVEL0:
      case DJ_VAR_QVEL0_JOINT: placeEntries(w->qvel0, d, i, x); break;
      case DJ_VAR_ACT0: placeEntries(w->act0, d, i, x); break;
      case DJ_VAR_FREE: placeEntries(w->z + w->zadr[v->free], d, i, x); break;
      case DJ_VAR_PARAM: placeParam(d, i, x); break;
      case DJ_VAR_HISTORY_QVEL0: placeEntries(w->history_qvel0, d, i, x); break;
      case DJ_VAR_QPOS0:
      case DJ_VAR_QPOS0_JOINT:
      case DJ_VAR_HISTORY_QPOS0: break;  // together
    }
  }
  placeQpos(w->qpos0, w->tangent, d, x, false);
  if (p->history_qpos0) placeQpos(w->history_qpos0, w->history_tangent, d, x, true);
}

static void applyMaps(djDesign* d) {
  djDesignMemory* w = dj_designMemory(d);
  for (int i = 0; i < d->problem->nmap; i++) {
    const djMap* map = &d->problem->map[i];
    map->type->apply(w->out, map, w->z + w->zadr[map->from], w->work);
    const double* out = w->out;
    for (int k = 0; k < map->ntarget; k++) {
      const djMapTarget* t = &map->target[k];
      double* place_of = dj_mapTarget(w->value, w->ctrl, d, t);
      for (int e = 0; e < t->n; e++) {
        double* one = place_of + (size_t)e * (size_t)t->stride;
        *one = map->type->adds ? *one + *out : *out;
        out++;
      }
    }
  }
}

void dj_placeDesign(djDesign* d, const double* x) {
  djDesignMemory* w = dj_designMemory(d);
  placeAll(d, x);
  applyMaps(d);
  if (d->phase == 0) return;
  dj_integratePos(w->start, d->model, w->qpos0, w->qvel0, d->phase * d->model->opt.timestep);
}
