// Warnings of the plugins, through MuJoCo.

#ifndef DJ_MUJOCO_ENGINE_TELL_H_
#define DJ_MUJOCO_ENGINE_TELL_H_

// MuJoCo's warning "plugin: text", unless it was given before in this process: instances are made
// again with every mjData. Inside djm_guard, which swallows it, it is given but does not count.
void djm_tellOnce(const char* plugin, const char* text);

#endif  // DJ_MUJOCO_ENGINE_TELL_H_
