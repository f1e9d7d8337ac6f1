// Hessian-vector products of a design's loss by x: the run's own (gradient/hessian.h) between what
// x -> values does to a direction, and what values -> x does to a gradient that changes. Both are
// maps without dynamics, and are differentiated by differences.

#include "base/pool.h"
#include "base/status.h"
#include "gradient/design_parts.h"
#include "gradient/hessian.h"
#include "math/so3.h"
#include "model/make.h"
#include "model/param.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 7 };

struct djDesignHessian {
  djPool pool;
  djHessian* run;
  int n;                  // numbers of a start, controls and parameters
  double* gradient;       // (n) of the run by these, as its backward pass left it
  double *along, *change; // (n) direction; how the gradient changes along it
  double *x, *out;        // (design->n) the point; scratch
  const double* v;        // the direction by x
  djDesign* design;
  double* sample;
};

// Sizes of qpos0, qvel0, act0, both of the history, ctrl and parameters.
static void sizesOf(int size[KINDS], const djDesign* d) {
  const djModel* m = d->model;
  const int all[KINDS] = {
      m->nv, m->nv, m->na, m->nv, m->nv, dj_designMemory(d)->nctrl, d->problem->nparamtangent};
  memcpy(size, all, sizeof all);
}

// These parts of numbers that follow each other.
static void splitNumbers(double* part[KINDS], double* numbers, const djDesign* d) {
  int size[KINDS];
  sizesOf(size, d);
  for (int k = 0; k < KINDS; k++) {
    part[k] = numbers;
    numbers += size[k];
  }
}

static djVariation variationOf(double* numbers, const djDesign* d) {
  double* part[KINDS];
  splitNumbers(part, numbers, d);
  return (djVariation){.qpos0 = part[0],
                       .qvel0 = part[1],
                       .act0 = part[2],
                       .history_qpos0 = part[3],
                       .history_qvel0 = part[4],
                       .ctrl = part[5],
                       .nparam = d->problem->nparam,
                       .param = d->problem->param,
                       .value = part[6]};
}

static void resultArrays(double* part[KINDS], const djDesign* d) {
  const djRolloutResult* r = &d->result;
  double* all[KINDS] = {r->grad_qpos0,         r->grad_qvel0, r->grad_act0, r->grad_history_qpos0,
                        r->grad_history_qvel0, r->grad_ctrl,  r->grad_param};
  memcpy(part, all, sizeof all);
}

// The result's gradient <- base + e change.
static void setResult(djDesign* d, double* base, double* change, double e) {
  double *to[KINDS], *from[KINDS], *by[KINDS];
  int size[KINDS];
  sizesOf(size, d);
  resultArrays(to, d);
  splitNumbers(from, base, d);
  splitNumbers(by, change, d);
  for (int k = 0; k < KINDS; k++) {
    for (int i = 0; i < size[k]; i++) to[k][i] = from[k][i] + (e != 0 ? e * by[k][i] : 0);
  }
}

// ---- memory -------------------------------------------------------------------------------------

static void freeHessian(struct djDesignHessian* s) {
  djd_deleteHessian(s->run);
  dj_poolFree(&s->pool);
  free(s);
}

static djStatus makeHessian(djDesign* d) {
  djDesignMemory* w = dj_designMemory(d);
  int size[KINDS];
  struct djDesignHessian* s = calloc(1, sizeof *s);
  if (!s) return dj_failMemory(&d->error);
  sizesOf(size, d);
  for (int k = 0; k < KINDS; k++) s->n += size[k];
  size_t n = (size_t)s->n, nx = (size_t)d->n, most = n > nx ? n : nx;
  struct {
    double** array;
    size_t n;
  } list[] = {{&s->gradient, n}, {&s->along, n}, {&s->change, n},
              {&s->x, nx},       {&s->out, nx},  {&s->sample, 10 * most}};
  djStatus status = DJ_OK;
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    *list[k].array = dj_poolTake(&s->pool, list[k].n, sizeof(double));
    if (!*list[k].array) status = DJ_NO_MEMORY;
  }
  if (status < 0) dj_failMemory(&d->error);
  if (status == DJ_OK) {
    status = djd_makeHessian(&s->run, d->model, d->problem->rollout.horizon, &d->error);
  }
  if (status < 0) {
    freeHessian(s);
    return status;
  }
  s->design = d;
  w->hessian = s;
  w->free_hessian = freeHessian;
  return DJ_OK;
}

// ---- from x to a direction
// ------------------------------------------------------------------------

// Of a parameter's values, as the model has them, by tangent.
static void paramChange(double* out, const djDesign* d, int k) {
  const djDesignMemory* w = dj_designMemory(d);
  const djParam* p = &d->problem->param[k];
  const double *value = w->value + w->valueadr[k], *base = w->set + w->valueadr[k];
  int plain = dj_plainValues(p);
  for (int i = 0; i < plain; i++) out[i] = value[i] - base[i];
  if (plain < p->nvalue) {
    djQuat from = dju_normalizeQuat(dju_loadQuat(base + plain));
    djQuat to = dju_normalizeQuat(dju_loadQuat(value + plain));
    dju_store3(out + plain, dju_logQuat(dju_mulQuat(dju_conj(from), to)));
  }
  if (!dj_paramIsAxis(d->model, p)) return;
  djVec3 from = dju_load3(base), to = dju_load3(value);
  from = dju_scale3(1 / dju_norm3(from), from);
  dju_store3(out, dju_sub3(dju_scale3(1 / dju_norm3(to), to), from));
}

static const double* startOf(const djDesign* d) {
  const djDesignMemory* w = dj_designMemory(d);
  return d->phase == 0 ? w->qpos0 : w->start;
}

