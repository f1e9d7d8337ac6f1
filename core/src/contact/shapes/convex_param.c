// Derivatives by what contact shapes are made of: from cotangents of shapes (shape.h, djShapeGrad)
// to geom pos, quat and size and to mesh vertices. The transpose of convex.c.
//
// Settings in force and the skin are constants. Shapes are smooth functions of these parameters
// but for places where they are only C0; there the derivative is that of the side taken:
//   sizes            the least of them changes (inner radius), or the longest semi-axis (bound);
//                    the skin reaches 0.9 inner
//   meshes           a vertex pops out of a facet or falls into the hull, the active facets of an
//                    erosion vector or the facet nearest to the centre change. A flat facet of
//                    several triangles has one normal until it has bent by 1e-5 of the size and is
//                    split: erosion vectors then jump by about as much
//   all              the vertex that is farthest from the centre changes (bound)

#include "contact/shapes/convex.h"

#include "model/param.h"
#include "shape/curve.h"
#include "shape/hull_param.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------------------ geoms ----------------------------------------------

// Cotangents of a geom's parts in its own frame, and of its pose.
typedef struct Part {
  const djModel* m;
  const djShape* s;
  const djGeomRow* row;
  const djGeomSource* from;
  int geom;
  double skin;              // given
  djPose pose;              // of the geom in its body
  djVec3 shift, turn;       // by pos, and by w of quat exp(w)
  double size[3];
  double inner;             // by the inner radius
  int far;                  // the vertex farthest from the center, and its unit arm: found once,
  djVec3 arm;               //   as twice may not round alike, and a box's corners are equally far
} Part;

// Y = R x + p has dY = dp + R (w x x): adds what a cotangent of Y (body frame) says about the pose,
// and returns that of x. Directions have no p.
static djVec3 takePoint(Part* part, djVec3 x, djVec3 cotangent, bool direction) {
  djVec3 local = dju_mulMtV(part->pose.R, cotangent);
  part->turn = dju_add3(part->turn, dju_cross3(x, local));
  if (!direction) part->shift = dju_add3(part->shift, cotangent);
  return local;
}

// normal = R z, offset = normal . p + constants, center = p.
static void takePlane(Part* part, const djShapeGrad* grad) {
  djVec3 normal = dju_madd3(grad->normal, grad->offset, part->pose.p);
  takePoint(part, dju_vec3(0, 0, 1), normal, true);
  part->shift = dju_add3(part->shift, dju_madd3(grad->center, grad->offset, part->s->normal));
}

// d skin/d inner: skin = min(given skin + shrink, 0.9 inner), shrink = min(gap + deeper - margin,
// DJ_MOST_SHRINK inner).
static double skinSlope(const Part* part) {
  const djModel* m = part->m;
  double inner = part->s->inner;
  double excess = m->geom_gap[part->geom] + part->from->deeper - m->geom_margin[part->geom];
  double shrink = fmin(fmax(excess, 0), DJ_MOST_SHRINK * inner);
  if (part->skin + shrink > 0.9 * inner) return 0.9;
  return excess > DJ_MOST_SHRINK * inner ? DJ_MOST_SHRINK : 0;
}

// bound = max |vert_i - center| + radius.
static void findFarthest(Part* part) {
  const djShape* s = part->s;
  double most = -1;
  for (int i = 0; i < s->nvert; i++) {
    djVec3 r = {s->vert[0][i] - s->center.x, s->vert[1][i] - s->center.y,
                s->vert[2][i] - s->center.z};
    double d = dju_norm3(r);
    if (!(d > most)) continue;
    most = d;
    part->far = i;
    if (d > 0) part->arm = dju_scale3(1 / d, r);
  }
}

// Vertex i of the geom, X = vert + skin move in its frame: *point and *move become the cotangents
// of X and of its erosion vector m. vert = R (X - skin m) + p, move = R m.
static void takeVertex(Part* part, djVec3* point, djVec3* move, double* skin, int i) {
  const djShape* s = part->s;
  djVec3 vert = {s->vert[0][i], s->vert[1][i], s->vert[2][i]};
  djVec3 m = {s->move[0][i], s->move[1][i], s->move[2][i]};
  *skin -= dju_dot3(*point, m);
  *point = takePoint(part, dju_untransform(&part->pose, vert), *point, false);
  *move = takePoint(part, dju_mulMtV(part->pose.R, m), *move, true);
  *move = dju_madd3(*move, -s->skin, *point);
}

// Column k of the curve is R e_k a_k with semi-axis a_k = axis_k - skin slope_k; that of curve_move
// is R e_k slope_k. The bound has the longest column.
static void takeCurve(Part* part, double* skin, const djShapeGrad* grad) {
  const djShape* s = part->s;
  const djGeomCurve* curve = part->row->curve;
  const bool* erodes = curve->erodes;
  double by[3], length[3];
  int longest = 0;
  for (int k = 0; k < 3; k++) {
    length[k] = dju_norm3(dju_column(&s->curve, k));
    if (length[k] > length[longest]) longest = k;
  }
  for (int k = 0; k < 3; k++) {
    djVec3 column = dju_column(&s->curve, k), cotangent = dju_column(&grad->curve, k);
    djVec3 axis = {k == 0, k == 1, k == 2};
    if (k == longest) cotangent = dju_madd3(cotangent, grad->bound / length[k], column);
    double semi = dju_dot3(axis, dju_mulMtV(part->pose.R, column));
    by[k] = dju_dot3(axis, takePoint(part, dju_scale3(semi, axis), cotangent, true));
    takePoint(part, dju_scale3(erodes[k], axis), dju_column(&grad->curve_move, k), true);
    if (erodes[k]) *skin -= by[k];
  }
  curve->axesParams(part->size, by, part->m->geom_size + 3 * part->geom);
}

