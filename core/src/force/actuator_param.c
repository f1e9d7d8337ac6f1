// Actuators by gainprm, biasprm, gear.

#include "force/actuator.h"

#include "math/so3.h"
#include "model/force_law.h"
#include "model/param.h"

typedef struct Out {
  double *gain, *bias, *gear;
} Out;

// The force p before its clamp is g . (1, l, l') w + b . (1, l, l'), see force_law.h; by_p:
// derivative of z . gradient by it.
static void forceParams(const Out* out, const djActuators* t, const djModel* m, int i, double by_p,
                        double l, double rate) {
  const djActuatorStep* a = &t->act[i];
  if (a->motor) return;
  for (int k = i + 1; k < m->nu; k++) {
    if (m->actuator_addsto[k] == i) out->gain[DJ_NPRM * k] += by_p * t->act[k].input;
  }
  const djForceLaw* gain = &dj_gainLaws[m->actuator_gain[i]];
  const djForceLaw* bias = &dj_biasLaws[m->actuator_bias[i]];
  double by_b[3] = {by_p, by_p * l, by_p * rate}, by_g[3];
  if (dj_onFreeJoint(m, i)) by_b[1] = 0;   // there l = 0
  for (int k = 0; k < 3; k++) by_g[k] = by_b[k] * a->input;
  gain->vjp(out->gain + DJ_NPRM * i, gain, by_g, m->actuator_gainprm + DJ_NPRM * i, &a->law);
  bias->vjp(out->bias + DJ_NPRM * i, bias, by_b, m->actuator_biasprm + DJ_NPRM * i, &a->law);
}

// f = -C(sum of gear p), see djTotal. l+ = gear x+, l' = gear psi/h, so
// df/d gear = C' p + df/dq (c1 x+ + c2 psi/h).
static void scalarParams(double* param, const Out* out, const djActuators* t, const djMotion* at,
                         int c, double z) {
  const djModel* m = at->model;
  double x = at->at.coord->x[c], psi = x - at->rate.coord->x[c], rate = psi / at->h;
  djTotal total = dj_totalForce(t, m, c, psi);
  for (int k = t->first[c]; k < t->first[c + 1]; k++) {
    int i = t->order[k];
    const djActuatorStep* a = &t->act[i];
    double p = dj_clampForce(a, m, i, total.r * (a->alpha + a->beta * psi)).f;
    double by = dj_totalByForce(&total, t, m, i, psi);
    double extra = total.C * a->gear[0];
    forceParams(out, t, m, i, -z * by, a->gear[0] * x, a->gear[0] * rate);
    if (a->motor) dj_motorParams(param, t, m, i, (double[4]){-z * by, -z * extra, 0, 0});
    p += a->extra_alpha + a->extra_beta * psi;
    out->gear[6 * i] -= z * (total.C * p + by * (a->c1 * x + a->c2 * rate) +
                             extra * (a->extra_c1 * x + a->extra_c2 * rate));
  }
}

// On free joints: see actuator_free.c; z: of the position, zeta: of the rotation.
static void freeParams(const Out* out, const djActuators* t, const djMotion* at, int j, djVec3 z,
                       djVec3 zeta) {
  const djModel* m = at->model;
  djQuat q0 = dju_normalizeQuat(dju_loadQuat(at->rate.q + dj_rotationQpos(m, j)));
  for (int k = t->first[m->ncoord + j]; k < t->first[m->ncoord + j + 1]; k++) {
    int i = t->order[k];
    const djActuatorStep* a = &t->act[i];
    djFreeDrive d = dj_freeDrive(t, at, i);
    double by_p = -d.p.d * (dju_dot3(z, d.f) + dju_dot3(zeta, d.g)), by_psi = by_p * a->beta;
    djVec3 by_g = dju_madd3(dju_scale3(-d.p.f, zeta), by_psi, d.phi);
    if (m->actuator_inparent[i]) by_g = dju_mulMV(dju_quatToMat(q0), by_g);
    forceParams(out, t, m, i, by_p, 0, d.psi / at->h);
    dju_addTo3(out->gear + 6 * i, 1, dju_madd3(dju_scale3(-d.p.f, z), by_psi, d.x));
    dju_addTo3(out->gear + 6 * i + 3, 1, by_g);
  }
}

// y = -p e, e = gear or R0^T gear (in_parent); l+ = gear . log R0 + psi_e, l' = psi_e/h,
// psi_e = e . phi. So zeta . y changes with e by -p zeta - (zeta . e) p' (c1 + c2/h) phi, and with
// gear itself by -(zeta . e) p' c1 log R0.
static void rotationParams(const Out* out, const djActuators* t, const djMotion* at, int j,
                           djVec3 zeta) {
  const djModel* m = at->model;
  djVec3 phi = dj_turnSince(at, j);
  djQuat q0 = dju_normalizeQuat(dju_loadQuat(at->rate.q + dj_rotationQpos(m, j)));
  for (int k = t->first[m->ncoord + j]; k < t->first[m->ncoord + j + 1]; k++) {
    int i = t->order[k];
    const djActuatorStep* a = &t->act[i];
    djVec3 e = dju_load3(a->gear);
    double psi = dju_dot3(e, phi);
    djJet p = dj_clampForce(a, m, i, a->alpha + a->beta * psi);
    double by_p = -p.d * dju_dot3(zeta, e);
    forceParams(out, t, m, i, by_p, a->length + psi, psi / at->h);
    djVec3 by_gear = dju_madd3(dju_scale3(-p.f, zeta), by_p * a->beta, phi);
    if (m->actuator_inparent[i]) by_gear = dju_mulMV(dju_quatToMat(q0), by_gear);
    by_gear = dju_madd3(by_gear, by_p * a->c1, dju_logQuat(q0));
    dju_addTo3(out->gear + 6 * i, 1, by_gear);
  }
}

