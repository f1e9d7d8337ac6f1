// The optimizer of a task.

#include "gradient/window.h"
#include "io/settings.h"
#include "io/task_parse.h"
#include "model/setting.h"

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

djStatus dj_parseOptimizer(djOptimizer* o, const cJSON* item, djPool* pool, djError* err) {
  const char* keys[DJ_MAX_SETTINGS + 4] = {"type", "receding", "anneal"};
  const djSetting* key;
  for (int i = 0; (key = dj_optimizerKey(i)); i++) keys[i + 3] = key->name;
  djAt at = {err, "optimizer"};
  djStatus status = dj_jsonKeys(item, keys, &at);
  if (status < 0) return status;
  o->given = true;
  const cJSON* type = dj_jsonGet(item, "type");
  int row = 0;
  if (type) status = dj_jsonEntry(&row, type, dj_optimizerEntry, "optimizer", &at);
  if (type && status == DJ_OK) o->type = dj_optimizerEntry(row)->name;
  if (status == DJ_OK) status = parseRows(o, dj_optimizerKey, item, &at);
  const cJSON* anneal = dj_jsonGet(item, "anneal");
  return status == DJ_OK && anneal ? parseAnneal(o, anneal, pool, err) : status;
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
