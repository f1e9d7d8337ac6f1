// Activations of actuators, and their next values.

#ifndef DJ_MODEL_ACTIVATION_H_
#define DJ_MODEL_ACTIVATION_H_

#include "math/smooth.h"
#include "model/choice.h"

#include <dijoco/data.h>

// A law, a row: w+ = aw w + au u before its clamp; as MuJoCo has it, and exact over any time.
typedef struct djDynLaw {
  const char* name;    // in model files
  bool timed;          // reads tau, which must be positive
  void (*step)(double* aw, double* au, double tau, double h);   // NULL: there is no activation
  void (*exact)(double* aw, double* au, double tau, double h);
} djDynLaw;

extern const djDynLaw dj_dynLaws[];   // by djDyn
extern const djChoice dj_dynNames[];

static inline bool dj_hasActivation(int dyn) { return dj_dynLaws[dyn].step; }

// Control of actuator i after its clamp, with the derivative by ctrl.
djJet dj_controlInput(const djModel* model, const djData* data, int i);

// Activation of actuator i after the time h, by the exact law or MuJoCo's: value, and derivatives
// by its activation and ctrl.
double dj_nextActivation(double* by_act, double* by_ctrl, const djModel* model,
                         const djData* data, int i, double h, bool exact);

// Those of all (na).
void dj_nextActivations(double* act_next, const djModel* model, const djData* data, double h,
                        bool exact);

#endif  // DJ_MODEL_ACTIVATION_H_
