// Damped contact: points of each geom in the distance field of the other. All points act in every
// step, at whatever distance, so that nothing jumps where one is found or lost. No energy. True
// geoms, which may overlap.
//
// Ablations: with invariant = false only points act whose distance at the start of the step is
// below `detect`; with coordinate_derivative = false derivatives leave out how normals turn, and
// are not those of the step.

#include "contact/penalty/damped.h"

#include "contact/penalty/damped_law.h"
#include "contact/penalty/damped_slopes.h"
#include "contact/penalty/penalty_pair.h"
#include "contact/penalty/penalty_query.h"
#include "contact/shapes/convex.h"
#include "contact/wrench.h"

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

typedef struct Search {
  const djPenaltyPair* pair;
  const djPenaltyWay *way, *start; // start: where points are detected; or NULL: all act
  double detect, cut;
  djPointVisit visit;
  void* user;
} Search;

// No point of a node's ball has more force: f falls with g, and g is no less than the bound of d
// less `ahead` times the largest speed there.
static double mostForce(const Search* s, const djPointNode* node, double bound) {
  const djPairInput* in = s->pair->in;
  const djDampedLaw* law = s->pair->own;
  const djVec3 x = dju_transform(&s->way->place, dju_load3(node->center));
  const djVec3 turn = dju_sub3(dju_load3(in->twist_a), dju_load3(in->twist_b));
  const djVec3 u = dju_sub3(dj_twistField(in->twist_a, dju_sub3(x, in->ref_a)),
                            dj_twistField(in->twist_b, dju_sub3(x, in->ref_b)));
  const double speed = dju_norm3(u) + (node->radius + s->way->from.radius) * dju_norm3(turn);
  return s->way->share * dj_dampedForce(law, bound - law->ahead * speed).f;
}

static double visitNode(const Search* s, const djPointNode* node) {
  if (s->cut > 0) {
    const double bound = dj_nodeBound(s->way, node);
    if (mostForce(s, node, bound) < s->cut) return bound;
  }
  if (node->right > 0) {
    const double left = visitNode(s, node + 1);
    return fmin(left, visitNode(s, node + (int)node->right));
  }
  double least = INFINITY;
  for (int k = 0; k < (int)node->n; k++) {
    const int i = (int)node->first + k;
    double x[3];
    djFieldAt at;
    const bool seen = !s->start || dj_fieldAtPoint(&at, x, s->start, i) < s->detect;
    const double d = dj_fieldAtPoint(&at, x, s->way, i);
    least = fmin(least, d);
    if (seen) s->visit(s->user, s->way, i, x, &at);
  }
  return least;
}

static double visitAll(const djPenaltyPair* pair, const djPenaltyWay* way, djPointVisit visit,
                       void* user) {
  const double* x = pair->in->setting;
  const Search s = {.pair = pair,
                    .way = way,
                    .start = x[DJ_DAMPED_INVARIANT] != 0 ? NULL : &pair->start[way - pair->way],
                    .detect = x[DJ_DAMPED_DETECT],
                    .cut = x[DJ_DAMPED_CUT],
                    .visit = visit,
                    .user = user};
  return visitNode(&s, way->from.node);
}

static void addSettings(djPairGrad* grad, double* by_scale, const djPenaltyPair* pair,
                        const djPenaltyWay* way, const djPointGrad* by) {
  grad->setting[DJ_DAMPED_SIGMA] += by->own[DJ_DAMPED_BY_SIGMA];
  grad->setting[DJ_DAMPED_KN] += by->own[DJ_DAMPED_BY_KN];
  grad->setting[DJ_DAMPED_ALPHA] += pair->in->step * by->own[DJ_DAMPED_BY_AHEAD];
  *by_scale += way->part * by->own[DJ_DAMPED_BY_SHARE];
}

const djPointModel dj_dampedModel = {.law = lawOf,
                                     .visit = visitAll,
                                     .settings = addSettings,
                                     .smooth = true,
                                     .slopes = dj_addDampedSlopes,
                                     .complete = dj_completeDampedSum};

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
                           .ahead = in->rest + x[DJ_DAMPED_ALPHA] * in->step,
                           .sigma_t = x[DJ_DAMPED_SIGMA_T],
                           .eps = x[DJ_DAMPED_FRICTION_EPS],
                           .c = x[DJ_DAMPED_DETECT],
                           .most = in->force_cap > 0 ? STEEP * in->force_cap : INFINITY};
  out->pair.own = &out->law;
  out->pair.held = x[DJ_DAMPED_COORDINATE_DERIVATIVE] == 0;
  if (x[DJ_DAMPED_INVARIANT] != 0) return DJ_OK;
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
    .name = "damped",
    .smoothness = DJ_C0,
    .where = "the force jumps at ridges of fields, and with invariant = false where points are "
             "detected; elsewhere it is smooth",
    .traits = {.uses_twist = true, .overlaps = true},
    .nsetting = DJ_DAMPED_NSETTING,
    .setting = dj_dampedSettings,
    .rule = dj_dampedRules,
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
    .report = report,
    .points = points,
    .vjp = vjp,
    .queryShapes = dj_penaltyShapes,
};
