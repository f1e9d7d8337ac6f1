// scene.xml of each scene of a task, with an OBJ file of each mesh that the design changes beside it.

#ifndef DJ_TOOLS_OPTIMIZE_SCENE_H_
#define DJ_TOOLS_OPTIMIZE_SCENE_H_

#include "json_out.h"
#include "optimize_run.h"

#ifdef DJ_HAVE_MUJOCO
#include <dijoco/mujoco.h>
#else
typedef struct djmSceneFiles {
  char *text, *scene;
  int nfile;
  char **name, **obj;
} djmSceneFiles;
#endif

typedef struct OutScene {
  djmSceneFiles files;      // text NULL: there is no scene
  char note[600];           // why there is none
  bool failed;              // it should have been written
} OutScene;

// Fill list[k], those before it are filled. Meshes that are the same there share their files, others
// have the scene's name in theirs.
void scene_make(OutScene* list, int k, const OptimizeRun* r);
void scene_freeFiles(OutScene* scene);

// What is written, or NULL.
const char* scene_text(const OutScene* scene);

// Files of meshes that no scene before list[k] has. Returns 0, or an exit status after its line on
// stderr.
int scene_writeMeshes(const OutScene* list, int k, const Options* o);
// Their names, as entries of a list that is open.
void scene_listMeshes(Json* out, const OutScene* list, int n);

#endif  // DJ_TOOLS_OPTIMIZE_SCENE_H_
