// Implicit surfaces of a model's geoms: how far they are from the geoms, and as meshes.

#include <dijoco/surface.h>

#include "base/status.h"
#include "contact/contact.h"
#include "contact/implicit/implicit_fit.h"
#include "contact/implicit/implicit_surface.h"
#include "contact/shapes/convex.h"
#include "math/so3.h"
#include "shape/curve.h"
#include "shape/implicit_pair.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------ deviation -------------------------------------------------------

enum { DIRECTIONS = 2000 };

// A geom without skin and margin, and its surface, in the body's frame.
typedef struct Both {
  djImplicit surface;
  djPose frame;
  djShape geom;
} Both;

// A surface's point that is farthest along d, in its own frame; and how far.
static double reach(djVec3* point, const djImplicit* surface, djVec3 d) {
  djImplicitTouch touch;
  dj_supportImplicit(&touch, NULL, surface, d);
  if (point) *point = touch.y;
  return touch.T;
}

// Support function of the surface minus that of the geom.
static double beyond(const Both* b, djVec3 u) {
  const djShape* s = &b->geom;
  double h = -INFINITY;
  for (int i = 0; i < s->nvert; i++) {
    h = fmax(h, u.x * s->vert[0][i] + u.y * s->vert[1][i] + u.z * s->vert[2][i]);
  }
  if (s->curved) h += dj_curveReach(NULL, NULL, &s->curve, u);
  const double own = reach(NULL, &b->surface, dju_mulMtV(b->frame.R, u));
  return own + dju_dot3(b->frame.p, u) - h - s->radius;
}

static djVec3 unit(djVec3 v) { return dju_scale3(1 / dju_norm3(v), v); }

// Uphill from u in ever shorter steps.
static double climb(const Both* b, djVec3 u, double best, double sign) {
  for (double step = 0.05; step > 1e-6; step *= 0.5) {
    for (int k = 0; k < 6; k++) {
      const double way = k % 2 ? -step : step;
      const djVec3 axis = dju_vec3(k / 2 == 0, k / 2 == 1, k / 2 == 2);
      const djVec3 next = unit(dju_madd3(u, way, axis));
      const double value = sign * beyond(b, next);
      if (!(value > best)) continue;
      best = value;
      u = next;
    }
  }
  return best;
}

// The farthest that a convex set reaches beyond another is the largest difference of their support
// functions. Directions are those of a spiral (Fibonacci), and those of the geom's corners.
static void measure(double* outside, double* inside, const Both* b) {
  const double golden = M_PI * (3 - sqrt(5));
  const djShape* s = &b->geom;
  djVec3 at[2] = {{1, 0, 0}, {1, 0, 0}};
  double most[2] = {-INFINITY, -INFINITY};
  for (int i = 0; i < DIRECTIONS + s->nvert; i++) {
    const double z = 1 - (2 * i + 1.0) / DIRECTIONS, r = sqrt(fmax(1 - z * z, 0));
    djVec3 u = {r * cos(golden * i), r * sin(golden * i), z};
    if (i >= DIRECTIONS) {
      const int v = i - DIRECTIONS;
      u = dju_sub3(dju_vec3(s->vert[0][v], s->vert[1][v], s->vert[2][v]), s->center);
      if (!(dju_norm3(u) > 0)) continue;
      u = unit(u);
    }
    const double value = beyond(b, u);
    for (int k = 0; k < 2; k++) {
      const double signed_value = k ? -value : value;
      if (!(signed_value > most[k])) continue;
      most[k] = signed_value;
      at[k] = u;
    }
  }
  *outside = fmax(climb(b, at[0], most[0], 1), 0);
  *inside = fmax(climb(b, at[1], most[1], -1), 0);
}

// ------------------------------ geoms -----------------------------------------------------------

// The place of a geom's shape by the kernel, or -1.
static int shapeOf(const djModel* m, int geom) {
  const struct djCollision* c = m->collision;
  if (!c || geom < 0 || geom >= m->ngeom) return -1;
  for (int u = 0; u < c->nuse; u++) {
    const int i = u * m->ngeom + geom;
    if (dj_kernel(c->use[u]) == &dj_implicitSurface && c->shape[i].fit) return i;
  }
  return -1;
}

static djStatus refuse(djError* err, const djModel* m, int geom) {
  const bool known = m && geom >= 0 && geom < m->ngeom;
  return dj_fail(err, DJ_UNSUPPORTED, "geom '%.80s': it is no implicit surface",
                 known ? dj_id2name(m, DJ_OBJ_GEOM, geom) : "");
}

