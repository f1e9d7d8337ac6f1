// A block's gradient g is y, the energy's gradient by the displacement psi (slide, hinge, free
// translation), or G = J_r^-T y (rotations: addPulled). So z . g = zeta . y with zeta = z, or
// zeta = J_r^-1(psi) z. Parameters that act through y alone need zeta and psi only; y is linear in
// damping, stiffness, armature, frictionloss, so that their derivatives hold at 0 too.

#include "math/so3.h"
#include "model/actuator_term.h"
#include "model/body_param.h"
#include "model/joint_piece.h"
#include "model/param.h"

#include <string.h>

// Blocks of the gradient.
typedef struct Out {
  double *damping, *stiffness, *springref, *armature, *loss, *range, *gain, *bias, *gear;
} Out;

static Out openBlocks(double* param, const djModel* m) {
  return (Out){dj_paramBlock(param, m, DJ_FIELD_JOINT_DAMPING),
               dj_paramBlock(param, m, DJ_FIELD_JOINT_STIFFNESS),
               dj_paramBlock(param, m, DJ_FIELD_JOINT_SPRINGREF),
               dj_paramBlock(param, m, DJ_FIELD_JOINT_ARMATURE),
               dj_paramBlock(param, m, DJ_FIELD_JOINT_FRICTIONLOSS),
               dj_paramBlock(param, m, DJ_FIELD_JOINT_RANGE),
               dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_GAINPRM),
               dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_BIASPRM),
               dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_GEAR)};
}

// What the terms of one joint share.
typedef struct Joint {
  Out out;
  const djJointTerms* t;
  const djModel* m;
  const djData* start;
  const double* qpos;
  int j;
} Joint;

// ---- rates --------------------------------------------------------------------------------------

// y_k = A (psi_k/h - v_k)/h + D'(psi_k/h) - f_k on n coordinates (addRates). Actuators add
// gear[0]^2 times their armature and damping to A and D'.
static void rateParams(const Joint* s, int dof, int n, const double* zeta, const double* psi) {
  const djModel* m = s->m;
  double h = s->t->h, accel = 0, damp[3] = {0, 0, 0}, loss = 0;
  for (int k = 0; k < n; k++) {
    double v = psi[k] / h;
    accel += zeta[k] * (v - s->start->qvel[dof + k]) / h;
    damp[0] += zeta[k] * v;
    damp[1] += zeta[k] * v * fabs(v);
    damp[2] += zeta[k] * v * v * v;
    loss += zeta[k] * dju_smoothAbs(v, m->opt.frictionloss_eps).d;
  }
  if (m->opt.disable & DJ_DSBL_DAMPER) memset(damp, 0, sizeof damp);
  if (m->opt.disable & DJ_DSBL_FRICTIONLOSS) loss = 0;
  s->out.armature[s->j] += accel;
  s->out.damping[s->j] += damp[0];
  s->out.loss[s->j] += loss;
  const djJointStep* step = &s->t->joint[s->j];
  for (int k = step->act0; k < step->act0 + step->nact; k++) {
    int i = s->t->order[k];
    const double* poly = m->actuator_dampingpoly + 2 * i;
    double by_square = m->actuator_armature[i] * accel + m->actuator_damping[i] * damp[0] +
                       poly[0] * damp[1] + poly[1] * damp[2];
    s->out.gear[6 * i] += 2 * m->actuator_gear[6 * i] * by_square;
  }
}

// ---- springs ------------------------------------------------------------------------------------

static bool springsOff(const djModel* m) { return (m->opt.disable & DJ_DSBL_SPRING) != 0; }

// V'(q - ref)
static void scalarSpring(const Joint* s, int dof, double z) {
  if (springsOff(s->m)) return;
  int a = s->m->jnt_qposadr[s->j];
  double x = s->qpos[a] - s->m->qpos_spring[a];
  s->out.stiffness[s->j] += z * x;
  s->out.springref[dof] -= z * dj_springPotential(s->m, s->j, x).dd;
}

