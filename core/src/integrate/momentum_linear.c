// The method `momentum`: velocity at the end, and derivatives by the start.

#include "base/status.h"
#include "integrate/armature.h"
#include "integrate/balance.h"
#include "integrate/impulse.h"
#include "integrate/momentum.h"
#include "integrate/tendon_armature.h"
#include "integrate/variational.h"
#include "math/so3.h"
#include "model/momentum.h"

#include <string.h>

// ---- velocity ---------------------------------------------------------------------------------

// x (nv) <- P c at `now`.
static void pushCorrection(double* x, const djWork* w, const djModel* m) {
  memcpy(x, w->correction, (size_t)m->nv * sizeof(double));
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j);
    if (dof < 0) {
      x[m->jnt_dofadr[j]] *= dj_scalarAhead(w, m, &w->now, j).P;
      continue;
    }
    djVec3 pushed = dj_pushAhead(dj_turnAhead(w, m, &w->now, j), dju_load3(x + dof), false);
    dju_store3(x + dof, pushed);
  }
}

// Whether the kinetic energy has grown by more than the work of forces, but for a part of it: an
// implicit step loses energy. psi . (i + armature's part) is the work of forces at q+.
static bool winsEnergy(const djWork* w, const djModel* m, const double* inertia, const double* p,
                       double work) {
  double energy = 0;
  for (int i = 0; i < m->nv; i++) {
    double A = w->armature[m->dof_jnt[i]];
    work += w->vnext[i] * (inertia[i] + A * (w->vnext[i] - w->start.qvel[i]));
    energy += 0.5 * w->qvel[i] * p[i];
  }
  double before = w->start_energy;
  return energy - before - work > 1e-3 * (energy + before);
}

// Where it wins energy, as where inertia almost vanishes, no solution is taken for one.
djStatus dj_momentumVelocity(djWork* w, const djModel* m) {
  double *inertia = w->scale, *p = w->shift, h = w->h;
  dj_motionSubspace(&w->now.kin, m, w->ref);
  double work = dj_allMomenta(w->wrench, w->M, w->momentum_change, m, w->end, w->momentum,
                              &w->now.kin, &w->begin.kin, &w->ahead.kin, w->ref, h);
  dj_projectBalance(w->nonpotential, w, m, &w->now);
  dj_gatherWrench(w->M, m);
  dj_gatherWrench(w->wrench, m);
  pushCorrection(inertia, w, m);
  for (int i = 0; i < m->nv; i++) inertia[i] *= h;
  dj_projectWrench(inertia, m, &w->now.kin, w->M);
  for (int i = 0; i < m->nv; i++) w->qvel[i] = inertia[i] - h * w->nonpotential[i];
  dj_projectWrench(w->qvel, m, &w->now.kin, w->wrench);
  djStatus status = dj_divideMomentum(p, w, m);
  if (status < 0 || dj_anyTendonArmature(w, m) || dj_impulseCount(w)) return status;
  return winsEnergy(w, m, inertia, p, work) ? DJ_NOT_CONVERGED : DJ_OK;
}

// ---- derivatives by the prediction ------------------------------------------------------------

// C += A B, of the trees' pattern.
static void addProduct(djMatrix* C, const djMatrix* A, const djMatrix* B) {
  const djBlocks* trees = C->blocks;
  for (int r = 0; r < trees->adr[trees->nblock]; r++) {
    int first = trees->adr[trees->block_of[r]], end = trees->adr[trees->block_of[r] + 1];
    double* restrict to = dj_ownRow(C, r);
    const double* a = dj_ownRow(A, r);
    for (int k = first; k < end; k++) {
      const double f = a[k], *restrict b = dj_ownRow(B, k);
      if (f == 0) continue;
      for (int c = first; c < end; c++) to[c] += f * b[c];
    }
  }
}

static void add3(djMatrix* A, int dof, double f, djMat3 B) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) *dj_own(A, dof + r, dof + c) += f * B.m[3 * r + c];
  }
}

// A <- P A.
static void pushRows(djMatrix* A, const djWork* w, const djModel* m) {
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j), first = dof < 0 ? m->jnt_dofadr[j] : dof;
    int tree = A->blocks->block_of[first], lo = A->blocks->adr[tree], hi = A->blocks->adr[tree + 1];
    double* x = dj_ownRow(A, first);
    if (dof < 0) {
      double P = dj_scalarAhead(w, m, &w->now, j).P;
      for (int c = lo; c < hi; c++) x[c] *= P;
      continue;
    }
    double *y = dj_ownRow(A, dof + 1), *z = dj_ownRow(A, dof + 2);
    djMat3 R = dj_turnAhead(w, m, &w->now, j);
    for (int c = lo; c < hi; c++) {
      djVec3 v = dj_pushAhead(R, dju_vec3(x[c], y[c], z[c]), false);
      x[c] = v.x;
      y[c] = v.y;
      z[c] = v.z;
    }
  }
}

// Adds f times the derivative of P c, c held: by what is at `now`, or by the prediction. By
// R -> R exp(d) it is R [c]/2 - c s^T, by R -> exp(-d) R it is c s^T - [R c]/2.
static void addPushed(djMatrix* A, double f, const djWork* w, const djModel* m, bool ahead) {
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j), first = m->jnt_dofadr[j];
    if (dof < 0) {
      double bend = w->correction[first] * dj_scalarAhead(w, m, &w->now, j).bend;
      *dj_own(A, first, first) += ahead ? -f * bend : f * bend;
      continue;
    }
    djMat3 R = dj_turnAhead(w, m, &w->now, j), K;
    djVec3 c = dju_load3(w->correction + dof);
    double s[3], sign = ahead ? 1 : -1;
    dju_store3(s, dj_sineAhead(R));
    if (ahead) K = dju_skew(dju_neg3(dju_mulMV(R, c)));
    else K = dju_mulMM(R, dju_skew(c));
    for (int k = 0; k < 9; k++) {
      K.m[k] = 0.5 * K.m[k] + sign * w->correction[dof + k / 3] * s[k % 3];
    }
    add3(A, dof, f, K);
  }
}

