// A shipped scene in both engines. For programs called mj_* only: needs MuJoCo.

#ifndef DJ_VALIDATION_MJ_SCENE_H_
#define DJ_VALIDATION_MJ_SCENE_H_

#include "common/report.h"

#include <dijoco/dijoco.h>
#include <stock.h>

#include <stdio.h>
#include <time.h>

typedef struct djvBoth {
  mjModel* m;           // as compiled
  djModel* model;
  djData* data;
  djStock* stock;
} djvBoth;

// Loads models/NAME/scene.xml, or ends the program.
static inline void djv_loadBoth(djvBoth* both, const char* name) {
  char path[500];
  djError err;
  snprintf(path, sizeof path, "%s/models/%s/scene.xml", DIJOCO_SOURCE_DIR, name);
  if (dj_loadMJCF(&both->model, NULL, &both->m, path, &err) ||
      dj_makeData(&both->data, both->model, &err) || dj_makeStock(&both->stock, both->m, &err)) {
    djv_fail("%s: %s", path, err.text);
  }
}

static inline void djv_freeBoth(djvBoth* both) {
  dj_deleteStock(both->stock);
  dj_deleteData(both->data);
  dj_deleteModel(both->model);
  mj_deleteModel(both->m);
}

// Processor time, seconds.
static inline double djv_clock(void) { return (double)clock() / CLOCKS_PER_SEC; }

#endif  // DJ_VALIDATION_MJ_SCENE_H_
