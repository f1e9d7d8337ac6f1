#include "integrate/variational.h"

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
