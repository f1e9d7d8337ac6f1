// Contact of implicit surfaces (iDCOL, VII-B). With depth the negative gap (30) and what both are
// inflated by, and f(depth) a law (contact/implicit/implicit_law.h), either an energy
//
//   U = int f,
//
// whose gradient and Hessian follow from the first derivatives of the touch alone, as the gap's own
// are known in closed form (contact/implicit/implicit_touch.h); or iDCOL's force f along the normal
// at the common point (31-32), which has none. Beside them friction by the touch at the start
// (contact/implicit/implicit_lag.h).

#include "contact/implicit/implicit_surface.h"

#include "base/status.h"
#include "contact/implicit/implicit_fit.h"
#include "contact/implicit/implicit_lag.h"
#include "contact/implicit/implicit_max_step.h"
#include "contact/implicit/implicit_query.h"
#include "contact/implicit/implicit_vjp.h"
#include "contact/shapes/convex.h"
#include "contact/wrench.h"

#include <string.h>

static djSurfaceState* stateOf(djPairState* state) { return (djSurfaceState*)(void*)state; }

static bool isGood(const djPairInput* in) {
  return in && in->setting && dj_settingsValid(&dj_implicitSurface, in->setting);
}

static djStatus begin(djPairState* state, const djPairInput* in) {
  if (!isGood(in) || !in->start_a || !in->start_b || !in->rate_a || !in->rate_b) {
    return DJ_INVALID;
  }
  memset(state, 0, sizeof(djSurfaceState));
  return dj_beginSurfaces(stateOf(state), in);
}

// The touch now and the law's force there.
typedef struct Now {
  djSurfacePair pair;
  djSurfaceTouch touch;
  djImplicitForce force;
  double gap;       // or, where the touch is not found, a bound of it
  bool found, acts; // the touch is; the force does
} Now;

static djStatus findNow(Now* now, djSurfaceState* state, const djPairInput* in) {
  const double reach = dj_lawReach(in->setting);
  djStatus status = dj_openSurfacePair(&now->pair, &state->last, in);
  if (status) return status;
  now->pair.inflate -= state->lift;
  now->found = now->acts = false;
  now->gap = dj_surfaceBound(&now->pair);
  if (now->gap > -reach) return DJ_OK;
  status = dj_findSurfaceTouch(&now->touch, &state->warm, &now->pair);
  if (status < 0) return status;
  now->found = true;
  now->gap = -now->touch.depth;
  now->acts = now->touch.depth > reach;
  if (now->acts) {
    dj_implicitForce(&now->force, in->setting, now->touch.depth, state->depth, in->h);
  }
  return status;
}

static void setHessian(djPairOutput* out, const Now* now) {
  djImplicitRates rates;
  dj_moveTouch(&rates, &now->touch.f);
  for (int j = 0; j < 12; j++) {
    djSurfaceChange e;
    dj_twistChange(&e, &now->pair, &rates, j);
    dj_addSurfaceChange(out->hessian + j, 12, &now->pair, &now->touch, now->force.f,
                        now->force.by_depth, &e);
  }
  dj_toExponential(out->hessian, out->gradient);
  for (int i = 0; i < 12 && !now->touch.at_point; i++) { // symmetric but for rounding
    for (int j = 0; j < i; j++) {
      const double mean = 0.5 * (out->hessian[12 * i + j] + out->hessian[12 * j + i]);
      out->hessian[12 * i + j] = out->hessian[12 * j + i] = mean;
    }
  }
}

// A bound of the distance of surfaces that do not act, as they are: the planes through their points
// with the normal of the touch separate them by the gap over nu.
static double boundOf(const Now* now, double lift) {
  const double apart = now->gap + now->pair.inflate; // without what inflates and lifts
  if (!now->found || !(apart > 0)) return now->gap - lift;
  return apart / now->touch.f.nu - now->pair.inflate - lift;
}

// The law's force and friction.
static djStatus actNow(djPairOutput* out, const Now* now, djSurfaceState* state,
                       const djPairInput* in, int flags) {
  *out = (djPairOutput){.gap = now->acts ? now->gap : boundOf(now, state->lift),
                        .active = now->acts,
                        .twist_jac = out->twist_jac};
  if (now->acts) {
    out->value = now->force.value;
    if (out->value == INFINITY) return DJ_OK;
    if (now->pair.at_point) out->value = 0; // that force has none
    dj_surfaceGradient(out->gradient, &now->touch, now->force.f);
    if (flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER)) setHessian(out, now);
  }
  if (!dj_hasSurfaceLag(state, in)) return DJ_OK;
  djSurfaceLag lag;
  dj_openSurfaceLag(&lag, state, in);
  const djStatus sliding = dj_frictionEval(out, &state->friction, &lag.lagged, in, flags);
  if (now->pair.at_point) out->value = 0;
  return sliding;
}

static djStatus eval(djPairOutput* out, djPairState* pair_state, const djPairInput* in, int flags) {
  djSurfaceState* state = stateOf(pair_state);
  Now now;
  if (!isGood(in)) return DJ_INVALID;
  if (in->cold) memset(&state->warm, 0, sizeof state->warm);
  const djStatus status = findNow(&now, state, in);
  if (status < 0) return status;
  const djStatus acted = actNow(out, &now, state, in, flags);
  return acted ? acted : status;
}

