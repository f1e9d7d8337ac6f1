// Queries of penalty contact: djc_penalty, fields of meshes, and shapes of djc_pair.

#include "contact/penalty/penalty_query.h"

#include "base/status.h"
#include "contact/penalty/point_query.h"
#include "model/check.h"

#include <dijoco/penalty.h>

#include <stdlib.h>
#include <string.h>

djcPointState dj_pointState(djPointState state) {
  return state == DJ_POINT_FREE ? DJC_FREE : state == DJ_POINT_STICK ? DJC_STICK : DJC_SLIP;
}

struct djcField {
  djGrid grid;
};

// ------------------------------------------ djc_penalty ----------------------------------------

static djStatus checkNumbers(const djcPenaltyQuery* q, djError* err) {
  const djNamedNumbers list[] = {{"a: points", q->point, 3 * q->npoint},
                                 {"a: origin", q->origin, 3},
                                 {"a: twist", q->twist_a, 6},
                                 {"b: pose", q->pos, 3},
                                 {"b: twist", q->twist_b, 6},
                                 {"lambda", q->lambda, 12}};
  const djNamedParam law[] = {{"kn", q->kn, false},
                              {"kt", q->kt, true},
                              {"kd", q->kd, true},
                              {"mu", q->mu, true},
                              {"scale", q->scale, true}};
  const djStatus status = dj_checkAllNumbers(list, sizeof list / sizeof list[0], err);
  return status < 0 ? status : dj_checkQueryParams(law, sizeof law / sizeof law[0], err);
}

static djStatus checkQuery(const djcPenaltyQuery* q, const djcField* field, djError* err) {
  djStatus status = dj_checkQueryPoints(q->npoint, q->point, err);
  if (status >= 0 && !field) status = dj_checkFieldGeom((int)q->geom, q->size, err);
  if (status >= 0) status = dj_checkQueryQuat(q->quat, err);
  return status < 0 ? status : checkNumbers(q, err);
}

// All that a pair has, in which a's frame has world axes and its origin where twists refer to.
typedef struct Query {
  djPairInput in;
  djPenaltyPair pair;
  double setting[DJ_PENALTY_NSETTING];
  djPointNode node; // of all points
} Query;

static void openQuery(Query* x, double* point, double* id, const djcPenaltyQuery* q,
                      const djcField* field) {
  double unit[4];
  dj_makeUnit(unit, q->quat, 4);
  *x = (Query){.pair = {.in = &x->in, .model = &dj_penaltyModel, .nway = 1}};
  const double setting[DJ_PENALTY_NSETTING] = {[DJ_PENALTY_KN] = q->kn,
                                               [DJ_PENALTY_KT] = q->kt,
                                               [DJ_PENALTY_KD] = q->kd,
                                               [DJ_PENALTY_SCALE] = q->scale};
  memcpy(x->setting, setting, sizeof setting);
  x->in = (djPairInput){.ref_a = dju_load3(q->origin),
                        .ref_b = dju_load3(q->pos),
                        .twist_a = q->twist_a,
                        .twist_b = q->twist_b,
                        .setting = x->setting,
                        .friction = q->mu};
  const djPose place = {x->in.ref_a, dju_eye3()};
  const djPose pose = {x->in.ref_b, dju_quatToMat(dju_loadQuat(unit))};
  dj_openQueryWay(&x->pair.way[0], &x->node, point, id, q->npoint, q->point, x->in.ref_a,
                  &(djQueryField){(int)q->geom, q->size, field ? &field->grid : NULL}, &place,
                  &pose);
}

// All of lambda . wrenches. number: of a, then of b: see penalty_shape.h.
static void findGradient(djcPenalty* out, double* by_point, double* by_vert, double* number,
                         const Query* x, const djcPenaltyQuery* q) {
  double lambda[12];
  const size_t n = (size_t)q->npoint;
  double* of_b = number + DJ_PENALTY_BY_POINT + 3 * n;
  djShapeGrad of[2] = {{.number = number}, {.number = of_b}};
  djPairGrad grad = {.a = &of[0], .b = &of[1]};
  const djPose body = {x->in.ref_b, dju_eye3()};
  Query own = *x;
  own.in.pose_a = own.in.pose_b = &body;
  own.pair.in = &own.in;
  for (int k = 0; k < 12; k++) lambda[k] = -q->lambda[k];
  dj_addWayVjp(&grad, &own.pair, &own.pair.way[0], lambda);
  if (by_point) memcpy(by_point, number + DJ_PENALTY_BY_POINT, 3 * n * sizeof *number);
  const djGrid* grid = x->pair.way[0].in.field.grid;
  if (by_vert && grid) {
    memcpy(by_vert, of_b + DJ_PENALTY_BY_POINT, 3 * (size_t)grid->nvert * sizeof *of_b);
  }
  out->by_kn = grad.setting[DJ_PENALTY_KN];
  out->by_kt = grad.setting[DJ_PENALTY_KT];
  out->by_kd = grad.setting[DJ_PENALTY_KD];
  out->by_scale = grad.setting[DJ_PENALTY_SCALE];
  out->by_mu = grad.friction;
}

