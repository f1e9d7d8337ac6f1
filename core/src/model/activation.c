#include "model/activation.h"

#include <math.h>

static void integratorStep(double* aw, double* au, double tau, double h) {
  (void)tau;
  *aw = 1;
  *au = h;
}

static void filterStep(double* aw, double* au, double tau, double h) {
  *au = h / tau;
  *aw = 1 - *au;
}

static void exactFilterStep(double* aw, double* au, double tau, double h) {
  *au = -expm1(-h / tau);
  *aw = 1 - *au;
}

// Type, name, timed, step, exact.
#define LAWS(X)                                                              \
  X(DJ_DYN_NONE, "none", false, NULL, NULL)                                  \
  X(DJ_DYN_INTEGRATOR, "integrator", false, integratorStep, integratorStep)  \
  X(DJ_DYN_FILTER, "filter", true, filterStep, exactFilterStep)              \
  X(DJ_DYN_FILTEREXACT, "filterexact", true, exactFilterStep, exactFilterStep)

const djDynLaw dj_dynLaws[] = {LAWS(DJ_TYPE_ROW)};
const djChoice dj_dynNames[] = {LAWS(DJ_TYPE_NAME) {NULL, 0}};

const char* dj_dynName(djDyn dyn) { return dj_nameOf(dj_dynNames, (int)dyn); }

djJet dj_controlInput(const djModel* m, const djData* d, int i) {
  double u = d->ctrl[i];
  if (!m->actuator_ctrllimited[i] || (m->opt.disable & DJ_DSBL_CLAMPCTRL)) {
    return (djJet){u, 1, 0};
  }
  return dju_inputClamp(u, m->actuator_ctrlrange[2 * i], m->actuator_ctrlrange[2 * i + 1]);
}

double dj_nextActivation(double* by_act, double* by_ctrl, const djModel* m, const djData* d, int i,
                         double h, bool exact) {
  double aw, au;
  const djDynLaw* law = &dj_dynLaws[m->actuator_dyn[i]];
  (exact ? law->exact : law->step)(&aw, &au, fmax(m->actuator_tau[i], 1e-15), h);
  djJet u = dj_controlInput(m, d, i);
  double x = aw * d->act[m->actuator_actadr[i]] + au * u.f;
  djJet next = {x, 1, 0};
  if (m->actuator_actlimited[i]) {
    next = dju_inputClamp(x, m->actuator_actrange[2 * i], m->actuator_actrange[2 * i + 1]);
  }
  *by_act = next.d * aw;
  *by_ctrl = next.d * au * u.d;
  return next.f;
}

void dj_nextActivations(double* act_next, const djModel* m, const djData* d, double h,
                        bool exact) {
  double by_act, by_ctrl;
  for (int i = 0; i < m->nu; i++) {
    int adr = m->actuator_actadr[i];
    if (adr >= 0) act_next[adr] = dj_nextActivation(&by_act, &by_ctrl, m, d, i, h, exact);
  }
}
