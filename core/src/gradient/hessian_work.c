// What Hessian-vector products need of memory: arrays, models with parameters moved, and the
// lengths of steps of differences.

#include "gradient/hessian.h"

#include "base/arena.h"
#include "base/room.h"
#include "base/status.h"
#include "contact/contact.h"
#include "force/hold.h"
#include "gradient/param_gradient.h"
#include "math/so3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A velocity, an activation or a control counts for so much of a displacement.
static const double SLOW = 1e-2;

djStatus djd_makeHessian(djHessian** hessian, const djModel* m, int horizon, djError* err) {
  if (!hessian) return dj_fail(err, DJ_INVALID, "hessian: NULL");
  *hessian = NULL;
  if (!m) return dj_fail(err, DJ_INVALID, "model: NULL");
  if (horizon < 1) return dj_fail(err, DJ_INVALID, "horizon: %d is not positive", horizon);
  djHessian* h = calloc(1, sizeof *h);
  if (!h) return dj_failMemory(err);
  h->sizes = dj_sizesOf(m);
  h->horizon = horizon;
  djStatus status = dj_makeData(&h->data, m, err);
  if (status < 0) {
    free(h);
    return status;
  }
  *hessian = h;
  return DJ_OK;
}

void dj_dropMoved(djHessian* h) {
  for (int k = 0; k < 4; k++) {
    dj_deleteModel(h->moved[k]);
    h->moved[k] = NULL;
  }
  h->distance[0] = h->distance[1] = 0;
}

void djd_deleteHessian(djHessian* h) {
  if (!h) return;
  dj_dropMoved(h);
  djd_deleteTape(h->step);
  dj_deleteData(h->data);
  free(h->memory);
  free(h->sums);
  free(h->rate);
  free(h);
}

size_t djd_hessianBytes(const djHessian* h) {
  if (!h) return 0;
  return sizeof *h + dj_dataBytes(h->data) + djd_tapeBytes(h->step) + h->nmemory + h->nsums +
         h->nrate;
}

long djd_hessianSteps(const djHessian* h) { return h ? h->steps : 0; }
double djd_hessianError(const djHessian* h) { return h ? h->error : 0; }

static int countValues(int* most, const djVariation* along) {
  int n = 0;
  *most = 0;
  for (int i = 0; i < along->nparam; i++) {
    n += along->param[i].nvalue;
    if (along->param[i].nvalue > *most) *most = along->param[i].nvalue;
  }
  return n;
}

static void layout(djHessian* h, djArena* a, const djModel* m) {
  size_t nv = (size_t)m->nv, nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu, d = sizeof(double);
  size_t T = (size_t)h->rollout->horizon, n = (size_t)h->npart, np = (size_t)h->np;
  size_t nloss = 3 * (size_t)h->rollout->nloss, sample = nx + nu + np + nloss;
  bool asked = h->rollout->callback != NULL;
  int most, all = countValues(&most, h->along);
  if (sample < (DJ_MAX_STAGE + 1) * nv) sample = (DJ_MAX_STAGE + 1) * nv;
  if (asked && sample < (T + 1) * nx + T * nu) sample = (T + 1) * nx + T * nu;
  h->nsample = (int)sample;
  h->part_step = dj_take(a, n, sizeof(int));
  h->hold = dj_take(a, DJ_MAX_STAGE * (size_t)dj_holdCount(m), sizeof *h->hold);
  struct {
    double** array;
    size_t n;
  } list[] = {{&h->dx, (n + 1) * nx},
              {&h->dQ, n * DJ_MAX_STAGE * nv},
              {&h->value, (size_t)most},
              {&h->base, (size_t)all},
              {&h->lambda, nx},
              {&h->dlambda, nx},
              {&h->mix, nx},
              {&h->du, T * nu},
              {&h->dtheta, np},
              {&h->theta, np},
              {&h->weight, np},
              {&h->q, (size_t)m->nq},
              {&h->v, nv},
              {&h->run_q, asked ? (T + 1) * (size_t)m->nq : 0},
              {&h->run_v, asked ? (T + 1) * nv : 0},
              {&h->run_act, asked ? (T + 1) * (size_t)m->na : 0},
              {&h->ctrl, T * nu},
              {&h->by_ctrl, T * nu},
              {&h->Q, DJ_MAX_STAGE * (size_t)m->nq},
              {&h->psi, DJ_MAX_STAGE * nv},
              {&h->scratch, dj_linearScratch(m)},
              {&h->residual, (DJ_MAX_STAGE + 1) * nv},
              {&h->sample, 10 * sample},
              {&h->change, sample},
              {&h->mean, sample},
              {&h->loss_scratch, 12 * (size_t)m->nbody},
              {&h->reference, nloss},
              {&h->dreference, nloss},
              {&h->pull, nloss},
              {&h->dpull, nloss},
              {&h->target, nloss}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) *list[k].array = dj_take(a, list[k].n, d);
  h->loss = dj_take(a, dj_lossWorkSize(m), 1);
}

// Memory of at least so many bytes, zeroed where that is asked for.
djStatus dj_hessianRoom(void** memory, size_t* size, size_t need, djData* d) {
  void* found = dj_roomFor(*memory, size, need);
  if (!found) return dj_failMemory(&d->work->error);
  *memory = found;
  return DJ_OK;
}

