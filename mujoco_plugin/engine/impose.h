// Make MuJoCo's own step end with a given velocity.

#ifndef DJ_MUJOCO_ENGINE_IMPOSE_H_
#define DJ_MUJOCO_ENGINE_IMPOSE_H_

#include <dijoco/types.h>

#include <mujoco/mujoco.h>

// To be called in the compute callback of a passive plugin. Replaces d->qfrc_passive (forces that
// MuJoCo and other plugins have put there included) such that the step under way ends with velocity
// vnext (nv), where no constraint of MuJoCo's is active; constraints act on top of it.
//
// Reached to rounding with every integrator but RK4: by Euler, implicit, implicitfast and discrete,
// each with its own effective metric. What MuJoCo reads later than the callback is not seen: ctrl
// set between mj_step1 and mj_step2 or by mjcb_control, and forces of plugins that come after.
// No other output of the forward pass is changed. Nothing is called where springs and dampers are
// both disabled.
//
// DJ_UNSUPPORTED: RK4, or sleeping enabled. DJ_INVALID: vnext or the result is not finite, or the
// timestep is not positive. qfrc_passive is then as it was. work: djm_imposeWork(m) numbers.
djStatus djm_impose(const mjModel* m, mjData* d, const mjtNum* vnext, mjtNum* work);
size_t djm_imposeWork(const mjModel* m);

#endif  // DJ_MUJOCO_ENGINE_IMPOSE_H_
