// Sums over points of both ways, and what is told of them.

#include "base/hash.h"
#include "contact/penalty/penalty_pair.h"
#include "contact/penalty/penalty_query.h"
#include "contact/wrench.h"
#include "shape/field_lanes.h"

#include <math.h>
#include <string.h>

typedef struct Sum {
  const djPenaltyPair* pair;
  bool derivatives;
  djPenaltySum of;
  uint64_t* kink; // of reports; or NULL
} Sum;

// Which sets the point is beyond: a change of any is a crossing.
static void addKinks(uint64_t kink[DJ_NKINK], const djPenaltyWay* way, int i, const djPointForce* p,
                     const djFieldAt* at) {
  const int piece = way->in.field.grid ? 0 : at->piece;
  const double name[] = {way->points_of_b, way->from.id[i]};
  const bool beyond[DJ_NKINK] = {
      [DJ_KINK_TOUCH] = true,
      [DJ_KINK_RELEASE] = !(p->N > 0),
      [DJ_KINK_SLIP] = p->state == DJ_POINT_SLIP,
      [DJ_KINK_RIDGE] = true,
  };
  for (int k = 0; k < DJ_NKINK; k++) {
    uint64_t hash = (uint64_t)k + 1;
    dj_mixNumbers(&hash, name, 2);
    if (k == DJ_KINK_RIDGE) dj_mixNumbers(&hash, &(double){piece}, 1);
    if (beyond[k]) kink[k] += hash;
  }
}

static void addPoint(void* user, const djPenaltyWay* way, int i, const double x[3],
                     const djFieldAt* at) {
  Sum* sum = user;
  djPointForce p;
  (void)x;
  dj_findPoint(&p, sum->pair, way, i, at);
  if (sum->kink) addKinks(sum->kink, way, i, &p, at);
  if (p.d < sum->of.deepest) {
    sum->of.deepest = p.d;
    sum->of.normal = way->points_of_b ? p.n : dju_neg3(p.n);
  }
  if (p.state != DJ_POINT_FREE) dj_addPoint(&sum->of, sum->derivatives, sum->pair, way, &p);
}

// Of a model that has no kinks but those of fields: the piece of the field where the point is.
static void addRidge(void* user, const djPenaltyWay* way, int i, const double x[3],
                     const djFieldAt* at) {
  Sum* sum = user;
  const double name[] = {way->points_of_b, way->from.id[i], at->piece};
  uint64_t hash = (uint64_t)DJ_KINK_RIDGE + 1;
  (void)x;
  dj_mixNumbers(&hash, name, 3);
  sum->kink[DJ_KINK_RIDGE] += hash;
}

static double addWay(Sum* sum, const djPenaltyWay* way) {
  const djPointModel* model = sum->pair->model;
  if (!model->sum) return dj_visitPair(sum->pair, way, addPoint, sum);
  if (sum->kink && dj_hasPieces(&way->in.field)) dj_visitPair(sum->pair, way, addRidge, sum);
  return model->sum(&sum->of, sum->derivatives, sum->pair, way);
}

static Sum sumUp(djPairOutput* out, uint64_t* kink, const djPenaltyPair* pair, int flags) {
  const bool second = (flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER)) != 0;
  *out = (djPairOutput){.gap = INFINITY, .twist_jac = out->twist_jac};
  if (out->twist_jac) memset(out->twist_jac, 0, 144 * sizeof(double));
  Sum sum = {.pair = pair, .derivatives = second, .kink = kink};
  for (int k = 0; k < pair->nway; k++) out->gap = fmin(out->gap, addWay(&sum, &pair->way[k]));
  if (sum.of.deepest < 0) out->gap = sum.of.deepest;
  out->active = sum.of.active;
  if (!out->active) return sum;
  dj_completeSum(out->gradient, second ? out->hessian : NULL, second ? out->twist_jac : NULL,
                 &sum.of, pair);
  if (second) dj_toExponential(out->hessian, out->gradient);
  return sum;
}

