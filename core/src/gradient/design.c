// The loss as a function of the variables.
//
// x -> values of parameters, start and controls: base values, over which the entries of x are
// written; then the maps, in order, each from its free vector. Backwards: the gradient by values is
// led through the maps in reverse order (what a map replaced has no influence), then gathered.
//
// Rotations. Derivatives of a rollout by a quaternion q are by the 3-vector d of q exp(d).
//   q = q0 exp(w), the chart of x: exp(w + dw) = exp(w) exp(J_r(w) dw), so dL/dw = J_r^T g.
//   q = p/|p| of four free numbers p (maps): d = 2 vec(q* dp)/|p|, so dL/dp = 2/|p| q (0, g).
//   a = p/|p| of an axis: dL/dp = (g - a (a.g))/|p|.

#include "base/status.h"
#include "gradient/map.h"
#include "gradient/problem.h"
#include "integrate/work.h"
#include "math/so3.h"
#include "model/make.h"
#include "model/param.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Full Newton steps that may follow convergence, as long as the decrement falls: they make loss and
// gradient reproducible far below the tolerance.
enum { POLISH = 8 };

typedef struct djDesignMemory {
  djPool pool;
  int nvalue;        // of all parameters
  int nz;            // of all free vectors
  int nctrl;         // horizon x nu
  int* valueadr;     // (nparam) where a parameter's values start
  int* tangentadr;   // (nparam) where its gradient starts
  int* zadr;         // (nfree)
  double* base;      // (nvalue) of the model as given
  double* value;     // (nvalue) at x, before normalisation
  double* set;       // (nvalue) that the model has
  double* dvalue;    // (nvalue)
  double* z;         // (nz) free vectors at x
  double* dz;        // (nz)
  double* qpos0;     // (nq) at x, likewise the following
  double* qvel0;     // (nv)
  double* act0;      // (na)
  double* ctrl;      // (nctrl)
  double* dctrl;     // (nctrl)
  double* tangent;   // (max of nv and parameters' tangents) rotation vectors
  double* dqpos0;    // (nv)
  double* out;       // outputs of a map
  double* work;      // its scratch
  double* trial;     // (n) of djd_checkDesign
} djDesignMemory;

static djDesignMemory* memoryOf(const djDesign* d) { return d->memory; }

// ---- making -----------------------------------------------------------------------------------

// Sizes and addresses.
static djStatus measure(djDesign* d, const djModel* m, djPool* pool) {
  djDesignMemory* w = memoryOf(d);
  const djProblem* p = d->problem;
  int* adr = dj_poolTake(pool, (size_t)p->nvariable + 1, sizeof(int));
  w->valueadr = dj_poolTake(pool, (size_t)p->nparam, sizeof(int));
  w->tangentadr = dj_poolTake(pool, (size_t)p->nparam, sizeof(int));
  w->zadr = dj_poolTake(pool, (size_t)p->nfree, sizeof(int));
  if (!adr || !w->valueadr || !w->tangentadr || !w->zadr) return DJ_NO_MEMORY;
  for (int i = 0; i < p->nvariable; i++) {
    adr[i] = d->n;
    d->n += p->variable[i].n;
  }
  adr[p->nvariable] = d->n;
  d->adr = adr;
  int tangent = 0;
  for (int k = 0; k < p->nparam; k++) {
    w->valueadr[k] = w->nvalue;
    w->tangentadr[k] = tangent;
    w->nvalue += p->param[k].nvalue;
    tangent += p->param[k].ntangent;
  }
  for (int k = 0; k < p->nfree; k++) {
    w->zadr[k] = w->nz;
    w->nz += p->free[k].n;
  }
  w->nctrl = p->rollout.horizon * m->nu;
  return DJ_OK;
}

