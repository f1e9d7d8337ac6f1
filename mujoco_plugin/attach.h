// How these sources reach MuJoCo's library.

#ifndef MUJOCO_PLUGIN_ATTACH_H_
#define MUJOCO_PLUGIN_ATTACH_H_

#include <dijoco/types.h>

#include <mujoco/mujoco.h>

// Exported for MuJoCo's own Python bindings and in none of its headers: what receives the messages
// of this thread, before any process-wide handler. NULL: nothing. Returns the one before.
MJAPI mjfLogHandler _mjPRIVATE_setTlsLogHandler(mjfLogHandler handler);

// Since 4.0.1; NULL where MuJoCo is older.
MJAPI const char* mjs_getInStringVec(const mjStringVec* source, int i) __attribute__((weak));

// The command and the tests are linked to MuJoCo: nothing to do. libdijoco_plugin.so is not, and
// looks for a MuJoCo that the process has loaded (library/attach.c). Public functions that use
// MuJoCo begin with this, unless they are given a djmContext. DJ_UNSUPPORTED: none is loaded, or
// none of these headers' release; err (may be NULL) says so.
#ifdef DJM_FIND_MUJOCO
djStatus djm_attach(djError* err);

// What the sources use of MuJoCo, as pointers, which djm_attach fills. cmake/Redirect.cmake lists
// it and makes its names, where the sources use them, entries of this table.
#include <mujoco_symbols.h>
#define DJM_POINTER(name) __typeof__(name)* name;
typedef struct djmMuJoCo {
  DJM_SYMBOLS(DJM_POINTER)
} djmMuJoCo;
#undef DJM_POINTER
extern djmMuJoCo djm_mujoco;
#else
static inline djStatus djm_attach(djError* err) {
  (void)err;
  return DJ_OK;
}
#endif

#endif  // MUJOCO_PLUGIN_ATTACH_H_
