// Laws of an actuator's gain and bias, a row each: p = g . (1, l, l') u + b . (1, l, l') with the
// input u (or the activation), length l and velocity l'; g and b follow from the law's numbers.

#ifndef DJ_MODEL_FORCE_LAW_H_
#define DJ_MODEL_FORCE_LAW_H_

#include "model/choice.h"

typedef struct djForceLaw djForceLaw;
struct djForceLaw {
  const char* name;      // in model files
  int nprm;              // how many of the three numbers it reads
  void (*set)(double c[3], const djForceLaw* law, const double prm[3]);   // g or b
  // by_prm (3) += derivative, from that by g or b.
  void (*vjp)(double by_prm[3], const djForceLaw* law, const double by_c[3], const double prm[3]);
  const char* (*problem)(const double prm[3]);   // wrong with finite ones, or NULL; may be NULL
};

extern const djForceLaw dj_gainLaws[], dj_biasLaws[];   // by djGain, djBias
extern const djChoice dj_gainNames[], dj_biasNames[];

#endif  // DJ_MODEL_FORCE_LAW_H_
