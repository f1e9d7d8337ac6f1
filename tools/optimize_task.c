// task.json: the task as it was given, with what varied and what the command line changed.

#include "optimize_run.h"

#include "json_in.h"

#include <dijoco/csv.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Path of `to` from the folder `from`; both absolute, without links.
static void add_relative(Buffer* out, const char* from, const char* to) {
  size_t common = 0, i = 0;
  for (; from[i] && from[i] == to[i]; i++) {
    if (from[i] == '/') common = i + 1;
  }
  if (!from[i] && to[i] == '/') common = i + 1;
  const char* rest = from + (common < strlen(from) ? common : strlen(from));
  if (*rest) {
    buf_add(out, "../");
    for (; *rest; rest++) {
      if (*rest == '/') buf_add(out, "../");
    }
  }
  buf_add(out, to + common);
}

// ---- parts

static void put(cJSON* object, const char* key, cJSON* value) {
  if (cJSON_GetObjectItemCaseSensitive(object, key)) {
    cJSON_ReplaceItemInObjectCaseSensitive(object, key, value);
  } else {
    cJSON_AddItemToObject(object, key, value);
  }
}

static cJSON* member(cJSON* object, const char* key) {
  cJSON* value = cJSON_GetObjectItemCaseSensitive(object, key);
  if (cJSON_IsObject(value)) return value;
  value = cJSON_CreateObject();
  put(object, key, value);
  return value;
}

static cJSON* vector(const double* value, int n) { return cJSON_CreateDoubleArray(value, n); }

// A relative path starts at the new folder; an absolute one stays.
static void put_scene(cJSON* task, const char* folder, const char* scene) {
  const cJSON* old = cJSON_GetObjectItemCaseSensitive(task, "scene");
  if (cJSON_IsString(old) && old->valuestring[0] == '/') return;
  Buffer relative = {0};
  add_relative(&relative, folder, scene);
  put(task, "scene", cJSON_CreateString(relative.text));
  buf_free(&relative);
}

// The object of a group of settings: `contact` may be a name, or an object that has it as its
// `model`.
static cJSON* group_of(cJSON* task, const char* name) {
  const cJSON* old = cJSON_GetObjectItemCaseSensitive(task, name);
  char* model = cJSON_IsString(old) ? tool_copyText(old->valuestring) : NULL;
  cJSON* group = member(task, name);
  if (model) put(group, "model", cJSON_CreateString(model));
  free(model);
  return group;
}

// Settings of the command line.
static void put_setting(cJSON* task, const djSetting* s, const djOption* option) {
  double value[3];
  dj_getSetting(value, option, s);
  cJSON* item = s->choice ? cJSON_CreateString(dj_choiceName(s, (int)value[0]))
                          : cJSON_CreateNumber(value[0]);
  if (!s->group) {
    put(task, s->name, item);
    return;
  }
  put(group_of(task, s->group), strcmp(s->name, s->group) == 0 ? "model" : s->name, item);
}

static cJSON* body_name(const djModel* m, int body) {
  char number[24];
  const char* name = dj_id2name(m, DJ_OBJ_BODY, body);
  snprintf(number, sizeof number, "#%d", body);
  return cJSON_CreateString(*name ? name : number);
}

// The bodies of the command line's --guide-bodies.
static void put_guide_bodies(cJSON* task, const OptimizeRun* r) {
  const djModel* m = r->grad.design->model;
  if (!r->options->guide_bodies) return;
  cJSON* list = cJSON_CreateArray();
  for (int i = 0; i < m->nguide; i++) {
    cJSON* pair = cJSON_CreateArray();
    cJSON_AddItemToArray(pair, body_name(m, m->guide_body1[i]));
    cJSON_AddItemToArray(pair, body_name(m, m->guide_body2[i]));
    cJSON_AddItemToArray(list, pair);
  }
  put(group_of(task, "contact"), "guide_bodies", list);
}

static void put_settings(cJSON* task, const Options* o) {
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    bool here = dj_isGiven(&o->settings, s) && (s->ways & DJ_BY_TASK);
    if (here) put_setting(task, s, &o->settings.option);
  }
}

void optimize_fileName(char* name, size_t size, const GradRun* g, int scene, const char* stem,
                       const char* ending) {
  const char* own = grad_sceneName(g, scene);
  snprintf(name, size, "%s%s%s.%s", stem, own ? "_" : "", own ? own : "", ending);
}