// V'(|x|) x/|x|, x = p - ref: by the stiffness x, by ref minus the curvature.
static void translationSpring(const Joint* s, int dof, djVec3 z) {
  if (springsOff(s->m)) return;
  int a = s->m->jnt_qposadr[s->j];
  djVec3 x = dju_sub3(dju_load3(s->qpos + a), dju_load3(s->m->qpos_spring + a));
  double r = dju_norm3(x), y[3] = {0}, value = 0;
  djMat3 Y = {{0}};
  dj_addRadial(y, Y.m, &value, dj_springPotential(s->m, s->j, r), x, r);
  s->out.stiffness[s->j] += dju_dot3(z, x);
  double* ref = s->out.springref + dof;
  dju_store3(ref, dju_sub3(dju_load3(ref), dju_mulMtV(Y, z)));
}

// x = log(ref^-1 q): by the stiffness (J_r^-1 z) . x = z . x; by ref exp(w), -K J_r^-T
// (dju_pullback), transposed.
static void rotationSpring(const Joint* s, int dof, djVec3 z) {
  if (springsOff(s->m)) return;
  const djModel* m = s->m;
  djQuat ref_quat = dju_normalizeQuat(dju_loadQuat(m->qpos_spring + dj_rotationQpos(m, s->j)));
  djVec3 x = dju_logQuat(dju_mulQuat(dju_conj(ref_quat), dj_rotationOf(m, s->qpos, s->j))), G;
  double r = dju_norm3(x), y[3] = {0}, value = 0;
  djMat3 Y = {{0}}, K;
  dj_addRadial(y, Y.m, &value, dj_springPotential(m, s->j, r), x, r);
  dju_pullback(&G, &K, x, dju_load3(y), &Y);
  s->out.stiffness[s->j] += dju_dot3(z, x);
  double* ref = s->out.springref + dof;
  dju_store3(ref, dju_sub3(dju_load3(ref), dju_mulMV(dju_rightJacobianInv(x), dju_mulMtV(K, z))));
}

// ---- limits -------------------------------------------------------------------------------------

// Both sides of addScalarLimit press with out (V'(depth) + D'), V' the slope of the soft limit, D'
// that of the damping c A(start/w) at the start's depth. A bound moves both depths by -out; both
// move the width w.
static void scalarLimit(const Joint* s, double z, double psi) {
  const djModel* m = s->m;
  int j = s->j;
  if (!dj_hasLimit(m, j)) return;
  double q = s->qpos[m->jnt_qposadr[j]];
  double w = s->t->joint[j].limit_width, h = s->t->h, by_width = 0;
  double k = m->jnt_limit_stiffness[j] * m->jnt_effinertia[j];
  double damping = m->jnt_limit_damping[j] * m->jnt_effinertia[j];
  double* range = s->out.range + 2 * j;
  for (int side = 0; side < 2; side++) {
    double out = side ? 1 : -1;
    double depth = m->jnt_margin[j] + out * (q - m->jnt_range[2 * j + side]);
    double start = depth - out * psi;
    range[side] -= z * dju_softLimit(depth, k, w).dd;
    by_width += z * out * dju_softLimitByWidth(depth, k, w);
    djJet A = dju_smoothStep(start / w), F = dju_softLimit(start, k, w);
    if (!(A.f > 0)) continue;
    double by_c, by_F;
    dj_limitDamping(&by_c, &by_F, out * psi / h, damping * A.f, F.d);
    range[side] -= z * (by_c * damping * A.d / w + by_F * F.dd);
    by_width += z * out * (by_F * dju_softLimitByWidth(start, k, w) -
                           by_c * damping * A.d * start / (w * w));
  }
  if (!dj_widthFollows(dj_limitWidth(m, j))) return;
  range[0] -= DJ_LIMIT_WIDTH * by_width;
  range[1] += DJ_LIMIT_WIDTH * by_width;
}

