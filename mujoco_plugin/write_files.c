// Changed meshes of a written scene as OBJ files beside it.

#include "write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The mesh's name, of plain characters.
static char* fileName(const djmWrite* w, const char* mesh, int id) {
  size_t n = strlen(mesh), size = n + strlen(w->suffix) + 40;
  char* name = malloc(size);
  if (!name) return NULL;
  bool plain = n > 0 && n < 100;
  n = n < 100 ? n : 100;
  for (size_t i = 0; i < n; i++) {
    const char c = mesh[i];
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || ((c == '-' || c == '.') && i > 0);
    name[i] = good ? c : '_';
    plain = plain && good;
  }
  name[n] = '\0';
  if (!plain) snprintf(name + n, size - n, "%smesh_%d", n ? "_" : "", id);
  n = strlen(name);
  snprintf(name + n, size - n, "%s.obj", w->suffix);
  return name;
}

// Vertices as MuJoCo keeps them, and the faces that it has made of them.
static char* objText(const djmWrite* w, int id) {
  const mjModel* m = w->made;
  int nvert = w->wanted->mesh_vertnum[id], nface = m->mesh_facenum[id];
  const double* vert = w->wanted->mesh_vert + 3 * (size_t)w->wanted->mesh_vertadr[id];
  const int* face = m->mesh_face + 3 * (size_t)m->mesh_faceadr[id];
  size_t size = 64 * (size_t)(nvert + nface) + 1, used = 0;   // 16 a float, 11 an int
  char* text = malloc(size);
  if (!text) return NULL;
  text[0] = '\0';
  for (int i = 0; i < nvert; i++, vert += 3) {
    used += (size_t)snprintf(text + used, size - used, "v %.9g %.9g %.9g\n", (double)(float)vert[0],
                             (double)(float)vert[1], (double)(float)vert[2]);
  }
  for (int i = 0; i < nface; i++, face += 3) {
    used += (size_t)snprintf(text + used, size - used, "f %d %d %d\n", face[0] + 1, face[1] + 1,
                             face[2] + 1);
  }
  return text;
}

static bool addFile(djmWrite* w, mjsMesh* mesh, int id) {
  djmSceneFiles* f = w->files;
  const char* own = mjs_getString(mjs_getName(mesh->element));
  char *name = fileName(w, own ? own : "", id), *text = objText(w, id);
  if (!name || !text) {
    free(name);
    free(text);
    return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  }
  f->name[f->nfile] = name;
  f->obj[f->nfile++] = text;
  if (mj_addBufferVFS(&w->vfs, name, text, (int)strlen(text)) != 0) return false;
  mjs_setFloat(mesh->uservert, NULL, 0);
  mjs_setInt(mesh->userface, NULL, 0);
  mjs_setString(mesh->file, name);
  return true;
}

// What a user gets who loads the scene from its folder is the design.
static bool isRead(djmWrite* w) {
  char error[1000] = "";
  djError err = {""};
  mjSpec* spec = mj_parseXMLString(w->files->scene, &w->vfs, error, sizeof error);
  mjModel* m = spec ? mj_compile(spec, &w->vfs) : NULL;
  bool good = m && djm_checkDesign(m, w->wanted, w->base, 1e-10, &err) == DJ_OK;
  if (m) mj_deleteModel(m);
  if (spec) mj_deleteSpec(spec);
  return good;
}

static bool splitMeshes(djmWrite* w) {
  for (mjsElement* e = mjs_firstElement(w->spec, mjOBJ_MESH); e;
       e = mjs_nextElement(w->spec, e)) {
    int id = mjs_getId(e);
    if (id < 0 || id >= w->base->nmesh || !w->mesh_changed[id]) continue;
    if (!addFile(w, mjs_asMesh(e), id)) return false;
  }
  if (w->files->nfile == 0) return false;
  mjModel* m = mj_compile(w->spec, &w->vfs);
  if (m) mj_deleteModel(m);
  return m && djm_saveSpec(w, &w->files->scene) && isRead(w);
}

bool djm_writeFiles(djmWrite* w) {
  djmSceneFiles* f = w->files;
  size_t n = (size_t)w->base->nmesh + 1;
  f->name = calloc(n, sizeof *f->name);
  f->obj = calloc(n, sizeof *f->obj);
  if (!f->name || !f->obj) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  if (!splitMeshes(w)) djm_freeSceneFiles(f);
  return w->status == DJ_OK;
}
