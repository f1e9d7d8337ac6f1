// The optimizer of a task.

#include "base/status.h"
#include "gradient/window.h"
#include "io/settings.h"
#include "io/task_parse.h"
#include "model/setting.h"

#include <stdio.h>
#include <string.h>

// {"PARAMETER": [FROM, TO], ...}
static djStatus parseAnneal(djOptimizer* o, const cJSON* object, djPool* pool, djError* err) {
  djAt top = {err, "optimizer"}, at = {err, "optimizer/anneal"};
  if (!cJSON_IsObject(object)) return dj_jsonFail(&top, "anneal", "must be an object");
  for (const cJSON* c = object->child; c; c = c->next) {
    if (o->nanneal == DJ_MAX_ANNEAL) return dj_jsonFail(&top, "anneal", "too many parameters");
    djAnneal* one = &o->anneal[o->nanneal++];
    const double* end;
    int n = 0;
    if (strlen(c->string) >= sizeof one->name) {
      return dj_jsonFail(&at, c->string, "the name is too long");
    }
    strcpy(one->name, c->string);
    djStatus status = dj_jsonNumbers(&end, &n, c, pool, &at);
    if (status < 0) return status;
    if (n != 2) return dj_jsonFail(&at, c->string, "must be two numbers, from and to");
    one->from = end[0];
    one->to = end[1];
  }
  return DJ_OK;
}

// [{"set": {...}, "iterations": n}, ...]
static djStatus parseStages(djOptimizer* o, const cJSON* list, djPool* pool, djError* err) {
  static const char* const keys[] = {"set", "iterations", NULL};
  djAt top = {err, "optimizer"};
  if (!cJSON_IsArray(list) || !list->child) {
    return dj_jsonFail(&top, "stages", "must be a list of stages");
  }
  djStage* stage = dj_poolTake(pool, (size_t)cJSON_GetArraySize(list), sizeof *stage);
  if (!stage) return dj_failMemory(err);
  o->stage = stage;
  for (const cJSON* c = list->child; c; c = c->next) {
    char element[48], of_set[64];
    djStage* one = &stage[o->nstage];
    snprintf(element, sizeof element, "optimizer: stages[%d]", o->nstage++);
    snprintf(of_set, sizeof of_set, "%s: set", element);
    djAt at = {err, element};
    djStatus status = dj_jsonKeys(c, keys, &at);
    const cJSON* set = status == DJ_OK ? dj_jsonGet(c, "set") : NULL;
    const cJSON* n = status == DJ_OK ? dj_jsonGet(c, "iterations") : NULL;
    if (set) status = dj_parseSet(&one->set, &one->nset, set, of_set, pool, err);
    if (status == DJ_OK && n) status = dj_jsonInt(&one->iterations, n, &at);
    if (status == DJ_OK && n && one->iterations < 1) {
      status = dj_jsonFail(&at, "iterations", "must be positive");
    }
    if (status < 0) return status;
  }
  return DJ_OK;
}

// Where a run in stages goes on.
static djStatus parseGoingOn(djOptimizer* o, const cJSON* item, djPool* pool, const djAt* at) {
  const cJSON* first = dj_jsonGet(item, "stage");
  const cJSON* start = dj_jsonGet(item, "start");
  const cJSON* shrink = dj_jsonGet(item, "shrink");
  djStatus status = DJ_OK;
  if ((first || start || shrink) && o->nstage == 0) {
    return dj_jsonFail(at, first ? "stage" : start ? "start" : "shrink", "goes with stages");
  }
  if (shrink) status = dj_jsonNumber(&o->shrink, shrink, at);
  if (status == DJ_OK && !(o->shrink > 0 && o->shrink <= 1)) {
    status = dj_jsonFail(at, "shrink", "must be positive and at most 1");
  }
  if (status == DJ_OK && first) status = dj_jsonInt(&o->first_stage, first, at);
  if (status == DJ_OK && (o->first_stage < 0 || (first && o->first_stage >= o->nstage))) {
    status = dj_jsonFail(at, "stage", "is not that of a stage");
  }
  return status == DJ_OK && start ? dj_jsonNumbers(&o->start, &o->nstart, start, pool, at) : status;
}

