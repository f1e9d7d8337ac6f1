#include "contact/implicit/implicit_lag.h"

#include "base/status.h"
#include "contact/friction/recovering.h"
#include "contact/wrench.h"

#include <math.h>
#include <string.h>

djStatus dj_touchAt(djSurfacePair* pair, djSurfaceTouch* touch, const djSurfaceState* state,
                    const djPairInput* in, const djPose* pose_a, const djPose* pose_b) {
  djPairInput at = *in;
  djImplicitWarm warm = state->warm;
  djVec3 last = state->last;
  at.pose_a = pose_a;
  at.pose_b = pose_b;
  const djStatus status = dj_openSurfacePair(pair, &last, &at);
  if (status) return status;
  pair->inflate -= state->lift;
  return dj_findSurfaceTouch(touch, &warm, pair);
}

// At the start, as not lifted, of a pair that may recover.
static double depthOf(const djSurfaceState* state, const djPairInput* in) {
  return -state->gap[0] * in->setting[DJ_IMPLICIT_SUPPORT];
}

djSurfaceLift dj_liftOf(const djSurfaceState* state, const djPairInput* in) {
  djSurfaceLift lift = {.e = 0};
  if (state->lift > 0) dj_liftSurfaces(&lift, in->setting, depthOf(state, in));
  return lift;
}

djStatus dj_pastTouch(djSurfacePair* pair, djSurfaceTouch* touch, const djSurfaceState* state,
                      const djPairInput* in) {
  djSurfaceState flat = *state;
  flat.lift = 0;
  return dj_touchAt(pair, touch, &flat, in, in->past_a, in->past_b);
}

djImplicitForce dj_surfaceLoad(double* load, double* by_past, const djSurfaceTouch* t,
                               const djSurfaceState* state, const djPairInput* in) {
  djImplicitForce force;
  dj_elasticForce(&force, in->setting, t->depth);
  const djSurfaceLift lift = dj_liftOf(state, in);
  dj_boundSurfaceLoad(&force, by_past, &lift, state->gap, in);
  *load = dj_alongNormal(t, force.f);
  *by_past = dj_alongNormal(t, *by_past);
  return force;
}

double dj_loadChange(const djSurfacePair* pair, const djSurfaceTouch* t,
                     const djImplicitForce* force, const djSurfaceChange* e) {
  const double df = force->by_depth * dj_depthChange(e) + e->force;
  if (t->at_point) return df;
  const double dqn = dju_dot3(dj_forceChange(pair, t, e), t->f.n) + dju_dot3(t->q, e->n);
  return df * dju_dot3(t->q, t->f.n) + force->f * dqn;
}

static bool isApart(const djPairInput* in) {
  return in->rate_a != in->start_a || in->rate_b != in->start_b;
}

// g_ of a pair that may have recovered in the step before.
static djStatus findPast(djSurfaceState* state, const djPairInput* in) {
  const double s = in->setting[DJ_IMPLICIT_SUPPORT];
  if (!in->past_a || !in->past_b) return DJ_OK;
  const double moved = dj_movedSince(in);
  if (isnan(moved)) return DJ_INVALID;
  if (state->gap[0] * s - moved > DJ_SURFACE_RECOVERY * s) return DJ_OK;
  djSurfacePair pair;
  djSurfaceTouch touch;
  const djStatus status = dj_pastTouch(&pair, &touch, state, in);
  if (status < 0) return status;
  const double past = -touch.depth / s;
  if (past < DJ_SURFACE_RECOVERY) state->gap[1] = past;
  return DJ_OK;
}

djStatus dj_beginSurfaces(djSurfaceState* state, const djPairInput* in) {
  const bool damped = in->setting[DJ_IMPLICIT_DAMPING] > 0, slides = dj_slides(in->friction);
  const bool barrier = dj_hasBarrier(in->setting);
  const double reach = dj_lawReach(in->setting);
  djSurfacePair pair;
  djSurfaceTouch touch;
  djPairInput at = *in;
  at.pose_a = in->start_a;
  at.pose_b = in->start_b;
  state->gap[0] = state->gap[1] = INFINITY;
  djStatus status = dj_openSurfacePair(&pair, &state->last, &at), worst = DJ_OK;
  if (status) return status;
  const bool near = !(dj_surfaceBound(&pair) > -reach);
  if (((slides || barrier) && near) || (damped && !isApart(in))) {
    worst = dj_findSurfaceTouch(&touch, &state->warm, &pair);
    if (worst < 0) return worst;
    if (barrier && in->recover) {
      djSurfaceLift lift;
      state->gap[0] = -touch.depth / in->setting[DJ_IMPLICIT_SUPPORT];
      if (slides && touch.depth > reach) status = findPast(state, in);
      if (status < 0) return status;
      dj_liftSurfaces(&lift, in->setting, touch.depth);
      state->lift = lift.e;
    } else if (barrier && !(touch.depth < 0)) {
      return DJ_OVERLAP;
    }
    touch.depth -= state->lift;
    state->depth = touch.depth;
    if (!(touch.depth > reach)) { // a step depends on its start alone
      memset(&state->warm, 0, sizeof state->warm);
    } else if (slides) {
      double by_past;
      dj_surfaceLoad(&state->load, &by_past, &touch, state, in);
      state->point = touch.x;
      state->normal = touch.f.n;
    }
  }
  if (!damped || !isApart(in)) return worst;
  status = dj_touchAt(&pair, &touch, state, in, in->rate_a, in->rate_b);
  state->depth = touch.depth;
  return status ? status : worst;
}

bool dj_hasSurfaceLag(const djSurfaceState* state, const djPairInput* in) {
  return state->load > 0 && dj_slides(in->friction);
}

