// Distance fields of meshes on grids, of those that some pair's kernel wants.

#include "base/status.h"
#include "contact/pairs/collision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The kernel by which the geom meets the other, where it wants the geom's field; or NULL.
static const djKernel* wantsFrom(const djModel* m, int geom, int g) {
  if (!dj_isContactPair(m, geom, g)) return NULL;
  const djKernel* kernel = dj_kernel(dj_pairKernel(m, geom, g));
  return kernel->wantsGrid && kernel->wantsGrid(m, geom) ? kernel : NULL;
}

// Points with a radius ask for the field at their middles: at least the largest one's radius, in
// steps of 2^1/2, so that sizes which vary a little have one lattice.
static double reachOf(const djModel* m, int mesh, const bool* collides) {
  double most = 0;
  for (int geom = 0; geom < m->ngeom; geom++) {
    if (m->geom_type[geom] != DJ_MESH || m->geom_mesh[geom] != mesh || !collides[geom]) continue;
    for (int g = 0; g < m->ngeom; g++) {
      const djKernel* kernel = collides[g] ? wantsFrom(m, geom, g) : NULL;
      const double radius = kernel && kernel->pointRadius ? kernel->pointRadius(m, g) : 0;
      if (radius > 0) most = fmax(most, radius + m->geom_margin[g] + m->geom_margin[geom]);
    }
  }
  return most > 0 ? exp2(0.5 * ceil(2 * log2(1.1 * most) + 0.37)) : 0;
}

static bool wantsGrid(const djShapeBuilder* b, int geom) {
  const djModel* m = b->model;
  if (!b->collides[geom]) return false;
  for (int g = 0; g < m->ngeom; g++) {
    if (b->collides[g] && wantsFrom(m, geom, g)) return true;
  }
  return false;
}

// The mesh's own triangles, or those of its hull. *own: to be freed, or NULL.
static const int* trianglesOf(int* n, int** own, const djShapeBuilder* b, int mesh) {
  const djModel* m = b->model;
  *own = NULL;
  *n = m->mesh_trinum[mesh];
  if (*n > 0) return m->mesh_tri + 3 * (size_t)m->mesh_triadr[mesh];
  const djHull* hull = &b->hull[mesh];
  *n = hull->nface;
  int* tri = *own = malloc(3 * (size_t)hull->nface * sizeof *tri);
  for (int i = 0; tri && i < 3 * hull->nface; i++) tri[i] = hull->id[hull->face[i]];
  return tri;
}

static djStatus makeGrid(djShapeBuilder* b, int geom, djError* err) {
  const djModel* m = b->model;
  const int mesh = m->geom_mesh[geom];
  int n, *own;
  djError why = {""};
  const int* tri = trianglesOf(&n, &own, b, mesh);
  if (!tri) return dj_failMemory(err);
  const djStatus status = dj_makeGridReaching(&b->grid[mesh], m->mesh_vertnum[mesh],
                                              m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh], n,
                                              tri, reachOf(m, mesh, b->collides), b->watch, &why);
  free(own);
  if (status != DJ_INVALID) return status < 0 ? dj_fail(err, status, "%s", why.text) : status;
  char text[80];
  return dj_fail(err, status,
                 "%s: mesh '%.60s' has no distance field (field 0: none is wanted): "
                 "%.160s",
                 dj_geomText(text, m, geom), m->names + m->name_mesh[mesh], why.text);
}

djStatus dj_needGrids(djShapeBuilder* b, djError* err) {
  const djModel* m = b->model;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] != DJ_MESH || b->grid[m->geom_mesh[g]].buffer || !wantsGrid(b, g)) continue;
    const djStatus status = makeGrid(b, g, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

djStatus dj_moveMeshGrid(djGrid* grid, const djShapeBuilder* b, int mesh, djError* err) {
  memset(grid, 0, sizeof *grid);
  const djModel* m = b->model;
  const djGrid* old = &m->collision->grid[mesh];
  if (!old->buffer) return DJ_OK;
  const double* vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
  return dj_moveGrid(grid, old, vert, reachOf(m, mesh, b->collides), err);
}

static bool hasRadius(const djShapeBuilder* b, int geom) {
  for (int u = 0; u < b->nuse; u++) {
    const djKernel* kernel = dj_kernel(b->use[u]);
    if (kernel && kernel->pointRadius && kernel->pointRadius(b->model, geom) > 0) return true;
  }
  return false;
}

djStatus dj_changeReaches(djShapeBuilder* b, int geom, djError* err) {
  const djModel* m = b->model;
  djStatus status = DJ_OK;
  for (int k = 0; k < m->nmesh && hasRadius(b, geom) && status == DJ_OK; k++) {
    djGrid grid, *old = &m->collision->grid[k];
    if (!old->buffer || reachOf(m, k, b->collides) == old->reach) continue;
    status = dj_moveMeshGrid(&grid, b, k, err);
    if (status < 0) return status;
    dj_freeGrid(old);
    *old = grid;
  }
  return status;
}

djStatus dj_copyGrids(djGrid* copy, const djGrid* grid, int n, int but) {
  djStatus status = DJ_OK;
  for (int k = 0; k < n && status == DJ_OK; k++) {
    if (k != but && grid[k].buffer) status = dj_copyGrid(&copy[k], &grid[k]);
  }
  return status;
}

void dj_freeGrids(djGrid* grid, int n) {
  for (int k = 0; grid && k < n; k++) dj_freeGrid(&grid[k]);
  free(grid);
}
