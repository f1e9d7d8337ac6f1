// The variational integrator: derivatives of z . r and of lambda . v+ by the model's parameters.
//
// Forces at q+ are treated as in position_param.c. The balance is zeta . balance with zeta = z
// turned back (variational.c), that is sum_b x_b . W_b with the twists x_b of bodies at the start
// along zeta. A parameter that moves frames at the start moves W_b by M_b and turns x_b with the
// part of the chain below it; with gathered cotangents that is dj_frameParamsSecond's form when
//   C_b = M_b^T x_b + (w_x x t + v_x x f, w_x x f),  (t, f) = W_b, (w_x, v_x) = x_b.
// M_b carries momentum, and with it all of the body's twist V_b along v, of which a parameter turns
// only what is below it: the rest is the same form with C = 0, I x_b in place of W_b, v for zeta.
// lambda . v+ = y . (p+ - M(q+) v+) with y = M^-1 lambda held has the same two parts at the end.

#include "integrate/armature.h"
#include "integrate/tendon_armature.h"
#include "integrate/variational.h"
#include "model/body_param.h"
#include "model/frame_param.h"
#include "model/momentum.h"
#include "model/momentum_param.h"
#include "model/param.h"

#include <string.h>

static void clear6(double* x, const djModel* m) {
  memset(x, 0, (size_t)m->nbody * 6 * sizeof(double));
}

static void clear36(double* N, const djModel* m) {
  memset(N, 0, (size_t)m->nbody * 36 * sizeof(double));
}

// C_b += (w x t + v x f, w x f)
static void addDual(double* C, const djModel* m, const double* x, const double* W) {
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    double* to = C + 6 * b;
    djVec3 w = dju_load3(x + 6 * b), v = dju_load3(x + 6 * b + 3);
    djVec3 t = dju_load3(W + 6 * b), f = dju_load3(W + 6 * b + 3);
    djVec3 torque = dju_add3(dju_cross3(w, t), dju_cross3(v, f));
    dju_addTo3(to, 1, torque);
    dju_addTo3(to + 3, 1, dju_cross3(w, f));
  }
}

// sum_b x_b . W_b, x along z at one configuration, W_b - scale (momentum along qvel), by parameters
// that move frames there. M: derivative of W_b by bodies' twists, momentum carried. Leaves the
// twists along qvel in s->Cback. Overwrites s->W, s->C.
static void addFrames(djParamSums* s, const djModel* m, const djConfig* at,
                      const double* M, const double* z, const double* qvel, double scale) {
  clear6(s->C, m);
  dj_addBodyProducts(s->C, M, m, s->x, true);
  addDual(s->C, m, s->x, s->W);
  dj_gatherCotangents(s->C, m, at->ref);
  dj_gatherCotangents(s->W, m, at->ref);
  dj_frameParamsSecond(s->param, m, at, s->C, s->W, s->x, z);
  dj_bodyMomentum(s->W, NULL, m, at->kin, at->ref, z);
  for (int k = 0; k < 6 * m->nbody; k++) s->W[k] *= -scale;
  dj_gatherCotangents(s->W, m, at->ref);
  dj_bodyTwists(s->Cback, m, at->kin, qvel);
  clear6(s->C, m);
  dj_frameParamsSecond(s->param, m, at, s->C, s->W, s->Cback, qvel);
}

// zeta (nv) <- z turned back to q; adds what moves with the centre of mass of a free joint's body.
static void turnBack(double* zeta, double* param, const djWork* w, const djModel* m,
                     const double* z) {
  memcpy(zeta, z, (size_t)m->nv * sizeof(double));
  for (int j = 0; j < m->njnt; j++) {
    djTurn t;
    if (!dj_turnOf(&t, w, m, w->now.q, j)) continue;
    djVec3 turned = dju_mulMV(t.E, dju_load3(z + t.dof));
    dju_store3(zeta + t.dof, turned);
    if (!t.free) continue;
    djVec3 g = dju_mulMV(t.R, turned), Fg = dju_cross3(t.F, g);
    double* up = zeta + t.dof - 3;
    dju_addTo3(up, 1, dju_cross3(g, t.delta));
    double* ipos = dj_paramBlock(param, m, DJ_FIELD_BODY_IPOS) + 3 * m->jnt_body[j];
    djVec3 turn = dju_sub3(dju_mulMtV(t.Rnext, Fg), dju_mulMtV(t.R, Fg));
    dju_addTo3(ipos, 1, turn);
  }
}

