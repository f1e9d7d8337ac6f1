// Contexts with contact model mujoco: their step is mj_step itself.

#ifndef DJ_MUJOCO_OWN_STEP_H_
#define DJ_MUJOCO_OWN_STEP_H_

#include "step.h"

static inline bool djm_stepsItself(const djmContext* c) {
  return c->model->opt.contact == DJ_CONTACT_MUJOCO;
}

// After djm_begin: as djm_step, djm_forward and djm_transition.
djStatus djm_stepItself(const mjModel* m, mjData* d, djmContext* c);
djStatus djm_forwardItself(const mjModel* m, mjData* d, djmContext* c);
djStatus djm_transitionItself(const mjModel* m, const mjData* d, djmContext* c, mjtNum* A,
                              mjtNum* B, mjtNum* C, mjtNum* D);

#endif  // DJ_MUJOCO_OWN_STEP_H_
