// Damped contact: points of each geom in the distance field of the other. All points act in every
// step, at whatever distance, so that nothing jumps where one is found or lost. No energy. True
// geoms, which may overlap.
//
// Ablations: with invariant = false only points act whose distance at the start of the step is
// below `detect`; with coordinate_derivative = false derivatives leave out how normals turn, and
// are not those of the step.

#include "contact/penalty/damped.h"

#include "contact/penalty/damped_law.h"
#include "contact/penalty/damped_search.h"
#include "contact/penalty/damped_sum.h"
#include "contact/penalty/penalty_pair.h"
#include "contact/penalty/penalty_query.h"
#include "contact/shapes/convex.h"

#include <math.h>
#include <string.h>

#define STEEP 1e3 // of the weight that moves: from where `perturbed` is linear

typedef struct Pair {
  djPenaltyPair pair;
  djDampedLaw law;
} Pair;

// ------------------------------------------ points ----------------------------------------------

static djPenaltyLaw lawOf(const djPenaltyPair* pair, const djPenaltyWay* way) {
  return (djPenaltyLaw){
      .mu = pair->in->friction, .row = &dj_dampedPoints, .own = pair->own, .share = way->share};
}

typedef struct Visit {
  const djPenaltyWay *way, *detected;
  double detect, least;
  djPointVisit visit;
  void* user;
} Visit;

static void visitRange(void* user, int first, int n) {
  Visit* v = user;
  for (int i = first; i < first + n; i++) {
    double x[3];
    djFieldAt at;
    const bool seen = !v->detected || dj_fieldAtPoint(&at, x, v->detected, i) < v->detect;
    v->least = fmin(v->least, dj_fieldAtPoint(&at, x, v->way, i));
    if (seen) v->visit(v->user, v->way, i, x, &at);
  }
}

static double visitAll(const djPenaltyPair* pair, const djPenaltyWay* way, djPointVisit visit,
                       void* user) {
  Visit v = {.way = way,
             .detected = dj_detectedBy(pair, way),
             .detect = pair->in->setting[DJ_DAMPED_DETECT],
             .least = INFINITY,
             .visit = visit,
             .user = user};
  const double least = dj_visitRanges(pair, way, visitRange, &v);
  return fmin(least, v.least);
}

static void addSettings(djPairGrad* grad, double* by_scale, const djPenaltyPair* pair,
                        const djPenaltyWay* way, const djPointGrad* by) {
  grad->setting[DJ_DAMPED_SIGMA] += by->own[DJ_DAMPED_BY_SIGMA];
  grad->setting[DJ_DAMPED_KN] += by->own[DJ_DAMPED_BY_KN];
  grad->setting[DJ_DAMPED_ALPHA] += pair->in->timestep * by->own[DJ_DAMPED_BY_AHEAD];
  *by_scale += way->part * by->own[DJ_DAMPED_BY_SHARE];
}

const djPointModel dj_dampedModel = {
    .law = lawOf, .visit = visitAll, .settings = addSettings, .sum = dj_sumDamped};

// ------------------------------------------ pairs -----------------------------------------------

static djStatus openPair(Pair* out, const djPairInput* in) {
  if (!in || !in->setting || !dj_settingsValid(&dj_damped, in->setting)) return DJ_INVALID;
  const djStatus status = dj_openPenaltyPair(&out->pair, in, &dj_dampedModel);
  if (status < 0) return status;
  const double* x = in->setting;
  out->law = (djDampedLaw){.law = (djLaw)(int)x[DJ_DAMPED_LAW],
                           .friction = (djPointFriction)(int)x[DJ_DAMPED_FRICTION_LAW],
                           .sigma = x[DJ_DAMPED_SIGMA],
                           .kn = x[DJ_DAMPED_KN],
                           .ahead = in->rest + x[DJ_DAMPED_ALPHA] * in->timestep,
                           .sigma_t = x[DJ_DAMPED_SIGMA_T],
                           .eps = x[DJ_DAMPED_FRICTION_EPS],
                           .c = x[DJ_DAMPED_DETECT],
                           .most = in->force_cap > 0 ? STEEP * in->force_cap : INFINITY};
  out->pair.own = &out->law;
  out->pair.held = x[DJ_DAMPED_COORDINATE_DERIVATIVE] == 0;
  out->pair.early = x[DJ_DAMPED_NORMAL] != 0;
  if (x[DJ_DAMPED_INVARIANT] != 0 && !out->pair.early) return DJ_OK;
  if (!in->start_a || !in->start_b) return DJ_INVALID;
  dj_penaltyWays(out->pair.start, in->a, in->b, in->start_a, in->start_b, in->inflate);
  return DJ_OK;
}

// A pair without points in a field would be nothing.
static djStatus begin(djPairState* state, const djPairInput* in) {
  Pair p;
  (void)state;
  const djStatus status = openPair(&p, in);
  if (status < 0) return status;
  return p.pair.nway > 0 ? DJ_OK : DJ_UNSUPPORTED;
}

static djStatus eval(djPairOutput* out, djPairState* state, const djPairInput* in, int flags) {
  Pair p;
  (void)state;
  const djStatus status = openPair(&p, in);
  if (status >= 0) dj_evalPoints(out, &p.pair, flags);
  return status;
}

static djStatus start(double start_jac[144], double rate_jac[144], djPairState* state,
                      const djPairInput* in) {
  Pair p;
  (void)state;
  const djStatus status = openPair(&p, in);
  if (status < 0) return status;
  dj_pointsByStart(start_jac, &p.pair);
  if (rate_jac) memset(rate_jac, 0, 144 * sizeof *rate_jac);
  return DJ_OK;
}

static djStatus vjp(djPairGrad* grad, djPairState* state, const djPairInput* in,
                    const double lambda[12]) {
  Pair p;
  (void)state;
  const djStatus status = openPair(&p, in);
  if (status < 0) return status;
  for (int k = 0; k < p.pair.nway; k++) dj_addWayVjp(grad, &p.pair, &p.pair.way[k], lambda);
  return DJ_OK;
}

static djStatus report(djPairReport* out, djPairState* state, const djPairInput* in) {
  Pair p;
  (void)state;
  memset(out, 0, sizeof *out);
  const djStatus status = openPair(&p, in);
  if (status >= 0) dj_reportPoints(out, &p.pair);
  return status;
}

static djStatus points(const djPairInput* in, djPairPointVisit visit, void* user) {
  Pair p;
  const djStatus status = openPair(&p, in);
  if (status >= 0) dj_listPoints(&p.pair, visit, user);
  return status;
}

// ------------------------------------------ row -------------------------------------------------

static bool wantsGrid(const djModel* m, int geom) { return m->geom_field[geom] != 0; }

static double range(const double* setting) {
  (void)setting;
  return INFINITY;
}

const djKernel dj_damped = {
    .settings = &dj_dampedSettings,
    .smoothness = DJ_C0,
    .where = "the force jumps at ridges of fields, and with invariant = false where points are "
             "detected; elsewhere it is smooth",
    .traits = {.uses_twist = true, .overlaps = true},
    .conflict = dj_dampedConflict,
    .takes = dj_convexTakes,
    .range = range,
    .wantsGrid = wantsGrid,
    .pointRadius = dj_penaltyRadius,
    .shapeSize = dj_penaltyShapeSize,
    .makeShape = dj_makePenalty,
    .shapeParams = dj_penaltyParams,
    .gap = dj_pointGap,
    .depth = dj_pointDepth,
    .begin = begin,
    .eval = eval,
    .start = start,
    .report = report,
    .points = points,
    .vjp = vjp,
    .queryShapes = dj_penaltyShapes,
};
