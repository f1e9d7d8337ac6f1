// Contact shapes and settings of a model, from its geoms and options.

#include "base/arena.h"
#include "base/status.h"
#include "contact/contact.h"
#include "shape/curve.h"
#include "shape/hull.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Models with at most this many geoms have a bit for each pair.
#define MAX_MATRIX 1024

typedef struct Builder {
  djModel* model;
  djHull* hull;            // (nmesh) made where needed
  bool* collides;          // (ngeom)
  double* inner;           // (ngeom)
} Builder;

static const char* geomName(char text[80], const djModel* m, int geom) {
  const char* name = m->names + m->name_geom[geom];
  if (name[0]) {
    snprintf(text, 80, "geom '%.60s'", name);
  } else {
    snprintf(text, 80, "geom #%d", geom);
  }
  return text;
}

static bool isSupported(int type) {
  return type == DJ_PLANE || type == DJ_SPHERE || type == DJ_CAPSULE || type == DJ_BOX ||
         type == DJ_MESH;
}

// ------------------------------------------ sizes ----------------------------------------------

static djStatus makeMeshHull(Builder* b, int geom, djError* err) {
  const djModel* m = b->model;
  int mesh = m->geom_mesh[geom];
  if (b->hull[mesh].buffer) return DJ_OK;
  djStatus status = dj_makeHull(&b->hull[mesh], m->mesh_vertnum[mesh],
                                m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh],
                                m->mesh_facenum[mesh],
                                m->mesh_face + 3 * (size_t)m->mesh_faceadr[mesh], err);
  // A changed mesh may no longer be the hull of its triangles.
  if (status == DJ_INVALID && m->mesh_facenum[mesh] > 0) {
    status = dj_makeHull(&b->hull[mesh], m->mesh_vertnum[mesh],
                         m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh], 0, NULL, err);
  }
  char text[80];
  return status ? dj_prefix(err, status, geomName(text, m, geom)) : DJ_OK;
}

// Inner radii of the geoms that collide, and the hulls of their meshes.
static djStatus measure(Builder* b, djError* err) {
  const djModel* m = b->model;
  for (int g = 0; g < m->ngeom; g++) {
    const double* size = m->geom_size + 3 * g;
    b->collides[g] = isSupported(m->geom_type[g]) && dj_geomCollides(m, g);
    b->inner[g] = INFINITY;
    if (!b->collides[g] || m->geom_type[g] == DJ_PLANE) continue;
    switch (m->geom_type[g]) {
      case DJ_CYLINDER: b->inner[g] = fmin(size[0], size[1]); break;
      case DJ_ELLIPSOID:
      case DJ_BOX: b->inner[g] = fmin(size[0], fmin(size[1], size[2])); break;
      case DJ_MESH: {
        djStatus status = makeMeshHull(b, g, err);
        if (status == DJ_INVALID && !dj_kernel(m->opt.contact)) {   // nobody needs it
          b->collides[g] = false;
          continue;
        }
        if (status < 0) return status;
        b->inner[g] = b->hull[m->geom_mesh[g]].inner;
        break;
      }
      default: b->inner[g] = size[0];
    }
    char text[80];
    if (!(b->inner[g] > 0) || !isfinite(b->inner[g])) {
      return dj_fail(err, DJ_INVALID, "%s: size must be positive", geomName(text, m, g));
    }
  }
  return DJ_OK;
}

// ------------------------------------------ settings -------------------------------------------

// Default rules: see "Defaults" in the design. With r the smallest inner radius, W the movable
// weight, L the length scale, h the timestep:
//   s = min(0.02 r, 0.3 m/s h)/L,  skin = s L/(1 - s),  K = W L s^2/(4 c^3) with c = 0.1, so that
//   W presses a face with four vertices to a depth of c s;  sqrt(eps) = 3e-4 sqrt(g r).
static djStatus applyDefaults(Builder* b, djError* err) {
  djModel* m = b->model;
  const djOption* o = &m->opt;
  djContactSettings* c = &m->contact;
  double r = INFINITY, moving = m->moving_mass > 0 ? m->moving_mass : 1;
  for (int g = 0; g < m->ngeom; g++) r = fmin(r, b->inner[g]);
  double L = o->length_scale, depth = 0.1;
  if (!(L > 0) || !isfinite(L)) return dj_fail(err, DJ_INVALID, "length_scale must be positive");
  c->length_scale = L;
  c->radius = isfinite(r) ? r : L;
  c->gravity = fmax(dju_norm3(dju_load3(o->gravity)), 9.81);
  c->weight = moving * c->gravity;
  c->support = o->support;
  if (!(o->support >= 0)) {
    c->support = fmin(fmin(0.02 * c->radius, 0.3 * o->timestep) / L, 0.5);
  }
  double s = c->support;
  if (!(s > 0 && s < 1)) return dj_fail(err, DJ_INVALID, "support must be between 0 and 1");
  c->range = 2 * s * L / (1 - s);
  c->stiffness =
      o->stiffness >= 0 ? o->stiffness : c->weight * L * s * s / (4 * depth * depth * depth);
  c->friction_eps = o->friction_eps >= 0 ? o->friction_eps : 9e-8 * c->gravity * c->radius;
  double skin = o->skin >= 0 ? o->skin : s * L / (1 - s);
  c->skin = 0;
  for (int g = 0; g < m->ngeom; g++) {
    m->geom_skin[g] = b->collides[g] ? fmin(skin, 0.25 * b->inner[g]) : 0;
    c->skin = fmax(c->skin, m->geom_skin[g]);
  }
  if (!isfinite(c->range) || !isfinite(c->stiffness) || !isfinite(c->skin)) {
    return dj_fail(err, DJ_INVALID, "contact settings are not finite");
  }
  return DJ_OK;
}

