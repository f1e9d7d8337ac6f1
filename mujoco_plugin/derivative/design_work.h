// Parts of djm_backwardMuJoCo.

#ifndef DJ_MUJOCO_DESIGN_WORK_H_
#define DJ_MUJOCO_DESIGN_WORK_H_

#include "sweep.h"
#include "transition_work.h"

// L = -lambda . (M a + c - forces): its derivatives are added up. beta = -lambda in the sweep.
typedef struct djmBackward {
  djmTransitionWork* w;
  djmDesignGradient* g;  // or NULL
  djmSweep sweep;
  mjtNum* lambda;        // (nv) of the solution
  mjtNum* beta;          // (nv) -lambda
  mjtNum* mu;            // (nv) of the integrator's
  mjtNum* sizes;         // (ngeom x 3) scratch
} djmBackward;

// L by a row's own numbers (getimpedance): stiffness K, damping B, impedance I.
typedef struct djmRowLaw {
  mjtNum by_K, by_B, by_I;
  mjtNum by_friction;    // by B of friction rows, where they have a reference of their own
} djmRowLaw;

// Adds L by solref (2), solreffriction (2, or NULL), solimp (5), as the model has them before they
// are clamped; pos less margin.
void djm_lawSlope(mjtNum* by_ref, mjtNum* by_friction, mjtNum* by_imp, const djmRowLaw* law,
                  const mjModel* m, const mjtNum* solref, const mjtNum* solreffriction,
                  const mjtNum* solimp, mjtNum depth);

// Whether M has room for a tendon's armature: all its dofs on one way to the root.
bool djm_canHaveArmature(const mjModel* m, int tendon);
// (nbody) of the work; NULL: out of memory.
djmPart* djm_sweepRoom(djmTransitionWork* w);

// Contacts, in the sweep and the design.
djStatus djm_backContacts(djmBackward* b, djError* err);
// Equalities of bodies in the sweep; all rows but contacts in the design.
void djm_backRows(djmBackward* b);
// An equality of bodies from row adr, in the sweep.
void djm_backPair(djmBackward* b, int adr);
// Springs, dampers, actuators, activations in the design; act_end: (na) gradient by activations
// after the step.
void djm_backForces(djmBackward* b, const mjtNum* act_end);

#endif  // DJ_MUJOCO_DESIGN_WORK_H_
