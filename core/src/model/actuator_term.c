// Actuators in an implicit step: activations, transmissions, forces and their derivatives.

#include "model/actuator_term.h"

#include "math/so3.h"

#include <string.h>

// ---- start of a step ----------------------------------------------------------------------------

// Control after its clamp; derivative by ctrl.
static djJet controlInput(const djModel* m, const djData* d, int i) {
  double u = d->ctrl[i];
  if (!m->actuator_ctrllimited[i] || (m->opt.disable & DJ_DSBL_CLAMPCTRL)) {
    return (djJet){u, 1, 0};
  }
  return dju_smoothClamp(u, m->actuator_ctrlrange[2 * i], m->actuator_ctrlrange[2 * i + 1]);
}

// Next activation as a linear function of (w, u), before its clamp: w+ = aw w + au u.
static void activationStep(double* aw, double* au, const djModel* m, int i, double h) {
  double tau = fmax(m->actuator_tau[i], 1e-15);
  *aw = 1;
  *au = 0;
  switch (m->actuator_dyn[i]) {
    case DJ_DYN_INTEGRATOR: *au = h; break;
    case DJ_DYN_FILTER: *au = h / tau; *aw = 1 - *au; break;
    case DJ_DYN_FILTEREXACT: *au = -expm1(-h / tau); *aw = 1 - *au; break;
    default: break;
  }
}

static djJet nextActivation(double* aw, double* au, const djModel* m, const djData* d, int i,
                            double h) {
  activationStep(aw, au, m, i, h);
  double x = *aw * d->act[m->actuator_actadr[i]] + *au * controlInput(m, d, i).f;
  if (!m->actuator_actlimited[i]) return (djJet){x, 1, 0};
  return dju_smoothClamp(x, m->actuator_actrange[2 * i], m->actuator_actrange[2 * i + 1]);
}

void dj_activationDerivative(double* by_act, double* by_ctrl, const djModel* m, const djData* d,
                             int i) {
  double aw, au;
  djJet next = nextActivation(&aw, &au, m, d, i, m->opt.timestep);
  *by_act = next.d * aw;
  *by_ctrl = next.d * au * controlInput(m, d, i).d;
}

// Transmission: length at the start, and the direction of the torque for rotations. l+ = l + gear
// . displacement. MuJoCo's moment of a ball joint is the gear itself; ours follows the
// displacement within the step, a difference of order h.
static void beginTransmission(djActuatorStep* a, const djModel* m, const djData* d, int i) {
  int j = m->actuator_joint[i];
  const double* gear = m->actuator_gear + 6 * i;
  a->length = 0;
  memset(a->gear, 0, sizeof(a->gear));
  if (dj_isScalar(m->jnt_type[j])) {
    a->length = gear[0] * d->qpos[m->jnt_qposadr[j]];
    a->gear[0] = gear[0];
    return;
  }
  djVec3 g = dju_load3(m->jnt_type[j] == DJ_FREE ? gear + 3 : gear);
  djQuat q = dj_rotationOf(m, d->qpos, j);
  if (m->jnt_type[j] == DJ_BALL) a->length = dju_dot3(g, dju_logQuat(q));
  if (m->actuator_inparent[i]) g = dju_mulMtV(dju_quatToMat(q), g);
  dju_store3(a->gear, g);
}

void dj_beginActuator(djActuatorStep* a, double* act_next, const djModel* m, const djData* d,
                          int i, double h) {
  djJet u = controlInput(m, d, i);
  int adr = m->actuator_actadr[i];
  a->input = u.f;
  a->dinput = u.d;
  a->dact = 0;
  if (adr >= 0) {
    double aw, au;
    djJet next = nextActivation(&aw, &au, m, d, i, h);
    act_next[adr] = next.f;
    bool early = m->actuator_actearly[i];
    a->input = early ? next.f : d->act[adr];
    a->dact = early ? next.d * aw : 1;
    a->dinput = early ? next.d * au * u.d : 0;
  }
  beginTransmission(a, m, d, i);
  const double *gain = m->actuator_gainprm + 3 * i, *bias = m->actuator_biasprm + 3 * i;
  bool affine = m->actuator_gain[i] == DJ_GAIN_AFFINE, biased = m->actuator_bias[i] != DJ_BIAS_NONE;
  bool free_joint = m->jnt_type[m->actuator_joint[i]] == DJ_FREE;   // there l = 0
  for (int k = 0; k < 3; k++) a->gain[k] = k == 0 || (affine && !free_joint) ? gain[k] : 0;
  a->c1 = a->gain[1] * a->input + (biased ? bias[1] : 0);
  a->c2 = a->gain[2] * a->input + (biased ? bias[2] : 0);
  if (free_joint) a->c1 = a->c2 = 0;
  a->alpha = a->gain[0] * a->input + (biased ? bias[0] : 0) + a->c1 * a->length;
  a->beta = a->c1 + a->c2 / h;
  if (dj_isScalar(m->jnt_type[m->actuator_joint[i]])) a->beta *= a->gear[0];
}

