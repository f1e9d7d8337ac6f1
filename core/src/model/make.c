#include "model/make.h"

#include "base/arena.h"
#include "base/status.h"
#include "model/activation.h"
#include "model/check.h"
#include "model/coordinate_list.h"
#include "model/element.h"
#include "model/equality.h"
#include "model/flex.h"
#include "model/joint_type.h"
#include "model/kernel_setting.h"
#include "model/param.h"
#include "model/points.h"
#include "model/surface.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DJ_MAX_COUNT 10000000  // of elements of one kind: sums of sizes then fit an int

// Sizes by the names that DJ_MODEL_ARRAYS uses.
#define SIZES_OF(m)                                                                             \
  int nq = m->nq, nv = m->nv, nu = m->nu, na = m->na, nbody = m->nbody, njnt = m->njnt;         \
  int ngeom = m->ngeom, nmesh = m->nmesh, nmeshvert = m->nmeshvert, nmeshface = m->nmeshface;   \
  int nmeshtri = m->nmeshtri, nsite = m->nsite, nmocap = m->nmocap, npair = m->npair;           \
  int nexclude = m->nexclude, nguide = m->nguide, nkey = m->nkey, nnames = m->nnames;           \
  int ncoord = m->ncoord, ncoorddof = m->ncoorddof, nkernelsetting = m->nkernelsetting;         \
  int nsetting = m->nsetting, ntendon = m->ntendon, nwrap = m->nwrap;                           \
  int nparamkind = m->nparamkind, nsurface = m->nsurface, npoint = m->npoint;                   \
  int nequality = m->nequality, nhfield = m->nhfield, nhfielddata = m->nhfielddata;             \
  int nflex = m->nflex, nflexvert = m->nflexvert, nflexedge = m->nflexedge;                     \
  int nflexelem = m->nflexelem

// Set the array pointers of a model whose sizes are known: into base, or only measure (NULL).
static size_t layout(djModel* m, void* base) {
  SIZES_OF(m);
  djArena arena = {base, 0};
#define X(type, name, rows, columns) \
  m->name = dj_take(&arena, (size_t)(rows) * (size_t)(columns), sizeof(type));
  DJ_MODEL_ARRAYS(X)
#undef X
  return arena.used;
}

void dj_deleteBuilt(djModel* model) {
  if (!model) return;
  free(model->buffer);
  free(model);
}

djStatus dj_copyBuilt(djModel** copy, const djModel* model, djError* err) {
  *copy = NULL;
  djModel* m = malloc(sizeof *m);
  if (!m) return dj_failMemory(err);
  *m = *model;
  m->collision = NULL;
  m->physics = NULL;
  m->physics_own = NULL;
  m->buffer = malloc(m->nbuffer ? m->nbuffer : 1);
  if (!m->buffer) {
    free(m);
    return dj_failMemory(err);
  }
  memcpy(m->buffer, model->buffer, m->nbuffer);
  layout(m, m->buffer);
  *copy = m;
  return DJ_OK;
}

// All arrays but those of guides.
static void copyArrays(djModel* m, const djModel* from) {
  SIZES_OF(from);
  nguide = 0;
#define X(type, name, rows, columns) \
  memcpy(m->name, from->name, (size_t)(rows) * (size_t)(columns) * sizeof(type));
  DJ_MODEL_ARRAYS(X)
#undef X
}

djStatus dj_resizeGuides(djModel* m, int n, djError* err) {
  djModel old = *m;
  m->nguide = n;
  m->nbuffer = layout(m, NULL);
  m->buffer = calloc(1, m->nbuffer ? m->nbuffer : 1);
  if (!m->buffer) {
    *m = old;
    return dj_failMemory(err);
  }
  layout(m, m->buffer);
  copyArrays(m, &old);
  free(old.buffer);
  return DJ_OK;
}

// Meshes of `from` with the added vertices at their ends.
static void moveVertices(djModel* m, const djModel* from, int n, const int* mesh,
                         const double* vert) {
  int adr = 0;
  for (int i = 0; i < m->nmesh; i++) {
    int own = from->mesh_vertnum[i];
    m->mesh_vertadr[i] = adr;
    dj_copyNumbers(m->mesh_vert + 3 * (size_t)adr,
                   from->mesh_vert + 3 * (size_t)from->mesh_vertadr[i], 3 * own);
    adr += own;
    for (int k = 0; k < n; k++) {
      if (mesh[k] != i) continue;
      dj_copyNumbers(m->mesh_vert + 3 * (size_t)adr++, vert + 3 * (size_t)k, 3);
    }
    m->mesh_vertnum[i] = adr - m->mesh_vertadr[i];
  }
}

