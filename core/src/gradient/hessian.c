// Hessian-vector products of runs: what they are asked for, and the passes.

#include "gradient/hessian.h"

#include "base/status.h"
#include "integrate/outside.h"
#include "math/so3.h"
#include "model/joint_type.h"
#include "model/param.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Of directions by their size: where differences begin, and the longest.
static const double FIRST = 1e-3, LONGEST = 1.6e-2;

// ---- a product ----------------------------------------------------------------------------------

static djStatus checkDirection(const djVariation* along, const djModel* m, djData* d,
                               const djRollout* r) {
  djError* err = &d->work->error;
  size_t T = (size_t)r->horizon;
  const struct {
    const char* name;
    const double* v;
    size_t n;
  } list[] = {{"qpos0", along->qpos0, (size_t)m->nv},
              {"qvel0", along->qvel0, (size_t)m->nv},
              {"act0", along->act0, (size_t)m->na},
              {"history_qpos0", along->history_qpos0, (size_t)m->nv},
              {"history_qvel0", along->history_qvel0, (size_t)m->nv},
              {"ctrl", along->ctrl, T * (size_t)m->nu}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    char name[48];
    snprintf(name, sizeof name, "direction: %s", list[k].name);
    if (!list[k].v) continue;
    djStatus status = dj_checkFinite(err, name, list[k].v, (int)list[k].n);
    if (status < 0) return status;
  }
  if (along->nparam < 0 || (along->nparam > 0 && !along->param)) {
    return dj_fail(err, DJ_INVALID, "direction: param: missing");
  }
  djStatus status = dj_checkParams(m, along->nparam, along->param, err);
  const double* value = along->value;
  for (int i = 0; i < along->nparam && value && status == DJ_OK; i++) {
    status = dj_checkFinite(err, "direction: value", value, along->param[i].ntangent);
    value += along->param[i].ntangent;
  }
  if (status < 0 || !dj_isOutside(m) || along->nparam == 0) return status;
  char name[200];
  return dj_fail(err, DJ_UNSUPPORTED,
                 "%s: no second derivatives by parameters under contact mujoco",
                 dj_paramName(name, sizeof name, m, along->param));
}

static djStatus checkCall(const djVariation* along, const djModel* m, djData* d, const djRollout* r,
                          const djTape* tape, const djHessian* h) {
  djError* err = &d->work->error;
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  if (!dj_sameSizes(&h->sizes, m) || h->horizon < r->horizon) {
    return dj_fail(err, DJ_INVALID, "hessian: made for another model or a shorter horizon");
  }
  if (!dj_sameSizes(&tape->sizes, m)) {
    return dj_fail(err, DJ_INVALID, "tape: made for another model");
  }
  if (m->nu > 0 && !r->ctrl) return dj_fail(err, DJ_INVALID, "ctrl: missing");
  if (tape->steps != r->horizon) {
    return dj_fail(err, DJ_INVALID, "tape: holds no run of %d steps", r->horizon);
  }
  if (tape->from > 0 || tape->to < r->horizon) {
    return dj_fail(err, DJ_INVALID, "checkpoint: second derivatives need the whole tape");
  }
  if (r->along) {
    return dj_fail(err, DJ_UNSUPPORTED, "along: first derivatives by adjoints alone");
  }
  return checkDirection(along, m, d, r);
}

// Data of our own, where steps are opened anew.
static djStatus takeData(djHessian* h, const djModel* m, djData* d) {
  if (h->data == d) return DJ_OK;
  if (dj_checkData(m, h->data) < 0) {
    dj_deleteData(h->data);
    h->data = NULL;
    djStatus status = dj_makeData(&h->data, m, &d->work->error);
    if (status < 0) return status;
  }
  return dj_copyData(h->data, m, d);
}

static void setOrZero(double* to, const double* from, size_t n) {
  if (from)
    memcpy(to, from, n * sizeof *to);
  else
    memset(to, 0, n * sizeof *to);
}

static void setStart(djHessian* h, const djModel* m) {
  const djVariation* along = h->along;
  size_t nv = (size_t)m->nv, na = (size_t)m->na;
  double* dx = h->dx;
  memset(dx, 0, (size_t)dj_tangentSize(m) * sizeof *dx);
  setOrZero(dx, along->qpos0, nv);
  setOrZero(dx + nv, along->qvel0, nv);
  setOrZero(dx + 2 * nv, along->act0, na);
  if (dj_historyTangent(m) == 0 || !h->tape->kept[0]) return;
  setOrZero(dx + 2 * nv + na, along->history_qpos0, nv);
  setOrZero(dx + 3 * nv + na, along->history_qvel0, nv);
}

