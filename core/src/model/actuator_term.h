// Internal to the joint terms: what actuators add to the blocks of their joints.

#ifndef DJ_MODEL_ACTUATOR_TERM_H_
#define DJ_MODEL_ACTUATOR_TERM_H_

#include "math/smooth.h"
#include "model/joint_term.h"

static inline bool dj_isScalar(int type) { return type == DJ_SLIDE || type == DJ_HINGE; }

// Orientation coordinate of a ball or free joint.
static inline djQuat dj_rotationOf(const djModel* m, const double* qpos, int j) {
  return dju_normalizeQuat(dju_loadQuat(qpos + dj_rotationQpos(m, j)));
}

// Constants of actuator i during the step, and its next activation.
void dj_beginActuator(djActuatorStep* a, double* act_next, const djModel* m, const djData* d,
                      int i, double h);

// The actuators of scalar joint j at displacement psi, into its block; with their part of the
// derivative by the start.
void dj_addScalarActuators(djBlock* b, djJointTerms* t, const djModel* m, int j, double psi,
                           bool start);

// Force of actuator i before and after its clamp.
djJet dj_clampForce(const djModel* m, int i, double p);

// Torques on a rotation displaced by phi: gradient y, curvature Y, value.
void dj_addRotationActuators(double y[3], double Y[9], double* value, djJointTerms* t,
                             const djModel* m, int j, const double* phi);

// Their part of the derivative by the start beside phi. JinvT = J_r(phi)^-T.
void dj_addStartActuators(djBlock* b, const djJointTerms* t, const djModel* m, const djData* d,
                          int j, djVec3 phi, const djMat3* JinvT);

#endif  // DJ_MODEL_ACTUATOR_TERM_H_