djStatus dj_variationalParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  const djKin *kin = &w->now.kin, *kin0 = &w->begin.kin;
  dj_openPlace(&w->now, m, w->ref);
  djMotion motion = dj_motionAt(w, m, &w->now);
  djStatus status = dj_forceParams(s, &w->forces, &motion, z);
  if (status >= 0) status = dj_alongParams(s, w, &motion, z, 1);
  if (status >= 0) dj_tendonArmatureParams(s, w, &motion, z);
  if (status < 0) return status;
  dj_armatureParams(s->param, w, &motion, z, s->zeta);
  dj_frameForces(s, &motion, z);
  double h = w->h, *zeta = w->nonpotential_now;
  clear6(s->W, m);
  clear36(w->N, m);
  clear36(w->M, m);
  dj_startMomentum(s->W, w->N, m, w->body, w->momentum, kin, kin0, w->ref, h);
  dj_startMomentumStart(w->M, m, w->body, w->momentum, kin, kin0, w->ref, h);
  memcpy(w->momentum_change, s->W, (size_t)m->nbody * 6 * sizeof(double));
  dj_gatherWrench(w->momentum_change, m);
  memset(w->momentum_residual, 0, (size_t)m->nv * sizeof(double));
  dj_projectWrench(w->momentum_residual, m, kin0, w->momentum_change);
  turnBack(zeta, s->param, w, m, z);
  dj_bodyTwists(s->x, m, kin0, zeta);
  const djConfig now = {kin, w->now.q, w->ref}, start = {kin0, w->start.qpos, w->ref};
  clear6(s->C0, m);
  dj_addBodyProducts(s->C0, w->N, m, s->x, true);
  dj_gatherCotangents(s->C0, m, w->ref);
  dj_frameParams(s->param, m, &now, s->C0);
  addFrames(s, m, &start, w->M, zeta, w->start.qvel, 1 / h);
  dj_loadParams(s->param, &w->forces, &motion, &motion.at0, s->x);
  dj_momentumParams(s->param, s->tensor, m, w->body, true, kin, kin0, kin0, w->ref, s->x, s->Cback,
                    1 / (h * h), 1 / h);
  return DJ_OK;
}

// Armature's part of y . (p+ - M v+): A y . (psi/h - v+), A with gear^2 that of actuators.
static void addArmature(double* param, const djWork* w, const djModel* m, const double* y) {
  double* armature = dj_paramBlock(param, m, DJ_FIELD_JOINT_ARMATURE);
  double* gear = dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_GEAR);
  for (int i = 0; i < m->nv; i++) {
    armature[m->dof_jnt[i]] += y[i] * (w->vnext[i] - w->qvel[i]);
  }
  for (int a = 0; a < m->nu; a++) {
    int j = m->actuator_joint[a], t = m->actuator_tendon[a];
    double factor = 2 * m->actuator_gear[6 * a] * m->actuator_armature[a];
    if (t >= 0 && factor != 0) gear[6 * a] += factor * dj_tendonMomentumAlong(w, m, t, y);
    if (j < 0) continue;
    int end = m->jnt_dofadr[j] + dj_jointNv(m->jnt_type[j]);
    for (int i = m->jnt_dofadr[j]; i < end && factor != 0; i++) {
      gear[6 * a] += factor * y[i] * (w->vnext[i] - w->qvel[i]);
    }
  }
}

djStatus dj_variationalVelocityParams(djParamSums* s, djWork* w, const djModel* m,
                                      const double* lambda) {
  djStatus status = dj_variationalVelocity(w, m);
  if (status < 0) return status;
  double *y = w->nonpotential_now, *momentum = w->momentum_change, h = w->h;
  memcpy(y, lambda, (size_t)m->nv * sizeof(double));
  dj_solve(y, &w->mass);
  dj_bodyTwists(s->x, m, &w->now.kin, y);
  dj_bodyMomentum(momentum, NULL, m, &w->now.kin, w->ref, w->qvel);
  dj_endMomentum(s->W, w->N, w->M, m, w->body, momentum, &w->now.kin, &w->begin.kin, w->ref, h);
  const djConfig now = {&w->now.kin, w->now.q, w->ref};
  const djConfig start = {&w->begin.kin, w->start.qpos, w->ref};
  clear6(s->C0, m);
  dj_addBodyProducts(s->C0, w->M, m, s->x, true);
  dj_gatherCotangents(s->C0, m, w->ref);
  dj_frameParams(s->param, m, &start, s->C0);
  addFrames(s, m, &now, w->N, y, w->qvel, 1);
  dj_momentumParams(s->param, s->tensor, m, w->body, false, &w->now.kin, &w->begin.kin, &w->now.kin,
                    w->ref, s->x, s->Cback, 1 / h, 1);
  addArmature(s->param, w, m, y);
  dj_tendonMomentumParams(s, w, m, y);
  return DJ_OK;
}
