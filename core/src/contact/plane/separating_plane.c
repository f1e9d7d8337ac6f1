// Separating-plane contact (SDRS eq. 7, 16): with lengths divided by L and P the barrier,
//
//   U = min over p = (n, o) of  P(1 - |n|) + sum_{i in a} P(-(n.x_i + o) - r_a |n|)
//                                          + sum_{i in b} P(n.x_i + o - r_b |n|).
//
// The energy is K U plus lagged friction. U is zero beyond the distance 2s/(1-s), C2 in the poses,
// and infinite where the hulls overlap. Its gradient needs no derivative of p, as U_p = 0; its
// Hessian is U_xixi - U_xi,p U_pp^-1 U_p,xi. Vertices have a radius (sphere: one vertex, capsule
// two) or an ellipsoid (ellipsoid one, cylinder two: shape/curve.h), whose support function q(n)
// the argument loses as it loses r|n|: it stays concave in p, and C2 as no semi-axis is zero. A
// half space takes the limit of an infinite box instead, see half_space.h.
//
// A guide adds a tail, by which a pair feels the other from afar: plane_tail.h. Friction, recovery
// and steps' limits know the barrier alone.

#include "contact/plane/separating_plane.h"

#include "contact/plane/plane_pair.h"
#include "contact/plane/plane_tail.h"
#include "contact/plane/terrain.h"
#include "model/guide_bodies.h"

#include <string.h>

static djPlaneState* stateOf(djPairState* state) { return (djPlaneState*)state; }

// Gap at the start, exactly where it may be below `near`: then *d, which w remembers.
static djStatus startGap(djDistance* d, djPlaneState* state, djPlaneWork* w, double near) {
  state->gap_start = dj_gapBound(w, state);
  state->gap_known = state->gap_start < near;
  if (!state->gap_known) return DJ_OK;
  djStatus status = dj_pairDistance(&state->gap_start, d, w, state);
  w->seen = d;
  return status;
}

static void forget(djPlaneState* state) {
  state->warm = state->directed = false;
  memset(state->plane, 0, sizeof state->plane);
  memset(&state->cache, 0, sizeof state->cache);
  state->known[0].set = state->known[1].set = false;
  dj_forgetTail(state);
}

// No more than the gap at the start poses, m.
static djStatus leastGap(double* gap, djPlaneState* state, const djPairInput* in) {
  if (in->b->type == DJ_PLANE) {
    djDistance d;
    djStatus status = dj_distance(&d, NULL, in->a, in->start_a, 0, in->b, in->start_b, 0);
    *gap = d.gap - dj_pairInflation(in->a, in->b, in->inflate);
    return status < 0 ? status : DJ_OK;
  }
  djErosion none = {0};
  djPlaneWork w;
  djStatus status = dj_openPlaneWork(&w, in, &none, true);
  if (!status) *gap = dj_gapBound(&w, state);
  return status;
}

// g and, of a pair that may have recovered in the step before, g_. *used: so is the scratch.
static djStatus lagGaps(djPlaneState* state, bool* used, const djPairInput* in, double range) {
  state->lag_gap = state->lag_past = INFINITY;
  if (!in->recover) return DJ_OK;
  state->lag_gap = 1;   // no recovery, and it does not matter where
  if (state->gap_known) {
    state->lag_gap = DJ_RECOVERY_GAP +
                     (DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR) * state->erosion.t;
  }
  if (!in->past_a || !in->past_b || !dj_slides(in->friction)) return DJ_OK;
  double lift = in->b->type == DJ_PLANE ? DJ_SOFT_WIDTH * log(in->a->nvert) : 0;
  double near = (DJ_RECOVERY_GAP + lift) * range, past;
  double moved = dj_movedSince(in);
  if (isnan(moved)) return DJ_INVALID;
  if (state->gap_start - moved > near) return DJ_OK;
  djPairInput at = *in;
  at.start_a = in->past_a;
  at.start_b = in->past_b;
  *used = true;
  djStatus status = leastGap(&past, state, &at);
  if (status || past > near) return status;
  status = dj_startGap(&past, NULL, &at, range);
  if (status < 0 || !(past < DJ_RECOVERY_GAP)) return status;
  state->lag_past = past;
  return state->gap_known ? DJ_OK : dj_startGap(&state->lag_gap, NULL, in, range);
}

