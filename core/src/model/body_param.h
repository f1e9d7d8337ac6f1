// Derivatives of the step's body and joint terms by parameters, as vector-Jacobian products.
//
// A step's residual is r = dE/dq+ (integrate/position.c). For a direction z (nv) at q+ these add
// d(z . r)/d parameter at fixed poses: what parameters do by moving frames is frame_param.h's.

#ifndef DJ_MODEL_BODY_PARAM_H_
#define DJ_MODEL_BODY_PARAM_H_

#include "model/body_term.h"
#include "model/joint_term.h"

// Bodies move by twists x (nbody x 6), world axes about ref. Adds to
//   param   (dj_paramGradSize): body mass, ipos, gravcomp, option/gravity, and drag's part of
//           inertia and iquat
//   tensor  (nbody x 6): by the inertia tensor in principal axes, xx yy zz xy xz yz; xy stands for
//           both symmetric entries
void dj_bodyParams(double* param, double* tensor, const djModel* model, const djBodyStep* step,
                   const djData* start, const djKin* kin, const djKin* kin0, const djKin* back,
                   const djVec3* ref, const double* x, double h);

// Weight of body b alone, whose centre of mass moves by u: its force enters as -u . f.
void dj_weightParams(double* param, const djModel* model, const djData* start, int b, djVec3 u);

// Drag alone: of steps whose other numbers are 0.
void dj_dragParams(double* param, const djModel* model, const djBodyStep* step, const djKin* kin,
                   const djKin* kin0, const djVec3* ref, const double* x, double h);

// Once, at the end: tensor (nbody x 6) to inertia and iquat, added to param.
void dj_tensorParams(double* param, const djModel* model, const double* tensor);

// Joint damping, stiffness, springref, armature, frictionloss, range and actuator gainprm, biasprm,
// gear. z (nv), qpos: coordinates at the end of the step; start: its beginning.
void dj_jointParams(double* param, const djJointTerms* terms, const djModel* model,
                    const djData* start, const double* qpos, const double* z);

#endif  // DJ_MODEL_BODY_PARAM_H_
