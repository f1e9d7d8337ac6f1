// The method `momentum`: derivatives by the model's parameters.
//
// They act on the residual's part of inertia, i(q+) = D2 L(Q, q+)/h + P b(Q), at fixed Q, and by
// moving Q: through a of ID(q, v, a) = 0, of which with X = di/dQ
//   z . X dQ = y . dID,  y = -h^2/2 M(q)^-1 J_r(s)^T X^T z.

#include "base/status.h"
#include "integrate/armature.h"
#include "integrate/balance.h"
#include "integrate/momentum.h"
#include "integrate/variational.h"
#include "math/so3.h"

#include <string.h>

// f z . i by parameters.
static djStatus addInertia(djParamSums* s, djWork* w, const djModel* m, const double* z, double f) {
  djMatrix* X = &dj_stageOf(w)->linear.M;
  double *x = w->shift, *y = w->V;
  dj_byPrediction(X, w, m);
  memset(y, 0, (size_t)m->nv * sizeof(double));
  dj_mulMatrixT(y, -0.5 * w->h * w->h * f, X, z);
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j);
    if (dof < 0) continue;
    djMat3 J = dju_rightJacobian(dju_load3(w->drift + dof));
    dju_store3(y + dof, dju_mulMtV(J, dju_load3(y + dof)));
  }
  if (!dj_solveInertia(y, w->articulated, m, &w->begin.kin, w->ref, w->armature)) {
    return dj_fail(&w->error, DJ_INVALID, "inertia is singular at the start of the step");
  }
  for (int i = 0; i < m->nv; i++) x[i] = f / w->h * z[i];
  dj_endMomentumParams(s, w, m, &w->ahead, NULL, x);
  for (int i = 0; i < m->nv; i++) x[i] = f * z[i];
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j);
    if (dof < 0) {
      x[m->jnt_dofadr[j]] *= dj_scalarAhead(w, m, &w->now, j).P;
      continue;
    }
    djVec3 pulled = dj_pushAhead(dj_turnAhead(w, m, &w->now, j), dju_load3(x + dof), true);
    dju_store3(x + dof, pulled);
  }
  dj_balanceParams(s, w, m, &w->ahead, x);
  dj_inverseDynamics(NULL, &w->inverse, m, &w->begin.kin, w->ref, w->armature, w->start.qvel, w->A);
  const djConfig start = dj_wantedConfig(s, &w->begin.kin, w->start.qpos, w->ref);
  dj_inverseParams(s->param, s->tensor, s->x, s->C, s->C0, &w->inverse, m, &start, y,
                   w->start.qvel, w->A);
  dj_inertiaAlongParams(s->param, m, y, w->A);
  return DJ_OK;
}

djStatus dj_momentumStepParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  djStatus status = dj_endForceParams(s, w, m, z);
  return status < 0 ? status : addInertia(s, w, m, z, 1);
}

djStatus dj_momentumVelocityParams(djParamSums* s, djWork* w, const djModel* m,
                                   const double* lambda) {
  djStatus status = dj_momentumVelocity(w, m);
  double *y = w->scale, *x = w->shift;
  memcpy(y, lambda, (size_t)m->nv * sizeof(double));
  if (status >= 0) status = dj_solveEndInertia(y, w, m);
  if (status < 0) return status;
  dj_velocityParams(s, w, m, y);
  for (int i = 0; i < m->nv; i++) x[i] = -w->h * y[i];
  dj_balanceParams(s, w, m, &w->now, x);
  return addInertia(s, w, m, y, w->h);
}
