// The method `euler`: derivatives of its residual r = J^-T R(q, v, a) + dU/dq+ by the start, by
// inputs and by parameters. At a fixed end a = (psi/h - v)/h changes by dpsi = -J^-1 E dq and by v:
//   r_q = U_q+q - W E + J^-T R_q,   G = J^-T (R_v - K/h + h D' a),
// W the derivative of J^-T y by the end, R_q and R_v those of inverse dynamics and smooth forces at
// a fixed acceleration.

#include "integrate/euler.h"
#include "integrate/euler_spin.h"

#include "base/status.h"
#include "math/so3.h"
#include "model/check.h"

#include <string.h>

// psi at `now`, and the acceleration of the step.
static void setAcceleration(djWork* w, const djModel* m) {
  double *psi = w->vnext, h = w->h;
  dj_differentiatePos(psi, m, 1, w->start.qpos, w->now.q);
  for (int i = 0; i < m->nv; i++) w->A[i] = (psi[i] / h - w->start.qvel[i] - w->kick[i]) / h;
}

// y = R at `now`: that of euler.c, where its drift is no longer kept.
static void setBalance(double* y, const djWork* w, const djModel* m) {
  memcpy(y, w->bias, (size_t)m->nv * sizeof(double));
  dj_mulMatrix(y, 1, &w->inertia, w->A);
  dj_addRowForces(y, w);
}

// What the bounded forces change by, at the point of the last evaluation.
static djStatus startBounded(djWork* w, const djModel* m) {
  djMatrix* Rq = &dj_stageOf(w)->linear.Rq;
  djMotion motion = dj_motionAt(w, m, &w->now);
  w->start_sum.R0 = w->start_sum.Rrate = Rq;
  dj_clearMatrix(Rq);
  if (dj_isAhead(w)) return DJ_OK;
  memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  dj_clearStartSum(&w->start_sum, m);
  dj_openPlace(&w->begin, m, w->ref);
  djStatus status = dj_startForces(&w->start_sum, &w->sum, &w->forces, &motion);
  dj_gatherMatrix(w->N, m);
  dj_projectMixed(Rq, m, &w->now.kin, &w->begin.kin, w->N);
  return status;
}

// R_q into H, R_v - K/h + h D' a into G.
static djStatus linearizeSmooth(djWork* w, const djModel* m) {
  djMatrix* G = &dj_stageOf(w)->linear.G;
  double* bend = w->shift;
  dj_openSmooth(w, m);
  dj_clearMatrix(G);
  djStatus status = dj_sumSmooth(w->scale, w, m, true);
  if (status >= 0) status = dj_startBalanced(&w->H, G, w, m, &w->begin);
  if (status >= 0) status = dj_linearizeRows(G, w, m);
  if (status >= 0 && m->opt.implicit == DJ_TERMS_RATES) {
    dj_linearizeRates(&(djRateSlopes){.H = &w->H, .G = G}, w, m);
  }
  dj_closeSmooth(w);
  if (status < 0) return status;
  dj_copyMatrix(&w->own, &w->inertia);
  dj_scaleMatrix(&w->own, -1 / w->h);
  if (dj_dampsAtEnd(m)) {
    dj_jointDamping(w->scale, bend, &w->forces, m, w->start.qvel);
    for (int i = 0; i < m->nv; i++) *dj_own(&w->own, i, i) += w->h * bend[i] * w->A[i];
  }
  dj_addDiagonal(G, &w->own);
  return DJ_OK;
}

// Of lagged contact by q (+) -h v, whose tangent is E dq - h J dv, see position.c. H is empty.
static djStatus addPast(djWork* w, const djModel* m) {
  djStageLinear* linear = &dj_stageOf(w)->linear;
  double h = w->h;
  if (!w->has_past) return DJ_OK;
  djStatus status = dj_pastForces(&w->H, w, m, &w->now);
  if (status < 0) return status;
  dj_applyE(&w->H, m, w->start.qvel, h);
  dj_addMatrix(&linear->Rq, &w->H);
  dj_applyJr(&w->H, m, w->start.qvel, h);
  dj_scaleMatrix(&w->H, -h);
  dj_addMatrix(&linear->G, &w->H);
  dj_clearMatrix(&w->H);
  return DJ_OK;
}

djStatus dj_linearizeEuler(djWork* w, const djModel* m) {
  djStageLinear* linear = &dj_stageOf(w)->linear;
  double* y = w->shift;
  djStatus status = startBounded(w, m);
  if (status < 0) return status;
  setAcceleration(w, m);
  setBalance(y, w, m);
  dj_inertiaSlope(&w->own, w, m, y);
  dj_spinSlopes(&w->own, w, m, w->vnext);
  dj_applyE(&w->own, m, w->vnext, -1);
  dj_scaleMatrix(&w->own, -1);
  dj_addDiagonal(&linear->Rq, &w->own);
  dj_turnRows(&linear->Rq, w, m);
  // H, of which the caller is to add H E to r_q, makes room for R_q: the sum is made here.
  dj_applyE(&w->H, m, w->vnext, -1);
  dj_addMatrix(&linear->Rq, &w->H);
  status = linearizeSmooth(w, m);
  if (status < 0) return status;
  memcpy(linear->psi, w->vnext, (size_t)m->nv * sizeof(double));
  double* masked = w->path_scratch;
  dj_maskSpins(masked, w, m, linear->psi);
  dj_pullRows(&w->H, m, masked);
  dj_pullRows(&linear->G, m, masked);
  dj_turnSpinRows(&w->H, w, m, linear->psi);
  dj_turnSpinRows(&linear->G, w, m, linear->psi);
  dj_addSpinStart(&w->H, w, m, linear->psi, true);
  dj_addSpinStart(&linear->G, w, m, linear->psi, false);
  dj_addMatrix(&linear->Rq, &w->H);
  dj_clearMatrix(&w->H);
  return addPast(w, m);
}