// The same of prompt motions, with e = R^T gear at the point, l = gear . log R and l' = e . phi/h.
// Of free joints f and x add to both.
static void turnParams(const Out* out, const djActuators* t, const djMotion* at, int j,
                       const double* all) {
  const djModel* m = at->model;
  bool ball = !dj_jointRow(m, j)->pose;
  int dof = dj_rotationDof(m, j);
  djVec3 z = dju_load3(all + dof), zx = {0, 0, 0};
  if (!ball) zx = dju_load3(all + dof - 3);
  for (int k = t->first[m->ncoord + j]; k < t->first[m->ncoord + j + 1]; k++) {
    int i = t->order[k];
    const djActuatorStep* a = &t->act[i];
    djTurnDrive d = dj_turnDrive(t, at, i);
    double by_p = -d.p.d * (dju_dot3(z, d.g) + dju_dot3(zx, d.force));
    forceParams(out, t, m, i, by_p, d.length, d.rate);
    djVec3 by_gear = dju_madd3(dju_scale3(-d.p.f, z), by_p * a->c2 / at->h, d.phi);
    if (m->actuator_inparent[i]) by_gear = dju_mulMV(d.R, by_gear);
    by_gear = dju_madd3(by_gear, by_p * a->c1, d.log);
    dju_addTo3(out->gear + 6 * i + (ball ? 0 : 3), 1, by_gear);
    if (ball) continue;
    djVec3 by_f = dju_madd3(dju_scale3(-d.p.f, zx), by_p * a->c2 / at->h, d.x);
    dju_addTo3(out->gear + 6 * i, 1, by_f);
  }
}

void dj_actuatorRateParams(djRateSum* sum, const djActuators* t, const djModel* m, int i,
                           bool free, double extra) {
  const djActuatorStep* a = &t->act[i];
  const djForceLaw* gain = &dj_gainLaws[m->actuator_gain[i]];
  const djForceLaw* bias = &dj_biasLaws[m->actuator_bias[i]];
  double y = sum->y[m->actuator_coord[i]], gear = m->actuator_gear[6 * i];
  double by_b[3] = {0, 0, free ? -gear * gear * y : 0}, by_g[3] = {0, 0, by_b[2] * a->input};
  double* gainprm = dj_paramBlock(sum->param, m, DJ_FIELD_ACTUATOR_GAINPRM);
  double* biasprm = dj_paramBlock(sum->param, m, DJ_FIELD_ACTUATOR_BIASPRM);
  gain->vjp(gainprm + DJ_NPRM * i, gain, by_g, m->actuator_gainprm + DJ_NPRM * i, &a->law);
  bias->vjp(biasprm + DJ_NPRM * i, bias, by_b, m->actuator_biasprm + DJ_NPRM * i, &a->law);
  double turns = a->by_l * a->law.l + a->by_rate * a->law.rate;
  double own = free ? 2 * a->slope + turns : 0;
  dj_paramBlock(sum->param, m, DJ_FIELD_ACTUATOR_GEAR)[6 * i] -= gear * (own + 2 * extra) * y;
  if (!a->motor) return;
  double by[4] = {0, 0, free ? -gear * gear * y : 0, extra != 0 ? -gear * gear * y : 0};
  dj_motorParams(sum->param, t, m, i, by);
}

djStatus dj_actuatorParams(djParamSums* sums, void* state, const djMotion* at, const double* z,
                           const double* zeta) {
  djActuators* t = state;
  const djModel* m = at->model;
  if (at->acting == DJ_ACTS_SMOOTH) dj_compensationParams(sums, t, at, z);
  if (dj_actuatorsOff(m) || m->nu == 0) return DJ_OK;
  Out out = {dj_paramBlock(sums->param, m, DJ_FIELD_ACTUATOR_GAINPRM),
             dj_paramBlock(sums->param, m, DJ_FIELD_ACTUATOR_BIASPRM),
             dj_paramBlock(sums->param, m, DJ_FIELD_ACTUATOR_GEAR)};
  const bool laws = sums->wants & DJ_BY_LAW;
  for (int c = 0; c < m->ncoord && laws; c++) {
    if (t->first[c] == t->first[c + 1]) continue;
    scalarParams(sums->param, &out, t, at, c, dj_coordinateRate(at->at.coord, m, c, z));
  }
  for (int j = 0; j < m->njnt && laws; j++) {
    if (t->first[m->ncoord + j] == t->first[m->ncoord + j + 1]) continue;
    djVec3 turn = dju_load3(zeta + dj_rotationDof(m, j));
    if (at->prompt) turnParams(&out, t, at, j, zeta);
    else if (!dj_jointRow(m, j)->pose) rotationParams(&out, t, at, j, turn);
    else freeParams(&out, t, at, j, dju_load3(z + m->jnt_dofadr[j]), turn);
  }
  for (int i = 0; i < m->nu && sums->wants & ~DJ_BY_INERTIA; i++) {
    double by_p, length = 0, rate = 0;
    bool any = false;
    if (m->actuator_body[i] >= 0) {
      by_p = dj_adhesionParams(&any, sums, t, at, i);
      if (any && sums->wants & DJ_BY_SHAPE) return DJ_UNSUPPORTED;   // gaps by shapes
      if (!any) continue;
    } else if (dj_onSite(m, i)) {
      dj_siteParams(sums, t, at, i, &by_p, &length, &rate);
    } else {
      continue;
    }
    forceParams(&out, t, m, i, by_p, length, rate);
  }
  return DJ_OK;
}