static djStatus start(double start_jac[144], double rate_jac[144], djPairState* pair_state,
                      const djPairInput* in) {
  djSurfaceState* state = stateOf(pair_state);
  Now now;
  if (!isGood(in)) return DJ_INVALID;
  memset(start_jac, 0, 144 * sizeof(double));
  if (rate_jac) memset(rate_jac, 0, 144 * sizeof(double));
  djStatus status = findNow(&now, state, in);
  if (status < 0) return status;
  const djStatus lagged =
      dj_startSurfaces(start_jac, rate_jac, state, in, &now.touch, now.acts ? &now.force : NULL);
  return lagged ? lagged : status;
}

static djStatus past(bool* any, djPairPast* out, djPairState* state, const djPairInput* in) {
  return isGood(in) ? dj_pastSurfaces(any, out, stateOf(state), in) : DJ_INVALID;
}

static djStatus vjp(djPairGrad* grad, djPairState* pair_state, const djPairInput* in,
                    const double lambda[12]) {
  djSurfaceState* state = stateOf(pair_state);
  Now now;
  if (!isGood(in)) return DJ_INVALID;
  const djStatus status = findNow(&now, state, in);
  if (status < 0) return status;
  const djStatus lagged =
      dj_surfaceVjp(grad, state, in, &now.pair, &now.touch, now.acts ? &now.force : NULL, lambda);
  return lagged ? lagged : status;
}

static djStatus report(djPairReport* out, djPairState* pair_state, const djPairInput* in) {
  djSurfaceState* state = stateOf(pair_state);
  djSurfacePair pair;
  djSurfaceTouch first;
  Now now;
  djPairOutput sum = {.twist_jac = NULL};
  memset(out, 0, sizeof *out);
  if (!isGood(in)) return DJ_INVALID;
  const djStatus solved = findNow(&now, state, in);
  if (solved < 0) return solved;
  const djStatus acted = actNow(&sum, &now, state, in, DJ_EVAL_GRADIENT);
  if (acted < 0) return acted;
  djStatus status = DJ_OK;
  if (!now.found) status = dj_touchAt(&now.pair, &now.touch, state, in, in->pose_a, in->pose_b);
  if (!status) status = dj_touchAt(&pair, &first, state, in, in->start_a, in->start_b);
  if (status < 0) return status;
  out->gap = -now.touch.depth;
  out->gap_start = -first.depth - state->lift;
  out->recovering = state->lift > 0;
  out->erosion = state->lift;
  out->normal = now.touch.f.n;
  out->point = now.touch.x;
  if (now.acts) out->normal_force = dj_alongNormal(&now.touch, now.force.f);
  for (int k = 0; k < 6 && sum.active; k++) {
    out->wrench_a[k] = -sum.gradient[k];
    out->wrench_b[k] = -sum.gradient[6 + k];
  }
  return acted ? acted : solved;
}

// ---- entries ----------------------------------------------------------------------------------

static bool recovers(const djPairState* state) {
  return ((const djSurfaceState*)(const void*)state)->lift > 0;
}

static void vary(djTraits* traits, const double* setting) {
  traits->energy = traits->symmetric = !dj_isLaw(setting, DJ_LAW_PAPER);
  traits->limits = dj_hasBarrier(setting);
  traits->overlaps = !traits->limits;
}

static double range(const double* setting) { return -dj_lawReach(setting); }

// ---- gaps -------------------------------------------------------------------------------------

static djStatus gap(djDistance* d, djDistanceCache* cache, const djGeomPair* g) {
  djSurfacePair pair;
  djSurfaceTouch touch;
  djVec3 last = {0, 0, 0};
  const djPairInput in = {
      .a = g->a, .b = g->b, .pose_a = g->pose_a, .pose_b = g->pose_b, .inflate = g->inflate};
  (void)cache;
  djStatus status = dj_openSurfacePair(&pair, &last, &in);
  if (!status) status = dj_findSurfaceTouch(&touch, NULL, &pair);
  if (status < 0) return status;
  d->gap = -touch.depth;
  d->normal = touch.f.n;
  const double half = 0.5 * pair.inflate;
  d->point_a = dju_madd3(dju_add3(pair.frame_a.p, touch.f.y), half, d->normal);
  d->point_b = dju_madd3(dju_add3(pair.frame_b.p, touch.f.y_b), -half, d->normal);
  d->iterations = 0;
  return DJ_OK;
}

const djKernel dj_implicitSurface = {
    .settings = &dj_implicitSettings,
    .smoothness = DJ_C2,
    .where = "at first touch with an exponent of 1, C1; where origins coincide; flat on flat the "
             "point of contact is not certain",
    .traits = {.energy = true, .symmetric = true, .overlaps = true},
    .vary = vary,
    .state_size = sizeof(djSurfaceState),
    .takes = dj_convexTakes,
    .range = range,
    .shapeSize = dj_surfaceSize,
    .makeShape = dj_makeSurface,
    .shapeParams = dj_surfaceParams,
    .gap = gap,
    .depth = dj_convexDepth,
    .share = 0.25,
    .room = dj_surfaceRoom,
    .max_step = dj_surfaceMaxStep,
    .begin = begin,
    .recovers = recovers,
    .eval = eval,
    .start = start,
    .past = past,
    .report = report,
    .vjp = vjp,
    .queryShapes = dj_surfaceQuery,
};