static djStatus takeNumbers(djDesign* d, const djModel* m, djPool* pool) {
  djDesignMemory* w = memoryOf(d);
  const djProblem* p = d->problem;
  djRolloutResult* r = &d->result;
  size_t nv = m->nv, n = d->n, tangent = p->nparamtangent, nout = 0, nwork = 0;
  for (int k = 0; k < p->nmap; k++) {
    if ((size_t)p->map[k].nout > nout) nout = (size_t)p->map[k].nout;
    if (p->map[k].nwork > nwork) nwork = p->map[k].nwork;
  }
  struct {
    double** array;
    size_t n;
  } list[] = {{&d->x, n}, {&w->trial, n},
              {&w->base, w->nvalue}, {&w->value, w->nvalue}, {&w->set, w->nvalue},
              {&w->dvalue, w->nvalue}, {&w->z, w->nz}, {&w->dz, w->nz},
              {&w->qpos0, m->nq}, {&w->qvel0, nv}, {&w->act0, m->na}, {&w->ctrl, w->nctrl},
              {&w->dctrl, w->nctrl}, {&w->tangent, nv > tangent ? nv : tangent},
              {&w->dqpos0, nv}, {&w->out, nout}, {&w->work, nwork},
              {&r->term, p->rollout.nloss}, {&r->grad_qpos0, nv}, {&r->grad_qvel0, nv},
              {&r->grad_act0, m->na}, {&r->grad_ctrl, w->nctrl}, {&r->grad_param, tangent}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    *list[i].array = dj_poolTake(pool, list[i].n, sizeof(double));
    if (!*list[i].array) return DJ_NO_MEMORY;
  }
  r->nparam = p->nparam;
  r->param = p->param;
  d->rollout = p->rollout;
  d->rollout.polish = POLISH;
  d->rollout.qpos0 = w->qpos0;
  d->rollout.qvel0 = w->qvel0;
  d->rollout.act0 = w->act0;
  d->rollout.ctrl = w->ctrl;
  return DJ_OK;
}

// Place in qpos of a dof that is no rotation.
static int qposOf(const djModel* m, int dof) {
  int j = m->dof_jnt[dof];
  return m->jnt_qposadr[j] + dof - m->jnt_dofadr[j];
}

// The task's own value of an entry.
static double startOf(const djDesign* d, const djVariable* v, int k) {
  const djProblem* p = d->problem;
  int entry = v->adr + v->index[k];
  if (dj_variableIsRotation(p, d->model, v, v->index[k])) return 0;
  switch (v->kind) {
    case DJ_VAR_CTRL: return p->ctrl[entry];
    case DJ_VAR_QPOS0:
    case DJ_VAR_QPOS0_JOINT: return p->qpos0[qposOf(d->model, entry)];
    case DJ_VAR_QVEL0:
    case DJ_VAR_QVEL0_JOINT: return p->qvel0[entry];
    case DJ_VAR_ACT0: return p->act0[entry];
    case DJ_VAR_FREE: return p->free[v->free].value[v->index[k]];
    case DJ_VAR_PARAM: break;
  }
  djDesignMemory* w = memoryOf(d);
  return w->base[w->valueadr[v->param] + v->index[k]];
}

// Does the variable change the model?
static bool isOfModel(const djProblem* p, const djVariable* v) {
  if (v->kind == DJ_VAR_PARAM) return true;
  for (int k = 0; k < p->nmap && v->kind == DJ_VAR_FREE; k++) {
    const djMap* map = &p->map[k];
    for (int t = 0; t < map->ntarget && map->from == v->free; t++) {
      if (map->target[t].param >= 0) return true;
    }
  }
  return false;
}

static djStatus fillEntries(djDesign* d, djPool* pool) {
  djDesignMemory* w = memoryOf(d);
  const djProblem* p = d->problem;
  double *x0 = dj_poolTake(pool, 3 * (size_t)d->n, sizeof(double));
  int* group = dj_poolTake(pool, (size_t)d->n, sizeof(int));
  if (!x0 || !group) return DJ_NO_MEMORY;
  double *lower = x0 + d->n, *upper = lower + d->n;
  for (int k = 0; k < p->nparam; k++) {
    if (dj_getParam(w->base + w->valueadr[k], d->model, &p->param[k]) < 0) return DJ_INVALID;
  }
  dj_copyNumbers(w->set, w->base, w->nvalue);
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    for (int k = 0; k < v->n; k++) {
      int e = d->adr[i] + k;
      x0[e] = startOf(d, v, k);
      lower[e] = v->min[k];
      upper[e] = v->max[k];
      group[e] = isOfModel(p, v) ? 0 : 1;
    }
  }
  d->x0 = x0;
  d->lower = lower;
  d->upper = upper;
  d->group = group;
  return DJ_OK;
}

