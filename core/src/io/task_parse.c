// Tasks, first stage: what the file says.

#include "base/status.h"
#include "io/settings.h"
#include "io/task_parse.h"
#include "io/text.h"
#include "model/setting.h"

#include <dijoco/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DJ_MAX_HORIZON 10000000

// null: there is none.
static djStatus parseHistory(djTask* task, const cJSON* item, djPool* pool, djError* err) {
  static const char* const keys[] = {"qpos", "qvel", NULL};
  djAt at = {err, "initial: history"};
  task->history = !cJSON_IsNull(item);
  if (!task->history) return DJ_OK;
  djStatus status = dj_jsonKeys(item, keys, &at);
  if (status < 0) return status;
  const cJSON *qpos = dj_jsonGet(item, "qpos"), *qvel = dj_jsonGet(item, "qvel");
  if (!qpos || !qvel) return dj_jsonFail(&at, qpos ? "qvel" : "qpos", "is missing");
  status = dj_jsonNumbers(&task->history_qpos, &task->nhistory_qpos, qpos, pool, &at);
  if (status < 0) return status;
  return dj_jsonNumbers(&task->history_qvel, &task->nhistory_qvel, qvel, pool, &at);
}

static djStatus parseInitial(djTask* task, const cJSON* item, djPool* pool, djError* err) {
  static const char* const keys[] = {"keyframe", "qpos", "qvel", "act", "history", NULL};
  djAt at = {err, "initial"};
  djStatus status = dj_jsonKeys(item, keys, &at);
  if (status < 0) return status;
  const cJSON* key = dj_jsonGet(item, "keyframe");
  const cJSON* qpos = dj_jsonGet(item, "qpos");
  const cJSON* qvel = dj_jsonGet(item, "qvel");
  const cJSON* act = dj_jsonGet(item, "act");
  if (cJSON_IsString(key)) {
    task->keyframe = key->valuestring;
  } else if (key) {
    int id = 0;
    char text[32];
    status = dj_jsonInt(&id, key, &at);
    if (status < 0) return dj_jsonFail(&at, "keyframe", "must be a name or an index");
    snprintf(text, sizeof text, "#%d", id);
    task->keyframe = dj_poolText(pool, text);
    if (!task->keyframe) return dj_failMemory(err);
  }
  if (qpos) status = dj_jsonNumbers(&task->qpos, &task->nqpos, qpos, pool, &at);
  if (status == DJ_OK && qvel) {
    status = dj_jsonNumbers(&task->qvel, &task->nqvel, qvel, pool, &at);
  }
  if (status == DJ_OK && act) status = dj_jsonNumbers(&task->act, &task->nact, act, pool, &at);
  const cJSON* history = dj_jsonGet(item, "history");
  return status == DJ_OK && history ? parseHistory(task, history, pool, err) : status;
}

// Rows for all steps, one constant row, or the name of a table.
static djStatus parseCtrl(djTask* task, const cJSON* item, const char* folder, djPool* pool,
                          const djAt* at) {
  if (cJSON_IsString(item)) {
    char* path = dj_joinPath(folder, item->valuestring);
    task->ctrl_file = path ? dj_poolText(pool, path) : NULL;
    free(path);
    return task->ctrl_file ? DJ_OK : dj_failMemory(at->err);
  }
  if (!cJSON_IsArray(item)) {
    return dj_jsonFail(at, "ctrl", "must be rows of numbers, one row, or the name of a file");
  }
  if (!cJSON_IsArray(item->child)) {
    task->nrow = 1;
    return dj_jsonNumbers(&task->ctrl, &task->nctrl, item, pool, at);
  }
  task->nctrl = -1;
  djStatus status = dj_jsonRows(&task->ctrl, &task->nrow, &task->nctrl, item, pool, at);
  if (status == DJ_OK && task->nrow != task->horizon) {
    char what[64];
    snprintf(what, sizeof what, "must have %d rows, one for each step", task->horizon);
    status = dj_jsonFail(at, "ctrl", what);
  }
  return status;
}

