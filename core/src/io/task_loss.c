// The terms of a loss, as the file has them.

#include "base/status.h"
#include "gradient/loss_row.h"
#include "io/task_parse.h"
#include "model/check.h"

#include <stdio.h>
#include <string.h>

// One of the two elements that the term is about, by one of the keys that follow one another.
static djStatus parseElement(djObject* object, const char** name, bool second, const cJSON* item,
                             const djEntry* entry, const djAt* at) {
  int n = 0;
  const char* missing = NULL;
  *object = DJ_NOBJ;
  for (const djKey* k = entry->key; k->name; k++) {
    const cJSON* c = dj_jsonGet(item, k->name);
    if (k->holds != DJ_HOLDS_ELEMENT || dj_isSecondKey(k) != second) continue;
    if (k->required && !missing) missing = k->name;
    if (!c) continue;
    djStatus status = dj_jsonText(name, c, at);
    if (status < 0) return status;
    *object = k->object;
    n++;
  }
  if (n > 1) return dj_jsonFail(at, NULL, "names more than one element");
  return n == 0 && missing ? dj_jsonFail(at, missing, "is missing") : DJ_OK;
}

static djStatus parseObject(djTaskLoss* loss, const cJSON* item, const djEntry* entry,
                            const djAt* at) {
  djStatus status = parseElement(&loss->object, &loss->name, false, item, entry, at);
  if (status < 0) return status;
  return parseElement(&loss->object2, &loss->name2, true, item, entry, at);
}

// Which entries of a vector count.
static djStatus parseIndex(djLossTerm* term, const cJSON* item, djPool* pool, const djAt* at) {
  const cJSON* c = dj_jsonGet(item, "index");
  const int* index;
  int n = 0;
  if (!c) return DJ_OK;
  djStatus status = dj_jsonInts(&index, &n, c, pool, at);
  if (status < 0) return status;
  bool good = n >= 1 && n <= 3;
  for (int k = 0; k < n && good; k++) {
    good = index[k] >= 0 && index[k] < 3;
    for (int j = 0; j < k; j++) good = good && index[j] != index[k];
    if (good) term->index[k] = index[k];
  }
  term->nindex = n;
  return good ? DJ_OK : dj_jsonFail(at, "index", "must be some of 0, 1, 2");
}

static djStatus parseTarget(djLossTerm* term, const cJSON* item, const djKey* key,
                            const djAt* at) {
  const cJSON* c = dj_jsonGet(item, key->name);
  if (!c) return key->required ? dj_jsonFail(at, key->name, "is missing") : DJ_OK;
  bool scalar = key->size == 1 && !cJSON_IsArray(c);
  bool some = term->nindex > 0 && cJSON_GetArraySize(c) == term->nindex;
  double given[4] = {0};
  djStatus status = scalar ? dj_jsonNumber(given, c, at)
                           : dj_jsonVector(given, some ? term->nindex : key->size, c, at);
  for (int k = 0; k < 4 && !some; k++) term->target[k] = given[k];
  for (int k = 0; k < term->nindex && some; k++) term->target[term->index[k]] = given[k];
  if (status == DJ_OK && dj_lossRows[term->type].quaternion &&
      !dj_makeUnit(term->target, term->target, 4)) {
    status = dj_jsonFail(at, key->name, "is a zero quaternion");
  }
  return status;
}

// {"step"}, or any of {"every", "from", "to"}.
static djStatus parseSteps(djLossTerm* term, const cJSON* item, int horizon, const djAt* at) {
  static const char* const keys[] = {"step", "every", "from", "to", NULL};
  int* const value[] = {&term->step, &term->every, &term->from, &term->to};
  djStatus status = dj_jsonKeys(item, keys, at);
  int given = 0;
  for (int k = 0; keys[k] && status == DJ_OK; k++) {
    const cJSON* c = dj_jsonGet(item, keys[k]);
    if (!c) continue;
    given |= 1 << k;
    status = dj_jsonInt(value[k], c, at);
    if (status == DJ_OK && (*value[k] < 1 || *value[k] > horizon)) {
      char what[64];
      snprintf(what, sizeof what, "must be between 1 and the horizon, %d", horizon);
      status = dj_jsonFail(at, keys[k], what);
    }
  }
  if (status < 0) return status;
  if (given == 0) return dj_jsonFail(at, "step", "is missing");
  if ((given & 1) && given != 1) return dj_jsonFail(at, "step", "stands alone");
  if (term->to > 0 && term->from > term->to) return dj_jsonFail(at, "from", "is larger than to");
  term->when = given == 1 ? DJ_WHEN_STEP : given & 2 ? DJ_WHEN_EVERY : DJ_WHEN_RUNNING;
  return DJ_OK;
}

