#include "contact/penalty/damped_law.h"

#include <math.h>

#define SHALLOW 1e-6

// ------------------------------------------ normal forces ---------------------------------------

static djDampedForce perturbed(const djDampedLaw* w, double g) {
  if (g * w->most > w->sigma || !(w->most < INFINITY)) {
    const double f = w->sigma / g;
    return (djDampedForce){f, -f / g, 1 / g, 0};
  }
  const double slope = w->most * w->most / w->sigma;
  return (djDampedForce){2 * w->most - g * slope, -slope, g * slope / w->sigma, 0};
}

static djDampedForce smoothPenalty(const djDampedLaw* w, double g) {
  const double b = sqrt(g * g + 4 * w->sigma / w->kn);
  const double f = g > 0 ? 2 * w->sigma / (g + b) : 0.5 * w->kn * (b - g);
  return (djDampedForce){f, -f / b, 1 / b, (f - w->sigma / b) / w->kn};
}

static djDampedForce barrier(const djDampedLaw* w, double g) {
  if (g >= w->c) return (djDampedForce){0, 0, 0, 0};
  const double at = fmax(g, SHALLOW * w->c), below = at - w->c, part = below / at;
  const double slope = 2 * log(at / w->c) + 4 * part - part * part;
  const double f = below * (2 * log(at / w->c) + part) + slope * (g - at);
  return (djDampedForce){w->kn * f, w->kn * slope, 0, f};
}

djDampedForce dj_dampedForce(const djDampedLaw* w, double g) {
  if (w->law == DJ_LAW_LOG) return barrier(w, g);
  return w->law == DJ_LAW_SMOOTH_PENALTY ? smoothPenalty(w, g) : perturbed(w, g);
}

// ------------------------------------------ friction --------------------------------------------

// Friction is -mu a t, a by N and |t|: `by_speed` is da/d|t| over |t|.
typedef struct Drag {
  double a, by_N, by_speed, by_share;
} Drag;

static Drag dragOf(const djDampedLaw* w, double N, double speed, double share) {
  if (w->friction == DJ_POINT_FRICTION_SMOOTH) {
    const double s = sqrt(speed * speed + w->eps);
    return (Drag){N / s, 1 / s, -N / (s * s * s), 0};
  }
  const double D = N * speed + share * w->sigma_t, part = N / D;
  return (Drag){N * part, part * (2 - part * speed), speed > 0 ? -part * part * N / speed : 0,
                -part * part * w->sigma_t};
}

static double gapAhead(const djDampedLaw* w, const djPointForce* p) {
  return p->d + w->ahead * p->rate;
}

static void force(djPointForce* p, const djPenaltyLaw* law) {
  const djDampedLaw* w = law->own;
  const djDampedForce f = dj_dampedForce(w, gapAhead(w, p));
  p->N = law->share * f.f;
  if (!(p->N > 0)) return;
  const Drag drag = dragOf(w, p->N, p->speed, law->share);
  p->own[DJ_DAMPED_SLOPE] = law->share * f.by_g;
  p->own[DJ_DAMPED_DRAG] = law->mu * drag.a;
  p->own[DJ_DAMPED_DRAG_BY_N] = law->mu * drag.by_N;
  p->own[DJ_DAMPED_DRAG_BY_SPEED] = law->mu * drag.by_speed;
  p->F = dju_madd3(dju_scale3(p->N, p->n), -law->mu * drag.a, p->t);
  const bool slips = w->friction == DJ_POINT_FRICTION_SMOOTH
                         ? p->speed * p->speed > w->eps
                         : p->N * p->speed > law->share * w->sigma_t;
  p->state = slips ? DJ_POINT_SLIP : DJ_POINT_STICK;
}

static djVec3 changes(const djPointForce* p, const djPenaltyLaw* law, djVec3 dn, double dd,
                      djVec3 du) {
  const djDampedLaw* w = law->own;
  const double rate = dju_dot3(dn, p->u) + dju_dot3(p->n, du);
  const double dN = p->own[DJ_DAMPED_SLOPE] * (dd + w->ahead * rate);
  const djVec3 dt = dju_madd3(dju_madd3(du, -rate, p->n), -p->rate, dn);
  const djVec3 normal = dju_madd3(dju_scale3(dN, p->n), p->N, dn);
  const double da =
      p->own[DJ_DAMPED_DRAG_BY_N] * dN + p->own[DJ_DAMPED_DRAG_BY_SPEED] * dju_dot3(p->t, dt);
  return dju_madd3(dju_madd3(normal, -p->own[DJ_DAMPED_DRAG], dt), -da, p->t);
}

static djVec3 vjp(djPointGrad* out, double* by_rate, const djPointForce* p, const djPenaltyLaw* law,
                  djVec3 V) {
  const djDampedLaw* w = law->own;
  const djDampedForce f = dj_dampedForce(w, gapAhead(w, p));
  const Drag drag = dragOf(w, p->N, p->speed, law->share);
  const double along = dju_dot3(V, p->t);
  const double by_N = dju_dot3(V, p->n) - law->mu * drag.by_N * along;
  const double by_g = by_N * law->share * f.by_g;
  out->d = by_g;
  out->law.mu = -drag.a * along;
  out->own[DJ_DAMPED_BY_SIGMA] = by_N * law->share * f.by_sigma;
  out->own[DJ_DAMPED_BY_KN] = by_N * law->share * f.by_kn;
  out->own[DJ_DAMPED_BY_AHEAD] = by_g * p->rate;
  out->own[DJ_DAMPED_BY_SHARE] = by_N * f.f - law->mu * drag.by_share * along;
  *by_rate = by_g * w->ahead;
  return dju_madd3(dju_scale3(-law->mu * drag.a, V), -law->mu * drag.by_speed * along, p->t);
}

const djPointRow dj_dampedPoints = {force, changes, vjp};
