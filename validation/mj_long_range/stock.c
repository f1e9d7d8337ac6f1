// The loss of a window in MuJoCo: terms "com" at its end. Derivatives: those of the terms, taken
// back through the matrices of mjd_transitionFD of every step, lambda <- A^T lambda.

#include "mj_long_range/long_range.h"

#include <math.h>
#include <string.h>

enum { MAXDOF = 256 };

// Adds weight max(0, |c - target|^2 - tolerance^2) and its derivative by qpos's tangent.
static double addTerm(double* dqpos, const djTaskLoss* loss, const mjModel* m, mjData* d) {
  const djLossTerm* term = &loss->term;
  int body = loss->name ? mj_name2id(m, mjOBJ_BODY, loss->name) : 0;
  if (term->type != DJ_LOSS_COM || term->when != DJ_WHEN_FINAL || body < 0) {
    djv_fail("a loss that is not known here");
  }
  double square = 0, far[3], J[3 * MAXDOF];
  for (int k = 0; k < 3; k++) {
    far[k] = d->subtree_com[3 * body + k] - term->target[k];
    square += far[k] * far[k];
  }
  double value = square - term->tolerance * term->tolerance;
  if (!(value > 0)) return isnan(value) ? value : 0;
  if (dqpos) {
    mj_jacSubtreeCom(m, d, J, body);
    for (int i = 0; i < m->nv; i++) {
      for (int k = 0; k < 3; k++) dqpos[i] += 2 * term->weight * far[k] * J[k * m->nv + i];
    }
  }
  return term->weight * value;
}

static double endLoss(double* dqpos, const Window* w) {
  const mjModel* m = w->scene->m;
  double sum = 0;
  mj_kinematics(m, w->d);
  mj_comPos(m, w->d);
  for (int i = 0; i < w->task.nloss; i++) sum += addTerm(dqpos, &w->task.loss[i], m, w->d);
  return sum;
}

double lr_stock(Window* w, bool gradient) {
  const mjModel* m = w->scene->m;
  const djRollout* r = &w->design->rollout;
  mjData* d = w->d;
  int nv = (int)m->nv, nu = (int)m->nu, nx = 2 * nv + (int)m->na, h = r->horizon;
  double lambda[3 * MAXDOF] = {0}, before[3 * MAXDOF];
  if (nv > MAXDOF || m->na > MAXDOF) djv_fail("%s: too many dofs", w->scene->name);
  mj_resetData(m, d);
  mju_copy(d->qpos, r->qpos0, (int)m->nq);
  if (r->qvel0) mju_copy(d->qvel, r->qvel0, nv);
  for (int k = 0; k < h; k++) {
    double *A = w->A + (size_t)k * (size_t)(nx * nx), *B = w->B + (size_t)k * (size_t)(nx * nu);
    mju_copy(d->ctrl, r->ctrl + k * nu, nu);
    if (gradient) mjd_transitionFD(m, d, 1e-6, 0, A, nu ? B : NULL, NULL, NULL);
    mj_step(m, d);
  }
  double loss = endLoss(gradient ? lambda : NULL, w);
  for (int k = h - 1; k >= 0 && gradient; k--) {
    const double* A = w->A + (size_t)k * (size_t)(nx * nx);
    const double* B = w->B + (size_t)k * (size_t)(nx * nu);
    if (nu) mju_mulMatTVec(w->dctrl + k * nu, B, lambda, nx, nu);
    mju_mulMatTVec(before, A, lambda, nx, nx);
    memcpy(lambda, before, (size_t)nx * sizeof *lambda);
  }
  if (gradient) mju_copy(w->dqpos, lambda, nv);
  if (gradient) mju_copy(w->dqvel, lambda + nv, nv);
  return loss;
}
