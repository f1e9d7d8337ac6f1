// What the plugins keep for each mjData.

#ifndef DJ_MUJOCO_ENGINE_KEEP_H_
#define DJ_MUJOCO_ENGINE_KEEP_H_

#include <mujoco/mjdata.h>

#include <stdbool.h>

// The object of an instance, or NULL. Not kept in d->plugin_data: MuJoCo's Python package pickles
// the numbers there with the rest, so that a copy, maybe in another process, has those of the
// original.
void* djm_kept(const mjData* d, int instance);

// Set it; NULL: forget it. false: no memory.
bool djm_keep(const mjData* d, int instance, void* object);

#endif  // DJ_MUJOCO_ENGINE_KEEP_H_
