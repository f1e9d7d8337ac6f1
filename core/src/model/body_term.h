// Body-space terms of the position-level step: inertia and loads.
//
// A body with exact second moments is its centre of mass c (mass m) and three homogeneous vectors
// a_k, the axes of its inertial frame, with weights s_k = (I_i + I_j - I_k)/2, the principal second
// moments. tr(D S D^T) of SDRS eq. 3-4 is then m |D c|^2 + sum_k s_k |D a_k|^2.

#ifndef DJ_MODEL_BODY_TERM_H_
#define DJ_MODEL_BODY_TERM_H_

#include "model/kinematics.h"

// Force and torque at a body's centre of mass, in world axes, which the start of a step fixes.
typedef struct djLoad {
  djVec3 force, torque;
} djLoad;

// Constants of one body during a step.
typedef struct djBodyStep {
  bool active;           // has mass and dofs above it
  double mass;           // m/h^2
  double moment[3];      // s_k/h^2
  djVec3 com_step;       // c - c-, of the last step
  djVec3 axis_step[3];   // a_k - a_k-
  djVec3 force, torque;  // load
} djBodyStep;

// Constants for all bodies (nbody): kin0 at the start, back at q (+) -h v; load (nbody).
void dj_beginBodyTerms(djBodyStep* step, const djModel* model, const djLoad* load,
                       const djKin* kin0, const djKin* back, double h);

// Energy at poses kin, and, if asked for (not NULL), its gradient by world twists about ref as
// wrench (nbody x 6) and its nested second derivative N (nbody x 36); both are overwritten.
double dj_bodyTerms(double* wrench, double* N, const djModel* model, const djBodyStep* step,
                    const djKin* kin, const djKin* kin0, const djVec3* ref);

// The same of loads (nbody) alone, whose bodies have no inertia.
double dj_loadTerms(double* wrench, double* N, const djModel* model, const djLoad* load,
                    const djKin* kin, const djKin* kin0, const djVec3* ref);

// Derivative of the wrenches at poses kin by twists of the start poses: M0 (nbody x 36) by those
// of kin0, Mback (nbody x 36) by those of back; all about ref. Overwrites.
void dj_bodyTermsStart(double* M0, double* Mback, const djModel* model, const djBodyStep* step,
                       const djKin* kin, const djKin* kin0, const djKin* back, const djVec3* ref);

// The same of loads alone, whose wrenches do not depend on `back`.
void dj_loadTermsStart(double* M0, const djModel* model, const djLoad* load, const djKin* kin,
                       const djKin* kin0);

// Their wrenches, added to W, and products with twists x (nbody x 6): C += N x, C0 += M0^T x.
void dj_addLoadProducts(double* W, double* C, double* C0, const djModel* model, const djLoad* load,
                        const djKin* kin, const djKin* kin0, const djVec3* ref, const double* x);

#endif  // DJ_MODEL_BODY_TERM_H_
