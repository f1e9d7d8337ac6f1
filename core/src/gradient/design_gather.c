// From the gradient of a rollout to that by x.

#include "gradient/design_parts.h"
#include "math/so3.h"
#include "model/joint_type.h"
#include "model/make.h"
#include "model/param.h"

#include <math.h>
#include <string.h>

// Gradient by the values of a parameter, before normalisation, from that by its tangent.
static void unnormalize(double* dvalue, const djDesign* d, int k) {
  const djDesignMemory* w = dj_designMemory(d);
  const djParam* param = &d->problem->param[k];
  const double *value = w->value + w->valueadr[k], *g = d->result.grad_param + w->tangentadr[k];
  int plain = dj_plainValues(param);
  dj_copyNumbers(dvalue, g, plain);
  if (plain < param->nvalue) {
    djQuat p = dju_loadQuat(value + plain), q = dju_normalizeQuat(p);
    double s = 2 / sqrt(p.w * p.w + p.x * p.x + p.y * p.y + p.z * p.z);
    djQuat by = {0, s * g[plain], s * g[plain + 1], s * g[plain + 2]};
    dju_storeQuat(dvalue + plain, dju_mulQuat(q, by));
  }
  if (dj_paramIsAxis(d->model, param)) {
    djVec3 p = dju_load3(value), by = dju_load3(g);
    double length = dju_norm3(p);
    djVec3 a = dju_scale3(1 / length, p);
    dju_store3(dvalue, dju_scale3(1 / length, dju_madd3(by, -dju_dot3(a, by), a)));
  }
}

// Through the maps, last one first. dvalue and dctrl become those by what variables set.
static void mapsVjp(djDesign* d) {
  djDesignMemory* w = dj_designMemory(d);
  for (int i = d->problem->nmap - 1; i >= 0; i--) {
    const djMap* map = &d->problem->map[i];
    double* out = w->out;
    bool any = false;
    for (int k = 0; k < map->ntarget; k++) {
      const djMapTarget* t = &map->target[k];
      double* place_of = dj_mapTarget(w->dvalue, w->dctrl, d, t);
      for (int e = 0; e < t->n; e++) {
        double* one = place_of + (size_t)e * (size_t)t->stride;
        any |= *one != 0;
        *out++ = *one;
        if (!map->type->adds) *one = 0;
      }
    }
    int at = w->zadr[map->from];
    if (!any) continue;   // as of controls where connections are made
    map->type->vjp(w->dz + at, map, w->z + at, w->out, w->work);
  }
}

// g (3) by d of q exp(d) -> by w of q0 exp(w).
static void toChart(double g[3], const double w[3]) {
  dju_store3(g, dju_mulMtV(dju_rightJacobian(dju_load3(w)), dju_load3(g)));
}

// By x from those by positions (nv), rotations turned by w (nv).
static void toCharts(double* dqpos, const djModel* m, const double* by, const double* w) {
  dj_copyNumbers(dqpos, by, m->nv);
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j);
    if (dof >= 0) toChart(dqpos + dof, w + dof);
  }
}

static void gradientOfQpos(djDesign* d) {
  djDesignMemory* w = dj_designMemory(d);
  const djRolloutResult* r = &d->result;
  toCharts(w->dqpos0, d->model, r->grad_qpos0, w->tangent);
  if (!d->problem->history_qpos0) return;
  toCharts(w->dhistory_qpos0, d->model, r->grad_history_qpos0, w->history_tangent);
}

static void gatherParam(double* grad, const djDesign* d, int variable) {
  const djDesignMemory* w = dj_designMemory(d);
  const djVariable* v = &d->problem->variable[variable];
  const djParam* param = &d->problem->param[v->param];
  int plain = dj_plainValues(param);
  double by[3] = {0, 0, 0}, turned[3] = {0, 0, 0};
  if (plain < param->nvalue) {
    memcpy(by, d->result.grad_param + w->tangentadr[v->param] + plain, sizeof by);
  }
  for (int k = 0; k < v->n; k++) {
    if (v->index[k] >= plain) turned[v->index[k] - plain] = d->x[d->adr[variable] + k];
  }
  toChart(by, turned);
  for (int k = 0; k < v->n; k++) {
    int i = v->index[k];
    grad[k] = i < plain ? w->dvalue[w->valueadr[v->param] + i] : by[i - plain];
  }
}