// Of a scene; task: its entry, or the task without a list.
static void put_start(cJSON* task, const OptimizeRun* r, int scene) {
  const GradPart* part = &r->grad.part[scene];
  const djModel* m = part->design->model;
  const djRollout* rollout = &part->design->rollout;
  cJSON* initial = member(task, "initial");
  int key = part->problem->key;
  if (key >= 0 && r->options->keyframe) {
    char name[24];
    snprintf(name, sizeof name, "#%d", key);
    put(initial, "keyframe", cJSON_CreateString(name));
  }
  if (m->nq > 0) put(initial, "qpos", vector(rollout->qpos0, m->nq));
  if (m->nv > 0) put(initial, "qvel", vector(rollout->qvel0, m->nv));
  if (m->na > 0) put(initial, "act", vector(rollout->act0, m->na));
  if (rollout->history_qpos0) {
    cJSON* history = cJSON_CreateObject();
    put(history, "qpos", vector(rollout->history_qpos0, m->nq));
    put(history, "qvel", vector(rollout->history_qvel0, m->nv));
    put(initial, "history", history);
  }
  if (m->nu == 0) return;
  char name[64];
  optimize_fileName(name, sizeof name, &r->grad, scene, "ctrl", "csv");
  put(task, "ctrl", cJSON_CreateString(name));
}

// A copy of what the entry of a scene inherits.
static void inherit(cJSON* entry, const cJSON* task, const char* key) {
  const cJSON* all = cJSON_GetObjectItemCaseSensitive(task, key);
  if (!all || cJSON_GetObjectItemCaseSensitive(entry, key)) return;
  cJSON_AddItemToObject(entry, key, cJSON_Duplicate(all, true));
}

// Files and starts of all scenes, paths from the new folder on. -1: a file is gone.
static int put_scenes(cJSON* task, const OptimizeRun* r, const char* folder) {
  cJSON* list = cJSON_GetObjectItemCaseSensitive(task, "scenes");
  for (int k = 0; k < r->grad.nscene; k++) {
    cJSON* entry = list ? cJSON_GetArrayItem(list, k) : task;
    char* path = realpath(r->grad.part[k].task->scene, NULL);
    if (!path) return -1;
    if (list) inherit(entry, task, "scene");
    if (list) inherit(entry, task, "initial");
    put_scene(entry, folder, path);
    put_start(entry, r, k);
    free(path);
  }
  if (!list) return 0;
  static const char* const own[] = {"scene", "initial", "ctrl"};
  for (int k = 0; k < 3; k++) cJSON_DeleteItemFromObjectCaseSensitive(task, own[k]);
  return 0;
}

// Of what was set for one name the last prevails.
static void set_last(cJSON* task, const char* name, const double* value, int n) {
  cJSON* set = member(task, "set");
  cJSON_DeleteItemFromObjectCaseSensitive(set, name);
  cJSON_AddItemToObject(set, name, vector(value, n));
}

// A parameter of all scenes: also of those that set some themselves, maybe this one by a pattern.
static void put_value(cJSON* task, const char* name, const double* value, int n) {
  cJSON* entry;
  set_last(task, name, value, n);
  cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(task, "scenes")) {
    if (cJSON_GetObjectItemCaseSensitive(entry, "set")) set_last(entry, name, value, n);
  }
}

// Numbers that the optimizer took to other values.
static void put_annealed(cJSON* task, const OptimizeRun* r) {
  for (int i = 0; i < r->how.nanneal; i++) {
    djParam param;
    double value = 0;
    const char* name = r->how.anneal[i].name;
    if (dj_paramId(&param, r->grad.design->model, name, NULL) != DJ_OK) continue;
    dj_getParam(&value, r->grad.design->model, &param);
    put_value(task, name, &value, 1);
  }
}

// What the stages set, up to the one at hand.
static void put_staged(cJSON* task, const OptimizeRun* r) {
  for (int i = 0; i < r->how.nstage && i <= r->result.stage; i++) {
    for (int k = 0; k < r->stage[i].nset; k++) {
      const djTaskSet* s = &r->stage[i].set[k];
      put_value(task, s->name, s->value, s->n);
    }
  }
}