void dj_openSurfaceLag(djSurfaceLag* out, djSurfaceState* state, const djPairInput* in) {
  const bool half_space = in->b->type == DJ_PLANE;
  for (int k = 0; k < 2; k++) {
    dju_store3(out->point + 3 * k, state->point);
    out->force[k] = state->load;
  }
  out->lagged = (djLagged){.n = half_space ? 1 : 2,
                           .na = 1,
                           .point = out->point,
                           .force = out->force,
                           .normal = state->normal,
                           .offset = -dju_dot3(state->normal, state->point),
                           .half_space = half_space,
                           .law = {.eps = in->setting[DJ_IMPLICIT_FRICTION_EPS],
                                   .arms = DJ_ARMS_PLANE,
                                   .cap = DJ_CAP_MAGNITUDE,
                                   .length = 1},
                           .dual = state->dual,
                           .ndual = 2};
}

// ---- derivatives by the start -----------------------------------------------------------------

typedef struct LagJac {
  djLaggedJac jac;
  double slide[2][36], dforce[24];
} LagJac;

static void setColumn(double* out, int j, djVec3 v) {
  out[j] = v.x;
  out[12 + j] = v.y;
  out[24 + j] = v.z;
}

// How point, plane and load move with the start poses.
static djStatus lagJac(LagJac* out, const djSurfaceState* state, const djPairInput* in) {
  djSurfacePair pair;
  djSurfaceTouch t;
  djImplicitRates rates;
  const djStatus status = dj_touchAt(&pair, &t, state, in, in->start_a, in->start_b);
  if (status < 0) return status;
  double load, by_past;
  const djImplicitForce force = dj_surfaceLoad(&load, &by_past, &t, state, in);
  dj_moveTouch(&rates, &t.f);
  for (int j = 0; j < 12; j++) {
    djSurfaceChange e;
    double twist[6] = {0};
    dj_twistChange(&e, &pair, &rates, j);
    const djVec3 dx = dj_pointChange(&t, &e);
    twist[j % 6] = 1;
    for (int k = 0; k < 2; k++) {
      const djVec3 own = dj_twistField(twist, t.reach[k]), none = {0, 0, 0};
      setColumn(out->slide[k], j, dju_sub3(dx, j / 6 == k ? own : none));
    }
    setColumn(out->jac.dnormal, j, e.n);
    out->jac.doffset[j] = -dju_dot3(e.n, t.x) - dju_dot3(t.f.n, dx);
    out->dforce[j] = out->dforce[12 + j] = dj_loadChange(&pair, &t, &force, &e);
  }
  for (int k = 0; k < 2; k++) {
    out->jac.slide[k] = out->slide[k];
    out->jac.nslide[k] = 1;
  }
  out->jac.dforce = out->dforce;
  return status;
}

// The force now changes by `slope` times the depth at other poses.
static djStatus addByDepth(double jac[144], const djSurfaceState* state, const djPairInput* in,
                           const djSurfaceTouch* touch, double slope, const djPose* pose_a,
                           const djPose* pose_b) {
  djSurfacePair pair;
  djSurfaceTouch t;
  double by[12], depth[12];
  if (slope == 0) return DJ_OK;
  const djStatus status = dj_touchAt(&pair, &t, state, in, pose_a, pose_b);
  if (status < 0) return status;
  t.at_point = false;
  dj_surfaceGradient(by, touch, slope);
  dj_surfaceGradient(depth, &t, 1);
  for (int i = 0; i < 144; i++) jac[i] += by[i / 12] * depth[i % 12];
  return status;
}

djStatus dj_startSurfaces(double start_jac[144], double rate_jac[144], djSurfaceState* state,
                          const djPairInput* in, const djSurfaceTouch* touch,
                          const djImplicitForce* force) {
  djStatus worst = DJ_OK;
  if (force) {
    worst = addByDepth(isApart(in) ? rate_jac : start_jac, state, in, touch, force->by_start,
                       in->rate_a, in->rate_b);
    if (worst < 0) return worst;
    const double by_lift = dj_byLift(force) * dj_liftOf(state, in).by_depth;
    const djStatus lifted =
        addByDepth(start_jac, state, in, touch, by_lift, in->start_a, in->start_b);
    if (lifted < 0) return lifted;
    if (lifted) worst = lifted;
  }
  if (!dj_hasSurfaceLag(state, in)) return worst;
  djSurfaceLag lag;
  LagJac jac;
  djStatus status = lagJac(&jac, state, in);
  if (status < 0) return status;
  dj_openSurfaceLag(&lag, state, in);
  status = dj_frictionStart(start_jac, rate_jac, &state->friction, &lag.lagged, &jac.jac, in);
  return status ? status : worst;
}

djStatus dj_pastSurfaces(bool* any, djPairPast* past, djSurfaceState* state,
                         const djPairInput* in) {
  *any = dj_hasSurfaceLag(state, in) && state->gap[1] < INFINITY && in->past_a && in->past_b;
  if (!*any) return DJ_OK;
  djSurfacePair pair;
  djSurfaceTouch t;
  djSurfaceLag lag;
  double load, by_past;
  djStatus status = dj_touchAt(&pair, &t, state, in, in->start_a, in->start_b);
  if (status < 0) return status;
  dj_surfaceLoad(&load, &by_past, &t, state, in);
  const djStatus gone = dj_pastTouch(&pair, &t, state, in);
  if (gone < 0) return gone;
  const double dforce[24] = {[0] = by_past, [12] = by_past};
  memset(past, 0, sizeof *past);
  t.at_point = false;
  dj_surfaceGradient(past->number, &t, 1);
  dj_openSurfaceLag(&lag, state, in);
  const djStatus sliding = dj_frictionByForces(past->by, &state->friction, &lag.lagged, dforce, in);
  return sliding ? sliding : gone ? gone : status;
}
