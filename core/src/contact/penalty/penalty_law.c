#include "contact/penalty/penalty_law.h"

#include "contact/wrench.h"

#include <math.h>
#include <string.h>

void dj_pointForce(djPointForce* p, const djPenaltyLaw* law, const double* twist_point,
                   djVec3 ref_point, const double* twist_field, djVec3 ref_field) {
  p->x = dju_madd3(p->c, -p->radius, p->n);
  p->w = dju_sub3(dju_load3(twist_point), dju_load3(twist_field));
  p->u = dju_sub3(dj_twistField(twist_point, dju_sub3(p->x, ref_point)),
                  dj_twistField(twist_field, dju_sub3(p->x, ref_field)));
  p->rate = dju_dot3(p->n, p->u);
  p->t = dju_madd3(p->u, -p->rate, p->n);
  p->speed = dju_norm3(p->t);
  p->N = !law->row && p->d < 0 ? fmax(p->d * (law->kd * p->rate - law->kn), 0) : 0;
  p->F = dju_vec3(0, 0, 0);
  p->state = DJ_POINT_FREE;
  if (law->row) law->row->force(p, law);
  if (law->row || !(p->N > 0)) return;
  const bool slips = law->kt * p->speed > law->mu * p->N;
  p->state = slips ? DJ_POINT_SLIP : DJ_POINT_STICK;
  const double drag = slips ? law->mu * p->N / p->speed : law->kt;
  p->F = dju_madd3(dju_scale3(p->N, p->n), -drag, p->t);
}

djVec3 dj_pointChanges(const djPointForce* p, const djPenaltyLaw* law, djVec3 dn, double dd,
                       djVec3 du) {
  if (law->row) return law->row->changes(p, law, dn, dd, du);
  const double rate = dju_dot3(dn, p->u) + dju_dot3(p->n, du);
  const double dN = dd * (law->kd * p->rate - law->kn) + p->d * law->kd * rate;
  const djVec3 dt = dju_madd3(dju_madd3(du, -rate, p->n), -p->rate, dn);
  const djVec3 normal = dju_madd3(dju_scale3(dN, p->n), p->N, dn);
  if (p->state == DJ_POINT_STICK) return dju_madd3(normal, -law->kt, dt);
  const djVec3 along = dju_scale3(1 / p->speed, p->t);
  const double turned = dju_dot3(along, dt);
  const djVec3 turn = dju_madd3(dt, -turned, along);
  return dju_madd3(dju_madd3(normal, -law->mu * dN, along), -law->mu * p->N / p->speed, turn);
}

static djVec3 vjp(djPointGrad* out, double* by_rate, const djPointForce* p, const djPenaltyLaw* law,
                  djVec3 V) {
  double by_N = dju_dot3(V, p->n);
  djVec3 by_t;
  if (p->state == DJ_POINT_STICK) {
    by_t = dju_scale3(-law->kt, V);
    out->law.kt = -dju_dot3(V, p->t);
  } else {
    const djVec3 along = dju_scale3(1 / p->speed, p->t);
    const double part = dju_dot3(V, along);
    by_N -= law->mu * part;
    out->law.mu = -p->N * part;
    by_t = dju_scale3(-law->mu * p->N / p->speed, dju_madd3(V, -part, along));
  }
  out->d = by_N * (law->kd * p->rate - law->kn);
  out->law.kn = -p->d * by_N;
  out->law.kd = p->d * p->rate * by_N;
  *by_rate = by_N * p->d * law->kd;
  return by_t;
}

// Backward through the lines of dj_pointForce.
void dj_pointVjp(djPointGrad* out, const djPointForce* p, const djPenaltyLaw* law, djVec3 V,
                 djVec3 m) {
  *out = (djPointGrad){.n = dju_scale3(p->N, V)};
  double by_rate;
  const djVec3 by_t =
      law->row ? law->row->vjp(out, &by_rate, p, law, V) : vjp(out, &by_rate, p, law, V);
  by_rate -= dju_dot3(by_t, p->n);
  out->n = dju_madd3(dju_madd3(out->n, -p->rate, by_t), by_rate, p->u);
  const djVec3 by_u = dju_madd3(by_t, by_rate, p->n);
  const djVec3 by_x = dju_add3(m, dju_cross3(by_u, p->w)); // u moves by w x dx
  out->n = dju_madd3(out->n, -p->radius, by_x);
  out->radius = -dju_dot3(by_x, p->n) - out->d;
  out->c = dju_madd3(by_x, out->d, p->gradient);
  if (p->held) out->n = dju_vec3(0, 0, 0);
  out->c = dju_add3(out->c, dju_mulMtV(p->turn, out->n));
}
