// The variational integrator's velocity at the end: that of the discrete momentum there.

#include "base/status.h"
#include "integrate/armature.h"
#include "integrate/tendon_armature.h"
#include "integrate/variational.h"
#include "math/so3.h"
#include "model/momentum.h"

#include <string.h>

// psi = log(q^-1 q+) is the displacement; armature has momentum A psi/h, in axes of q or q+.
djStatus dj_variationalVelocity(djWork* w, const djModel* m) {
  int nv = m->nv;
  dj_motionSubspace(&w->now.kin, m, w->ref);
  dj_endMomentum(w->wrench, NULL, NULL, m, w->body, NULL, &w->now.kin, &w->begin.kin, w->ref, w->h);
  dj_gatherWrench(w->wrench, m);
  memset(w->qvel, 0, (size_t)nv * sizeof(double));
  dj_projectWrench(w->qvel, m, &w->now.kin, w->wrench);
  dj_differentiatePos(w->vnext, m, w->h, w->start.qpos, w->now.q);
  dj_massMatrix(&w->own, w->M, m, &w->now.kin, w->ref);
  for (int i = 0; i < nv; i++) {
    double A = w->armature[m->dof_jnt[i]];
    *dj_own(&w->own, i, i) += A - m->jnt_armature[m->dof_jnt[i]];
    w->qvel[i] += A * w->vnext[i];
  }
  dj_addTendonMomentum(&w->own, w->qvel, w, m);
  if (!dj_factor(&w->mass, &w->own, NULL)) {
    return dj_fail(&w->error, DJ_INVALID, "inertia is singular at the end of the step");
  }
  dj_solve(w->qvel, &w->mass);
  return DJ_OK;
}

// Armature's part of p+ - M(q+) v+: d psi by q+ and by q.
static void addArmature(djWork* w, const djModel* m) {
  for (int j = 0; j < m->njnt; j++) {
    double A = w->armature[j] / w->h;
    if (A == 0) continue;
    int rotation = dj_rotationDof(m, j), first = m->jnt_dofadr[j];
    int n = rotation < 0 ? 1 : rotation - first;
    for (int i = first; i < first + n; i++) {
      *dj_own(&w->Vplus, i, i) += A;
      *dj_own(&w->Vstart, i, i) -= A;
    }
    if (rotation < 0) continue;
    djMat3 J = dju_rightJacobianInv(dju_scale3(w->h, dju_load3(w->vnext + rotation)));
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < 3; c++) {
        *dj_own(&w->Vplus, rotation + r, rotation + c) += A * J.m[3 * r + c];
        *dj_own(&w->Vstart, rotation + r, rotation + c) -= A * J.m[3 * c + r];
      }
    }
  }
}

// M(q+) v+ = p+(q, q+): dv+ = M^-1 (d(p+ - M v+)/dq+ dq+ + dp+/dq dq). After linearize.
djStatus dj_linearizeVariationalVelocity(djWork* w, const djModel* m) {
  dj_clearMatrix(&w->Vplus);
  dj_clearMatrix(&w->Vstart);
  dj_bodyMomentum(w->momentum, w->axis_cross, m, &w->now.kin, w->ref, w->qvel);
  dj_endMomentum(w->wrench, w->N, w->M, m, w->body, w->momentum, &w->now.kin, &w->begin.kin,
                 w->ref, w->h);
  dj_gatherWrench(w->wrench, m);
  dj_gatherMatrix(w->N, m);
  dj_gatherMatrix(w->M, m);
  dj_projectTurning(&w->Vplus, m, &w->now.kin, w->wrench);
  dj_projectMixed(&w->Vplus, m, &w->now.kin, &w->now.kin, w->N);
  dj_projectMixed(&w->Vstart, m, &w->now.kin, &w->begin.kin, w->M);
  dj_massMatrix(&w->own, w->M, m, &w->now.kin, w->ref);
  dj_projectAxisCross(&w->Vplus, -1, m, &w->now.kin, w->M, w->axis_cross);
  addArmature(w, m);
  dj_linearizeTendonMomentum(&w->Vplus, &w->Vstart, w, m);
  // at fixed dq+ - E dq, before the solution: see linear.h
  dj_copyMatrix(&w->own, &w->Vplus);
  dj_applyE(&w->own, m, w->vnext, -w->h);
  dj_addMatrix(&w->Vstart, &w->own);
  dj_bodyMomentum(w->momentum, w->axis_cross, m, &w->begin.kin, w->ref, w->start.qvel);
  dj_solveDiagonal(&w->Vplus, &w->mass);
  dj_solveDiagonal(&w->Vstart, &w->mass);
  return DJ_OK;
}
