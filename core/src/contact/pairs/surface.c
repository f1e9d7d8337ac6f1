// What a guide knows of geoms, as the model was compiled: their bounding radii, and their parts of
// the surface of their body's colliding geoms.

#include "contact/pairs/collision.h"
#include "model/geom_row.h"
#include "shape/hull_surface.h"

static double areaOf(const djShapeBuilder* b, int geom) {
  const djModel* m = b->model;
  if (m->geom_type[geom] == DJ_MESH) return dj_hullSurface(NULL, &b->hull[m->geom_mesh[geom]]);
  return dj_geomRow(m->geom_type[geom])->area(m->geom_size + 3 * geom);
}

// Radius of the ball about the geom's centre.
static double boundOf(const djShapeBuilder* b, int geom) {
  const djModel* m = b->model;
  const djGeomRow* row = dj_geomRow(m->geom_type[geom]);
  const double* size = m->geom_size + 3 * geom;
  double most = 0, axes[3] = {0}, round = row->round ? size[0] : 0;
  if (m->geom_type[geom] == DJ_MESH) return b->hull[m->geom_mesh[geom]].bound;
  if (row->curve) row->curve->axes(axes, size);
  for (int k = 0; k < 3; k++) round = fmax(round, axes[k]);
  for (int i = 0; i < row->nvert; i++) {
    djVec3 x, move;
    dj_geomVertex(&x, &move, row, size, i);
    most = fmax(most, dju_norm3(x));
  }
  return most + round;
}

void dj_measureSurfaces(djShapeBuilder* b) {
  djModel* m = b->model;
  for (int g = 0; g < m->ngeom; g++) {
    bool has = b->collides[g] && !dj_isGround(m->geom_type[g]);
    m->geom_bound[g] = has ? boundOf(b, g) : 0;
    m->geom_part[g] = has ? areaOf(b, g) : 0;
  }
  for (int body = 0; body < m->nbody; body++) {
    int first = m->body_geomadr[body], end = first < 0 ? first : first + m->body_geomnum[body];
    double sum = 0;
    for (int g = first; g < end; g++) sum += m->geom_part[g];
    for (int g = first; g < end && sum > 0; g++) m->geom_part[g] /= sum;
  }
}