// An interrupted run goes on with the stage at hand, from where that began: so it ends with the
// bits of a run that was not interrupted. One that came to its end starts anew.
static void put_stages(cJSON* task, const OptimizeRun* r) {
  if (r->how.nstage == 0) return;
  cJSON* optimizer = member(task, "optimizer");
  cJSON_DeleteItemFromObjectCaseSensitive(optimizer, "stage");
  cJSON_DeleteItemFromObjectCaseSensitive(optimizer, "start");
  cJSON_DeleteItemFromObjectCaseSensitive(optimizer, "shrink");
  if (!r->interrupted) return;
  put(optimizer, "stage", cJSON_CreateNumber(r->result.stage));
  if (r->result.shrink < 1) put(optimizer, "shrink", cJSON_CreateNumber(r->result.shrink));
  for (int i = 0; i < r->grad.problem->nvariable; i++) {   // rotations are by the start given
    const djVariable* v = &r->grad.problem->variable[i];
    if (v->nvalue != v->ntangent) return;
  }
  put(optimizer, "start", vector(r->begun, r->nbegun));
}

static void put_parameters(cJSON* task, const OptimizeRun* r) {
  const djProblem* p = r->grad.problem;
  for (int i = 0; i < r->grad.scene.nset; i++) {
    const SetValue* set = &r->grad.scene.set[i];
    put_value(task, set->name, set->value, set->n);
  }
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    const double* value = r->value[AT_END][i];
    if (v->kind == DJ_VAR_PARAM) {
      put_value(task, v->name, value, v->nvalue);
    } else if (v->kind == DJ_VAR_FREE) {
      put(member(member(task, "free"), v->name), "value", vector(value, v->nvalue));
    }
  }
}

static cJSON* point_of(const djTaskPoint* p) {
  static const struct {
    djObject object;
    const char* key;
  } kinds[] = {{DJ_OBJ_GEOM, "geom"}, {DJ_OBJ_SITE, "site"}, {DJ_OBJ_BODY, "body"},
               {DJ_OBJ_JOINT, "joint"}};
  if (p->object == DJ_NOBJ) return cJSON_CreateNull();
  cJSON* point = cJSON_CreateObject();
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    const char* key = p->above ? "anchor" : kinds[k].key;
    if (kinds[k].object == p->object) put(point, key, cJSON_CreateString(p->name));
  }
  if (p->vertex >= 0) put(point, "vertex", cJSON_CreateNumber(p->vertex));
  return point;
}

// Vertices that were added to a geom's mesh are in `set`, which gives the mesh as many: what varies
// is there already, what a map computes has its values as given.
static void put_added(cJSON* task, const OptimizeRun* r, const djTaskPoint* p) {
  const djModel* m = r->grad.scene.model;
  if (p->object != DJ_OBJ_GEOM || p->vertex < 0) return;
  int mesh = m->geom_mesh[dj_name2id(m, DJ_OBJ_GEOM, p->name)];
  const char* own = dj_id2name(m, DJ_OBJ_MESH, mesh);
  char name[160];
  if (own && *own) snprintf(name, sizeof name, "mesh/%.120s/vert", own);
  else snprintf(name, sizeof name, "mesh/#%d/vert", mesh);
  cJSON* set = member(task, "set");
  if (cJSON_GetObjectItemCaseSensitive(set, name)) return;
  put(set, name, vector(m->mesh_vert + 3 * (size_t)m->mesh_vertadr[mesh],
                        3 * m->mesh_vertnum[mesh]));
}

// Connections that were found: those of the result are the same.
static void put_connect(cJSON* task, const OptimizeRun* r) {
  const djProblem* p = r->grad.problem;
  if (!r->grad.task->connect_auto) return;
  cJSON* list = cJSON_CreateArray();
  for (int i = 0; i < p->nconnect; i++) {
    cJSON* one = cJSON_CreateObject();
    put(one, "a", point_of(&p->joined[i].a));
    put(one, "b", point_of(&p->joined[i].b));
    cJSON_AddItemToArray(list, one);
    put_added(task, r, &p->joined[i].a);
    put_added(task, r, &p->joined[i].b);
  }
  put(task, "connect", list);
}