// The run's tangent.
static djStatus begin(djHessian* h, const djVariation* along, const djModel* m, djData* d,
                      const djRollout* r, djTape* tape) {
  djStatus status = checkCall(along, m, d, r, tape, h);
  if (status == DJ_OK) status = takeData(h, m, d);
  if (status < 0) return status;
  h->model = m;
  h->rollout = r;
  h->tape = tape;
  h->along = along;
  h->npart = h->np = 0;
  for (int k = 0; k < r->horizon; k++) h->npart += tape->nparts[k];
  for (int i = 0; i < along->nparam; i++) h->np += along->param[i].ntangent;
  h->steps = 0;
  h->error = 0;
  h->size = FIRST;
  status = dj_takeHessian(h, m);
  if (status == DJ_OK) status = dj_makeMoved(h, m);
  if (status < 0) return status;
  for (int k = 0, i = 0; k < r->horizon; k++) {
    for (int n = 0; n < tape->nparts[k]; n++) h->part_step[i++] = k;
  }
  int nv = m->nv, nx = dj_tangentSize(m);
  const djStretch parts[] = {{0, nv, NULL},
                             {nv, nv, NULL},
                             {2 * nv, nx - 2 * nv, NULL},
                             {nx, m->nu, NULL},
                             {nx + m->nu, h->np, h->weight}};
  memcpy(h->stretch, parts, sizeof parts);
  h->nstretch = sizeof parts / sizeof *parts;
  dj_weighParams(h);
  memset(h->dQ, 0, (size_t)h->npart * DJ_MAX_STAGE * (size_t)nv * sizeof(double));
  setStart(h, m);
  return dj_pushRun(h);
}

// Models go, and an error goes to the caller's data.
static djStatus end(djHessian* h, djData* d, djStatus status) {
  dj_dropMoved(h);
  h->rated = false;
  h->data->work->parts = 1;
  h->data->work->stepped = h->data->work->linearized = false;
  if (status != DJ_OK && h->data != d && *h->data->work->error.text) {
    d->work->error = h->data->work->error;
  }
  return status;
}

djStatus djd_rolloutJvp(double* dstate, const djVariation* along, const djModel* m, djData* d,
                        const djRollout* r, djTape* tape, djHessian* h) {
  if (!dstate || !along || !m || !d || !r || !tape || !h) return DJ_INVALID;
  djStatus status = begin(h, along, m, d, r, tape);
  bool rated = h->rated;
  size_t nx = (size_t)dj_tangentSize(m);
  for (int i = 0; status == DJ_OK && i <= h->npart; i++) {
    int k = i < h->npart ? h->part_step[i] : r->horizon;
    if (i > 0 && i < h->npart && h->part_step[i - 1] == k) continue;
    memcpy(dstate + (size_t)k * nx, h->dx + (size_t)i * nx, nx * sizeof *dstate);
  }
  status = end(h, d, status);
  h->rated = rated;
  return status;
}

// ---- cotangents ---------------------------------------------------------------------------------

static djStatus takeRates(djHessian* h, const djModel* m, int horizon, djData* d) {
  size_t T = (size_t)horizon, nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  size_t need = ((T + 1) * nx + T * nu) * sizeof(double);
  void* memory = h->rate;
  djStatus status = dj_hessianRoom(&memory, &h->nrate, need, d);
  h->rate = memory;
  h->ctrl_rate = h->rate + (T + 1) * nx;
  return status;
}

djStatus djd_setCotangentRates(djHessian* h, const djModel* m, const djTape* t,
                               const double* dstate, const double* dctrl) {
  if (!h || !m || !t || t->states < 1) return DJ_INVALID;
  if (!dj_sameSizes(&h->sizes, m) || !dj_sameSizes(&t->sizes, m) || h->horizon < t->states) {
    return dj_fail(&h->data->work->error, DJ_INVALID, "hessian: made for another model");
  }
  size_t T = (size_t)t->states, nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  djStatus status = takeRates(h, m, t->states, h->data);
  if (status < 0) return status;
  setOrZero(h->rate, dstate, (T + 1) * nx);
  setOrZero(h->ctrl_rate, dctrl, T * nu);
  h->rated = true;
  return DJ_OK;
}

// First part of step k; k = horizon: the end.
static int firstPart(const djHessian* h, int k) {
  int i = 0;
  while (i < h->npart && h->part_step[i] < k) i++;
  return i;
}

