// `"scenes"`: each entry is the task with some keys of its own. Entries are merged with the rest of
// the file, so that one reader serves all.

#include "base/status.h"
#include "io/task_parse.h"

#include <stdio.h>
#include <string.h>

// Keys of a scene, the task's and its own two.
static const char* const keys[] = {"scene",   "initial", "ctrl",   "set", "loss",
                                   "horizon", "name",    "weight", NULL};
enum { NSHARED = 6 };

// Names are parts of names of files.
static bool isName(const char* text) {
  size_t n = strlen(text);
  return n > 0 && n <= DJ_MAX_SCENE_NAME &&
         strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == n;
}

static djStatus parseName(djTask* task, const cJSON* item, int place, djPool* pool,
                          const djAt* at) {
  const cJSON* name = dj_jsonGet(item, "name");
  char number[16];
  snprintf(number, sizeof number, "%d", place);
  const char* text = number;
  djStatus status = name ? dj_jsonText(&text, name, at) : DJ_OK;
  if (status < 0) return status;
  if (!isName(text)) {
    return dj_jsonFail(at, "name", "must be 1 to 32 letters, digits, '-' and '_'");
  }
  task->name = dj_poolText(pool, text);
  return task->name ? DJ_OK : dj_failMemory(at->err);
}

djStatus dj_parseScene(djTask* task, const cJSON* item, int place, djPool* pool, djError* err) {
  char element[DJ_MAX_SCENE_NAME + 32];
  snprintf(element, sizeof element, "scenes[%d]", place);
  djAt at = {err, element};
  djStatus status = dj_jsonKeys(item, keys, &at);
  if (status == DJ_OK) status = parseName(task, item, place, pool, &at);
  const cJSON* weight = dj_jsonGet(item, "weight");
  if (status == DJ_OK && weight) status = dj_jsonNumber(&task->weight, weight, &at);
  if (status < 0) return status;
  if (!(task->weight > 0)) return dj_jsonFail(&at, "weight", "must be positive");
  snprintf(element, sizeof element, "scenes[%d] '%s'", place, task->name);
  task->element = dj_poolText(pool, element);
  return task->element ? DJ_OK : dj_failMemory(err);
}

// Add a copy of an item.
static bool add(cJSON* object, const cJSON* item) {
  cJSON* copy = cJSON_Duplicate(item, true);
  if (copy && cJSON_AddItemToObject(object, item->string, copy)) return true;
  cJSON_Delete(copy);
  return false;
}

// Parameters of both; the scene's own prevail.
static bool mergeSets(cJSON* root, const cJSON* own) {
  cJSON* set = cJSON_GetObjectItemCaseSensitive(root, "set");
  for (const cJSON* c = own->child; c; c = c->next) {
    cJSON_DeleteItemFromObjectCaseSensitive(set, c->string);
    if (!add(set, c)) return false;
  }
  return true;
}

djStatus dj_mergeScene(cJSON** merged, const cJSON* root, const cJSON* item, djError* err) {
  cJSON* all = cJSON_Duplicate(root, true);
  *merged = all;
  if (!all) return dj_failMemory(err);
  cJSON_DeleteItemFromObjectCaseSensitive(all, "scenes");
  for (int k = 0; k < NSHARED; k++) {
    const cJSON *own = dj_jsonGet(item, keys[k]), *old = dj_jsonGet(all, keys[k]);
    if (!own) continue;
    bool set = strcmp(keys[k], "set") == 0 && cJSON_IsObject(own) && cJSON_IsObject(old);
    if (!set && old) cJSON_DeleteItemFromObjectCaseSensitive(all, keys[k]);
    if (!(set ? mergeSets(all, own) : add(all, own))) return dj_failMemory(err);
  }
  return DJ_OK;
}

// The error's text begins with a key of the object.
static bool isAbout(const cJSON* object, const djError* err) {
  for (const cJSON* c = object->child; c && err; c = c->next) {
    size_t n = strlen(c->string);
    if (strncmp(err->text, c->string, n) == 0 && strchr(":[", err->text[n])) return true;
  }
  return false;
}

djStatus dj_failScene(djError* err, djStatus status, const djTask* task, const cJSON* root,
                      const cJSON* item, int place) {
  if (place == 0 && isAbout(root, err) && !isAbout(item, err)) return status;
  return task->element[0] ? dj_prefix(err, status, task->element) : status;
}

djStatus dj_checkScenes(const djTask* task, djError* err) {
  for (int k = 0; k < task->nscene; k++) {
    for (int j = 0; j < k; j++) {
      if (strcmp(task->scenes[j]->name, task->scenes[k]->name) != 0) continue;
      return dj_fail(err, DJ_INVALID, "scenes[%d]: name: '%s' is that of scenes[%d], too", k,
                     task->scenes[k]->name, j);
    }
  }
  if (task->nscene > 1 && task->optimizer.receding.horizon > 0) {
    return dj_fail(err, DJ_UNSUPPORTED, "optimizer: receding: takes one scene");
  }
  return DJ_OK;
}

int dj_taskScenes(const djTask* task) { return task ? task->nscene : 0; }

const djTask* dj_taskOfScene(const djTask* task, int scene) {
  return task && scene >= 0 && scene < task->nscene ? task->scenes[scene] : NULL;
}

const char* dj_taskName(const djTask* task) { return task ? task->name : ""; }
double dj_taskWeight(const djTask* task) { return task ? task->weight : 0; }
