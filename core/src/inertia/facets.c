#include "inertia/facets.h"

#include "base/hash.h"
#include "base/status.h"
#include "contact/contact.h"
#include "inertia/mend.h"
#include "math/lanes.h"
#include "shape/hull.h"

#include <stdlib.h>
#include <string.h>

// Points above a triangle by less than this part of the farthest corner's distance lie in it.
#define IN_FACET 1e-13

// ------------------------------------------ hulls ----------------------------------------------

static djStatus copyFacets(int* nface, int** face, const djHull* hull) {
  *face = malloc(3 * (size_t)hull->nface * sizeof **face + 1);
  if (!*face) return DJ_NO_MEMORY;
  for (int k = 0; k < 3 * hull->nface; k++) (*face)[k] = hull->id[hull->face[k]];
  *nface = hull->nface;
  return DJ_OK;
}

djStatus dj_hullFacets(int* nface, int** face, int nvert, const double* vert) {
  djHull hull;
  *nface = 0;
  *face = NULL;
  djStatus status = dj_makeHull(&hull, nvert, vert, 0, NULL, NULL);
  if (status == DJ_OK)
    status = copyFacets(nface, face, &hull);
  else if (status == DJ_INVALID)
    status = DJ_OK; // flat: nothing
  dj_freeHull(&hull);
  return status;
}

// Heights that are rounding errors are told from others only where there is one above 0.
static bool isBelow(int nvert, const double* vert, djVec3 a, djVec3 normal, double most) {
  double size = 0;
  for (int i = 0; i < nvert; i++) {
    djVec3 x = dju_sub3(dju_load3(vert + 3 * (size_t)i), a);
    double square = dju_dot3(x, x);
    if (square > size) size = square;
  }
  return most <= IN_FACET * sqrt(size) * dju_norm3(normal);
}

// Vertices that are looked at together, an array for each coordinate.
enum { LANE_VERTICES = 64 };

static int fillLanes(double lanes[3][LANE_VERTICES], int nvert, const double* vert) {
  int n = (nvert + DJU_LANES - 1) / DJU_LANES * DJU_LANES;
  for (int i = 0; i < n; i++) {
    const double* x = vert + 3 * (i < nvert ? i : 0);
    for (int k = 0; k < 3; k++) lanes[k][i] = x[k];
  }
  return n;
}

// Whether some of n points may lie above a plane by more than rounding errors: square is that of
// what these are at least, times the normal's length.
static bool mayRise(double lanes[3][LANE_VERTICES], int n, djVec3 a, djVec3 normal, double square) {
  unsigned above = 0;
  for (int i = 0; i < n; i += DJU_LANES) {
    djLanes x = dju_loadLanes(lanes[0] + i) - dju_splat(a.x);
    djLanes y = dju_loadLanes(lanes[1] + i) - dju_splat(a.y);
    djLanes z = dju_loadLanes(lanes[2] + i) - dju_splat(a.z);
    djLanes h = dju_splat(normal.x) * x + dju_splat(normal.y) * y + dju_splat(normal.z) * z;
    above |= dju_greaterBits(h, dju_splat(0)) & dju_greaterBits(h * h, dju_splat(square));
  }
  return above != 0;
}

bool dj_isHull(int nvert, const double* vert, int nface, const int* face) {
  double lanes[3][LANE_VERTICES];
  const int nlane = nvert <= LANE_VERTICES ? fillLanes(lanes, nvert, vert) : 0;
  for (int f = 0; f < nface; f++) {
    djVec3 a = dju_load3(vert + 3 * (size_t)face[3 * f]);
    djVec3 b = dju_sub3(dju_load3(vert + 3 * (size_t)face[3 * f + 1]), a);
    djVec3 c = dju_sub3(dju_load3(vert + 3 * (size_t)face[3 * f + 2]), a), n = dju_cross3(b, c);
    double most = 0, square = IN_FACET * IN_FACET * dju_dot3(b, b) * dju_dot3(n, n);
    if (nlane > 0 && !mayRise(lanes, nlane, a, n, square)) continue;
    for (int i = 0; i < nvert; i++) {
      double height = dju_dot3(n, dju_sub3(dju_load3(vert + 3 * (size_t)i), a));
      most = height > most ? height : most;
    }
    if (most > 0 && !isBelow(nvert, vert, a, n, most)) return false;
  }
  return nface > 0;
}

djStatus dj_hullFacetsFrom(int* nface, int** face, int nvert, const double* vert, int nold,
                           const int* old) {
  *nface = 0;
  *face = NULL;
  if (nvert > DJ_MENDED_VERTICES) return dj_hullFacets(nface, face, nvert, vert);
  *face = malloc(6 * (size_t)nvert * sizeof **face);
  if (!*face) return DJ_NO_MEMORY;
  *nface = nold;
  if (nold <= 2 * nvert) {
    memcpy(*face, old, 3 * (size_t)nold * sizeof *old);
    if (dj_mendFacets(nface, *face, nvert, vert) && dj_isHull(nvert, vert, *nface, *face)) {
      return DJ_OK;
    }
  }
  free(*face);
  return dj_hullFacets(nface, face, nvert, vert);
}

// ------------------------------------------ surfaces -------------------------------------------

static void freeFacets(djFacets* made, int n) {
  for (int k = 0; made && k < n; k++) free(made[k].face);
  free(made);
}

void dj_freeSurfaces(djSurfaces* s) {
  freeFacets(s->made, s->n);
  free(s->before);
  free(s->now);
}

