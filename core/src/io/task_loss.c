// The terms of a loss, as the file has them.

#include "base/status.h"
#include "io/task_parse.h"
#include "model/check.h"

#include <stdio.h>
#include <string.h>

static const djNamed typeNames[] = {{"position", DJ_LOSS_POSITION},
                                    {"orientation", DJ_LOSS_ORIENTATION},
                                    {"velocity", DJ_LOSS_VELOCITY},
                                    {"com", DJ_LOSS_COM},
                                    {"distance", DJ_LOSS_DISTANCE},
                                    {"qpos", DJ_LOSS_QPOS},
                                    {"qvel", DJ_LOSS_QVEL},
                                    {"effort", DJ_LOSS_EFFORT},
                                    {NULL, 0}};

// Which keys a type has beside type, weight, tolerance and when.
typedef struct djLossForm {
  const char* objects[4];   // keys of which one names the element; ends with NULL
  bool optional;            // ... or none
  bool second;              // body2
  int ntarget;              // numbers of the target
  bool rest;                // target may be missing: zero
} djLossForm;

static const djLossForm forms[DJ_NLOSS] = {
    [DJ_LOSS_POSITION] = {{"body", "site", "geom", NULL}, false, false, 3, false},
    [DJ_LOSS_ORIENTATION] = {{"body", NULL}, false, false, 4, false},
    [DJ_LOSS_VELOCITY] = {{"body", NULL}, false, false, 3, true},
    [DJ_LOSS_COM] = {{"body", NULL}, true, false, 3, false},
    [DJ_LOSS_DISTANCE] = {{"body", NULL}, false, true, 1, true},
    [DJ_LOSS_QPOS] = {{"joint", NULL}, false, false, 1, false},
    [DJ_LOSS_QVEL] = {{"joint", NULL}, false, false, 1, true},
    [DJ_LOSS_EFFORT] = {{NULL}, true, false, 0, true},
};

static djObject objectOf(const char* key) {
  if (strcmp(key, "body") == 0) return DJ_OBJ_BODY;
  if (strcmp(key, "site") == 0) return DJ_OBJ_SITE;
  if (strcmp(key, "geom") == 0) return DJ_OBJ_GEOM;
  return DJ_OBJ_JOINT;
}

// The element that the term is about.
static djStatus parseObject(djTaskLoss* loss, const cJSON* item, const djLossForm* form,
                            const djAt* at) {
  int n = 0;
  loss->object = DJ_NOBJ;
  for (const char* const* key = form->objects; *key; key++) {
    const cJSON* c = dj_jsonGet(item, *key);
    if (!c) continue;
    djStatus status = dj_jsonText(&loss->name, c, at);
    if (status < 0) return status;
    loss->object = objectOf(*key);
    n++;
  }
  if (n > 1) return dj_jsonFail(at, NULL, "names more than one element");
  if (n == 0 && !form->optional) return dj_jsonFail(at, form->objects[0], "is missing");
  if (!form->second) return DJ_OK;
  const cJSON* c = dj_jsonGet(item, "body2");
  return c ? dj_jsonText(&loss->name2, c, at) : dj_jsonFail(at, "body2", "is missing");
}

static djStatus parseTarget(djLossTerm* term, const cJSON* item, const djLossForm* form,
                            const djAt* at) {
  const cJSON* c = dj_jsonGet(item, "target");
  if (!c) return form->rest ? DJ_OK : dj_jsonFail(at, "target", "is missing");
  bool scalar = form->ntarget == 1 && !cJSON_IsArray(c);
  djStatus status = scalar ? dj_jsonNumber(term->target, c, at)
                           : dj_jsonVector(term->target, form->ntarget, c, at);
  if (status == DJ_OK && term->type == DJ_LOSS_ORIENTATION &&
      !dj_makeUnit(term->target, term->target, 4)) {
    status = dj_jsonFail(at, "target", "is a zero quaternion");
  }
  return status;
}

static djStatus parseWhen(djLossTerm* term, const cJSON* item, int horizon, const djAt* at) {
  static const djNamed names[] = {
      {"final", DJ_WHEN_FINAL}, {"running", DJ_WHEN_RUNNING}, {NULL, 0}};
  static const char* const keys[] = {"step", NULL};
  const cJSON* c = dj_jsonGet(item, "when");
  term->when = term->type == DJ_LOSS_EFFORT ? DJ_WHEN_RUNNING : DJ_WHEN_FINAL;
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
  const char* keys[12] = {"type", "weight", "tolerance", "when", NULL};
  if (!cJSON_IsObject(item)) return dj_jsonFail(at, NULL, "must be an object");
  const cJSON* type_item = dj_jsonGet(item, "type");
  int type = 0, n = 4;
  if (!type_item) return dj_jsonFail(at, "type", "is missing");
  djStatus status = dj_jsonNamed(&type, type_item, typeNames, at);
  if (status < 0) return status;
  const djLossForm* form = &forms[type];
  for (const char* const* key = form->objects; *key; key++) keys[n++] = *key;
  if (form->second) keys[n++] = "body2";
  if (form->ntarget > 0) keys[n++] = "target";
  status = dj_jsonKeys(item, keys, at);
  if (status < 0) return status;

  djLossTerm* term = &loss->term;
  *term = (djLossTerm){
      .type = (djLossType)type, .object = DJ_NOBJ, .id = -1, .id2 = -1, .weight = 1};
  const cJSON* weight = dj_jsonGet(item, "weight");
  const cJSON* tolerance = dj_jsonGet(item, "tolerance");
  status = parseObject(loss, item, form, at);
  if (status == DJ_OK && form->ntarget > 0) status = parseTarget(term, item, form, at);
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
