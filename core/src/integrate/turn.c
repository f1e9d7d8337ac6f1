#include "integrate/turn.h"

#include "math/so3.h"
#include "model/kinematics.h"

static void rotate(double* y, const djModel* m, const double* psi, djMat3 (*matrix)(djVec3),
                   bool transpose) {
  for (int j = 0; j < m->njnt; j++) {
    int d = dj_rotationDof(m, j);
    if (d < 0) continue;
    djMat3 B = matrix(dju_load3(psi + d));
    djVec3 v = dju_load3(y + d);
    dju_store3(y + d, transpose ? dju_mulMtV(B, v) : dju_mulMV(B, v));
  }
}

static djMat3 turnBack(djVec3 w) { return dju_quatToMat(dju_expQuat(dju_neg3(w))); }

void dj_turnVector(double* y, const djModel* m, const double* psi, bool transpose) {
  rotate(y, m, psi, turnBack, transpose);
}

void dj_pullVector(double* y, const djModel* m, const double* psi, bool transpose) {
  rotate(y, m, psi, dju_rightJacobianInv, transpose);
}

void dj_pushVector(double* y, const djModel* m, const double* psi, bool transpose) {
  rotate(y, m, psi, dju_rightJacobian, transpose);
}

void dj_pushRowsBack(double* Y, int n, const djModel* m, const double* psi) {
  for (int j = 0; j < m->njnt; j++) {
    int d = dj_rotationDof(m, j);
    if (d < 0) continue;
    djMat3 B = dju_rightJacobian(dju_load3(psi + d));
    for (int i = 0; i < n; i++) {
      double* y = Y + (size_t)i * (size_t)m->nv + d;
      dju_store3(y, dju_mulMtV(B, dju_load3(y)));
    }
  }
}
