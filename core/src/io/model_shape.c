#include "io/model_shape.h"

#include "base/status.h"
#include "model/surface.h"

#include <dijoco/implicit.h>

#include <stdio.h>
#include <string.h>

enum { MOST_KEYS = 16 };

static int numberCount(int family) {
  int n = 0;
  while (*djc_implicitNumber(family, n)) n++;
  return n;
}

// Keys of a family: `shape` and `pose`, its list or its numbers by their names.
static djStatus checkKeys(const cJSON* item, int family, const djAt* at) {
  const char* keys[MOST_KEYS] = {"shape", "pose"};
  const char* list = djc_implicitList(family);
  const int n = numberCount(family);
  int k = 2;
  if (*list) keys[k++] = list;
  for (int i = *list ? n - 1 : 0; i < n && k < MOST_KEYS - 1; i++) {
    keys[k++] = djc_implicitNumber(family, i);
  }
  return dj_jsonKeys(item, keys, at);
}

// A of as many rows as b has entries; neither: the facets are those of the geom's mesh.
static djStatus readFacets(const double** A, const double** b, int* nface, const cJSON* item,
                           djPool* pool, const djAt* at) {
  const cJSON *rows = dj_jsonGet(item, "A"), *offsets = dj_jsonGet(item, "b");
  int columns = 3, n = 0;
  *nface = 0;
  if (!rows && !offsets) return DJ_OK;
  if (!rows || !offsets) return dj_jsonFail(at, rows ? "b" : "A", "is missing");
  djStatus status = dj_jsonRows(A, nface, &columns, rows, pool, at);
  if (status == DJ_OK) status = dj_jsonNumbers(b, &n, offsets, pool, at);
  if (status == DJ_OK && *nface == 0) status = dj_jsonFail(at, "A", "has no facets");
  if (status == DJ_OK && n != *nface) status = dj_jsonFail(at, "b", "is not as long as A");
  return status;
}

// Numbers in the order of the family: those of facets and lists, then each by its name.
static djStatus readNumbers(djSurfaceDef* s, int family, const cJSON* item, djPool* pool,
                            const djAt* at) {
  const double *A = NULL, *b = NULL;
  const char* list = djc_implicitList(family);
  const int n = numberCount(family);
  const bool facets = dj_familyHasFacets(family);
  djStatus status = facets ? readFacets(&A, &b, &s->nface, item, pool, at) : DJ_OK;
  if (status < 0) return status;
  s->nsize = facets ? 4 * s->nface + 2 : n;
  double* size = dj_poolTake(pool, (size_t)s->nsize, sizeof *size);
  if (!size) return dj_failMemory(at->err);
  s->size = size;
  if (s->nface > 0) {
    memcpy(size, A, 3 * (size_t)s->nface * sizeof *size);
    memcpy(size + 3 * s->nface, b, (size_t)s->nface * sizeof *size);
  }
  if (*list) {
    const cJSON* values = dj_jsonGet(item, list);
    if (!values) return dj_jsonFail(at, list, "is missing");
    status = dj_jsonVector(size, n - 1, values, at);
  }
  for (int i = *list ? n - 1 : facets ? 2 : 0; i < n && status == DJ_OK; i++) {
    const char* name = djc_implicitNumber(family, i);
    const cJSON* value = dj_jsonGet(item, name);
    status = value ? dj_jsonNumber(size + s->nsize - n + i, value, at)
                   : dj_jsonFail(at, name, "is missing");
  }
  return status;
}

djStatus dj_readShape(const djSurfaceDef** out, const cJSON* item, djPool* pool, const djAt* geom) {
  char element[160];
  snprintf(element, sizeof element, "%s: shape", geom->element);
  const djAt at = {geom->err, element};
  const char* name = NULL;
  if (!cJSON_IsObject(item)) return dj_jsonFail(geom, "shape", "must be an object");
  const cJSON* named = dj_jsonGet(item, "shape");
  if (!named) return dj_jsonFail(&at, "shape", "is missing");
  djStatus status = dj_jsonText(&name, named, &at);
  if (status < 0) return status;
  const int family = dj_familyNamed(name);
  if (family < 0) {
    char what[120];
    snprintf(what, sizeof what, "unknown family '%.60s'", name);
    return dj_jsonFail(&at, NULL, what);
  }
  djSurfaceDef* s = dj_poolTake(pool, 1, sizeof *s);
  if (!s) return dj_failMemory(geom->err);
  *s = (djSurfaceDef){.family = djc_implicitFamily(family), .quat = {1, 0, 0, 0}};
  status = checkKeys(item, family, &at);
  if (status == DJ_OK) status = readNumbers(s, family, item, pool, &at);
  const cJSON* place = dj_jsonGet(item, "pose");
  double pose[7];
  if (status == DJ_OK && place) {
    status = dj_jsonVector(pose, 7, place, &at);
    if (status == DJ_OK && pose[3] == 0 && pose[4] == 0 && pose[5] == 0 && pose[6] == 0) {
      status = dj_jsonFail(&at, "pose", "its quaternion is zero");
    }
    if (status == DJ_OK) memcpy(s->pos, pose, sizeof s->pos);
    if (status == DJ_OK) memcpy(s->quat, pose + 3, sizeof s->quat);
  }
  *out = s;
  return status;
}

static void addKey(djText* t, const char* key) {
  dj_addText(t, ", ");
  dj_addQuoted(t, key);
  dj_addText(t, ": ");
}

static void addVector(djText* t, const double* v, int n) {
  for (int k = 0; k < n; k++) {
    dj_addText(t, k > 0 ? ", " : "[");
    dj_addJsonNumber(t, v[k]);
  }
  dj_addText(t, "]");
}

void dj_addShape(djText* t, const djSurfaceDef* s) {
  const int family = dj_familyNamed(s->family), n = numberCount(family), m = s->nface;
  const char* list = djc_implicitList(family);
  dj_addText(t, "\"shape\": {\"shape\": ");
  dj_addQuoted(t, s->family);
  if (m > 0) {
    addKey(t, "A");
    for (int k = 0; k < m; k++) {
      dj_addText(t, k > 0 ? ", " : "[");
      addVector(t, s->size + 3 * (size_t)k, 3);
    }
    dj_addText(t, "]");
    addKey(t, "b");
    addVector(t, s->size + 3 * (size_t)m, m);
  }
  if (*list) {
    addKey(t, list);
    addVector(t, s->size, n - 1);
  }
  for (int i = *list ? n - 1 : dj_familyHasFacets(family) ? 2 : 0; i < n; i++) {
    addKey(t, djc_implicitNumber(family, i));
    dj_addJsonNumber(t, s->size[s->nsize - n + i]);
  }
  const double rest[7] = {0, 0, 0, 1, 0, 0, 0};
  double pose[7];
  memcpy(pose, s->pos, sizeof s->pos);
  memcpy(pose + 3, s->quat, sizeof s->quat);
  if (memcmp(pose, rest, sizeof pose) != 0) {
    addKey(t, "pose");
    addVector(t, pose, 7);
  }
  dj_addText(t, "}");
}
