// Free vectors and maps of a task.

#include "base/status.h"
#include "gradient/map.h"
#include "gradient/problem.h"
#include "io/pattern.h"
#include "io/task_parse.h"
#include "io/task_resolve.h"
#include "model/make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- free vectors -----------------------------------------------------------------------------

// A vector, which may be written in rows.
static djStatus parseVector(const double** out, int* n, const cJSON* item, djPool* pool,
                            const djAt* at) {
  if (!cJSON_IsArray(item) || !cJSON_IsArray(item->child)) {
    return dj_jsonNumbers(out, n, item, pool, at);
  }
  int rows = 0, columns = -1;
  djStatus status = dj_jsonRows(out, &rows, &columns, item, pool, at);
  *n = status == DJ_OK ? rows * columns : 0;
  return status;
}

static djStatus parseBound(const double** out, int* n, const cJSON* item, int length, djPool* pool,
                           const djAt* at) {
  if (!item) return DJ_OK;
  djStatus status = parseVector(out, n, item, pool, at);
  if (status < 0 || *n == 1 || *n == length) return status;
  char what[64];
  snprintf(what, sizeof what, "must be 1 or %d numbers", length);
  return dj_jsonFail(at, item->string, what);
}

static djStatus parseOneFree(djTaskFree* f, const cJSON* item, djPool* pool, const djAt* at) {
  static const char* const keys[] = {"value", "min", "max", NULL};
  djStatus status = dj_jsonKeys(item, keys, at);
  if (status < 0) return status;
  const cJSON* value = dj_jsonGet(item, "value");
  if (!value) return dj_jsonFail(at, "value", "is missing");
  status = parseVector(&f->value, &f->n, value, pool, at);
  if (status == DJ_OK && f->n == 0) status = dj_jsonFail(at, "value", "has no numbers");
  if (status == DJ_OK) {
    status = parseBound(&f->min, &f->nmin, dj_jsonGet(item, "min"), f->n, pool, at);
  }
  if (status == DJ_OK) {
    status = parseBound(&f->max, &f->nmax, dj_jsonGet(item, "max"), f->n, pool, at);
  }
  for (int k = 0; k < f->n && status == DJ_OK && f->nmin > 0 && f->nmax > 0; k++) {
    if (f->min[f->nmin > 1 ? k : 0] > f->max[f->nmax > 1 ? k : 0]) {
      status = dj_jsonFail(at, NULL, "min is larger than max");
    }
  }
  return status;
}

