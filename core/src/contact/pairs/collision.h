// Internal to contact: how collision data come from a model.

#ifndef DJ_CONTACT_PAIRS_COLLISION_H_
#define DJ_CONTACT_PAIRS_COLLISION_H_

#include "contact/contact.h"
#include "shape/grid.h"
#include "shape/hull.h"

typedef struct djShapeBuilder {
  djModel* model;
  djHull* hull;            // (nmesh) made where needed; then (nmesh) those that meshes had at first
  djGrid* grid;            // (nmesh) made where needed
  bool* collides;          // (ngeom)
  double* inner;           // (ngeom) radius of the largest ball inside; planes, others: infinite
  int nuse;                // kernels in use
  int* use;                // (nuse)
  double* skin;            // (nuse x ngeom) infinite: of a plane, as the other geom's
  double *mass, *push;     // (nbody) scratch
  const djWatch* watch;    // told while hulls are made; or NULL
  const struct djCollision* old;   // that new data replace: kernels may keep what shapes had; NULL:
                                   //   shapes are made again in their place, or for the first time
} djShapeBuilder;

// "geom 'name'" for messages.
const char* dj_geomText(char text[80], const djModel* m, int geom);

// Hull of a mesh: by the facets of the hull that it had at first (NULL: it has none yet), or by its
// own triangles, else by qhull. It depends on that first hull and the vertices alone, not on what
// came between. watch: told while it is made, or NULL.
djStatus dj_makeMeshHull(djHull* hull, const djModel* m, int mesh, const djHull* old,
                         const djWatch* watch, djError* err);

// Radius of the largest ball in a geom that is no plane, and whether it is a size that can be.
double dj_innerRadius(const djShapeBuilder* b, int geom);
djStatus dj_checkInner(const djShapeBuilder* b, int geom, djError* err);

// Which kernels are in use: the scene's first. use has room for one more than the table has.
int dj_kernelsInUse(int* use, const djModel* m);

// Which geoms collide, their inner radii, and the hulls that are missing.
djStatus dj_measureGeoms(djShapeBuilder* b, djError* err);

// Distance fields of meshes that are wanted and missing. Then one of a mesh that has moved, on the
// lattice of the one that the model has; those that a geom of another size asks for farther out;
// copies of n, but for one (-1: of all); and their end.
djStatus dj_needGrids(djShapeBuilder* b, djError* err);
djStatus dj_moveMeshGrid(djGrid* grid, const djShapeBuilder* b, int mesh, djError* err);
djStatus dj_changeReaches(djShapeBuilder* b, int geom, djError* err);
djStatus dj_copyGrids(djGrid* copy, const djGrid* grid, int n, int but);
void dj_freeGrids(djGrid* grid, int n);

// geom_bound and geom_part of the builder's geoms.
void dj_measureSurfaces(djShapeBuilder* b);

// What default rules see, and settings of all kernels by them; writes those of the model, its
// contact, geom_skin, geom_radius and geom_load, and b->skin.
djStatus dj_applyDefaults(djShapeBuilder* b, djError* err);

// c->range, by the model's settings.
void dj_fillRanges(struct djCollision* c, const djModel* m);

// The kernel of use u makes a shape of the geom.
bool dj_hasShape(const djShapeBuilder* b, int u, int geom);

// Room for the lists of a mesh's hull for supports (shape/support.h); the lists, where its geoms
// have their shapes; and those of shape i, once it was made again.
int dj_hullListRoom(const djModel* m, const djHull* hull, int mesh);
djStatus dj_fillLists(struct djCollision* c, const djModel* m, int mesh, djError* err);
void dj_giveLists(struct djCollision* c, const djModel* m, int i);

// The geom of a shape that a model has.
djGeomSource dj_sourceOf(const djModel* m, int shape);
// A mesh's: hull (2 nmesh) and grid, as in djShapeBuilder.
static inline void dj_setHulls(djGeomSource* from, const djHull* hull, const djGrid* grid) {
  const djModel* m = from->model;
  if (m->geom_type[from->geom] != DJ_MESH) return;
  int mesh = m->geom_mesh[from->geom];
  from->hull = &hull[mesh];
  from->first = hull[m->nmesh + mesh].buffer ? &hull[m->nmesh + mesh] : from->hull;
  from->grid = grid[mesh].buffer ? &grid[mesh] : NULL;
}
static inline djGeomSource dj_buildSource(const djShapeBuilder* b, int u, int geom) {
  const djModel* m = b->model;
  double skin = b->skin[u * m->ngeom + geom];
  djGeomSource from = {
      .model = m, .geom = geom, .inner = b->inner[geom], .skin = isfinite(skin) ? skin : 0};
  dj_setHulls(&from, b->hull, b->grid);
  return from;
}

#endif  // DJ_CONTACT_PAIRS_COLLISION_H_
