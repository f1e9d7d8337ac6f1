// What actuators on one coordinate give together: their clamps and those of their total.

#include "force/actuator.h"

static djJet clamp(double x, const double range[2], bool hard) {
  return hard ? dju_clip(x, range[0], range[1]) : dju_smoothClamp(x, range[0], range[1]);
}

djJet dj_clampForce(const djActuatorStep* a, const djModel* m, int i, double p) {
  if (!m->actuator_forcelimited[i]) return (djJet){p, 1, 0};
  return clamp(p, m->actuator_forcerange + 2 * i, a->hard);
}

const double* dj_totalRange(const djModel* m, int c) {
  int id = m->coord_id[c];
  if (c >= dj_linkCoordinates(m) || !*DJ_LINK(m, c, actfrclimited, 1)) return NULL;
  return m->coord_type[c] == DJ_COORD_TENDON ? m->tendon_actfrcrange + 2 * id
                                             : m->jnt_actfrcrange + 2 * id;
}

// C2: with corners within 1% of the range of a bound, and where a bound is 0 a ramp on the other
// side of it.
double dj_totalScale(double* slope, const double range[2], double x, bool hard) {
  double side = x < 0 ? -1 : 1, y = fabs(x), width = 0.01 * (range[1] - range[0]);
  double bound = fabs(range[x < 0 ? 0 : 1]), other = fabs(range[x < 0 ? 1 : 0]);
  *slope = 0;
  if (!(bound > 0)) return 0;
  if (hard) {
    *slope = y > bound ? -side * bound / (y * y) : 0;
    return y > bound ? bound / y : 1;
  }
  double w = fmin(width, 0.5 * bound), r = 1, dr = 0;
  if (y > bound - w) {
    djJet cut = dju_smoothRamp(bound - y, w);
    r = (bound - (bound - y) - (cut.f - (bound - y))) / y;
    dr = (1 - (1 - cut.d) - r) / y;
  }
  if (!(other > 0)) {
    djJet on = dju_smoothStep(y / width);
    dr = dr * on.f + r * on.d / width;
    r *= on.f;
  }
  *slope = side * dr;
  return r;
}

djUnclamped dj_unclampedForce(const djActuators* t, const djModel* m, int c) {
  djUnclamped sum = {!dj_totalRange(m, c), 0, 0};
  for (int k = t->first[c]; k < t->first[c + 1]; k++) {
    const djActuatorStep* a = &t->act[t->order[k]];
    if (m->actuator_forcelimited[t->order[k]]) sum.holds = false;
    sum.a += a->gear[0] * (a->alpha + a->extra_alpha);
    sum.b += a->gear[0] * (a->beta + a->extra_beta);
  }
  return sum;
}

djTotal dj_totalForce(const djActuators* t, const djModel* m, int c, double psi) {
  djTotal sum = {{0, 0, 0}, 1, 0, 1};
  const double* range = dj_totalRange(m, c);
  bool tendon = range && m->coord_type[c] == DJ_COORD_TENDON;
  double raw = 0, slope = 0, dr = 0, lift = dj_liftOf(t, m, c);
  for (int k = t->first[c]; k < t->first[c + 1] && tendon; k++) {
    const djActuatorStep* a = &t->act[t->order[k]];
    raw += a->alpha + a->beta * psi;
    slope += a->beta;
  }
  if (tendon) sum.r = dj_totalScale(&dr, range, raw, t->hard);
  for (int k = t->first[c]; k < t->first[c + 1]; k++) {
    const djActuatorStep* a = &t->act[t->order[k]];
    double q = a->alpha + a->beta * psi;
    djJet p = dj_clampForce(a, m, t->order[k], sum.r * q);
    sum.f.f += a->gear[0] * (p.f + a->extra_alpha + a->extra_beta * psi);
    sum.f.d += a->gear[0] * (p.d * (sum.r * a->beta + q * dr * slope) + a->extra_beta);
    sum.b += a->gear[0] * p.d * q * dr;
  }
  if (!range || tendon) return sum;
  djJet clamped = clamp(sum.f.f + lift, range, t->hard);
  sum.C = clamped.d;
  sum.f = (djJet){clamped.f - lift, clamped.d * sum.f.d, 0};
  return sum;
}

double dj_totalByForce(const djTotal* total, const djActuators* t, const djModel* m, int i,
                       double psi) {
  const djActuatorStep* a = &t->act[i];
  djJet p = dj_clampForce(a, m, i, total->r * (a->alpha + a->beta * psi));
  return total->C * (a->gear[0] * p.d * total->r + total->b);
}

void dj_addInput(djInputSum* sum, const djActuatorStep* a, int i, int dof, double g) {
  dj_pushEntry(sum->Ru, dof, i, g * a->dinput);
  if (a->adr >= 0) dj_pushEntry(sum->Ra, dof, a->adr, g * a->dact);
}
