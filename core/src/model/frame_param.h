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

#include "math/spatial.h"
#include "model/kinematics.h"

// A configuration with its motion subspaces about ref (nbody).
typedef struct djConfig {
  const djKin* kin;
  const double* qpos;     // (nq)
  const djVec3* ref;
  const unsigned char* wants;   // (nbody) DJ_BY_* that are asked for of bodies; NULL: all
} djConfig;

// What stands above and below a frame at some place of the tree: a derivative by a motion with
// subspace S there is S . D.
typedef struct djFramePlace {
  djSix above[3];
  djSix below[3];
} djFramePlace;

// Fields over the tree of which D is made. above[k]: twists (nbody x 6) that add up along the
// chain, by S_i rate[k][i] (nv) of each dof, less axis_cross[k] (nv x 6, or NULL) times
// axis_cross_rate[k]; below[k]: sums over subtrees (nbody x 6). NULL: not used.
typedef struct djFrameField {
  const double *above[3], *rate[3], *axis_cross[3], *axis_cross_rate[3];
  const double* below[3];
  djSix (*dual)(const djFramePlace* place);   // D
} djFrameField;

enum { DJ_MAX_FRAME_FIELD = 4 };

// Adds S . D of every parameter to param (dj_paramGradSize), D the sum over n fields.
void dj_frameParamsOf(double* param, const djModel* model, const djConfig* at, int n,
                      const djFrameField* field);

// x (nbody x 6) <- twists of bodies, about ref, when the dofs move by z (nv).
void dj_bodyTwists(double* x, const djModel* model, const djKin* kin, const double* z);

// Sums of cotangents C (nbody x 6, about ref) over subtrees, in place. Reference points of
// different trees may differ: what moves a frame between them moves all that it carries.
void dj_gatherCotangents(double* C, const djModel* model, const djVec3* ref);

// phi has gradient C (nbody x 6, gathered: sums over subtrees) by twists of bodies at the
// configuration: adds dphi/d parameter to param (dj_paramGradSize).
void dj_frameParams(double* param, const djModel* model, const djConfig* at, const double* C);

// The same for z . dpsi/dq, z (nv) fixed, of a function psi of body poses with gathered gradient W
// (nbody x 6) and nested second derivatives N_b: C is the gathered sum of N_b x_b, x (nbody x 6)
// the bodies' twists along z. Its field, or added to param.
djFrameField dj_frameFieldSecond(const double* C, const double* W, const double* x,
                                 const double* z);
void dj_frameParamsSecond(double* param, const djModel* model, const djConfig* at,
                          const double* C, const double* W, const double* x, const double* z);

#endif  // DJ_MODEL_FRAME_PARAM_H_