// ------------------------------------------ shapes ---------------------------------------------

static int vertexCount(const Builder* b, int geom) {
  const djModel* m = b->model;
  if (!b->collides[geom]) return 0;
  switch (m->geom_type[geom]) {
    case DJ_SPHERE:
    case DJ_ELLIPSOID: return 1;
    case DJ_CAPSULE:
    case DJ_CYLINDER: return 2;
    case DJ_BOX: return 8;
    case DJ_MESH: return b->hull[m->geom_mesh[geom]].nvert;
    default: return 0;
  }
}

static int padded(int n) { return (n + DJ_LANES - 1) / DJ_LANES * DJ_LANES; }

// Vertices and erosion vectors in the geom's frame: v of vertex i, m.
static void localVertex(djVec3* v, djVec3* move, const Builder* b, int geom, int i) {
  const djModel* m = b->model;
  const double* size = m->geom_size + 3 * geom;
  *v = *move = dju_vec3(0, 0, 0);
  switch (m->geom_type[geom]) {
    case DJ_CAPSULE: v->z = i ? size[1] : -size[1]; break;
    case DJ_CYLINDER:
      move->z = i ? 1 : -1;
      v->z = move->z * (size[1] - dj_discThickness(size[0], size[1]));
      break;
    case DJ_BOX:
      *move = dju_vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
      *v = dju_vec3(move->x * size[0], move->y * size[1], move->z * size[2]);
      break;
    case DJ_MESH:
      *v = dju_load3(b->hull[m->geom_mesh[geom]].vert + 3 * i);
      *move = dju_load3(b->hull[m->geom_mesh[geom]].move + 3 * i);
      break;
    default: break;
  }
}

static void fillPlane(djShape* s, const djModel* m, int geom, const djPose* pose) {
  s->normal = dju_column(&pose->R, 2);
  s->center = pose->p;
  // What cannot be inflation is skin; a half space has no limit to either.
  double inflate = m->geom_margin[geom] - m->geom_gap[geom];
  s->skin = m->geom_skin[geom] + fmax(-inflate, 0);
  s->offset = dju_dot3(s->normal, pose->p) - m->geom_skin[geom] + inflate;
  s->inner = s->bound = INFINITY;
  m->collision->inflate[geom] = inflate;
}

static void fillVertices(djShape* s, double* mem, const Builder* b, int geom, const djPose* pose) {
  djVec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
  double round = s->curved ? dj_curveSize(&s->curve) : 0;
  for (int k = 0; k < 3; k++) {
    s->vert[k] = mem + k * s->npad;
    s->move[k] = mem + (3 + k) * s->npad;
  }
  for (int i = 0; i < s->npad; i++) {
    djVec3 v, move;
    localVertex(&v, &move, b, geom, i < s->nvert ? i : 0);
    move = dju_mulMV(pose->R, move);
    v = dju_madd3(dju_transform(pose, v), -s->skin, move);
    const double x[6] = {v.x, v.y, v.z, move.x, move.y, move.z};
    for (int k = 0; k < 6; k++) mem[k * s->npad + i] = x[k];
    low = dju_vec3(fmin(low.x, v.x), fmin(low.y, v.y), fmin(low.z, v.z));
    high = dju_vec3(fmax(high.x, v.x), fmax(high.y, v.y), fmax(high.z, v.z));
    s->bound = fmax(s->bound, dju_norm3(dju_sub3(v, s->center)) + s->radius + round);
  }
  double* box = b->model->collision->box + 6 * geom;
  dju_store3(box, dju_scale3(0.5, dju_add3(low, high)));
  dju_store3(box + 3, dju_scale3(0.5, dju_sub3(high, low)));
  for (int k = 0; k < 3; k++) {
    djVec3 axis = dju_vec3(k == 0, k == 1, k == 2);
    box[3 + k] += s->radius + (s->curved ? dj_curveReach(NULL, NULL, &s->curve, axis) : 0);
  }
}

