// Activations of actuators, and their next values.

#ifndef DJ_MODEL_ACTIVATION_H_
#define DJ_MODEL_ACTIVATION_H_

#include "math/smooth.h"
#include "model/choice.h"

#include <dijoco/data.h>

// A law, a row: w+ = aw w + au u before its clamp.
typedef struct djDynLaw {
  const char* name;    // in model files
  bool timed;          // reads tau, which must be positive
  void (*step)(double* aw, double* au, double tau, double h);   // NULL: there is no activation
} djDynLaw;

extern const djDynLaw dj_dynLaws[];   // by djDyn
extern const djChoice dj_dynNames[];

static inline bool dj_hasActivation(int dyn) { return dj_dynLaws[dyn].step; }

// Control of actuator i after its clamp, with the derivative by ctrl.
djJet dj_controlInput(const djModel* model, const djData* data, int i);

// Next activation of actuator i: value, and derivatives by its activation and ctrl.
double dj_nextActivation(double* by_act, double* by_ctrl, const djModel* model,
                         const djData* data, int i, double h);

// Those of all (na).
void dj_nextActivations(double* act_next, const djModel* model, const djData* data, double h);

#endif  // DJ_MODEL_ACTIVATION_H_