static djStatus makeRun(djDesign* d, djError* err) {
  djStatus status = dj_makeData(&d->data, d->model, err);
  if (status == DJ_OK && d->problem->key >= 0) dj_resetKey(d->model, d->data, d->problem->key);
  return status;
}

djStatus djd_makeDesign(djDesign** design, const djModel* model, const djProblem* problem,
                        djError* err) {
  if (!design) return dj_fail(err, DJ_INVALID, "design: NULL");
  *design = NULL;
  if (!model || !problem) return dj_fail(err, DJ_INVALID, "model or problem: NULL");
  djDesign* d = calloc(1, sizeof *d);
  djDesignMemory* w = calloc(1, sizeof *w);
  if (!d || !w) {
    free(d);
    free(w);
    return dj_failMemory(err);
  }
  d->problem = problem;
  d->memory = w;
  djStatus status = dj_copyModel(&d->model, model, err);
  if (status == DJ_OK) status = makeRun(d, err);
  if (status == DJ_OK) status = djd_makeTape(&d->tape, d->model, problem->rollout.horizon, err);
  if (status == DJ_OK) {
    status = measure(d, model, &w->pool);
    if (status == DJ_OK) status = takeNumbers(d, model, &w->pool);
    if (status == DJ_OK) status = fillEntries(d, &w->pool);
    if (status == DJ_NO_MEMORY) dj_failMemory(err);
    if (status == DJ_INVALID) dj_fail(err, status, "the problem is of another model");
  }
  if (status == DJ_OK && djd_moveDesign(d, d->x0) < 0) {
    status = dj_fail(err, DJ_INVALID, "%.500s", d->error.text);
  }
  if (status < 0) {
    djd_deleteDesign(d);
    return status;
  }
  *design = d;
  return DJ_OK;
}

void djd_deleteDesign(djDesign* d) {
  if (!d) return;
  djd_deleteTape(d->tape);
  dj_deleteData(d->data);
  dj_deleteModel(d->model);
  dj_poolFree(&memoryOf(d)->pool);
  free(d->memory);
  free(d);
}

// ---- x to values ------------------------------------------------------------------------------

// q = normalised q0, turned by w.
static void turn(double q[4], const double q0[4], const double w[3]) {
  if (w[0] == 0 && w[1] == 0 && w[2] == 0) return;
  djQuat start = dju_normalizeQuat(dju_loadQuat(q0));
  djQuat step = dju_expQuat(dju_load3(w));
  dju_storeQuat(q, dju_normalizeQuat(dju_mulQuat(start, step)));
}

// Entries of a parameter: plain numbers first, then a quaternion's 3-vector if it has one.
static void placeParam(djDesign* d, const djVariable* v, const double* x) {
  djDesignMemory* w = memoryOf(d);
  const djParam* param = &d->problem->param[v->param];
  double* value = w->value + w->valueadr[v->param];
  int plain = param->nvalue == param->ntangent ? param->nvalue : param->nvalue - 4;
  double turned[3] = {0, 0, 0};
  for (int k = 0; k < v->n; k++) {
    int i = v->index[k];
    if (i < plain) value[i] = x[k];
    else turned[i - plain] = x[k];
  }
  if (plain < param->nvalue) turn(value + plain, value + plain, turned);
}