// ---- forces -------------------------------------------------------------------------------------

djJet dj_clampForce(const djModel* m, int i, double p) {
  if (!m->actuator_forcelimited[i]) return (djJet){p, 1, 0};
  return dju_smoothClamp(p, m->actuator_forcerange[2 * i], m->actuator_forcerange[2 * i + 1]);
}

// Total force of a scalar joint's actuators at displacement psi: f and df/dpsi. factor: derivative
// of the joint's own clamp.
static djJet scalarActuation(double* factor, djJointTerms* t, const djModel* m, int j,
                             double psi) {
  const djJointStep* s = &t->joint[j];
  djJet sum = {0, 0, 0};
  for (int k = s->act0; k < s->act0 + s->nact; k++) {
    djActuatorStep* a = &t->act[t->order[k]];
    djJet p = dj_clampForce(m, t->order[k], a->alpha + a->beta * psi);
    a->force = p.f;
    sum.f += a->gear[0] * p.f;
    sum.d += a->gear[0] * p.d * a->beta;
  }
  *factor = 1;
  if (m->jnt_actfrclimited[j]) {
    djJet c = dju_smoothClamp(sum.f, m->jnt_actfrcrange[2 * j], m->jnt_actfrcrange[2 * j + 1]);
    *factor = c.d;
    sum = (djJet){c.f, c.d * sum.d, 0};
  }
  return sum;
}

// Mean force of an actuator while psi goes from 0 to its value.
static double meanForce(const djModel* m, int i, const djActuatorStep* a, double psi) {
  double p0 = a->alpha, p1 = a->alpha + a->beta * psi;
  if (!m->actuator_forcelimited[i]) return 0.5 * (p0 + p1);
  return dju_smoothClampMean(p0, p1, m->actuator_forcerange[2 * i],
                             m->actuator_forcerange[2 * i + 1]);
}

// Work of the actuators over the displacement: exact without a clamp of the joint's total; with
// one by Gauss' rule on panels (it guides the search only).
static double scalarWork(djJointTerms* t, const djModel* m, int j, double psi) {
  const djJointStep* s = &t->joint[j];
  double work = 0, factor;
  if (m->jnt_actfrclimited[j]) {
    const int panels = 8;
    for (int k = 0; k < panels; k++) {
      for (int e = -1; e <= 1; e++) {
        double x = (k + 0.5 * (1 + 0.774596669241483377 * e)) / panels;
        work += (e ? 5.0 : 8.0) / 18 / panels * scalarActuation(&factor, t, m, j, x * psi).f;
      }
    }
    return psi * work;
  }
  for (int k = s->act0; k < s->act0 + s->nact; k++) {
    int i = t->order[k];
    work += t->act[i].gear[0] * meanForce(m, i, &t->act[i], psi);
  }
  return psi * work;
}

void dj_addScalarActuators(djBlock* b, djJointTerms* t, const djModel* m, int j, double psi,
                               bool start) {
  const djJointStep* s = &t->joint[j];
  if (s->nact == 0 || (m->opt.disable & DJ_DSBL_ACTUATION)) return;
  b->value -= scalarWork(t, m, j, psi);
  double factor;
  djJet f = scalarActuation(&factor, t, m, j, psi);
  b->g[0] -= f.f;
  b->K[0] -= f.d;
  if (!start) return;
  // By q at the start with q+ fixed: l+ does not change, l' = gear (q+ - q)/h does.
  for (int k = s->act0; k < s->act0 + s->nact; k++) {
    const djActuatorStep* a = &t->act[t->order[k]];
    djJet p = dj_clampForce(m, t->order[k], a->alpha + a->beta * psi);
    b->Kstart[0] += factor * a->gear[0] * a->gear[0] * p.d * a->c2 / t->h;
  }
}