static void findPoints(djcPenalty* out, djcPenaltyPoint* point, const Query* x, int n) {
  const djPenaltyWay* w = &x->pair.way[0];
  djPenaltySum sum = {.gradient = {0}};
  for (int i = 0; i < n; i++) {
    djPointForce p;
    djFieldAt at;
    double place[3];
    dj_fieldAtPoint(&at, place, w, i);
    dj_findPoint(&p, &x->pair, w, i, &at);
    if (point) {
      point[i].distance = p.d;
      dju_store3(point[i].normal, p.n);
      dju_store3(point[i].force, p.F);
      point[i].state = dj_pointState(p.state);
    }
    if (p.state == DJ_POINT_FREE) continue;
    dj_addPoint(&sum, true, &x->pair, w, &p);
  }
  dj_completeQuery(out->wrench_a, out->wrench_b, out->pose_jac, out->twist_jac, &sum, &x->pair);
}

static djStatus answer(djcPenalty* out, djcPenaltyPoint* point, double* by_point, double* by_vert,
                       const djcPenaltyQuery* q, const djcField* field, djError* err) {
  memset(out, 0, sizeof *out);
  const djStatus status = checkQuery(q, field, err);
  if (status < 0) return status;
  const size_t n = (size_t)q->npoint, nvert = field ? (size_t)field->grid.nvert : 0;
  double* memory = calloc(7 * n + 3 * nvert + 2 * DJ_PENALTY_BY_POINT, sizeof *memory);
  if (!memory) return dj_failMemory(err);
  Query x;
  openQuery(&x, memory, memory + 3 * n, q, field);
  findPoints(out, point, &x, q->npoint);
  findGradient(out, by_point, by_vert, memory + 4 * n, &x, q);
  free(memory);
  return DJ_OK;
}

djStatus djc_penalty(djcPenalty* out, djcPenaltyPoint* point, double* by_point,
                     const djcPenaltyQuery* q, djError* err) {
  if (!out || !q) return dj_fail(err, DJ_INVALID, "no query or no result");
  return answer(out, point, by_point, NULL, q, NULL, err);
}

djStatus djc_penaltyMesh(djcPenalty* out, djcPenaltyPoint* point, double* by_point, double* by_vert,
                         const djcPenaltyQuery* q, const djcField* field, djError* err) {
  if (!out || !q || !field) return dj_fail(err, DJ_INVALID, "no query, no field or no result");
  return answer(out, point, by_point, by_vert, q, field, err);
}

// ------------------------------------------ meshes ---------------------------------------------

djStatus djc_makeField(djcField** field, double* error, int nvert, const double* vert, int ntri,
                       const int* tri, djError* err) {
  if (!field) return dj_fail(err, DJ_INVALID, "no field");
  *field = NULL;
  if (!vert || !tri || nvert < 1 || ntri < 1) {
    return dj_fail(err, DJ_INVALID, "vertices or triangles: there are none");
  }
  djcField* f = calloc(1, sizeof *f);
  if (!f) return dj_failMemory(err);
  const djStatus status = dj_makeGrid(&f->grid, nvert, vert, ntri, tri, NULL, err);
  if (status < 0) {
    free(f);
    return status;
  }
  if (error) *error = f->grid.error;
  *field = f;
  return DJ_OK;
}

void djc_deleteField(djcField* field) {
  if (!field) return;
  dj_freeGrid(&field->grid);
  free(field);
}

// ------------------------------------------ djc_pair -------------------------------------------

// Vertices are points without a field; bodies' frames have world axes and their origins where
// twists refer to.
static int sourceOf(djPenaltySource* out, const djContactQuery* q, int k) {
  const djcShape* s = q->given[k];
  *out = (djPenaltySource){.type = DJ_MESH, .frame = {{0, 0, 0}, dju_eye3()}, .scale = 1};
  const djVec3 origin = dju_load3(s->origin);
  if (s->nvert > 0) {
    out->npoint = out->nvert = s->nvert;
    out->inflate = s->radius;
    out->frame.p = dju_neg3(origin);
    out->vert = s->vert;
    return dj_penaltySize(s->nvert);
  }
  double unit[4];
  dj_makeUnit(unit, s->quat, 4);
  out->type = (int)s->geom;
  out->field = true;
  memcpy(out->size, s->size, sizeof out->size);
  out->frame = (djPose){dju_sub3(dju_load3(s->pos), origin), dju_quatToMat(dju_loadQuat(unit))};
  out->npoint = dj_typePoints(out->type, dj_ruleOfPoints(out->type, out->size));
  return dj_penaltySize(out->npoint);
}

djStatus dj_penaltyShapes(djContactQuery* q, djError* err) {
  djPenaltySource from[2];
  const int first = sourceOf(&from[0], q, 0), second = sourceOf(&from[1], q, 1);
  double* mem = q->own = calloc((size_t)(first + second), sizeof *mem);
  if (!mem) return dj_failMemory(err);
  for (int k = 0; k < 2; k++) {
    q->shape[k].type = from[k].type;
    dj_fitPenalty(&q->shape[k], k ? mem + first : mem, &from[k]);
  }
  return DJ_OK;
}
