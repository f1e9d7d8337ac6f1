// Forces that the user applies: xfrc_applied at centres of mass, qfrc_applied along dofs, whose
// work is that over the displacement.

#include "force/force.h"

static void loads(djLoad* load, const djMotion* at) {
  const double* x = at->start->xfrc_applied;
  for (int b = 0; b < at->model->nbody; b++) {
    load[b].force = dju_add3(load[b].force, dju_load3(x + 6 * b));
    load[b].torque = dju_add3(load[b].torque, dju_load3(x + 6 * b + 3));
  }
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
                                    .along = true, .loads = loads, .evaluate = evaluate};