static djStatus beginAt(djPlaneState* state, bool* touching, const djPairInput* in) {
  djPlaneWork w;
  djDistance d;
  djStatus eroded = DJ_OK;
  memset(state, 0, sizeof *state);   // nothing of earlier steps: a step depends on its start alone
  djStatus status = dj_openPlaneWork(&w, in, &state->erosion, true);
  if (status) return status;
  status = startGap(&d, state, &w, in->recover ? DJ_RECOVERY_GAP * w.range : 0);
  if (status || state->gap_start >= w.range) return status;
  if (in->recover && state->gap_known) {
    double* scratch = dj_takeScratch(&w, w.half_space ? 0 : 6 * (in->a->npad + in->b->npad));
    if (!scratch) return DJ_NO_MEMORY;
    eroded = dj_solveErosion(&state->erosion, &d, state->gap_start, in, w.range, scratch);
    if (eroded < 0) return eroded;
  } else if (state->gap_known && !(state->gap_start > 0)) {
    return DJ_OVERLAP;
  }
  djFound f;
  bool again = state->erosion.e > 0;
  status = lagGaps(state, &again, in, w.range);
  if (!status && again) status = dj_openPlaneWork(&w, in, &state->erosion, true);
  if (status) return status;
  status = dj_findPlane(&f, &w, state);
  if (status < 0 || f.kind != DJ_TOUCHING) return status;
  *touching = true;
  djStatus made = dj_makeLagged(state, &w, &f);
  if (made) return made;
  return status ? status : eroded;
}

static bool onTerrain(const djPairInput* in) { return in && in->b && in->b->type == DJ_HFIELD; }

static djStatus begin(djPairState* pair_state, const djPairInput* in) {
  if (onTerrain(in)) return dj_terrainBegin(pair_state, in);
  djPlaneState* state = stateOf(pair_state);
  bool touching = false;
  djStatus status = beginAt(state, &touching, in);
  if (touching) return status;
  djVec3 normal = state->normal;
  bool directed = state->directed && state->gap_known;   // by the start alone
  forget(state);
  state->normal = normal;
  state->directed = directed;
  return status;
}

static bool recovers(const djPairState* state) {
  return ((const djPlaneState*)(const void*)state)->erosion.e > 0;
}

static void clear(djPairOutput* out, int flags) {
  out->value = 0;
  out->active = false;
  if (flags & (DJ_EVAL_GRADIENT | DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER)) {
    memset(out->gradient, 0, sizeof out->gradient);
  }
  if (flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER)) {
    memset(out->hessian, 0, sizeof out->hessian);
  }
}

static djStatus evalBarrier(djPairOutput* out, djPlaneState* state, const djPairInput* in,
                            int flags) {
  djPlaneWork w;
  djFound f;
  djStatus status = dj_openPlaneWork(&w, in, &state->erosion, false);
  if (status) return status;
  if (in->cold) forget(state);
  status = dj_findPlane(&f, &w, state);
  if (status < 0) return status;
  out->gap = f.gap;
  if (f.kind == DJ_APART && state->erosion.e > 0) {   // a bound for the shapes before erosion
    djErosion none = {0};
    status = dj_openPlaneWork(&w, in, &none, false);
    if (status) return status;
    out->gap = fmin(f.gap, dj_gapBound(&w, state));
  }
  if (f.kind == DJ_OVERLAPPING) {
    clear(out, flags);
    out->value = INFINITY;
    out->active = true;
    return DJ_OK;
  }
  bool second = flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER), first = flags != 0;
  if (f.kind == DJ_TOUCHING) {
    out->active = true;
    out->value = w.K * f.value;
    dj_foundTwist(first ? out->gradient : NULL, NULL, second ? out->hessian : NULL, &f, &w,
                  w.K);
  } else {
    clear(out, flags);
  }
  if (!dj_planeSlides(state, in)) return status;
  djLagged lagged;
  djStatus sliding = dj_getLagged(&lagged, state, &w);
  if (sliding) return sliding;
  djPairInput rest = *in;
  rest.scratch = w.free;
  rest.nscratch = w.nfree;
  sliding = dj_frictionEval(out, &state->friction, &lagged, &rest, flags);
  return sliding ? sliding : status;
}