djStatus dj_parseFree(djTask* task, const cJSON* object, djPool* pool, djError* err) {
  djAt top = {err, ""};
  if (!cJSON_IsObject(object)) return dj_jsonFail(&top, "free", "must be an object");
  djTaskFree* list = dj_poolTake(pool, (size_t)cJSON_GetArraySize(object), sizeof *list);
  if (!list) return dj_failMemory(err);
  task->free = list;
  for (const cJSON* c = object->child; c; c = c->next) {
    char element[128];
    snprintf(element, sizeof element, "free: %.100s", c->string);
    djAt at = {err, element};
    djTaskFree* f = &list[task->nfree];
    f->name = c->string;
    for (int i = 0; i < task->nfree; i++) {
      if (strcmp(list[i].name, f->name) == 0) return dj_jsonFail(&at, NULL, "is given twice");
    }
    task->nfree++;
    djStatus status = parseOneFree(f, c, pool, &at);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// ---- maps -------------------------------------------------------------------------------------

static djStatus parseElement(djMapArg* arg, const cJSON* item, djPool* pool, const djAt* at) {
  if (!cJSON_IsNumber(item)) return dj_jsonText(&arg->text, item, at);
  char text[32];
  djStatus status = dj_jsonInt(&arg->integer, item, at);
  if (status < 0) return status;
  snprintf(text, sizeof text, "#%d", arg->integer);
  arg->text = dj_poolText(pool, text);
  return arg->text ? DJ_OK : dj_failMemory(at->err);
}

static djStatus parseArg(djMapArg* arg, const cJSON* item, djHolds holds, djPool* pool,
                         const djAt* at) {
  arg->given = true;
  switch (holds) {
    case DJ_HOLDS_WHOLE: return dj_jsonInt(&arg->integer, item, at);
    case DJ_HOLDS_ELEMENT: return parseElement(arg, item, pool, at);
    case DJ_HOLDS_NUMBERS:
      arg->rows = 1;
      return dj_jsonNumbers(&arg->number, &arg->columns, item, pool, at);
    default:
      arg->columns = -1;
      return dj_jsonRows(&arg->number, &arg->rows, &arg->columns, item, pool, at);
  }
}

// One name, or a list of them.
static djStatus parseTo(djMapDef* map, const cJSON* item, djPool* pool, const djAt* at) {
  if (!item) return DJ_OK;
  bool list = cJSON_IsArray(item);
  int n = list ? cJSON_GetArraySize(item) : 1;
  const char** to = dj_poolTake(pool, (size_t)n, sizeof *to);
  if (!to) return dj_failMemory(at->err);
  map->to = to;
  for (const cJSON* c = list ? item->child : item; c; c = list ? c->next : NULL) {
    if (!cJSON_IsString(c)) return dj_jsonFail(at, "to", "must be a name or a list of names");
    to[map->nto++] = c->valuestring;
  }
  return map->nto > 0 ? DJ_OK : dj_jsonFail(at, "to", "has no names");
}

static djStatus parseMap(djMapDef* map, const cJSON* item, djPool* pool, const djAt* at) {
  const char* keys[DJ_MAX_ENTRY_KEYS] = {"type", "from", "to", NULL};
  if (!cJSON_IsObject(item)) return dj_jsonFail(at, NULL, "must be an object");
  const cJSON* type_item = dj_jsonGet(item, "type");
  const cJSON* from = dj_jsonGet(item, "from");
  int type = 0;
  if (!type_item) return dj_jsonFail(at, "type", "is missing");
  djStatus status = dj_jsonEntry(&type, type_item, dj_mapEntry, "map", at);
  if (status < 0) return status;
  const djEntry* entry = dj_mapEntry(type);
  map->type = entry->name;
  dj_listKeys(keys, 3, entry);
  status = dj_jsonKeys(item, keys, at);
  if (status == DJ_OK && !from) status = dj_jsonFail(at, "from", "is missing");
  if (status == DJ_OK) status = dj_jsonText(&map->from, from, at);
  if (status == DJ_OK) status = parseTo(map, dj_jsonGet(item, "to"), pool, at);
  for (int k = 0; entry->key[k].name && status == DJ_OK; k++) {
    const djKey* key = &entry->key[k];
    const cJSON* c = dj_jsonGet(item, key->name);
    if (c) status = parseArg(&map->arg[k], c, key->holds, pool, at);
    else if (key->required) status = dj_jsonFail(at, key->name, "is missing");
  }
  return status;
}

djStatus dj_parseMaps(djTask* task, const cJSON* list, djPool* pool, djError* err) {
  djAt top = {err, ""};
  if (!cJSON_IsArray(list)) return dj_jsonFail(&top, "maps", "must be a list");
  djMapDef* map = dj_poolTake(pool, (size_t)cJSON_GetArraySize(list), sizeof *map);
  if (!map) return dj_failMemory(err);
  task->map = map;
  for (const cJSON* c = list->child; c; c = c->next) {
    char element[32];
    snprintf(element, sizeof element, "maps[%d]", task->nmap);
    djAt at = {err, element};
    djStatus status = parseMap(&map[task->nmap++], c, pool, &at);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// ---- second stage -----------------------------------------------------------------------------

// A free vector must not hide a variable.
static bool isTaken(const djModel* m, const char* name) {
  static const char* const taken[] = {"ctrl", "qpos0", "qvel0", "act0", "history_qpos0",
                                      "history_qvel0"};
  for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) {
    if (strcmp(name, taken[k]) == 0) return true;
  }
  djParam param;
  return strncmp(name, "qpos0[", 6) == 0 || strncmp(name, "qvel0[", 6) == 0 ||
         dj_paramId(&param, m, name, NULL) == DJ_OK;
}

static djStatus resolveFree(djFree* f, const djTaskFree* t, const djModel* m, djPool* pool,
                            djError* err) {
  if (isTaken(m, t->name)) {
    return dj_fail(err, DJ_INVALID, "free: %.100s: is the name of something else", t->name);
  }
  f->name = t->name;
  f->n = t->n;
  f->value = dj_poolTake(pool, 3 * (size_t)t->n, sizeof(double));
  if (!f->value) return dj_failMemory(err);
  f->min = f->value + t->n;
  f->max = f->min + t->n;
  dj_copyNumbers(f->value, t->value, t->n);
  for (int k = 0; k < t->n; k++) {
    f->min[k] = t->nmin > 0 ? t->min[t->nmin > 1 ? k : 0] : -INFINITY;
    f->max[k] = t->nmax > 0 ? t->max[t->nmax > 1 ? k : 0] : INFINITY;
  }
  return DJ_OK;
}

// The map with all that the names of its `to` stand for.
static djStatus expandTo(djMapDef* out, const djMapDef* map, const djModel* m, djPool* pool,
                         djError* err) {
  *out = *map;
  if (map->nto == 0) return DJ_OK;
  const char** to = NULL;
  out->nto = 0;
  for (int i = 0; i < map->nto; i++) {
    const char* const* names;
    int n;
    djStatus status = dj_expandName(&names, &n, m, map->to[i], pool, err);
    if (status < 0) return dj_prefix(err, status, "to");
    const char** grown = dj_poolTake(pool, (size_t)(out->nto + n), sizeof *grown);
    if (!grown) return dj_failMemory(err);
    if (out->nto > 0) memcpy(grown, to, (size_t)out->nto * sizeof *grown);
    memcpy(grown + out->nto, names, (size_t)n * sizeof *grown);
    to = grown;
    out->nto += n;
  }
  out->to = to;
  return DJ_OK;
}

djStatus dj_resolveMaps(djProblem* p, const djTask* task, const djModel* m, djPool* pool,
                        djError* err) {
  p->inertia_from_geom = task->inertia_from_geom;
  p->free = dj_poolTake(pool, (size_t)task->nfree, sizeof *p->free);
  p->map = dj_poolTake(pool, (size_t)task->nmap, sizeof *p->map);
  if (!p->free || !p->map) return dj_failMemory(err);
  djStatus status = DJ_OK;
  for (; p->nfree < task->nfree && status == DJ_OK; p->nfree++) {
    status = resolveFree(&p->free[p->nfree], &task->free[p->nfree], m, pool, err);
  }
  if (status < 0) return status;
  for (; p->nmap < task->nmap; p->nmap++) {
    djMapDef given;
    djMapMaking making = {&given, m, p, task->horizon, pool, err};
    status = expandTo(&given, &task->map[p->nmap], m, pool, err);
    if (status == DJ_OK) status = dj_makeMap(&p->map[p->nmap], &making);
    char element[32];
    snprintf(element, sizeof element, "maps[%d]", p->nmap);
    if (status < 0) return dj_prefix(err, status, element);
  }
  return dj_checkAlone(p, m, err);
}