void dj_byPrediction(djMatrix* X, djWork* w, const djModel* m) {
  dj_motionSubspace(&w->ahead.kin, m, w->ref);
  dj_clearMatrix(X);
  dj_clearMatrix(&w->own);
  dj_linearizeEndMomentum(&w->own, X, w, m, &w->ahead, NULL);
  dj_scaleMatrix(X, 1 / w->h);
  addPushed(X, 1, w, m, true);
  dj_balance(w->nonpotential, &w->own, w, m, &w->ahead);
  pushRows(&w->own, w, m);
  dj_addMatrix(X, &w->own);
}

// ---- derivatives by the start -----------------------------------------------------------------

// Those of the displacement to the prediction, h v + h^2/2 a with ID(q, v, a) = 0.
static djStatus linearizePrediction(djMatrix* by_q, djMatrix* by_v, djWork* w, const djModel* m) {
  djMatrix* M = &dj_stageOf(w)->linear.M;
  double half = -0.5 * w->h * w->h;
  dj_inverseDynamics(w->nonpotential, &w->inverse, m, &w->begin.kin, w->ref, w->armature,
                     w->start.qvel, w->A);
  dj_clearMatrix(by_q);
  dj_clearMatrix(by_v);
  dj_clearMatrix(M);
  dj_inverseDerivatives(by_q, by_v, M, w->N, w->M, &w->inverse, m, &w->begin.kin,
                        w->armature);
  if (!dj_factor(&w->mass, M, NULL)) {
    return dj_fail(&w->error, DJ_INVALID, "inertia is singular at the start of the step");
  }
  dj_solveDiagonal(by_q, &w->mass);
  dj_solveDiagonal(by_v, &w->mass);
  dj_scaleMatrix(by_q, half);
  dj_scaleMatrix(by_v, half);
  for (int i = 0; i < m->nv; i++) *dj_own(by_v, i, i) += w->h;
  return DJ_OK;
}

// i(q+) by the start, directly and through the prediction, into work->Dq and work->Dv:
// dQ = exp(-s) dq + J_r(s) ds, s the displacement.
static djStatus linearizeInertia(djWork* w, const djModel* m) {
  djMatrix *by_q = &w->Vplus, *by_v = &w->Vstart, *X = &dj_stageOf(w)->linear.M, *E = &w->Vrate;
  djStatus status = linearizePrediction(by_q, by_v, w, m);
  if (status < 0) return status;
  dj_byPrediction(X, w, m);
  dj_startBalance(&w->Dq, &w->Dv, w, m, &w->ahead);
  pushRows(&w->Dq, w, m);
  pushRows(&w->Dv, w, m);
  dj_copyMatrix(E, X);
  dj_applyE(E, m, w->drift, -1);
  dj_addMatrix(&w->Dq, E);
  dj_applyJr(X, m, w->drift, 1);
  addProduct(&w->Dq, X, by_q);
  addProduct(&w->Dv, X, by_v);
  return DJ_OK;
}

// After evaluate at `now`.
djStatus dj_linearizeMomentum(djWork* w, const djModel* m) {
  djMatrix *Rq = &dj_stageOf(w)->linear.Rq, *G = &dj_stageOf(w)->linear.G;
  djMotion motion = dj_motionAt(w, m, &w->now);
  djStatus status = linearizeInertia(w, m);
  if (status < 0) return status;
  w->start_sum.R0 = w->start_sum.Rrate = Rq;
  dj_setDiagonal(Rq, &w->Dq);
  dj_setDiagonal(G, &w->Dv);
  memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  dj_clearStartSum(&w->start_sum, m);
  dj_startArmature(&w->start_sum, G, w, &motion);
  dj_startTendonArmature(&w->start_sum, G, w, &motion);
  status = dj_startForces(&w->start_sum, &w->sum, &w->forces, &motion);
  dj_gatherMatrix(w->N, m);
  dj_projectMixed(Rq, m, &w->now.kin, &w->begin.kin, w->N);
  return status;
}

static void addScaled(djMatrix* A, double f, const djMatrix* B) {
  size_t n = dj_packedSize(A->blocks);
  for (size_t k = 0; k < n; k++) A->data[k] += f * B->data[k];
}

// After it: M v+ = D2 L(q, q+) + D2 L(Q, q+) + h (P b(Q) - b(q+)).
djStatus dj_linearizeMomentumVelocity(djWork* w, const djModel* m) {
  djMatrix* A = &dj_stageOf(w)->linear.M;
  djStatus status = dj_sumVelocityTerms(w, m);
  if (status < 0) return status;
  double h = w->h;
  dj_clearMatrix(A);
  dj_linearizeEndMomentum(&w->Vplus, A, w, m, &w->ahead, NULL);
  addPushed(&w->Vplus, h, w, m, false);
  addScaled(&w->Vstart, h, &w->Dq);
  dj_balance(w->nonpotential, A, w, m, &w->now);
  addScaled(&w->Vplus, -h, A);
  dj_startBalance(A, &w->Vrate, w, m, &w->now);
  addScaled(&w->Vstart, -h, A);
  dj_scaleMatrix(&w->Vrate, -h);
  addScaled(&w->Vrate, h, &w->Dv);
  dj_solveVelocityTerms(w, m);
  dj_solveDiagonal(&w->Vrate, &w->mass);
  return DJ_OK;
}
