#include "gradient/param_gradient.h"

#include "base/arena.h"
#include "base/status.h"
#include "contact/shape_param.h"
#include "model/body_param.h"
#include "model/param.h"

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

djStatus dj_addStepParams(djParamSums* s, const djModel* m, djData* d, const double* qpos,
                          double* z) {
  djError* err = &d->work->error;
  const djIntegratorRow* row = dj_integratorRow(m->opt.integrator);
  if (!row || !row->params) {
    return dj_fail(err, DJ_UNSUPPORTED, "integrator: has no gradients by parameters");
  }
  djStatus status = dj_replayStep(m, d, qpos);
  if (status < 0) return status;
  for (int i = 0; i < m->nv; i++) z[i] = -z[i];
  return row->params(s, d->work, m, z);
}

djStatus dj_finishParams(djParamSums* s, const djModel* m, const djModel* compiled) {
  (void)compiled;
  for (int g = 0; g < m->ngeom && m->collision; g++) {
    if (m->collision->shape[g].type < 0) continue;
    djStatus status = dj_shapeParams(s->param, m, g, &s->shape[g]);
    if (status < 0) return status;
  }
  dj_tensorParams(s->param, m, s->tensor);
  return DJ_OK;
}

void dj_pickParams(double* grad, const djParamSums* s, const djModel* m, int n,
                   const djParam* param) {
  for (int i = 0; i < n; i++) {
    const double* from = dj_paramEntry(s->param, m, (djField)param[i].field, param[i].id);
    memcpy(grad, from, (size_t)param[i].ntangent * sizeof(double));
    grad += param[i].ntangent;
  }
}