static djStatus parseVariable(djTaskVariable* v, const cJSON* item, djPool* pool,
                              const djAt* at) {
  static const char* const keys[] = {"name", "index", "min", "max", NULL};
  djStatus status = dj_jsonKeys(item, keys, at);
  if (status < 0) return status;
  const cJSON* name = dj_jsonGet(item, "name");
  const cJSON* index = dj_jsonGet(item, "index");
  const cJSON* min = dj_jsonGet(item, "min");
  const cJSON* max = dj_jsonGet(item, "max");
  v->nindex = -1;
  if (!name) return dj_jsonFail(at, "name", "is missing");
  if (!cJSON_IsArray(name)) status = dj_jsonText(&v->name, name, at);
  if (status == DJ_OK && index) status = dj_jsonInts(&v->index, &v->nindex, index, pool, at);
  if (status == DJ_OK && min) status = dj_jsonNumbers(&v->min, &v->nmin, min, pool, at);
  if (status == DJ_OK && max) status = dj_jsonNumbers(&v->max, &v->nmax, max, pool, at);
  return status;
}

// Names of an item: one, or a mask of several.
static int countNames(const cJSON* item) {
  const cJSON* name = cJSON_IsObject(item) ? dj_jsonGet(item, "name") : NULL;
  return cJSON_IsArray(name) ? cJSON_GetArraySize(name) : 1;
}

// One variable for each name, alike but for that.
static djStatus parseMask(djTaskVariable* v, const cJSON* item, djPool* pool, const djAt* at) {
  djTaskVariable one = {0};
  djStatus status = parseVariable(&one, item, pool, at);
  if (status < 0) return status;
  *v = one;
  const cJSON* name = dj_jsonGet(item, "name");
  if (cJSON_IsArray(name) && !name->child) return dj_jsonFail(at, "name", "has no names");
  int n = 0;
  for (const cJSON* c = name->child; c; c = c->next) {
    if (!cJSON_IsString(c)) return dj_jsonFail(at, "name", "must be a name or a list of names");
    v[n] = one;
    v[n++].name = c->valuestring;
  }
  return DJ_OK;
}

static djStatus parseVariables(djTask* task, const cJSON* item, djPool* pool, djError* err) {
  djAt top = {err, ""};
  if (!cJSON_IsArray(item)) return dj_jsonFail(&top, "variables", "must be a list");
  size_t count = 0;
  for (const cJSON* c = item->child; c; c = c->next) count += (size_t)countNames(c);
  djTaskVariable* v = dj_poolTake(pool, count + 1, sizeof *v);
  if (!v) return dj_failMemory(err);
  task->variable = v;
  int place = 0;
  for (const cJSON* c = item->child; c; c = c->next) {
    char element[32];
    snprintf(element, sizeof element, "variables[%d]", place++);
    djAt at = {err, element};
    djStatus status = parseMask(&v[task->nvariable], c, pool, &at);
    if (status < 0) return status;
    task->nvariable += countNames(c);
  }
  return DJ_OK;
}

// `"guide_bodies"`: pairs of names.
static djStatus parseGuide(djTask* task, const cJSON* list, djPool* pool, djError* err) {
  djAt at = {err, "contact"};
  if (!cJSON_IsArray(list)) return dj_jsonFail(&at, list->string, "must be a list of pairs");
  const char** name = dj_poolTake(pool, 2 * (size_t)cJSON_GetArraySize(list), sizeof *name);
  if (!name) return dj_failMemory(err);
  task->guide = name;
  task->nguide = 0;
  for (const cJSON* c = list->child; c; c = c->next, task->nguide++) {
    bool pair = cJSON_IsArray(c) && cJSON_GetArraySize(c) == 2;
    for (int k = 0; k < 2 && pair; k++) {
      name[2 * task->nguide + k] = cJSON_GetStringValue(cJSON_GetArrayItem(c, k));
      pair = name[2 * task->nguide + k] != NULL;
    }
    if (!pair) return dj_jsonFail(&at, list->string, "must be pairs of names of bodies");
  }
  return DJ_OK;
}