// Radial: y = V'(|x| - range) x/|x|, x = log q.
static void ballLimit(const Joint* s, djVec3 z) {
  const djModel* m = s->m;
  int j = s->j;
  if (!dj_hasLimit(m, j)) return;
  djVec3 x = dju_logQuat(dj_rotationOf(m, s->qpos, j));
  double r = dju_norm3(x), w = s->t->joint[j].limit_width;
  if (!(r > 1e-12)) return;
  double depth = r - m->jnt_range[2 * j + 1] + m->jnt_margin[j];
  double k = m->jnt_limit_stiffness[j] * m->jnt_effinertia[j], along = dju_dot3(z, x) / r;
  double by_range = -dju_softLimit(depth, k, w).dd;
  if (dj_widthFollows(dj_limitWidth(m, j))) {
    by_range += DJ_LIMIT_WIDTH * dju_softLimitByWidth(depth, k, w);
  }
  s->out.range[2 * j + 1] += along * by_range;
}

// ---- actuators ----------------------------------------------------------------------------------

// The force p before its clamp is gain . (1, l, l') w + bias . (1, l, l'), as far as the types have
// entries; by_p: derivative of z . r by it.
static void forceParams(const Joint* s, int i, double by_p, double l, double rate) {
  const djModel* m = s->m;
  double term[3] = {1, l, rate};
  bool affine = m->actuator_gain[i] == DJ_GAIN_AFFINE, biased = m->actuator_bias[i] != DJ_BIAS_NONE;
  bool free_joint = m->jnt_type[s->j] == DJ_FREE;   // there l = 0
  for (int k = 0; k < (free_joint ? 1 : 3); k++) {
    if (k == 0 || affine) s->out.gain[3 * i + k] += by_p * term[k] * s->t->act[i].input;
    if (biased) s->out.bias[3 * i + k] += by_p * term[k];
  }
}

// y = -C(sum of gear p), C the clamp of the joint's total. l+ = gear q+, l' = gear psi/h, so
// d(gear p)/d gear = p + gear p' (c1 q+ + c2 psi/h).
static void scalarActuators(const Joint* s, double z, double psi) {
  const djModel* m = s->m;
  const djJointStep* step = &s->t->joint[s->j];
  double total = 0, q = s->qpos[m->jnt_qposadr[s->j]], rate = psi / s->t->h;
  for (int k = step->act0; k < step->act0 + step->nact; k++) {
    const djActuatorStep* a = &s->t->act[s->t->order[k]];
    total += a->gear[0] * dj_clampForce(m, s->t->order[k], a->alpha + a->beta * psi).f;
  }
  if (m->jnt_actfrclimited[s->j]) {
    const double* range = m->jnt_actfrcrange + 2 * s->j;
    z *= dju_smoothClamp(total, range[0], range[1]).d;
  }
  for (int k = step->act0; k < step->act0 + step->nact; k++) {
    int i = s->t->order[k];
    const djActuatorStep* a = &s->t->act[i];
    djJet p = dj_clampForce(m, i, a->alpha + a->beta * psi);
    forceParams(s, i, -z * a->gear[0] * p.d, a->gear[0] * q, a->gear[0] * rate);
    s->out.gear[6 * i] -= z * (p.f + a->gear[0] * p.d * (a->c1 * q + a->c2 * rate));
  }
}

// Free joints: a constant force along gear[0..2].
static void translationActuators(const Joint* s, djVec3 z) {
  const djJointStep* step = &s->t->joint[s->j];
  for (int k = step->act0; k < step->act0 + step->nact; k++) {
    int i = s->t->order[k];
    djJet p = dj_clampForce(s->m, i, s->t->act[i].alpha);
    double* gear = s->out.gear + 6 * i;
    forceParams(s, i, -p.d * dju_dot3(z, dju_load3(s->m->actuator_gear + 6 * i)), 0, 0);
    dju_store3(gear, dju_madd3(dju_load3(gear), -p.f, z));
  }
}

