// The lines of penalty_law.c, damped_law.c and dj_findPoint side by side.

#include "contact/penalty/damped_lanes.h"

#include "contact/penalty/damped.h"
#include "contact/penalty/damped_search.h"
#include "contact/wrench.h"

#include <math.h>
#include <string.h>

void dj_openWayLanes(djWayLanes* out, const djPenaltyPair* pair, const djPenaltyWay* way) {
  const djPairInput* in = pair->in;
  const double sign = way->points_of_b ? -1 : 1;
  const djVec3 w = dju_sub3(dju_load3(in->twist_a), dju_load3(in->twist_b));
  const djVec3 u = dju_sub3(dju_load3(in->twist_a + 3),
                            dj_twistField(in->twist_b, dju_sub3(in->ref_a, in->ref_b)));
  *out = (djWayLanes){.pair = pair,
                      .way = way,
                      .detected = dj_detectedBy(pair, way),
                      .turned = pair->early ? dj_startOf(pair, way) : way,
                      .law = pair->own,
                      .O = in->ref_a,
                      .w = dju_scale3(sign, w),
                      .u = dju_scale3(sign, u),
                      .off = way->from.radius + way->inflate,
                      .held = pair->held || pair->early};
}

// ------------------------------------------ places ---------------------------------------------

// Points of the body, the last one again where there are no more.
static djLanes3 loadPoints(const djPenaltyShape* from, int first, int n) {
  int id[DJU_LANES];
  for (int k = 0; k < DJU_LANES; k++) id[k] = 3 * (k < n ? k : n - 1);
  const double* x = from->point + 3 * (size_t)first;
  return (djLanes3){dju_gatherLanes(x, id), dju_gatherLanes(x + 1, id), dju_gatherLanes(x + 2, id)};
}

// The field of a way there, inside out where it is; n points.
static void fieldAt(djFieldLanes* out, const djPenaltyWay* way, djLanes3 point, int n) {
  const djLanes3 x = dju_placeLanes3(&way->local.R, point, way->local.p);
  dj_fieldLanes(out, &way->in.field, &x, n);
  if (!way->in.inside) return;
  out->distance = -out->distance;
  out->gradient = dju_scaleLanes3(dju_splat(-1), out->gradient);
  out->normal = dju_scaleLanes3(dju_splat(-1), out->normal);
  if (dj_flatField(&way->in.field)) return;
  for (int k = 0; k < 9; k++) out->turn.m[k] = -out->turn.m[k];
}

// ------------------------------------------ laws -----------------------------------------------

// f and df/dg.
static inline void forceLanes(djLanes* f, djLanes* by_g, const djDampedLaw* w, djLanes g) {
  if (w->law == DJ_LAW_PERTURBED) {
    const bool endless = !(w->most < INFINITY);
    const double slope = endless ? 0 : w->most * w->most / w->sigma, top = endless ? 0 : w->most;
    const djMask as_is = endless ? g == g : g * w->most > w->sigma;
    const djLanes inverse = 1 / dju_pick(as_is, g, dju_splat(1));
    *f = dju_pick(as_is, w->sigma * inverse, 2 * top - g * slope);
    *by_g = dju_pick(as_is, -*f * inverse, dju_splat(-slope));
  } else if (w->law == DJ_LAW_SMOOTH_PENALTY) {
    const djLanes b = dju_sqrtLanes(dju_fmaLanes(g, g, dju_splat(4 * w->sigma / w->kn)));
    const djMask apart = g > 0;
    const djLanes sum = dju_pick(apart, g + b, b);
    *f = dju_pick(apart, 2 * w->sigma / sum, 0.5 * w->kn * (b - g));
    *by_g = -*f / b;
  } else {
    double x[DJU_LANES], y[DJU_LANES], z[DJU_LANES];
    dju_storeLanes(x, g);
    for (int k = 0; k < DJU_LANES; k++) {
      const djDampedForce at = dj_dampedForce(w, x[k]);
      y[k] = at.f, z[k] = at.by_g;
    }
    *f = dju_loadLanes(y);
    *by_g = dju_loadLanes(z);
  }
}

static inline void dragLanes(djPointLanes* p, const djDampedLaw* w, double mu, double share) {
  const djLanes square = dju_dotLanes3(p->t, p->t);
  if (w->friction == DJ_POINT_FRICTION_SMOOTH) {
    const djLanes inverse = 1 / dju_sqrtLanes(square + w->eps);
    p->drag_by_N = mu * inverse;
    p->drag = p->N * p->drag_by_N;
    p->drag_by_speed = -p->drag * inverse * inverse;
    return;
  }
  const djLanes speed = dju_sqrtLanes(square), part = p->N / (p->N * speed + share * w->sigma_t);
  const djMask slides = speed > 0;
  p->drag = mu * part * p->N;
  p->drag_by_N = mu * part * (2 - part * speed);
  p->drag_by_speed =
      dju_keep(-mu * part * part * p->N / dju_pick(slides, speed, dju_splat(1)), slides);
}

// ------------------------------------------ points ---------------------------------------------

static inline void setForces(djPointLanes* p, const djWayLanes* way, djMask acts) {
  const djDampedLaw* w = way->law;
  const double share = way->way->share;
  djLanes f, slope;
  forceLanes(&f, &slope, w, dju_fmaLanes(dju_splat(w->ahead), p->rate, p->d));
  p->acts = acts & (share * f > 0);
  p->N = dju_keep(share * f, p->acts);
  p->slope = dju_keep(share * slope, p->acts);
  dragLanes(p, w, way->pair->in->friction, share);
  p->drag = dju_keep(p->drag, p->acts);
  p->drag_by_N = dju_keep(p->drag_by_N, p->acts);
  p->drag_by_speed = dju_keep(p->drag_by_speed, p->acts);
  p->F = dju_keep3(dju_maddLanes3(dju_scaleLanes3(p->N, p->n), -p->drag, p->t), p->acts);
}

void dj_pointLanes(djPointLanes* p, double* least, const djWayLanes* way, int first, int n) {
  const djPenaltyWay *w = way->way, *turned = way->turned;
  const djLanes3 point = loadPoints(&w->from, first, n);
  djMask acts = dju_firstLanes(n);
  djFieldLanes at, then;
  fieldAt(&at, w, point, n);
  p->d = at.distance - way->off;
  if (least) *least = dju_least(dju_pick(acts, p->d, dju_splat(INFINITY)));
  if (way->detected) {
    fieldAt(&then, way->detected, point, n);
    acts &= then.distance - way->off < way->pair->in->setting[DJ_DAMPED_DETECT];
  }
  p->gradient = dju_placeLanes3(&w->field.R, at.gradient, dju_vec3(0, 0, 0));
  if (turned != w)
    fieldAt(&then, turned, point, n);
  else
    then.normal = at.normal;
  p->n = dju_placeLanes3(&turned->field.R, then.normal, dju_vec3(0, 0, 0));
  if (!way->held && !dj_flatField(&w->in.field)) p->turn = dju_turnBoth(&w->field.R, &at.turn);
  p->c = dju_placeLanes3(&w->place.R, point, dju_sub3(w->place.p, way->O));
  p->x = dju_maddLanes3(p->c, dju_splat(-w->from.radius), p->n);
  p->u = dju_addLanes3(dju_splat3(way->u), dju_crossLanes3(dju_splat3(way->w), p->x));
  p->rate = dju_dotLanes3(p->n, p->u);
  p->t = dju_maddLanes3(p->u, -p->rate, p->n);
  setForces(p, way, acts);
}
