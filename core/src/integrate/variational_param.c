// The variational integrator: derivatives of z . r and of lambda . v+ by the model's parameters.
//
// Forces at q+ are treated as in position_param.c. The balance is zeta . balance with zeta = z
// turned back (variational.c), that is sum_b x_b . W_b with the twists x_b of bodies at the start along
// zeta. A parameter that moves frames at the start moves W_b by M_b and turns x_b with the part of
// the chain below it; with gathered covectors that is dj_frameParamsSecond's form when
//   C_b = M_b^T x_b + (w_x x t + v_x x f, w_x x f),  (t, f) = W_b, (w_x, v_x) = x_b.
// M_b carries momentum, and with it all of the body's twist V_b along v, of which a parameter turns
// only what is below it: the rest is the same form with C = 0, I x_b in place of W_b, v for zeta.
// lambda . v+ = y . (p+ - M(q+) v+) with y = M^-1 lambda held has the same two parts at the end.

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
    dju_store3(to, dju_add3(dju_load3(to), torque));
    dju_store3(to + 3, dju_add3(dju_load3(to + 3), dju_cross3(w, f)));
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
  dj_gatherCovectors(s->C, m, at->ref);
  dj_gatherCovectors(s->W, m, at->ref);
  dj_frameParamsSecond(s->param, m, at, s->C, s->W, s->x, z);
  dj_bodyMomentum(s->W, NULL, m, at->kin, at->ref, z);
  for (int k = 0; k < 6 * m->nbody; k++) s->W[k] *= -scale;
  dj_gatherCovectors(s->W, m, at->ref);
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
    if (!dj_turnOf(&t, w, m, w->q, j)) continue;
    djVec3 turned = dju_mulMV(t.E, dju_load3(z + t.dof));
    dju_store3(zeta + t.dof, turned);
    if (!t.free) continue;
    djVec3 g = dju_mulMV(t.R, turned), Fg = dju_cross3(t.F, g);
    double* up = zeta + t.dof - 3;
    dju_store3(up, dju_add3(dju_load3(up), dju_cross3(g, t.delta)));
    double* ipos = dj_paramBlock(param, m, DJ_FIELD_BODY_IPOS) + 3 * m->jnt_body[j];
    djVec3 turn = dju_sub3(dju_mulMtV(t.Rnext, Fg), dju_mulMtV(t.R, Fg));
    dju_store3(ipos, dju_add3(dju_load3(ipos), turn));
  }
}

djStatus dj_variationalParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  const djBodyStep* drag = w->fluid ? w->drag : NULL;
  djStatus status = dj_forceParams(s, w, m, drag, z);
  if (status < 0) return status;
  if (drag) dj_dragParams(s->param, m, drag, &w->now, &w->kin0, w->ref, s->x, w->h);
  double h = w->h, *zeta = w->pull;
  clear6(s->W, m);
  clear36(w->N, m);
  clear36(w->M, m);
  dj_startMomentum(s->W, w->N, m, w->body, w->momentum, &w->now, &w->kin0, w->ref, h);
  dj_startMomentumStart(w->M, m, w->body, w->momentum, &w->now, &w->kin0, w->ref, h);
  memcpy(w->change, s->W, (size_t)m->nbody * 6 * sizeof(double));
  dj_gatherWrench(w->change, m);
  memset(w->balance, 0, (size_t)m->nv * sizeof(double));
  dj_projectWrench(w->balance, m, &w->kin0, w->change);
  turnBack(zeta, s->param, w, m, z);
  dj_bodyTwists(s->x, m, &w->kin0, zeta);
  const djConfig now = {&w->now, w->q, w->ref}, start = {&w->kin0, w->start.qpos, w->ref};
  clear6(s->C0, m);
  dj_addBodyProducts(s->C0, w->N, m, s->x, true);
  dj_gatherCovectors(s->C0, m, w->ref);
  dj_frameParams(s->param, m, &now, s->C0);
  addFrames(s, m, &start, w->M, zeta, w->start.qvel, 1 / h);
  dj_momentumParams(s->param, s->tensor, m, w->body, &w->start, &w->now, &w->kin0, &w->kin0,
                    w->ref, s->x, s->Cback, 1 / (h * h), 1 / h);
  return DJ_OK;
}

// Armature's part of y . (p+ - M v+): A y . (psi/h - v+), A with gear^2 that of actuators.
static void addArmature(double* param, const djWork* w, const djModel* m, const double* y) {
  double* armature = dj_paramBlock(param, m, DJ_FIELD_JOINT_ARMATURE);
  double* gear = dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_GEAR);
  for (int i = 0; i < m->nv; i++) {
    int j = m->dof_jnt[i];
    const djJointStep* joint = &w->joint.joint[j];
    double g = y[i] * (w->vnext[i] - w->qvel[i]);
    armature[j] += g;
    for (int k = joint->act0; k < joint->act0 + joint->nact; k++) {
      int a = w->joint.order[k];
      gear[6 * a] += 2 * m->actuator_gear[6 * a] * m->actuator_armature[a] * g;
    }
  }
}

djStatus dj_variationalVelocityParams(djParamSums* s, djWork* w, const djModel* m,
                                      const double* lambda) {
  djStatus status = dj_variationalRow.velocity(w, m);
  if (status < 0) return status;
  double *y = w->pull, *momentum = w->change, h = w->h;
  memcpy(y, lambda, (size_t)m->nv * sizeof(double));
  dj_solve(y, &w->mass);
  dj_bodyTwists(s->x, m, &w->now, y);
  dj_bodyMomentum(momentum, NULL, m, &w->now, w->ref, w->qvel);
  dj_endMomentum(s->W, w->N, w->M, m, w->body, momentum, &w->now, &w->kin0, w->ref, h);
  const djConfig now = {&w->now, w->q, w->ref}, start = {&w->kin0, w->start.qpos, w->ref};
  clear6(s->C0, m);
  dj_addBodyProducts(s->C0, w->M, m, s->x, true);
  dj_gatherCovectors(s->C0, m, w->ref);
  dj_frameParams(s->param, m, &start, s->C0);
  addFrames(s, m, &now, w->N, y, w->qvel, 1);
  dj_momentumParams(s->param, s->tensor, m, w->body, NULL, &w->now, &w->kin0, &w->now, w->ref,
                    s->x, s->Cback, 1 / h, 1);
  addArmature(s->param, w, m, y);
  return DJ_OK;
}
