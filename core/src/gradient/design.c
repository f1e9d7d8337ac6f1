// The loss as a function of the variables: making designs, moving and evaluating them.

#include "base/status.h"
#include "contact/contact.h"
#include "gradient/design_parts.h"
#include "gradient/loss.h"
#include "gradient/map.h"
#include "gradient/pieces.h"
#include "gradient/problem.h"
#include "integrate/work.h"
#include "model/make.h"
#include "model/param.h"
#include "shape/hull.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Full Newton steps that may follow convergence, as long as the decrement falls: they make loss and
// gradient reproducible far below the tolerance.
enum { REFINEMENT = 8 };

// ---- making -----------------------------------------------------------------------------------

// Sizes and addresses.
static djStatus measure(djDesign* d, const djModel* m, djPool* pool) {
  djDesignMemory* w = dj_designMemory(d);
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

// A start that is moved by the phase has no history.
void dj_setDesignHistory(djDesign* d) {
  const djDesignMemory* w = dj_designMemory(d);
  bool has = d->problem->history_qpos0 && d->phase == 0;
  d->rollout.history_qpos0 = has ? w->history_qpos0 : NULL;
  d->rollout.history_qvel0 = has ? w->history_qvel0 : NULL;
}

static djStatus takeNumbers(djDesign* d, const djModel* m, djPool* pool) {
  djDesignMemory* w = dj_designMemory(d);
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
  } list[] = {{&d->x, n}, {&w->base, w->nvalue}, {&w->value, w->nvalue}, {&w->set, w->nvalue},
              {&w->dvalue, w->nvalue}, {&w->z, w->nz}, {&w->dz, w->nz},
              {&w->qpos0, m->nq}, {&w->start, m->nq}, {&w->qvel0, nv}, {&w->act0, m->na},
              {&w->history_qpos0, m->nq}, {&w->history_qvel0, nv}, {&w->history_tangent, nv},
              {&w->dhistory_qpos0, nv},
              {&w->ctrl, w->nctrl},
              {&w->dctrl, w->nctrl}, {&w->tangent, nv > tangent ? nv : tangent},
              {&w->dqpos0, nv}, {&w->out, nout}, {&w->work, nwork},
              {&r->term, p->rollout.nloss}, {&r->grad_qpos0, nv}, {&r->grad_qvel0, nv},
              {&r->grad_act0, m->na}, {&r->grad_history_qpos0, nv},
              {&r->grad_history_qvel0, nv}, {&r->grad_ctrl, w->nctrl}, {&r->grad_param, tangent}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    *list[i].array = dj_poolTake(pool, list[i].n, sizeof(double));
    if (!*list[i].array) return DJ_NO_MEMORY;
  }
  r->nparam = p->nparam;
  r->param = p->param;
  d->rollout = p->rollout;
  d->rollout.refinement_steps = REFINEMENT;
  d->rollout.compiled = w->compiled;
  d->rollout.qpos0 = w->qpos0;
  d->rollout.qvel0 = w->qvel0;
  d->rollout.act0 = w->act0;
  dj_setDesignHistory(d);
  d->rollout.ctrl = w->ctrl;
  return DJ_OK;
}

