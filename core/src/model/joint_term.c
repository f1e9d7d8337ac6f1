#include "model/joint_term.h"

#include "base/arena.h"
#include "math/smooth.h"
#include "math/so3.h"
#include "model/actuator_term.h"
#include "model/joint_piece.h"

#include <string.h>

static void layout(djJointTerms* t, djArena* a, const djModel* m) {
  t->joint = dj_take(a, m->njnt, sizeof(djJointStep));
  t->act = dj_take(a, m->nu, sizeof(djActuatorStep));
  t->order = dj_take(a, m->nu, sizeof(int));
}

size_t dj_jointTermsSize(const djModel* m) {
  djJointTerms t;
  djArena a = {NULL, 0};
  layout(&t, &a, m);
  return a.used;
}

djJointTerms dj_initJointTerms(const djModel* m, void* memory) {
  djJointTerms t;
  djArena a = {memory, 0};
  layout(&t, &a, m);
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

void dj_beginJointTerms(djJointTerms* t, double* act_next, const djModel* m, const djData* d,
                        double h) {
  t->h = h;
  for (int i = 0; i < m->nu; i++) dj_beginActuator(&t->act[i], act_next, m, d, i, h);
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
    s->limit_width = dj_limitWidth(m, j);
    if (!dj_widthFollows(s->limit_width)) s->limit_width = 1e-3;
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

djJet dj_springPotential(const djModel* m, int j, double x) {
  double a = m->jnt_stiffness[j];
  double b = m->jnt_stiffnesspoly[2 * j], c = m->jnt_stiffnesspoly[2 * j + 1];
  return (djJet){x * x * (a / 2 + x * (b / 3 + x * c / 4)), x * (a + x * (b + x * c)),
                 a + x * (2 * b + x * 3 * c)};
}

bool dj_hasSpring(const djModel* m, int j) {
  return !(m->opt.disable & DJ_DSBL_SPRING) &&
         (m->jnt_stiffness[j] != 0 || m->jnt_stiffnesspoly[2 * j] != 0 ||
          m->jnt_stiffnesspoly[2 * j + 1] != 0);
}

bool dj_hasLimit(const djModel* m, int j) {
  return m->jnt_limited[j] && !(m->opt.disable & DJ_DSBL_LIMIT);
}

void dj_addRadial(double y[3], double Y[9], double* value, djJet V, djVec3 x, double r) {
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

// ---- blocks -----------------------------------------------------------------------------------

djJet dj_limitDamping(double* by_c, double* by_F, double u, double c, double F) {
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
    djJet D = dj_limitDamping(&by_c, &by_F, out * psi / h, damping * A.f, F.d);
    b->value += h * D.f;
    b->g[0] += out * D.d;
    b->K[0] += D.dd / h;
    b->Kstart[0] += by_c * damping * A.d / w + by_F * F.dd - D.dd / h;
  }
}

double dj_limitForce(const djJointTerms* t, const djModel* m, const djData* d, int j,
                     const double* qpos) {
  if (!dj_hasLimit(m, j) || m->jnt_type[j] == DJ_FREE) return 0;
  int adr = m->jnt_qposadr[j];
  if (m->jnt_type[j] != DJ_BALL) {
    djBlock b = {0};
    addScalarLimit(&b, t, m, j, qpos[adr], qpos[adr] - d->qpos[adr]);
    return fabs(b.g[0]);
  }
  double angle = dju_norm3(dju_logQuat(dju_normalizeQuat(dju_loadQuat(qpos + adr))));
  double k = m->jnt_limit_stiffness[j] * m->jnt_effinertia[j];
  return dju_softLimit(angle - m->jnt_range[2 * j + 1] + m->jnt_margin[j], k,
                       t->joint[j].limit_width).d;
}

static void scalarBlock(djBlock* b, djJointTerms* t, const djModel* m, const djData* d, int j,
                        const double* qpos, bool start) {
  int a = m->jnt_qposadr[j];
  double q = qpos[a], psi = q - d->qpos[a];
  addRates(b->g, b->K, &b->value, t, m, d, j, b->dof, 1, &psi);
  b->Kstart[0] = -b->K[0];
  b->Kvel[0] = -t->joint[j].armature / t->h;
  if (dj_hasSpring(m, j)) {
    djJet V = dj_springPotential(m, j, q - m->qpos_spring[a]);
    b->value += V.f;
    b->g[0] += V.d;
    b->K[0] += V.dd;
  }
  if (dj_hasLimit(m, j)) addScalarLimit(b, t, m, j, q, psi);
  dj_addScalarActuators(b, t, m, j, psi, start);
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
  if (dj_hasSpring(m, j)) {
    djVec3 x = dju_sub3(p, dju_load3(m->qpos_spring + a));
    double r = dju_norm3(x);
    dj_addRadial(b->g, b->K, &b->value, dj_springPotential(m, j, r), x, r);
  }
  if (m->opt.disable & DJ_DSBL_ACTUATION) return;
  for (int k = t->joint[j].act0; k < t->joint[j].act0 + t->joint[j].nact; k++) {
    int i = t->order[k];
    const djActuatorStep* s = &t->act[i];
    double f = dj_clampForce(m, i, s->alpha).f;
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

static void rotationBlock(djBlock* b, djJointTerms* t, const djModel* m, const djData* d, int j,
                          const double* qpos, bool start) {
  djQuat q = dj_rotationOf(m, qpos, j), q0 = dj_rotationOf(m, d->qpos, j);
  djVec3 phi = dju_logQuat(dju_mulQuat(dju_conj(q0), q));
  double psi[3], y[3] = {0}, Y[9] = {0};
  dju_store3(psi, phi);
  addRates(y, Y, &b->value, t, m, d, j, b->dof, 3, psi);
  dj_addRotationActuators(y, Y, &b->value, t, m, j, psi);
  addPulled(b, phi, y, Y, true);
  if (start) {
    djMat3 J = dju_rightJacobianInv(phi), JT;
    for (int r = 0; r < 9; r++) JT.m[r] = J.m[3 * (r % 3) + r / 3];
    for (int r = 0; r < 9; r++) b->Kvel[r] = -t->joint[j].armature / t->h * JT.m[r];
    dj_addStartActuators(b, t, m, d, j, phi, &JT);
  }
  if (dj_hasSpring(m, j)) {
    djQuat rest = dju_normalizeQuat(dju_loadQuat(m->qpos_spring + dj_rotationQpos(m, j)));
    djVec3 x = dju_logQuat(dju_mulQuat(dju_conj(rest), q));
    double r = dju_norm3(x), g[3] = {0}, G[9] = {0};
    dj_addRadial(g, G, &b->value, dj_springPotential(m, j, r), x, r);
    addPulled(b, x, g, G, false);
  }
  if (dj_hasLimit(m, j) && m->jnt_type[j] == DJ_BALL) {
    djVec3 x = dju_logQuat(q);
    double r = dju_norm3(x), g[3] = {0}, G[9] = {0};
    double depth = r - m->jnt_range[2 * j + 1] + m->jnt_margin[j];
    double k = m->jnt_limit_stiffness[j] * m->jnt_effinertia[j];
    dj_addRadial(g, G, &b->value, dju_softLimit(depth, k, t->joint[j].limit_width), x, r);
    addPulled(b, x, g, G, false);
  }
}

// A ball or free joint all of whose terms vanish: a loose body's.
static bool isIdle(const djJointTerms* t, const djModel* m, const djData* d, int j) {
  const djJointStep* s = &t->joint[j];
  if (s->armature != 0 || s->nact > 0 || m->jnt_frictionloss[j] != 0) return false;
  if (s->damping[0] != 0 || s->damping[1] != 0 || s->damping[2] != 0) return false;
  if (dj_hasSpring(m, j) || (dj_hasLimit(m, j) && m->jnt_type[j] == DJ_BALL)) return false;
  const double* f = d->qfrc_applied + m->jnt_dofadr[j];
  int n = m->jnt_type[j] == DJ_BALL ? 3 : 6;
  for (int k = 0; k < n; k++) {
    if (f[k] != 0) return false;
  }
  return true;
}

int dj_jointTerm(djBlock block[2], djJointTerms* t, const djModel* m, const djData* d, int j,
                 const double* qpos, bool start) {
  int dof = m->jnt_dofadr[j], type = m->jnt_type[j];
  if (dj_isScalar(type)) {
    block->n = 1;
    block->dof = dof;
    block->value = block->g[0] = block->K[0] = block->Kstart[0] = block->Kvel[0] = 0;
    scalarBlock(block, t, m, d, j, qpos, start);
    return 1;
  }
  if (isIdle(t, m, d, j)) return 0;
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

double dj_springEnergy(const djModel* m, const double* qpos) {
  double sum = 0;
  for (int j = 0; j < m->njnt; j++) {
    if (!dj_hasSpring(m, j)) continue;
    int a = m->jnt_qposadr[j];
    if (dj_isScalar(m->jnt_type[j])) {
      sum += dj_springPotential(m, j, qpos[a] - m->qpos_spring[a]).f;
      continue;
    }
    djQuat rest = dju_normalizeQuat(
        dju_loadQuat(m->qpos_spring + dj_rotationQpos(m, j)));
    djVec3 x = dju_logQuat(dju_mulQuat(dju_conj(rest), dj_rotationOf(m, qpos, j)));
    sum += dj_springPotential(m, j, dju_norm3(x)).f;
    if (m->jnt_type[j] == DJ_FREE) {
      djVec3 s = dju_sub3(dju_load3(qpos + a), dju_load3(m->qpos_spring + a));
      sum += dj_springPotential(m, j, dju_norm3(s)).f;
    }
  }
  return sum;
}
