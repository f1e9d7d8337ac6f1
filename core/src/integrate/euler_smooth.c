// The method `euler`: smooth forces at the start of the step, and how inertia changes with its end.

#include "integrate/euler.h"

#include "math/so3.h"

#include <string.h>

void dj_openSmooth(djWork* w, const djModel* m) {
  w->acting = DJ_ACTS_SMOOTH;
  w->drifts = true;
  w->bends = w->sum.path.acts = dj_anyBends(m);
  w->stage_h = w->h;
  for (int i = 0; i < m->nv; i++) {
    w->drift[i] = -w->h * w->start.qvel[i];
    dj_stageOf(w)->linear.psi[i] = 0;
  }
  memcpy(w->V, w->start.qvel, (size_t)m->nv * sizeof(double));
}

void dj_closeSmooth(djWork* w) {
  w->acting = DJ_ACTS_BOUNDED;
  w->drifts = w->bends = w->sum.path.acts = false;
}

djStatus dj_sumSmooth(double* r, djWork* w, const djModel* m, bool slopes) {
  double value = 0;
  dj_clearForceSum(&w->sum, m);
  w->sum.derivatives = true;
  w->sum.matrices = slopes;
  w->sum.gradient = r;
  if (slopes) dj_clearMatrix(&w->H);
  memset(r, 0, (size_t)m->nv * sizeof(double));
  return dj_sumBalance(&value, r, w, m, &w->begin,
                       slopes ? DJ_BALANCE_HELD : DJ_BALANCE_VALUES);
}

void dj_inertiaSlope(djMatrix* W, djWork* w, const djModel* m, const double* y) {
  const double* psi = dj_stageOf(w)->linear.psi;
  const djMat3 none = {{0}};
  dj_copyMatrix(W, &w->inertia);
  dj_scaleMatrix(W, 1 / (w->h * w->h));
  dj_pullRows(W, m, psi);
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j);
    if (dof < 0) continue;
    djVec3 G;
    djMat3 K;
    dju_pullback(&G, &K, dju_load3(psi + dof), dju_load3(y + dof), &none);
    for (int k = 0; k < 9; k++) *dj_own(W, dof + k / 3, dof + k % 3) += K.m[k];
  }
  dj_applyJrInverse(W, m, psi, 1);
}