// A callback's derivatives of the run moved by e: out (horizon + 1 x nx, then horizon x nu).
static djStatus askCallback(double* out, void* user, double e) {
  djHessian* h = user;
  const djModel* m = h->model;
  const djRollout* r = h->rollout;
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu, T = (size_t)r->horizon;
  size_t nv = (size_t)m->nv, na = (size_t)m->na;
  for (size_t k = 0; k <= T; k++) {
    const double* dx = h->dx + (size_t)firstPart(h, (int)k) * nx;
    dj_integratePos(h->run_q + k * m->nq, m, dj_tapeQpos(h->tape, m, (int)k), dx, e);
    const double *v = dj_tapeQvel(h->tape, m, (int)k), *act = h->tape->act + k * na;
    for (size_t i = 0; i < nv; i++) h->run_v[k * nv + i] = v[i] + e * dx[nv + i];
    for (size_t i = 0; i < na; i++) h->run_act[k * na + i] = act[i] + e * dx[2 * nv + i];
  }
  const double* du = h->along->ctrl;
  for (size_t i = 0; i < T * nu; i++) h->ctrl[i] = r->ctrl[i] + (du ? e * du[i] : 0);
  memset(out, 0, ((T + 1) * nx + T * nu) * sizeof *out);
  r->callback(r->user, m, r->horizon, h->run_q, h->run_v, h->run_act, h->ctrl, out,
              out + (T + 1) * nx);
  return DJ_OK;
}

static djStatus rateCallback(djHessian* h) {
  const djModel* m = h->model;
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu, T = (size_t)h->rollout->horizon;
  const djStretch all[] = {{0, (int)((T + 1) * nx), NULL},
                           {(int)((T + 1) * nx), (int)(T * nu), NULL}};
  double step = INFINITY;
  djStatus status = takeRates(h, m, h->rollout->horizon, h->data);
  if (status < 0) return status;
  for (int i = 0; i <= h->npart; i++) step = fmin(step, dj_stepFor(h, i));
  h->rated = true;
  return dj_differ(h->rate, NULL, &step, &h->error, all[0].n + all[1].n, all, 2, askCallback, h,
                   h->sample);
}

// A cotangent l on log(x+^-1 x) at x = x+ (+) e dx is l - e (dx x l)/2 in axes that turn.
static void fixEnd(djHessian* h) {
  const djModel* m = h->model;
  const double* dx = h->dx + (size_t)h->npart * (size_t)dj_tangentSize(m);
  const double* l = h->tape->dstate + (size_t)h->rollout->horizon * (size_t)dj_tangentSize(m);
  size_t history = 2 * (size_t)m->nv + (size_t)m->na;
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j);
    for (size_t part = 0; dof >= 0 && part < (dj_historyTangent(m) > 0 ? 2 : 1); part++) {
      size_t at = (size_t)dof + part * history;
      djVec3 turn = dju_cross3(dju_load3(dx + at), dju_load3(l + at));
      dju_addTo3(h->dlambda + at, -0.5, turn);
    }
  }
}

// ---- the passes ---------------------------------------------------------------------------------

static djStatus pull(djHessian* h) {
  const djModel* m = h->model;
  int T = h->rollout->horizon;
  size_t nx = (size_t)dj_tangentSize(m), size = sizeof(double);
  memset(h->lambda, 0, nx * size);
  memset(h->dlambda, 0, nx * size);
  memset(h->du, 0, (size_t)T * (size_t)m->nu * size);
  memset(h->dtheta, 0, (size_t)h->np * size);
  memset(h->theta, 0, (size_t)h->np * size);
  if (h->fixed) fixEnd(h);
  djStatus status = dj_pullLoss(h, T, h->npart);
  for (int i = h->npart - 1; i >= 0 && status == DJ_OK; i--) {
    int k = h->part_step[i];
    status = dj_pullPart(h, i);
    h->size = fmin(h->size, LONGEST);
    if (status == DJ_OK && (i == 0 || h->part_step[i - 1] != k)) status = dj_pullLoss(h, k, i);
    if (status == DJ_OK && h->rollout->watch.progress) {
      status = dj_tell(&h->rollout->watch, 1 - (double)i / h->npart, &h->data->work->error);
    }
  }
  return status;
}

// H v = change + (v x g)/2 of a turn.
static void straighten(double* product, const double* along, const double* g) {
  djVec3 turn = dju_cross3(dju_load3(along), dju_load3(g));
  dju_addTo3(product, 0.5, turn);
}

static void straightenState(djHessian* h) {
  const djModel* m = h->model;
  size_t history = 2 * (size_t)m->nv + (size_t)m->na;
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j);
    for (size_t part = 0; dof >= 0 && part < (dj_historyTangent(m) > 0 ? 2 : 1); part++) {
      size_t at = (size_t)dof + part * history;
      straighten(h->dlambda + at, h->dx + at, h->lambda + at);
    }
  }
}

