// Actuators by gainprm, biasprm, gear.

#include "force/actuator.h"

#include "math/so3.h"
#include "model/param.h"

typedef struct Out {
  double *gain, *bias, *gear;
} Out;

// The force p before its clamp is gain . (1, l, l') w + bias . (1, l, l'), as far as the types have
// entries; by_p: derivative of z . gradient by it.
static void forceParams(const Out* out, const djActuatorStep* a, const djModel* m, int i,
                        double by_p, double l, double rate) {
  double term[3] = {1, l, rate};
  bool affine = m->actuator_gain[i] == DJ_GAIN_AFFINE, biased = m->actuator_bias[i] != DJ_BIAS_NONE;
  bool free_joint = dj_onFreeJoint(m, i);   // there l = 0
  for (int k = 0; k < (free_joint ? 1 : 3); k++) {
    if (k == 0 || affine) out->gain[3 * i + k] += by_p * term[k] * a->input;
    if (biased) out->bias[3 * i + k] += by_p * term[k];
  }
}

// f = -C(sum of gear p), see djTotal. l+ = gear x+, l' = gear psi/h, so
// df/d gear = C' p + df/dq (c1 x+ + c2 psi/h).
static void scalarParams(const Out* out, const djActuators* t, const djMotion* at, int c,
                         double z) {
  const djModel* m = at->model;
  double x = at->at.coord->x[c], psi = x - at->rate.coord->x[c], rate = psi / at->h;
  djTotal total = dj_totalForce(t, m, c, psi);
  for (int k = t->first[c]; k < t->first[c + 1]; k++) {
    int i = t->order[k];
    const djActuatorStep* a = &t->act[i];
    double p = dj_clampForce(m, i, total.r * (a->alpha + a->beta * psi)).f;
    double by = dj_totalByForce(&total, t, m, i, psi);
    forceParams(out, a, m, i, -z * by, a->gear[0] * x, a->gear[0] * rate);
    out->gear[6 * i] -= z * (total.C * p + by * (a->c1 * x + a->c2 * rate));
  }
}

// Free joints: a constant force along gear[0..2].
static void translationParams(const Out* out, const djActuators* t, const djModel* m, int j,
                              djVec3 z) {
  for (int k = t->first[m->ncoord + j]; k < t->first[m->ncoord + j + 1]; k++) {
    int i = t->order[k];
    djJet p = dj_clampForce(m, i, t->act[i].alpha);
    double* gear = out->gear + 6 * i;
    double by_p = -p.d * dju_dot3(z, dju_load3(m->actuator_gear + 6 * i));
    forceParams(out, &t->act[i], m, i, by_p, 0, 0);
    dju_store3(gear, dju_madd3(dju_load3(gear), -p.f, z));
  }
}

// y = -p e, e = gear or R0^T gear (in_parent); l+ = gear . log R0 + psi_e (ball), l' = psi_e/h,
// psi_e = e . phi. So zeta . y changes with e by -p zeta - (zeta . e) p' (c1 + c2/h) phi, and with
// gear itself by -(zeta . e) p' c1 log R0.
static void rotationParams(const Out* out, const djActuators* t, const djMotion* at, int j,
                           djVec3 zeta) {
  const djModel* m = at->model;
  djVec3 phi = dj_turnSince(at, j);
  djQuat q0 = dju_normalizeQuat(dju_loadQuat(at->rate.q + dj_rotationQpos(m, j)));
  bool ball = m->jnt_type[j] == DJ_BALL;
  for (int k = t->first[m->ncoord + j]; k < t->first[m->ncoord + j + 1]; k++) {
    int i = t->order[k];
    const djActuatorStep* a = &t->act[i];
    djVec3 e = dju_load3(a->gear);
    double psi = dju_dot3(e, phi);
    djJet p = dj_clampForce(m, i, a->alpha + a->beta * psi);
    double by_p = -p.d * dju_dot3(zeta, e);
    forceParams(out, a, m, i, by_p, a->length + psi, psi / at->h);
    djVec3 by_gear = dju_madd3(dju_scale3(-p.f, zeta), by_p * a->beta, phi);
    if (m->actuator_inparent[i]) by_gear = dju_mulMV(dju_quatToMat(q0), by_gear);
    if (ball) by_gear = dju_madd3(by_gear, by_p * a->c1, dju_logQuat(q0));
    double* gear = out->gear + 6 * i + (ball ? 0 : 3);
    dju_store3(gear, dju_add3(dju_load3(gear), by_gear));
  }
}

djStatus dj_actuatorParams(djParamSums* sums, void* state, const djMotion* at, const double* z,
                           const double* zeta) {
  const djActuators* t = state;
  const djModel* m = at->model;
  if (dj_actuatorsOff(m) || m->nu == 0) return DJ_OK;
  Out out = {dj_paramBlock(sums->param, m, DJ_FIELD_ACTUATOR_GAINPRM),
             dj_paramBlock(sums->param, m, DJ_FIELD_ACTUATOR_BIASPRM),
             dj_paramBlock(sums->param, m, DJ_FIELD_ACTUATOR_GEAR)};
  for (int c = 0; c < m->ncoord; c++) {
    if (t->first[c] == t->first[c + 1]) continue;
    scalarParams(&out, t, at, c, dj_coordinateRate(at->at.coord, m, c, z));
  }
  for (int j = 0; j < m->njnt; j++) {
    if (t->first[m->ncoord + j] == t->first[m->ncoord + j + 1]) continue;
    int dof = dj_rotationDof(m, j);
    if (m->jnt_type[j] == DJ_FREE) {
      translationParams(&out, t, m, j, dju_load3(z + m->jnt_dofadr[j]));
    }
    rotationParams(&out, t, at, j, dju_load3(zeta + dof));
  }
  for (int i = 0; i < m->nu; i++) {
    double by_p, length, rate;
    if (!dj_onSite(m, i)) continue;
    dj_siteParams(sums, t, at, i, &by_p, &length, &rate);
    forceParams(&out, &t->act[i], m, i, by_p, length, rate);
  }
  return DJ_OK;
}
