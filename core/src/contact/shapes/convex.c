// Contact shapes of convex geoms, eroded by a skin; gaps and depths of pairs of them.

#include "contact/shapes/convex.h"

#include "shape/curve.h"
#include "shape/hull.h"

#include <string.h>

// ------------------------------------------ shapes ---------------------------------------------

static int vertexCount(const djGeomSource* from) {
  switch (from->model->geom_type[from->geom]) {
    case DJ_SPHERE:
    case DJ_ELLIPSOID: return 1;
    case DJ_CAPSULE:
    case DJ_CYLINDER: return 2;
    case DJ_BOX: return 8;
    case DJ_MESH: return from->hull->nvert;
    default: return 0;
  }
}

static int paddedCount(int n) { return (n + DJ_LANES - 1) / DJ_LANES * DJ_LANES; }

int dj_convexSize(const djGeomSource* from) { return 6 * paddedCount(vertexCount(from)); }

// Vertices and erosion vectors in the geom's frame: v of vertex i, m.
static void localVertex(djVec3* v, djVec3* move, const djGeomSource* from, int i) {
  const double* size = from->model->geom_size + 3 * from->geom;
  *v = *move = dju_vec3(0, 0, 0);
  switch (from->model->geom_type[from->geom]) {
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
      *v = dju_load3(from->hull->vert + 3 * i);
      *move = dju_load3(from->hull->move + 3 * i);
      break;
    default: break;
  }
}

static void fillPlane(djShape* s, djShapeBounds* bounds, const djGeomSource* from,
                      const djPose* pose) {
  const djModel* m = from->model;
  s->normal = dju_column(&pose->R, 2);
  s->center = pose->p;
  // What cannot be inflation is skin; a half space has no limit to either.
  double inflate = m->geom_margin[from->geom] - m->geom_gap[from->geom];
  s->skin = from->skin + fmax(-inflate, 0);
  s->offset = dju_dot3(s->normal, pose->p) - from->skin + inflate;
  s->inner = s->bound = INFINITY;
  bounds->inflate = inflate;
  bounds->beyond = s->skin;
}

static void fillVertices(djShape* s, double* box, double* mem, const djGeomSource* from,
                         const djPose* pose) {
  djVec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
  double round = s->curved ? dj_curveSize(&s->curve) : 0;
  for (int k = 0; k < 3; k++) {
    s->vert[k] = mem + k * s->npad;
    s->move[k] = mem + (3 + k) * s->npad;
  }
  for (int i = 0; i < s->npad; i++) {
    djVec3 v, move;
    localVertex(&v, &move, from, i < s->nvert ? i : 0);
    move = dju_mulMV(pose->R, move);
    v = dju_madd3(dju_transform(pose, v), -s->skin, move);
    const double x[6] = {v.x, v.y, v.z, move.x, move.y, move.z};
    for (int k = 0; k < 6; k++) mem[k * s->npad + i] = x[k];
    low = dju_vec3(fmin(low.x, v.x), fmin(low.y, v.y), fmin(low.z, v.z));
    high = dju_vec3(fmax(high.x, v.x), fmax(high.y, v.y), fmax(high.z, v.z));
    s->bound = fmax(s->bound, dju_norm3(dju_sub3(v, s->center)) + s->radius + round);
  }
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
void dj_makeConvex(djShape* s, djShapeBounds* bounds, double* mem, const djGeomSource* from) {
  const djModel* m = from->model;
  int geom = from->geom;
  djPose pose = {dju_load3(m->geom_pos + 3 * geom),
                 dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom))};
  memset(s, 0, sizeof *s);
  memset(bounds, 0, sizeof *bounds);
  s->type = m->geom_type[geom];
  if (s->type == DJ_PLANE) {
    fillPlane(s, bounds, from, &pose);
    return;
  }
  double inflate = m->geom_margin[geom] - m->geom_gap[geom], inner = from->inner;
  double grow = fmax(inflate, 0), shrink = fmin(fmax(-inflate, 0), 0.5 * inner);
  bounds->inflate = grow - shrink;
  bool round = s->type == DJ_SPHERE || s->type == DJ_CAPSULE;
  s->nvert = vertexCount(from);
  s->npad = paddedCount(s->nvert);
  s->inner = inner;
  s->skin = fmin(from->skin + shrink, 0.9 * inner);   // sizes may have been changed
  s->radius = grow + (round ? m->geom_size[3 * geom] - s->skin : 0);
  s->radius_slope = round ? -1 : 0;
  djVec3 center = {0, 0, 0};
  if (s->type == DJ_MESH) center = from->hull->center;
  s->center = dju_transform(&pose, center);
  fillCurve(s, m, geom, pose.R);
  fillVertices(s, bounds->box, mem, from, &pose);
  bounds->beyond = beyondShape(s, m, geom);
}

void dj_trueConvex(djShape* out, double* mem, const djShape* s, const djShapeBounds* bounds,
                   const djModel* m, int geom) {
  double grow = fmax(bounds->inflate, 0), disc = discOf(m, geom);
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

// ------------------------------------------ pairs ----------------------------------------------

djStatus dj_convexGap(djDistance* d, djDistanceCache* cache, const djGeomPair* p) {
  djStatus status = dj_distance(d, cache, p->a, p->pose_a, 0, p->b, p->pose_b, 0);
  if (status < 0) return status;
  d->gap -= dj_pairInflation(p->a, p->b, p->inflate);
  return DJ_OK;
}

// Adds how far a shape reaches along u (world), from the origin of the world.
static void addReach(double* depth, const djShape* s, const djPose* T, djVec3 u) {
  djVec3 local = dju_mulMtV(T->R, u);
  if (s->type == DJ_PLANE) {
    *depth += s->offset;
  } else {
    double h = -INFINITY;
    for (int i = 0; i < s->nvert; i++) {
      h = fmax(h, local.x * s->vert[0][i] + local.y * s->vert[1][i] + local.z * s->vert[2][i]);
    }
    if (s->curved) h += dj_curveReach(NULL, NULL, &s->curve, local);
    *depth += h + s->radius;
  }
  *depth += dju_dot3(T->p, u);
}

djStatus dj_convexDepth(double* depth, const djVec3* along, const djGeomPair* p) {
  djShape a, b;
  dj_trueConvex(&a, p->scratch, p->a, p->bounds_a, p->model, p->geom_a);
  dj_trueConvex(&b, p->scratch + 3 * a.npad, p->b, p->bounds_b, p->model, p->geom_b);
  if (along) {
    *depth = 0;
    addReach(depth, &a, p->pose_a, *along);
    addReach(depth, &b, p->pose_b, dju_neg3(*along));
    return DJ_OK;
  }
  djDistance d;
  djStatus status = dj_distance(&d, NULL, &a, p->pose_a, 0, &b, p->pose_b, 0);
  *depth = -d.gap;
  return status < 0 ? status : DJ_OK;
}
