// Activations of actuators, and their next values.

#ifndef DJ_MODEL_ACTIVATION_H_
#define DJ_MODEL_ACTIVATION_H_

#include "math/smooth.h"
#include "model/force_law.h"

#include <dijoco/data.h>

// w+ before its clamp, and its derivatives by w and u.
typedef double (*djDynStep)(double by[2], const djDynNumbers* numbers, double w, double u,
                            double h);

// A law, a row: as MuJoCo has it, and exact over any time.
typedef struct djDynLaw {
  const char* name;    // in model files
  bool timed;          // reads tau, which must be positive
  djDynStep step;      // NULL: there is no activation
  djDynStep exact;
} djDynLaw;

extern const djDynLaw dj_dynLaws[];   // by djDyn
extern const djChoice dj_dynNames[];

static inline bool dj_hasActivation(int dyn) { return dj_dynLaws[dyn].step; }

// A dcmotor's integral is by its ki, and its other states are by their numbers.
static inline bool dj_hasIntegral(const djActuatorDef* a) {
  return a->gain == DJ_GAIN_DCMOTOR ? a->gainprm[5] > 0 : a->integral != 0;
}
static const int dj_motorStateNumber[DJ_NMOTORSTATE] = {2, 5, 0};   // in motorprm, above 0
static inline bool dj_hasMotorState(const djActuatorDef* a, int k) {
  return a->gain == DJ_GAIN_DCMOTOR && a->motorprm[dj_motorStateNumber[k]] > 0;
}

// With those.
static inline int dj_activationCount(const djActuatorDef* a) {
  int n = (dj_hasActivation((int)a->dyn) ? 1 : 0) + (dj_hasIntegral(a) ? 1 : 0);
  for (int k = 0; k < DJ_NMOTORSTATE; k++) n += dj_hasMotorState(a, k);
  return n;
}

// How inputs are taken: by MuJoCo's laws with rounded clamps; by exact laws, with these; by MuJoCo's
// laws and its clamps.
typedef enum djInputs { DJ_INPUTS_ROUNDED, DJ_INPUTS_EXACT, DJ_INPUTS_HARD } djInputs;

// Control of actuator i after its clamp, with the derivative by ctrl.
djJet dj_controlInput(const djModel* model, const djData* data, int i, djInputs kind);

// Activation of actuator i after the time h: value, and derivatives by its activation and ctrl.
double dj_nextActivation(double* by_act, double* by_ctrl, const djModel* model,
                         const djData* data, int i, double h, djInputs kind);

// The integral z of actuator i after the time h, and derivatives by its activation and ctrl, and by
// its length at the start, and by itself.
typedef struct djIntegralSlopes {
  double act, ctrl, length, z;
} djIntegralSlopes;
double dj_nextIntegral(djIntegralSlopes* by, const djModel* model, const djData* data, int i,
                       double h, djInputs kind);

// The length of an actuator with an integral is the sum of gear q over parts k = 0, 1, ...; dof -1
// after the last.
typedef struct djLengthPart {
  int dof, qpos;
  double gear;
} djLengthPart;
djLengthPart dj_lengthPart(const djModel* model, int i, int k);
double dj_plainLength(const djModel* model, const double* qpos, int i);

// Those of all (na).
void dj_nextActivations(double* act_next, const djModel* model, const djData* data, double h,
                        djInputs kind);

#endif  // DJ_MODEL_ACTIVATION_H_
