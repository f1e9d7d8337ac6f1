#include "contact/penalty/penalty_shape.h"

#include "contact/shapes/convex.h"
#include "math/so3.h"
#include "model/param.h"

#include <string.h>

// The memory: this head, then nodes of the tree, points (body frame) and their order.
enum {
  NPOINT,
  GIVEN,
  FIELD,
  INSIDE,
  RADIUS,
  INFLATE,
  SCALE,
  SIZE,
  ORIGIN = SIZE + 3,
  AXES = ORIGIN + 3,
  HEAD = AXES + 9
};

static int treeSize(int npoint) { return DJ_POINT_NODE * dj_pointNodes(npoint); }

int dj_penaltySize(int npoint) { return HEAD + treeSize(npoint) + 4 * npoint; }

static bool isRound(int type) { return type == DJ_SPHERE || type == DJ_CAPSULE; }

// ------------------------------------------ making ---------------------------------------------

// Which vertex of a mesh with nvert the point i of n is.
static int vertexOf(int i, int n, int nvert) { return (int)((long)i * nvert / n); }

static void placePoints(double* point, const djPenaltySource* from) {
  const int n = from->npoint;
  const double* local = from->given;
  int axes[3];
  if (!local && from->type != DJ_MESH) {
    dj_placePoints(point, axes, from->type, n);
    for (int i = 0; i < 3 * n; i++) point[i] *= from->size[axes[i % 3]];
  } else {
    for (int i = 0; i < n; i++) {
      const double* x = local ? local + 3 * i : from->vert + 3 * vertexOf(i, n, from->nvert);
      memcpy(point + 3 * i, x, 3 * sizeof *x);
    }
  }
  for (int i = 0; i < n; i++) {
    dju_store3(point + 3 * i, dju_transform(&from->frame, dju_load3(point + 3 * i)));
  }
}

void dj_fitPenalty(djShape* s, double* mem, const djPenaltySource* from) {
  const int n = from->npoint;
  double *tree = mem + HEAD, *point = tree + treeSize(n), *id = point + 3 * n;
  mem[NPOINT] = n;
  mem[GIVEN] = from->given != NULL;
  mem[FIELD] = from->field;
  mem[INSIDE] = from->inside;
  mem[RADIUS] = !from->given && isRound(from->type) ? from->size[0] : 0;
  mem[INFLATE] = from->inflate;
  mem[SCALE] = from->scale;
  memcpy(mem + SIZE, from->size, sizeof from->size);
  dju_store3(mem + ORIGIN, from->frame.p);
  memcpy(mem + AXES, from->frame.R.m, sizeof from->frame.R.m);
  placePoints(point, from);
  for (int i = 0; i < n; i++) id[i] = i;
  dj_makePointTree((djPointNode*)(void*)tree, point, id, n);
  s->fit = mem;
  s->grid = from->grid;
  s->nnumber = DJ_PENALTY_BY_POINT + 3 * n + (from->grid ? 3 * from->grid->nvert : 0);
}

void dj_openPenalty(djPenaltyShape* out, const djShape* s) {
  const double* mem = s->fit;
  out->npoint = (int)mem[NPOINT];
  out->given = mem[GIVEN] != 0;
  out->ball = s->type == DJ_SPHERE && !out->given && out->npoint == 1;
  out->has_field = mem[FIELD] != 0;
  out->inside = mem[INSIDE] != 0;
  out->radius = mem[RADIUS];
  out->inflate = mem[INFLATE];
  out->scale = mem[SCALE];
  out->node = (const djPointNode*)(const void*)(mem + HEAD);
  out->point = mem + HEAD + treeSize(out->npoint);
  out->id = out->point + 3 * out->npoint;
  out->field = (djDistanceField){.type = s->type, .grid = s->grid};
  memcpy(out->field.size, mem + SIZE, sizeof out->field.size);
  out->frame.p = dju_load3(mem + ORIGIN);
  memcpy(out->frame.R.m, mem + AXES, sizeof out->frame.R.m);
}

// ------------------------------------------ geoms ----------------------------------------------

static int pointCount(const djModel* m, int geom) {
  const int type = m->geom_type[geom], given = m->geom_pointnum[geom];
  if (given > 0 || type == DJ_PLANE) return given;
  const int count = m->geom_pointcount[geom];
  if (type != DJ_MESH) return dj_typePoints(type, count < 0 ? m->geom_pointrule[geom] : count);
  const int nvert = m->mesh_vertnum[m->geom_mesh[geom]];
  return count < 0 || count > nvert ? nvert : count;
}

double dj_penaltyRadius(const djModel* m, int geom) {
  const bool points = m->geom_pointnum[geom] > 0;
  return !points && isRound(m->geom_type[geom]) ? m->geom_size[3 * geom] : 0;
}

static int convexSize(const djGeomSource* from) {
  const int type = from->model->geom_type[from->geom];
  return type == DJ_PLANE ? 0 : dj_paddedCount(dj_convexSize(from));
}

int dj_penaltyShapeSize(const djGeomSource* from) {
  return convexSize(from) + dj_penaltySize(pointCount(from->model, from->geom));
}

