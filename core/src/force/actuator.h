// Internal to the actuators' row: what a step fixes of them.

#ifndef DJ_FORCE_ACTUATOR_H_
#define DJ_FORCE_ACTUATOR_H_

#include "force/force.h"
#include "math/smooth.h"
#include "model/motor.h"

// One actuator during the step: p = alpha + beta psi before its clamp, psi the displacement along
// its coordinate, or gear . displacement of a rotation.
typedef struct djActuatorStep {
  double alpha, beta;
  double c1, c2;         // dp/dl, dp/dl'
  double slope;          // the latter, as what is implicit by rates has it
  double extra_alpha, extra_beta, extra_c1, extra_c2, extra_slope;   // of what is added behind the
                                                                     //   clamp
  double gain[3];        // dp/dw = gain0 + gain1 l + gain2 l'
  double length;         // l where displacements begin
  double input;          // u after its clamp, or the activation that acts
  double dinput;         // d input / d ctrl (0 where the input is an activation)
  double dact;           // d input / d act
  int adr;               // of that in act, or -1
  djLawAt law;           // where laws that are not linear have been linearised
  double by_l, by_rate;  // of c2 by l, l'
  double gear[3];        // gear[0] of coordinates; rotations: torque direction, body frame there
  bool hard;             // ranges clip: see djActuators
  djMotor* motor;        // or NULL
} djActuatorStep;

// Total force a + b psi along a coordinate, where nothing clamps it.
typedef struct djUnclamped {
  bool holds;
  double a, b;
} djUnclamped;

// Actuators by what they act on: coordinate c, or joint j as ncoord + j, has those in
// order[first[.] ...]. Those on sites are in no list.
typedef struct djActuators {
  djActuatorStep* act;   // (nu)
  int* order;            // (nu)
  int* first;            // (ncoord + njnt + 1)
  djUnclamped* total;    // (ncoord)
  djMotor* motor;        // those of all motors
  bool hard;             // ranges clip: of smooth forces by the start
  // Gravity compensation by actuators (actuator_gravcomp.c): whether it is to be taken care of,
  // what it is along dofs (nv), moments of subtrees (nbody x 4), and, for parameters, cotangents of
  // dofs (nv), twists, wrenches and cotangents of bodies (nbody x 6), loads (nbody).
  bool lifts;
  double *lift, *moment, *z, *twist, *wrench, *cotangent;
  djLoad* load;
  // Adhesion (actuator_adhesion.c): pairs of geoms, actuator after actuator; scratch of softened
  // shapes (8 maxvert).
  int npair, maxvert;
  struct djAdhesionPair* pair;
  double* soft;
} djActuators;

static inline bool dj_actuatorsOff(const djModel* m) {
  return (m->opt.disable & DJ_DSBL_ACTUATION) != 0;
}

// What a joint's range clamps beside the forces of its actuators.
static inline double dj_liftOf(const djActuators* t, const djModel* m, int c) {
  if (!t->lifts || m->coord_type[c] != DJ_COORD_JOINT) return 0;
  return t->lift[m->coord_dof[m->coord_dofadr[c]]];
}

// Index of the list; -1: none.
static inline int dj_targetOf(const djModel* m, int i) {
  int c = m->actuator_coord[i], j = m->actuator_joint[i];
  return c >= 0 ? c : j >= 0 ? m->ncoord + j : -1;
}

static inline bool dj_onFreeJoint(const djModel* m, int i) {
  int j = m->actuator_joint[i];
  return j >= 0 && dj_jointRow(m, j)->pose;
}

// Force of actuator i after its clamp, from that before it.
djJet dj_clampForce(const djActuatorStep* a, const djModel* m, int i, double p);

// Forces of all actuators on a coordinate, before their clamps q_i: a tendon's range scales them by
// r(sum of q_i), each is clamped, and a joint's range clamps the sum of gear p_i, C. So
//   df/dq_i = C' (gear_i p_i' r + b),   b = r' sum of gear_k p_k' q_k.
// With gravity compensation G in that range the sum is clamped with it: C(sum + G) - G.
typedef struct djTotal {
  djJet f;               // force along the coordinate, and its slope by the displacement
  double r, b, C;
} djTotal;

djUnclamped dj_unclampedForce(const djActuators* t, const djModel* m, int c);
djTotal dj_totalForce(const djActuators* t, const djModel* m, int c, double psi);
double dj_totalByForce(const djTotal* total, const djActuators* t, const djModel* m, int i,
                       double psi);

// What clamps the total along a coordinate; NULL: nothing.
const double* dj_totalRange(const djModel* m, int c);

// Of a tendon: r = min(1, bound/x) for the sum of forces x, and its slope.
double dj_totalScale(double* slope, const double range[2], double x, bool hard);

// Mean force of an actuator while psi goes from 0 to its value (actuator_work.c).
double dj_meanForce(const djModel* m, int i, const djActuatorStep* a, double psi);

// Work over the displacement: the integral of dj_totalForce() to rounding.
double dj_workAlong(const djActuators* t, const djModel* m, int c, double psi);

// d p/d input before the clamp, at length l.
static inline double dj_gainAt(const djActuatorStep* a, double l, double rate) {
  return a->gain[0] + a->gain[1] * l + a->gain[2] * rate;
}

// g: of a dof's gradient by a signal's input; i: the actuator whose control that is of.
void dj_addInput(djInputSum* sum, const djActuatorStep* signal, int i, int dof, double g);

// The actuator of whose force i is a part, or itself.
static inline int dj_leader(const djModel* m, int i) {
  return m->actuator_addsto[i] >= 0 ? m->actuator_addsto[i] : i;
}

// What acts on the force of an actuator: gain and input of it or of another, `from`.
typedef struct djSignal {
  const djActuatorStep* step;
  int from;
} djSignal;