djStatus dj_geomSurface(djSurface* out, const djModel* m, int geom, djError* err) {
  const int i = out && m ? shapeOf(m, geom) : -1;
  if (i < 0) return refuse(err, m, geom);
  const djShape* s = &m->collision->shape[i];
  Both both;
  dj_openFit(&both.surface, &both.frame, s);
  double* mem = malloc(3 * (size_t)s->npad * sizeof *mem);
  if (!mem) return dj_failMemory(err);
  dj_trueConvex(&both.geom, mem, s, &m->collision->bounds[i], m, geom);
  *out = (djSurface){.family = both.surface.row->name,
                     .sharp = both.surface.row->sharp,
                     .given = m->geom_family[geom] >= 0,
                     .nface = both.surface.nface,
                     .nsize = both.surface.nsize,
                     .size = both.surface.size};
  dju_store3(out->pos, both.frame.p);
  dju_storeQuat(out->quat, dju_quatOf(both.frame.R));
  measure(&out->outside, &out->inside, &both);
  // Exact but for rounding.
  const double rounding = 1e-9 * both.surface.outer;
  if (out->outside < rounding) out->outside = 0;
  if (out->inside < rounding) out->inside = 0;
  free(mem);
  return DJ_OK;
}

// ------------------------------ meshes ----------------------------------------------------------

enum { MOST_VERTICES = 4000 };

// The hull of points, and where the surface reaches beyond its facets by more than `goal`: these
// points are appended. *error: the farthest of all.
static djStatus grow(djHull* hull, double* point, int* n, double* error, const djImplicit* surface,
                     double goal) {
  const djStatus status = dj_makeHull(hull, *n, point, 0, NULL, NULL);
  if (status < 0) return status;
  *error = 0;
  for (int f = 0; f < hull->nface; f++) {
    if (hull->group[f] != f) continue;
    djVec3 x;
    const djVec3 d = unit(dju_load3(hull->plane + 4 * f));
    const double over = reach(&x, surface, d) - hull->plane[4 * f + 3];
    *error = fmax(*error, over);
    if (over > goal && *n < MOST_VERTICES) dju_store3(point + 3 * (*n)++, x);
  }
  return DJ_OK;
}

static djStatus takeHull(djSurfaceMesh* mesh, const djHull* hull) {
  const size_t nv = 3 * (size_t)hull->nvert, nf = 3 * (size_t)hull->nface;
  mesh->vert = malloc(nv * sizeof *mesh->vert);
  mesh->face = malloc(nf * sizeof *mesh->face);
  if (!mesh->vert || !mesh->face) return DJ_NO_MEMORY;
  mesh->nvert = hull->nvert;
  mesh->nface = hull->nface;
  memcpy(mesh->vert, hull->vert, nv * sizeof *mesh->vert);
  memcpy(mesh->face, hull->face, nf * sizeof *mesh->face);
  return DJ_OK;
}

// Begins with the 26 directions of a cube's faces, edges and corners.
static djStatus tessellate(djSurfaceMesh* mesh, const djImplicit* surface, double goal) {
  double* point = malloc(3 * (MOST_VERTICES + 26) * sizeof *point);
  if (!point) return DJ_NO_MEMORY;
  int n = 0;
  for (int i = 0; i < 27; i++) {
    djVec3 x;
    if (i == 13) continue;
    reach(&x, surface, unit(dju_vec3(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1)));
    dju_store3(point + 3 * n++, x);
  }
  djStatus status = DJ_OK;
  for (int before = 0; before != n && status == DJ_OK;) {
    djHull hull = {0};
    before = n;
    status = grow(&hull, point, &n, &mesh->error, surface, goal);
    if (status == DJ_OK && n == before) status = takeHull(mesh, &hull);
    dj_freeHull(&hull);
  }
  free(point);
  return status;
}

djStatus dj_makeSurfaceMesh(djSurfaceMesh* mesh, const djModel* m, int geom, double error,
                            djError* err) {
  if (!mesh) return dj_fail(err, DJ_INVALID, "mesh: NULL");
  *mesh = (djSurfaceMesh){.nvert = 0};
  const int i = m ? shapeOf(m, geom) : -1;
  if (i < 0) return refuse(err, m, geom);
  if (!(error >= 0 && error <= 1)) {
    return dj_fail(err, DJ_INVALID, "error: %g is not between 0 and 1", error);
  }
  djImplicit surface;
  djPose frame;
  dj_openFit(&surface, &frame, &m->collision->shape[i]);
  const double part = fmax(error > 0 ? error : 0.005, 1e-6);
  const djStatus status = tessellate(mesh, &surface, part * surface.outer);
  if (status == DJ_OK) return DJ_OK;
  dj_freeSurfaceMesh(mesh);
  if (status == DJ_NO_MEMORY) return dj_failMemory(err);
  return dj_fail(err, status, "geom '%.80s': no mesh can be made of its surface",
                 dj_id2name(m, DJ_OBJ_GEOM, geom));
}

void dj_freeSurfaceMesh(djSurfaceMesh* mesh) {
  if (!mesh) return;
  free(mesh->vert);
  free(mesh->face);
  *mesh = (djSurfaceMesh){.nvert = 0};
}
