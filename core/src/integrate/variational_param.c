// The variational integrator: derivatives of z . r and of lambda . v+ by the model's parameters.
//
// Forces at q+ are treated as in position_param.c, the balance in balance_param.c;
// lambda . v+ = y . (p+ - M(q+) v+) with y = M^-1 lambda held has the same two parts at the end.

#include "integrate/armature.h"
#include "integrate/balance.h"
#include "integrate/tendon_armature.h"
#include "integrate/variational.h"
#include "model/body_param.h"
#include "model/frame_param.h"
#include "model/momentum.h"
#include "model/momentum_param.h"
#include "model/param.h"

#include <string.h>

djStatus dj_endForceParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  dj_openPlace(&w->now, m, w->ref);
  djMotion motion = dj_motionAt(w, m, &w->now);
  djStatus status = dj_forceParams(s, &w->forces, &motion, z);
  if (status >= 0) status = dj_alongParams(s, w, &motion, z, 1);
  if (status >= 0) dj_tendonArmatureParams(s, w, &motion, z);
  if (status < 0) return status;
  dj_armatureParams(s->param, w, &motion, z, s->zeta);
  dj_frameForces(s, &motion, z);
  return DJ_OK;
}

djStatus dj_variationalParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  djStatus status = dj_endForceParams(s, w, m, z);
  if (status >= 0) dj_balanceParams(s, w, m, &w->now, z);
  return status;
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

void dj_endMomentumParams(djParamSums* s, djWork* w, const djModel* m, const djPlace* from,
                          const double* qvel, const double* z) {
  double *carried = w->momentum_change, h = w->h, scale = qvel ? 1 : 0;
  dj_bodyTwists(s->x, m, &w->now.kin, z);
  if (qvel) dj_bodyMomentum(carried, NULL, m, &w->now.kin, w->ref, qvel);
  dj_endMomentum(s->W, w->N, w->M, m, w->body, qvel ? carried : NULL, &w->now.kin, &from->kin,
                 w->ref, h);
  const djConfig now = dj_wantedConfig(s, &w->now.kin, w->now.q, w->ref);
  const djConfig start = dj_wantedConfig(s, &from->kin, from->q, w->ref);
  memset(s->C0, 0, (size_t)m->nbody * 6 * sizeof(double));
  dj_addBodyProducts(s->C0, w->M, m, s->x, true);
  dj_gatherCotangents(s->C0, m, w->ref);
  dj_frameParams(s->param, m, &start, s->C0);
  dj_momentumFrames(s, m, &now, w->N, z, qvel ? qvel : z, scale);
  dj_momentumParams(s->param, s->tensor, m, w->body, false, &w->now.kin, &from->kin, &w->now.kin,
                    w->ref, s->x, s->Cback, 1 / h, scale);
}

void dj_velocityParams(djParamSums* s, djWork* w, const djModel* m, const double* y) {
  dj_endMomentumParams(s, w, m, &w->begin, w->qvel, y);
  addArmature(s->param, w, m, y);
  dj_tendonMomentumParams(s, w, m, y);
}

djStatus dj_variationalVelocityParams(djParamSums* s, djWork* w, const djModel* m,
                                      const double* lambda) {
  djStatus status = dj_variationalVelocity(w, m);
  double* y = w->scale;
  memcpy(y, lambda, (size_t)m->nv * sizeof(double));
  if (status >= 0) status = dj_solveEndInertia(y, w, m);
  if (status >= 0) dj_velocityParams(s, w, m, y);
  return status;
}
