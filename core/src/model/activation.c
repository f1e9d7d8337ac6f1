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

static djJet clampInput(double x, const double range[2], djInputs kind) {
  if (kind == DJ_INPUTS_HARD) return dju_clip(x, range[0], range[1]);
  return dju_inputClamp(x, range[0], range[1]);
}

djJet dj_controlInput(const djModel* m, const djData* d, int i, djInputs kind) {
  double u = d->ctrl[i];
  if (!m->actuator_ctrllimited[i] || (m->opt.disable & DJ_DSBL_CLAMPCTRL)) {
    return (djJet){u, 1, 0};
  }
  return clampInput(u, m->actuator_ctrlrange + 2 * i, kind);
}

double dj_nextActivation(double* by_act, double* by_ctrl, const djModel* m, const djData* d, int i,
                         double h, djInputs kind) {
  double aw, au;
  const djDynLaw* law = &dj_dynLaws[m->actuator_dyn[i]];
  (kind == DJ_INPUTS_EXACT ? law->exact : law->step)(&aw, &au, fmax(m->actuator_tau[i], 1e-15), h);
  djJet u = dj_controlInput(m, d, i, kind);
  double x = aw * d->act[m->actuator_actadr[i]] + au * u.f;
  djJet next = {x, 1, 0};
  if (m->actuator_actlimited[i]) {
    next = clampInput(x, m->actuator_actrange + 2 * i, kind);
  }
  *by_act = next.d * aw;
  *by_ctrl = next.d * au * u.d;
  return next.f;
}

void dj_nextActivations(double* act_next, const djModel* m, const djData* d, double h,
                        djInputs kind) {
  double by_act, by_ctrl;
  for (int i = 0; i < m->nu; i++) {
    int adr = m->actuator_actadr[i];
    if (adr >= 0) act_next[adr] = dj_nextActivation(&by_act, &by_ctrl, m, d, i, h, kind);
  }
}