// Torque p gear on a rotation displaced by phi: potential -Integral p d(psi), psi = gear . phi.
void dj_addRotationActuators(double y[3], double Y[9], double* value, djJointTerms* t,
                                 const djModel* m, int j, const double* phi) {
  const djJointStep* s = &t->joint[j];
  if (m->opt.disable & DJ_DSBL_ACTUATION) return;
  for (int k = s->act0; k < s->act0 + s->nact; k++) {
    djActuatorStep* a = &t->act[t->order[k]];
    double psi = a->gear[0] * phi[0] + a->gear[1] * phi[1] + a->gear[2] * phi[2];
    djJet p = dj_clampForce(m, t->order[k], a->alpha + a->beta * psi);
    *value -= psi * meanForce(m, t->order[k], a, psi);
    a->force = p.f;
    for (int r = 0; r < 3; r++) {
      y[r] -= p.f * a->gear[r];
      for (int c = 0; c < 3; c++) Y[3 * r + c] -= p.d * a->beta * a->gear[r] * a->gear[c];
    }
  }
}

// What the start orientation changes beside phi: the length of ball actuators, and the direction
// of gears given in the parent's frame.
void dj_addStartActuators(djBlock* b, const djJointTerms* t, const djModel* m,
                              const djData* d, int j, djVec3 phi, const djMat3* JinvT) {
  if (m->opt.disable & DJ_DSBL_ACTUATION) return;
  djMat3 Jlog = dju_rightJacobianInv(dju_logQuat(dj_rotationOf(m, d->qpos, j)));
  for (int k = t->joint[j].act0; k < t->joint[j].act0 + t->joint[j].nact; k++) {
    int i = t->order[k];
    const djActuatorStep* a = &t->act[i];
    djVec3 g = dju_load3(a->gear);
    djJet p = dj_clampForce(m, i, a->alpha + a->beta * dju_dot3(g, phi));
    djMat3 dy = {{0}};
    if (m->jnt_type[j] == DJ_BALL) {
      // dl = gear^T J_r^-1(log q) d, with the gear as given
      djVec3 dl = dju_mulMtV(Jlog, dju_load3(m->actuator_gear + 6 * i));
      double e[3], l[3];
      dju_store3(e, g);
      dju_store3(l, dl);
      for (int r = 0; r < 9; r++) dy.m[r] -= p.d * a->c1 * e[r / 3] * l[r % 3];
    }
    if (m->actuator_inparent[i]) {
      // dg = g x d; y = -p(alpha + beta g . phi) g
      djMat3 X = dju_skew(g);
      djVec3 s = dju_mulMtV(X, phi);
      double e[3], l[3];
      dju_store3(e, g);
      dju_store3(l, s);
      for (int r = 0; r < 9; r++) {
        dy.m[r] -= p.f * X.m[r] + p.d * a->beta * e[r / 3] * l[r % 3];
      }
    }
    djMat3 add = dju_mulMM(*JinvT, dy);
    for (int r = 0; r < 9; r++) b->Kstart[r] += add.m[r];
  }
}

bool dj_actuatorColumn(double g[3], int* dof, int* n, const djJointTerms* t, const djModel* m,
                       const djData* d, int i, int part, const double* qpos) {
  if (m->opt.disable & DJ_DSBL_ACTUATION) return false;
  int j = m->actuator_joint[i], type = m->jnt_type[j];
  const djActuatorStep* a = &t->act[i];
  *dof = m->jnt_dofadr[j];
  if (dj_isScalar(type)) {
    if (part > 0) return false;
    double factor, q = qpos[m->jnt_qposadr[j]], psi = q - d->qpos[m->jnt_qposadr[j]];
    djJointTerms copy = *t;
    scalarActuation(&factor, &copy, m, j, psi);
    djJet p = dj_clampForce(m, i, a->alpha + a->beta * psi);
    double dp = a->gain[0] + a->gain[1] * (a->length + a->gear[0] * psi) +
                a->gain[2] * a->gear[0] * psi / t->h;
    *n = 1;
    g[0] = -factor * a->gear[0] * p.d * dp;
    return true;
  }
  if (part > (type == DJ_FREE ? 1 : 0)) return false;
  *n = 3;
  if (type == DJ_FREE && part == 0) {
    double dp = dj_clampForce(m, i, a->alpha).d * a->gain[0];
    for (int r = 0; r < 3; r++) g[r] = -dp * m->actuator_gear[6 * i + r];
    return true;
  }
  if (type == DJ_FREE) *dof += 3;
  djQuat q = dj_rotationOf(m, qpos, j), q0 = dj_rotationOf(m, d->qpos, j);
  djVec3 phi = dju_logQuat(dju_mulQuat(dju_conj(q0), q)), gear = dju_load3(a->gear);
  double psi = dju_dot3(gear, phi);
  djJet p = dj_clampForce(m, i, a->alpha + a->beta * psi);
  double dp = a->gain[0] + a->gain[1] * (a->length + psi) + a->gain[2] * psi / t->h;
  dju_store3(g, dju_mulMtV(dju_rightJacobianInv(phi), dju_scale3(-p.d * dp, gear)));
  return true;
}
