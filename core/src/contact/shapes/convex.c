// Contact shapes of convex geoms, eroded by a skin; gaps and depths of pairs of them.

#include "contact/shapes/convex.h"

#include "shape/curve.h"
#include "shape/hull_surface.h"
#include "shape/support.h"

#include <string.h>

// ------------------------------------------ shapes ---------------------------------------------

static const djGeomRow* rowOf(const djModel* m, int geom) { return dj_geomRow(m->geom_type[geom]); }

static bool isConvex(int type) { return dj_geomRow(type) && dj_geomRow(type)->convex; }

bool dj_convexTakes(int type_a, int type_b) {
  return isConvex(type_a) && (type_b == DJ_PLANE || isConvex(type_b));
}

static int vertexCount(const djGeomSource* from) {
  const djModel* m = from->model;
  if (!from->hull) return rowOf(m, from->geom)->nvert;
  return from->all ? m->mesh_vertnum[m->geom_mesh[from->geom]] : from->hull->nvert;
}

// Vertices, erosion vectors, and parts of the surface.
int dj_convexSize(const djGeomSource* from) {
  return (from->hull ? 7 : 6) * dj_paddedCount(vertexCount(from));
}

int dj_hullVertex(const djGeomSource* from, int i) {
  const djHull* hull = from->hull;
  int low = 0, high = hull->nvert;
  if (!from->all) return i;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (hull->id[middle] < i)
      low = middle + 1;
    else
      high = middle;
  }
  return low < hull->nvert && hull->id[low] == i ? low : -1;
}

// Erosion by e takes a vertex v inside the hull towards the centre c, by e (v - c)/inner: so the
// whole hull would lie within what is left of it, for its facets are at least `inner` from c.
static void innerVertex(djVec3* v, djVec3* move, const djGeomSource* from, int i) {
  const djModel* m = from->model;
  const size_t adr = 3 * ((size_t)m->mesh_vertadr[m->geom_mesh[from->geom]] + (size_t)i);
  *v = dju_load3(m->mesh_vert + adr);
  *move = dju_scale3(1 / from->hull->inner, dju_sub3(*v, from->hull->center));
}

// Vertices and erosion vectors in the geom's frame: v of vertex i, m.
static void localVertex(djVec3* v, djVec3* move, const djGeomSource* from, int i) {
  const djModel* m = from->model;
  if (from->hull) {
    const int k = dj_hullVertex(from, i);
    if (k < 0) {
      innerVertex(v, move, from, i);
      return;
    }
    *v = dju_load3(from->hull->vert + 3 * k);
    *move = dju_load3(from->hull->move + 3 * k);
  } else {
    dj_geomVertex(v, move, rowOf(m, from->geom), m->geom_size + 3 * from->geom, i);
  }
}

// margin - gap, less what is to be deeper.
static double inflationOf(const djGeomSource* from) {
  const djModel* m = from->model;
  return m->geom_margin[from->geom] - m->geom_gap[from->geom] - from->deeper;
}

static void fillPlane(djShape* s, djShapeBounds* bounds, const djGeomSource* from,
                      const djPose* pose) {
  s->normal = dju_column(&pose->R, 2);
  s->center = pose->p;
  // What cannot be inflation is skin; a half space has no limit to either.
  double inflate = inflationOf(from);
  s->skin = from->skin + fmax(-inflate, 0);
  s->offset = dju_dot3(s->normal, pose->p) - from->skin + inflate;
  s->inner = s->bound = INFINITY;
  bounds->inflate = inflate;
  bounds->beyond = s->skin;
}

static void fillVertices(djShape* s, double* box, double* mem, const djGeomSource* from,
                         const djPose* pose) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
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
    for (int k = 0; k < 3; k++) {
      low[k] = x[k] < low[k] ? x[k] : low[k];
      high[k] = x[k] > high[k] ? x[k] : high[k];
    }
    double bound = dju_norm3(dju_sub3(v, s->center)) + s->radius + round;
    s->bound = bound > s->bound ? bound : s->bound;
  }
  for (int k = 0; k < 3; k++) {
    box[k] = 0.5 * (low[k] + high[k]);
    box[3 + k] = 0.5 * (high[k] - low[k]);
    djVec3 axis = dju_vec3(k == 0, k == 1, k == 2);
    box[3 + k] += s->radius + (s->curved ? dj_curveReach(NULL, NULL, &s->curve, axis) : 0);
  }
}