void dj_evalPoints(djPairOutput* out, const djPenaltyPair* pair, int flags) {
  sumUp(out, NULL, pair, flags);
}

// ------------------------------------------ gaps -----------------------------------------------

bool dj_findDeepest(djDistance* d, const djPenaltyWay* way, int nway) {
  *d = (djDistance){.gap = INFINITY, .normal = {0, 0, 1}};
  bool found = false;
  for (int k = 0; k < nway; k++) {
    const djPenaltyWay* w = &way[k];
    int i;
    const double gap = dj_deepestPoint(&i, w, d->gap);
    if (i < 0) continue;
    double x[3];
    djFieldAt at;
    const djVec3 c = dju_load3(w->from.point + 3 * i);
    dj_fieldAtPoint(&at, x, w, i);
    const djVec3 n = dju_mulMV(w->field.R, dju_load3(at.normal));
    const djVec3 on = dju_madd3(dju_transform(&w->place, c), -w->from.radius, n);
    const djVec3 foot = dju_madd3(on, -gap, n);
    d->gap = gap;
    d->normal = w->points_of_b ? n : dju_neg3(n);
    d->point_a = w->points_of_b ? foot : on;
    d->point_b = w->points_of_b ? on : foot;
    found = true;
  }
  return found;
}

djStatus dj_pointGap(djDistance* d, djDistanceCache* cache, const djGeomPair* g) {
  djPenaltyWay way[2];
  (void)cache;
  const int n = dj_penaltyWays(way, g->a, g->b, g->pose_a, g->pose_b, g->inflate);
  dj_findDeepest(d, way, n);
  return isnan(d->gap) ? DJ_INVALID : DJ_OK;
}

// By points, too.
djStatus dj_pointDepth(double* depth, const djVec3* along, const djGeomPair* g) {
  djDistance d;
  (void)along;
  const djStatus status = dj_pointGap(&d, NULL, g);
  *depth = -d.gap;
  return status;
}

// ------------------------------------------ reports --------------------------------------------

void dj_reportPoints(djPairReport* out, const djPenaltyPair* pair) {
  djPairOutput total = {.twist_jac = NULL};
  const Sum all = sumUp(&total, out->kink, pair, DJ_EVAL_GRADIENT);
  const djPenaltySum* sum = &all.of;
  djDistance d = {.gap = sum->deepest, .normal = sum->normal};
  if (!(sum->deepest < 0)) {
    dj_findDeepest(&d, pair->way, pair->nway);
    out->point = dju_scale3(0.5, dju_add3(d.point_a, d.point_b));
  }
  out->gap = out->gap_start = d.gap;
  out->normal = d.normal;
  out->normal_force = sum->N;
  if (sum->N > 0) out->point = dju_scale3(1 / sum->N, sum->point);
  for (int k = 0; k < 6 && total.active; k++) {
    out->wrench_a[k] = -total.gradient[k];
    out->wrench_b[k] = -total.gradient[6 + k];
  }
}

typedef struct Visit {
  const djPenaltyPair* pair;
  djPairPointVisit visit;
  void* user;
} Visit;

static void visitPoint(void* user, const djPenaltyWay* way, int i, const double x[3],
                       const djFieldAt* at) {
  const Visit* v = user;
  djPointForce p;
  (void)x;
  dj_findPoint(&p, v->pair, way, i, at);
  const djPairPoint point = {.of_b = way->points_of_b,
                             .x = p.x,
                             .normal = p.n,
                             .force = p.F,
                             .distance = p.d,
                             .state = dj_pointState(p.state)};
  v->visit(v->user, &point);
}

void dj_listPoints(const djPenaltyPair* pair, djPairPointVisit visit, void* user) {
  Visit v = {pair, visit, user};
  for (int k = 0; k < pair->nway; k++) dj_visitPair(pair, &pair->way[k], visitPoint, &v);
}
