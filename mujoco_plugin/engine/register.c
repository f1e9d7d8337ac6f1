// djm_registerPlugins: the plugins become known to MuJoCo.

#include "attach.h"
#include "engine/engine.h"

#include <dijoco/mujoco.h>

#include <stdio.h>

// NULL ends the list.
static const mjpPlugin* (*const plugins[])(void) = {djm_contactPlugin, djm_gapPlugin, NULL};

// MuJoCo copies what it is given, and takes the same plugin twice for one.
static void registerAll(void* arg) {
  (void)arg;
  for (int i = 0; plugins[i]; i++) mjp_registerPlugin(plugins[i]());
}

djStatus djm_registerPlugins(djError* err) {
  djError unused;
  if (!err) err = &unused;
  err->text[0] = '\0';
  djStatus status = djm_attach(err);
  if (status != DJ_OK) return status;
  djError caught;
  status = djm_guard(registerAll, NULL, &caught);
  if (status != DJ_OK) snprintf(err->text, sizeof(err->text), "MuJoCo: %.480s", caught.text);
  return status;
}
