// The engine plugins.

#ifndef DJ_MUJOCO_ENGINE_ENGINE_H_
#define DJ_MUJOCO_ENGINE_ENGINE_H_

#include <mujoco/mujoco.h>

// dijoco.contact: contact of the geoms that an instance owns, by our step.
const mjpPlugin* djm_contactPlugin(void);

// dijoco.gap: a sensor of the smoothed distance of two geoms or bodies.
const mjpPlugin* djm_gapPlugin(void);

#endif  // DJ_MUJOCO_ENGINE_ENGINE_H_
