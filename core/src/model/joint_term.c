#include "model/joint_term.h"

#include "math/smooth.h"
#include "math/so3.h"

#include <string.h>

// Width over which a limit's spring sets in, as a fraction of the joint's range.
#define LIMIT_WIDTH 0.01

static size_t padded(size_t n) { return (n + 63) & ~(size_t)63; }

size_t dj_jointTermsSize(const djModel* m) {
  return padded((size_t)m->njnt * sizeof(djJointStep)) +
         padded((size_t)m->nu * sizeof(djActuatorStep)) + padded((size_t)m->nu * sizeof(int));
}

djJointTerms dj_initJointTerms(const djModel* m, void* memory) {
  djJointTerms t;
  char* p = memory;
  t.joint = (djJointStep*)(void*)p;
  p += padded((size_t)m->njnt * sizeof(djJointStep));
  t.act = (djActuatorStep*)(void*)p;
  p += padded((size_t)m->nu * sizeof(djActuatorStep));
  t.order = (int*)(void*)p;
  t.h = 0;
  int n = 0;
  for (int j = 0; j < m->njnt; j++) {
    t.joint[j].act0 = n;
    for (int i = 0; i < m->nu; i++) {
      if (m->actuator_joint[i] == j) t.order[n++] = i;
    }
    t.joint[j].nact = n - t.joint[j].act0;
  }
  return t;
}

// ---- start of a step --------------------------------------------------------------------------

static bool isScalar(int type) { return type == DJ_SLIDE || type == DJ_HINGE; }

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

static djQuat rotationOf(const djModel* m, const double* qpos, int j) {
  return dju_normalizeQuat(dju_loadQuat(qpos + dj_rotationQpos(m, j)));
}

// Transmission: length at the start, and the direction of the torque for rotations. l+ = l + gear
// . displacement. MuJoCo's moment of a ball joint is the gear itself; ours follows the
// displacement within the step, a difference of order h.
static void beginTransmission(djActuatorStep* a, const djModel* m, const djData* d, int i) {
  int j = m->actuator_joint[i];
  const double* gear = m->actuator_gear + 6 * i;
  a->length = 0;
  memset(a->gear, 0, sizeof(a->gear));
  if (isScalar(m->jnt_type[j])) {
    a->length = gear[0] * d->qpos[m->jnt_qposadr[j]];
    a->gear[0] = gear[0];
    return;
  }
  djVec3 g = dju_load3(m->jnt_type[j] == DJ_FREE ? gear + 3 : gear);
  djQuat q = rotationOf(m, d->qpos, j);
  if (m->jnt_type[j] == DJ_BALL) a->length = dju_dot3(g, dju_logQuat(q));
  if (m->actuator_inparent[i]) g = dju_mulMtV(dju_quatToMat(q), g);
  dju_store3(a->gear, g);
}

static void beginActuator(djActuatorStep* a, double* act_next, const djModel* m, const djData* d,
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
  if (isScalar(m->jnt_type[m->actuator_joint[i]])) a->beta *= a->gear[0];
}

void dj_beginJointTerms(djJointTerms* t, double* act_next, const djModel* m, const djData* d,
                        double h) {
  t->h = h;
  for (int i = 0; i < m->nu; i++) beginActuator(&t->act[i], act_next, m, d, i, h);
  bool damped = !(m->opt.disable & DJ_DSBL_DAMPER);
  for (int j = 0; j < m->njnt; j++) {
    djJointStep* s = &t->joint[j];
    s->armature = m->jnt_armature[j];
    s->damping[0] = damped ? m->jnt_damping[j] : 0;
    s->damping[1] = damped ? m->jnt_dampingpoly[2 * j] : 0;
    s->damping[2] = damped ? m->jnt_dampingpoly[2 * j + 1] : 0;
    for (int k = s->act0; k < s->act0 + s->nact; k++) {
      int i = t->order[k];
      double g2 = m->actuator_gear[6 * i] * m->actuator_gear[6 * i];
      s->armature += g2 * m->actuator_armature[i];
      if (!damped) continue;
      s->damping[0] += g2 * m->actuator_damping[i];
      s->damping[1] += g2 * m->actuator_dampingpoly[2 * i];
      s->damping[2] += g2 * m->actuator_dampingpoly[2 * i + 1];
    }
    s->limit_width = LIMIT_WIDTH * (m->jnt_type[j] == DJ_BALL
                                        ? m->jnt_range[2 * j + 1]
                                        : m->jnt_range[2 * j + 1] - m->jnt_range[2 * j]);
    if (!(s->limit_width > 1e-9) || !isfinite(s->limit_width)) s->limit_width = 1e-3;
  }
}

