// The tables of gains and biases.

#include "model/motor.h"
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

// Of what has inputs and states besides (model/motor.h): nothing is of length and rate alone.
static void setNothing(djLawCoefs* out, const djForceLaw* law, const double* prm,
                       const djLawAt* at) {
  (void)law, (void)prm, (void)at;
  *out = (djLawCoefs){.by_l = 0};
}

static void nothingVjp(double* by_prm, const djForceLaw* law, const double by_c[3],
                       const double* prm, const djLawAt* at) {
  (void)by_prm, (void)law, (void)by_c, (void)prm, (void)at;
}

// Type, name, nprm, bends, set, vjp, problem.
#define GAINS(X)                                                                       \
  X(DJ_GAIN_FIXED, "fixed", 1, false, setLinear, linearVjp, NULL)                      \
  X(DJ_GAIN_AFFINE, "affine", 3, false, setLinear, linearVjp, NULL)                    \
  X(DJ_GAIN_MUSCLE, "muscle", 9, true, dj_muscleGain, dj_muscleGainVjp, dj_muscleProblem) \
  X(DJ_GAIN_DCMOTOR, "dcmotor", DJ_MOTOR_NGAIN, true, setNothing, nothingVjp,          \
    dj_motorGainProblem)
#define BIASES(X)                                                                      \
  X(DJ_BIAS_NONE, "none", 0, false, setLinear, linearVjp, NULL)                        \
  X(DJ_BIAS_AFFINE, "affine", 3, false, setLinear, linearVjp, NULL)                    \
  X(DJ_BIAS_MUSCLE, "muscle", 9, true, dj_muscleBias, dj_muscleBiasVjp, dj_muscleProblem) \
  X(DJ_BIAS_DCMOTOR, "dcmotor", DJ_MOTOR_NBIAS, true, setNothing, nothingVjp,          \
    dj_motorBiasProblem)

const djForceLaw dj_gainLaws[] = {GAINS(DJ_TYPE_ROW)};
const djForceLaw dj_biasLaws[] = {BIASES(DJ_TYPE_ROW)};
const djChoice dj_gainNames[] = {GAINS(DJ_TYPE_NAME) {NULL, 0}};
const djChoice dj_biasNames[] = {BIASES(DJ_TYPE_NAME) {NULL, 0}};

const djChoice dj_inputNames[] = {{"voltage", DJ_INPUT_VOLTAGE},
                                  {"position", DJ_INPUT_POSITION},
                                  {"velocity", DJ_INPUT_VELOCITY},
                                  {"torque", DJ_INPUT_TORQUE},
                                  {NULL, 0}};

int dj_firstMuscle(const djModel* m) {
  for (int i = 0; i < m->nu; i++) {
    if (dj_isMotor(m, i)) continue;
    if (dj_gainLaws[m->actuator_gain[i]].bends || dj_biasLaws[m->actuator_bias[i]].bends ||
        m->actuator_dyn[i] == DJ_DYN_MUSCLE || m->actuator_zadr[i] >= 0) {
      return i;
    }
  }
  return -1;
}

const char* dj_gainName(djGain gain) { return dj_nameOf(dj_gainNames, (int)gain); }
const char* dj_biasName(djBias bias) { return dj_nameOf(dj_biasNames, (int)bias); }
