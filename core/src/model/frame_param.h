// Derivatives by parameters that place frames: body pos and quat, joint pos and axis.
//
// Each acts as one or two joints would that are inserted into the chain and do not move during the
// step: body/pos a translation before the body's joints, body/quat a rotation there; a joint's
// anchor p (X -> X + R p - R' p) translations before and after the joint, with opposite signs; its
// axis rotations before and after it. So a parameter has a motion subspace S at each configuration,
// and second derivatives of kinematics follow the rule of kinematics.h: for an ancestor i of j,
// S_i^T N S_j.

#ifndef DJ_MODEL_FRAME_PARAM_H_
#define DJ_MODEL_FRAME_PARAM_H_

#include "model/kinematics.h"

// First derivative: phi has gathered gradients C (nbody x 6, sums over subtrees, about ref) by
// twists of bodies at the configuration kin: adds dphi/d parameter to param.
// Second: with z (nv) and the gathered wrench W (nbody x 6) of another function psi not NULL, and C
// the gathered N_b x_b of psi, x_b = sum of S_i z_i over b's chain: adds d(z . grad psi)/d parameter.
// kin's subspaces must be those about ref.
void dj_frameParams(double* param, const djModel* model, const djKin* kin, const djVec3* ref,
                    const double* C, const double* W, const double* z);

#endif  // DJ_MODEL_FRAME_PARAM_H_