static int meshVertices(const double** vert, const djModel* m, int mesh) {
  *vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
  return m->mesh_vertnum[mesh];
}

// Facets by qhull, or as the design remembers them.
static djStatus findFacets(djSurfaces* s, const djModel* compiled, int mesh,
                           const djFacets* known) {
  const double* vert;
  int n = meshVertices(&vert, compiled, mesh);
  uint64_t key = 1;
  dj_mixNumbers(&key, vert, 3 * (size_t)n);
  if (known && known[mesh].key == key) {
    s->before[mesh] = (djClosedSurface){known[mesh].nface, known[mesh].face};
    return DJ_OK;
  }
  djFacets* made = &s->made[mesh];
  made->key = key;
  return dj_hullFacets(&made->nface, &made->face, n, vert);
}

static djStatus makeSurface(djSurfaces* s, const djModel* m, int mesh, const djFacets* known) {
  djStatus status = DJ_OK;
  const djHull* hull = &m->collision->hull[mesh];
  const djFacets* own = m->collision->own_facets;
  if (own && own[mesh].face) {
    s->before[mesh] = (djClosedSurface){own[mesh].nface, own[mesh].face};
    return DJ_OK;
  }
  if (m->mesh_facenum[mesh] > 0) {
    const int* face = m->mesh_face + 3 * (size_t)m->mesh_faceadr[mesh];
    s->before[mesh] = (djClosedSurface){m->mesh_facenum[mesh], face};
    return DJ_OK;
  }
  if (hull->buffer)
    status = copyFacets(&s->made[mesh].nface, &s->made[mesh].face, hull);
  else
    status = findFacets(s, m, mesh, known);
  if (s->made[mesh].face) {
    s->before[mesh] = (djClosedSurface){s->made[mesh].nface, s->made[mesh].face};
  }
  return status;
}

static void findNow(djSurfaces* s, const djModel* design) {
  const djFacets* own = design->collision->own_facets;
  for (int k = 0; k < s->n; k++) {
    s->now[k] = s->before[k];
    if (own && own[k].face) s->now[k] = (djClosedSurface){own[k].nface, own[k].face};
  }
}

djStatus dj_makeSurfaces(djSurfaces* s, const djModel* design, const djModel* m) {
  size_t n = (size_t)m->nmesh + 1;
  *s = (djSurfaces){calloc(n, sizeof *s->before), calloc(n, sizeof *s->now),
                    calloc(n, sizeof *s->made), m->nmesh};
  djStatus status = s->before && s->now && s->made ? DJ_OK : DJ_NO_MEMORY;
  for (int g = 0; g < m->ngeom && status == DJ_OK; g++) {
    int mesh = m->geom_type[g] == DJ_MESH ? m->geom_mesh[g] : -1;
    if (mesh < 0 || s->before[mesh].nface > 0 || s->made[mesh].key) continue;
    status = makeSurface(s, m, mesh, design->collision->facets);
  }
  if (status == DJ_OK) findNow(s, design);
  return status;
}

void dj_keepSurfaces(djModel* design, djSurfaces* s) {
  struct djCollision* c = design->collision;
  bool any = false;
  for (int k = 0; k < s->n; k++) any = any || s->made[k].key;
  if (any && !c->facets) c->facets = calloc((size_t)s->n, sizeof *c->facets);
  for (int k = 0; k < s->n && any && c->facets; k++) {
    if (!s->made[k].key) continue;
    free(c->facets[k].face);
    c->facets[k] = s->made[k];
    s->made[k] = (djFacets){0};
  }
}

// ------------------------------------------ renewal --------------------------------------------

// Facets of the vertices as they are, where those that the mesh has are not. A hull that has become
// flat keeps what it had.
static djStatus renew(int* changed, djFacets* own, const djSurfaces* s, const djModel* m,
                      int mesh) {
  const double* vert;
  int n = meshVertices(&vert, m, mesh), nface, *face;
  const djClosedSurface* now = &s->now[mesh];
  if (now->nface == 0 || dj_isHull(n, vert, now->nface, now->face)) return DJ_OK;
  djStatus status = dj_hullFacetsFrom(&nface, &face, n, vert, now->nface, now->face);
  if (status < 0 || nface == 0) {
    free(face);
    return status;
  }
  size_t size = 3 * (size_t)nface * sizeof *face;
  *changed += nface != now->nface || memcmp(face, now->face, size) != 0;
  free(own[mesh].face);
  own[mesh] = (djFacets){1, nface, face};
  return DJ_OK;
}

djStatus dj_renewFacets(int* changed, djModel* design, const djModel* compiled, djError* err) {
  if (!changed || !design || !compiled) {
    return dj_fail(err, DJ_INVALID, "changed, design or compiled model: NULL");
  }
  if (design->nmesh != compiled->nmesh || design->nmeshvert != compiled->nmeshvert) {
    return dj_fail(err, DJ_INVALID, "the design is no copy of the compiled model");
  }
  *changed = 0;
  djSurfaces s;
  struct djCollision* c = design->collision;
  if (!c->own_facets) c->own_facets = calloc((size_t)design->nmesh + 1, sizeof *c->own_facets);
  djStatus status = dj_makeSurfaces(&s, design, compiled);
  if (!c->own_facets) status = DJ_NO_MEMORY;
  for (int k = 0; k < design->nmesh && status == DJ_OK; k++) {
    status = renew(changed, c->own_facets, &s, design, k);
  }
  if (status == DJ_OK) dj_keepSurfaces(design, &s);
  dj_freeSurfaces(&s);
  return status < 0 ? dj_failMemory(err) : DJ_OK;
}