static inline djInputs dj_inputsAt(const djMotion* at) {
  if (at->acting != DJ_ACTS_ALL) return DJ_INPUTS_HARD;
  return at->prompt ? DJ_INPUTS_EXACT : DJ_INPUTS_ROUNDED;
}

// Of motors (actuator_motor.c): what a step fixes; by what inputs and states move their force and,
// extra, what is added behind its range; adds derivatives by force, extra and both slopes times those
// by numbers.
enum { DJ_MOTOR_NSIGNAL = DJ_NMOTORINPUT + 1 + DJ_NMOTORSTATE };
typedef struct djMotorSignal {
  djActuatorStep step;
  int from;
  double extra;
} djMotorSignal;
void dj_beginMotor(djActuators* t, const djMotion* at, int i);
int dj_motorSignals(djMotorSignal signal[DJ_MOTOR_NSIGNAL], const djActuators* t, const djModel* m,
                    int i);
void dj_motorParams(double* param, const djActuators* t, const djModel* m, int i, const double by[4]);

// A torque on a free or ball joint in a prompt motion (actuator_turn.c).
typedef struct djTurnDrive {
  djMat3 R;              // the joint's rotation at the point
  djVec3 gear, g;        // as given, and in its axes: the torque's direction
  djVec3 force;          // of free joints: the gear along the position
  djVec3 log, phi, x;    // of R, of ball joints; its displacement; of the position
  double length, rate;
  djVec3 dlength;        // by turns of R in itself
  djJet p;
} djTurnDrive;

djTurnDrive dj_turnDrive(const djActuators* t, const djMotion* at, int i);
void dj_addTurnActuators(djForceSum* sum, double* gradient, const djActuators* t,
                         const djMotion* at);
void dj_startTurnActuators(djStartSum* sum, const djActuators* t, const djMotion* at);

// B (3 x 3) += s u v^T
static inline void dj_addOuterTo(double B[9], double s, djVec3 u, djVec3 v) {
  double x[3], y[3];
  dju_store3(x, u);
  dju_store3(y, v);
  for (int r = 0; r < 9; r++) B[r] += s * x[r / 3] * y[r % 3];
}

// On free joints, but for prompt motions (actuator_free.c).
typedef struct djFreeDrive {
  djVec3 f, g;           // of the gear: along the position, in axes of the rotation
  djVec3 x, phi;         // displacement
  double psi;
  djJet p;
} djFreeDrive;

djFreeDrive dj_freeDrive(const djActuators* t, const djMotion* at, int i);
void dj_addFreeActuators(djForceSum* sum, const djActuators* t, const djMotion* at, int joint);
void dj_startFreeActuators(djStartSum* sum, const djActuators* t, const djMotion* at, int joint);

// On sites (actuator_site.c).
static inline bool dj_onSite(const djModel* m, int i) { return m->actuator_site[2 * i] >= 0; }
static inline bool dj_onOneSite(const djModel* m, int i) {
  return dj_onSite(m, i) && m->actuator_site[2 * i + 1] < 0;
}
double dj_siteLength(const djMotion* at, int i);
void dj_coupleSiteActuators(djPattern* pattern, const djModel* m);
void dj_addSiteActuators(djForceSum* sum, const djActuators* t, const djMotion* at);
void dj_startSiteActuators(djStartSum* sum, const djActuators* t, const djMotion* at);
void dj_addSiteTwists(djForceSum* sum, const djActuators* t, const djMotion* at);
void dj_startSiteTwists(djStartSum* sum, const djActuators* t, const djMotion* at);
void dj_siteInput(djInputSum* sum, const djActuators* t, const djMotion* at, int i,
                  djSignal signal);

// Adds what parameters that move bodies and sites do to it, and its gear; for its other parameters:
// derivative of z . gradient by the force before its clamp, length and velocity.
void dj_siteParams(djParamSums* sums, const djActuators* t, const djMotion* at, int i,
                   double* by_p, double* length, double* rate);

// Gravity compensation by actuators, at the point of an evaluation; then what it adds, with its
// derivatives by the configuration, and to d(z . gradient)/d parameter.
void dj_findCompensation(djActuators* t, const djMotion* at);
void dj_addCompensation(djForceSum* sum, double* gradient, const djActuators* t,
                        const djMotion* at);
void dj_compensationParams(djParamSums* sums, djActuators* t, const djMotion* at, const double* z);

// Adhesion of actuators on bodies (actuator_adhesion.c): memory, which pairs are near at the start;
// what it adds, by configuration and inputs; derivative of z . gradient by the force of actuator i
// before its clamp, with what frames do.
struct djArena;
void dj_layoutAdhesion(djActuators* t, struct djArena* arena, const djModel* m);
void dj_makeAdhesion(djActuators* t, const djModel* m);
void dj_beginAdhesion(djActuators* t, const djMotion* at);
void dj_coupleAdhesion(djPattern* pattern, const djActuators* t, const djModel* m);
void dj_addAdhesion(djForceSum* sum, const djActuators* t, const djMotion* at);
void dj_adhesionInput(djInputSum* sum, const djActuators* t, const djMotion* at, int i,
                      djSignal signal);
double dj_adhesionParams(bool* any, djParamSums* sums, const djActuators* t, const djMotion* at,
                         int i);

// y_c times the slope -gear^2 c2 of actuator i, where it is free, and that of what is added behind its
// range, by its parameters.
void dj_actuatorRateParams(djRateSum* sum, const djActuators* t, const djModel* m, int i,
                           bool free, double extra);

// The row's derivatives by parameters.
djStatus dj_actuatorParams(djParamSums* sums, void* state, const djMotion* at, const double* z,
                           const double* zeta);

#endif  // DJ_FORCE_ACTUATOR_H_
