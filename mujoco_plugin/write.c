// A changed design as MJCF.
//
// MuJoCo's own means do the writing: a spec, into which mj_copyBack puts the numbers that differ
// from what it compiles to. They cannot express everything in the spec as the user wrote it
// (frames, fitted geoms, inertia that follows geoms), so the spec is first made canonical: saved
// with its compiled values and read again (write_canonical.c). What comes out is compiled once more
// and compared with the wanted model, number by number (write_check.c).

#include "attach.h"
#include "write.h"
#include "write_hfield.h"

#include <dijoco/file.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------ checking ---------------------------------------------------------

// Compile the changed spec. Faces of a changed mesh may no longer be consistent: then MuJoCo makes
// new ones, those of the hull.
static bool recompile(djmWrite* w) {
  for (int with_faces = 1; with_faces >= 0; with_faces--) {
    if (!djm_writeMeshes(w, with_faces) || !djm_writeHfields(w)) return false;
    mjModel* m = mj_compile(w->spec, NULL);
    bool changed;
    if (!m) continue;
    w->made = m;
    if (!djm_writeLimits(w, m, &changed)) return false;
    if (changed) mj_deleteModel(m);
    if (changed) w->made = mj_compile(w->spec, NULL);
    return w->made != NULL;
  }
  return djm_writeFail(w, DJ_INVALID, "the changed scene does not compile: %.400s",
                       mjs_getError(w->spec));
}

// Load the result as a user would and compare.
static bool verify(djmWrite* w) {
  w->saved = true;
  char error[1000] = "";
  mjSpec* spec = mj_parseXMLString(w->text, NULL, error, sizeof error);
  mjModel* m = spec ? mj_compile(spec, NULL) : NULL;
  if (!m) {
    djm_writeFail(w, DJ_INVALID, "the written scene does not load: %.400s",
                  spec ? mjs_getError(spec) : error);
  } else {
    djStatus status = djm_checkDesign(m, w->wanted, w->base, 1e-10, w->err);
    if (w->status == DJ_OK) w->status = status;
  }
  if (m) mj_deleteModel(m);
  if (spec) mj_deleteSpec(spec);
  return w->status == DJ_OK;
}

// From our own model: everything is written anew.
static void runModel(void* arg) {
  djmWrite* w = arg;
  mj_defaultVFS(&w->vfs);
  if (!djm_specFromModel(w, true)) return;
  w->m = mj_compile(w->spec, NULL);
  if (!w->m) {   // triangles that it refuses are left out: hulls are made of vertices alone
    mj_deleteSpec(w->spec);
    w->spec = NULL;
    if (!djm_specFromModel(w, false)) return;
    w->m = mj_compile(w->spec, NULL);
  }
  if (!w->m) {
    djm_writeFail(w, DJ_UNSUPPORTED, "MuJoCo cannot compile it: %.400s", mjs_getError(w->spec));
    return;
  }
  bool changed;
  if (!djm_writeRest(w)) return;
  if (w->rest_moved && mj_copyBack(w->spec, w->m) != 1) {
    djm_writeFail(w, DJ_UNSUPPORTED, "MuJoCo cannot express the rest shape: %.400s",
                  mjs_getError(w->spec));
    return;
  }
  if (djm_writeSettings(w) && djm_writeKey(w) && djm_writeLimits(w, w->m, &changed) &&
      djm_saveSpec(w, &w->text)) {
    verify(w);
  }
}

static void run(void* arg) {
  djmWrite* w = arg;
  mj_defaultVFS(&w->vfs);
  if (!djm_canonical(w) || !djm_writeValues(w) || !djm_writeRest(w)) return;
  if (mj_copyBack(w->spec, w->m) != 1) {
    djm_writeFail(w, DJ_UNSUPPORTED, "MuJoCo cannot express the change: %.400s",
                  mjs_getError(w->spec));
    return;
  }
  djm_writeBodies(w);
  djm_writeTendons(w);
  djm_writeFlexes(w);
  bool good = djm_writeSettings(w) && djm_writeKey(w) && recompile(w) &&
              djm_saveSpec(w, &w->text) && verify(w);
  if (good && w->files) djm_writeFiles(w);
}