// Keys of the task that the type of the command line does not use are left out.
static void put_optimizer(cJSON* task, const OptimizeRun* r) {
  const Options* o = r->options;
  const djSetting* key;
  cJSON* own = cJSON_GetObjectItemCaseSensitive(task, "optimizer");
  if (o->optimizer) put(member(task, "optimizer"), "type", cJSON_CreateString(o->optimizer));
  for (int i = 0; (key = dj_optimizerKey(i)); i++) {
    bool used = dj_checkOptimizerKey(&r->how, key->name, NULL) == DJ_OK;
    if (!used) cJSON_DeleteItemFromObjectCaseSensitive(own, key->name);
    if (!(o->how_given >> i & 1)) continue;
    double value = dj_getOptimizer(&o->how, key);
    put(member(task, "optimizer"), key->name,
        key->choice ? cJSON_CreateString(dj_choiceName(key, (int)value))
                    : cJSON_CreateNumber(value));
    if (strcmp(key->name, "iterations") != 0) continue;
    cJSON* stage;   // its own are less than those of the command line
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(own, "stages")) {
      put(stage, key->name, cJSON_CreateNumber(value));
    }
  }
}

// Where an interrupted run goes on. One that came to its end starts anew.
static void put_receding(cJSON* task, const OptimizeRun* r) {
  const djRecedingRun* run = r->receding;
  if (!run) return;
  cJSON* receding = member(member(task, "optimizer"), "receding");
  cJSON_DeleteItemFromObjectCaseSensitive(receding, "frame");
  cJSON_DeleteItemFromObjectCaseSensitive(receding, "window");
  if (run->next == run->horizon) return;
  put(receding, "frame", cJSON_CreateNumber(run->next));
  put(receding, "window", vector(run->start, run->window->n));
}

// Numbers with all digits that they need: cJSON's own may lack the last bit.
static void make_exact(cJSON* item) {
  for (; item; item = item->next) {
    char number[32];
    make_exact(item->child);
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble)) continue;
    dj_formatNumber(number, item->valuedouble);
    item->valuestring = cJSON_malloc(strlen(number) + 1);
    if (!item->valuestring) continue;
    strcpy(item->valuestring, number);
    item->type = (item->type & ~0xff) | cJSON_Raw;
  }
}

// What the written scene holds itself, and what a run of it does not need.
static void strip(cJSON* task) {
  static const char* const own[] = {"set", "variables", "free", "maps", "connect", "optimizer",
                                    "inertia_from_geom"};
  const djSetting* s;
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
    cJSON_DeleteItemFromObjectCaseSensitive(task, own[k]);
  }
  for (int i = 0; (s = dj_setting(i)); i++) {
    if (s->ways & DJ_BY_TASK) {
      cJSON_DeleteItemFromObjectCaseSensitive(task, s->group ? s->group : s->name);
    }
  }
}

// ---- whole

static void print_task(Buffer* out, cJSON* task) {
  make_exact(task);
  char* printed = cJSON_Print(task);
  buf_add(out, printed ? printed : "");
  buf_add(out, "\n");
  cJSON_free(printed);
}

int optimize_replayTask(Buffer* out, const OptimizeRun* r, const char* folder,
                        const char* const* scene) {
  char message[512] = "";
  char* base = realpath(folder, NULL);
  cJSON* task = read_json(r->options->argument[0], message, sizeof message);
  const bool good = task && base && put_scenes(task, r, base) >= 0;
  cJSON* list = good ? cJSON_GetObjectItemCaseSensitive(task, "scenes") : NULL;
  for (int k = 0; k < r->grad.nscene && good; k++) {
    cJSON* entry = list ? cJSON_GetArrayItem(list, k) : task;
    strip(entry);
    put(entry, "scene", cJSON_CreateString(scene[k]));
  }
  if (good) {
    strip(task);
    print_task(out, task);
  }
  cJSON_Delete(task);
  free(base);
  return good ? 0 : EXIT_NOT_HELD;
}

int optimize_task(Buffer* out, const OptimizeRun* r, const char* folder) {
  const Options* o = r->options;
  const char* path = o->argument[0];
  char message[512] = "";
  char* base = realpath(folder, NULL);
  cJSON* task = read_json(path, message, sizeof message);
  int status = 0;
  if (!task || !base || put_scenes(task, r, base) < 0) {
    status = tool_fail(o->verb, path, NULL, "cannot be read again: %s",
                       *message ? message : strerror(errno));
  } else {
    put_settings(task, o);
    put_guide_bodies(task, r);
    put_parameters(task, r);
    put_annealed(task, r);
    put_staged(task, r);
    put_connect(task, r);
    put_optimizer(task, r);
    put_receding(task, r);
    put_stages(task, r);
    print_task(out, task);
  }
  cJSON_Delete(task);
  free(base);
  return status;
}
