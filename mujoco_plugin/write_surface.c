// A scene whose geoms are meshes of the surfaces by which they touch (contact model
// implicit_surface), so that stock MuJoCo draws and collides with what is simulated.
//
// It is the scene as djm_makeMJCF writes it, inertia as numbers, with some geoms of type mesh,
// whose frames are those of their surfaces, and these surfaces as given ones in <custom>: the
// result is the same model to us.

#include "attach.h"
#include "import.h"
#include "write.h"

#include <dijoco/surface.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Work {
  const djModel* model;
  double part; // error of meshes
  mjSpec* spec;
  const char* base; // the scene as it is
  char* text;       // the result
  int count;        // meshes
  djmWrite write;
} Work;

static mjsGeom* geomOf(mjSpec* spec, int geom) {
  mjsElement* e = mjs_firstElement(spec, mjOBJ_GEOM);
  while (e && mjs_getId(e) != geom) e = mjs_nextElement(spec, e);
  return e ? mjs_asGeom(e) : NULL;
}

static void fieldName(char field[700], const char* name, const djModel* m, int geom) {
  const char* own = dj_id2name(m, DJ_OBJ_GEOM, geom);
  if (*own)
    snprintf(field, 700, "dijoco_%s/%.600s", name, own);
  else
    snprintf(field, 700, "dijoco_%s/#%d", name, geom);
}

// A mesh asset with its vertices inline, of which MuJoCo makes the hull.
static bool addMesh(Work* w, const char* name, const djSurfaceMesh* from) {
  mjsMesh* mesh = mjs_addMesh(w->spec, NULL);
  const int n = 3 * from->nvert;
  float* vert = malloc(sizeof(float) * (size_t)n);
  bool good = vert && mesh && mjs_setName(mesh->element, name) == 0;
  if (good) {
    for (int k = 0; k < n; k++) vert[k] = (float)from->vert[k];
    mjs_setFloat(mesh->uservert, vert, n);
    mjs_setInt(mesh->userface, from->face, 3 * from->nface);
    mesh->inertia = mjMESH_INERTIA_CONVEX;
  }
  free(vert);
  return good || djm_writeFail(&w->write, DJ_INVALID, "mesh/%s: cannot be added", name);
}

// The surface as a text, and what follows from the geom as it was.
static bool writeFields(Work* w, const djSurface* s, int geom) {
  char field[700];
  const size_t room = 100 + 27 * (size_t)s->nsize;
  char* text = malloc(room);
  if (!text) return djm_writeFail(&w->write, DJ_NO_MEMORY, "out of memory");
  size_t used = (size_t)snprintf(text, room, "%s", s->family);
  for (int i = 0; i < s->nsize; i++) {
    used += (size_t)snprintf(text + used, room - used, " %.17g", s->size[i]);
  }
  fieldName(field, "shape", w->model, geom);
  bool good = djm_setText(&w->write, field, text);
  free(text);
  fieldName(field, "inner_radius", w->model, geom);
  if (w->model->geom_radius[geom] > 0) {
    good = good && djm_setNumber(&w->write, field, w->model->geom_radius[geom]);
  }
  fieldName(field, "sharpness", w->model, geom);
  mjsElement* old = mjs_findElement(w->spec, mjOBJ_NUMERIC, field);
  return good && (!old || mjs_delete(w->spec, old) == 0 ||
                  djm_writeFail(&w->write, DJ_INVALID, "numeric/%s: cannot be taken away", field));
}

static bool replaceGeom(Work* w, int geom) {
  djSurface s;
  djSurfaceMesh mesh;
  char name[64];
  djStatus status = dj_geomSurface(&s, w->model, geom, w->write.err);
  if (status == DJ_UNSUPPORTED || (status == DJ_OK && s.inside == 0 && s.outside == 0)) return true;
  if (status == DJ_OK) status = dj_makeSurfaceMesh(&mesh, w->model, geom, w->part, w->write.err);
  if (status != DJ_OK) {
    w->write.status = status;
    return false;
  }
  snprintf(name, sizeof name, "dijoco_surface_%d", geom);
  bool good = addMesh(w, name, &mesh) && writeFields(w, &s, geom);
  dj_freeSurfaceMesh(&mesh);
  mjsGeom* g = geomOf(w->spec, geom);
  if (!good || !g)
    return good && djm_writeFail(&w->write, DJ_INVALID, "geom #%d: is not there", geom);
  g->type = mjGEOM_MESH;
  mjs_setString(g->meshname, name);
  mju_zero3(g->size);
  g->fromto[0] = NAN;
  mju_copy3(g->pos, s.pos);
  mju_copy4(g->quat, s.quat);
  g->alt.type = mjORIENTATION_QUAT;
  w->count++;
  return true;
}