static void release(void* arg) {
  djmWrite* w = arg;
  if (w->m) mj_deleteModel(w->m);
  if (w->made) mj_deleteModel(w->made);
  mj_deleteVFS(&w->vfs);
  if (w->spec) mj_deleteSpec(w->spec);
}

// ------------------------------ public ----------------------------------------------------------

static bool endsWith(const char* text, const char* ending) {
  size_t n = strlen(text), k = strlen(ending);
  return n >= k && strcmp(text + n - k, ending) == 0;
}

// *refused: what a check found to be another model, of which err tells; the caller's to free.
static djStatus make(char** text, char** refused, djmSceneFiles* files, const char* scene,
                     const djModel* model, const djKeyDef* key, const char* suffix, djError* err) {
  djError unused;
  if (!err) err = &unused;
  err->text[0] = '\0';
  if (text) *text = NULL;
  *refused = NULL;
  djmWrite w = {.scene = scene, .wanted = model, .key = key, .err = err, .suffix = suffix,
                .files = files};
  if (!text || !scene || !model) {
    djm_writeFail(&w, DJ_INVALID, "djm_makeMJCF: no text, scene or model given");
    return w.status;
  }
  djStatus status = djm_attach(err);
  if (status != DJ_OK) return status;
  djError caught;
  status = djm_guard(endsWith(scene, ".xml") ? run : runModel, &w, &caught);
  if (status != DJ_OK) djm_writeFail(&w, status, "MuJoCo: %.480s", caught.text);
  djm_guard(release, &w, NULL);
  if (w.base) dj_deleteModel(w.base);
  free(w.mesh_changed);
  if (w.status == DJ_OK) {
    *text = w.text;
  } else if (w.saved && w.status != DJ_NO_MEMORY) {
    *refused = w.text;
  } else {
    free(w.text);
  }
  return w.status;
}

djStatus djm_makeMJCF(char** text, const char* scene, const djModel* model, const djKeyDef* key,
                      djError* err) {
  char* refused;
  djStatus status = make(text, &refused, NULL, scene, model, key, NULL, err);
  free(refused);
  return status;
}

djStatus djm_makeSceneFiles(djmSceneFiles* out, const char* scene, const djModel* model,
                            const djKeyDef* key, const char* suffix, djError* err) {
  *out = (djmSceneFiles){0};
  char* refused;
  djStatus status = make(&out->text, &refused, out, scene, model, key, suffix ? suffix : "", err);
  if (status != DJ_OK) djm_freeSceneFiles(out);
  out->refused = refused;
  return status;
}

static djStatus save(const char* path, const char* text, djError* err) {
  djFile* file;
  djStatus status = dj_openFile(&file, path, err);
  if (status != DJ_OK) return status;
  dj_writeFile(file, text, strlen(text));
  return dj_commitFile(file, err);
}

// "scene.refused.xml" for "scene.xml"; err says where it is.
static void saveRefused(const char* path, const char* text, djError* err) {
  const size_t n = strlen(path), size = n + sizeof ".refused.xml";
  char* name = malloc(size);
  djError unused;
  if (!name) return;
  snprintf(name, size, "%.*s.refused.xml", (int)(endsWith(path, ".xml") ? n - 4 : n), path);
  if (save(name, text, &unused) == DJ_OK) {
    const size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, "; what came out is in %.200s", name);
  }
  free(name);
}

djStatus djm_writeMJCF(const char* path, const char* scene, const djModel* model,
                       const djKeyDef* key, djError* err) {
  char *text = NULL, *refused;
  djError unused;
  if (!err) err = &unused;
  djStatus status = make(&text, &refused, NULL, scene, model, key, NULL, err);
  if (refused && path) saveRefused(path, refused, err);
  free(refused);
  if (status != DJ_OK || !text) return status;
  status = save(path, text, err);
  free(text);
  return status;
}
