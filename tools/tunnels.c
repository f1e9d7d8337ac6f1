// Tunnels through bodies whose shapes a task's connections hold together.

#include "tunnels.h"

#include <dijoco/problem.h>
#include <dijoco/topology.h>

#include <string.h>

static bool has_meshes(const djModel* m, int body) {
  int first = m->body_geomadr[body], n = 0;
  for (int g = first; g < first + m->body_geomnum[body]; g++) n += m->geom_type[g] == DJ_MESH;
  return n > 1;
}

static bool is_named(const djDesign* d, int body) {
  const djProblem* p = d->problem;
  for (int i = 0; i < p->nconnect; i++) {
    const djTaskPoint* point = &p->joined[i].a;
    if (point->object != DJ_OBJ_GEOM) continue;
    int geom = dj_name2id(d->model, DJ_OBJ_GEOM, point->name);
    if (geom >= 0 && d->model->geom_body[geom] == body) return true;
  }
  return false;
}

int tunnels_count(djDesign* d, const double* x) {
  int sum = 0;
  if (memcmp(d->x, x, (size_t)d->n * sizeof *x) != 0 && djd_moveDesign(d, x) < 0) return -1;
  for (int b = 1; b < d->model->nbody; b++) {
    djTopology t;
    if (!has_meshes(d->model, b) || !is_named(d, b)) continue;
    if (dj_bodyTopology(&t, d->model, b, 0, NULL) < 0) return -1;
    sum += t.genus;
  }
  return sum;
}
