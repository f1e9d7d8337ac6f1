// Making and changing the collision data of a model.

#include "base/arena.h"
#include "base/hash.h"
#include "base/status.h"
#include "contact/pairs/collision.h"
#include "contact/shapes/given.h"
#include "model/geom_row.h"
#include "model/param.h"
#include "shape/support.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Models with at most this many geoms have a bit for each pair.
#define MAX_MATRIX 1024

// Numbers of a shape's arrays, whole cache lines.
static size_t shapeSize(const djShapeBuilder* b, int u, int geom) {
  if (!dj_hasShape(b, u, geom)) return 0;
  djGeomSource from = dj_buildSource(b, u, geom);
  size_t n = (size_t)dj_kernel(b->use[u])->shapeSize(&from);
  return (n + 7) / 8 * 8;
}

// Arrays in one buffer; arena->base NULL: only measure.
static void layout(struct djCollision* c, double** vert, int** list, djArena* arena,
                   const djShapeBuilder* b) {
  const djModel* m = b->model;
  size_t n = m->ngeom, all = n * (size_t)b->nuse, nvert = 0, nlist = 0;
  for (int u = 0; u < b->nuse; u++) {
    for (int g = 0; g < m->ngeom; g++) nvert += shapeSize(b, u, g);
  }
  for (int k = 0; k < m->nmesh; k++) nlist += (size_t)dj_hullListRoom(m, &b->hull[k], k);
  c->use = dj_take(arena, b->nuse, sizeof(int));
  c->range = dj_take(arena, b->nuse, sizeof(double));
  c->shape = dj_take(arena, all, sizeof(djShape));
  c->bounds = dj_take(arena, all, sizeof(djShapeBounds));
  c->skin = dj_take(arena, all, sizeof(double));
  c->inner = dj_take(arena, n, sizeof(double));
  c->collides = dj_take(arena, n, sizeof(bool));
  c->box = dj_take(arena, 6 * n, sizeof(double));
  c->beyond = dj_take(arena, n, sizeof(double));
  c->reach = dj_take(arena, m->nbody, sizeof(double));
  *vert = dj_take(arena, nvert, sizeof(double));
  *list = dj_take(arena, nlist, sizeof(int));
  c->list = dj_take(arena, m->nmesh, sizeof(int*));
  c->listroom = dj_take(arena, m->nmesh, sizeof(int));
  c->listaxes = dj_take(arena, m->nmesh, sizeof(djMat3));
  c->listreach = dj_take(arena, m->nmesh, sizeof(double));
  c->rowwords = 0;
  c->collide = NULL;
  if (m->ngeom <= MAX_MATRIX) {
    c->rowwords = (m->ngeom + 31) / 32;
    c->collide = dj_take(arena, n * (size_t)c->rowwords, sizeof(unsigned));
  }
}

// How far a geom's shapes reach from its body's origin.
static double reachOf(const struct djCollision* c, const djModel* m, int geom) {
  double reach = 0;
  for (int i = geom; i < c->nshape; i += m->ngeom) {
    const djShape* s = &c->shape[i];
    if (s->type > DJ_PLANE) reach = fmax(reach, dju_norm3(s->center) + s->bound);
  }
  return reach;
}

static void fillReach(struct djCollision* c, const djModel* m, int body) {
  int first = m->body_geomadr[body], end = first + m->body_geomnum[body];
  c->reach[body] = 0;
  for (int g = first; g < end; g++) c->reach[body] = fmax(c->reach[body], reachOf(c, m, g));
}

// What the kernel made of the geom before; false: nothing.
static bool oldShape(djShape* old, const struct djCollision* c, const djShapeBuilder* b, int u,
                     int geom) {
  int at = b->old ? 0 : u;
  for (; b->old && at < b->old->nuse; at++) {
    if (b->old->use[at] == b->use[u]) break;
  }
  const struct djCollision* from = b->old ? b->old : c;
  if (at == from->nuse || !from->shape) return false;
  *old = from->shape[at * b->model->ngeom + geom];
  return old->own != NULL;
}

