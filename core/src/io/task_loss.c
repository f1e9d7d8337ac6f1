// The terms of a loss, as the file has them.

#include "base/status.h"
#include "gradient/loss_row.h"
#include "io/task_parse.h"
#include "model/check.h"

#include <stdio.h>
#include <string.h>

// The element that the term is about: one of those keys that follow one another.
static djStatus parseObject(djTaskLoss* loss, const cJSON* item, const djEntry* entry,
                            const djAt* at) {
  int n = 0;
  bool required = false;
  loss->object = DJ_NOBJ;
  for (const djKey* k = entry->key; k->name; k++) {
    const cJSON* c = dj_jsonGet(item, k->name);
    if (k->holds != DJ_HOLDS_ELEMENT) continue;
    if (strcmp(k->name, "body2") == 0) {
      if (!c) return dj_jsonFail(at, k->name, "is missing");
      djStatus status = dj_jsonText(&loss->name2, c, at);
      if (status < 0) return status;
      continue;
    }
    required = required || k->required;
    if (!c) continue;
    djStatus status = dj_jsonText(&loss->name, c, at);
    if (status < 0) return status;
    loss->object = k->object;
    n++;
  }
  if (n > 1) return dj_jsonFail(at, NULL, "names more than one element");
  return n == 0 && required ? dj_jsonFail(at, entry->key->name, "is missing") : DJ_OK;
}

static djStatus parseTarget(djLossTerm* term, const cJSON* item, const djKey* key,
                            const djAt* at) {
  const cJSON* c = dj_jsonGet(item, key->name);
  if (!c) return key->required ? dj_jsonFail(at, key->name, "is missing") : DJ_OK;
  bool scalar = key->size == 1 && !cJSON_IsArray(c);
  djStatus status = scalar ? dj_jsonNumber(term->target, c, at)
                           : dj_jsonVector(term->target, key->size, c, at);
  if (status == DJ_OK && dj_lossRows[term->type].quaternion &&
      !dj_makeUnit(term->target, term->target, 4)) {
    status = dj_jsonFail(at, key->name, "is a zero quaternion");
  }
  return status;
}

static djStatus parseWhen(djLossTerm* term, const cJSON* item, int horizon, const djAt* at) {
  static const djNamed names[] = {
      {"final", DJ_WHEN_FINAL}, {"running", DJ_WHEN_RUNNING}, {NULL, 0}};
  static const char* const keys[] = {"step", NULL};
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
  const cJSON* step = dj_jsonGet(c, "step");
  status = dj_jsonKeys(c, keys, at);
  if (status == DJ_OK && !step) status = dj_jsonFail(at, "step", "is missing");
  if (status == DJ_OK) status = dj_jsonInt(&value, step, at);
  if (status == DJ_OK && (value < 1 || value > horizon)) {
    char what[64];
    snprintf(what, sizeof what, "must be between 1 and the horizon, %d", horizon);
    status = dj_jsonFail(at, "step", what);
  }
  term->when = DJ_WHEN_STEP;
  term->step = value;
  return status;
}

static djStatus parseLoss(djTaskLoss* loss, const cJSON* item, int horizon, const djAt* at) {
  const char* keys[DJ_MAX_ENTRY_KEYS] = {"type", "weight", "tolerance", "when", NULL};
  if (!cJSON_IsObject(item)) return dj_jsonFail(at, NULL, "must be an object");
  const cJSON* type_item = dj_jsonGet(item, "type");
  int type = 0;
  if (!type_item) return dj_jsonFail(at, "type", "is missing");
  djStatus status = dj_jsonEntry(&type, type_item, dj_lossEntry, "value", at);
  if (status < 0) return status;
  const djEntry* entry = dj_lossEntry(type);
  dj_listKeys(keys, 4, entry);
  status = dj_jsonKeys(item, keys, at);
  if (status < 0) return status;

  djLossTerm* term = &loss->term;
  *term = (djLossTerm){
      .type = (djLossType)type, .object = DJ_NOBJ, .id = -1, .id2 = -1, .weight = 1};
  const cJSON* weight = dj_jsonGet(item, "weight");
  const cJSON* tolerance = dj_jsonGet(item, "tolerance");
  status = parseObject(loss, item, entry, at);
  for (const djKey* k = entry->key; k->name && status == DJ_OK; k++) {
    if (k->holds == DJ_HOLDS_NUMBERS) status = parseTarget(term, item, k, at);
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
    djStatus status = parseLoss(&loss[task->nloss++], c, task->horizon, &at);
    if (status < 0) return status;
  }
  return DJ_OK;
}