// ---- inputs -----------------------------------------------------------------------------------

// Entries in rows of rotations <- J^-T of them.
static void pullEntries(djEntries* A, const djModel* m, const double* psi) {
  int n = A->n;
  for (int k = 0; k < n; k++) {
    djMatrixEntry* e = &A->entry[k];
    int dof = dj_rotationDof(m, m->dof_jnt[e->row]), row = e->row - dof;
    if (dof < 0 || row < 0) continue;
    djMat3 B = dju_rightJacobianInv(dju_load3(psi + dof));
    double value = e->value;
    int col = e->col;
    e->value *= B.m[4 * row];
    for (int i = 0; i < 3; i++) {
      if (i != row) dj_pushEntry(A, dof + i, col, value * B.m[3 * row + i]);
    }
  }
}

void dj_eulerInputs(djInputSum* sum, djWork* w, const djModel* m) {
  const double* psi = dj_stageOf(w)->linear.psi;
  memcpy(w->vnext, psi, (size_t)m->nv * sizeof(double));
  dj_openSmooth(w, m);
  djMotion motion = dj_motionAt(w, m, &w->begin);
  dj_forceInputs(sum, &w->forces, &motion);
  dj_pushResponses(sum->Ru, w, m);
  dj_pushResponses(sum->Ra, w, m);
  if (m->opt.implicit == DJ_TERMS_RATES) dj_rateInputs(sum, w, m);
  dj_closeSmooth(w);
  memcpy(dj_stageOf(w)->linear.psi, w->vnext, (size_t)m->nv * sizeof(double));
  double* masked = w->path_scratch;
  dj_maskSpins(masked, w, m, w->vnext);
  pullEntries(sum->Ru, m, masked);
  pullEntries(sum->Ra, m, masked);
  dj_turnSpinEntries(sum->Ru, w, m, w->vnext);
  dj_turnSpinEntries(sum->Ra, w, m, w->vnext);
}

// ---- parameters -------------------------------------------------------------------------------

// z . J^-T R = (J^-1 z) . R.
static djStatus smoothParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  double *x = w->scale, *y = w->shift, *dual = w->rows.dual_K;
  memcpy(x, z, (size_t)m->nv * sizeof(double));
  dj_pullVector(x, m, w->vnext, false);
  dj_turnSpinDual(x, w, m, w->vnext, z);
  dj_eulerSpinParams(s, w, m, w->vnext, z);
  dj_openSmooth(w, m);
  dj_rowDual(w, m, x);
  for (int i = 0; i < m->nv; i++) y[i] = x[i] - (w->rows.dual_M[i] - dual[i]);
  djStatus status = dj_balancedParams(s, w, m, &w->begin, y);
  if (status == DJ_UNSUPPORTED) {
    int i = dj_firstAdhesion(m);
    djElementText name = dj_elementText("actuator", dj_id2name(m, DJ_OBJ_ACTUATOR, i), i);
    status = dj_fail(&w->error, status, "%s: no derivatives by shapes while its adhesion acts",
                     name.text);
  }
  if (status >= 0) {
    dj_rowParams(s, w, m, x);
    if (m->opt.implicit == DJ_TERMS_RATES) dj_rateParams(s, w, m, x);
    if (m->opt.implicit == DJ_TERMS_RATES && w->rows.mixed) {
      double* a = w->A;
      w->A = w->rows.by_K;
      dj_rateParams(s, w, m, dual);
      w->A = a;
    }
  }
  dj_closeSmooth(w);
  memcpy(dj_stageOf(w)->linear.psi, w->vnext, (size_t)m->nv * sizeof(double));
  if (status < 0 || !(s->wants & DJ_BY_LAW) || !dj_dampsAtEnd(m)) return status;
  for (int i = 0; i < m->nv; i++) {
    double by_K = w->rows.n > 0 ? dual[i] * w->rows.by_K[i] : 0;
    x[i] = w->h * (x[i] * w->A[i] + by_K);
  }
  dj_jointDampingParams(s->param, m, w->start.qvel, x);
  return DJ_OK;
}

djStatus dj_eulerParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  setAcceleration(w, m);
  memcpy(dj_stageOf(w)->linear.psi, w->vnext, (size_t)m->nv * sizeof(double));
  dj_openRows(w, m);
  djStatus status = smoothParams(s, w, m, z);
  if (status < 0 || dj_isAhead(w)) return status;
  dj_openPlace(&w->now, m, w->ref);
  if (w->has_past) dj_motionSubspace(&w->back.kin, m, w->ref);
  djMotion motion = dj_motionAt(w, m, &w->now);
  status = dj_forceParams(s, &w->forces, &motion, z);
  if (status >= 0) status = dj_alongParams(s, w, &motion, z, 0);
  if (status >= 0) dj_frameForces(s, &motion, z);
  return status;
}