djStatus dj_growMeshes(djModel* m, int n, const int* mesh, const double* vert, djError* err) {
  djModel old = *m;
  if (n > INT_MAX / 4 - m->nmeshvert) {
    return dj_fail(err, DJ_INVALID, "model: meshes are too large");
  }
  m->nmeshvert += n;
  m->nbuffer = layout(m, NULL);
  m->buffer = calloc(1, m->nbuffer ? m->nbuffer : 1);
  if (!m->buffer) {
    *m = old;
    return dj_failMemory(err);
  }
  layout(m, m->buffer);
  const djModel* from = &old;
  SIZES_OF(from);
#define X(type, name, rows, columns) \
  memcpy(m->name, from->name, (size_t)(rows) * (size_t)(columns) * sizeof(type));
  DJ_MODEL_ARRAYS(X)
#undef X
  moveVertices(m, from, n, mesh, vert);
  dj_fillParams(m);
  free(old.buffer);
  return DJ_OK;
}

static size_t nameSize(const char* name) { return name ? strlen(name) + 1 : 1; }

// Bytes of all names.
static size_t namesSize(const djModelDef* def) {
  size_t n = nameSize(def->name);
  for (int kind = 0; kind < DJ_NOBJ; kind++) {
    for (int i = 0; i < dj_elementCount(def, kind); i++) {
      n += nameSize(dj_elementName(def, kind, i));
    }
  }
  return n;
}

static djStatus setSizes(djModel* m, const djModelDef* def, const djCoordinateList* coord,
                         const djFlexList* flex, djError* err) {
  for (int kind = 0; kind < DJ_NELEMENT; kind++) {
    int n = dj_elementCount(def, kind);
    memcpy((char*)m + dj_elementKinds[kind].count, &n, sizeof n);
  }
  m->nkernelsetting = dj_settingSlots();
  m->nsetting = dj_ownSettings(def);
  for (int i = 0; i < def->njnt; i++) {
    m->nq += dj_jointNq((int)def->joint[i].type);
    m->nv += dj_jointNv((int)def->joint[i].type);
  }
  m->ncoord = coord->n;
  m->ncoorddof = coord->ndof;
  m->ncrank = coord->ncrank;
  m->nequalitycoord = coord->nequality;
  m->nflexvert = flex->nvert;
  m->nflexedge = flex->nedge;
  m->nflexelem = flex->nelem;
  for (int i = 0; i < def->nbody; i++) m->nmocap += def->body[i].mocap;
  for (int i = 0; i < def->nu; i++) m->na += dj_activationCount(&def->actuator[i]);
  size_t nvert = 0, nface = 0, ntri = 0, nwrap = 0, nnames = namesSize(def);
  size_t nsurface = dj_surfaceNumbers(def), npoint = dj_pointNumber(def);
  for (int i = 0; i < def->ntendon; i++) nwrap += (size_t)def->tendon[i].nwrap;
  for (int i = 0; i < def->nmesh; i++) {
    nvert += (size_t)def->mesh[i].nvert;
    nface += (size_t)def->mesh[i].nface;
    ntri += (size_t)def->mesh[i].ntri;
  }
  size_t most = INT_MAX / 4, nheight = 0;
  for (int i = 0; i < def->nhfield; i++) {
    nheight += (size_t)def->hfield[i].nrow * (size_t)def->hfield[i].ncol;
    if (nheight > most) break;
  }
  if (nheight > most || nvert > most || nface > most || ntri > most || nwrap > most || nnames > INT_MAX ||
      nsurface > most || npoint > most) {
    return dj_fail(err, DJ_INVALID, "model: meshes, height fields, tendons, surfaces, points or names are "
                   "too large");
  }
  m->nsurface = (int)nsurface;
  m->npoint = (int)npoint;
  m->nwrap = (int)nwrap;
  m->nhfielddata = (int)nheight;
  m->nmeshvert = (int)nvert;
  m->nmeshface = (int)nface;
  m->nmeshtri = (int)ntri;
  m->nnames = (int)nnames;
  m->nparamkind = DJ_NFIELD;
  if (dj_paramGradSize(m) > INT_MAX) {
    return dj_fail(err, DJ_INVALID, "model: it has too many parameters");
  }
  return DJ_OK;
}

static djStatus checkCount(int n, const void* list, const char* words, djError* err) {
  if (n < 0 || n > DJ_MAX_COUNT) {
    return dj_fail(err, DJ_INVALID, "model: impossible number of %s", words);
  }
  if (n == 0 || list) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "model: the list of %s is missing", words);
}

static djStatus checkCounts(const djModelDef* def, djError* err) {
  djStatus status = checkCount(def->nsetting, def->setting, "settings", err);
  for (int kind = 0; kind < DJ_NELEMENT && status == DJ_OK; kind++) {
    int n = dj_elementCount(def, kind);
    const char* words = dj_elementKinds[kind].words;
    status = checkCount(n, dj_elementList(def, kind), words, err);
  }
  if (status < 0 || def->nbody > 0) return status;
  return dj_fail(err, DJ_INVALID, "model: body 0, the world, is missing");
}