static djStatus makeShape(struct djCollision* c, double* mem, const djShapeBuilder* b, int u,
                          int geom, djError* err) {
  int i = u * b->model->ngeom + geom;
  djShape old;
  const bool had = oldShape(&old, c, b, u, geom);
  memset(&c->shape[i], 0, sizeof c->shape[i]);
  memset(&c->bounds[i], 0, sizeof c->bounds[i]);
  c->shape[i].type = -1;
  if (!dj_hasShape(b, u, geom)) return DJ_OK;
  djGeomSource from = dj_buildSource(b, u, geom);
  from.old = had ? &old : NULL;
  djStatus status = dj_kernel(b->use[u])->makeShape(&c->shape[i], &c->bounds[i], mem, &from, err);
  c->shape[i].own = mem;
  char text[80];
  return status < 0 ? dj_prefix(err, status, dj_geomText(text, b->model, geom)) : status;
}

// What the list of near pairs sees of a geom: all its shapes.
static void joinBounds(struct djCollision* c, int geom, int ngeom) {
  double* box = c->box + 6 * geom;
  bool any = false;
  c->beyond[geom] = 0;
  for (int i = geom; i < c->nshape; i += ngeom) {
    const djShapeBounds* bounds = &c->bounds[i];
    if (c->shape[i].type < 0) continue;
    c->beyond[geom] = fmax(c->beyond[geom], bounds->beyond);
    for (int k = 0; k < 3 && any; k++) {
      double low = fmin(box[k] - box[3 + k], bounds->box[k] - bounds->box[3 + k]);
      double high = fmax(box[k] + box[3 + k], bounds->box[k] + bounds->box[3 + k]);
      box[k] = 0.5 * (low + high);
      box[3 + k] = 0.5 * (high - low);
    }
    if (!any) memcpy(box, bounds->box, sizeof bounds->box);
    any = true;
  }
}

