// Torques of actuators on free and ball joints in prompt motions (motion.h): p g with the gear g as
// given, or R^T gear of in_parent, R the joint's rotation at the point, l = gear . log R of ball
// joints as MuJoCo has it, and l' = g . phi/h, phi the displacement.
//
// Of free joints the gear has a force f along the position x, too, and l' = (f . x + g . phi)/h.
//
// When R turns by d in itself: d phi = J_r^-1(psi) d (dj_turnSlope), dl = gear . J_r^-1(log R) d,
// dg = g x d. When it does so at the start or where displacements begin, phi alone changes
// (dj_turnStart).

#include "force/actuator.h"

#include "math/block6.h"
#include "math/so3.h"

#include <string.h>

djTurnDrive dj_turnDrive(const djActuators* t, const djMotion* at, int i) {
  const djModel* m = at->model;
  const djActuatorStep* a = &t->act[i];
  int j = m->actuator_joint[i];
  bool ball = !dj_jointRow(m, j)->pose;
  const double* gear = m->actuator_gear + 6 * i;
  djTurnDrive d;
  memset(&d, 0, sizeof d);
  djQuat q = dju_normalizeQuat(dju_loadQuat(at->at.q + dj_rotationQpos(m, j)));
  d.R = dju_quatToMat(q);
  d.gear = d.g = dju_load3(ball ? gear : gear + 3);
  if (m->actuator_inparent[i]) d.g = dju_mulMtV(d.R, d.gear);
  if (ball) {
    d.log = dju_logQuat(q);
    d.length = dju_dot3(d.gear, d.log);
    d.dlength = dju_mulMtV(dju_rightJacobianInv(d.log), d.gear);
  }
  d.phi = dj_turnSince(at, j);
  d.rate = dju_dot3(d.g, d.phi) / at->h;
  if (!ball) {
    double psi[6];
    dj_jointDisplacement(psi, at, j);
    d.force = dju_load3(gear);
    d.x = dju_load3(psi);
    d.rate += dju_dot3(d.force, d.x) / at->h;
  }
  d.p = dj_clampForce(a, m, i, a->alpha + a->c1 * (d.length - a->length) + a->c2 * d.rate);
  return d;
}

// Of free joints: blocks of H that have the force, f times (force, g) by (rate . x, rate . turn).
static void addForces(djMatrix* H, double f, const djTurnDrive* d, int dof, djVec3 by_turn,
                      djVec3 by_x) {
  djMat3 XX = {{0}}, XT = {{0}}, TX = {{0}};
  if (f == 0) return;
  dju_addOuter3(&XX, f, d->force, by_x);
  dju_addOuter3(&XT, f, d->force, by_turn);
  dju_addOuter3(&TX, f, d->g, by_x);
  for (int k = 0; k < 9; k++) {
    int r = dof + k / 3, c = dof + k % 3;
    *dj_own(H, r - 3, c - 3) += XX.m[k];
    *dj_own(H, r - 3, c) += XT.m[k];
    *dj_own(H, r, c - 3) += TX.m[k];
  }
}

static void addTurn(djForceSum* sum, double* gradient, const djActuators* t, const djMotion* at,
                    int i) {
  const djModel* m = at->model;
  const djActuatorStep* a = &t->act[i];
  djTurnDrive d = dj_turnDrive(t, at, i);
  int dof = dj_rotationDof(m, m->actuator_joint[i]);
  djMat3 B = {{0}};
  djVec3 drate = dju_mulMtV(dj_turnSlope(at, m->actuator_joint[i]), d.g);
  if (m->actuator_inparent[i]) {
    djMat3 X = dju_skew(d.g);
    drate = dju_add3(drate, dju_cross3(d.phi, d.g));
    for (int k = 0; k < 9; k++) B.m[k] = -d.p.f * X.m[k];
  }
  dju_addOuter3(&B, -d.p.d * a->c1, d.g, d.dlength);
  dju_addOuter3(&B, -d.p.d * a->c2 / at->h, d.g, drate);
  dju_addTo3(gradient + dof, -d.p.f, d.g);
  for (int k = 0; k < 9; k++) *dj_own(sum->H, dof + k / 3, dof + k % 3) += B.m[k];
  if (!dj_jointRow(m, m->actuator_joint[i])->pose) return;
  dju_addTo3(gradient + dof - 3, -d.p.f, d.force);
  addForces(sum->H, -d.p.d * a->c2 / at->h, &d, dof, drate, d.force);
}

void dj_addTurnActuators(djForceSum* sum, double* gradient, const djActuators* t,
                         const djMotion* at) {
  const djModel* m = at->model;
  for (int k = t->first[m->ncoord]; k < t->first[m->ncoord + m->njnt]; k++) {
    addTurn(sum, gradient, t, at, t->order[k]);
  }
}

void dj_startTurnActuators(djStartSum* sum, const djActuators* t, const djMotion* at) {
  const djModel* m = at->model;
  for (int k = t->first[m->ncoord]; k < t->first[m->ncoord + m->njnt]; k++) {
    int i = t->order[k], dof = dj_rotationDof(m, m->actuator_joint[i]);
    djTurnDrive d = dj_turnDrive(t, at, i);
    double slope = d.p.d * t->act[i].c2 / at->h;
    djMat3 by_start, by_rate, B0 = {{0}}, B = {{0}};
    dj_turnStart(&by_start, &by_rate, at, m->actuator_joint[i]);
    dju_addOuter3(&B0, slope, d.g, dju_mulMtV(by_start, d.g));
    dju_addOuter3(&B, slope, d.g, dju_mulMtV(by_rate, d.g));
    for (int r = 0; r < 9; r++) {
      *dj_own(sum->R0, dof + r / 3, dof + r % 3) += B0.m[r];
      *dj_own(sum->Rrate, dof + r / 3, dof + r % 3) += B.m[r];
    }
    if (!dj_jointRow(m, m->actuator_joint[i])->pose) continue;
    djVec3 none = {0, 0, 0};
    addForces(sum->R0, slope, &d, dof, dju_mulMtV(by_start, d.g), none);
    addForces(sum->Rrate, slope, &d, dof, dju_mulMtV(by_rate, d.g), d.force);
  }
}
