// Smooth forces that MuJoCo has and our step has not.

#ifndef DJ_MUJOCO_ENGINE_REST_H_
#define DJ_MUJOCO_ENGINE_REST_H_

#include <mujoco/mujoco.h>

// To be called in the compute callback of a passive plugin, before d->qfrc_passive is changed. Sets
// rest (nv): actuators that the import leaves out; passive forces of callbacks, of plugins that
// came before, and of adhesion.
void djm_restForce(mjtNum* rest, const mjModel* m, mjData* d);

#endif  // DJ_MUJOCO_ENGINE_REST_H_
