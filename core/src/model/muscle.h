// Muscles: MuJoCo's force-length-velocity law of a gain, and its passive force of a bias.

#ifndef DJ_MODEL_MUSCLE_H_
#define DJ_MODEL_MUSCLE_H_

#include "model/force_law.h"

// As `set` and `vjp` of a force law.
void dj_muscleGain(djLawCoefs* out, const djForceLaw* law, const double* prm, const djLawAt* at);
void dj_muscleGainVjp(double* by_prm, const djForceLaw* law, const double by_c[3],
                      const double* prm, const djLawAt* at);
void dj_muscleBias(djLawCoefs* out, const djForceLaw* law, const double* prm, const djLawAt* at);
void dj_muscleBiasVjp(double* by_prm, const djForceLaw* law, const double by_c[3],
                      const double* prm, const djLawAt* at);
const char* dj_muscleProblem(const double* prm);

// Activation w after the time h of the control u, both clamped to [0, 1] in rates: w' = (u - w)/t,
// t = tau (1/2 + 3 w/2) while it rises, deactivation/(1/2 + 3 w/2) while it falls, which a smooth
// step of u - w over `smooth` joins. by: by w, by u.
double dj_muscleActivation(double by[2], const djDynNumbers* numbers, double w, double u, double h);

#endif  // DJ_MODEL_MUSCLE_H_