// ---- pieces of a block ------------------------------------------------------------------------

// Dissipation of one dof at rate v: damping a v + b v|v| + c v^3 and friction loss F, smoothed
// over a rate of frictionloss_eps.
static djJet dissipation(const djModel* m, const djJointStep* s, int j, double v) {
  double a = s->damping[0], b = s->damping[1], c = s->damping[2], w = fabs(v);
  if (b == 0 && c == 0 && m->jnt_frictionloss[j] == 0) {
    return (djJet){0.5 * a * v * v, a * v, a};
  }
  djJet r = {v * v * (a / 2 + b * w / 3 + c * v * v / 4), v * (a + b * w + c * v * v),
             a + 2 * b * w + 3 * c * v * v};
  double loss = m->jnt_frictionloss[j];
  if (loss > 0 && !(m->opt.disable & DJ_DSBL_FRICTIONLOSS)) {
    djJet f = dju_smoothAbs(v, m->opt.frictionloss_eps);
    r.f += loss * f.f;
    r.d += loss * f.d;
    r.dd += loss * f.dd;
  }
  return r;
}

// Spring along a signed coordinate: f = -(a x + b x^2 + c x^3).
static djJet springPotential(const djModel* m, int j, double x) {
  double a = m->jnt_stiffness[j];
  double b = m->jnt_stiffnesspoly[2 * j], c = m->jnt_stiffnesspoly[2 * j + 1];
  return (djJet){x * x * (a / 2 + x * (b / 3 + x * c / 4)), x * (a + x * (b + x * c)),
                 a + x * (2 * b + x * 3 * c)};
}

static bool hasSpring(const djModel* m, int j) {
  return !(m->opt.disable & DJ_DSBL_SPRING) &&
         (m->jnt_stiffness[j] != 0 || m->jnt_stiffnesspoly[2 * j] != 0 ||
          m->jnt_stiffnesspoly[2 * j + 1] != 0);
}

static bool hasLimit(const djModel* m, int j) {
  return m->jnt_limited[j] && !(m->opt.disable & DJ_DSBL_LIMIT);
}

// y = V'(r) x/r and Y = V'' e e^T + V'/r (I - e e^T) of a radial potential V(|x|).
static void addRadial(double y[3], double Y[9], double* value, djJet V, djVec3 x, double r) {
  *value += V.f;
  double s = r > 1e-12 ? V.d / r : V.dd;
  double e[3] = {0, 0, 0};
  if (r > 1e-12) dju_store3(e, dju_scale3(1 / r, x));
  for (int i = 0; i < 3; i++) {
    y[i] += V.d * e[i];
    for (int k = 0; k < 3; k++) Y[3 * i + k] += (V.dd - s) * e[i] * e[k] + (i == k ? s : 0);
  }
}

// Inertia of the armature, dissipation and applied force on n coordinates with displacement psi:
//   energy A/2 |psi/h - v|^2 + h sum_k D(psi_k/h) - f . psi.
static void addRates(double y[3], double Y[9], double* value, const djJointTerms* t,
                     const djModel* m, const djData* d, int j, int dof, int n,
                     const double* psi) {
  const djJointStep* s = &t->joint[j];
  double h = t->h;
  for (int k = 0; k < n; k++) {
    double rate = psi[k] / h, dv = rate - d->qvel[dof + k], f = d->qfrc_applied[dof + k];
    djJet D = dissipation(m, s, j, rate);
    *value += 0.5 * s->armature * dv * dv + h * D.f - f * psi[k];
    y[k] += s->armature * dv / h + D.d - f;
    Y[4 * k] += s->armature / (h * h) + D.dd / h;
  }
}

// ---- actuators --------------------------------------------------------------------------------

static djJet clampForce(const djModel* m, int i, double p) {
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
    djJet p = clampForce(m, t->order[k], a->alpha + a->beta * psi);
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

static void addScalarActuators(djBlock* b, djJointTerms* t, const djModel* m, int j, double psi,
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
    djJet p = clampForce(m, t->order[k], a->alpha + a->beta * psi);
    b->Kstart[0] += factor * a->gear[0] * a->gear[0] * p.d * a->c2 / t->h;
  }
}

