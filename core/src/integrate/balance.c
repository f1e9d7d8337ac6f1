#include "integrate/balance.h"

#include "math/so3.h"
#include "model/momentum.h"

#include <string.h>

// ---- the turn of a rotation -------------------------------------------------------------------

static djQuat rotation(const djModel* m, const double* qpos, int j) {
  return dju_normalizeQuat(dju_loadQuat(qpos + dj_rotationQpos(m, j)));
}

bool dj_turnOf(djTurn* t, const djWork* w, const djModel* m, const double* q, int j) {
  t->dof = dj_rotationDof(m, j);
  if (t->dof < 0) return false;
  t->free = dj_jointRow(m, j)->pose;
  t->R = dju_quatToMat(rotation(m, w->start.qpos, j));
  t->Rnext = dju_quatToMat(rotation(m, q, j));
  t->E = dju_mulMtM(t->R, t->Rnext);
  t->moved = dju_load3(w->momentum_residual + t->dof);
  if (t->free) {
    t->com = dju_load3(m->body_ipos + 3 * m->jnt_body[j]);
    t->delta = dju_sub3(dju_mulMV(t->Rnext, t->com), dju_mulMV(t->R, t->com));
    t->F = dju_load3(w->momentum_residual + t->dof - 3);
    t->moved = dju_add3(t->moved, dju_mulMtV(t->R, dju_cross3(t->delta, t->F)));
  } else {
    t->com = t->delta = t->F = dju_vec3(0, 0, 0);
  }
  t->turned = dju_mulMtV(t->E, t->moved);
  return true;
}

// Adds B at a dof's own rotation.
static void addTo3(djMatrix* A, int dof, djMat3 B) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) *dj_own(A, dof + r, dof + c) += B.m[3 * r + c];
  }
}

// Rows of a derivative of the balance: E^T (rotation + R^T [delta] translation).
static void turnRows(djMatrix* A, const djWork* w, const djTurn* t) {
  int tree = w->trees.block_of[t->dof], first = w->trees.adr[tree], end = w->trees.adr[tree + 1];
  double *x = dj_ownRow(A, t->dof), *y = dj_ownRow(A, t->dof + 1), *z = dj_ownRow(A, t->dof + 2);
  for (int c = first; c < end; c++) {
    djVec3 v = {x[c], y[c], z[c]};
    if (t->free) {
      djVec3 dF = {*dj_own(A, t->dof - 3, c), *dj_own(A, t->dof - 2, c), *dj_own(A, t->dof - 1, c)};
      v = dju_add3(v, dju_mulMtV(t->R, dju_cross3(t->delta, dF)));
    }
    v = dju_mulMtV(t->E, v);
    x[c] = v.x;
    y[c] = v.y;
    z[c] = v.z;
  }
}

// ---- at a place -------------------------------------------------------------------------------

void dj_projectBalance(double* b, djWork* w, const djModel* m, const djPlace* at) {
  size_t bytes = (size_t)m->nv * sizeof(double);
  memset(w->momentum_residual, 0, bytes);
  dj_gatherWrench(w->momentum_change, m);
  dj_projectWrench(w->momentum_residual, m, &w->begin.kin, w->momentum_change);
  memcpy(b, w->momentum_residual, bytes);
  for (int j = 0; j < m->njnt; j++) {
    djTurn t;
    if (dj_rotationDof(m, j) < 0 || !dj_turnOf(&t, w, m, at->q, j)) continue;
    dju_store3(b + t.dof, t.turned);
  }
}

// By R+ -> R+ exp(d): d delta = -R+ [com] d, and E^T -> exp(-d) E^T adds [turned] d.
static void projectSlopes(djMatrix* A, djWork* w, const djModel* m, const djPlace* at) {
  dj_clearMatrix(A);
  dj_gatherMatrix(w->M, m);
  dj_projectMixed(A, m, &w->begin.kin, &at->kin, w->M);
  for (int j = 0; j < m->njnt; j++) {
    djTurn t;
    if (!dj_turnOf(&t, w, m, at->q, j)) continue;
    turnRows(A, w, &t);
    if (t.free) {
      djMat3 X = dju_mulMM(dju_mulMM(dju_skew(t.F), t.Rnext), dju_skew(t.com));
      addTo3(A, t.dof, dju_mulMtM(t.Rnext, X));
    }
    addTo3(A, t.dof, dju_skew(t.turned));
  }
}

void dj_balance(double* b, djMatrix* A, djWork* w, const djModel* m, const djPlace* at) {
  memset(w->momentum_change, 0, (size_t)m->nbody * 6 * sizeof(double));
  if (A) memset(w->M, 0, (size_t)m->nbody * 36 * sizeof(double));
  dj_startMomentum(w->momentum_change, A ? w->M : NULL, m, w->body, w->momentum, &at->kin,
                   &w->begin.kin, w->ref, w->h);
  dj_projectBalance(b, w, m, at);
  if (A) projectSlopes(A, w, m, at);
}

// ---- by the start -----------------------------------------------------------------------------

// S(q), T and M(q) v move. By R -> R exp(d): d delta = R [com] d, R^T u changes by [R^T u] d, and
// E^T -> E^T exp(d) adds -E^T [moved] d.
void dj_startBalance(djMatrix* Rq, djMatrix* G, djWork* w, const djModel* m, const djPlace* at) {
  const djKin* kin0 = &w->begin.kin;
  dj_clearMatrix(Rq);
  dj_projectTurning(Rq, m, kin0, w->momentum_change);
  memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  dj_startMomentumStart(w->N, m, w->body, w->momentum, &at->kin, kin0, w->ref, w->h);
  dj_gatherMatrix(w->N, m);
  dj_projectMixed(Rq, m, kin0, kin0, w->N);
  // M(q) v: the bodies' part; that of armature is the joints'
  dj_massMatrix(&w->own, w->M, m, kin0, w->ref);
  for (int i = 0; i < m->nv; i++) *dj_own(&w->own, i, i) -= m->jnt_armature[m->dof_jnt[i]];
  dj_bodyMomentum(w->momentum, w->axis_cross, m, kin0, w->ref, w->start.qvel);
  dj_projectAxisCross(Rq, -1 / w->h, m, kin0, w->M, w->axis_cross);
  dj_mirrorMatrix(&w->own);
  dj_scaleMatrix(&w->own, -1 / w->h);
  dj_setDiagonal(G, &w->own);
  for (int j = 0; j < m->njnt; j++) {
    djTurn t;
    if (!dj_turnOf(&t, w, m, at->q, j)) continue;
    turnRows(Rq, w, &t);
    turnRows(G, w, &t);
    djMat3 B = dju_skew(dju_neg3(t.moved));
    if (t.free) {
      djMat3 X = dju_mulMM(dju_mulMM(dju_skew(t.F), t.R), dju_skew(t.com));
      X = dju_mulMtM(t.R, X);
      djMat3 Y = dju_skew(dju_mulMtV(t.R, dju_cross3(t.delta, t.F)));
      for (int k = 0; k < 9; k++) B.m[k] += Y.m[k] - X.m[k];
    }
    addTo3(Rq, t.dof, dju_mulMtM(t.E, B));
  }
}
