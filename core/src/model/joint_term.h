// Joint-space terms of an implicit step: springs, damping, friction loss, limits, armature,
// actuators and applied forces.
//
// Each joint contributes one block (slide, hinge, ball) or two (free: translation, rotation) of 1
// or 3 coordinates. A block's energy depends on the coordinates at the end of the step and on
// their displacement psi during it (rotations: psi = log(R^T R+), body frame); velocities are
// psi/h. Its gradient is minus the generalised force, Derivatives by the start keep the end fixed.

#ifndef DJ_MODEL_JOINT_TERM_H_
#define DJ_MODEL_JOINT_TERM_H_

#include "model/kinematics.h"

// One actuator during the step: p = alpha + beta psi before the clamp, psi along the dof (slide,
// hinge) or psi = gear . displacement.
typedef struct djActuatorStep {
  double alpha, beta;
  double c1, c2;         // dp/dl, dp/dl'
  double gain[3];        // dp/dw = gain0 + gain1 l + gain2 l'
  double length;         // l at the start
  double input;          // u after its clamp, or the activation that acts
  double dinput;         // d input / d ctrl (0 where the input is an activation)
  double dact;           // d input / d act
  double gear[3];        // rotations: torque direction, body frame at the start
  double force;          // p after the clamp, at the last evaluation
} djActuatorStep;

// Constants of a joint during the step.
typedef struct djJointStep {
  double armature;       // with actuators'
  double damping[3];     // a, b, c with actuators'
  double limit_width;
  int nact;              // actuators of the joint: order[act0 ... act0 + nact)
  int act0;
} djJointStep;

// One block at the present iterate; 3x3 matrices row-major with stride 3, entries of an n-block in
// the leading n x n.
typedef struct djBlock {
  int n, dof;            // size and first dof
  double value;
  double g[3];           // gradient
  double K[9];           // Hessian (exponential coordinates)
  double Kstart[9];      // d g / d q at the start (tangent), only if asked
  double Kvel[9];        // d g / d qvel, only if asked
} djBlock;

typedef struct djJointTerms {
  djJointStep* joint;    // (njnt)
  djActuatorStep* act;   // (nu)
  int* order;            // (nu) actuators grouped by joint
  double h;
} djJointTerms;

size_t dj_jointTermsSize(const djModel* model);
djJointTerms dj_initJointTerms(const djModel* model, void* memory);

// Constants of the step that starts at data's state; act_next (na): activations at its end.
void dj_beginJointTerms(djJointTerms* terms, double* act_next, const djModel* model,
                        const djData* data, double h);

// Blocks of joint j at coordinates qpos; start: data->qpos, qvel, qfrc_applied. Returns how many:
// none for a ball or free joint on which nothing acts.
int dj_jointTerm(djBlock block[2], djJointTerms* terms, const djModel* model, const djData* data,
                 int j, const double* qpos, bool start_derivatives);

// Column of d gradient / d input of actuator i (its ctrl or activation): g (3), of the block that
// starts at *dof with *n entries; free joints' actuators have two blocks, index part = 0, 1.
// Returns false when there is no such part.
bool dj_actuatorColumn(double g[3], int* dof, int* n, const djJointTerms* terms,
                       const djModel* model, const djData* data, int i, int part,
                       const double* qpos);

// Derivatives of the next activation: d act+/d act (diagonal), d act+/d ctrl, of actuator i.
void dj_activationDerivative(double* by_act, double* by_ctrl, const djModel* model,
                             const djData* data, int i);

// Force of joint j's limit at qpos, >= 0: spring and damper; of a ball along the axis of its turn.
double dj_limitForce(const djJointTerms* terms, const djModel* model, const djData* data, int j,
                     const double* qpos);

// Elastic energy of joint springs at qpos.
double dj_springEnergy(const djModel* model, const double* qpos);

#endif  // DJ_MODEL_JOINT_TERM_H_
