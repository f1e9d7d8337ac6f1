// Contact shapes of height fields. The box that the list of near pairs sees ends one and a half cells
// beyond the borders and at the bottom of the base.

#include "contact/plane/terrain.h"
#include "model/param.h"

#include <stdlib.h>
#include <string.h>

#define BEYOND 1.5   // cells

static djHeightLattice latticeOf(const djModel* m, int geom, const double** height) {
  const int h = m->geom_hfield[geom];
  const double* size = m->hfield_size + 3 * h;
  djHeightLattice l = {m->hfield_nrow[h], m->hfield_ncol[h], {size[0], size[1]}, size[2]};
  *height = m->hfield_height + m->hfield_adr[h];
  for (int i = 0; i < l.nrow * l.ncol; i++) l.base = fmax(l.base, -(*height)[i]);
  return l;
}

int dj_terrainShapeSize(const djGeomSource* from) {
  const double* height;
  const djHeightLattice l = latticeOf(from->model, from->geom, &height);
  return (int)dj_terrainSize(&l);
}

djStatus dj_makeTerrainShape(djShape* s, djShapeBounds* bounds, double* mem,
                             const djGeomSource* from) {
  const djModel* m = from->model;
  const int geom = from->geom;
  const double* height;
  const djHeightLattice l = latticeOf(m, geom, &height);
  const djPose pose = {dju_load3(m->geom_pos + 3 * geom),
                       dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom))};
  const double inflate = m->geom_margin[geom] - m->geom_gap[geom] - from->deeper;
  djTerrain t;
  memset(s, 0, sizeof *s);
  memset(bounds, 0, sizeof *bounds);
  dj_makeTerrain(mem, &l, height, &pose);
  dj_readTerrain(&t, mem);
  s->type = DJ_HFIELD;
  s->fit = mem;
  s->nnumber = dj_terrainCoefs(l.nrow, l.ncol);
  s->skin = from->skin + fmax(-inflate, 0);   // as of planes
  s->offset = inflate - from->skin;
  s->inner = INFINITY;
  const double top = fmax(t.top[t.nlevel - 1][0] + fmax(inflate, 0), -l.base);
  const djVec3 half = {l.half[0] + BEYOND * t.dx, l.half[1] + BEYOND * t.dy, 0.5 * (top + l.base)};
  s->center = dju_transform(&pose, dju_vec3(0, 0, 0.5 * (top - l.base)));
  s->bound = dju_norm3(half);
  const double* R = pose.R.m;
  dju_store3(bounds->box, s->center);
  for (int k = 0; k < 3; k++) {
    bounds->box[3 + k] = fabs(R[3 * k]) * half.x + fabs(R[3 * k + 1]) * half.y +
                         fabs(R[3 * k + 2]) * half.z;
  }
  bounds->inflate = inflate;
  bounds->beyond = s->skin;
  return DJ_OK;
}

djStatus dj_terrainParams(double* param, const djGeomSource* from, const djShape* s,
                          const djShapeGrad* grad) {
  const djModel* m = from->model;
  const int geom = from->geom, field = m->geom_hfield[geom];
  const djPose pose = {dju_load3(m->geom_pos + 3 * geom),
                       dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom))};
  const djHeightLattice l = {m->hfield_nrow[field], m->hfield_ncol[field], {0, 0}, 0};
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_POS, geom), 1, grad->origin);
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_QUAT, geom), 1,
             dju_mulMtV(pose.R, grad->turn));
  const size_t n = (size_t)s->nnumber;
  double* coef = malloc((n + (size_t)l.nrow + (size_t)l.ncol) * sizeof *coef);
  if (!coef) return DJ_NO_MEMORY;
  memcpy(coef, grad->number, n * sizeof *coef);
  dj_terrainHeightsVjp(dj_paramEntry(param, m, DJ_FIELD_HFIELD_HEIGHTS, field), coef, coef + n,
                       &l);
  free(coef);
  return DJ_OK;
}
