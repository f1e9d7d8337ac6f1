// Internal to contact: how collision data come from a model.

#ifndef DJ_CONTACT_COLLISION_H_
#define DJ_CONTACT_COLLISION_H_

#include "contact/contact.h"
#include "shape/hull.h"

typedef struct djShapeBuilder {
  djModel* model;
  djHull* hull;            // (nmesh) made where needed; then (nmesh) those that meshes had at first
  bool* collides;          // (ngeom)
  double* inner;           // (ngeom) radius of the largest ball inside; planes, others: infinite
  const djWatch* watch;    // told while hulls are made; or NULL
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

// Which geoms collide, their inner radii, and the hulls that are missing.
djStatus dj_measureGeoms(djShapeBuilder* b, djError* err);

// Settings by the default rules; writes model->contact and geom_skin.
djStatus dj_applyDefaults(djShapeBuilder* b, djError* err);

// Vertices of the contact shape; also in the arrays, padded.
int dj_vertexCount(const djShapeBuilder* b, int geom);
static inline int dj_paddedCount(int n) { return (n + DJ_LANES - 1) / DJ_LANES * DJ_LANES; }

// The shape, its box and its inflation, but for adjacency. mem (6 npad) becomes its arrays'.
void dj_fillShape(djShape* s, double* mem, const djShapeBuilder* b, int geom);

// Mixes numbers into a hash of what came before.
void dj_mixNumbers(uint64_t* hash, const double* x, size_t n);

#endif  // DJ_CONTACT_COLLISION_H_