static void straightenParams(djHessian* h) {
  const double *along = h->along->value, *base = h->base;
  double *product = h->dtheta, *g = h->theta;
  for (int i = 0; i < h->along->nparam && along; i++) {
    const djParam* p = &h->along->param[i];
    int plain = p->nvalue == p->ntangent ? p->nvalue : p->nvalue - 4;
    if (plain < p->nvalue) straighten(product + plain, along + plain, g + plain);
    if (dj_paramIsAxis(h->model, p)) { // of a/|a|, whose length changes with it
      double longer = dju_dot3(dju_load3(base), dju_load3(along));
      for (int k = 0; k < 3; k++) product[k] -= longer * g[k];
    }
    product += p->ntangent;
    g += p->ntangent;
    along += p->ntangent;
    base += p->nvalue;
  }
}

static void give(double* to, const double* from, size_t n) {
  if (to) memcpy(to, from, n * sizeof *to);
}

static void giveProduct(djVariation* product, djHessian* h, bool symmetric) {
  const djModel* m = h->model;
  size_t nv = (size_t)m->nv, na = (size_t)m->na;
  if (symmetric) {
    straightenState(h);
    straightenParams(h);
  }
  give(product->qpos0, h->dlambda, nv);
  give(product->qvel0, h->dlambda + nv, nv);
  give(product->act0, h->dlambda + 2 * nv, na);
  double* history[] = {product->history_qpos0, product->history_qvel0};
  for (size_t k = 0; k < 2; k++) {
    if (!history[k]) continue;
    bool any = dj_historyTangent(m) > 0;
    setOrZero(history[k], any ? h->dlambda + (2 + k) * nv + na : NULL, nv);
  }
  give(product->ctrl, h->du, (size_t)h->rollout->horizon * (size_t)m->nu);
  give(product->value, h->dtheta, (size_t)h->np);
}

djStatus dj_rolloutHvp(djVariation* product, const djVariation* along, const djModel* m, djData* d,
                       const djRollout* r, djTape* tape, djHessian* h, bool symmetric) {
  djStatus status = begin(h, along, m, d, r, tape);
  if (status == DJ_OK && r->callback) status = rateCallback(h);
  if (status == DJ_OK) status = dj_pushReferences(h);
  if (status == DJ_OK) status = pull(h);
  if (status == DJ_OK) giveProduct(product, h, symmetric);
  return end(h, d, status);
}

djStatus djd_rolloutHvp(djVariation* product, const djVariation* along, const djModel* m, djData* d,
                        const djRollout* r, djTape* tape, djHessian* h) {
  if (!product || !along || !m || !d || !r || !tape || !h) return DJ_INVALID;
  return dj_rolloutHvp(product, along, m, d, r, tape, h, true);
}

// ---- one step -----------------------------------------------------------------------------------

enum { REFINEMENT = 8 }; // so that derivatives are of a solution

static djStatus takeStep(djHessian* h, const djRollout* r, const djModel* m, const double* lambda) {
  size_t nx = (size_t)dj_tangentSize(m);
  djRolloutResult result = {0};
  djStatus status = DJ_OK;
  if (!h->step) status = djd_makeTape(&h->step, m, 1, &h->data->work->error);
  if (status == DJ_OK) status = djd_rolloutForward(&result, m, h->data, r, h->step);
  if (status < 0 || status == DJ_SINGULAR) return status;
  h->step->given = true;
  memset(h->step->dstate, 0, nx * sizeof *lambda);
  memcpy(h->step->dstate + nx, lambda, nx * sizeof *lambda);
  return DJ_OK;
}

djStatus djd_stepHvp(djVariation* product, const djVariation* along, const double* lambda,
                     const djModel* m, djData* d, djHessian* h) {
  if (!product || !along || !lambda || !m || !d || !h) return DJ_INVALID;
  djStatus status = dj_checkData(m, d);
  if (status == DJ_OK && !dj_sameSizes(&h->sizes, m)) {
    status = dj_fail(&d->work->error, DJ_INVALID, "hessian: made for another model");
  }
  if (status == DJ_OK) {
    status = dj_checkFinite(&d->work->error, "lambda", lambda, dj_tangentSize(m));
  }
  if (status == DJ_OK) status = takeData(h, m, d);
  if (status < 0) return status;
  djData* own = h->data;
  const djRollout r = {.horizon = 1,
                       .qpos0 = own->qpos,
                       .qvel0 = own->qvel,
                       .act0 = own->act,
                       .ctrl = d->ctrl,
                       .refinement_steps = REFINEMENT};
  status = takeStep(h, &r, m, lambda);
  h->rated = false;
  h->fixed = true;
  if (status == DJ_OK) status = dj_rolloutHvp(product, along, m, own, &r, h->step, h, true);
  h->fixed = false;
  if (status != DJ_OK) d->work->error = own->work->error;
  return status;
}
