// MuJoCo as physics from outside (dijoco/physics.h): contact model `mujoco` of an imported model.

#ifndef DJ_MUJOCO_PHYSICS_H_
#define DJ_MUJOCO_PHYSICS_H_

#include <dijoco/model.h>

#include <mujoco/mujoco.h>

// A copy of m; with MuJoCo's errors as a status.
djStatus djm_copyStock(mjModel** copy, const mjModel* m, djError* err);

// Gives the model the physics of m, which is taken over, also on failure.
djStatus djm_givePhysics(djModel* model, mjModel* m, djError* err);

// The mjModel by which the model is stepped now; NULL: it is not.
const mjModel* djm_physicsModel(const djModel* model);

#endif  // DJ_MUJOCO_PHYSICS_H_