// The task's own value of an entry.
static double startOf(const djDesign* d, const djVariable* v, int k) {
  const djProblem* p = d->problem;
  int entry = v->adr + v->index[k];
  if (dj_variableIsRotation(p, d->model, v, v->index[k])) return 0;
  switch (v->kind) {
    case DJ_VAR_CTRL: return p->ctrl[entry];
    case DJ_VAR_QPOS0:
    case DJ_VAR_QPOS0_JOINT: return p->qpos0[dj_plainQpos(d->model, entry)];
    case DJ_VAR_QVEL0:
    case DJ_VAR_QVEL0_JOINT: return p->qvel0[entry];
    case DJ_VAR_ACT0: return p->act0[entry];
    case DJ_VAR_FREE: return p->free[v->free].value[v->index[k]];
    case DJ_VAR_HISTORY_QPOS0: return p->history_qpos0[dj_plainQpos(d->model, entry)];
    case DJ_VAR_HISTORY_QVEL0: return p->history_qvel0[entry];
    case DJ_VAR_PARAM: break;
  }
  djDesignMemory* w = dj_designMemory(d);
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
  djDesignMemory* w = dj_designMemory(d);
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
  djStatus status = dj_checkTimestep(problem, model, err);
  if (status < 0) return status;
  djDesign* d = calloc(1, sizeof *d);
  djDesignMemory* w = calloc(1, sizeof *w);
  if (!d || !w) {
    free(d);
    free(w);
    return dj_failMemory(err);
  }
  d->problem = problem;
  d->memory = w;
  int changed;
  status = dj_copyModel(&w->given, model, err);
  if (problem->inertia_from_geom) w->compiled = w->given;
  if (status == DJ_OK && w->compiled) status = dj_renewFacets(&changed, w->given, w->given, err);
  if (status == DJ_OK) status = dj_copyModel(&d->model, w->given, err);
  w->behind = problem->inertia_from_geom > DJ_INERTIA_EXACT;   // not as compiled
  if (status == DJ_OK) status = makeRun(d, err);
  if (status == DJ_OK) status = djd_makeTape(&d->tape, d->model, problem->rollout.horizon, err);
  if (status == DJ_OK) status = dj_makeSmooth(&w->smooth, d->model, problem, err);
  if (status == DJ_OK) {
    status = measure(d, model, &w->pool);
    if (status == DJ_OK) status = takeNumbers(d, model, &w->pool);
    if (status == DJ_OK) status = fillEntries(d, &w->pool);
    if (status == DJ_NO_MEMORY) dj_failMemory(err);
    if (status == DJ_INVALID) dj_fail(err, status, "the problem is of another model");
  }
  if (status == DJ_OK && (djd_moveDesign(d, d->x0) < 0 || djd_renewFacets(&changed, d) < 0)) {
    status = dj_fail(err, DJ_INVALID, "%.500s", d->error.text);
  }
  if (status == DJ_OK && dj_connectDesign(d) < 0) status = dj_failMemory(err);
  if (status == DJ_OK && dj_makePieces(&w->pieces, d) < 0) status = dj_failMemory(err);
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
  djDesignMemory* w = dj_designMemory(d);
  dj_freeSmooth(&w->smooth);
  dj_deleteModel(w->given);
  if (w->hessian) w->free_hessian(w->hessian);
  dj_poolFree(&dj_designMemory(d)->pool);
  free(d->memory);
  free(d);
}

size_t djd_designBytes(const djDesign* d) {
  if (!d) return 0;
  const djDesignMemory* w = dj_designMemory(d);
  return sizeof *d + sizeof *w + w->pool.bytes + dj_modelBytes(w->given) + dj_modelBytes(d->model);
}

// ---- present point ---------------------------------------------------------------------------

// Thinner than this part of what it was, by its size, a hull is flat.
#define FLAT 1e-2

// A mesh is no thinner than it may be.
static djStatus checkHull(djDesign* d, const djParam* param) {
  const djDesignMemory* w = dj_designMemory(d);
  const djHull* hull = &d->model->collision->hull[param->id];
  const djHull* given = &w->given->collision->hull[param->id];
  if (!hull->buffer || !given->buffer) return DJ_OK;
  if (hull->inner * given->bound >= FLAT * given->inner * hull->bound) return DJ_OK;
  char name[128];
  dj_paramName(name, sizeof name, d->model, param);
  return dj_fail(&d->error, DJ_INVALID, "'%.100s': the hull would be flat", name);
}

// Give the model the values that changed.
static djStatus setParams(djDesign* d) {
  djDesignMemory* w = dj_designMemory(d);
  const djProblem* p = d->problem;
  bool changed = false, moved = false;
  for (int k = 0; k < p->nparam; k++) {
    int n = p->param[k].nvalue;
    double *value = w->value + w->valueadr[k], *set = w->set + w->valueadr[k];
    if (n == 0 || memcmp(value, set, (size_t)n * sizeof *value) == 0) continue;
    bool mesh = p->param[k].field == DJ_FIELD_MESH_VERT;
    djStatus status = dj_setParam(d->model, &p->param[k], value, &d->error);
    if (status == DJ_OK) status = dj_setSmoothParam(&w->smooth, &p->param[k], value, &d->error);
    if (status == DJ_OK) dj_copyNumbers(set, value, n);
    if (status == DJ_OK && mesh) status = checkHull(d, &p->param[k]);
    if (status < 0) {
      w->flattened += mesh && status == DJ_INVALID;
      w->behind = true;
      return status;
    }
    changed = true;
    moved |= mesh;
  }
  w->behind = (w->behind || changed) && w->compiled;
  if (!w->behind) return DJ_OK;
  djStatus status = dj_followGeomsBy(d->model, w->compiled, d->problem->inertia_from_geom,
                                     &d->error);
  if (status == DJ_OK) status = dj_followSmooth(&w->smooth, p->inertia_from_geom, &d->error);
  w->flattened += moved && status == DJ_INVALID;   // it has no mass
  w->behind = status < 0;
  return status;
}

static djStatus checkMaps(djDesign* d) {
  djDesignMemory* w = dj_designMemory(d);
  for (int i = 0; i < d->problem->nmap; i++) {
    const djMap* map = &d->problem->map[i];
    if (!map->type->check) continue;
    djStatus status = map->type->check(map, w->z + w->zadr[map->from], w->work, &d->error);
    char element[32];
    snprintf(element, sizeof element, "maps[%d]", i);
    if (status < 0) {
      w->flattened++;
      return dj_prefix(&d->error, status, element);
    }
  }
  return DJ_OK;
}

