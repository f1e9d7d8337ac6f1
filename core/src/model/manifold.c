// The configuration manifold: q (+) v and q2 (-) q1, MuJoCo's layout and frames.

#include "math/so3.h"
#include "model/kinematics.h"

void dj_integratePos(double* qout, const djModel* m, const double* q, const double* v, double s) {
  if (!qout || !m || !q || !v) return;
  for (int j = 0; j < m->njnt; j++) {
    const djJointRow* row = dj_jointRow(m, j);
    int a = m->jnt_qposadr[j], d = m->jnt_dofadr[j];
    for (int k = 0; k < row->nplain; k++, a++, d++) qout[a] = q[a] + s * v[d];
    if (!row->quat) continue;
    djQuat turn = dju_expQuat(dju_scale3(s, dju_load3(v + d)));
    djQuat start = dju_normalizeQuat(dju_loadQuat(q + a));
    dju_storeQuat(qout + a, dju_normalizeQuat(dju_mulQuat(start, turn)));
  }
}

void dj_differentiatePos(double* v, const djModel* m, double s, const double* q1,
                         const double* q2) {
  if (!v || !m || !q1 || !q2) return;
  double f = 1 / s;
  for (int j = 0; j < m->njnt; j++) {
    const djJointRow* row = dj_jointRow(m, j);
    int a = m->jnt_qposadr[j], d = m->jnt_dofadr[j];
    for (int k = 0; k < row->nplain; k++, a++, d++) v[d] = f * (q2[a] - q1[a]);
    if (!row->quat) continue;
    djQuat from = dju_normalizeQuat(dju_loadQuat(q1 + a));
    djQuat to = dju_normalizeQuat(dju_loadQuat(q2 + a));
    dju_store3(v + d, dju_scale3(f, dju_logQuat(dju_mulQuat(dju_conj(from), to))));
  }
}
