#include "io/model_flex.h"

#include "base/status.h"

#include <stdio.h>

const char* const dj_flexLists[] = {"bodies", "pos", "vert", "elements", NULL};

// ---- reading -----------------------------------------------------------------------------------

static djStatus readBodies(djFlexDef* f, const cJSON* list, djBodyOf body, const void* user,
                           djPool* pool, const djAt* at) {
  if (!cJSON_IsArray(list)) return dj_jsonFail(at, "bodies", "must be a list");
  f->nvert = cJSON_GetArraySize(list);
  int *id = dj_poolTake(pool, (size_t)f->nvert, sizeof *id), i = 0;
  if (!id) return dj_failMemory(at->err);
  f->body = id;
  djStatus status = DJ_OK;
  for (const cJSON* c = list->child; c && status == DJ_OK; c = c->next, i++) {
    status = body(&id[i], user, c, at);
  }
  return status;
}

// Rows of three for each vertex.
static djStatus readPlaces(const double** out, const cJSON* list, int nvert, djPool* pool,
                           const djAt* at) {
  int rows = 0, columns = 3;
  djStatus status = dj_jsonRows(out, &rows, &columns, list, pool, at);
  if (status < 0 || rows == nvert) return status;
  return dj_jsonFail(at, list->string, "must have a row for each of `bodies`");
}

static djStatus readElements(djFlexDef* f, const cJSON* list, djPool* pool, const djAt* at) {
  const double* v = NULL;
  int columns = f->dim + 1;
  djStatus status = dj_jsonRows(&v, &f->nelem, &columns, list, pool, at);
  if (status < 0) return status;
  int n = f->nelem * columns, *elem = dj_poolTake(pool, (size_t)n, sizeof *elem);
  if (!elem) return dj_failMemory(at->err);
  for (int k = 0; k < n; k++) {
    if (!(v[k] >= 0 && v[k] < f->nvert)) {
      return dj_jsonFail(at, "elements", "names a vertex that does not exist");
    }
    elem[k] = (int)v[k];
    if (elem[k] != v[k]) return dj_jsonFail(at, "elements", "must hold integers");
  }
  f->elem = elem;
  return DJ_OK;
}

djStatus dj_readFlexLists(djFlexDef* f, const cJSON* object, djBodyOf body, const void* user,
                          djPool* pool, const djAt* at) {
  const cJSON* list[4];
  for (int k = 0; k < 4; k++) {
    list[k] = dj_jsonGet(object, dj_flexLists[k]);
    if (!list[k] && k != 1) return dj_jsonFail(at, dj_flexLists[k], "is missing");
  }
  if (f->dim < 1 || f->dim > 3) return dj_jsonFail(at, "dim", "must be 1, 2 or 3");
  djStatus status = readBodies(f, list[0], body, user, pool, at);
  if (status == DJ_OK && list[1]) status = readPlaces(&f->pos, list[1], f->nvert, pool, at);
  if (status == DJ_OK) status = readPlaces(&f->vert, list[2], f->nvert, pool, at);
  return status == DJ_OK ? readElements(f, list[3], pool, at) : status;
}

// ---- writing -----------------------------------------------------------------------------------

static void addKey(djText* t, const char* key) {
  dj_addText(t, ", ");
  dj_addQuoted(t, key);
  dj_addText(t, ": [");
}

static void addPlaces(djText* t, const char* key, const double* x, int n) {
  addKey(t, key);
  for (int i = 0; i < 3 * n; i++) {
    dj_addText(t, i % 3 ? ", " : i ? ", [" : "[");
    dj_addJsonNumber(t, x[i]);
    if (i % 3 == 2) dj_addText(t, "]");
  }
  dj_addText(t, "]");
}

static bool anyPlace(const double* x, int n) {
  for (int i = 0; x && i < 3 * n; i++) {
    if (x[i] != 0) return true;
  }
  return false;
}

void dj_addFlexLists(djText* t, const djFlexDef* f, const djModelDef* def) {
  addKey(t, "bodies");
  for (int i = 0; i < f->nvert; i++) {
    const char* name = def->body[f->body[i]].name;
    if (i > 0) dj_addText(t, ", ");
    if (name && name[0])
      dj_addQuoted(t, name);
    else
      dj_addInt(t, f->body[i]);
  }
  dj_addText(t, "]");
  if (anyPlace(f->pos, f->nvert)) addPlaces(t, "pos", f->pos, f->nvert);
  addPlaces(t, "vert", f->vert, f->nvert);
  addKey(t, "elements");
  int n = f->dim + 1;
  for (int i = 0; i < n * f->nelem; i++) {
    dj_addText(t, i % n ? ", " : i ? ", [" : "[");
    dj_addInt(t, f->elem[i]);
    if (i % n == n - 1) dj_addText(t, "]");
  }
  dj_addText(t, "]");
}