static djStatus parseContact(djTask* task, const cJSON* item, djPool* pool, const djAt* at) {
  const char* guide = "guide_bodies";
  djStatus status = dj_jsonGroup(&task->settings, "contact", DJ_BY_TASK, guide, item, at);
  const cJSON* bodies = cJSON_IsObject(item) ? dj_jsonGet(item, guide) : NULL;
  return status == DJ_OK && bodies ? parseGuide(task, bodies, pool, at->err) : status;
}

// true is "exact".
static djStatus parseRule(djInertiaRule* rule, const cJSON* item, const djAt* at) {
  int named = cJSON_IsString(item) ? dj_inertiaRuleByName(item->valuestring) : -1;
  if (cJSON_IsBool(item)) named = cJSON_IsTrue(item) ? DJ_INERTIA_EXACT : DJ_INERTIA_COMPILED;
  else if (named == DJ_INERTIA_COMPILED) named = -1;
  if (named < 0) {
    return dj_jsonFail(at, "inertia_from_geom", "must be true, false, exact, lumped or union");
  }
  *rule = (djInertiaRule)named;
  return DJ_OK;
}

static djStatus parseDerivatives(djDerivatives* which, const cJSON* item, const djAt* at) {
  static const djNamed names[] = {
      {"analytic", DJ_DERIVATIVES_ANALYTIC}, {"smooth", DJ_DERIVATIVES_SMOOTH}, {NULL, 0}};
  int named = DJ_DERIVATIVES_ANALYTIC;
  const djStatus status = dj_jsonNamed(&named, item, names, at);
  *which = (djDerivatives)named;
  return status;
}

static djStatus checkKeys(const cJSON* root, const djAt* at) {
  enum { NKEY = 16 };
  const char* keys[NKEY + DJ_MAX_SETTINGS + 1] = {
      "scene", "contact", "horizon", "initial", "ctrl", "set", "loss", "variables",
      "inertia_from_geom", "free", "maps", "connect", "optimizer", "scenes", "checkpoint",
      "derivatives"};
  dj_listSettings(keys + NKEY, "", DJ_BY_TASK);
  return dj_jsonKeys(root, keys, at);
}

// Keys of the top level that hold single values.
static djStatus parseTop(djTask* task, const cJSON* root, const char* folder, djPool* pool,
                         const djAt* at) {
  const char *list[DJ_MAX_SETTINGS + 1] = {NULL}, **settings = list;
  dj_listSettings(settings, "", DJ_BY_TASK);
  const cJSON* scene = dj_jsonGet(root, "scene");
  const cJSON* horizon = dj_jsonGet(root, "horizon");
  const cJSON* moving = dj_jsonGet(root, "inertia_from_geom");
  const cJSON* checkpoint = dj_jsonGet(root, "checkpoint");
  const cJSON* derivatives = dj_jsonGet(root, "derivatives");
  if (!scene) return dj_jsonFail(at, "scene", "is missing");
  if (!horizon) return dj_jsonFail(at, "horizon", "is missing");
  const char* name = NULL;
  djStatus status = dj_jsonText(&name, scene, at);
  if (status == DJ_OK) status = dj_jsonInt(&task->horizon, horizon, at);
  if (status < 0) return status;
  if (!name[0]) return dj_jsonFail(at, "scene", "is empty");
  char* path = dj_joinPath(folder, name);
  task->scene = path ? dj_poolText(pool, path) : NULL;
  free(path);
  if (!task->scene) return dj_failMemory(at->err);
  if (task->horizon < 1 || task->horizon > DJ_MAX_HORIZON) {
    return dj_jsonFail(at, "horizon", "must be between 1 and 10000000");
  }
  if (checkpoint) status = dj_jsonInt(&task->checkpoint, checkpoint, at);
  if (status < 0) return status;
  if (task->checkpoint < 0) return dj_jsonFail(at, "checkpoint", "must not be negative");
  if (derivatives) status = parseDerivatives(&task->derivatives, derivatives, at);
  if (status < 0) return status;
  if (moving) status = parseRule(&task->inertia_from_geom, moving, at);
  for (; *settings && status == DJ_OK; settings++) {
    const cJSON* c = dj_jsonGet(root, *settings);
    if (c) status = dj_jsonSetting(&task->settings, dj_findSetting(*settings, 0), c, at);
  }
  return status;
}