int djd_countFlattened(const djDesign* d) { return d ? dj_designMemory(d)->flattened : 0; }

// The tape's run is no longer that of the present point.
static void forgetRun(djDesign* d) {
  dj_designMemory(d)->taped = dj_designMemory(d)->differentiated = false;
}

djStatus djd_moveDesign(djDesign* d, const double* x) {
  if (!d || !x) return DJ_INVALID;
  for (int k = 0; k < d->n; k++) {
    if (!isfinite(x[k])) return dj_fail(&d->error, DJ_INVALID, "x[%d] is not finite", k);
  }
  if (x != d->x) {
    if (d->n > 0 && memcmp(d->x, x, (size_t)d->n * sizeof *x) != 0) forgetRun(d);
    dj_copyNumbers(d->x, x, d->n);
  }
  dj_placeDesign(d, d->x);
  djStatus status = checkMaps(d);
  if (status == DJ_OK) status = setParams(d);
  if (status < 0 || dj_checkData(d->model, d->data) == DJ_OK) return status;
  dj_deleteData(d->data);  // changed shapes can touch more of each other
  d->data = NULL;
  return makeRun(d, &d->error);
}

const djModel* djd_designModel(const djDesign* design) {
  return design->model;
}

djStatus djd_renewFacets(int* changed, djDesign* d) {
  if (!changed || !d) return DJ_INVALID;
  djDesignMemory* w = dj_designMemory(d);
  *changed = 0;
  if (!w->compiled) return DJ_OK;
  djStatus status = dj_renewFacets(changed, d->model, w->compiled, &d->error);
  if (status < 0 || *changed == 0) return status;
  forgetRun(d);
  status = dj_followGeomsBy(d->model, w->compiled, d->problem->inertia_from_geom, &d->error);
  w->behind = status < 0;
  if (status < 0) return status;
  return dj_renewSmooth(&w->smooth, d->problem->inertia_from_geom, &d->error);
}

djStatus djd_setPhase(djDesign* d, double phase) {
  if (!d || !isfinite(phase)) return DJ_INVALID;
  d->phase = phase;
  forgetRun(d);
  d->rollout.qpos0 = phase == 0 ? dj_designMemory(d)->qpos0 : dj_designMemory(d)->start;
  dj_setDesignHistory(d);
  dj_placeDesign(d, d->x);
  return DJ_OK;
}

// ---- rollout ----------------------------------------------------------------------------------

djStatus djd_forwardDesign(double* loss, djDesign* d, const double* x, bool for_gradient) {
  if (!loss || !d) return DJ_INVALID;
  dj_designMemory(d)->evaluations++;
  forgetRun(d);
  djStatus status = djd_moveDesign(d, x);
  if (status < 0) return status;
  djDesignMemory* w = dj_designMemory(d);
  d->rollout.loss_only = !for_gradient || w->smooth.model;
  status = djd_rolloutForward(&d->result, d->model, d->data, &d->rollout, d->tape);
  *loss = d->result.loss;
  if (status < 0) return dj_fail(&d->error, status, "%.500s", dj_errorText(d->data));
  if (for_gradient && w->smooth.model) {
    djStatus smooth = dj_forwardSmooth(d, &w->smooth);
    if (smooth < 0 || smooth == DJ_SINGULAR) return smooth;
  }
  w->taped = for_gradient && status != DJ_SINGULAR;
  return status;
}

djStatus djd_backwardDesign(double* grad, djDesign* d) {
  if (!grad || !d) return DJ_INVALID;
  const djDesignRun r = dj_gradientRun(d);
  djStatus status = djd_rolloutBackward(&d->result, r.model, r.data, r.rollout, r.tape);
  if (status < 0) return dj_fail(&d->error, status, "%.500s", dj_errorText(r.data));
  dj_gatherDesign(grad, d);
  const djProblem* p = d->problem;
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    for (int k = 0; k < v->n; k++) {
      if (isfinite(grad[d->adr[i] + k])) continue;
      return dj_fail(&d->error, DJ_INVALID, "'%.100s': its gradient is not finite", v->name);
    }
  }
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
  const djDesignMemory* w = dj_designMemory(d);
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
    case DJ_VAR_HISTORY_QPOS0: from = w->history_qpos0; break;
    case DJ_VAR_HISTORY_QVEL0: from = w->history_qvel0; break;
    case DJ_VAR_PARAM: dj_getParam(value, d->model, &d->problem->param[v->param]); return;
  }
  if (v->nvalue > 0) dj_copyNumbers(value, from + v->valueadr, v->nvalue);
}
