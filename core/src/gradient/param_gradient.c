#include "gradient/param_gradient.h"

#include "base/arena.h"
#include "base/status.h"
#include "math/block_matrix.h"
#include "contact/geom_inertia.h"
#include "contact/shape_param.h"
#include "model/body_param.h"
#include "model/param.h"

#include <stdlib.h>
#include <string.h>

static void layout(djParamSums* s, void** shapes, djArena* a, const djModel* m) {
  size_t n = 6 * (size_t)m->nbody, d = sizeof(double);
  s->param = dj_take(a, dj_paramGradSize(m), d);
  s->tensor = dj_take(a, n, d);
  s->shape = dj_take(a, m->ngeom, sizeof(djShapeGrad));
  s->x = dj_take(a, n, d);
  s->W = dj_take(a, n, d);
  s->C = dj_take(a, n, d);
  s->C0 = dj_take(a, n, d);
  s->Cback = dj_take(a, n, d);
  *shapes = dj_take(a, m->collision ? dj_shapeGradSize(m) : 0, 1);
}

// Whatever the hulls of its meshes are: those of a changed design may have other vertices.
size_t dj_paramSumsSize(const djModel* m) {
  djParamSums s;
  void* shapes;
  djArena a = {NULL, 0};
  layout(&s, &shapes, &a, m);
  for (int g = 0; g < m->ngeom; g++) {
    int mesh = m->geom_type[g] == DJ_MESH ? m->geom_mesh[g] : -1;
    size_t n = (size_t)(mesh >= 0 ? m->mesh_vertnum[mesh] : 0) + DJ_LANES;
    dj_take(&a, 6 * n, sizeof(double));
  }
  return a.used;
}

void dj_initParamSums(djParamSums* s, void* memory, const djModel* m) {
  void* shapes;
  djArena a = {memory, 0};
  layout(s, &shapes, &a, m);
  memset(s->param, 0, dj_paramGradSize(m) * sizeof(double));
  memset(s->tensor, 0, 6 * (size_t)m->nbody * sizeof(double));
  if (m->collision) dj_initShapeGrads(s->shape, shapes, m);
}

djStatus dj_addStepParams(djParamSums* s, const djModel* m, djData* d, const djIntegratorRow* row,
                          const double* qpos, double* z, const double* lambda) {
  djStatus status = dj_replayStep(m, d, row, qpos);
  if (status < 0) return status;
  for (int i = 0; i < m->nv; i++) z[i] = -z[i];
  status = row->params(s, d->work, m, z);
  if (status < 0 || !row->velocityParams) return status;
  return row->velocityParams(s, d->work, m, lambda);
}

djStatus dj_finishParams(djParamSums* s, const djModel* m, const djModel* compiled) {
  for (int g = 0; g < m->ngeom && m->collision; g++) {
    if (m->collision->shape[g].type < 0) continue;
    djStatus status = dj_shapeParams(s->param, m, g, &s->shape[g]);
    if (status < 0) return status;
  }
  djStatus status = DJ_OK;
  if (compiled) status = dj_followInertiaParams(s->param, s->tensor, m, compiled);
  dj_tensorParams(s->param, m, s->tensor);
  return status;
}

void dj_pickParams(double* grad, const djParamSums* s, const djModel* m, int n,
                   const djParam* param) {
  for (int i = 0; i < n; i++) {
    const double* from = dj_paramEntry(s->param, m, (djField)param[i].field, param[i].id);
    memcpy(grad, from, (size_t)param[i].ntangent * sizeof(double));
    grad += param[i].ntangent;
  }
}

// ---- one step -----------------------------------------------------------------------------------

// Row i of dq+/dparameters is -z . dr/dparameters with z = H^-T e_i.
static djStatus positionRows(double* P, int np, void* memory, const djLinear* lin,
                             const djModel* m, djData* d, int nparam, const djParam* param) {
  double* z = d->work->lambda;
  for (int i = 0; i < m->nv; i++) {
    djParamSums sums;
    dj_initParamSums(&sums, memory, m);
    memset(z, 0, (size_t)m->nv * sizeof(double));
    z[i] = -1;
    dj_solveTranspose(z, &lin->factor);
    djStatus status = lin->row->params(&sums, d->work, m, z);
    if (status >= 0) status = dj_finishParams(&sums, m, NULL);
    if (status < 0) return status;
    dj_pickParams(P + (size_t)i * (size_t)np, &sums, m, nparam, param);
  }
  return DJ_OK;
}

static djStatus checkParams(const djModel* m, djData* d, const double* P, int nparam,
                            const djParam* param) {
  djError* err = &d->work->error;
  if (!P || nparam < 0 || (nparam > 0 && !param)) return dj_fail(err, DJ_INVALID, "P: missing");
  return dj_checkParams(m, nparam, param, err);
}

// Row i of dv+/dparameters at fixed q+, and what dq+/dparameters, P, adds.
static djStatus velocityRows(double* V, const double* P, int np, void* memory, const djLinear* lin,
                             const djModel* m, djData* d, int nparam, const djParam* param) {
  double* l = d->work->lambda;
  for (int i = 0; i < m->nv; i++) {
    djParamSums sums;
    dj_initParamSums(&sums, memory, m);
    memset(l, 0, 2 * (size_t)m->nv * sizeof(double));
    l[i] = 1;
    djStatus status = lin->row->velocityParams(&sums, d->work, m, l);
    if (status >= 0) status = dj_finishParams(&sums, m, NULL);
    if (status < 0) return status;
    double* row = V + (size_t)i * (size_t)np;
    dj_pickParams(row, &sums, m, nparam, param);
    double* y = l + m->nv;   // row i of Vplus
    dj_mulBlocksT(y, 1, lin->Vplus, l, &lin->trees);
    for (int k = 0; k < m->nv; k++) {
      for (int c = 0; c < np; c++) row[c] += y[k] * P[(size_t)k * (size_t)np + c];
    }
  }
  return DJ_OK;
}

djStatus djd_lastParams(const djModel* m, djData* d, double* P, int nparam,
                        const djParam* param) {
  if (!m || !d) return DJ_INVALID;
  djLinear lin;
  djStatus status = checkParams(m, d, P, nparam, param);
  if (status == DJ_OK) status = dj_linearizeStep(&lin, m, d);
  if (status != DJ_OK) return status;
  int np = 0;
  for (int i = 0; i < nparam; i++) np += param[i].ntangent;
  unsigned char* buffer = malloc(dj_paramSumsSize(m) + DJ_ALIGN);
  if (!buffer) return dj_failMemory(&d->work->error);
  void* memory = buffer + DJ_ALIGN - (uintptr_t)buffer % DJ_ALIGN;
  status = positionRows(P, np, memory, &lin, m, d, nparam, param);
  // activations do not depend on parameters
  size_t half = (size_t)m->nv * (size_t)np;
  double* V = P + half;
  memset(V + half, 0, (size_t)m->na * (size_t)np * sizeof(double));
  bool own = lin.Vplus;
  if (own && status >= 0) status = velocityRows(V, P, np, memory, &lin, m, d, nparam, param);
  free(buffer);
  if (status < 0 || own) return status < 0 ? status : DJ_OK;
  // dv+ = J_r^-1 dq+/h
  memcpy(V, P, half * sizeof(double));
  dj_applyJrInv(V, np, m, lin.vnext, m->opt.timestep);
  for (size_t k = 0; k < half; k++) V[k] /= m->opt.timestep;
  return DJ_OK;
}
