// Derivatives of L = beta^T F by all that places bodies, in one sweep: F is M a + c less
// generalized forces of wrenches on bodies, beta a test motion. A body's part of L sees its own
// motions (those of beta, of accelerations, of their bias, its velocity) and its pose; its
// derivatives by these are added up over subtrees.
//
// Where all behind a place of the tree moves along a twist S, a motion m of it changes by S x (m -
// m'), with m' what comes before, and the bias b by S x (b - b') - (S x v') x (v - v'). With the
// sums of derivatives F, P, Q, V by test motion, acceleration, bias, velocity, those by pose T,
// and N = T + beta x* F + a x* P + b x* Q + v x* V, C = v x* Q,
//
//   dL = S . (N - beta' x* F - a' x* P - b' x* Q - v' x* V - v' x* (C - v' x* Q))
//
// of a dof as of a parameter of frames: such a one is a dof that does not move. Of bodies' inertia
// N is zero.

#ifndef DJ_MUJOCO_SWEEP_H_
#define DJ_MUJOCO_SWEEP_H_

#include <dijoco/mujoco.h>

#include <stdbool.h>

// Motions: of a body, or what comes before a place.
typedef struct djmFlow {
  mjtNum beta[6], acc[6], bias[6], vel[6];
} djmFlow;

typedef struct djmPart {
  djmFlow flow;
  mjtNum F[6], P[6], Q[6], V[6], T[6], N[6], C[6];
  bool loaded;           // by wrenches
} djmPart;

typedef struct djmSweep {
  const mjModel* m;
  const mjData* d;       // past mj_forward
  djmPart* body;         // (nbody)
  const mjtNum *beta, *acc, *vel;   // (nv); vel may be NULL
  djmDesignGradient* design;        // added to; or NULL
  mjtNum* gravity;       // (3) derivative by gravity, or NULL
} djmSweep;

// Motions of bodies; all derivatives zero. gravity: the bias has minus that, where there are
// velocities.
void djm_openSweep(djmSweep* s, bool gravity);
// After wrenches: N of bodies.
void djm_closeWrenches(djmSweep* s);
// L += beta^T (M a + c) of rigid bodies, and its derivatives by inertial parameters.
void djm_sweepInertia(djmSweep* s);
// Forces that act at bodies' centres of mass: applied and gravity compensation.
void djm_sweepApplied(djmSweep* s);
// Sums over subtrees; then the derivatives by frames. by_q, by_v: (nv) added to, or NULL.
void djm_closeSweep(djmSweep* s, mjtNum* by_q, mjtNum* by_v);

// A wrench about a point that is r from the body's centre: added to out about the centre.
void djm_addWrenchAt(mjtNum out[6], const mjtNum torque[3], const mjtNum force[3],
                     const mjtNum r[3], mjtNum scale);

#endif  // DJ_MUJOCO_SWEEP_H_