static djPenaltySource sourceOf(const djGeomSource* from) {
  const djModel* m = from->model;
  const int g = from->geom, mesh = m->geom_mesh[g];
  djPenaltySource out = {.type = m->geom_type[g],
                         .npoint = pointCount(m, g),
                         .field = m->geom_field[g] != 0,
                         .inside = m->geom_inside[g] != 0,
                         .scale = m->geom_contact_scale[g],
                         .inflate = m->geom_margin[g] - m->geom_gap[g]};
  memcpy(out.size, m->geom_size + 3 * g, sizeof out.size);
  out.frame.p = dju_load3(m->geom_pos + 3 * g);
  out.frame.R = dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * g));
  if (m->geom_pointnum[g] > 0) out.given = m->point_pos + 3 * (size_t)m->geom_pointadr[g];
  if (out.type == DJ_MESH) {
    out.grid = from->grid;
    out.field = out.field && out.grid;
    out.vert = m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh];
    out.nvert = m->mesh_vertnum[mesh];
  }
  return out;
}

// All of the true geom and all points, which may be anywhere.
static void boundShape(djShape* s, djShapeBounds* bounds) {
  djPenaltyShape p;
  double* box = bounds->box;
  dj_openPenalty(&p, s);
  for (int k = 0; k < 3; k++) box[3 + k] += bounds->beyond;
  s->bound += bounds->beyond;
  bounds->beyond = 0;
  const double grow = p.radius + fmax(p.inflate, 0);
  for (int i = 0; i < p.npoint; i++) {
    const double* x = p.point + 3 * i;
    for (int k = 0; k < 3; k++) {
      const double low = fmin(box[k] - box[3 + k], x[k] - grow);
      const double high = fmax(box[k] + box[3 + k], x[k] + grow);
      box[k] = 0.5 * (low + high);
      box[3 + k] = 0.5 * (high - low);
    }
    s->bound = fmax(s->bound, dju_norm3(dju_sub3(dju_load3(x), s->center)) + grow);
  }
}

djStatus dj_makePenalty(djShape* s, djShapeBounds* bounds, double* mem, const djGeomSource* from,
                        djError* err) {
  const djStatus made = dj_makeConvex(s, bounds, mem, from, err);
  if (made != DJ_OK) return made;
  const djPenaltySource source = sourceOf(from);
  dj_fitPenalty(s, mem + convexSize(from), &source);
  bounds->inflate = source.inflate;
  if (s->type == DJ_PLANE)
    bounds->beyond = 0;
  else
    boundShape(s, bounds);
  return DJ_OK;
}

// ------------------------------------------ derivatives ----------------------------------------

// x_b = R x + p has dx_b = dp + R (w x x + dx): adds to those by pose, returns that by x.
static djVec3 takePoint(djVec3* shift, djVec3* turn, const djPose* frame, const double x_b[3],
                        const double by[3]) {
  const djVec3 local = dju_mulMtV(frame->R, dju_load3(by));
  *shift = dju_add3(*shift, dju_load3(by));
  *turn = dju_add3(*turn, dju_cross3(dju_untransform(frame, dju_load3(x_b)), local));
  return local;
}

djStatus dj_penaltyParams(double* param, const djGeomSource* from, const djShape* s,
                          const djShapeGrad* grad) {
  const djModel* m = from->model;
  const int g = from->geom, mesh = m->geom_mesh[g];
  const double* by = grad->number;
  djPenaltyShape p;
  dj_openPenalty(&p, s);
  djVec3 shift = grad->origin, turn = dju_mulMtV(p.frame.R, grad->turn);
  double size[3] = {by[DJ_PENALTY_BY_SIZE], by[DJ_PENALTY_BY_SIZE + 1], by[DJ_PENALTY_BY_SIZE + 2]};
  int axes[3] = {0, 1, 2};
  if (s->type == DJ_CYLINDER || s->type == DJ_CAPSULE) axes[1] = 0, axes[2] = 1;
  double *points = NULL, *vert = NULL;
  if (p.given)
    points = dj_paramEntry(param, m, DJ_FIELD_GEOM_POINTS, g);
  else if (s->type == DJ_MESH)
    vert = dj_paramEntry(param, m, DJ_FIELD_MESH_VERT, mesh);
  for (int i = 0; i < p.npoint; i++) {
    const int id = (int)p.id[i];
    const djVec3 x = dju_untransform(&p.frame, dju_load3(p.point + 3 * i));
    const djVec3 local =
        takePoint(&shift, &turn, &p.frame, p.point + 3 * i, by + DJ_PENALTY_BY_POINT + 3 * id);
    if (points)
      dju_addTo3(points + 3 * id, 1, local);
    else if (vert)
      dju_addTo3(vert + 3 * vertexOf(id, p.npoint, m->mesh_vertnum[mesh]), 1, local);
    else if (s->type != DJ_SPHERE) {
      const double at[3] = {x.x, x.y, x.z}, f[3] = {local.x, local.y, local.z};
      for (int k = 0; k < 3; k++) { // x_k = u_k size[axis]; capsules' u of axes 0 and 1 are 0
        if (at[k] != 0) size[axes[k]] += f[k] * at[k] / p.field.size[axes[k]];
      }
    }
  }
  if (s->grid) {
    const double* moved = by + DJ_PENALTY_BY_POINT + 3 * p.npoint;
    vert = dj_paramEntry(param, m, DJ_FIELD_MESH_VERT, mesh);
    for (int i = 0; i < 3 * s->grid->nvert; i++) vert[i] += moved[i];
  }
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_POS, g), 1, shift);
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_QUAT, g), 1, turn);
  dju_addTo3(dj_paramEntry(param, m, DJ_FIELD_GEOM_SIZE, g), 1, dju_load3(size));
  dj_paramEntry(param, m, DJ_FIELD_GEOM_CONTACT_SCALE, g)[0] += by[DJ_PENALTY_BY_SCALE];
  return DJ_OK;
}
