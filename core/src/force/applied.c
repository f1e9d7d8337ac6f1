// Forces that the user applies: xfrc_applied at centres of mass, qfrc_applied along dofs, whose
// work is that over the displacement. In prompt motions torques on bodies, which have no energy,
// are wrenches; else they are loads.

#include "force/twist_force.h"

#include <string.h>

static void loads(djLoad* load, const djMotion* at) {
  const double* x = at->start->xfrc_applied;
  for (int b = 0; b < at->model->nbody; b++) {
    load[b].force = dju_add3(load[b].force, dju_load3(x + 6 * b));
    if (!at->prompt) load[b].torque = dju_add3(load[b].torque, dju_load3(x + 6 * b + 3));
  }
}

// Minus the torque that acts on body b; false: there is none.
static bool torqueOn(double g[6], const djMotion* at, int b) {
  memset(g, 0, 6 * sizeof(double));
  if (!at->prompt || at->model->body_lastdof[b] < 0) return false;
  for (int k = 0; k < 3; k++) g[k] = -at->start->xfrc_applied[6 * b + 3 + k];
  return g[0] != 0 || g[1] != 0 || g[2] != 0;
}

static void nonpotential(djForceSum* sum, double* gradient, void* state, const djMotion* at) {
  (void)state, (void)gradient;   // of the sum of twists
  for (int b = 1; b < at->model->nbody; b++) {
    double g[6];
    if (!torqueOn(g, at, b)) continue;
    dj_openTwistForces(sum->twist, at);
    for (int k = 0; k < 6; k++) sum->twist->W[6 * b + k] += g[k];
  }
}

static djStatus params(djParamSums* sums, void* state, const djMotion* at, const double* z,
                       const double* zeta) {
  (void)state, (void)z, (void)zeta;
  for (int b = 1; b < at->model->nbody; b++) {
    double g[6], none[6] = {0};
    if (!torqueOn(g, at, b)) continue;
    dj_openTwistForces(sums->twist, at);
    for (int k = 0; k < 6; k++) sums->W[6 * b + k] += g[k];
    dj_addTwistCotangent(sums->twist, sums, b, none, none, g);
  }
  return DJ_OK;
}

static djStatus evaluate(djForceSum* sum, void* state, const djMotion* at) {
  (void)state;
  const djModel* m = at->model;
  const double* f = at->start->qfrc_applied;
  for (int c = 0; c < m->ncoord; c++) {
    if (m->coord_type[c] != DJ_COORD_JOINT) continue;
    double force = f[m->coord_dof[m->coord_dofadr[c]]];
    if (force == 0) continue;
    sum->f[c] -= force;
    sum->value -= force * (at->at.coord->x[c] - at->rate.coord->x[c]);
  }
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_coord[j] >= 0) continue;
    double psi[6];
    int dof = m->jnt_dofadr[j], n = dj_jointNv(m->jnt_type[j]);
    bool any = false;
    for (int k = 0; k < n; k++) any |= f[dof + k] != 0;
    if (!any) continue;
    dj_pushJoint(sum, m, j);
    dj_jointDisplacement(psi, at, j);
    for (int k = 0; k < n; k++) {
      sum->y[dof + k] -= f[dof + k];
      sum->value -= f[dof + k] * psi[k];
    }
  }
  return DJ_OK;
}

const djForceRow dj_appliedForce = {.name = "applied",
                                    .along = true,
                                    .loads = loads,
                                    .evaluate = evaluate,
                                    .nonpotential = nonpotential,
                                    .params = params,
                                    .params_of = DJ_BY_FRAME};