static djStatus eval(djPairOutput* out, djPairState* pair_state, const djPairInput* in,
                     int flags) {
  if (onTerrain(in)) return dj_terrainEval(out, pair_state, in, flags);
  djPlaneState* state = stateOf(pair_state);
  djStatus status = evalBarrier(out, state, in, flags);
  if (status < 0 || !dj_planeGuided(in) || isinf(out->value)) return status;
  djStatus guided = dj_addTail(out, state, in, flags);
  return guided ? guided : status;
}

static bool afar(const double* setting) { return setting[DJ_PLANE_GUIDE] > 0; }

// Nobody feels a half space from afar: it is everywhere. Nor do bodies that are not to be guided.
static void limit(double* setting, const djModel* m, int geom1, int geom2) {
  bool ground = dj_isGround(m->geom_type[geom1]) || dj_isGround(m->geom_type[geom2]);
  if (ground || !dj_isGuided(m, m->geom_body[geom1], m->geom_body[geom2])) {
    setting[DJ_PLANE_GUIDE] = 0;
  }
}

static djStatus start(double start_jac[144], double rate_jac[144], djPairState* state,
                      const djPairInput* in) {
  if (onTerrain(in)) return dj_terrainStart(start_jac, rate_jac, state, in);
  return dj_planeStart(start_jac, rate_jac, stateOf(state), in);
}

static djStatus past(bool* any, djPairPast* out, djPairState* state, const djPairInput* in) {
  if (onTerrain(in)) return dj_terrainPast(any, out, state, in);
  return dj_planePast(any, out, stateOf(state), in);
}

static djStatus vjp(djPairGrad* grad, djPairState* state, const djPairInput* in,
                    const double lambda[12]) {
  if (onTerrain(in)) return dj_terrainVjp(grad, state, in, lambda);
  djStatus status = dj_planeVjp(grad, stateOf(state), in, lambda);
  if (status < 0 || !dj_planeGuided(in)) return status;
  djStatus guided = dj_addTailVjp(grad, stateOf(state), in, lambda);
  return guided ? guided : status;
}

// Mean over both sides of the points that carry normal force, projected onto the plane.
static djVec3 forcePoint(const djFound* f, const djPlaneWork* w) {
  djVec3 middle;
  if (w->half_space) {
    const djPlaneSums* m = &f->half.m;
    middle = dju_scale3(1 / m->f[3], dju_load3(m->f));
    djVec3 N = dju_load3(f->space.normal);
    double height = dju_dot3(N, middle) + f->space.k + w->radius[0] + f->half.o / f->half.t;
    middle = dju_madd3(middle, -height, N);
  } else {
    const djPlaneSums* m = f->plane.side;
    djVec3 n = dju_load3(f->plane.p);
    middle = dju_madd3(dju_scale3(0.5 / m[0].f[3], dju_load3(m[0].f)), 0.5 / m[1].f[3],
                       dju_load3(m[1].f));
    double height = (dju_dot3(n, middle) + f->plane.p[3]) / dju_dot3(n, n);
    middle = dju_madd3(middle, -height, n);
  }
  return dju_madd3(w->center, w->L, middle);
}

static djStatus report(djPairReport* out, djPairState* pair_state, const djPairInput* in) {
  if (onTerrain(in)) return dj_terrainReport(out, pair_state, in);
  djPlaneState* state = stateOf(pair_state);
  djPlaneWork w;
  djFound f = {0};
  djDistance d = {0};
  memset(out, 0, sizeof *out);
  djStatus status = dj_openPlaneWork(&w, in, &state->erosion, true);
  if (status) return status;
  if (!state->gap_known && state->gap_start < w.range) {   // here nothing is eroded
    status = dj_pairDistance(&state->gap_start, &d, &w, state);
    if (status) return status;
    state->gap_known = true;
  }
  djPairOutput sum = {0};
  djStatus solved = eval(&sum, pair_state, in, DJ_EVAL_GRADIENT);
  if (solved < 0) return solved;
  status = dj_openPlaneWork(&w, in, &state->erosion, false);
  if (!status) status = dj_pairDistance(&out->gap, &d, &w, state);
  if (!status) status = dj_findPlane(&f, &w, state);
  if (status < 0) return status;
  out->gap_start = state->gap_start;
  out->erosion = state->erosion.e;
  out->recovering = state->erosion.e > 0;
  out->normal = d.normal;
  out->point = dju_scale3(0.5, dju_add3(d.point_a, d.point_b));
  if (f.kind == DJ_TOUCHING) {
    double gradient[12];
    dj_foundTwist(gradient, NULL, NULL, &f, &w, w.K);
    out->normal = state->normal;
    out->point = forcePoint(&f, &w);
    out->normal_force = dju_norm3(dju_load3(gradient + 3));
  } else if (dj_planeGuided(in)) {   // it acts from afar: what there is is the tail's
    status = dj_reportTail(out, state, in);
    if (status < 0) return status;
  }
  for (int k = 0; k < 6; k++) {
    out->wrench_a[k] = -sum.gradient[k];
    out->wrench_b[k] = -sum.gradient[6 + k];
  }
  return solved;
}