static void gather(double* grad, djDesign* d) {
  const djDesignMemory* w = dj_designMemory(d);
  const djProblem* p = d->problem;
  gradientOfQpos(d);
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    double* out = grad + d->adr[i];
    const double* from = NULL;
    switch (v->kind) {
      case DJ_VAR_CTRL: from = w->dctrl; break;
      case DJ_VAR_QPOS0:
      case DJ_VAR_QPOS0_JOINT: from = w->dqpos0; break;
      case DJ_VAR_QVEL0:
      case DJ_VAR_QVEL0_JOINT: from = d->result.grad_qvel0; break;
      case DJ_VAR_ACT0: from = d->result.grad_act0; break;
      case DJ_VAR_FREE: from = w->dz + w->zadr[v->free]; break;
      case DJ_VAR_HISTORY_QPOS0: from = w->dhistory_qpos0; break;
      case DJ_VAR_HISTORY_QVEL0: from = d->result.grad_history_qvel0; break;
      case DJ_VAR_PARAM: gatherParam(out, d, i); break;
    }
    for (int k = 0; k < v->n && from; k++) out[k] = from[v->adr + v->index[k]];
  }
}

void dj_gatherValues(double* grad, djDesign* d) {
  djDesignMemory* w = dj_designMemory(d);
  memset(w->dz, 0, (size_t)w->nz * sizeof *w->dz);
  mapsVjp(d);
  gather(grad, d);
}

// From the gradient by the moved start q = q0 exp(s v), s being phase h, to that by q0 and v: a
// rotation's tangent at q is d = exp(s v)^-1 d0 + J_r(s v) s dv.
static void unmoveStart(djDesign* d) {
  const djModel* m = d->model;
  double s = d->phase * m->opt.timestep, *dq = d->result.grad_qpos0, *dv = d->result.grad_qvel0;
  const double* v = dj_designMemory(d)->qvel0;
  for (int j = 0; j < m->njnt; j++) {
    int first = m->jnt_dofadr[j], rotation = dj_rotationDof(m, j);
    int end = j + 1 < m->njnt ? m->jnt_dofadr[j + 1] : m->nv;
    for (int i = first; i < (rotation < 0 ? end : rotation); i++) dv[i] += s * dq[i];
    if (rotation < 0) continue;
    djVec3 w = dju_scale3(s, dju_load3(v + rotation)), g = dju_load3(dq + rotation);
    dju_addTo3(dv + rotation, s, dju_mulMtV(dju_rightJacobian(w), g));
    dju_store3(dq + rotation, dju_mulMV(dju_quatToMat(dju_expQuat(w)), g));
  }
}

void dj_gatherDesign(double* grad, djDesign* d) {
  djDesignMemory* w = dj_designMemory(d);
  if (d->phase != 0) unmoveStart(d);
  for (int k = 0; k < d->problem->nparam; k++) unnormalize(w->dvalue + w->valueadr[k], d, k);
  dj_copyNumbers(w->dctrl, d->result.grad_ctrl, w->nctrl);
  dj_gatherValues(grad, d);
}

// The row of an equation: derivatives by x of coordinate r of a connection, of parts from..to-1.
static void connectRow(double* row, djDesign* d, const djConnect* c, int r, int from, int to) {
  djDesignMemory* w = dj_designMemory(d);
  const djProblem* p = d->problem;
  memset(w->dvalue, 0, (size_t)w->nvalue * sizeof *w->dvalue);
  for (int i = from; i < to; i++) {
    const djConnectPart* part = &c->part[i];
    for (int k = 0; k < p->nparam; k++) {
      if (p->param[k].field != part->param.field || p->param[k].id != part->param.id) continue;
      double* at = w->dvalue + w->valueadr[k] + part->start;
      for (int j = 0; j < 3; j++) at[j] += part->factor[3 * r + j];
    }
  }
  dj_gatherValues(row, d);
}