// Torque p gear on a rotation displaced by phi: potential -Integral p d(psi), psi = gear . phi.
static void addRotationActuators(double y[3], double Y[9], double* value, djJointTerms* t,
                                 const djModel* m, int j, const double* phi) {
  const djJointStep* s = &t->joint[j];
  if (m->opt.disable & DJ_DSBL_ACTUATION) return;
  for (int k = s->act0; k < s->act0 + s->nact; k++) {
    djActuatorStep* a = &t->act[t->order[k]];
    double psi = a->gear[0] * phi[0] + a->gear[1] * phi[1] + a->gear[2] * phi[2];
    djJet p = clampForce(m, t->order[k], a->alpha + a->beta * psi);
    *value -= psi * meanForce(m, t->order[k], a, psi);
    a->force = p.f;
    for (int r = 0; r < 3; r++) {
      y[r] -= p.f * a->gear[r];
      for (int c = 0; c < 3; c++) Y[3 * r + c] -= p.d * a->beta * a->gear[r] * a->gear[c];
    }
  }
}

// ---- blocks -----------------------------------------------------------------------------------

// Damping of a limit at speed u into the bound. c: coefficient, F: the spring's force, both at the
// start of the step. Pressing in it is linear, energy rate c u^2/2. On the way out it never
// outweighs the spring: F (sqrt(u^2 + w^2) - w) with w = F/c, which has the same curvature at rest
// and the slope F far from it. Beside value and derivatives by u, the slope's by c and F.
static djJet limitDamping(double* by_c, double* by_F, double u, double c, double F) {
  if (u >= 0 || !(F > 0)) {
    double side = u >= 0 ? 1 : 0;
    *by_c = side * u;
    *by_F = 0;
    return (djJet){0.5 * side * c * u * u, side * c * u, side * c};
  }
  double w = F / c, r = sqrt(u * u + w * w), r3 = r * r * r;
  *by_c = F * u * w * w / (c * r3);
  *by_F = u * u * u / r3;
  return (djJet){F * u * u / (r + w), F * u / r, F * w * w / r3};
}

// Limit of a scalar joint: springs at both bounds, and damping that fades in with the depth at the
// start of the step.
static void addScalarLimit(djBlock* b, const djJointTerms* t, const djModel* m, int j, double q,
                           double psi) {
  double w = t->joint[j].limit_width, h = t->h;
  double k = m->jnt_limit_stiffness[j] * m->jnt_effinertia[j];
  double damping = m->jnt_limit_damping[j] * m->jnt_effinertia[j];
  for (int side = 0; side < 2; side++) {
    double out = side ? 1 : -1;   // direction of pressing in
    double depth = m->jnt_margin[j] + out * (q - m->jnt_range[2 * j + side]);
    double start = depth - out * psi;
    if (depth <= 0 && start <= 0) continue;
    djJet V = dju_softLimit(depth, k, w);
    b->value += V.f;
    b->g[0] += out * V.d;
    b->K[0] += V.dd;
    djJet A = dju_smoothStep(start / w), F = dju_softLimit(start, k, w);
    if (!(A.f > 0)) continue;
    double by_c, by_F;
    djJet D = limitDamping(&by_c, &by_F, out * psi / h, damping * A.f, F.d);
    b->value += h * D.f;
    b->g[0] += out * D.d;
    b->K[0] += D.dd / h;
    b->Kstart[0] += by_c * damping * A.d / w + by_F * F.dd - D.dd / h;
  }
}

static void scalarBlock(djBlock* b, djJointTerms* t, const djModel* m, const djData* d, int j,
                        const double* qpos, bool start) {
  int a = m->jnt_qposadr[j];
  double q = qpos[a], psi = q - d->qpos[a];
  addRates(b->g, b->K, &b->value, t, m, d, j, b->dof, 1, &psi);
  b->Kstart[0] = -b->K[0];
  b->Kvel[0] = -t->joint[j].armature / t->h;
  if (hasSpring(m, j)) {
    djJet V = springPotential(m, j, q - m->qpos_spring[a]);
    b->value += V.f;
    b->g[0] += V.d;
    b->K[0] += V.dd;
  }
  if (hasLimit(m, j)) addScalarLimit(b, t, m, j, q, psi);
  addScalarActuators(b, t, m, j, psi, start);
}

