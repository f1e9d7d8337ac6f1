#include "model/activation.h"

#include "model/muscle.h"

#include <math.h>

// w+ = aw w + au u
static double linearStep(double by[2], double aw, double au, double w, double u) {
  by[0] = aw;
  by[1] = au;
  return aw * w + au * u;
}

static double integratorStep(double by[2], const djDynNumbers* n, double w, double u, double h) {
  (void)n;
  return linearStep(by, 1, h, w, u);
}

static double filterStep(double by[2], const djDynNumbers* n, double w, double u, double h) {
  double au = h / n->tau;
  return linearStep(by, 1 - au, au, w, u);
}

static double exactFilterStep(double by[2], const djDynNumbers* n, double w, double u, double h) {
  double au = -expm1(-h / n->tau);
  return linearStep(by, 1 - au, au, w, u);
}

// Clipped to w -+ h/tau.
static double slewStep(double by[2], const djDynNumbers* n, double w, double u, double h) {
  double most = h / n->tau;
  if (u > w + most) return linearStep(by, 1, 0, w + most, u);
  if (u < w - most) return linearStep(by, 1, 0, w - most, u);
  return linearStep(by, 0, 1, w, u);
}

// Type, name, timed, step, exact.
#define LAWS(X)                                                              \
  X(DJ_DYN_NONE, "none", false, NULL, NULL)                                  \
  X(DJ_DYN_INTEGRATOR, "integrator", false, integratorStep, integratorStep)  \
  X(DJ_DYN_FILTER, "filter", true, filterStep, exactFilterStep)              \
  X(DJ_DYN_FILTEREXACT, "filterexact", true, exactFilterStep, exactFilterStep) \
  X(DJ_DYN_MUSCLE, "muscle", true, dj_muscleActivation, dj_muscleActivation) \
  X(DJ_DYN_SLEW, "slew", true, slewStep, slewStep)

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
  double by[2], w = d->act[m->actuator_actadr[i]];
  const djDynLaw* law = &dj_dynLaws[m->actuator_dyn[i]];
  djDynNumbers n = {fmax(m->actuator_tau[i], 1e-15), m->actuator_tau_deactivation[i],
                    m->actuator_tau_smooth[i]};
  djJet u = dj_controlInput(m, d, i, kind);
  double x = (kind == DJ_INPUTS_EXACT ? law->exact : law->step)(by, &n, w, u.f, h);
  djJet next = {x, 1, 0};
  if (m->actuator_actlimited[i]) {
    next = clampInput(x, m->actuator_actrange + 2 * i, kind);
  }
  *by_act = next.d * by[0];
  *by_ctrl = next.d * by[1] * u.d;
  return next.f;
}

// Of a hinge or slide, or of a fixed tendon.
djLengthPart dj_lengthPart(const djModel* m, int i, int k) {
  int j = m->actuator_joint[i], t = m->actuator_tendon[i];
  double gear = m->actuator_gear[6 * i];
  if (j < 0) {
    int wrap = m->tendon_adr[t] + k;
    if (k >= m->tendon_num[t]) return (djLengthPart){-1, -1, 0};
    j = m->wrap_objid[wrap];
    gear *= m->wrap_prm[wrap];
  } else if (k > 0) {
    return (djLengthPart){-1, -1, 0};
  }
  return (djLengthPart){m->jnt_dofadr[j], m->jnt_qposadr[j], gear};
}

double dj_plainLength(const djModel* m, const double* qpos, int i) {
  double sum = 0;
  djLengthPart p = dj_lengthPart(m, i, 0);
  for (int k = 0; p.dof >= 0; p = dj_lengthPart(m, i, ++k)) sum += p.gear * qpos[p.qpos];
  return sum;
}

double dj_nextIntegral(djIntegralSlopes* by, const djModel* m, const djData* d, int i, double h,
                       djInputs kind) {
  double z = d->act[m->actuator_zadr[i]], most = m->actuator_integral_limit[i], u;
  *by = (djIntegralSlopes){0, 0, 0, 1};
  if (m->actuator_actadr[i] >= 0) {
    u = dj_nextActivation(&by->act, &by->ctrl, m, d, i, h, kind);
  } else {
    djJet input = dj_controlInput(m, d, i, kind);
    u = input.f;
    by->ctrl = input.d;
  }
  double rate = u - dj_plainLength(m, d->qpos, i);
  bool full = most > 0 && ((z >= most && rate > 0) || (z <= -most && rate < 0));
  double go = full ? 0 : h, next = z + go * rate;
  if (most > 0 && m->actuator_integral_clipped[i] && fabs(next) > most) {
    *by = (djIntegralSlopes){0, 0, 0, 0};
    return next > 0 ? most : -most;
  }
  by->act *= go;
  by->ctrl *= go;
  by->length = -go;
  return next;
}
