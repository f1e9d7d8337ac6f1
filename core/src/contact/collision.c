// Contact shapes and settings of a model, from its geoms and options.

#include "contact/collision.h"

#include "base/status.h"
#include "shape/curve.h"

#include <stdio.h>
#include <string.h>

const char* dj_geomText(char text[80], const djModel* m, int geom) {
  const char* name = m->names + m->name_geom[geom];
  if (name[0]) {
    snprintf(text, 80, "geom '%.60s'", name);
  } else {
    snprintf(text, 80, "geom #%d", geom);
  }
  return text;
}

static bool isSupported(int type) {
  return type == DJ_PLANE || type == DJ_SPHERE || type == DJ_CAPSULE || type == DJ_ELLIPSOID ||
         type == DJ_CYLINDER || type == DJ_BOX || type == DJ_MESH;
}

// ------------------------------------------ sizes ----------------------------------------------

djStatus dj_makeMeshHull(djHull* hull, const djModel* m, int mesh, const djHull* old,
                         const djWatch* watch, djError* err) {
  int nvert = m->mesh_vertnum[mesh], nface = m->mesh_facenum[mesh];
  const double* vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
  const int* face = m->mesh_face + 3 * (size_t)m->mesh_faceadr[mesh];
  djStatus status = DJ_INVALID;
  if (old && old->buffer) {
    status = dj_moveHull(hull, old, nvert, vert);
  } else if (nface > 0) {
    status = dj_makeHullWatched(hull, nvert, vert, nface, face, watch, err);
  }
  if (status == DJ_INVALID) {
    status = dj_makeHullWatched(hull, nvert, vert, 0, NULL, watch, err);
  }
  return status;
}

// Work of a geom's hull, in units of its own: the check of all vertices against all facets.
static double hullWork(const djShapeBuilder* b, int geom) {
  const djModel* m = b->model;
  double n = m->geom_type[geom] == DJ_MESH ? m->mesh_vertnum[m->geom_mesh[geom]] : 0;
  return b->collides[geom] ? n * n : 0;
}

// Hulls among all hulls that are to be made.
typedef struct Share {
  const djWatch* watch;
  double before, own, all;   // work
} Share;

static int tellShare(void* user, double done) {
  const Share* s = user;
  return s->watch->progress(s->watch->user, (s->before + done * s->own) / s->all);
}

static djStatus needHull(djShapeBuilder* b, int geom, Share* share, djError* err) {
  int mesh = b->model->geom_mesh[geom];
  if (b->hull[mesh].buffer) return DJ_OK;
  djWatch watch = {tellShare, share};
  share->own = hullWork(b, geom);
  djStatus status = dj_makeMeshHull(&b->hull[mesh], b->model, mesh, NULL,
                                    share->watch ? &watch : NULL, err);
  share->before += share->own;
  char text[80];
  return status ? dj_prefix(err, status, dj_geomText(text, b->model, geom)) : DJ_OK;
}

double dj_innerRadius(const djShapeBuilder* b, int geom) {
  const djModel* m = b->model;
  const double* size = m->geom_size + 3 * geom;
  switch (m->geom_type[geom]) {
    case DJ_CYLINDER: return fmin(size[0], size[1]);
    case DJ_ELLIPSOID:
    case DJ_BOX: return fmin(size[0], fmin(size[1], size[2]));
    case DJ_MESH: return b->hull[m->geom_mesh[geom]].inner;
    default: return size[0];
  }
}

djStatus dj_checkInner(const djShapeBuilder* b, int geom, djError* err) {
  char text[80];
  if (b->inner[geom] > 0 && isfinite(b->inner[geom])) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "%s: size must be positive", dj_geomText(text, b->model, geom));
}

// Geoms of one mesh share its hull: their work counts more than once, and they are done at once.
static Share shareOut(const djShapeBuilder* b) {
  Share share = {b->watch && b->watch->progress ? b->watch : NULL, 0, 0, 0};
  for (int g = 0; g < b->model->ngeom; g++) share.all += hullWork(b, g);
  return share;
}

