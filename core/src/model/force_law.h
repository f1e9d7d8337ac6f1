// Laws of an actuator's gain and bias, a row each: p = g . (1, l, l') u + b . (1, l, l') with the
// input u (or the activation), length l and velocity l'; g and b follow from the law's numbers.
// Laws that are not linear have those of the tangent at the step's start.

#ifndef DJ_MODEL_FORCE_LAW_H_
#define DJ_MODEL_FORCE_LAW_H_

#include "model/choice.h"

#include <dijoco/model.h>

#include <stdbool.h>

// Where a law that is not linear is linearised, and what it depends on besides.
typedef struct djLawAt {
  double l, rate;
  double range[2];       // of lengths
  double acc0;           // acceleration by a unit force at qpos0
} djLawAt;

// g or b, and derivatives of the last of them, the slope by l', by l and by l'.
typedef struct djLawCoefs {
  double c[3], by_l, by_rate;
} djLawCoefs;

typedef struct djForceLaw djForceLaw;
struct djForceLaw {
  const char* name;      // in model files
  int nprm;              // how many of the DJ_NPRM numbers it reads
  bool bends;            // it is not linear in l and l'
  void (*set)(djLawCoefs* out, const djForceLaw* law, const double* prm, const djLawAt* at);
  // by_prm (nprm) += derivative, from that by g or b.
  void (*vjp)(double* by_prm, const djForceLaw* law, const double by_c[3], const double* prm,
              const djLawAt* at);
  const char* (*problem)(const double* prm);   // wrong with finite ones, or NULL; may be NULL
};

// Numbers that a parameter of the law has: those that it reads, at least 3.
static inline int dj_lawNumbers(const djForceLaw* law) { return law->nprm > 3 ? law->nprm : 3; }

// The first actuator whose force or activation only the integrator euler steps: a muscle's, or an
// integral; or -1.
int dj_firstMuscle(const djModel* model);

extern const djForceLaw dj_gainLaws[], dj_biasLaws[];   // by djGain, djBias
extern const djChoice dj_gainNames[], dj_biasNames[], dj_inputNames[];

// Numbers of activations' laws.
typedef struct djDynNumbers {
  double tau, deactivation, smooth;
} djDynNumbers;

#endif  // DJ_MODEL_FORCE_LAW_H_
