// A scene with its compiled values, as a spec.
//
// MuJoCo saves compiled values with six digits. The structure of what it saves is right; the
// numbers are taken from the first compilation again: all its real-valued arrays, through
// mj_copyBack.

#include "attach.h"
#include "write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mujoco/mjxmacro.h>

// ------------------------------ numbers ---------------------------------------------------------

#define DJM_IS_REAL(type) _Generic((type*)NULL, mjtNum*: 1, float*: 1, default: 0)

// What a mesh or a height field decides, which mj_copyBack wants to be that of what it has.
static bool isOfMesh(const char* name) {
  return strcmp(name, "geom_size") == 0 || strcmp(name, "mesh_pos") == 0 ||
         strcmp(name, "mesh_quat") == 0;
}

// Every array of real numbers that has the same size in both models.
static void copyNumbers(mjModel* to, const mjModel* from) {
#undef MJ_M
#define MJ_M(n) m->n
#define XNV X
#define X(type, name, rows, cols)                                    \
  if (DJM_IS_REAL(type) && !isOfMesh(#name)) {                       \
    const mjModel* m = to;                                           \
    size_t size = sizeof(type) * (size_t)(m->rows) * (size_t)(cols); \
    m = from;                                                        \
    if (size == sizeof(type) * (size_t)(m->rows) * (size_t)(cols)) { \
      if (size > 0) memcpy(to->name, from->name, size);              \
    }                                                                \
  }
  MJMODEL_POINTERS
#undef X
#undef XNV
  for (int g = 0; g < to->ngeom; g++) {
    if (to->geom_type[g] == mjGEOM_MESH || to->geom_type[g] == mjGEOM_HFIELD) continue;
    mju_copy3(to->geom_size + 3 * g, from->geom_size + 3 * g);
  }
  to->opt = from->opt;
}

// Meshes as they were written: scale and frame decide what they compile to.
static void copyMeshes(mjSpec* to, const mjSpec* from) {
  mjsElement* a = mjs_firstElement(from, mjOBJ_MESH);
  mjsElement* b = mjs_firstElement(to, mjOBJ_MESH);
  for (; a && b; a = mjs_nextElement(from, a), b = mjs_nextElement(to, b)) {
    const mjsMesh* source = mjs_asMesh(a);
    mjsMesh* mesh = mjs_asMesh(b);
    mju_copy3(mesh->scale, source->scale);
    mju_copy3(mesh->refpos, source->refpos);
    mju_copy4(mesh->refquat, source->refquat);
  }
}

// Numbers of flexes, and places of vertices in their bodies.
static void copyFlexes(mjSpec* to, const mjSpec* from, const mjModel* original) {
  mjsElement* a = mjs_firstElement(from, mjOBJ_FLEX);
  mjsElement* b = mjs_firstElement(to, mjOBJ_FLEX);
  for (int i = 0; a && b; i++, a = mjs_nextElement(from, a), b = mjs_nextElement(to, b)) {
    const mjsFlex* source = mjs_asFlex(a);
    mjsFlex* flex = mjs_asFlex(b);
    flex->young = source->young;
    flex->poisson = source->poisson;
    flex->thickness = source->thickness;
    flex->damping = source->damping;
    flex->edgestiffness = source->edgestiffness;
    flex->edgedamping = source->edgedamping;
    flex->radius = source->radius;
    if (original->flex_centered[i] || original->flex_interp[i]) continue;
    mjs_setDouble(flex->vert, original->flex_vert + 3 * original->flex_vertadr[i],
                  3 * original->flex_vertnum[i]);
  }
}

// Vertices of mesh k as its asset has them, which MuJoCo has moved to the mesh's own frame.
static bool setVertices(mjsMesh* mesh, const mjModel* m, int k) {
  const int n = m->mesh_vertnum[k];
  float* vert = malloc(3 * sizeof *vert * (size_t)n + 1);
  if (!vert) return false;
  for (int i = 0; i < n; i++) {
    mjtNum x[3], y[3];
    mju_f2n(x, m->mesh_vert + 3 * (size_t)(m->mesh_vertadr[k] + i), 3);
    mju_rotVecQuat(y, x, m->mesh_quat + 4 * k);
    mju_addTo3(y, m->mesh_pos + 3 * k);
    mju_n2f(vert + 3 * (size_t)i, y, 3);
  }
  mjs_setFloat(mesh->uservert, vert, 3 * n);
  free(vert);
  return true;
}

// Those written in the scene itself have lost digits: they are those of the first compilation
// again. Scaled and turned meshes are left as they are. Before the spec is compiled: MuJoCo 4.0.1
// writes beyond its memory where a mesh that it has compiled has more facets the next time.
static bool restoreVertices(djmWrite* w, const mjModel* original) {
  for (mjsElement* e = mjs_firstElement(w->spec, mjOBJ_MESH); e;
       e = mjs_nextElement(w->spec, e)) {
    mjsMesh* mesh = mjs_asMesh(e);
    const int k = mj_name2id(original, mjOBJ_MESH, mjs_getString(mjs_getName(e)));
    const mjtNum off = fabs(mesh->refquat[0] - 1) + mju_norm3(mesh->refpos) +
                       fabs(mesh->scale[0] - 1) + fabs(mesh->scale[1] - 1) +
                       fabs(mesh->scale[2] - 1);
    if (k < 0 || off > 0 || mesh->plugin.active || mjs_getString(mesh->file)[0]) continue;
    if (!setVertices(mesh, original, k)) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  }
  return true;
}

// ------------------------------ assets ----------------------------------------------------------

// dir/file in new memory, file alone where it is absolute.
static char* join(const char* dir, const char* file) {
  size_t n = strlen(dir), size = n + strlen(file) + 2;
  char* path = malloc(size);
  if (!path) return NULL;
  if (file[0] == '/' || n == 0) {
    snprintf(path, size, "%s", file);
  } else {
    snprintf(path, size, "%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", file);
  }
  return path;
}

typedef struct djmFolders {
  char* mesh;                 // absolute, also of height fields and skins
  char* texture;
} djmFolders;

// Absolute folders of the scene's assets.
static bool findFolders(djmFolders* folders, djmWrite* w, const mjSpec* spec) {
  char* real = realpath(w->scene, NULL);
  if (!real) {
    djm_writeFail(w, DJ_FILE, "cannot open the file");
    return false;
  }
  char* slash = strrchr(real, '/');
  slash[slash == real] = '\0';
  folders->mesh = join(real, mjs_getString(spec->compiler.meshdir));
  folders->texture = join(real, mjs_getString(spec->compiler.texturedir));
  free(real);
  if (folders->mesh && folders->texture) return true;
  djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  return false;
}

// Names are those that MuJoCo saves, from which it has stripped paths if the scene wants that.
static bool makeAbsolute(djmWrite* w, mjString* file, const char* folder) {
  const char* name = file ? mjs_getString(file) : "";
  if (!name || !*name) return true;
  char* path = join(folder, name);
  if (!path) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
  mjs_setString(file, path);
  free(path);
  return true;
}

static bool makeTextureAbsolute(djmWrite* w, mjsTexture* t, const djmFolders* folders) {
  const char* file = mjs_getString(t->file);
  bool six = t->builtin == mjBUILTIN_NONE && !(file && *file);
  if (six && !mjs_getInStringVec) {
    return djm_writeFail(w, DJ_UNSUPPORTED, "a texture of six files needs MuJoCo 4.0.1 or later");
  }
  for (int i = 0; i < 6 && six; i++) {
    const char* name = mjs_getInStringVec(t->cubefiles, i);
    if (!name || !*name) continue;
    char* path = join(folders->texture, name);
    if (!path) return djm_writeFail(w, DJ_NO_MEMORY, "out of memory");
    mjs_setInStringVec(t->cubefiles, i, path);
    free(path);
  }
  return makeAbsolute(w, t->file, folders->texture);
}

static bool makeAssetsAbsolute(djmWrite* w, const djmFolders* folders) {
  static const mjtObj types[] = {mjOBJ_MESH, mjOBJ_HFIELD, mjOBJ_SKIN, mjOBJ_TEXTURE};
  mjSpec* spec = w->spec;
  for (int k = 0; k < 4; k++) {
    mjsElement* e = mjs_firstElement(spec, types[k]);
    for (; e; e = mjs_nextElement(spec, e)) {
      bool good = true;
      if (types[k] == mjOBJ_TEXTURE) {
        good = makeTextureAbsolute(w, mjs_asTexture(e), folders);
      } else {
        mjString* file = types[k] == mjOBJ_MESH     ? mjs_asMesh(e)->file
                         : types[k] == mjOBJ_HFIELD ? mjs_asHField(e)->file
                                                    : mjs_asSkin(e)->file;
        good = makeAbsolute(w, file, folders->mesh);
      }
      if (!good) return false;
    }
  }
  mjs_setString(spec->compiler.meshdir, "");
  mjs_setString(spec->compiler.texturedir, "");
  return true;
}

// ------------------------------ stages ----------------------------------------------------------

// What the compiler would infer or repair is in the numbers already.
static void switchOff(mjSpec* spec) {
  mjsCompiler* c = &spec->compiler;
  c->inertiafromgeom = mjINERTIAFROMGEOM_AUTO;
  c->settotalmass = -1;
  c->boundmass = c->boundinertia = 0;
  c->balanceinertia = c->fusestatic = c->discardvisual = c->alignfree = 0;
}

// Text of the scene with its compiled values; *m is what it compiles to.
static char* compiledText(djmWrite* w, mjModel** m, mjSpec* spec) {
  char error[1000] = "";
  *m = mj_compile(spec, NULL);
  if (!*m) {
    djm_writeFail(w, DJ_INVALID, "%.480s", mjs_getError(spec));
    return NULL;
  }
  spec->compiler.savecompiled = 1;
  spec->compiler.saveinertial = 1;
  char* text = NULL;
  for (int size = 1 << 16, round = 0; round < 3; round++) {
    char* larger = realloc(text, (size_t)size);
    if (!larger) break;
    text = larger;
    int need = mj_saveXMLString(spec, text, size, error, sizeof error);
    if (need == 0) return text;
    if (need < 0) break;
    size = need + 1;
  }
  djm_writeFail(w, DJ_INVALID, "MuJoCo cannot save the scene: %.400s", error);
  free(text);
  return NULL;
}

static bool sameStructure(const mjModel* a, const mjModel* b) {
  return a->nq == b->nq && a->nv == b->nv && a->nbody == b->nbody && a->njnt == b->njnt &&
         a->ngeom == b->ngeom && a->nsite == b->nsite && a->nmesh == b->nmesh &&
         a->nmeshvert == b->nmeshvert && a->nu == b->nu && a->nactuator == b->nactuator &&
         a->nkey == b->nkey && a->npair == b->npair && a->ntendon == b->ntendon &&
         a->neq == b->neq;
}

// Read the canonical text, compile it and give it the exact numbers.
static bool reread(djmWrite* w, const char* text, const mjModel* original, const mjSpec* source) {
  char error[1000] = "";
  djmFolders folders = {0};
  w->spec = mj_parseXMLString(text, NULL, error, sizeof error);
  if (!w->spec) {
    return djm_writeFail(w, DJ_INVALID, "MuJoCo cannot read what it saved: %.400s", error);
  }
  bool good = findFolders(&folders, w, source) && makeAssetsAbsolute(w, &folders);
  free(folders.mesh);
  free(folders.texture);
  if (!good) return false;
  switchOff(w->spec);
  copyMeshes(w->spec, source);
  copyFlexes(w->spec, source, original);
  if (!restoreVertices(w, original)) return false;
  w->m = mj_compile(w->spec, NULL);
  if (!w->m) {
    return djm_writeFail(w, DJ_INVALID, "MuJoCo cannot compile what it saved: %.400s",
                         mjs_getError(w->spec));
  }
  if (!sameStructure(w->m, original)) {
    return djm_writeFail(w, DJ_UNSUPPORTED, "MuJoCo does not save all of this scene");
  }
  copyNumbers(w->m, original);
  djStatus status = dj_importMuJoCo(&w->base, NULL, w->m, w->err);
  if (status != DJ_OK) w->status = status;
  return status == DJ_OK;
}

bool djm_canonical(djmWrite* w) {
  char error[1000] = "";
  mjSpec* source = mj_parseXML(w->scene, NULL, error, sizeof error);
  if (!source) return djm_writeFail(w, DJ_INVALID, "%.480s", error);
  mjModel* original = NULL;
  char* text = compiledText(w, &original, source);
  bool good = text && reread(w, text, original, source);
  free(text);
  if (original) mj_deleteModel(original);
  mj_deleteSpec(source);
  return good;
}