djStatus dj_measureGeoms(djShapeBuilder* b, djError* err) {
  const djModel* m = b->model;
  for (int g = 0; g < m->ngeom; g++) {
    b->collides[g] = isSupported(m->geom_type[g]) && dj_geomCollides(m, g);
  }
  Share share = shareOut(b);
  for (int g = 0; g < m->ngeom; g++) {
    b->inner[g] = INFINITY;
    if (!b->collides[g] || m->geom_type[g] == DJ_PLANE) continue;
    if (m->geom_type[g] == DJ_MESH) {
      djStatus status = needHull(b, g, &share, err);
      if (status == DJ_INVALID && !dj_kernel(m->opt.contact)) {   // nobody needs it
        b->collides[g] = false;
        continue;
      }
      if (status < 0) return status;
    }
    b->inner[g] = dj_innerRadius(b, g);
    djStatus status = dj_checkInner(b, g, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// ------------------------------------------ settings -------------------------------------------

// Default rules: see "Defaults" in the design. With r the smallest inner radius, W the movable
// weight, L the length scale, h the timestep:
//   s = min(0.02 r, 0.3 m/s h)/L,  skin = s L/(1 - s),  K = W L s^2/(4 c^3) with c = 0.1, so that
//   W presses a face with four vertices to a depth of c s;  sqrt(eps) = 3e-4 sqrt(g r).
djStatus dj_applyDefaults(djShapeBuilder* b, djError* err) {
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

int dj_vertexCount(const djShapeBuilder* b, int geom) {
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

// Vertices and erosion vectors in the geom's frame: v of vertex i, m.
static void localVertex(djVec3* v, djVec3* move, const djShapeBuilder* b, int geom, int i) {
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
  m->collision->beyond[geom] = s->skin;
}

static void fillVertices(djShape* s, double* mem, const djShapeBuilder* b, int geom,
                         const djPose* pose) {
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

// Semi-thickness of the discs of a cylinder (shape/curve.h), 0 for other geoms.
static double discOf(const djModel* m, int geom) {
  const double* size = m->geom_size + 3 * geom;
  return m->geom_type[geom] == DJ_CYLINDER ? dj_discThickness(size[0], size[1]) : 0;
}

// Erosion moves vertex i by skin m_i, and round surfaces by the skin; a cylinder's edge is missed
// by its discs besides.
static double beyondShape(const djShape* s, const djModel* m, int geom) {
  double most = 0, disc = discOf(m, geom);
  if (disc > 0) return hypot(s->skin, s->skin + disc);
  for (int i = 0; i < s->nvert; i++) {
    most = fmax(most, dju_norm3(dju_vec3(s->move[0][i], s->move[1][i], s->move[2][i])));
  }
  return s->skin * fmax(most, 1);
}

// Margins grow the radius. Where gap exceeds margin the shape shrinks instead, by at most half of
// its inner radius: deeper contacts do not rest on each other anyway.
void dj_fillShape(djShape* s, double* mem, const djShapeBuilder* b, int geom) {
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
  s->nvert = dj_vertexCount(b, geom);
  s->npad = dj_paddedCount(s->nvert);
  s->inner = inner;
  s->skin = fmin(m->geom_skin[geom] + shrink, 0.9 * inner);   // sizes may have been changed
  s->radius = grow + (round ? m->geom_size[3 * geom] - s->skin : 0);
  s->radius_slope = round ? -1 : 0;
  djVec3 center = {0, 0, 0};
  if (s->type == DJ_MESH) center = b->hull[m->geom_mesh[geom]].center;
  s->center = dju_transform(&pose, center);
  fillCurve(s, m, geom, pose.R);
  fillVertices(s, mem, b, geom, &pose);
  m->collision->beyond[geom] = beyondShape(s, m, geom);
}

void dj_trueShape(djShape* out, double* mem, const djModel* m, int geom) {
  const djShape* s = &m->collision->shape[geom];
  double grow = fmax(m->collision->inflate[geom], 0), disc = discOf(m, geom);
  *out = *s;
  if (s->type == DJ_PLANE) {
    out->offset += s->skin - grow;
    return;
  }
  for (int k = 0; k < 3; k++) {
    double* x = mem + k * s->npad;
    for (int i = 0; i < s->npad; i++) x[i] = s->vert[k][i] + (s->skin + disc) * s->move[k][i];
    out->vert[k] = x;
  }
  out->radius += -s->skin * s->radius_slope - grow;
  for (int i = 0; i < 9 && s->curved; i++) {
    out->curve.m[i] += s->skin * s->curve_move.m[i];
    if (disc > 0 && i % 3 == 2) out->curve.m[i] = 0;
  }
}
