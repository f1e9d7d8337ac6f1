// Queries of penalty contact: djc_penalty, fields of meshes, and shapes of djc_pair.

#include "contact/penalty/penalty_query.h"

#include "base/status.h"
#include "contact/penalty/penalty_pair.h"
#include "model/check.h"
#include "model/geom_row.h"

#include <dijoco/penalty.h>

#include <stdlib.h>
#include <string.h>

#define MOST_POINTS 10000000

djcPointState dj_pointState(djPointState state) {
  return state == DJ_POINT_FREE ? DJC_FREE : state == DJ_POINT_STICK ? DJC_STICK : DJC_SLIP;
}

struct djcField {
  djGrid grid;
};

// ------------------------------------------ djc_penalty ----------------------------------------

static djStatus checkNumbers(const djcPenaltyQuery* q, djError* err) {
  const struct {
    const char* name;
    const double* x;
    int n;
  } list[] = {{"a: points", q->point, 3 * q->npoint},
              {"a: origin", q->origin, 3},
              {"a: twist", q->twist_a, 6},
              {"b: pose", q->pos, 3},
              {"b: twist", q->twist_b, 6},
              {"lambda", q->lambda, 12}};
  for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
    const djStatus status = dj_checkNumbers(list[k].x, list[k].n, list[k].name, err);
    if (status < 0) return status;
  }
  const struct {
    const char* name;
    double x;
  } law[] = {{"kn", q->kn}, {"kt", q->kt}, {"kd", q->kd}, {"mu", q->mu}, {"scale", q->scale}};
  for (int k = 0; k < 5; k++) {
    const bool good = k == 0 ? law[k].x > 0 : law[k].x >= 0;
    if (good && law[k].x <= DJ_LARGEST_FORCE) continue;
    return dj_fail(err, DJ_INVALID, "params: %s = %g must %s", law[k].name, law[k].x,
                   good     ? "not be that large"
                   : k == 0 ? "be positive"
                            : "not be negative");
  }
  return DJ_OK;
}

static djStatus checkGeom(const djcPenaltyQuery* q, djError* err) {
  const djGeomRow* row = dj_geomRow((int)q->geom);
  if (!row || q->geom == DJ_MESH || !dj_hasField((int)q->geom)) {
    return dj_fail(err, DJ_INVALID, "b: geom: has no distance field of its sizes");
  }
  for (int k = 0; k < row->nsize; k++) {
    if (q->size[k] >= DJ_SMALLEST && q->size[k] <= DJ_LARGEST) continue;
    return dj_fail(err, DJ_INVALID, "b: size[%d] = %g must be positive", k, q->size[k]);
  }
  return DJ_OK;
}

static djStatus checkQuery(const djcPenaltyQuery* q, const djcField* field, djError* err) {
  if (q->npoint < 1 || q->npoint > MOST_POINTS || !q->point) {
    return dj_fail(err, DJ_INVALID, "a: points: there are none, or too many");
  }
  const djStatus status = field ? DJ_OK : checkGeom(q, err);
  if (status < 0) return status;
  double unit[4];
  if (!dj_makeUnit(unit, q->quat, 4)) {
    return dj_fail(err, DJ_INVALID, "b: pose: its quaternion is zero or not finite");
  }
  return checkNumbers(q, err);
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
  *x = (Query){.node = {.radius = INFINITY, .n = q->npoint},
               .pair = {.in = &x->in, .model = &dj_penaltyModel, .nway = 1}};
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
  for (int i = 0; i < q->npoint; i++) {
    dju_store3(point + 3 * i, dju_sub3(dju_load3(q->point + 3 * i), x->in.ref_a));
    id[i] = i;
  }
  djPenaltyWay* w = &x->pair.way[0];
  w->part = w->share = 1;
  w->from = (djPenaltyShape){
      .npoint = q->npoint, .given = true, .node = &x->node, .point = point, .id = id};
  w->in.has_field = true;
  w->in.field.type = field ? DJ_MESH : (int)q->geom;
  w->in.field.grid = field ? &field->grid : NULL;
  memcpy(w->in.field.size, q->size, sizeof q->size);
  w->place = (djPose){x->in.ref_a, dju_eye3()};
  w->field = (djPose){x->in.ref_b, dju_quatToMat(dju_loadQuat(unit))};
  w->local.R = dju_mulMtM(w->field.R, w->place.R);
  w->local.p = dju_untransform(&w->field, w->place.p);
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
  double gradient[12];
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
  dj_completeSum(gradient, out->pose_jac, out->twist_jac, &sum, &x->pair);
  for (int k = 0; k < 12; k++) (k < 6 ? out->wrench_a : out->wrench_b)[k % 6] = 0 - gradient[k];
  for (int k = 0; k < 144; k++) {
    out->pose_jac[k] = 0 - out->pose_jac[k];
    out->twist_jac[k] = 0 - out->twist_jac[k];
  }
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