static djStatus parseWhen(djLossTerm* term, const cJSON* item, int horizon, const djAt* at) {
  static const djNamed names[] = {
      {"final", DJ_WHEN_FINAL}, {"running", DJ_WHEN_RUNNING}, {NULL, 0}};
  const cJSON* c = dj_jsonGet(item, "when");
  term->when = dj_lossRows[term->type].when;
  if (!c) return DJ_OK;
  int value = 0;
  djStatus status;
  if (!cJSON_IsObject(c)) {
    status = dj_jsonNamed(&value, c, names, at);
    if (status == DJ_OK) term->when = (djWhen)value;
    return status;
  }
  return parseSteps(term, c, horizon, at);
}

static djStatus parseLoss(djTaskLoss* loss, const cJSON* item, int horizon, djPool* pool,
                          const djAt* at) {
  const char* keys[DJ_MAX_ENTRY_KEYS] = {"type", "weight", "tolerance", "norm", "when", NULL};
  if (!cJSON_IsObject(item)) return dj_jsonFail(at, NULL, "must be an object");
  const cJSON* type_item = dj_jsonGet(item, "type");
  int type = 0;
  if (!type_item) return dj_jsonFail(at, "type", "is missing");
  djStatus status = dj_jsonEntry(&type, type_item, dj_lossEntry, "value", at);
  if (status < 0) return status;
  const djEntry* entry = dj_lossEntry(type);
  dj_listKeys(keys, 5, entry);
  status = dj_jsonKeys(item, keys, at);
  if (status < 0) return status;

  djLossTerm* term = &loss->term;
  *term = (djLossTerm){
      .type = (djLossType)type, .object = DJ_NOBJ, .id = -1, .object2 = DJ_NOBJ, .id2 = -1,
      .weight = 1};
  const cJSON* weight = dj_jsonGet(item, "weight");
  const cJSON* tolerance = dj_jsonGet(item, "tolerance");
  const cJSON* norm = dj_jsonGet(item, "norm");
  status = parseObject(loss, item, entry, at);
  if (status == DJ_OK && norm) status = dj_jsonBool(&term->norm, norm, at);
  if (status == DJ_OK) status = parseIndex(term, item, pool, at);
  for (const djKey* k = entry->key; k->name && status == DJ_OK; k++) {
    if (strcmp(k->name, "target") == 0) status = parseTarget(term, item, k, at);
  }
  if (status == DJ_OK && weight) status = dj_jsonNumber(&term->weight, weight, at);
  if (status == DJ_OK && tolerance) status = dj_jsonNumber(&term->tolerance, tolerance, at);
  if (status == DJ_OK && term->tolerance < 0) {
    status = dj_jsonFail(at, "tolerance", "must not be negative");
  }
  return status < 0 ? status : parseWhen(term, item, horizon, at);
}

djStatus dj_parseLosses(djTask* task, const cJSON* list, djPool* pool, djError* err) {
  djAt top = {err, ""};
  if (!cJSON_IsArray(list)) return dj_jsonFail(&top, "loss", "must be a list");
  djTaskLoss* loss = dj_poolTake(pool, (size_t)cJSON_GetArraySize(list), sizeof *loss);
  if (!loss) return dj_failMemory(err);
  task->loss = loss;
  for (const cJSON* c = list->child; c; c = c->next) {
    char element[32];
    snprintf(element, sizeof element, "loss[%d]", task->nloss);
    djAt at = {err, element};
    djStatus status = parseLoss(&loss[task->nloss++], c, task->horizon, pool, &at);
    if (status < 0) return status;
  }
  return DJ_OK;
}
