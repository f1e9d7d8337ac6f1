// Compiling MJCF that may be anything.

#ifndef DJ_TESTS_FUZZ_MJCF_H_
#define DJ_TESTS_FUZZ_MJCF_H_

#include "fuzz.h"

#include <dijoco/mujoco.h>

typedef struct FuzzCompile {
  const char* text;
  mjModel* m;
} FuzzCompile;

static inline void fuzz_runCompile(void* user) {
  FuzzCompile* c = user;
  char error[1000];
  mjVFS vfs;
  mj_defaultVFS(&vfs);
  mj_addBufferVFS(&vfs, "model.xml", c->text, (int)strlen(c->text));
  c->m = mj_loadXML("model.xml", &vfs, error, sizeof error);
  mj_deleteVFS(&vfs);
}

// The model, or NULL.
static inline mjModel* fuzz_compile(const char* text) {
  FUZZ_CHECK(djm_registerPlugins(NULL) == DJ_OK);
  FuzzCompile c = {.text = text};
  return djm_guard(fuzz_runCompile, &c, NULL) == DJ_OK ? c.m : NULL;
}

#endif  // DJ_TESTS_FUZZ_MJCF_H_