// Two points that a map moves alike leave rounding where nothing is: it does not count.
static void dropRounding(double* row, double* part, djDesign* d, const djConnect* c, int r) {
  double most = 0;
  for (int i = 0; i < c->npart; i++) {
    connectRow(part, d, c, r, i, i + 1);
    for (int k = 0; k < d->n; k++) most = fmax(most, fabs(part[k]));
  }
  for (int k = 0; k < d->n; k++) {
    if (fabs(row[k]) <= 1e-12 * most) row[k] = 0;
  }
}

// Entries of the equations so far: they double their room.
typedef struct djRows {
  djPool* pool;
  int n, room;
  int* index;
  double* entry;
} djRows;

static djStatus addEntry(djRows* rows, int index, double entry) {
  if (rows->n == rows->room) {
    int room = rows->room > 0 ? 2 * rows->room : 64;
    int* more_index = dj_poolTake(rows->pool, (size_t)room, sizeof *more_index);
    double* more_entry = dj_poolTake(rows->pool, (size_t)room, sizeof *more_entry);
    if (!more_index || !more_entry) return DJ_NO_MEMORY;
    if (rows->n > 0) {
      memcpy(more_index, rows->index, (size_t)rows->n * sizeof *more_index);
      dj_copyNumbers(more_entry, rows->entry, rows->n);
    }
    rows->index = more_index;
    rows->entry = more_entry;
    rows->room = room;
  }
  rows->index[rows->n] = index;
  rows->entry[rows->n++] = entry;
  return DJ_OK;
}

// The rows one after the other, each first in `row` (n), with `part` (n) as scratch.
static djStatus addRows(djRows* rows, int* start, double* value, djDesign* d, double* row,
                        double* part) {
  const djProblem* p = d->problem;
  for (int r = 0; r < 3 * p->nconnect; r++) {
    const djConnect* c = &p->connect[r / 3];
    connectRow(row, d, c, r % 3, 0, c->npart);
    if (p->nmap > 0) dropRounding(row, part, d, c, r % 3);
    for (int k = 0; k < d->n; k++) {
      if (row[k] == 0) continue;
      if (addEntry(rows, k, row[k]) < 0) return DJ_NO_MEMORY;
      value[r] += row[k] * d->x0[k];
    }
    start[r + 1] = rows->n;
  }
  return DJ_OK;
}

// A connection says that a sum of values, factor times value, stays what it is at x0. Values of
// positions and vertices are linear in x, through maps too, so that the row of an equation is the
// "gradient" of that sum. Only what is not 0 is kept: all numbers of 574 connections of 10932
// unknowns would be 150 MB.
djStatus dj_connectDesign(djDesign* d) {
  djPool own = {0};
  djDesignMemory* w = dj_designMemory(d);
  size_t n = (size_t)d->n, m = 3 * (size_t)d->problem->nconnect;
  int* start = dj_poolTake(&w->pool, m + 1, sizeof *start);
  double* value = dj_poolTake(&w->pool, m, sizeof *value);
  double* scratch = dj_poolTake(&own, 2 * n, sizeof *scratch);
  djRows rows = {.pool = &own};
  djStatus status = start && value && scratch ? DJ_OK : DJ_NO_MEMORY;
  if (status == DJ_OK) status = addRows(&rows, start, value, d, scratch, scratch + n);
  int* index = dj_poolTake(&w->pool, (size_t)rows.n, sizeof *index);
  double* entry = dj_poolTake(&w->pool, (size_t)rows.n, sizeof *entry);
  if (!index || !entry) status = DJ_NO_MEMORY;
  if (status == DJ_OK && rows.n > 0) {
    memcpy(index, rows.index, (size_t)rows.n * sizeof *index);
    dj_copyNumbers(entry, rows.entry, rows.n);
  }
  dj_poolFree(&own);
  d->nequal = (int)m;
  d->equal_start = start;
  d->equal_index = index;
  d->equal = entry;
  d->value = value;
  return status;
}
