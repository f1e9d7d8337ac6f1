// A written scene with its changed meshes in files.

#ifndef DJ_MUJOCO_WRITE_FILES_H_
#define DJ_MUJOCO_WRITE_FILES_H_

#include <dijoco/mujoco.h>

// A changed design as djm_makeMJCF writes it, and as a scene that has each changed mesh in a file
// beside it, from which it compiles to the same: MuJoCo's floats, to the last bit.
typedef struct djmSceneFiles {
  char* text;               // as djm_makeMJCF writes it
  char* refused;            // instead of all others: what is not the same model
  char* scene;              // with the files; NULL: no mesh was changed, or MuJoCo reads none of it
  int nfile;                // meshes
  char** name;              // (nfile) "MESH.obj", with the suffix before the dot
  char** obj;               // (nfile) what is in the file
} djmSceneFiles;
djStatus djm_makeSceneFiles(djmSceneFiles* out, const char* scene, const djModel* model,
                            const djKeyDef* key, const char* suffix, djError* err);
void djm_freeSceneFiles(djmSceneFiles* files);

#endif  // DJ_MUJOCO_WRITE_FILES_H_