static djStatus rows(struct djPairRows* out, struct djPairPlane* plane, djPairState* state,
                     const djPairInput* in) {
  if (onTerrain(in)) return dj_terrainRows(out, plane, state, in);
  return dj_planeRows(out, plane, state, in);
}

// ---- shapes

static bool takes(int type_a, int type_b) {
  return dj_convexTakes(type_a, type_b == DJ_HFIELD ? DJ_PLANE : type_b);
}

static djStatus gap(djDistance* d, djDistanceCache* cache, const djGeomPair* pair) {
  if (pair->b->type == DJ_HFIELD) return dj_terrainDistance(d, pair);
  return dj_convexGap(d, cache, pair);
}

static djStatus depth(double* out, const djVec3* along, const djGeomPair* pair) {
  if (pair->b->type == DJ_HFIELD) return dj_terrainDepth(out, pair);
  return dj_convexDepth(out, along, pair);
}

static djGeomSource sourceOf(const djGeomSource* from) {
  djGeomSource source = *from;
  const djModel* m = from->model;
  source.all = m->opt.vertices == DJ_VERTICES_ALL;
  if (m->opt.softness == DJ_SOFTNESS_MUJOCO) source.deeper = m->geom_soft_depth[from->geom];
  return source;
}

static int shapeSize(const djGeomSource* from) {
  const djGeomSource source = sourceOf(from);
  if (from->model->geom_type[from->geom] == DJ_HFIELD) return dj_terrainShapeSize(from);
  return dj_convexSize(&source);
}

static djStatus makeShape(djShape* shape, djShapeBounds* bounds, double* mem,
                          const djGeomSource* from, djError* err) {
  const djGeomSource source = sourceOf(from);
  if (from->model->geom_type[from->geom] == DJ_HFIELD) {
    return dj_makeTerrainShape(shape, bounds, mem, from);
  }
  return dj_makeConvex(shape, bounds, mem, &source, err);
}

static djStatus shapeParams(double* param, const djGeomSource* from, const djShape* shape,
                            const djShapeGrad* grad) {
  const djGeomSource source = sourceOf(from);
  if (shape->type == DJ_HFIELD) return dj_terrainParams(param, from, shape, grad);
  return dj_convexParams(param, &source, shape, grad);
}

const djKernel dj_separatingPlane = {
    .settings = &dj_planeSettings,
    .smoothness = DJ_C2,
    .where = "in recovery: the line of centres of nearly coincident shapes, and distances that are "
             "least at several places (parallel faces, edges)",
    .traits = {.energy = true, .symmetric = true, .limits = true},
    .state_size = sizeof(djPlaneState),
    .hfield_state_size = sizeof(djTerrainState),
    .preset = dj_planePresets,
    .takes = takes,
    .convex = true,
    .range = dj_planeRange,
    .afar = afar,
    .limit = limit,
    .skin = dj_planeSkin,
    .shapeSize = shapeSize,
    .makeShape = makeShape,
    .shapeParams = shapeParams,
    .touch = dj_planeTouch,
    .gap = gap,
    .depth = depth,
    .share = DJ_PLANE_SHARE,
    .room = dj_planeRoom,
    .max_step = dj_planeMaxStep,
    .begin = begin,
    .recovers = recovers,
    .eval = eval,
    .rows = rows,
    .start = start,
    .past = past,
    .report = report,
    .vjp = vjp,
    .query = dj_planeQuery,
};