// Semi-axes of curved geoms, eroded by the skin.
static void fillCurve(djShape* s, const djModel* m, int geom, djMat3 R) {
  double height, axes[3], slope[3];
  bool erodes[3];
  if (!dj_curvedGeom(&height, axes, erodes, s->type, m->geom_size + 3 * geom)) return;
  for (int k = 0; k < 3; k++) {
    slope[k] = erodes[k];
    axes[k] -= s->skin * slope[k];
  }
  s->curved = true;
  s->curve = dj_scaleColumns(R, axes);
  s->curve_move = dj_scaleColumns(R, slope);
  s->spread = s->type == DJ_CYLINDER ? DJ_SPREAD : 0;
}

// Margins grow the radius. Where gap exceeds margin the shape shrinks instead, by at most half of
// its inner radius: deeper contacts do not rest on each other anyway.
static void fillShape(djShape* s, double* mem, const Builder* b, int geom) {
  djModel* m = b->model;
  djPose pose = {dju_load3(m->geom_pos + 3 * geom),
                 dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom))};
  memset(s, 0, sizeof *s);
  s->type = b->collides[geom] ? m->geom_type[geom] : -1;
  if (s->type < 0) return;
  if (s->type == DJ_PLANE) {
    fillPlane(s, m, geom, &pose);
    return;
  }
  double inflate = m->geom_margin[geom] - m->geom_gap[geom], inner = b->inner[geom];
  double grow = fmax(inflate, 0), shrink = fmin(fmax(-inflate, 0), 0.5 * inner);
  m->collision->inflate[geom] = grow - shrink;
  bool round = s->type == DJ_SPHERE || s->type == DJ_CAPSULE;
  s->nvert = vertexCount(b, geom);
  s->npad = padded(s->nvert);
  s->inner = inner;
  s->skin = fmin(m->geom_skin[geom] + shrink, 0.9 * inner);   // sizes may have been changed
  s->radius = grow + (round ? m->geom_size[3 * geom] - s->skin : 0);
  s->radius_slope = round ? -1 : 0;
  djVec3 center = {0, 0, 0};
  if (s->type == DJ_MESH) center = b->hull[m->geom_mesh[geom]].center;
  s->center = dju_transform(&pose, center);
  fillCurve(s, m, geom, pose.R);
  fillVertices(s, mem, b, geom, &pose);
}

void dj_trueShape(djShape* out, double* mem, const djModel* m, int geom) {
  const djShape* s = &m->collision->shape[geom];
  double grow = fmax(m->collision->inflate[geom], 0);
  *out = *s;
  if (s->type == DJ_PLANE) {
    out->offset += s->skin - grow;
    return;
  }
  for (int k = 0; k < 3; k++) {
    double* x = mem + k * s->npad;
    for (int i = 0; i < s->npad; i++) x[i] = s->vert[k][i] + s->skin * s->move[k][i];
    out->vert[k] = x;
  }
  out->radius += -s->skin * s->radius_slope - grow;
  for (int i = 0; i < 9 && s->curved; i++) out->curve.m[i] += s->skin * s->curve_move.m[i];
}

// ------------------------------------------ assembly -------------------------------------------

// Arrays in one buffer; arena->base NULL: only measure.
static void layout(struct djCollision* c, double** vert, int** adj, djArena* arena,
                   const Builder* b) {
  const djModel* m = b->model;
  size_t n = m->ngeom, nvert = 0, nadj = 0;
  for (int g = 0; g < m->ngeom; g++) nvert += (size_t)padded(vertexCount(b, g));
  for (int k = 0; k < m->nmesh; k++) {
    const djHull* h = &b->hull[k];
    if (h->buffer) nadj += (size_t)h->nvert + 1 + (size_t)h->adjadr[h->nvert];
  }
  c->shape = dj_take(arena, n, sizeof(djShape));
  c->inflate = dj_take(arena, n, sizeof(double));
  c->box = dj_take(arena, 6 * n, sizeof(double));
  c->reach = dj_take(arena, m->nbody, sizeof(double));
  *vert = dj_take(arena, 6 * nvert, sizeof(double));
  *adj = dj_take(arena, nadj, sizeof(int));
  c->rowwords = 0;
  c->collide = NULL;
  if (m->ngeom <= MAX_MATRIX) {
    c->rowwords = (m->ngeom + 31) / 32;
    c->collide = dj_take(arena, n * (size_t)c->rowwords, sizeof(unsigned));
  }
}

