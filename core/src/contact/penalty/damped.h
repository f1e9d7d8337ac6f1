// The contact kernel damped: points of one geom in the distance field of the other, all of them in
// every step (damped contact, IV).

#ifndef DJ_CONTACT_PENALTY_DAMPED_H_
#define DJ_CONTACT_PENALTY_DAMPED_H_

#include "contact/kernel.h"

enum {
  DJ_DAMPED_LAW,
  DJ_DAMPED_SIGMA_SCALE,
  DJ_DAMPED_KN_SCALE,
  DJ_DAMPED_ALPHA_SCALE,
  DJ_DAMPED_SIGMA,
  DJ_DAMPED_KN,
  DJ_DAMPED_TIME,
  DJ_DAMPED_ALPHA,
  DJ_DAMPED_FRICTION_LAW,
  DJ_DAMPED_SIGMA_T,
  DJ_DAMPED_FRICTION_EPS,
  DJ_DAMPED_DETECT,
  DJ_DAMPED_CUT,
  DJ_DAMPED_INVARIANT,
  DJ_DAMPED_COORDINATE_DERIVATIVE,
  DJ_DAMPED_NORMAL,
  DJ_DAMPED_NSETTING
};

extern const djKernelSettings dj_dampedSettings;

// What is wrong with settings that are given together, or NULL.
const char* dj_dampedConflict(const djContactScale* scale, const double* given);

extern const djKernel dj_damped;
// How its points act; `own` of a pair is its djDampedLaw.
extern const struct djPointModel dj_dampedModel;

#endif // DJ_CONTACT_PENALTY_DAMPED_H_
