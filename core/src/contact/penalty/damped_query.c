// Queries of damped contact: djc_damped.

#include "base/status.h"
#include "contact/penalty/damped.h"
#include "contact/penalty/damped_law.h"
#include "contact/penalty/damped_sum.h"
#include "contact/penalty/point_query.h"
#include "math/so3.h"
#include "model/check.h"

#include <dijoco/damped.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------ checks ---------------------------------------------

static djStatus checkParams(const djcDampedQuery* q, djError* err) {
  const djNamedParam list[] = {{"sigma", q->sigma, false},
                               {"kn", q->kn, false},
                               {"alpha", q->alpha, true},
                               {"detect", q->detect, false},
                               {"mu", q->mu, true},
                               {"sigma_t", q->sigma_t, false},
                               {"friction_eps", q->friction_eps, false}};
  const djStatus status = dj_checkQueryParams(list, sizeof list / sizeof list[0], err);
  if (status < 0) return status;
  if (q->law < DJ_LAW_PERTURBED || q->law > DJ_LAW_LOG) {
    return dj_fail(err, DJ_INVALID, "params: law: is none of damped contact");
  }
  if (q->friction_law < DJ_POINT_FRICTION_SMOOTH || q->friction_law > DJ_POINT_FRICTION_PERTURBED) {
    return dj_fail(err, DJ_INVALID, "params: friction_law: unknown");
  }
  return DJ_OK;
}

static djStatus checkPlaces(const djcDampedQuery* q, djError* err) {
  const djNamedNumbers list[] = {{"a: points", q->point, 3 * q->npoint},
                                 {"a: origin", q->origin, 3},
                                 {"motion_a", q->motion_a, 6},
                                 {"b: pose", q->pos, 3},
                                 {"motion_b", q->motion_b, 6}};
  const djStatus status = dj_checkAllNumbers(list, sizeof list / sizeof list[0], err);
  if (status < 0) return status;
  if (q->dt >= DJ_SMALLEST && q->dt <= DJ_LARGEST) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "dt = %g is not between 1e-20 and 1e20", q->dt);
}

static djStatus checkQuery(const djcDampedQuery* q, djError* err) {
  djStatus status = dj_checkQueryPoints(q->npoint, q->point, err);
  if (status >= 0) status = dj_checkFieldGeom((int)q->geom, q->size, err);
  if (status >= 0) status = dj_checkQueryQuat(q->quat, err);
  if (status >= 0) status = checkPlaces(q, err);
  return status < 0 ? status : checkParams(q, err);
}

// ------------------------------------------ the pair -------------------------------------------

// A pose moved by (w, v) about its origin.
static djPose movedBy(djVec3 p, djMat3 R, const double* motion) {
  const djMat3 turn = dju_quatToMat(dju_expQuat(dju_load3(motion)));
  return (djPose){dju_add3(p, dju_load3(motion + 3)), dju_mulMM(turn, R)};
}

typedef struct Query {
  djPairInput in;
  djPenaltyPair pair;
  djDampedLaw law;
  double twist[2][6], setting[DJ_DAMPED_NSETTING];
  djPointNode node; // of all points
} Query;

static void openQuery(Query* x, double* point, double* id, const djcDampedQuery* q) {
  double unit[4];
  dj_makeUnit(unit, q->quat, 4);
  *x = (Query){.pair = {.in = &x->in, .model = &dj_dampedModel, .nway = 1, .own = &x->law},
               .law = {.law = q->law,
                       .friction = q->friction_law,
                       .sigma = q->sigma,
                       .kn = q->kn,
                       .ahead = q->alpha * q->dt,
                       .sigma_t = q->sigma_t,
                       .eps = q->friction_eps,
                       .c = q->detect,
                       .most = INFINITY}};
  for (int k = 0; k < 6; k++) {
    x->twist[0][k] = q->motion_a[k] / q->dt;
    x->twist[1][k] = q->motion_b[k] / q->dt;
  }
  x->setting[DJ_DAMPED_INVARIANT] = 1;
  const djVec3 origin = dju_load3(q->origin);
  const djPose place = movedBy(origin, dju_eye3(), q->motion_a);
  const djPose pose = movedBy(dju_load3(q->pos), dju_quatToMat(dju_loadQuat(unit)), q->motion_b);
  dj_openQueryWay(&x->pair.way[0], &x->node, point, id, q->npoint, q->point, origin,
                  &(djQueryField){(int)q->geom, q->size, NULL}, &place, &pose);
  x->in = (djPairInput){.ref_a = place.p,
                        .ref_b = pose.p,
                        .twist_a = x->twist[0],
                        .twist_b = x->twist[1],
                        .timestep = q->dt,
                        .setting = x->setting,
                        .friction = q->mu};
}

static void tell(djcDampedPoint* out, const djPointForce* p, double ahead) {
  out->gap = p->d;
  out->gap_damped = p->d + ahead * p->rate;
  dju_store3(out->normal, p->n);
  dju_store3(out->force, p->F);
  memcpy(out->hessian, p->turn.m, sizeof out->hessian);
}

static djStatus findPoints(djcDamped* out, djcDampedPoint* point, const Query* x, int n,
                           djError* err) {
  const djPenaltyWay* w = &x->pair.way[0];
  djPenaltySum sum = {.active = false};
  for (int i = 0; i < n; i++) {
    djPointForce p;
    djFieldAt at;
    double place[3];
    dj_fieldAtPoint(&at, place, w, i);
    dj_findPoint(&p, &x->pair, w, i, &at);
    const double ahead = p.d + x->law.ahead * p.rate;
    if (x->law.law != DJ_LAW_SMOOTH_PENALTY && !(ahead > 0)) {
      return dj_fail(err, DJ_INVALID, "a: points[%d]: its damped gap, %g m, is not positive", i,
                     ahead);
    }
    if (point) tell(&point[i], &p, x->law.ahead);
  }
  dj_sumDamped(&sum, true, &x->pair, w);
  dj_completeQuery(out->wrench_a, out->wrench_b, out->pose_jac, out->twist_jac, &sum, &x->pair);
  return DJ_OK;
}

djStatus djc_damped(djcDamped* out, djcDampedPoint* point, const djcDampedQuery* q, djError* err) {
  if (!out || !q) return dj_fail(err, DJ_INVALID, "no query or no result");
  memset(out, 0, sizeof *out);
  djStatus status = checkQuery(q, err);
  if (status < 0) return status;
  double* memory = calloc(4 * (size_t)q->npoint, sizeof *memory);
  if (!memory) return dj_failMemory(err);
  Query x;
  openQuery(&x, memory, memory + 3 * q->npoint, q);
  status = findPoints(out, point, &x, q->npoint, err);
  free(memory);
  return status;
}
