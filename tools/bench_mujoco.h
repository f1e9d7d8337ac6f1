// What benches need of MuJoCo beside scenes of files.

#ifndef DJ_TOOLS_BENCH_MUJOCO_H_
#define DJ_TOOLS_BENCH_MUJOCO_H_

#include "text.h"

#include <mujoco/mujoco.h>

// A model of MJCF text, which is freed; NULL: the error (size) says why.
static inline mjModel* bench_compile(Buffer* text, char* error, int size) {
  mjVFS vfs;
  mj_defaultVFS(&vfs);
  mj_addBufferVFS(&vfs, "bench.xml", text->text, (int)text->size);
  mjModel* m = mj_loadXML("bench.xml", &vfs, error, size);
  mj_deleteVFS(&vfs);
  buf_free(text);
  return m;
}

#endif // DJ_TOOLS_BENCH_MUJOCO_H_
