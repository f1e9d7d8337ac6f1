// The tables of gains and biases.

#include "model/muscle.h"

// The numbers are the coefficients; those that a law does not read are 0.
static void setLinear(djLawCoefs* out, const djForceLaw* law, const double* prm,
                      const djLawAt* at) {
  (void)at;
  *out = (djLawCoefs){.by_l = 0};
  for (int k = 0; k < law->nprm; k++) out->c[k] = prm[k];
}

static void linearVjp(double* by_prm, const djForceLaw* law, const double by_c[3],
                      const double* prm, const djLawAt* at) {
  (void)prm, (void)at;
  for (int k = 0; k < law->nprm; k++) by_prm[k] += by_c[k];
}

// Type, name, nprm, bends, set, vjp, problem.
#define GAINS(X)                                                                       \
  X(DJ_GAIN_FIXED, "fixed", 1, false, setLinear, linearVjp, NULL)                      \
  X(DJ_GAIN_AFFINE, "affine", 3, false, setLinear, linearVjp, NULL)                    \
  X(DJ_GAIN_MUSCLE, "muscle", 9, true, dj_muscleGain, dj_muscleGainVjp, dj_muscleProblem)
#define BIASES(X)                                                                      \
  X(DJ_BIAS_NONE, "none", 0, false, setLinear, linearVjp, NULL)                        \
  X(DJ_BIAS_AFFINE, "affine", 3, false, setLinear, linearVjp, NULL)                    \
  X(DJ_BIAS_MUSCLE, "muscle", 9, true, dj_muscleBias, dj_muscleBiasVjp, dj_muscleProblem)

const djForceLaw dj_gainLaws[] = {GAINS(DJ_TYPE_ROW)};
const djForceLaw dj_biasLaws[] = {BIASES(DJ_TYPE_ROW)};
const djChoice dj_gainNames[] = {GAINS(DJ_TYPE_NAME) {NULL, 0}};
const djChoice dj_biasNames[] = {BIASES(DJ_TYPE_NAME) {NULL, 0}};

int dj_firstMuscle(const djModel* m) {
  for (int i = 0; i < m->nu; i++) {
    if (dj_gainLaws[m->actuator_gain[i]].bends || dj_biasLaws[m->actuator_bias[i]].bends ||
        m->actuator_dyn[i] == DJ_DYN_MUSCLE || m->actuator_zadr[i] >= 0) {
      return i;
    }
  }
  return -1;
}

const char* dj_gainName(djGain gain) { return dj_nameOf(dj_gainNames, (int)gain); }
const char* dj_biasName(djBias bias) { return dj_nameOf(dj_biasNames, (int)bias); }