// Start: plain entries at once, rotation vectors are gathered first.
static void placeQpos(djDesign* d, const double* x) {
  djDesignMemory* w = memoryOf(d);
  const djModel* m = d->model;
  const djProblem* p = d->problem;
  memset(w->tangent, 0, (size_t)m->nv * sizeof(double));
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    if (v->kind != DJ_VAR_QPOS0 && v->kind != DJ_VAR_QPOS0_JOINT) continue;
    for (int k = 0; k < v->n; k++) {
      int dof = v->adr + v->index[k], e = d->adr[i] + k;
      if (x[e] == d->x0[e]) continue;  // a whole vector and a part of it may vary
      if (dj_variableIsRotation(p, m, v, v->index[k])) w->tangent[dof] = x[e];
      else w->qpos0[qposOf(m, dof)] = x[e];
    }
  }
  for (int j = 0; j < m->njnt; j++) {
    int type = m->jnt_type[j], more = type == DJ_FREE ? 3 : 0;
    if (type != DJ_FREE && type != DJ_BALL) continue;
    double* q = w->qpos0 + m->jnt_qposadr[j] + more;
    turn(q, q, w->tangent + m->jnt_dofadr[j] + more);
  }
}

static void placeEntries(double* array, const djDesign* d, int variable, const double* x) {
  const djVariable* v = &d->problem->variable[variable];
  for (int k = 0; k < v->n; k++) {
    int e = d->adr[variable] + k;
    if (x[e] != d->x0[e]) array[v->adr + v->index[k]] = x[e];
  }
}

static void place(djDesign* d, const double* x) {
  djDesignMemory* w = memoryOf(d);
  const djProblem* p = d->problem;
  dj_copyNumbers(w->value, w->base, w->nvalue);
  dj_copyNumbers(w->qpos0, p->qpos0, d->model->nq);
  dj_copyNumbers(w->qvel0, p->qvel0, d->model->nv);
  dj_copyNumbers(w->act0, p->act0, d->model->na);
  dj_copyNumbers(w->ctrl, p->ctrl, w->nctrl);
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
      case DJ_VAR_PARAM: placeParam(d, v, x + d->adr[i]); break;
      case DJ_VAR_QPOS0:
      case DJ_VAR_QPOS0_JOINT: break;  // together
    }
  }
  placeQpos(d, x);
}

static double* targetOf(double* value, double* ctrl, const djDesignMemory* w,
                        const djMapTarget* t) {
  return (t->param >= 0 ? value + w->valueadr[t->param] : ctrl) + t->start;
}

static void applyMaps(djDesign* d) {
  djDesignMemory* w = memoryOf(d);
  for (int i = 0; i < d->problem->nmap; i++) {
    const djMap* map = &d->problem->map[i];
    map->type->apply(w->out, map, w->z + w->zadr[map->from], w->work);
    const double* out = w->out;
    for (int k = 0; k < map->ntarget; k++) {
      const djMapTarget* t = &map->target[k];
      double* place_of = targetOf(w->value, w->ctrl, w, t);
      for (int e = 0; e < t->n; e++) {
        double* one = place_of + (size_t)e * (size_t)t->stride;
        *one = map->type->adds ? *one + *out : *out;
        out++;
      }
    }
  }
}

// Give the model the values that changed.
static djStatus setParams(djDesign* d) {
  djDesignMemory* w = memoryOf(d);
  const djProblem* p = d->problem;
  for (int k = 0; k < p->nparam; k++) {
    int n = p->param[k].nvalue;
    double *value = w->value + w->valueadr[k], *set = w->set + w->valueadr[k];
    if (n == 0 || memcmp(value, set, (size_t)n * sizeof *value) == 0) continue;
    djStatus status = dj_setParam(d->model, &p->param[k], value, &d->error);
    if (status < 0) return status;
    dj_copyNumbers(set, value, n);
  }
  return DJ_OK;
}

djStatus djd_moveDesign(djDesign* d, const double* x) {
  if (!d || !x) return DJ_INVALID;
  for (int k = 0; k < d->n; k++) {
    if (!isfinite(x[k])) return dj_fail(&d->error, DJ_INVALID, "x[%d] is not finite", k);
  }
  if (x != d->x) dj_copyNumbers(d->x, x, d->n);
  place(d, d->x);
  applyMaps(d);
  djStatus status = setParams(d);
  if (status < 0 || dj_checkData(d->model, d->data) == DJ_OK) return status;
  dj_deleteData(d->data);  // changed shapes can touch more of each other
  d->data = NULL;
  return makeRun(d, &d->error);
}

