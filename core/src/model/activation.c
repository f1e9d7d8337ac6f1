#include "model/activation.h"

#include <math.h>

djJet dj_controlInput(const djModel* m, const djData* d, int i) {
  double u = d->ctrl[i];
  if (!m->actuator_ctrllimited[i] || (m->opt.disable & DJ_DSBL_CLAMPCTRL)) {
    return (djJet){u, 1, 0};
  }
  return dju_smoothClamp(u, m->actuator_ctrlrange[2 * i], m->actuator_ctrlrange[2 * i + 1]);
}

// Next activation as a linear function of (w, u), before its clamp: w+ = aw w + au u.
static void activationStep(double* aw, double* au, const djModel* m, int i, double h) {
  double tau = fmax(m->actuator_tau[i], 1e-15);
  *aw = 1;
  *au = 0;
  switch (m->actuator_dyn[i]) {
    case DJ_DYN_INTEGRATOR: *au = h; break;
    case DJ_DYN_FILTER: *au = h / tau; *aw = 1 - *au; break;
    case DJ_DYN_FILTEREXACT: *au = -expm1(-h / tau); *aw = 1 - *au; break;
    default: break;
  }
}

double dj_nextActivation(double* by_act, double* by_ctrl, const djModel* m, const djData* d, int i,
                         double h) {
  double aw, au;
  activationStep(&aw, &au, m, i, h);
  djJet u = dj_controlInput(m, d, i);
  double x = aw * d->act[m->actuator_actadr[i]] + au * u.f;
  djJet next = {x, 1, 0};
  if (m->actuator_actlimited[i]) {
    next = dju_smoothClamp(x, m->actuator_actrange[2 * i], m->actuator_actrange[2 * i + 1]);
  }
  *by_act = next.d * aw;
  *by_ctrl = next.d * au * u.d;
  return next.f;
}

void dj_nextActivations(double* act_next, const djModel* m, const djData* d, double h) {
  double by_act, by_ctrl;
  for (int i = 0; i < m->nu; i++) {
    int adr = m->actuator_actadr[i];
    if (adr >= 0) act_next[adr] = dj_nextActivation(&by_act, &by_ctrl, m, d, i, h);
  }
}