static char* saved(Work* w) {
  char error[1000] = "";
  char* text = NULL;
  w->spec->compiler.savecompiled = 0;
  w->spec->compiler.savecanonical = 1;
  for (int size = 1 << 18, round = 0; round < 3; round++) {
    char* larger = realloc(text, (size_t)size);
    if (!larger) break;
    text = larger;
    const int need = mj_saveXMLString(w->spec, text, size, error, sizeof error);
    if (need == 0) return text;
    if (need < 0) break;
    size = need + 1;
  }
  djm_writeFail(&w->write, DJ_INVALID, "MuJoCo cannot save the scene: %.400s", error);
  free(text);
  return NULL;
}

// Bodies weigh what they did.
static bool check(Work* w) {
  char error[1000] = "";
  mjSpec* spec = mj_parseXMLString(w->text, NULL, error, sizeof error);
  mjModel* m = spec ? mj_compile(spec, NULL) : NULL;
  const djModel* wanted = w->model;
  if (!m) {
    djm_writeFail(&w->write, DJ_INVALID, "the scene with meshes does not load: %.400s",
                  spec ? mjs_getError(spec) : error);
  }
  for (int b = 1; m && b < wanted->nbody; b++) {
    double off = fabs(m->body_mass[b] - wanted->body_mass[b]) / (1 + wanted->body_mass[b]);
    for (int k = 0; k < 3; k++) {
      const double scale = 1 + fabs(wanted->body_inertia[3 * b + k]);
      off = fmax(off, fabs(m->body_inertia[3 * b + k] - wanted->body_inertia[3 * b + k]) / scale);
      off = fmax(off, fabs(m->body_ipos[3 * b + k] - wanted->body_ipos[3 * b + k]));
    }
    if (off > 1e-9) {
      djm_writeFail(&w->write, DJ_UNSUPPORTED, "body #%d: its inertia could not be kept", b);
    }
  }
  if (m) mj_deleteModel(m);
  if (spec) mj_deleteSpec(spec);
  return w->write.status == DJ_OK;
}

static void run(void* arg) {
  Work* w = arg;
  char error[1000] = "";
  w->spec = w->write.spec = mj_parseXMLString(w->base, NULL, error, sizeof error);
  mjModel* m = w->spec ? mj_compile(w->spec, NULL) : NULL; // numbers elements
  if (!m) {
    djm_writeFail(&w->write, DJ_INVALID, "%.480s", w->spec ? mjs_getError(w->spec) : error);
    return;
  }
  mj_deleteModel(m);
  for (int g = 0; g < djm_ownGeoms(w->model); g++) {
    if (!replaceGeom(w, g)) return;
  }
  m = mj_compile(w->spec, NULL);
  if (!m) {
    djm_writeFail(&w->write, DJ_INVALID, "the scene with meshes does not compile: %.400s",
                  mjs_getError(w->spec));
    return;
  }
  mj_deleteModel(m);
  w->text = saved(w);
  if (w->text) check(w);
}

static void release(void* arg) {
  Work* w = arg;
  if (w->spec) mj_deleteSpec(w->spec);
}

djStatus djm_makeSurfaceMJCF(char** text, int* count, const char* scene, const djModel* model,
                             double part, djError* err) {
  djError unused, caught;
  char* base = NULL;
  if (!err) err = &unused;
  if (text) *text = NULL;
  if (count) *count = 0;
  djStatus status = djm_makeMJCF(&base, scene, model, NULL, err);
  if (status != DJ_OK || !text) {
    free(base);
    return status;
  }
  err->text[0] = '\0';
  Work w = {.model = model, .part = part, .base = base, .write = {.scene = scene, .err = err}};
  status = djm_guard(run, &w, &caught);
  if (status != DJ_OK) djm_writeFail(&w.write, status, "MuJoCo: %.480s", caught.text);
  djm_guard(release, &w, NULL);
  free(base);
  if (w.write.status == DJ_OK)
    *text = w.text;
  else
    free(w.text);
  if (count) *count = w.count;
  return w.write.status;
}
