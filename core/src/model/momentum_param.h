// Derivatives by bodies' parameters of discrete momenta, see momentum.h.

#ifndef DJ_MODEL_MOMENTUM_PARAM_H_
#define DJ_MODEL_MOMENTUM_PARAM_H_

#include "model/body_term.h"

// Adds the derivative, at fixed poses, of sum_b x_b . (s1 P_b - s2 h_b - weight), where P is the
// momentum m (c+ - c), S T T+^T of the step times h, with its arm at the configuration `at` (kin or
// kin0), h that of bodies with twists V (nbody x 6) there, and x (nbody x 6) twists about ref.
// loads: whether x . h loses the loads at centres of mass. tensor (nbody x 6): see
// body_param.h.
void dj_momentumParams(double* param, double* tensor, const djModel* model,
                       const djBodyStep* step, bool loads, const djKin* kin,
                       const djKin* kin0, const djKin* at, const djVec3* ref, const double* x,
                       const double* V, double s1, double s2);

#endif  // DJ_MODEL_MOMENTUM_PARAM_H_
