// Derivatives of the step's body terms by parameters, as vector-Jacobian products.
//
// A step's residual is r = dE/dq+ (integrate/position.c). For a direction z (nv) at q+ these add
// d(z . r)/d parameter at fixed poses: what parameters do by moving frames is frame_param.h's.

#ifndef DJ_MODEL_BODY_PARAM_H_
#define DJ_MODEL_BODY_PARAM_H_

#include "model/body_term.h"

// Bodies move by twists x (nbody x 6), world axes about ref. Adds to
//   param   (dj_paramGradSize): body mass, ipos, by what is not the load itself
//   tensor  (nbody x 6): by the inertia tensor in principal axes, xx yy zz xy xz yz; xy stands for
//           both symmetric entries
void dj_bodyParams(double* param, double* tensor, const djModel* model, const djBodyStep* step,
                   const djKin* kin, const djKin* kin0, const djKin* back, const djVec3* ref,
                   const double* x, double h);

// Loads alone: the derivative by ipos of where they act.
void dj_loadPlaceParams(double* param, const djModel* model, const djLoad* load, const djKin* kin,
                        const double* x);

// Once, at the end: tensor (nbody x 6) to inertia and iquat, added to param.
void dj_tensorParams(double* param, const djModel* model, const double* tensor);

#endif  // DJ_MODEL_BODY_PARAM_H_