static void translationBlock(djBlock* b, const djJointTerms* t, const djModel* m, const djData* d,
                             int j, const double* qpos) {
  int a = m->jnt_qposadr[j];
  djVec3 p = dju_load3(qpos + a), shift = dju_sub3(p, dju_load3(d->qpos + a));
  double psi[3];
  dju_store3(psi, shift);
  addRates(b->g, b->K, &b->value, t, m, d, j, b->dof, 3, psi);
  for (int k = 0; k < 9; k++) b->Kstart[k] = -b->K[k];
  for (int k = 0; k < 3; k++) b->Kvel[4 * k] = -t->joint[j].armature / t->h;
  if (hasSpring(m, j)) {
    djVec3 x = dju_sub3(p, dju_load3(m->qpos_spring + a));
    double r = dju_norm3(x);
    addRadial(b->g, b->K, &b->value, springPotential(m, j, r), x, r);
  }
  if (m->opt.disable & DJ_DSBL_ACTUATION) return;
  for (int k = t->joint[j].act0; k < t->joint[j].act0 + t->joint[j].nact; k++) {
    int i = t->order[k];
    const djActuatorStep* s = &t->act[i];
    double f = clampForce(m, i, s->alpha).f;
    for (int r = 0; r < 3; r++) {
      b->g[r] -= f * m->actuator_gear[6 * i + r];
      b->value -= f * m->actuator_gear[6 * i + r] * psi[r];
    }
  }
}

// Adds a potential of phi = log(R0^T R+) to the block: gradient and Hessian by R+, and, when
// moving is set, the derivative by R0 -> R0 exp(d).
static void addPulled(djBlock* b, djVec3 phi, const double y[3], const double Y[9], bool moving) {
  djVec3 G;
  djMat3 K, M, Jinv = dju_rightJacobianInv(phi);
  memcpy(M.m, Y, sizeof(M.m));
  dju_pullback(&G, &K, phi, dju_load3(y), &M);
  b->g[0] += G.x;
  b->g[1] += G.y;
  b->g[2] += G.z;
  djMat3 Hx = dju_mulMM(K, Jinv);
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      b->K[3 * r + c] += 0.5 * (Hx.m[3 * r + c] + Hx.m[3 * c + r]);
      if (!moving) continue;
      // -(K J_r^-T)_rc
      b->Kstart[3 * r + c] -= K.m[3 * r] * Jinv.m[3 * c] + K.m[3 * r + 1] * Jinv.m[3 * c + 1] +
                              K.m[3 * r + 2] * Jinv.m[3 * c + 2];
    }
  }
}