static int putName(djModel* m, int* used, const char* name) {
  int start = *used;
  size_t n = nameSize(name);
  if (name) memcpy(m->names + start, name, n);
  *used += (int)n;
  return start;
}

static void setNames(djModel* m, const djModelDef* def) {
  int used = 0;
  putName(m, &used, def->name);
  for (int kind = 0; kind < DJ_NOBJ; kind++) {
    int *offset = dj_nameOffsets(m, kind), n = dj_elementCount(def, kind);
    for (int i = 0; i < n; i++) offset[i] = putName(m, &used, dj_elementName(def, kind, i));
  }
}

static int compareNames(const void* a, const void* b) {
  const char* const* x = a;
  const char* const* y = b;
  return strcmp(*x, *y);
}

// Names of one kind differ, empty ones aside. list has room for all.
static djStatus checkUnique(const char** list, const djModel* m, int kind, djError* err) {
  const int* offset = dj_nameOffsets(m, kind);
  int n = dj_objectCount(m, (djObject)kind);
  size_t count = 0;
  for (int i = 0; i < n; i++) {
    if (m->names[offset[i]]) list[count++] = m->names + offset[i];
  }
  qsort(list, count, sizeof *list, compareNames);
  for (size_t i = 1; i < count; i++) {
    if (strcmp(list[i - 1], list[i]) == 0) {
      return dj_fail(err, DJ_INVALID, "%s: the name is used twice",
                     dj_elementText(dj_elementKinds[kind].name, list[i], 0).text);
    }
  }
  return DJ_OK;
}

static djStatus checkNames(const djModel* m, djError* err) {
  int largest = 0;
  for (int kind = 0; kind < DJ_NOBJ; kind++) {
    int n = dj_objectCount(m, (djObject)kind);
    if (n > largest) largest = n;
  }
  const char** list = malloc(sizeof *list * (size_t)(largest + 1));
  if (!list) return dj_failMemory(err);
  djStatus status = DJ_OK;
  for (int kind = 0; kind < DJ_NOBJ && status == DJ_OK; kind++) {
    status = checkUnique(list, m, kind, err);
  }
  free(list);
  return status;
}

static djStatus fill(djModel* m, const djModelDef* def, const djCoordinateList* coord,
                     const djFlexList* flex, djError* err) {
  setNames(m, def);
  djStatus status = checkNames(m, err);
  if (status < 0) return status;
  dj_fillTree(m, def);
  dj_fillElements(m, def);
  dj_fillSurfaces(m, def);
  dj_fillPoints(m, def);
  dj_fillFlexes(m, def, flex);
  dj_fillParams(m);
  dj_fillSettings(m, def);
  dj_fillCoordinates(m, coord);
  dj_sumMasses(m);
  status = dj_checkMasses(m, err);
  return status < 0 ? status : dj_fillKeys(m, def, err);
}

djStatus dj_buildModel(djModel** model, const djModelDef* def, djError* err) {
  *model = NULL;
  djStatus status = checkCounts(def, err);
  if (status == DJ_OK) status = dj_checkOption(&def->option, err);
  if (status == DJ_OK) status = dj_checkTree(def, err);
  if (status == DJ_OK) status = dj_checkElements(def, err);
  if (status == DJ_OK) status = dj_checkSizes(def, err);
  if (status == DJ_OK) status = dj_checkSurfaces(def, err);
  if (status == DJ_OK) status = dj_checkPoints(def, err);
  if (status == DJ_OK) status = dj_checkContact(def, err);
  if (status == DJ_OK) status = dj_checkFlexes(def, err);
  if (status < 0) return status;

  djModel* m = calloc(1, sizeof *m);
  djCoordinateList coord = {0};
  djFlexList flex = {0};
  if (!m) return dj_failMemory(err);
  m->opt = dj_plainOption(&def->option);
  status = dj_makeCoordinateList(&coord, def, err);
  if (status == DJ_OK) status = dj_makeFlexList(&flex, def, err);
  if (status == DJ_OK) status = setSizes(m, def, &coord, &flex, err);
  if (status == DJ_OK) {
    m->nbuffer = layout(m, NULL);
    m->buffer = m->nbuffer == SIZE_MAX ? NULL : calloc(1, m->nbuffer);
    status = m->buffer ? DJ_OK : dj_failMemory(err);
  }
  if (status == DJ_OK) {
    layout(m, m->buffer);
    status = fill(m, def, &coord, &flex, err);
  }
  dj_freeCoordinateList(&coord);
  dj_freeFlexList(&flex);
  if (status < 0) {
    dj_deleteBuilt(m);
    return status;
  }
  *model = m;
  return DJ_OK;
}