static djStatus parseTask(djTask* task, const cJSON* root, const char* folder, djPool* pool,
                          djError* err) {
  djAt at = {err, ""};
  djStatus status = parseTop(task, root, folder, pool, &at);
  if (status < 0) return status;
  const cJSON* contact = dj_jsonGet(root, "contact");
  const cJSON* initial = dj_jsonGet(root, "initial");
  const cJSON* ctrl = dj_jsonGet(root, "ctrl");
  const cJSON* set = dj_jsonGet(root, "set");
  const cJSON* loss = dj_jsonGet(root, "loss");
  const cJSON* free_vectors = dj_jsonGet(root, "free");
  const cJSON* maps = dj_jsonGet(root, "maps");
  const cJSON* variables = dj_jsonGet(root, "variables");
  const cJSON* connect = dj_jsonGet(root, "connect");
  const cJSON* optimizer = dj_jsonGet(root, "optimizer");
  if (!loss) return dj_jsonFail(&at, "loss", "is missing");
  if (contact) status = parseContact(task, contact, pool, &at);
  if (status == DJ_OK && initial) status = parseInitial(task, initial, pool, err);
  if (status == DJ_OK && ctrl) status = parseCtrl(task, ctrl, folder, pool, &at);
  if (status == DJ_OK && set) status = dj_parseSet(&task->set, &task->nset, set, "set", pool, err);
  if (status == DJ_OK) status = dj_parseLosses(task, loss, pool, err);
  if (status == DJ_OK && free_vectors) status = dj_parseFree(task, free_vectors, pool, err);
  if (status == DJ_OK && maps) status = dj_parseMaps(task, maps, pool, err);
  if (status == DJ_OK && variables) status = parseVariables(task, variables, pool, err);
  if (status == DJ_OK && connect) status = dj_parseConnect(task, connect, pool, err);
  if (status == DJ_OK && optimizer) {
    status = dj_parseOptimizer(&task->optimizer, optimizer, pool, err);
  }
  if (status == DJ_OK && optimizer) status = dj_parseReceding(task, optimizer, pool, err);
  return status;
}

static djTask* newTask(const char* path) {
  djTask* task = calloc(1, sizeof *task);
  djTaskMemory* memory = calloc(1, sizeof *memory);
  if (!task || !memory) {
    free(task);
    free(memory);
    return NULL;
  }
  task->memory = memory;
  task->nqpos = task->nqvel = task->nact = task->nguide = -1;
  task->settings.option = dj_defaultOption();
  task->optimizer = dj_defaultOptimizer();
  task->name = task->element = "";
  task->weight = 1;
  task->path = dj_poolText(&memory->pool, path);
  djTask** self = dj_poolTake(&memory->pool, 1, sizeof *self);
  if (self) *self = task;
  task->nscene = self != NULL;
  task->scenes = self;
  if (task->path && self) return task;
  dj_deleteTask(task);
  return NULL;
}

