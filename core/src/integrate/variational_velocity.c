// The variational integrator's velocity at the end: that of the discrete momentum there.

#include "base/status.h"
#include "integrate/armature.h"
#include "integrate/tendon_armature.h"
#include "integrate/variational.h"
#include "math/so3.h"
#include "model/momentum.h"

#include <string.h>

static djStatus failInertia(djWork* w) {
  return dj_fail(&w->error, DJ_INVALID, "inertia is singular at the end of the step");
}

// w->mass: M(q+) with all armature; gathered inertia of bodies in w->M.
static djStatus factorMass(djWork* w, const djModel* m) {
  dj_massMatrix(&w->own, w->M, m, &w->now.kin, w->ref);
  for (int i = 0; i < m->nv; i++) {
    int j = m->dof_jnt[i];
    *dj_own(&w->own, i, i) += w->armature[j] - m->jnt_armature[j];
  }
  dj_addTendonMomentum(&w->own, w->shift, w, m);
  return dj_factor(&w->mass, &w->own, NULL) ? DJ_OK : failInertia(w);
}

djStatus dj_solveEndInertia(double* x, djWork* w, const djModel* m) {
  if (!dj_anyTendonArmature(w, m)) {
    bool solved = dj_solveInertia(x, w->articulated, m, &w->now.kin, w->ref, w->armature);
    return solved ? DJ_OK : failInertia(w);
  }
  djStatus status = factorMass(w, m);
  if (status >= 0) dj_solve(x, &w->mass);
  return status;
}

// psi = log(q^-1 q+) is the displacement; armature has momentum A psi/h, in axes of q or q+.
djStatus dj_divideMomentum(double* p, djWork* w, const djModel* m) {
  dj_differentiatePos(w->vnext, m, w->h, w->start.qpos, w->now.q);
  for (int i = 0; i < m->nv; i++) w->qvel[i] += w->armature[m->dof_jnt[i]] * w->vnext[i];
  if (dj_anyTendonArmature(w, m)) dj_addTendonMomentum(&w->own, w->qvel, w, m);
  if (p) memcpy(p, w->qvel, (size_t)m->nv * sizeof(double));
  return dj_solveEndInertia(w->qvel, w, m);
}

djStatus dj_variationalVelocity(djWork* w, const djModel* m) {
  dj_motionSubspace(&w->now.kin, m, w->ref);
  memset(w->qvel, 0, (size_t)m->nv * sizeof(double));
  dj_endMomentum(w->wrench, NULL, NULL, m, w->body, NULL, &w->now.kin, &w->begin.kin, w->ref, w->h);
  dj_gatherWrench(w->wrench, m);
  dj_projectWrench(w->qvel, m, &w->now.kin, w->wrench);
  return dj_divideMomentum(NULL, w, m);
}

// ---- derivatives ------------------------------------------------------------------------------

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

void dj_linearizeEndMomentum(djMatrix* by_end, djMatrix* by_from, djWork* w, const djModel* m,
                             const djPlace* from, const double* momentum) {
  dj_endMomentum(w->wrench, w->N, w->M, m, w->body, momentum, &w->now.kin, &from->kin, w->ref,
                 w->h);
  dj_gatherWrench(w->wrench, m);
  dj_gatherMatrix(w->N, m);
  dj_gatherMatrix(w->M, m);
  dj_projectTurning(by_end, m, &w->now.kin, w->wrench);
  dj_projectMixed(by_end, m, &w->now.kin, &w->now.kin, w->N);
  dj_projectMixed(by_from, m, &w->now.kin, &from->kin, w->M);
}

djStatus dj_sumVelocityTerms(djWork* w, const djModel* m) {
  dj_clearMatrix(&w->Vplus);
  dj_clearMatrix(&w->Vstart);
  dj_bodyMomentum(w->momentum, w->axis_cross, m, &w->now.kin, w->ref, w->qvel);
  dj_linearizeEndMomentum(&w->Vplus, &w->Vstart, w, m, &w->begin, w->momentum);
  djStatus status = factorMass(w, m);
  if (status < 0) return status;
  dj_projectAxisCross(&w->Vplus, -1, m, &w->now.kin, w->M, w->axis_cross);
  addArmature(w, m);
  dj_linearizeTendonMomentum(&w->Vplus, &w->Vstart, w, m);
  dj_bodyMomentum(w->momentum, w->axis_cross, m, &w->begin.kin, w->ref, w->start.qvel);
  return DJ_OK;
}

void dj_solveVelocityTerms(djWork* w, const djModel* m) {
  // at fixed dq+ - E dq, before the solution: see linear.h
  dj_copyMatrix(&w->own, &w->Vplus);
  dj_applyE(&w->own, m, w->vnext, -w->h);
  dj_addMatrix(&w->Vstart, &w->own);
  dj_solveDiagonal(&w->Vplus, &w->mass);
  dj_solveDiagonal(&w->Vstart, &w->mass);
}

djStatus dj_linearizeVariationalVelocity(djWork* w, const djModel* m) {
  djStatus status = dj_sumVelocityTerms(w, m);
  if (status >= 0) dj_solveVelocityTerms(w, m);
  return status;
}
