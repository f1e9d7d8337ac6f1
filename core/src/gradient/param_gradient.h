// Gradients by the model's parameters over a recorded run.
//
// The adjoint of a step gives z = H^-1 (l_q + J_r^-T l_v/h); a parameter changes the loss by
// -z . dr/dparameter in every step, and by the terms of the loss that use it. The step's kinematics
// and contacts are not on the tape: they are computed once more, without solving.

#ifndef DJ_GRADIENT_PARAM_GRADIENT_H_
#define DJ_GRADIENT_PARAM_GRADIENT_H_

#include "integrate/linear.h"

size_t dj_paramSumsSize(const djModel* model);    // bytes
// All sums zero, and everything wanted; memory begins at a multiple of DJ_ALIGN.
void dj_initParamSums(djParamSums* sums, void* memory, const djModel* model);
// From now on n parameters alone; sums for others are void. follows: inertias follow geoms.
void dj_askParams(djParamSums* sums, const djModel* model, int n, const djParam* param,
                  bool follows);

// The linearised step from data's state and inputs to qpos (nq). z (nstage x nv): H^-T times the
// adjoint, of each stage; overwritten. lambda (nv): adjoint of the velocity at the end.
djStatus dj_addStepParams(djParamSums* sums, const djModel* model, djData* data,
                          const djLinear* linear, const double* qpos, double* z,
                          const double* lambda);

// Adds up what was collected by shapes and inertia tensors; fills sums->moment. compiled: the model whose inertias
// follow its geoms (dj_followGeoms), or NULL.
djStatus dj_finishParams(djParamSums* sums, const djModel* model, const djModel* compiled);

// Whether there are derivatives by parameters of this model's steps: DJ_UNSUPPORTED, of physics
// from outside that has none.
djStatus dj_checkOutsideParams(const djModel* model, int n, const djParam* param, bool follows,
                               djError* err);

// grad: those of n parameters, one after the other.
void dj_pickParams(double* grad, const djParamSums* sums, const djModel* model, int n,
                   const djParam* param);

#endif  // DJ_GRADIENT_PARAM_GRADIENT_H_
