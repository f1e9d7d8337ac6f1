#include "contact/kernel.h"

#include "base/status.h"

#include <string.h>

bool dj_kernelTakes(const djKernel* kernel, int type) {
  for (int t = 0; t < DJ_NGEOMTYPE; t++) {
    if (kernel->takes(type, t) || kernel->takes(t, type)) return true;
  }
  return false;
}

djTraits dj_traitsUnder(const djKernel* kernel, const double* setting) {
  djTraits traits = kernel->traits;
  if (kernel->vary) kernel->vary(&traits, setting);
  return traits;
}

// ------------------------------------------ entries --------------------------------------------

djStatus dj_beginPair(const djKernel* kernel, djPairState* state, const djPairInput* in) {
  return kernel->begin ? kernel->begin(state, in) : DJ_OK;
}

djStatus dj_startPair(double start_jac[144], double rate_jac[144], const djKernel* kernel,
                      djPairState* state, const djPairInput* in) {
  if (kernel->start) return kernel->start(start_jac, rate_jac, state, in);
  memset(start_jac, 0, 144 * sizeof(double));
  if (rate_jac) memset(rate_jac, 0, 144 * sizeof(double));
  return DJ_OK;
}

djStatus dj_reportPair(djPairReport* out, const djKernel* kernel, djPairState* state,
                       const djPairInput* in) {
  if (kernel->report) return kernel->report(out, state, in);
  memset(out, 0, sizeof *out);
  djPairOutput sum = {.twist_jac = NULL};
  djDistance d;
  djStatus solved = kernel->eval(&sum, state, in, DJ_EVAL_GRADIENT);
  if (solved < 0) return solved;
  djGeomPair pair = {.a = in->a, .b = in->b, .pose_a = in->pose_a, .pose_b = in->pose_b,
                     .inflate = in->inflate, .scratch = in->scratch};
  djStatus status = kernel->gap(&d, NULL, &pair);
  if (status < 0) return status;
  *out = (djPairReport){.gap = d.gap, .gap_start = d.gap, .normal = d.normal};
  out->point = dju_scale3(0.5, dju_add3(d.point_a, d.point_b));
  for (int k = 0; k < 6 && sum.active; k++) {
    out->wrench_a[k] = -sum.gradient[k];
    out->wrench_b[k] = -sum.gradient[6 + k];
  }
  out->normal_force = dju_dot3(d.normal, dju_load3(out->wrench_b + 3));
  return solved;
}

// ------------------------------------------ settings -------------------------------------------

bool dj_settingsValid(const djKernel* kernel, const double* setting) {
  for (int i = 0; i < kernel->settings->n; i++) {
    if (!dj_settingInRange(&kernel->settings->row[i], setting[i])) return false;
  }
  return true;
}

// What its preset gives for a setting, given those before it; 0: nothing.
static double presetFor(const djKernel* kernel, const double* setting, int i) {
  return kernel->preset && i > 0 ? kernel->preset[(int)setting[0]].value[i] : 0;
}

void dj_fillByRules(double* setting, const djKernel* kernel, const djContactScale* scale,
                    const double* given) {
  for (int i = 0; i < kernel->settings->n; i++) {
    double (*rule)(const djContactScale*, const double*) = kernel->settings->rule[i].rule;
    double preset = presetFor(kernel, setting, i);
    if (given[i] >= 0) setting[i] = given[i];
    else if (preset > 0) setting[i] = preset;
    else setting[i] = rule ? rule(scale, setting) : kernel->settings->row[i].standard[0];
  }
}

djStatus dj_applyRules(double* setting, const djKernel* kernel, const djContactScale* scale,
                       const double* given, djError* err) {
  dj_fillByRules(setting, kernel, scale, given);
  const char* conflict = kernel->conflict ? kernel->conflict(scale, given) : NULL;
  if (conflict) return dj_fail(err, DJ_INVALID, "%s", conflict);
  for (int i = 0; i < kernel->settings->n; i++) {
    const djSetting* row = &kernel->settings->row[i];
    if (dj_settingInRange(row, setting[i])) continue;
    djProblemText what;
    const char* problem = dj_rowProblem(&what, row, &setting[i], false);
    return dj_fail(err, DJ_INVALID, "%s %s", row->name, problem ? problem : "is impossible");
  }
  return DJ_OK;
}
