// Distance fields of meshes on grids, of those that some pair's kernel wants.

#include "base/status.h"
#include "contact/pairs/collision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Designs may let radii grow by so much before they reach beyond what a grid has.
#define GROWTH 1.25

// The geom meets another by a kernel that wants its field. *reach: raised to how far from it that
// asks for distances.
static bool wantsGrid(double* reach, const djShapeBuilder* b, int geom) {
  const djModel* m = b->model;
  bool wanted = false;
  if (!b->collides[geom]) return false;
  for (int g = 0; g < m->ngeom; g++) {
    if (!b->collides[g] || !dj_isContactPair(m, geom, g)) continue;
    const djKernel* kernel = dj_kernel(dj_pairKernel(m, geom, g));
    if (!kernel->wantsGrid || !kernel->wantsGrid(m, geom)) continue;
    wanted = true;
    if (!kernel->pointRadius) continue;
    const double inflate = dj_pairCoefficients(m, geom, g).inflate + m->geom_margin[geom] -
                           m->geom_gap[geom] + m->geom_margin[g] - m->geom_gap[g];
    *reach = fmax(*reach, GROWTH * (kernel->pointRadius(m, g) + fmax(inflate, 0)));
  }
  return wanted;
}

// Of all geoms of the mesh.
static double reachOf(const djShapeBuilder* b, int mesh) {
  const djModel* m = b->model;
  double reach = 0;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_type[g] == DJ_MESH && m->geom_mesh[g] == mesh) wantsGrid(&reach, b, g);
  }
  return reach;
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
                                              tri, reachOf(b, mesh), b->watch, &why);
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
    double reach = 0;
    if (m->geom_type[g] != DJ_MESH || b->grid[m->geom_mesh[g]].buffer) continue;
    if (!wantsGrid(&reach, b, g)) continue;
    const djStatus status = makeGrid(b, g, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

djStatus dj_moveMeshGrid(djGrid* grid, const djModel* m, int mesh, djError* err) {
  memset(grid, 0, sizeof *grid);
  const struct djCollision* c = m->collision;
  if (!c->grid[mesh].buffer) return DJ_OK;
  const double* vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
  return dj_moveGrid(grid, &c->grid[mesh], vert, err);
}

// A grid serves radii up to its reach.
djStatus dj_changeReaches(djShapeBuilder* b, int geom, djError* err) {
  const djModel* m = b->model;
  djStatus status = DJ_OK;
  if (m->geom_type[geom] != DJ_SPHERE && m->geom_type[geom] != DJ_CAPSULE) return DJ_OK;
  for (int k = 0; k < m->nmesh && status >= 0; k++) {
    djGrid grid, *old = &m->collision->grid[k], wide = *old;
    if (!old->buffer || reachOf(b, k) <= GROWTH * old->reach) continue;
    wide.reach = reachOf(b, k);
    status = dj_moveGrid(&grid, &wide, m->mesh_vert + 3 * (size_t)m->mesh_vertadr[k], err);
    if (status < 0) break;
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