// Numbers by rows of a table into an object; missing ones keep what is there.
static djStatus parseRows(void* out, const djSetting* (*row)(int), const cJSON* item,
                          const djAt* at) {
  const djSetting* key;
  djStatus status = DJ_OK;
  for (int i = 0; (key = row(i)) && status == DJ_OK; i++) {
    const cJSON* c = dj_jsonGet(item, key->name);
    double value = 0;
    djProblemText what;
    if (c) status = dj_jsonValue(&value, key, c, at);
    if (!c || status < 0) continue;
    const char* problem = dj_rowProblem(&what, key, &value, false);
    if (problem) return dj_jsonFail(at, key->name, problem);
    dj_storeRow(out, key, &value);
  }
  return status;
}

// All keys are of the type.
static djStatus checkKeys(const djOptimizer* o, const cJSON* item, djError* err) {
  djStatus status = DJ_OK;
  for (const cJSON* c = item->child; c && status == DJ_OK; c = c->next) {
    status = dj_checkOptimizerKey(o, c->string, err);
  }
  return status < 0 ? dj_prefix(err, status, "optimizer") : DJ_OK;
}

djStatus dj_parseOptimizer(djOptimizer* o, const cJSON* item, djPool* pool, djError* err) {
  enum { NKEY = 7 };
  const char* keys[DJ_MAX_SETTINGS + NKEY + 1] = {"type",   "receding", "anneal",
                                                  "stages", "stage",    "start",  "shrink"};
  const djSetting* key;
  for (int i = 0; (key = dj_optimizerKey(i)); i++) keys[i + NKEY] = key->name;
  djAt at = {err, "optimizer"};
  djStatus status = dj_jsonKeys(item, keys, &at);
  if (status < 0) return status;
  o->given = true;
  const cJSON* type = dj_jsonGet(item, "type");
  int row = 0;
  if (type) status = dj_jsonEntry(&row, type, dj_optimizerEntry, "optimizer", &at);
  if (type && status == DJ_OK) o->type = dj_optimizerEntry(row)->name;
  if (status == DJ_OK) status = parseRows(o, dj_optimizerKey, item, &at);
  if (status == DJ_OK) status = checkKeys(o, item, err);
  const cJSON* anneal = dj_jsonGet(item, "anneal");
  if (status == DJ_OK && anneal) status = parseAnneal(o, anneal, pool, err);
  const cJSON* stages = dj_jsonGet(item, "stages");
  if (status == DJ_OK && stages) status = parseStages(o, stages, pool, err);
  return status == DJ_OK ? parseGoingOn(o, item, pool, &at) : status;
}

djStatus dj_parseReceding(djTask* task, const cJSON* optimizer, djPool* pool, djError* err) {
  const cJSON* item = dj_jsonGet(optimizer, "receding");
  const char* keys[DJ_MAX_SETTINGS + 2] = {NULL};
  djReceding* r = &task->optimizer.receding;
  const djSetting* key;
  if (!item) return DJ_OK;
  int n = 0;
  for (; (key = dj_recedingKey(n)); n++) {
    keys[n] = key->name;
    dj_storeRow(r, key, key->standard);
  }
  keys[n] = "window";
  djAt at = {err, "optimizer: receding"};
  djStatus status = dj_jsonKeys(item, keys, &at);
  if (status == DJ_OK) status = parseRows(r, dj_recedingKey, item, &at);
  if (status == DJ_OK && r->horizon < 1) status = dj_jsonFail(&at, "horizon", "is missing");
  const cJSON* window = dj_jsonGet(item, "window");
  if (status == DJ_OK && window) {
    status = dj_jsonNumbers(&r->window, &r->nwindow, window, pool, &at);
  }
  return status < 0 ? status : dj_checkReceding(r, task->horizon, err);
}