void dj_curveShape(djShape* s, const djGeomRow* row, const double size[3], djMat3 R) {
  const djGeomCurve* curve = row->curve;
  double axes[3], slope[3];
  if (!curve) return;
  curve->axes(axes, size);
  for (int k = 0; k < 3; k++) {
    slope[k] = curve->erodes[k];
    axes[k] -= s->skin * slope[k];
  }
  s->curved = true;
  s->curve = dj_scaleColumns(R, axes);
  s->curve_move = dj_scaleColumns(R, slope);
  s->spread = curve->spread;
}

void dj_centerShape(djShape* s) {
  djVec3 sum = {0, 0, 0};
  double round = s->radius + (s->curved ? dj_curveSize(&s->curve) : 0);
  for (int i = 0; i < s->nvert; i++) {
    djVec3 x = {s->vert[0][i], s->vert[1][i], s->vert[2][i]};
    sum = dju_madd3(sum, 1.0 / s->nvert, x);
  }
  s->center = sum;
  for (int i = 0; i < s->nvert; i++) {
    djVec3 x = {s->vert[0][i], s->vert[1][i], s->vert[2][i]};
    s->bound = fmax(s->bound, dju_norm3(dju_sub3(x, sum)) + round);
  }
}

static double discOf(const djModel* m, int geom) {
  return dj_geomDisc(rowOf(m, geom), m->geom_size + 3 * geom);
}

// Erosion moves vertex i by skin m_i, and round surfaces by the skin; edges are missed by
// discs besides.
static double beyondShape(const djShape* s, const djModel* m, int geom) {
  double most = 0, disc = discOf(m, geom);
  if (disc > 0) return hypot(s->skin, s->skin + disc);
  for (int i = 0; i < s->nvert; i++) {
    most = fmax(most, dju_norm3(dju_vec3(s->move[0][i], s->move[1][i], s->move[2][i])));
  }
  return s->skin * fmax(most, 1);
}

// As the model was compiled, but where another hull has taken the place of the one that it had.
static void fillParts(djShape* s, double* part, const djGeomSource* from) {
  const djHull *now = from->hull, *first = from->first;
  size_t bytes = (size_t)now->nvert * sizeof(int);
  bool same = first->nvert == now->nvert && !memcmp(first->id, now->id, bytes);
  dj_hullSurface(part, same ? first : now);
  for (int i = now->nvert; i < s->npad; i++) part[i] = 0;
  for (int k = now->nvert - 1; k >= 0 && from->all; k--) { // ids ascend
    const double one = part[k];
    part[k] = 0;
    part[now->id[k]] = one;
  }
  s->weight = part;
}

// Margins grow the radius. Where gap exceeds margin the shape shrinks instead, by at most half of
// its inner radius: deeper contacts do not rest on each other anyway.
djStatus dj_makeConvex(djShape* s, djShapeBounds* bounds, double* mem, const djGeomSource* from,
                       djError* err) {
  (void)err;
  const djModel* m = from->model;
  int geom = from->geom;
  djPose pose = {dju_load3(m->geom_pos + 3 * geom),
                 dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom))};
  memset(s, 0, sizeof *s);
  memset(bounds, 0, sizeof *bounds);
  s->type = m->geom_type[geom];
  if (s->type == DJ_PLANE) {
    fillPlane(s, bounds, from, &pose);
    return DJ_OK;
  }
  double inflate = inflationOf(from), inner = from->inner;
  double grow = fmax(inflate, 0), shrink = fmin(fmax(-inflate, 0), DJ_MOST_SHRINK * inner);
  bounds->inflate = grow - shrink;
  const djGeomRow* row = rowOf(m, geom);
  bool round = row->round;
  s->nvert = vertexCount(from);
  s->npad = dj_paddedCount(s->nvert);
  s->inner = inner;
  s->skin = fmin(from->skin + shrink, 0.9 * inner);   // sizes may have been changed
  s->radius = grow + (round ? m->geom_size[3 * geom] - s->skin : 0);
  s->radius_slope = round ? -1 : 0;
  djVec3 center = {0, 0, 0};
  if (s->type == DJ_MESH) center = from->hull->center;
  s->center = dju_transform(&pose, center);
  dj_curveShape(s, row, m->geom_size + 3 * geom, pose.R);
  fillVertices(s, bounds->box, mem, from, &pose);
  if (from->hull) fillParts(s, mem + 6 * s->npad, from);
  bounds->beyond = beyondShape(s, m, geom);
  return DJ_OK;
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
    double h = dju_dot3(local, dj_erodedVertex(s, 0, dj_farthestVertex(s, 0, local)));
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