djStatus dj_takeHessian(djHessian* h, const djModel* m) {
  djArena measure = {NULL, 0};
  layout(h, &measure, m);
  if (measure.used == SIZE_MAX) return dj_failMemory(&h->data->work->error);
  djStatus status = dj_hessianRoom(&h->memory, &h->nmemory, measure.used, h->data);
  if (status == DJ_OK && h->np > 0) {
    status = dj_hessianRoom(&h->sums, &h->nsums, dj_paramSumsSize(m), h->data);
  }
  if (status < 0) return status;
  djArena a = {h->memory, 0};
  layout(h, &a, m);
  return DJ_OK;
}

// ---- parameters ---------------------------------------------------------------------------------

// value (+) e tangent: a quaternion, if there is one, comes last.
static void moveValue(double* value, const djParam* p, const double* tangent, double e) {
  int plain = p->nvalue == p->ntangent ? p->nvalue : p->nvalue - 4;
  for (int k = 0; k < plain; k++) value[k] += e * tangent[k];
  if (plain == p->nvalue) return;
  djQuat q = dju_normalizeQuat(dju_loadQuat(value + plain));
  djVec3 w = dju_scale3(e, dju_load3(tangent + plain));
  dju_storeQuat(value + plain, dju_mulQuat(q, dju_expQuat(w)));
}

static djStatus setMoved(djHessian* h, djModel* m, double e) {
  const djVariation* along = h->along;
  const double *tangent = along->value, *base = h->base;
  djError* err = &h->data->work->error;
  djError why = {""};
  for (int i = 0; i < along->nparam; i++) {
    const djParam* p = &along->param[i];
    bool moves = false;
    for (int k = 0; k < p->ntangent; k++) moves = moves || tangent[k] != 0;
    memcpy(h->value, base, (size_t)p->nvalue * sizeof *base);
    if (moves) {
      moveValue(h->value, p, tangent, e);
      djStatus status = dj_setParam(m, p, h->value, &why);
      char name[200];
      dj_paramName(name, sizeof name, m, p);
      if (status < 0) {
        return dj_fail(err, status, "%s: cannot be moved both ways for a second derivative: %.200s",
                       name, why.text);
      }
    }
    tangent += p->ntangent;
    base += p->nvalue;
  }
  const djModel* compiled = h->rollout->compiled;
  if (!compiled) return DJ_OK;
  int rule = m->collision ? m->collision->inertia_rule : 0;
  return dj_followGeomsBy(m, compiled, rule ? (djInertiaRule)rule : DJ_INERTIA_EXACT, err);
}

const djModel* dj_movedModel(djHessian* h, double e) {
  double distance = fabs(e);
  int slot = ilogb(distance) / 2 & 1; // distances differ by powers of 4
  djModel** m = &h->moved[2 * slot];
  for (int side = 0; side < 2 && h->distance[slot] != distance; side++) {
    if (setMoved(h, m[side], side ? -distance : distance) < 0) {
      h->distance[slot] = 0;
      return NULL;
    }
    if (side) h->distance[slot] = distance;
  }
  return m[e < 0];
}

djStatus dj_makeMoved(djHessian* h, const djModel* m) {
  double* base = h->base;
  for (int i = 0; i < h->along->nparam; i++) {
    dj_getParam(base, m, &h->along->param[i]);
    base += h->along->param[i].nvalue;
  }
  for (int k = 0; k < 4 && h->along->value; k++) {
    djStatus status = dj_copyModel(&h->moved[k], m, &h->data->work->error);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// ---- steps of differences -----------------------------------------------------------------------

static double largest(double size, const double* v, size_t n, double f) {
  for (size_t k = 0; k < n && v; k++) size = fmax(size, f * fabs(v[k]));
  return size;
}

// What each parameter is, in its own units; 1 where it is 0.
void dj_weighParams(djHessian* h) {
  const double* base = h->base;
  double* weight = h->weight;
  for (int i = 0; i < h->along->nparam; i++) {
    const djParam* p = &h->along->param[i];
    double value = largest(0, base, (size_t)p->nvalue, 1);
    for (int k = 0; k < p->ntangent; k++) weight[k] = value > 0 ? value : 1;
    base += p->nvalue;
    weight += p->ntangent;
  }
}

double dj_stepFor(const djHessian* h, int i) {
  const djModel* m = h->model;
  size_t nv = (size_t)m->nv, nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  double size = 0;
  for (int k = 0; k < h->np && h->along->value; k++) {
    size = fmax(size, fabs(h->along->value[k]) / h->weight[k]);
  }
  if (i >= 0) {
    const double *dx = h->dx + (size_t)i * nx, *du = h->along->ctrl;
    size = largest(size, dx, nv, 1);
    size = largest(size, dx + nv, nx - nv, SLOW);
    if (i < h->npart) {
      size = largest(size, h->dQ + (size_t)i * DJ_MAX_STAGE * nv, DJ_MAX_STAGE * nv, 1);
      if (du) size = largest(size, du + (size_t)h->part_step[i] * nu, nu, SLOW);
    }
  }
  double step = size > 0 ? h->size / size : h->size;
  if (!h->along->value) return step;
  return exp2(2 * floor(log2(step) / 2)); // so that moved models can be kept
}
