// Plugins of MuJoCo's that are one function without a state, for tests.

#ifndef DJ_TESTS_PLUGIN_H_
#define DJ_TESTS_PLUGIN_H_

#include <mujoco/mujoco.h>

typedef void djtCompute(const mjModel* m, mjData* d, int instance, int capability);

static inline int djt_pluginState(const mjModel* m, int instance) {
  (void)m, (void)instance;
  return 0;
}
static inline int djt_pluginInit(const mjModel* m, mjData* d, int instance) {
  (void)m, (void)d, (void)instance;
  return 0;
}

// Its number; negative: it is not registered.
static inline int djt_registerPlugin(const char* name, int capability, djtCompute* compute) {
  mjpPlugin plugin;
  mjp_defaultPlugin(&plugin);
  plugin.name = name;
  plugin.capabilityflags = capability;
  plugin.nstate = djt_pluginState;
  plugin.init = djt_pluginInit;
  plugin.compute = compute;
  return mjp_registerPlugin(&plugin);
}

#endif  // DJ_TESTS_PLUGIN_H_