// Cotangents of the geom's own vertices. local (nvert x 6, of X and of m): NULL where m is
// constant.
static void takeVertices(Part* part, double* local, const djShapeGrad* grad) {
  const djShape* s = part->s;
  const djGeomRow* row = part->row;
  const double* size = part->m->geom_size + 3 * part->geom;
  double radius = grad->radius + grad->bound, skin = grad->skin;
  for (int i = 0; i < s->nvert; i++) {
    djVec3 point = {grad->vert[0][i], grad->vert[1][i], grad->vert[2][i]};
    djVec3 move = {grad->move[0][i], grad->move[1][i], grad->move[2][i]};
    if (i == part->far) point = dju_madd3(point, grad->bound, part->arm);
    takeVertex(part, &point, &move, &skin, i);
    if (row->vertexParams) row->vertexParams(part->size, point, size, i);
    if (!local) continue;
    dju_store3(local + 6 * i, point);
    dju_store3(local + 6 * i + 3, move);
  }
  if (s->curved) takeCurve(part, &skin, grad);
  if (row->round) {
    part->size[0] += radius;
    skin -= radius;
  }
  part->inner += grad->inner + skin * skinSlope(part);
}

static djVec3 takeCenter(Part* part, const djShapeGrad* grad) {
  djVec3 cotangent = dju_madd3(grad->center, -grad->bound, part->arm);
  return takePoint(part, dju_untransform(&part->pose, part->s->center), cotangent, false);
}

// ------------------------------------------ sizes ----------------------------------------------

static void takeInner(Part* part) {
  double by[3];
  part->row->inner(by, part->m->geom_size + 3 * part->geom);
  for (int k = 0; k < 3; k++) {
    if (by[k] != 0) part->size[k] += part->inner * by[k];
  }
}

// Vertices inside the hull, m = (X - center)/inner; those of the hull are moved together.
static void takeInside(double* out, double* local, djHullGrad* of, const Part* part) {
  const djHull* hull = part->from->hull;
  const djModel* m = part->m;
  const double* vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[m->geom_mesh[part->geom]];
  for (int i = 0; i < part->s->nvert && part->from->all; i++) {
    const int k = dj_hullVertex(part->from, i);
    if (k >= 0) {
      memmove(local + 6 * k, local + 6 * i, 6 * sizeof *local);
      continue;
    }
    const djVec3 move = dju_scale3(1 / hull->inner, dju_load3(local + 6 * i + 3));
    const djVec3 arm = dju_sub3(dju_load3(vert + 3 * i), hull->center);
    dju_addTo3(out + 3 * i, 1, dju_add3(dju_load3(local + 6 * i), move));
    of->center = dju_sub3(of->center, move);
    of->inner -= dju_dot3(move, arm) / hull->inner;
  }
}

static djStatus takeMesh(double* param, Part* part, const djShapeGrad* grad) {
  const djModel* m = part->m;
  int mesh = m->geom_mesh[part->geom];
  const djHull* hull = part->from->hull;
  size_t n = (size_t)hull->nvert;
  double* out = dj_paramEntry(param, m, DJ_FIELD_MESH_VERT, mesh);
  // cotangents of X and m; their sum by hull vertex
  double* local = malloc((6 * (size_t)part->s->nvert + 3 * n) * sizeof *local);
  if (!local) return DJ_NO_MEMORY;
  double* vert = local + 6 * (size_t)part->s->nvert;
  takeVertices(part, local, grad);
  djHullGrad of = {.vert = local, .move = local + 3, .stride = 6};
  of.center = takeCenter(part, grad);
  of.inner = part->inner;
  takeInside(out, local, &of, part);
  djStatus status = dj_hullParams(vert, hull, &of);
  for (size_t i = 0; i < n && status == DJ_OK; i++) {
    for (size_t k = 0; k < 3; k++) out[3 * (size_t)hull->id[i] + k] += vert[3 * i + k];
  }
  free(local);
  return status;
}

djStatus dj_convexParams(double* param, const djGeomSource* from, const djShape* s,
                         const djShapeGrad* grad) {
  const djModel* m = from->model;
  int geom = from->geom;
  Part part = {.m = m, .s = s, .from = from, .geom = geom, .skin = from->skin};
  part.row = dj_geomRow(s->type);
  part.pose.p = dju_load3(m->geom_pos + 3 * geom);
  part.pose.R = dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * geom));
  findFarthest(&part);
  if (s->type == DJ_MESH) {
    djStatus status = takeMesh(param, &part, grad);
    if (status < 0) return status;
  } else if (s->type == DJ_PLANE) {
    takePlane(&part, grad);
  } else {
    takeVertices(&part, NULL, grad);
    takeCenter(&part, grad);
    takeInner(&part);
  }
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_POS, geom), 1, part.shift);
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_QUAT, geom), 1, part.turn);
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_SIZE, geom), 1, dju_load3(part.size));
  return DJ_OK;
}