// y = -p e, e = gear or R0^T gear (in_parent); l+ = gear . log R0 + psi_e (ball), l' = psi_e/h,
// psi_e = e . phi. So zeta . y changes with e by -p zeta - (zeta . e) p' (c1 + c2/h) phi, and with
// gear itself by -(zeta . e) p' c1 log R0.
static void rotationActuators(const Joint* s, djVec3 zeta, djVec3 phi) {
  const djModel* m = s->m;
  const djJointStep* step = &s->t->joint[s->j];
  djQuat q0 = dj_rotationOf(m, s->start->qpos, s->j);
  bool ball = m->jnt_type[s->j] == DJ_BALL;
  for (int k = step->act0; k < step->act0 + step->nact; k++) {
    int i = s->t->order[k];
    const djActuatorStep* a = &s->t->act[i];
    djVec3 e = dju_load3(a->gear);
    double psi = dju_dot3(e, phi);
    djJet p = dj_clampForce(m, i, a->alpha + a->beta * psi);
    double by_p = -p.d * dju_dot3(zeta, e);
    forceParams(s, i, by_p, a->length + psi, psi / s->t->h);
    djVec3 by_gear = dju_madd3(dju_scale3(-p.f, zeta), by_p * a->beta, phi);
    if (m->actuator_inparent[i]) by_gear = dju_mulMV(dju_quatToMat(q0), by_gear);
    if (ball) by_gear = dju_madd3(by_gear, by_p * a->c1, dju_logQuat(q0));
    double* gear = s->out.gear + 6 * i + (ball ? 0 : 3);
    dju_store3(gear, dju_add3(dju_load3(gear), by_gear));
  }
}

// ---- joints -------------------------------------------------------------------------------------

static void scalarParams(const Joint* s, int dof, double z) {
  int a = s->m->jnt_qposadr[s->j];
  double psi = s->qpos[a] - s->start->qpos[a];
  rateParams(s, dof, 1, &z, &psi);
  scalarSpring(s, dof, z);
  scalarLimit(s, z, psi);
  if (!(s->m->opt.disable & DJ_DSBL_ACTUATION)) scalarActuators(s, z, psi);
}

static void translationParams(const Joint* s, int dof, const double* z) {
  int a = s->m->jnt_qposadr[s->j];
  double psi[3];
  dju_store3(psi, dju_sub3(dju_load3(s->qpos + a), dju_load3(s->start->qpos + a)));
  rateParams(s, dof, 3, z, psi);
  translationSpring(s, dof, dju_load3(z));
  if (!(s->m->opt.disable & DJ_DSBL_ACTUATION)) translationActuators(s, dju_load3(z));
}

static void rotationParams(const Joint* s, int dof, const double* z) {
  djQuat q = dj_rotationOf(s->m, s->qpos, s->j), q0 = dj_rotationOf(s->m, s->start->qpos, s->j);
  djVec3 phi = dju_logQuat(dju_mulQuat(dju_conj(q0), q));
  djVec3 pulled = dju_mulMV(dju_rightJacobianInv(phi), dju_load3(z));
  double psi[3], zeta[3];
  dju_store3(psi, phi);
  dju_store3(zeta, pulled);
  rateParams(s, dof, 3, zeta, psi);
  rotationSpring(s, dof, dju_load3(z));
  if (s->m->jnt_type[s->j] == DJ_BALL) ballLimit(s, dju_load3(z));
  if (!(s->m->opt.disable & DJ_DSBL_ACTUATION)) rotationActuators(s, pulled, phi);
}

void dj_jointParams(double* param, const djJointTerms* t, const djModel* m, const djData* start,
                    const double* qpos, const double* z) {
  Joint s = {openBlocks(param, m), t, m, start, qpos, 0};
  for (s.j = 0; s.j < m->njnt; s.j++) {
    int dof = m->jnt_dofadr[s.j], type = m->jnt_type[s.j];
    if (dj_isScalar(type)) {
      scalarParams(&s, dof, z[dof]);
      continue;
    }
    if (type == DJ_FREE) translationParams(&s, dof, z + dof);
    dof = dj_rotationDof(m, s.j);
    rotationParams(&s, dof, z + dof);
  }
}