// ---- rollout ----------------------------------------------------------------------------------

djStatus djd_forwardDesign(double* loss, djDesign* d, const double* x, bool for_gradient) {
  if (!loss || !d) return DJ_INVALID;
  djStatus status = djd_moveDesign(d, x);
  if (status < 0) return status;
  d->rollout.loss_only = !for_gradient;
  status = djd_rolloutForward(&d->result, d->model, d->data, &d->rollout, d->tape);
  *loss = d->result.loss;
  if (status < 0) return dj_fail(&d->error, status, "%.500s", dj_errorText(d->data));
  return status;
}

// Gradient by the values of a parameter, before normalisation, from that by its tangent.
static void unnormalize(double* dvalue, const djDesign* d, int k) {
  const djDesignMemory* w = memoryOf(d);
  const djParam* param = &d->problem->param[k];
  const double *value = w->value + w->valueadr[k], *g = d->result.grad_param + w->tangentadr[k];
  int plain = param->nvalue == param->ntangent ? param->nvalue : param->nvalue - 4;
  dj_copyNumbers(dvalue, g, plain);
  if (plain < param->nvalue) {
    djQuat p = dju_loadQuat(value + plain), q = dju_normalizeQuat(p);
    double s = 2 / sqrt(p.w * p.w + p.x * p.x + p.y * p.y + p.z * p.z);
    djQuat by = {0, s * g[plain], s * g[plain + 1], s * g[plain + 2]};
    dju_storeQuat(dvalue + plain, dju_mulQuat(q, by));
  }
  int type = param->field == DJ_FIELD_JOINT_AXIS ? d->model->jnt_type[param->id] : DJ_FREE;
  if (type == DJ_SLIDE || type == DJ_HINGE) {
    djVec3 p = dju_load3(value), by = dju_load3(g);
    double length = dju_norm3(p);
    djVec3 a = dju_scale3(1 / length, p);
    dju_store3(dvalue, dju_scale3(1 / length, dju_madd3(by, -dju_dot3(a, by), a)));
  }
}

// Through the maps, last one first. dvalue and dctrl become those by what variables set.
static void mapsVjp(djDesign* d) {
  djDesignMemory* w = memoryOf(d);
  for (int i = d->problem->nmap - 1; i >= 0; i--) {
    const djMap* map = &d->problem->map[i];
    double* out = w->out;
    for (int k = 0; k < map->ntarget; k++) {
      const djMapTarget* t = &map->target[k];
      double* place_of = targetOf(w->dvalue, w->dctrl, w, t);
      for (int e = 0; e < t->n; e++) {
        double* one = place_of + (size_t)e * (size_t)t->stride;
        *out++ = *one;
        if (!map->type->adds) *one = 0;
      }
    }
    int at = w->zadr[map->from];
    map->type->vjp(w->dz + at, map, w->z + at, w->out, w->work);
  }
}

// g (3) by d of q exp(d) -> by w of q0 exp(w).
static void toChart(double g[3], const double w[3]) {
  if (w[0] == 0 && w[1] == 0 && w[2] == 0) return;
  dju_store3(g, dju_mulMtV(dju_rightJacobian(dju_load3(w)), dju_load3(g)));
}

static void gradientOfQpos(djDesign* d) {
  djDesignMemory* w = memoryOf(d);
  const djModel* m = d->model;
  dj_copyNumbers(w->dqpos0, d->result.grad_qpos0, m->nv);
  for (int j = 0; j < m->njnt; j++) {
    int type = m->jnt_type[j], dof = m->jnt_dofadr[j] + (type == DJ_FREE ? 3 : 0);
    if (type == DJ_FREE || type == DJ_BALL) toChart(w->dqpos0 + dof, w->tangent + dof);
  }
}