static djStatus fillShapes(struct djCollision* c, double* vert, int* list, const djShapeBuilder* b,
                           djError* err) {
  const djModel* m = b->model;
  for (int u = 0; u < b->nuse; u++) {
    for (int g = 0; g < m->ngeom; g++) {
      djStatus status = makeShape(c, vert, b, u, g, err);
      if (status < 0) return status;
      vert += shapeSize(b, u, g);
      int npad = c->shape[u * m->ngeom + g].npad, surface = m->geom_surfacenum[g];
      if (npad > c->maxvert) c->maxvert = npad;
      // and scratch for numbers that are no vertices
      if (surface / DJ_LANES > c->maxvert) c->maxvert = dj_paddedCount(surface / DJ_LANES);
    }
  }
  for (int g = 0; g < m->ngeom; g++) joinBounds(c, g, m->ngeom);
  for (int k = 0; k < m->nmesh; k++) {
    c->list[k] = list;
    c->listroom[k] = dj_hullListRoom(m, &b->hull[k], k);
    list += c->listroom[k];
    djStatus status = dj_fillLists(c, m, k, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

static void fillInflation(struct djCollision* c, const djModel* m) {
  c->maxinflate = 0;
  for (int i = 0; i < m->npair; i++) {
    int a = m->pair_geom1[i], b = m->pair_geom2[i];
    if (!dj_isContactPair(m, a, b)) continue;
    c->maxinflate = fmax(c->maxinflate, dj_pairCoefficients(m, a, b).inflate);
  }
}

// Bits of the pairs, and how many pairs a simulation makes room for: all of them, or what heaps
// of bodies reach, whichever is less.
static void fillPairs(struct djCollision* c, const djModel* m) {
  long possible = 0, shapes = 0;
  c->bounded = !c->collide;
  for (int a = 0; a < m->ngeom; a++) {
    if (!dj_collides(c, a)) continue;
    shapes++;
    for (int b = 0; b < a && c->collide; b++) {
      if (!dj_collides(c, b) || !dj_isContactPair(m, a, b)) continue;
      possible++;
      c->bounded = c->bounded || (m->geom_type[a] != DJ_PLANE && m->geom_type[b] != DJ_PLANE);
      c->collide[a * c->rowwords + b / 32] |= 1u << (b % 32);
      c->collide[b * c->rowwords + a / 32] |= 1u << (a % 32);
    }
  }
  long bound = dj_pairsOfHeap(shapes);
  if (!c->collide) possible = bound;
  c->maxpair = (int)(possible < bound ? possible : bound);
}

// A geom's shapes enter the version, so that it tells apart also what lies at one address one after
// the other.
static void mixShapes(struct djCollision* c, const djShapeBuilder* b, int geom) {
  const djModel* m = b->model;
  for (int i = geom; i < c->nshape; i += m->ngeom) {
    const djShape* s = &c->shape[i];
    const double number[] = {i,           s->type,     s->nvert,    s->radius,
                             s->bound,    s->center.x, s->center.y, s->center.z,
                             s->normal.x, s->normal.y, s->normal.z, s->offset,
                             s->skin,     s->inner,    s->sharp,    s->length,
                             c->bounds[i].inflate};
    dj_mixNumbers(&c->version, number, sizeof number / sizeof number[0]);
    dj_mixNumbers(&c->version, s->curve.m, 9);
    dj_mixNumbers(&c->version, s->own, shapeSize(b, i / m->ngeom, geom));
  }
}

void dj_coefficientsChanged(djModel* m) {
  if (!m->collision) return;
  uint64_t* version = &m->collision->coefficients;
  *version = 0;
  dj_mixNumbers(version, m->geom_friction, 3 * (size_t)m->ngeom);
  dj_mixNumbers(version, m->pair_friction, (size_t)m->npair);
  dj_mixNumbers(version, m->pair_friction2, (size_t)m->npair);
  dj_mixNumbers(version, m->pair_torsion, (size_t)m->npair);
  dj_mixNumbers(version, m->pair_rolling, 2 * (size_t)m->npair);
  for (int g = 0; g < m->ngeom; g++) {
    const double number[] = {dj_restitution(m, g, -1), m->geom_condim[g], m->geom_priority[g]};
    dj_mixNumbers(version, number, 3);
  }
  for (int p = 0; p < m->npair; p++) {
    const double number[] = {dj_restitution(m, -1, p), m->pair_condim[p]};
    dj_mixNumbers(version, number, 2);
  }
}

void dj_guidesChanged(djModel* m) {
  const double number = m->nguide;   // any makes another version
  if (m->collision) dj_mixNumbers(&m->collision->version, &number, 1);
}

// What follows from all shapes.
static void finish(struct djCollision* c, const djShapeBuilder* b) {
  const djModel* m = b->model;
  size_t n = (size_t)m->ngeom;
  for (int k = 0; k < m->nbody; k++) fillReach(c, m, k);
  fillInflation(c, m);
  dj_fillRanges(c, m);
  dj_mixNumbers(&c->version, m->geom_radius, n);
  dj_mixNumbers(&c->version, m->geom_load, n);
  dj_mixNumbers(&c->version, m->geom_push, n);
  dj_mixNumbers(&c->version, m->geom_bound, n);
  dj_mixNumbers(&c->version, m->geom_part, n);
  dj_mixNumbers(&c->version, c->skin, (size_t)c->nshape);
  dj_mixNumbers(&c->version, m->kernel_setting, (size_t)m->nkernelsetting);
  dj_mixNumbers(&c->version, m->setting_value, (size_t)m->nsetting);
  dj_mixNumbers(&c->version, &m->opt.timestep, 1);
  dj_coefficientsChanged(b->model);
  for (int g = 0; g < m->ngeom; g++) {
    c->collides[g] = dj_collides(c, g);
    mixShapes(c, b, g);
  }
}

static void freeFacets(djFacets* list, int n) {
  for (int k = 0; list && k < n; k++) free(list[k].face);
  free(list);
}

static void freeData(struct djCollision* c) {
  if (!c) return;
  freeFacets(c->facets, c->nhull / 2);
  freeFacets(c->own_facets, c->nhull / 2);
  free(c->excess);
  free(c->lumps);
  for (int k = 0; c->hull && k < c->nhull; k++) dj_freeHull(&c->hull[k]);
  free(c->hull);
  dj_freeGrids(c->grid, c->nhull / 2);
  free(c->buffer);
  free(c);
}

// Pairs of kernels that know sliding alone must not ask for other friction.
static djStatus checkFriction(const djModel* m, const struct djCollision* c, djError* err) {
  bool some = false;
  for (int u = 0; u < c->nuse; u++) some = some || dj_kernel(c->use[u])->slidesAlone;
  for (int a = 0; a < m->ngeom && some; a++) {
    for (int b = a + 1; b < m->ngeom; b++) {
      if (!dj_isContactPair(m, a, b)) continue;
      const djKernel* kernel = dj_kernel(dj_pairKernel(m, a, b));
      const djPairCoefficients of = dj_pairCoefficients(m, a, b);
      const djCone* cone = &of.cone;
      const bool others = cone->friction2 > 0 || cone->torsion > 0 || cone->rolling[0] > 0 ||
                          cone->rolling[1] > 0;
      if (!kernel->slidesAlone || !(dj_slides(of.friction) && others)) continue;
      char one[80], other[80];
      return dj_fail(err, DJ_UNSUPPORTED,
                     "%s and %s: %s has sliding friction alone: condim must be 1 or 3, and both "
                     "coefficients of sliding the same",
                     dj_geomText(one, m, a), dj_geomText(other, m, b), kernel->settings->name);
    }
  }
  return DJ_OK;
}

bool dj_frictionKeepsShapes(int pair[2], const djModel* m) {
  const struct djCollision* c = m->collision;
  bool some = false;
  for (int u = 0; c && u < c->nuse; u++) some = some || dj_kernel(c->use[u])->slidesAlone;
  for (int a = 0; a < m->ngeom && some; a++) {
    for (int b = a + 1; b < m->ngeom; b++) {
      if (!dj_isContactPair(m, a, b) || !dj_kernel(dj_pairKernel(m, a, b))->slidesAlone) continue;
      pair[0] = a;
      pair[1] = b;
      if (dj_slides(dj_pairCoefficients(m, a, b).friction)) return true;
    }
  }
  return false;
}

// New data for the model, with the builder's hulls, in place of the old.
static djStatus assemble(djShapeBuilder* b, djError* err) {
  djModel* m = b->model;
  struct djCollision *c = calloc(1, sizeof *c), *old = m->collision;
  if (!c) return dj_failMemory(err);
  double* vert;
  int* list;
  djArena arena = {NULL, 0};
  layout(c, &vert, &list, &arena, b);
  c->nbuffer = arena.used;
  if (arena.used < SIZE_MAX) c->buffer = calloc(1, arena.used + 1);
  if (!c->buffer) {
    free(c);
    return dj_failMemory(err);
  }
  arena = (djArena){c->buffer, 0};
  layout(c, &vert, &list, &arena, b);
  c->nuse = b->nuse;
  memcpy(c->use, b->use, sizeof(int) * (size_t)b->nuse);
  c->nshape = b->nuse * m->ngeom;
  memcpy(c->skin, b->skin, sizeof(double) * (size_t)c->nshape);
  memcpy(c->inner, b->inner, sizeof(double) * (size_t)m->ngeom);
  c->nhull = 2 * m->nmesh;
  c->hull = b->hull;
  c->grid = b->grid;
  c->version = 0;
  m->collision = c;   // coefficients of pairs look there
  b->old = old;
  djStatus status = fillShapes(c, vert, list, b, err);
  if (status >= 0) status = checkFriction(m, c, err);
  if (status < 0) {
    m->collision = old;
    c->hull = NULL;   // the builder's still
    c->grid = NULL;
    freeData(c);
    return status;
  }
  fillPairs(c, m);
  finish(c, b);
  b->hull = NULL;
  b->grid = NULL;
  if (old) {
    c->facets = old->facets;
    c->own_facets = old->own_facets;
    c->excess = old->excess;
    c->lumps = old->lumps;
    c->inertia_rule = old->inertia_rule;
    old->facets = old->own_facets = NULL;
    old->excess = NULL;
    old->lumps = NULL;
  }
  freeData(old);
  return DJ_OK;
}

static void freeBuilder(djShapeBuilder* b) {
  for (int k = 0; b->hull && k < 2 * b->model->nmesh; k++) dj_freeHull(&b->hull[k]);
  free(b->hull);
  if (b->grid) dj_freeGrids(b->grid, b->model->nmesh);
  free(b->collides);
  free(b->inner);
  free(b->mass);
  free(b->push);
  free(b->use);
  free(b->skin);
  memset(b, 0, sizeof *b);
}

// The builder of a model; with the hulls that it has, but for those of `mesh`, whose vertices have
// changed.
static djStatus makeBuilder(djShapeBuilder* b, djModel* m, int mesh, djError* err) {
  size_t n = (size_t)m->ngeom + 1;
  size_t nhull = 2 * (size_t)m->nmesh + 1;
  *b = (djShapeBuilder){.model = m,
                        .hull = calloc(nhull, sizeof(djHull)),
                        .grid = calloc((size_t)m->nmesh + 1, sizeof(djGrid)),
                        .collides = calloc(n, sizeof(bool)),
                        .inner = calloc(n, sizeof(double)),
                        .mass = calloc((size_t)m->nbody + 1, sizeof(double)),
                        .push = calloc((size_t)m->nbody + 1, sizeof(double)),
                        .use = calloc((size_t)dj_kernelCount() + 1, sizeof(int))};
  bool good = b->hull && b->grid && b->collides && b->inner && b->mass && b->push && b->use;
  if (good) {
    b->nuse = dj_kernelsInUse(b->use, m);
    b->skin = calloc(n * (size_t)b->nuse, sizeof(double));
    good = b->skin != NULL;
  }
  for (int k = 0; good && m->collision && k < 2 * m->nmesh; k++) {
    if (k != mesh) good = dj_copyHull(&b->hull[k], &m->collision->hull[k]) == DJ_OK;
  }
  if (good && m->collision) {
    good = dj_copyGrids(b->grid, m->collision->grid, m->nmesh, mesh) == DJ_OK;
  }
  if (good) return DJ_OK;
  freeBuilder(b);
  return dj_failMemory(err);
}

// Skins that are in force.
static void keepSkins(djShapeBuilder* b) {
  const djModel* m = b->model;
  size_t n = (size_t)m->ngeom;
  bool same = m->collision && m->collision->nuse == b->nuse;
  if (same) memcpy(b->skin, m->collision->skin, n * (size_t)b->nuse * sizeof(double));
  memcpy(b->skin, m->geom_skin, n * sizeof(double));
}

// Copies what default rules have written in a model to old, or back.
static void keepDefaults(double* old, djModel* m, bool take) {
  double* const part[] = {m->geom_skin,      m->geom_radius,  m->geom_load,
                          m->geom_push,      m->geom_bound,   m->geom_part,
                          m->geom_sharpness, m->kernel_given, m->kernel_setting};
  for (int k = 0; k < 9; k++) {
    size_t n = (size_t)(k < 7 ? m->ngeom : m->nkernelsetting);
    memcpy(take ? old : part[k], take ? part[k] : old, n * sizeof *old);
    old += n;
  }
}

// Surfaces that are given, whichever geoms collide by whichever kernel.
static djStatus checkGiven(const djModel* m, djError* err) {
  char text[80];
  for (int g = 0; g < m->ngeom; g++) {
    djStatus status = dj_checkGiven(m, g, err);
    if (status < 0) return dj_prefix(err, status, dj_geomText(text, m, g));
  }
  return DJ_OK;
}

// Takes what the builder has. On failure the model is as it was.
static djStatus build(djShapeBuilder* b, bool keep_defaults, djError* err) {
  djModel* m = b->model;
  djContactSettings contact = m->contact;
  int kept = m->defaults_kept;
  size_t n = (size_t)m->ngeom, nk = (size_t)m->nkernelsetting;
  double* old = malloc((7 * n + 2 * nk + 1) * sizeof *old);
  djStatus status = old ? DJ_OK : dj_failMemory(err);
  if (old) {
    keepDefaults(old, m, true);
  }
  if (status == DJ_OK) status = checkGiven(m, err);
  if (status == DJ_OK) status = dj_measureGeoms(b, err);
  if (status == DJ_OK && !keep_defaults) status = dj_applyDefaults(b, err);
  if (status == DJ_OK && keep_defaults) keepSkins(b);
  if (status == DJ_OK) status = dj_needGrids(b, err);
  for (int k = 0; k < m->nmesh && status == DJ_OK; k++) {
    djHull* first = &b->hull[m->nmesh + k];
    if (b->hull[k].buffer && !first->buffer) status = dj_copyHull(first, &b->hull[k]);
  }
  if (status == DJ_OK) status = assemble(b, err);
  if (status < 0 && old) {
    m->contact = contact;
    m->defaults_kept = kept;
    keepDefaults(old, m, false);
  }
  free(old);
  return status;
}

djStatus dj_makeCollisionWatched(djModel* model, bool keep_defaults, const djWatch* watch,
                                 djError* err) {
  if (!model) return dj_fail(err, DJ_INVALID, "model: NULL");
  djShapeBuilder b;
  djStatus status = makeBuilder(&b, model, -1, err);
  b.watch = watch;
  if (status == DJ_OK) status = build(&b, keep_defaults, err);
  freeBuilder(&b);
  return status;
}

djStatus dj_makeCollision(djModel* model, bool keep_defaults, djError* err) {
  return dj_makeCollisionWatched(model, keep_defaults, NULL, err);
}

void dj_freeCollision(djModel* model) {
  if (!model) return;
  freeData(model->collision);
  model->collision = NULL;
}

// ------------------------------------------ changes --------------------------------------------

// The place in the buffer that a pointer of a shape means, to be written.
static void* writable(const struct djCollision* c, const void* place) {
  return (unsigned char*)c->buffer + ((const unsigned char*)place - (unsigned char*)c->buffer);
}

// What follows from a geom's shapes, which were made again; before: how far they reached. Settings,
// and ranges with them, are as they were.
static void finishGeom(struct djCollision* c, const djShapeBuilder* b, int geom, double before) {
  const djModel* m = b->model;
  int body = m->geom_body[geom];
  if (before < c->reach[body]) c->reach[body] = fmax(c->reach[body], reachOf(c, m, geom));
  else fillReach(c, m, body);
  fillInflation(c, m);
  mixShapes(c, b, geom);
}

// Makes a geom's shapes again, in the arrays that they have.
static djStatus refill(const djShapeBuilder* b, int geom, djError* err) {
  struct djCollision* c = b->model->collision;
  c->inner[geom] = b->inner[geom];
  for (int u = 0; u < c->nuse; u++) {
    int i = u * b->model->ngeom + geom;
    djShape* s = &c->shape[i];
    if (s->type < 0) continue;
    djStatus status = makeShape(c, writable(c, s->own), b, u, geom, err);
    if (status < 0) return status;
    dj_giveLists(c, b->model, i);
  }
  joinBounds(c, geom, b->model->ngeom);
  return DJ_OK;
}

static djStatus changeGeom(djShapeBuilder* b, int geom, djError* err) {
  int type = b->model->geom_type[geom];
  char text[80];
  djStatus given = dj_checkGiven(b->model, geom, err);
  if (given < 0) return dj_prefix(err, given, dj_geomText(text, b->model, geom));
  if (!dj_collides(b->model->collision, geom)) return DJ_OK;
  if (!dj_isGround(type)) b->inner[geom] = dj_innerRadius(b, geom);
  double before = reachOf(b->model->collision, b->model, geom);
  djStatus status = dj_isGround(type) ? DJ_OK : dj_checkInner(b, geom, err);
  if (status == DJ_OK) status = refill(b, geom, err);
  if (status < 0) return status;
  finishGeom(b->model->collision, b, geom, before);
  return DJ_OK;
}

// First geom whose shape is made of the mesh, or -1.
static int userOf(const djModel* m, int mesh) {
  for (int g = 0; g < m->ngeom; g++) {
    bool user = m->geom_type[g] == DJ_MESH && m->geom_mesh[g] == mesh;
    if (user && dj_collides(m->collision, g)) return g;
  }
  return -1;
}

// Shapes of all geoms that have this height field.
static djStatus changeHfield(djShapeBuilder* b, int field, djError* err) {
  const djModel* m = b->model;
  djStatus status = DJ_OK;
  for (int g = 0; g < m->ngeom && status >= 0; g++) {
    if (m->geom_type[g] == DJ_HFIELD && m->geom_hfield[g] == field) status = changeGeom(b, g, err);
  }
  return status;
}

// A mesh's new hull takes no more than the old: what its shapes have of it, and its lists.
static bool hasRoom(const djShapeBuilder* b, int mesh, const djHull* hull) {
  const djModel* m = b->model;
  const djHull old = b->hull[mesh];
  bool room = old.buffer && dj_listRoom(hull->nvert) <= m->collision->listroom[mesh];
  for (int g = 0; g < m->ngeom && room; g++) {
    if (m->geom_type[g] != DJ_MESH || m->geom_mesh[g] != mesh) continue;
    for (int u = 0; u < b->nuse && room; u++) {
      size_t before = shapeSize(b, u, g);
      b->hull[mesh] = *hull;
      room = shapeSize(b, u, g) == before;
      b->hull[mesh] = old;
    }
  }
  return room;
}

// Puts a mesh's new hull in the place of the old; and its grid.
static djStatus changeHull(djShapeBuilder* b, int mesh, djHull* hull, djGrid* grid,
                           djError* err) {
  djModel* m = b->model;
  struct djCollision* c = m->collision;
  djStatus status = DJ_OK;
  dj_freeHull(&c->hull[mesh]);
  c->hull[mesh] = *hull;
  dj_freeGrid(&c->grid[mesh]);
  c->grid[mesh] = *grid;
  for (int g = 0; g < m->ngeom; g++) {
    if (!b->collides[g] || m->geom_type[g] != DJ_MESH || m->geom_mesh[g] != mesh) continue;
    b->inner[g] = hull->inner;
    double before = reachOf(c, m, g);
    djStatus made = refill(b, g, err);
    if (status == DJ_OK) status = made;
    finishGeom(c, b, g, before);
  }
  djStatus made = dj_fillLists(c, m, mesh, err);
  return status == DJ_OK ? made : status;
}

static djStatus changeMesh(djShapeBuilder* b, int mesh, djError* err) {
  djModel* m = b->model;
  const djHull* first = &m->collision->hull[m->nmesh + mesh];
  int user = userOf(m, mesh);
  char text[80];
  djHull hull = {0};
  djGrid grid;
  djStatus status = dj_moveMeshGrid(&grid, b, mesh, err);
  if (status < 0) return user < 0 ? status : dj_prefix(err, status, dj_geomText(text, m, user));
  if (user >= 0) status = dj_makeMeshHull(&hull, m, mesh, first, NULL, err);
  if (status < 0 && (status != DJ_INVALID || dj_kernel(m->opt.contact))) {
    dj_freeGrid(&grid);
    return dj_prefix(err, status, dj_geomText(text, m, user));
  }
  if (user >= 0 && status == DJ_OK && hasRoom(b, mesh, &hull)) {
    return changeHull(b, mesh, &hull, &grid, err);
  }
  djShapeBuilder all;
  status = makeBuilder(&all, m, mesh, err);
  if (status < 0) {
    dj_freeHull(&hull);
    dj_freeGrid(&grid);
    return status;
  }
  all.hull[mesh] = hull;
  all.grid[mesh] = grid;
  status = build(&all, true, err);
  freeBuilder(&all);
  return status;
}

djStatus dj_changeCollision(djModel* m, const djParam* param, djError* err) {
  struct djCollision* c = m->collision;
  size_t n = (size_t)m->ngeom + 1;
  djShapeBuilder b = {.model = m, .hull = c->hull, .grid = c->grid, .collides = malloc(n * sizeof(bool)),
                      .inner = malloc(n * sizeof(double)), .nuse = c->nuse, .use = c->use,
                      .skin = c->skin};
  djStatus status = b.collides && b.inner ? DJ_OK : dj_failMemory(err);
  if (status == DJ_OK) {
    memcpy(b.collides, c->collides, (n - 1) * sizeof *b.collides);
    memcpy(b.inner, c->inner, (n - 1) * sizeof *b.inner);
    switch (param->field) {
      case DJ_FIELD_GEOM_POS:
      case DJ_FIELD_GEOM_QUAT:
      case DJ_FIELD_GEOM_SHARPNESS:
      case DJ_FIELD_GEOM_SURFACE:
      case DJ_FIELD_GEOM_POINTS:
      case DJ_FIELD_GEOM_CONTACT_SCALE:
      case DJ_FIELD_GEOM_SIZE:
        status = changeGeom(&b, param->id, err);
        if (status >= 0) status = dj_changeReaches(&b, param->id, err);
        break;
      case DJ_FIELD_HFIELD_HEIGHTS: status = changeHfield(&b, param->id, err); break;
      case DJ_FIELD_MESH_VERT: status = changeMesh(&b, param->id, err); break;
      default: break;
    }
  }
  free(b.collides);
  free(b.inner);
  return status;
}
