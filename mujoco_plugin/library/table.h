// What libdijoco_plugin.so uses of MuJoCo, as pointers. cmake/Redirect.cmake lists it and makes its
// names, where the sources use them, entries of this table.

#ifndef MUJOCO_PLUGIN_LIBRARY_TABLE_H_
#define MUJOCO_PLUGIN_LIBRARY_TABLE_H_

#include "attach.h"

#include <mujoco_symbols.h>

#define DJM_POINTER(name) __typeof__(name)* name;
typedef struct djmMuJoCo {
  DJM_SYMBOLS(DJM_POINTER)
} djmMuJoCo;
#undef DJM_POINTER

extern djmMuJoCo djm_mujoco;  // filled by djm_attach

#endif  // MUJOCO_PLUGIN_LIBRARY_TABLE_H_
