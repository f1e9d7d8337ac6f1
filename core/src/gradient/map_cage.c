// Cage: corner displacements of a box move what is inside it.
//
// A point x of the body's frame with coordinates t = (x - low)/(high - low) in [0, 1]^3 has the
// weights w_c = prod_k (c has bit k ? t_k : 1 - t_k) and moves by sum_c w_c z_c. The weights are
// those of the model as it was given, so that the map is linear in z.

#include "base/status.h"
#include "gradient/map_box.h"
#include "gradient/problem.h"
#include "model/param.h"

#include <math.h>
#include <string.h>

enum { CORNERS = 8 };

typedef struct djCagePoint {
  int out;                 // its first output
  int frame;               // in which its coordinates are
  double weight[CORNERS];
} djCagePoint;

typedef struct djCage {
  double low[3], high[3];
  int npoint;
  djCagePoint* point;
  djMat3* frame;           // (nframe) of each target: displacement in the body = R that in it
  int nframe;
  bool* chosen;            // (nto) those of `to` that were found
} djCage;

// Weights of a point in the body's frame; false where it is outside. Points on a face count as
// inside, to rounding.
static bool weigh(double weight[CORNERS], const djCage* cage, djVec3 x) {
  double place[3] = {x.x, x.y, x.z};
  for (int k = 0; k < 3; k++) {
    double t = (place[k] - cage->low[k]) / (cage->high[k] - cage->low[k]);
    if (t < -DJ_ON_FACE || t > 1 + DJ_ON_FACE) return false;
    place[k] = fmin(fmax(t, 0), 1);
  }
  for (int c = 0; c < CORNERS; c++) {
    weight[c] = 1;
    for (int k = 0; k < 3; k++) weight[c] *= c >> k & 1 ? place[k] : 1 - place[k];
  }
  return true;
}

// Whether `to` lets the parameter move.
static bool isChosen(djCage* cage, const djParam* param, const djMapMaking* making) {
  const djMapDef* given = making->given;
  bool chosen = given->nto == 0;
  for (int i = 0; i < given->nto; i++) {
    djParam named;
    if (dj_paramId(&named, making->model, given->to[i], NULL) < 0) continue;
    if (named.field != param->field || named.id != param->id) continue;
    chosen = cage->chosen[i] = true;
  }
  return chosen;
}

// What a visit works with.
typedef struct djCageVisit {
  djMap* map;
  const djMapMaking* making;
} djCageVisit;

// A target when there is a point inside.
static djStatus addPlaces(void* user, const djParam* param, const djPose* pose) {
  const djMapMaking* making = ((djCageVisit*)user)->making;
  djMap* map = ((djCageVisit*)user)->map;
  djCage* cage = map->detail;
  if (param->field == DJ_FIELD_JOINT_POS) return DJ_OK;
  const double* place = dj_paramData(making->model, param);
  int first = cage->npoint;
  for (int i = 0; i < param->nvalue / 3; i++) {
    djCagePoint* point = &cage->point[cage->npoint];
    if (!weigh(point->weight, cage, dju_transform(pose, dju_load3(place + 3 * i)))) continue;
    point->out = map->nout + 3 * i;
    point->frame = cage->nframe;
    cage->npoint++;
  }
  if (cage->npoint == first) return DJ_OK;
  if (!isChosen(cage, param, making)) {
    cage->npoint = first;
    return DJ_OK;
  }
  djMapTarget* t = &map->target[map->ntarget++];
  *t = (djMapTarget){-1, 0, 1, param->nvalue};
  map->nout += param->nvalue;
  cage->frame[cage->nframe++] = pose->R;
  return dj_listParam(&t->param, making->problem, param, making->pool, making->err);
}

static djStatus makeCage(djMap* map, const djMapMaking* making) {
  const djModel* m = making->model;
  const djMapDef* given = making->given;
  djError* err = making->err;
  const djMapArg* box = &given->arg[1];
  djCage* cage = dj_poolTake(making->pool, 1, sizeof *cage);
  if (!cage) return dj_failMemory(err);
  map->detail = cage;
  int body;
  djStatus status = dj_boxBody(&body, &given->arg[0], making);
  if (status < 0) return status;
  if (box->rows != 2 || box->columns != 3) {
    return dj_fail(err, DJ_INVALID, "box: must be two points");
  }
  for (int k = 0; k < 3; k++) {
    cage->low[k] = box->number[k];
    cage->high[k] = box->number[3 + k];
    if (!(cage->high[k] > cage->low[k])) return dj_fail(err, DJ_INVALID, "box: is empty");
  }
  status = dj_checkFrom(map, 3 * CORNERS, making);
  if (status < 0) return status;
  size_t elements = dj_placeParams(m);
  cage->point = dj_poolTake(making->pool, dj_places(m), sizeof *cage->point);
  cage->frame = dj_poolTake(making->pool, elements, sizeof *cage->frame);
  cage->chosen = dj_poolTake(making->pool, (size_t)given->nto, sizeof *cage->chosen);
  map->target = dj_poolTake(making->pool, elements, sizeof *map->target);
  if (!cage->point || !cage->frame || !cage->chosen || !map->target) return dj_failMemory(err);
  djCageVisit visit = {map, making};
  status = dj_visitPlaces(m, body, addPlaces, &visit);
  for (int i = 0; i < given->nto && status == DJ_OK; i++) {
    if (cage->chosen[i]) continue;
    status = dj_fail(err, DJ_INVALID, "to: '%.100s' has nothing inside the box", given->to[i]);
  }
  if (status == DJ_OK && map->ntarget == 0) {
    status = dj_fail(err, DJ_INVALID, "box: nothing of the body is inside");
  }
  return status;
}

static void applyCage(double* out, const djMap* map, const double* z, double* work) {
  (void)work;
  const djCage* cage = map->detail;
  memset(out, 0, (size_t)map->nout * sizeof *out);
  for (int i = 0; i < cage->npoint; i++) {
    const djCagePoint* p = &cage->point[i];
    djVec3 u = {0, 0, 0};
    for (int c = 0; c < CORNERS; c++) u = dju_madd3(u, p->weight[c], dju_load3(z + 3 * c));
    dju_store3(out + p->out, dju_mulMtV(cage->frame[p->frame], u));
  }
}

static void vjpCage(double* dz, const djMap* map, const double* z, const double* dout,
                    double* work) {
  (void)z;
  (void)work;
  const djCage* cage = map->detail;
  for (int i = 0; i < cage->npoint; i++) {
    const djCagePoint* p = &cage->point[i];
    djVec3 u = dju_mulMV(cage->frame[p->frame], dju_load3(dout + p->out));
    for (int c = 0; c < CORNERS; c++) {
      dju_addTo3(dz + 3 * c, p->weight[c], u);
    }
  }
}

const djMapType dj_mapCage = {
    {.name = "cage", .unit = "",
     .help = "z: displacements (8 x 3) of the corners of a box in the body's frame",
     .key = (const djKey[]){{"body", DJ_HOLDS_ELEMENT, 0, DJ_OBJ_BODY, true, "", ""},
                            {"box", DJ_HOLDS_ROWS, 0, DJ_NOBJ, true, "m", ""},
                            {0}}},
    DJ_MAPTO_CHOICE, true, false, makeCage, applyCage, vjpCage, NULL};
