// Actuators on free joints: a force p f on the position and a torque p g, f the gear's first three
// components, g the others in axes of the body where displacements begin (actuator.c). There l = 0,
// and l' = psi/h with the displacement psi = f . x + g . phi, which couples both.

#include "force/actuator.h"

#include "math/block6.h"
#include "math/so3.h"

djFreeDrive dj_freeDrive(const djActuators* t, const djMotion* at, int i) {
  const djModel* m = at->model;
  const djActuatorStep* a = &t->act[i];
  djFreeDrive d;
  double psi[6];
  dj_jointDisplacement(psi, at, m->actuator_joint[i]);
  d.f = dju_load3(m->actuator_gear + 6 * i);
  d.g = dju_load3(a->gear);
  d.x = dju_load3(psi);
  d.phi = dju_load3(psi + 3);
  d.psi = dju_dot3(d.f, d.x) + dju_dot3(d.g, d.phi);
  d.p = dj_clampForce(a, m, i, a->alpha + a->beta * d.psi);
  return d;
}

void dj_addFreeActuators(djForceSum* sum, const djActuators* t, const djMotion* at, int j) {
  const djModel* m = at->model;
  const int dof = m->jnt_dofadr[j], turn = dj_rotationDof(m, j);
  for (int k = t->first[m->ncoord + j]; k < t->first[m->ncoord + j + 1]; k++) {
    const djActuatorStep* a = &t->act[t->order[k]];
    djFreeDrive d = dj_freeDrive(t, at, t->order[k]);
    double slope = -d.p.d * a->beta;
    sum->value -= d.psi * dj_meanForce(m, t->order[k], a, d.psi);
    dju_addTo3(sum->y + dof, -d.p.f, d.f);
    dju_addTo3(sum->y + turn, -d.p.f, d.g);
    if (slope == 0) continue;
    dj_addOuterTo(sum->Y + 3 * (size_t)dof, slope, d.f, d.f);
    dj_addOuterTo(sum->Y + 3 * (size_t)turn, slope, d.g, d.g);
    if (!sum->derivatives) continue;
    djMat3 B = {{0}};   // J_r^-T(phi) g f^T
    dju_addOuter3(&B, slope, dju_mulMtV(dju_rightJacobianInv(d.phi), d.g), d.f);
    for (int e = 0; e < 9; e++) *dj_own(sum->H, turn + e / 3, dof + e % 3) += B.m[e];
  }
}

// dphi = -J_r^-T(phi) d and dx = -d where displacements begin; g turns with in_parent, dg = g x d.
void dj_startFreeActuators(djStartSum* sum, const djActuators* t, const djMotion* at, int j) {
  const djModel* m = at->model;
  const int dof = m->jnt_dofadr[j], turn = dj_rotationDof(m, j);
  for (int k = t->first[m->ncoord + j]; k < t->first[m->ncoord + j + 1]; k++) {
    int i = t->order[k];
    djFreeDrive d = dj_freeDrive(t, at, i);
    double slope = -d.p.d * t->act[i].beta, *Y0 = sum->Yrate + 3 * (size_t)turn;
    djMat3 Jinv = dju_rightJacobianInv(d.phi), X = dju_skew(d.g), by_turn = {{0}}, by_x = {{0}};
    djVec3 dpsi = dju_neg3(dju_mulMV(Jinv, d.g));
    if (m->actuator_inparent[i]) {
      djVec3 turned = dju_mulMtV(X, d.phi);
      for (int r = 0; r < 9; r++) Y0[r] -= d.p.f * X.m[r];
      dj_addOuterTo(Y0, slope, d.g, turned);
      dpsi = dju_add3(dpsi, turned);
    }
    if (slope == 0 || !sum->Rrate) continue;
    dju_addOuter3(&by_turn, slope, d.f, dpsi);
    dju_addOuter3(&by_x, -slope, dju_mulMtV(Jinv, d.g), d.f);
    for (int e = 0; e < 9; e++) {
      *dj_own(sum->Rrate, dof + e / 3, turn + e % 3) += by_turn.m[e];
      *dj_own(sum->Rrate, turn + e / 3, dof + e % 3) += by_x.m[e];
    }
  }
}