static djStatus parseOne(djTask* task, const cJSON* root, const cJSON* item, int place,
                         const char* folder, djError* err) {
  djTaskMemory* memory = task->memory;
  djStatus status = dj_parseScene(task, item, place, &memory->pool, err);
  if (status < 0) return status;
  status = dj_mergeScene(&memory->root, root, item, err);
  if (status == DJ_OK) status = parseTask(task, memory->root, folder, &memory->pool, err);
  return status < 0 ? dj_failScene(err, status, task, root, item, place) : DJ_OK;
}

static djStatus parseScenes(djTask* task, const cJSON* root, const cJSON* list, const char* folder,
                            djError* err) {
  djAt top = {err, ""};
  djTaskMemory* memory = task->memory;
  int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
  if (n == 0) return dj_jsonFail(&top, "scenes", "must be a list of scenes");
  djTask** each = dj_poolTake(&memory->pool, (size_t)n, sizeof *each);
  if (!each) return dj_failMemory(err);
  each[0] = task;
  task->scenes = each;
  djStatus status = DJ_OK;
  const cJSON* item = list->child;
  for (int k = 0; k < n && status == DJ_OK; k++, item = item->next) {
    if (k > 0) each[k] = newTask(task->path);
    if (!each[k]) return dj_failMemory(err);
    task->nscene = k + 1;
    status = parseOne(each[k], root, item, k, folder, err);
  }
  return status == DJ_OK ? dj_checkScenes(task, err) : status;
}

static djStatus loadText(djTask** out, const char* text, size_t length, const char* path,
                         const char* folder, djError* err) {
  djTask* task = newTask(path);
  if (!task) return dj_failMemory(err);
  djTaskMemory* memory = task->memory;
  djAt at = {err, ""};
  cJSON* root = NULL;
  djStatus status = dj_parseJson(&root, text, length, err);
  if (status == DJ_OK) status = checkKeys(root, &at);
  const cJSON* scenes = status == DJ_OK ? dj_jsonGet(root, "scenes") : NULL;
  if (scenes) {
    status = parseScenes(task, root, scenes, folder, err);
    cJSON_Delete(root);
  } else {
    memory->root = root;
    if (status == DJ_OK) status = parseTask(task, root, folder, &memory->pool, err);
  }
  if (status < 0) {
    dj_deleteTask(task);
    return status;
  }
  *out = task;
  return DJ_OK;
}

djStatus dj_loadTask(djTask** task, const char* path, djError* err) {
  if (!task) return dj_fail(err, DJ_INVALID, "task: NULL");
  *task = NULL;
  if (!path) return dj_fail(err, DJ_INVALID, "path: NULL");
  char *text = NULL, *folder = dj_folderOf(path);
  size_t length = 0;
  djStatus status = folder ? dj_readFile(&text, &length, path, err) : dj_failMemory(err);
  if (status == DJ_OK) status = loadText(task, text, length, path, folder, err);
  free(text);
  free(folder);
  return status < 0 ? dj_prefix(err, status, path) : status;
}

djStatus dj_loadTaskText(djTask** task, const char* text, const char* folder, djError* err) {
  if (!task) return dj_fail(err, DJ_INVALID, "task: NULL");
  *task = NULL;
  if (!text) return dj_fail(err, DJ_INVALID, "text: NULL");
  size_t n = folder ? strlen(folder) : 0;
  char* base = malloc(n + 2);
  if (!base) return dj_failMemory(err);
  if (n > 0) memcpy(base, folder, n);
  if (n > 0 && base[n - 1] != '/') base[n++] = '/';
  base[n] = 0;
  djStatus status = loadText(task, text, strlen(text), "", base, err);
  free(base);
  return status;
}

void dj_deleteTask(djTask* task) {
  if (!task) return;
  djTaskMemory* memory = task->memory;
  for (int k = 1; k < task->nscene; k++) dj_deleteTask(task->scenes[k]);
  dj_poolFree(&memory->pool);
  cJSON_Delete(memory->root);
  free(memory);
  free(task);
}
