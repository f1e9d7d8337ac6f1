// Derivatives of activations after the step and of act_dot (djm_activationSlope): those of the laws
// (law_slope.h) by lengths and velocities go to q and v as forces do (actuator_slope.c).

#include "law_slope.h"
#include "smooth_work.h"

#include <string.h>

// Where matrices are.
typedef struct Rows {
  double *by_q, *by_v, *by_act, *by_ctrl;
  const mjModel* m;
  const mjData* d;
  djmSmoothWork* w;
} Rows;

static void clearRows(const Rows* s) {
  size_t na = (size_t)s->m->na, nv = (size_t)s->m->nv, nu = (size_t)s->m->nu;
  if (s->by_q) memset(s->by_q, 0, na * nv * sizeof(double));
  if (s->by_v) memset(s->by_v, 0, na * nv * sizeof(double));
  if (s->by_act) memset(s->by_act, 0, na * na * sizeof(double));
  if (s->by_ctrl) memset(s->by_ctrl, 0, na * nu * sizeof(double));
}

// y, what row `act` is of, by its variables.
static void ownColumns(const Rows* s, int i, int act, const djmDual* y) {
  const mjModel* m = s->m;
  for (int k = 0; k < m->actuator_actnum[i] && s->by_act; k++) {
    s->by_act[(size_t)act * m->na + m->actuator_actadr[i] + k] = y->d[DJM_ACT + k];
  }
  for (int k = 0; k < m->actuator_ctrlnum[i] && s->by_ctrl; k++) {
    s->by_ctrl[(size_t)act * m->nu + m->actuator_ctrladr[i] + k] = y->d[DJM_CTRL + k];
  }
}

static void lengthColumns(const Rows* s, int act, const djmDual* y) {
  const djmForm* f = &s->w->form;
  double by_l = y->d[DJM_LENGTH], by_v = y->d[DJM_SPEED];
  for (int k = 0; k < f->n; k++) {
    double rate = by_l * f->slope[k];
    for (int j = 0; j < f->n && f->turns; j++) {
      rate += by_v * s->d->qvel[f->dof[j]] * f->hessian[(size_t)j * f->n + k];
    }
    size_t at = (size_t)act * s->m->nv + f->dof[k];
    if (s->by_q) s->by_q[at] = rate;
    if (s->by_v) s->by_v[at] = by_v * f->moment[k];
  }
}

// An orientation's set point after the step: brought back below half a turn.
static void anchor(djmLaw* law) {
  double by[9], act[3] = {law->next[0].x, law->next[1].x, law->next[2].x};
  djm_anchorSlope(by, act);
  djmDual was[3] = {law->next[0], law->next[1], law->next[2]};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < DJM_NDUAL; k++) {
      law->next[i].d[k] =
          by[3 * i] * was[0].d[k] + by[3 * i + 1] * was[1].d[k] + by[3 * i + 2] * was[2].d[k];
    }
  }
}

static djStatus actuatorRows(const Rows* s, int i, bool next, djError* err) {
  const mjModel* m = s->m;
  djmLaw law;
  djm_law(&law, m, s->d, i);
  bool turns = m->actuator_gaintype[i] == mjGAIN_SO3;
  if (turns && next && m->actuator_dyntype[i] == mjDYN_INTEGRATOR) anchor(&law);
  int num = m->actuator_actnum[i];
  const djmDual* y = next ? law.next : law.rate;
  bool moves = false;
  for (int k = 0; k < num; k++) {
    ownColumns(s, i, m->actuator_actadr[i] + k, y + k);
    moves = moves || y[k].d[DJM_LENGTH] != 0 || y[k].d[DJM_SPEED] != 0;
  }
  if (!moves || turns) return DJ_OK;
  djStatus status = djm_transmissionForm(s->w, m, s->d, i, m->actuator_outadr[i], err);
  for (int k = 0; k < num && status == DJ_OK; k++) {
    lengthColumns(s, m->actuator_actadr[i] + k, y + k);
  }
  djm_closeForm(&s->w->form);
  return status;
}

djStatus djm_activationSlope(double* by_q, double* by_v, double* by_act, double* by_ctrl,
                             const mjModel* m, const mjData* d, bool next, djmSmoothWork* w,
                             djError* err) {
  Rows s = {by_q, by_v, by_act, by_ctrl, m, d, w};
  clearRows(&s);
  if (m->opt.disableflags & mjDSBL_ACTUATION) { // activations stay
    for (int i = 0; i < m->na && next && by_act; i++) by_act[(size_t)i * (m->na + 1)] = 1;
    return DJ_OK;
  }
  for (int i = 0; i < m->nactuator; i++) {
    if (m->actuator_actadr[i] < 0) continue;
    djStatus status = actuatorRows(&s, i, next, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}
