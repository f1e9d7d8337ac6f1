#include "integrate/armature.h"

#include "force/hold.h"

#include "integrate/tendon_armature.h"
#include "math/so3.h"
#include "model/param.h"

#include <string.h>

void dj_setArmature(djWork* w, const djModel* m) {
  dj_sumArmature(w->armature, m);
  if (!dj_anyTendonArmature(w, m)) return;
  dj_openPlace(&w->begin, m, w->ref);
  for (int t = 0; t < m->ntendon; t++) {
    w->tendon_rate[t] =
        dj_coordinateRate(&w->begin.coord, m, m->tendon_coord[t], w->start.qvel);
  }
}

static double rateOf(const djMotion* at, int c) {
  return (at->at.coord->x[c] - at->at0.coord->x[c]) / at->h;
}

// psi/h - v of a joint's coordinate c.
static double excess(const djMotion* at, int c) {
  return rateOf(at, c) - at->start->qvel[at->model->coord_dof[at->model->coord_dofadr[c]]];
}

static void addJoint(djForceSum* sum, double A, const djMotion* at, int j) {
  const djModel* m = at->model;
  double psi[6], h = at->h;
  int dof = m->jnt_dofadr[j], n = dj_jointNv(m->jnt_type[j]);
  dj_jointDisplacement(psi, at, j);
  dj_pushJoint(sum, m, j);
  for (int k = 0; k < n; k++) {
    double dv = psi[k] / h - at->start->qvel[dof + k];
    sum->value += 0.5 * A * dv * dv;
    sum->y[dof + k] += A * dv / h;
    sum->Y[3 * (dof + k) + k % 3] += A / (h * h);
  }
}

void dj_addArmature(djForceSum* sum, const djWork* w, const djMotion* at) {
  const djModel* m = at->model;
  double frequency = 1 / at->h;
  for (int j = 0; j < m->njnt; j++) {
    double A = w->armature[j];
    int c = m->jnt_coord[j];
    if (A == 0) continue;
    if (c < 0) {
      addJoint(sum, A, at, j);
      continue;
    }
    double dv = excess(at, c), a = A * frequency;
    sum->value += 0.5 * A * dv * dv;
    sum->f[c] += a * dv;
    sum->k[c] += a * frequency;
  }
  for (int t = 0; t < m->ntendon; t++) {
    double A = w->armature[m->njnt + t];
    int c = m->tendon_coord[t];
    if (A == 0) continue;
    double dv = rateOf(at, c) - w->tendon_rate[t], a = A * frequency;
    sum->value += 0.5 * A * dv * dv;
    sum->f[c] += a * dv;
    sum->k[c] += a * frequency;
  }
}

void dj_armatureRates(djStartSum* sum, const djWork* w, const djMotion* at) {
  const djModel* m = at->model;
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_coord[j] >= 0) sum->krate[m->jnt_coord[j]] -= w->armature[j] / (at->h * at->h);
  }
  for (int t = 0; t < m->ntendon; t++) {
    sum->krate[m->tendon_coord[t]] -= w->armature[m->njnt + t] / (at->h * at->h);
  }
}

// That of joints' dofs by the rotation at the start follows from Y.
void dj_startArmature(djStartSum* sum, djMatrix* Rv, const djWork* w, const djMotion* at) {
  const djModel* m = at->model;
  double h = at->h;
  dj_armatureRates(sum, w, at);
  for (int j = 0; j < m->njnt; j++) {
    double A = w->armature[j];
    int dof = m->jnt_dofadr[j], rotation = dj_rotationDof(m, j);
    if (A == 0) continue;
    int end = rotation < 0 ? dof + 1 : rotation;
    for (int i = dof; i < end; i++) *dj_own(Rv, i, i) -= A / h;
    if (rotation < 0) continue;
    djMat3 Jinv = dju_rightJacobianInv(dj_turnSince(at, j));
    for (int r = 0; r < 3; r++) {
      for (int k = 0; k < 3; k++) {
        *dj_own(Rv, rotation + r, rotation + k) -= A / h * Jinv.m[3 * k + r];
      }
    }
  }
}

static double accelerationAlong(const djWork* w, const djMotion* at, int j, const double* z,
                                const double* zeta) {
  const djModel* m = at->model;
  if (j >= m->njnt) {
    int t = j - m->njnt, c = m->tendon_coord[t];
    return dj_coordinateRate(at->at.coord, m, c, z) * (rateOf(at, c) - w->tendon_rate[t]) /
           at->h;
  }
  int dof = m->jnt_dofadr[j];
  if (m->jnt_coord[j] >= 0) return zeta[dof] * excess(at, m->jnt_coord[j]) / at->h;
  double psi[6], sum = 0;
  dj_jointDisplacement(psi, at, j);
  for (int k = 0; k < dj_jointNv(m->jnt_type[j]); k++) {
    sum += zeta[dof + k] * (psi[k] / at->h - at->start->qvel[dof + k]) / at->h;
  }
  return sum;
}

void dj_armatureParams(double* param, const djWork* w, const djMotion* at, const double* z,
                       const double* zeta) {
  const djModel* m = at->model;
  double* armature = dj_paramBlock(param, m, DJ_FIELD_JOINT_ARMATURE);
  double* gear = dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_GEAR);
  for (int j = 0; j < m->njnt; j++) armature[j] += accelerationAlong(w, at, j, z, zeta);
  for (int i = 0; i < m->nu; i++) {
    if (m->actuator_armature[i] == 0) continue;
    double a = accelerationAlong(w, at, dj_armatureTarget(m, i), z, zeta);
    gear[6 * i] += 2 * m->actuator_gear[6 * i] * m->actuator_armature[i] * a;
  }
}

djStatus dj_alongParams(djParamSums* s, djWork* w, const djMotion* at, const double* z,
                        int rates) {
  const djModel* m = at->model;
  int by = DJ_BY_FRAME | DJ_BY_SITE | (dj_holdsOf(&w->forces, m) ? DJ_BY_LAW : 0);
  if (!dj_anyBends(m) || !(s->wants & by)) return DJ_OK;
  dj_clearForceSum(&w->sum, m);
  dj_clearStartSum(&w->start_sum, m);
  if (rates > 0) dj_addArmature(&w->sum, w, at);
  for (int k = 0; k < rates; k++) dj_armatureRates(&w->start_sum, w, at);
  return dj_bendingParams(s, &w->sum, &w->start_sum, &w->forces, at, z);
}

void dj_inertiaAlongParams(double* param, const djModel* m, const double* z, const double* qacc) {
  double* armature = dj_paramBlock(param, m, DJ_FIELD_JOINT_ARMATURE);
  double* gear = dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_GEAR);
  for (int i = 0; i < m->nv; i++) armature[m->dof_jnt[i]] += z[i] * qacc[i];
  for (int a = 0; a < m->nu; a++) {
    int j = m->actuator_joint[a];
    double factor = 2 * m->actuator_gear[6 * a] * m->actuator_armature[a];
    if (j < 0) continue;
    for (int i = m->jnt_dofadr[j]; factor != 0 && i < m->nv && m->dof_jnt[i] == j; i++) {
      gear[6 * a] += factor * z[i] * qacc[i];
    }
  }
}