// What the start orientation changes beside phi: the length of ball actuators, and the direction
// of gears given in the parent's frame.
static void addStartActuators(djBlock* b, const djJointTerms* t, const djModel* m,
                              const djData* d, int j, djVec3 phi, const djMat3* JinvT) {
  if (m->opt.disable & DJ_DSBL_ACTUATION) return;
  djMat3 Jlog = dju_rightJacobianInv(dju_logQuat(rotationOf(m, d->qpos, j)));
  for (int k = t->joint[j].act0; k < t->joint[j].act0 + t->joint[j].nact; k++) {
    int i = t->order[k];
    const djActuatorStep* a = &t->act[i];
    djVec3 g = dju_load3(a->gear);
    djJet p = clampForce(m, i, a->alpha + a->beta * dju_dot3(g, phi));
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

static void rotationBlock(djBlock* b, djJointTerms* t, const djModel* m, const djData* d, int j,
                          const double* qpos, bool start) {
  djQuat q = rotationOf(m, qpos, j), q0 = rotationOf(m, d->qpos, j);
  djVec3 phi = dju_logQuat(dju_mulQuat(dju_conj(q0), q));
  double psi[3], y[3] = {0}, Y[9] = {0};
  dju_store3(psi, phi);
  addRates(y, Y, &b->value, t, m, d, j, b->dof, 3, psi);
  addRotationActuators(y, Y, &b->value, t, m, j, psi);
  addPulled(b, phi, y, Y, true);
  if (start) {
    djMat3 J = dju_rightJacobianInv(phi), JT;
    for (int r = 0; r < 9; r++) JT.m[r] = J.m[3 * (r % 3) + r / 3];
    for (int r = 0; r < 9; r++) b->Kvel[r] = -t->joint[j].armature / t->h * JT.m[r];
    addStartActuators(b, t, m, d, j, phi, &JT);
  }
  if (hasSpring(m, j)) {
    djQuat rest = dju_normalizeQuat(dju_loadQuat(m->qpos_spring + dj_rotationQpos(m, j)));
    djVec3 x = dju_logQuat(dju_mulQuat(dju_conj(rest), q));
    double r = dju_norm3(x), g[3] = {0}, G[9] = {0};
    addRadial(g, G, &b->value, springPotential(m, j, r), x, r);
    addPulled(b, x, g, G, false);
  }
  if (hasLimit(m, j) && m->jnt_type[j] == DJ_BALL) {
    djVec3 x = dju_logQuat(q);
    double r = dju_norm3(x), g[3] = {0}, G[9] = {0};
    double depth = r - m->jnt_range[2 * j + 1] + m->jnt_margin[j];
    double k = m->jnt_limit_stiffness[j] * m->jnt_effinertia[j];
    addRadial(g, G, &b->value, dju_softLimit(depth, k, t->joint[j].limit_width), x, r);
    addPulled(b, x, g, G, false);
  }
}

int dj_jointTerm(djBlock block[2], djJointTerms* t, const djModel* m, const djData* d, int j,
                 const double* qpos, bool start) {
  int dof = m->jnt_dofadr[j], type = m->jnt_type[j];
  if (isScalar(type)) {
    block->n = 1;
    block->dof = dof;
    block->value = block->g[0] = block->K[0] = block->Kstart[0] = block->Kvel[0] = 0;
    scalarBlock(block, t, m, d, j, qpos, start);
    return 1;
  }
  memset(block, 0, sizeof(djBlock));
  block->dof = dof;
  block->n = 3;
  if (type == DJ_BALL) {
    rotationBlock(block, t, m, d, j, qpos, start);
    return 1;
  }
  translationBlock(block, t, m, d, j, qpos);
  memset(block + 1, 0, sizeof(djBlock));
  block[1].dof = dof + 3;
  block[1].n = 3;
  rotationBlock(block + 1, t, m, d, j, qpos, start);
  return 2;
}

bool dj_actuatorColumn(double g[3], int* dof, int* n, const djJointTerms* t, const djModel* m,
                       const djData* d, int i, int part, const double* qpos) {
  if (m->opt.disable & DJ_DSBL_ACTUATION) return false;
  int j = m->actuator_joint[i], type = m->jnt_type[j];
  const djActuatorStep* a = &t->act[i];
  *dof = m->jnt_dofadr[j];
  if (isScalar(type)) {
    if (part > 0) return false;
    double factor, q = qpos[m->jnt_qposadr[j]], psi = q - d->qpos[m->jnt_qposadr[j]];
    djJointTerms copy = *t;
    scalarActuation(&factor, &copy, m, j, psi);
    djJet p = clampForce(m, i, a->alpha + a->beta * psi);
    double dp = a->gain[0] + a->gain[1] * (a->length + a->gear[0] * psi) +
                a->gain[2] * a->gear[0] * psi / t->h;
    *n = 1;
    g[0] = -factor * a->gear[0] * p.d * dp;
    return true;
  }
  if (part > (type == DJ_FREE ? 1 : 0)) return false;
  *n = 3;
  if (type == DJ_FREE && part == 0) {
    double dp = clampForce(m, i, a->alpha).d * a->gain[0];
    for (int r = 0; r < 3; r++) g[r] = -dp * m->actuator_gear[6 * i + r];
    return true;
  }
  if (type == DJ_FREE) *dof += 3;
  djQuat q = rotationOf(m, qpos, j), q0 = rotationOf(m, d->qpos, j);
  djVec3 phi = dju_logQuat(dju_mulQuat(dju_conj(q0), q)), gear = dju_load3(a->gear);
  double psi = dju_dot3(gear, phi);
  djJet p = clampForce(m, i, a->alpha + a->beta * psi);
  double dp = a->gain[0] + a->gain[1] * (a->length + psi) + a->gain[2] * psi / t->h;
  dju_store3(g, dju_mulMtV(dju_rightJacobianInv(phi), dju_scale3(-p.d * dp, gear)));
  return true;
}

double dj_springEnergy(const djModel* m, const double* qpos) {
  double sum = 0;
  for (int j = 0; j < m->njnt; j++) {
    if (!hasSpring(m, j)) continue;
    int a = m->jnt_qposadr[j];
    if (isScalar(m->jnt_type[j])) {
      sum += springPotential(m, j, qpos[a] - m->qpos_spring[a]).f;
      continue;
    }
    djQuat rest = dju_normalizeQuat(
        dju_loadQuat(m->qpos_spring + dj_rotationQpos(m, j)));
    djVec3 x = dju_logQuat(dju_mulQuat(dju_conj(rest), rotationOf(m, qpos, j)));
    sum += springPotential(m, j, dju_norm3(x)).f;
    if (m->jnt_type[j] == DJ_FREE) {
      djVec3 s = dju_sub3(dju_load3(qpos + a), dju_load3(m->qpos_spring + a));
      sum += springPotential(m, j, dju_norm3(s)).f;
    }
  }
  return sum;
}
