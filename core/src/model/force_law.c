// The tables of gains and biases.

#include "model/force_law.h"

// The numbers are the coefficients; those that a law does not read are 0.
static void setLinear(double c[3], const djForceLaw* law, const double prm[3]) {
  for (int k = 0; k < 3; k++) c[k] = k < law->nprm ? prm[k] : 0;
}

static void linearVjp(double by_prm[3], const djForceLaw* law, const double by_c[3],
                      const double prm[3]) {
  (void)prm;
  for (int k = 0; k < law->nprm; k++) by_prm[k] += by_c[k];
}

// Type, name, nprm, set, vjp, problem.
#define GAINS(X)                                            \
  X(DJ_GAIN_FIXED, "fixed", 1, setLinear, linearVjp, NULL)  \
  X(DJ_GAIN_AFFINE, "affine", 3, setLinear, linearVjp, NULL)
#define BIASES(X)                                           \
  X(DJ_BIAS_NONE, "none", 0, setLinear, linearVjp, NULL)    \
  X(DJ_BIAS_AFFINE, "affine", 3, setLinear, linearVjp, NULL)

const djForceLaw dj_gainLaws[] = {GAINS(DJ_TYPE_ROW)};
const djForceLaw dj_biasLaws[] = {BIASES(DJ_TYPE_ROW)};
const djChoice dj_gainNames[] = {GAINS(DJ_TYPE_NAME) {NULL, 0}};
const djChoice dj_biasNames[] = {BIASES(DJ_TYPE_NAME) {NULL, 0}};

const char* dj_gainName(djGain gain) { return dj_nameOf(dj_gainNames, (int)gain); }
const char* dj_biasName(djBias bias) { return dj_nameOf(dj_biasNames, (int)bias); }