static void fillShapes(struct djCollision* c, double* vert, int* adj, const Builder* b) {
  const djModel* m = b->model;
  for (int g = 0; g < m->ngeom; g++) {
    djShape* s = &c->shape[g];
    fillShape(s, vert, b, g);
    vert += 6 * (size_t)s->npad;
    if (s->npad > c->maxvert) c->maxvert = s->npad;
    double* reach = &c->reach[m->geom_body[g]];
    if (s->nvert > 0) *reach = fmax(*reach, dju_norm3(s->center) + s->bound);
  }
  for (int k = 0; k < m->nmesh; k++) {
    const djHull* h = &b->hull[k];
    if (!h->buffer) continue;
    int nadj = h->adjadr[h->nvert];
    memcpy(adj, h->adjadr, ((size_t)h->nvert + 1) * sizeof(int));
    memcpy(adj + h->nvert + 1, h->adj, (size_t)nadj * sizeof(int));
    for (int g = 0; g < m->ngeom; g++) {
      if (c->shape[g].type != DJ_MESH || m->geom_mesh[g] != k) continue;
      c->shape[g].adjadr = adj;
      c->shape[g].adj = adj + h->nvert + 1;
    }
    adj += h->nvert + 1 + nadj;
  }
}

// Bits of the pairs, and how many pairs a simulation makes room for: all of them, or what heaps
// of bodies reach, whichever is less.
static void fillPairs(struct djCollision* c, const djModel* m) {
  long possible = 0, shapes = 0;
  for (int a = 0; a < m->ngeom; a++) {
    if (c->shape[a].type < 0) continue;
    shapes++;
    for (int b = 0; b < a && c->collide; b++) {
      if (c->shape[b].type < 0 || !dj_isContactPair(m, a, b)) continue;
      possible++;
      c->collide[a * c->rowwords + b / 32] |= 1u << (b % 32);
      c->collide[b * c->rowwords + a / 32] |= 1u << (a % 32);
    }
  }
  long bound = 8 * shapes + 64;
  if (!c->collide) possible = bound;
  c->maxpair = (int)(possible < bound ? possible : bound);
  for (int i = 0; i < m->npair; i++) {
    int a = m->pair_geom1[i], b = m->pair_geom2[i];
    if (c->shape[a].type < 0 || c->shape[b].type < 0) continue;
    c->maxinflate = fmax(c->maxinflate, dj_pairCoefficients(m, a, b).inflate);
  }
}

static djStatus build(Builder* b, bool keep_defaults, djError* err) {
  djModel* m = b->model;
  djStatus status = measure(b, err);
  if (status == DJ_OK && !keep_defaults) status = applyDefaults(b, err);
  if (status < 0) return status;
  struct djCollision sizes, *c = calloc(1, sizeof *c);
  if (!c) return dj_failMemory(err);
  double* vert;
  int* adj;
  djArena arena = {NULL, 0};
  layout(&sizes, &vert, &adj, &arena, b);
  if (arena.used < SIZE_MAX) c->buffer = calloc(1, arena.used + 1);
  if (!c->buffer) {
    free(c);
    return dj_failMemory(err);
  }
  arena = (djArena){c->buffer, 0};
  layout(c, &vert, &adj, &arena, b);
  c->nshape = m->ngeom;
  c->nhull = m->nmesh;
  c->hull = b->hull;
  m->collision = c;
  fillShapes(c, vert, adj, b);
  fillPairs(c, m);
  return DJ_OK;
}

static void freeHulls(djHull* hull, int n) {
  for (int k = 0; hull && k < n; k++) dj_freeHull(&hull[k]);
  free(hull);
}

djStatus dj_makeCollision(djModel* model, bool keep_defaults, djError* err) {
  if (!model) return dj_fail(err, DJ_INVALID, "model: NULL");
  size_t n = (size_t)model->ngeom + 1;
  Builder b = {model, calloc((size_t)model->nmesh + 1, sizeof(djHull)), calloc(n, sizeof(bool)),
               calloc(n, sizeof(double))};
  djStatus status = b.hull && b.collides && b.inner ? DJ_OK : dj_failMemory(err);
  model->collision = NULL;
  if (status == DJ_OK) status = build(&b, keep_defaults, err);
  if (!model->collision) freeHulls(b.hull, model->nmesh);
  free(b.collides);
  free(b.inner);
  return status;
}

void dj_freeCollision(djModel* model) {
  if (!model || !model->collision) return;
  freeHulls(model->collision->hull, model->collision->nhull);
  free(model->collision->buffer);
  free(model->collision);
  model->collision = NULL;
}