static void gatherParam(double* grad, const djDesign* d, int variable) {
  const djDesignMemory* w = memoryOf(d);
  const djVariable* v = &d->problem->variable[variable];
  const djParam* param = &d->problem->param[v->param];
  int plain = param->nvalue == param->ntangent ? param->nvalue : param->nvalue - 4;
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
  djDesignMemory* w = memoryOf(d);
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
      case DJ_VAR_PARAM: gatherParam(out, d, i); break;
    }
    for (int k = 0; k < v->n && from; k++) out[k] = from[v->adr + v->index[k]];
  }
}

djStatus djd_backwardDesign(double* grad, djDesign* d) {
  if (!grad || !d) return DJ_INVALID;
  djDesignMemory* w = memoryOf(d);
  djStatus status = djd_rolloutBackward(&d->result, d->model, d->data, &d->rollout, d->tape);
  if (status < 0) return dj_fail(&d->error, status, "%.500s", dj_errorText(d->data));
  for (int k = 0; k < d->problem->nparam; k++) unnormalize(w->dvalue + w->valueadr[k], d, k);
  dj_copyNumbers(w->dctrl, d->result.grad_ctrl, w->nctrl);
  memset(w->dz, 0, (size_t)w->nz * sizeof *w->dz);
  mapsVjp(d);
  gather(grad, d);
  return status;
}

djStatus djd_evaluateDesign(double* loss, double* grad, djDesign* d, const double* x) {
  djStatus status = djd_forwardDesign(loss, d, x, grad != NULL);
  if (status < 0 || status == DJ_SINGULAR || !grad) return status;
  djStatus backward = djd_backwardDesign(grad, d);
  return backward == DJ_OK ? status : backward;
}

djStatus djd_designObjective(void* design, double* loss, double* grad, const double* x) {
  djDesign* d = design;
  djStatus status = djd_evaluateDesign(loss, grad, d, x);
  if (status < 0) return status;
  if (status == DJ_SINGULAR) {
    return dj_fail(&d->error, DJ_INVALID, "a step's Jacobian is singular");
  }
  return isfinite(*loss) ? status : dj_fail(&d->error, DJ_INVALID, "the loss is not finite");
}

// ---- output -----------------------------------------------------------------------------------

void djd_designValue(double* value, const djDesign* d, int variable) {
  if (!value || !d || variable < 0 || variable >= d->problem->nvariable) return;
  const djDesignMemory* w = memoryOf(d);
  const djVariable* v = &d->problem->variable[variable];
  const double* from = NULL;
  switch (v->kind) {
    case DJ_VAR_CTRL: from = w->ctrl; break;
    case DJ_VAR_QPOS0:
    case DJ_VAR_QPOS0_JOINT: from = w->qpos0; break;
    case DJ_VAR_QVEL0:
    case DJ_VAR_QVEL0_JOINT: from = w->qvel0; break;
    case DJ_VAR_ACT0: from = w->act0; break;
    case DJ_VAR_FREE: from = w->z + w->zadr[v->free]; break;
    case DJ_VAR_PARAM: dj_getParam(value, d->model, &d->problem->param[v->param]); return;
  }
  if (v->nvalue > 0) dj_copyNumbers(value, from + v->valueadr, v->nvalue);
}

// ---- certificate ------------------------------------------------------------------------------

typedef struct djLine {
  djDesign* design;
  const double* x;
  const double* direction;
} djLine;

static bool lossAlong(void* user, double e, double* loss) {
  djLine* line = user;
  djDesign* d = line->design;
  double* trial = memoryOf(d)->trial;
  for (int k = 0; k < d->n; k++) trial[k] = line->x[k] + e * line->direction[k];
  return djd_forwardDesign(loss, d, trial, false) >= 0;
}

djStatus djd_checkDesign(djdCertificate* result, djDesign* d, const double* x,
                         const double* direction, double loss, double analytic, double scale) {
  if (!result || !d || !x || !direction || x == d->x) return DJ_INVALID;
  djLine line = {d, x, direction};
  return djd_check(result, loss, analytic, scale, lossAlong, &line);
}