// Values of x + e v, but not the model's.
static void moveDesign(struct djDesignHessian* s, double e) {
  djDesign* d = s->design;
  for (int i = 0; i < d->n; i++) d->x[i] = s->x[i] + (e != 0 ? e * s->v[i] : 0);
  dj_placeDesign(d, d->x);
}

// out (n) by how much start, controls and parameters differ at x + e v from the tape's run.
static djStatus placeAlong(double* out, void* user, double e) {
  struct djDesignHessian* s = user;
  djDesign* d = s->design;
  djDesignMemory* w = dj_designMemory(d);
  const djModel* m = d->model;
  size_t nv = (size_t)m->nv;
  moveDesign(s, e);
  double* part[KINDS];
  splitNumbers(part, out, d);
  memset(out, 0, (size_t)s->n * sizeof *out);
  dj_differentiatePos(part[0], m, 1, dj_tapeQpos(d->tape, m, 0), startOf(d));
  dj_copyNumbers(part[1], w->qvel0, m->nv);
  dj_copyNumbers(part[2], w->act0, m->na);
  if (d->rollout.history_qpos0) {
    dj_differentiatePos(part[3], m, 1, d->tape->history, w->history_qpos0);
    memcpy(part[4], w->history_qvel0, nv * sizeof *out);
  }
  dj_copyNumbers(part[5], w->ctrl, w->nctrl);
  for (int k = 0; k < d->problem->nparam; k++) paramChange(part[6] + w->tangentadr[k], d, k);
  return DJ_OK;
}

// ---- from a gradient that changes to x
// --------------------------------------------------------------

static djStatus gatherAlong(double* out, void* user, double e) {
  struct djDesignHessian* s = user;
  djDesign* d = s->design;
  moveDesign(s, e);
  setResult(d, s->gradient, s->change, e);
  dj_gatherDesign(out, d);
  return DJ_OK;
}

// Step of both, by the size of x where that is more than 1.
static double stepOf(const djDesign* d, const double* v) {
  double most = 0;
  for (int i = 0; i < d->n; i++) most = fmax(most, fabs(v[i]) / fmax(1, fabs(d->x[i])));
  return most > 0 ? 1e-3 / most : 1;
}

// ---- products -----------------------------------------------------------------------------------

// The tape holds a run of x, and the gradient by start, controls and parameters is there.
static djStatus takeRun(djDesign* d, const double* x) {
  djDesignMemory* w = dj_designMemory(d);
  double loss;
  if (w->smooth.model) {
    return dj_fail(&d->error, DJ_UNSUPPORTED, "derivatives: smooth has no second derivatives");
  }
  if (!w->taped || memcmp(d->x, x, (size_t)d->n * sizeof *x) != 0) {
    djStatus status = djd_forwardDesign(&loss, d, x, true);
    if (status < 0) return status;
    if (!w->taped) return dj_fail(&d->error, DJ_INVALID, "a step's Jacobian is singular");
  }
  if (w->differentiated) return DJ_OK;
  djStatus status = djd_rolloutBackward(&d->result, d->model, d->data, &d->rollout, d->tape);
  if (status < 0) return dj_fail(&d->error, status, "%.500s", dj_errorText(d->data));
  double *to[KINDS], *from[KINDS];
  int size[KINDS];
  sizesOf(size, d);
  splitNumbers(to, w->hessian->gradient, d);
  resultArrays(from, d);
  for (int k = 0; k < KINDS; k++) dj_copyNumbers(to[k], from[k], size[k]);
  w->differentiated = true;
  return DJ_OK;
}

// Everything as it is at x.
static void restore(struct djDesignHessian* s) {
  djDesign* d = s->design;
  moveDesign(s, 0);
  setResult(d, s->gradient, s->gradient, 0);
  dj_gatherDesign(s->out, d);
}

djStatus djd_designHvp(double* product, djDesign* d, const double* x, const double* v) {
  if (!product || !d || !x || !v) return DJ_INVALID;
  djDesignMemory* w = dj_designMemory(d);
  for (int k = 0; k < d->n; k++) {
    if (!isfinite(v[k])) return dj_fail(&d->error, DJ_INVALID, "direction[%d] is not finite", k);
  }
  djStatus status = w->hessian ? DJ_OK : makeHessian(d);
  if (status == DJ_OK) status = takeRun(d, x);
  if (status < 0) return status;
  struct djDesignHessian* s = w->hessian;
  if (d->n == 0) return DJ_OK;
  s->v = v;
  dj_copyNumbers(s->x, d->x, d->n);
  double step = stepOf(d, v), error = 0;
  const djStretch all = {0, s->n, NULL}, some = {0, d->n, NULL};
  status = dj_differ(s->along, NULL, &step, &error, s->n, &all, 1, placeAlong, s, s->sample);
  moveDesign(s, 0); // controls are the run's again
  const djVariation along = variationOf(s->along, d);
  djVariation by = variationOf(s->change, d);
  if (status == DJ_OK) {
    status = dj_rolloutHvp(&by, &along, d->model, d->data, &d->rollout, d->tape, s->run, false);
    if (status < 0) dj_fail(&d->error, status, "%.500s", dj_errorText(d->data));
    if (status > 0) status = dj_fail(&d->error, DJ_INVALID, "a step's Jacobian is singular");
  }
  if (status == DJ_OK) {
    status = dj_differ(product, NULL, &step, &error, d->n, &some, 1, gatherAlong, s, s->sample);
  }
  restore(s);
  for (int k = 0; k < d->n && status == DJ_OK; k++) {
    if (isfinite(product[k])) continue;
    return dj_fail(&d->error, DJ_INVALID, "product[%d] is not finite", k);
  }
  return status;
}
