#include "contact/pairs/shape_grad.h"

#include "base/arena.h"
#include "contact/pairs/collision.h"

#include <string.h>

static djShapeGrad* layout(djArena* arena, const djModel* m) {
  const struct djCollision* c = m->collision;
  djShapeGrad* grad = dj_take(arena, (size_t)c->nshape, sizeof *grad);
  if (grad) memset(grad, 0, sizeof *grad * (size_t)c->nshape);
  for (int g = 0; g < c->nshape; g++) {
    size_t npad = (size_t)c->shape[g].npad, nnumber = (size_t)c->shape[g].nnumber;
    double* number = nnumber > 0 ? dj_take(arena, nnumber, sizeof(double)) : NULL;
    if (grad) grad[g].number = number;
    if (npad == 0) continue;
    for (int k = 0; k < 3; k++) {
      double* vert = dj_take(arena, npad, sizeof(double));
      double* move = dj_take(arena, npad, sizeof(double));
      if (!grad) continue;
      grad[g].vert[k] = vert;
      grad[g].move[k] = move;
    }
  }
  return grad;
}

size_t dj_shapeGradSize(const djModel* m) {
  djArena arena = {NULL, 0};
  layout(&arena, m);
  return arena.used;
}

size_t dj_shapeGradBound(const djModel* m) {
  djArena arena = {NULL, dj_shapeGradSize(m)};
  for (int g = 0; g < m->collision->nshape; g++) {
    dj_take(&arena, (size_t)m->collision->shape[g].nnumber, sizeof(double));
  }
  for (int g = 0; g < m->ngeom; g++) {
    int mesh = m->geom_type[g] == DJ_MESH ? m->geom_mesh[g] : -1;
    size_t n = (size_t)(mesh >= 0 ? m->mesh_vertnum[mesh] : 0) + DJ_LANES;
    dj_take(&arena, 6 * n * (size_t)m->collision->nuse, sizeof(double));
  }
  return arena.used;
}

djShapeGrad* dj_initShapeGrads(void* memory, const djModel* m) {
  memset(memory, 0, dj_shapeGradSize(m));
  djArena arena = {memory, 0};
  return layout(&arena, m);
}

djStatus dj_shapeParams(double* param, const djModel* m, int shape, const djShapeGrad* grad) {
  const struct djCollision* c = m->collision;
  const djKernel* kernel = dj_kernel(c->use[shape / m->ngeom]);
  if (c->shape[shape].type < 0 || !kernel->shapeParams) return DJ_OK;
  djGeomSource from = dj_sourceOf(m, shape);
  return kernel->shapeParams(param, &from, &c->shape[shape], grad);
}
