#include "scene.h"

#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* scene_mujocoVersion(void) {
#ifdef DJ_HAVE_MUJOCO
  return mj_versionString();
#else
  return NULL;
#endif
}

int scene_fail(const Options* o, const char* path, const djError* err) {
  bool named = path && strncmp(err->text, path, strlen(path)) == 0;
  return tool_fail(o->verb, named ? NULL : path, NULL, "%s", *err->text ? err->text : "refused");
}

static bool ends_with(const char* text, const char* ending) {
  size_t n = strlen(text), k = strlen(ending);
  return n > k && strcmp(text + n - k, ending) == 0;
}

// While hulls of meshes are made.
static int show_hulls(void* user, double done) {
  (void)user;
  progress_show("making hulls of meshes", done, 1, "%s", "");
  return 0;
}

static const djWatch hulls = {show_hulls, NULL};

#ifdef DJ_HAVE_MUJOCO
static int load_mujoco(Scene* s, const Options* o) {
  djError err = {""};
  djStatus status = dj_loadMJCFWatched(&s->model, &s->report, &s->stock, s->path, &hulls,
                                       &err);
  return status < 0 ? scene_fail(o, s->path, &err) : 0;
}

int scene_checkIgnored(const Scene* s, const Options* o) {
  if (!s->report || o->allow_ignored) return 0;
  for (int i = 0; i < s->report->n; i++) {
    const djReportEntry* e = &s->report->entry[i];
    if (e->state != DJ_IGNORED) continue;
    char element[256];
    snprintf(element, sizeof element, "%s: %s", e->element, e->feature);
    return tool_fail(o->verb, s->path, element,
                     "is ignored although it changes the motion (%s); --allow-ignored runs the "
                     "scene without it",
                     e->note);
  }
  return 0;
}
#else
static int load_mujoco(Scene* s, const Options* o) {
  return tool_fail(o->verb, s->path, NULL,
                   "MuJoCo scenes need a build with MuJoCo; this one reads .json scenes only");
}

int scene_checkIgnored(const Scene* s, const Options* o) {
  (void)s, (void)o;
  return 0;
}
#endif

bool scene_isMJCF(const char* path) { return ends_with(path, ".xml") || ends_with(path, ".mjb"); }

int scene_load(Scene* s, const Options* o, const char* path) {
  *s = (Scene){.path = path};
  int status = 0;
  progress_show("loading the scene", 0, 0, "%s", "");
  if (ends_with(path, ".json")) {
    djError err = {""};
    if (dj_loadModelWatched(&s->model, path, &hulls, &err) < 0) status = scene_fail(o, path, &err);
  } else if (scene_isMJCF(path)) {
    status = load_mujoco(s, o);
  } else {
    status = tool_fail(o->verb, path, NULL, "expected a scene: .xml, .mjb or .json");
  }
  progress_end();
  return status;
}

// By the settings that are now in force.
static int renew_report(Scene* s, const Options* o) {
#ifdef DJ_HAVE_MUJOCO
  djError err = {""};
  if (s->report && dj_renewReport(&s->report, s->stock, s->model, &err) < 0) {
    return scene_fail(o, s->path, &err);
  }
#else
  (void)s, (void)o;
#endif
  return 0;
}

int scene_applySettings(Scene* s, const Options* o, const djTask* task) {
  djOption option = s->model->opt;
  djError err = {""};
  djStatus status = DJ_OK;
  if (task) dj_applySettings(&option, &task->settings);
  dj_applySettings(&option, &o->settings);
  if (dj_isGiven(&o->settings, NULL) || (task && dj_isGiven(&task->settings, NULL))) {
    status = dj_setOption(s->model, &option, &err);
  }
  if (status == DJ_OK && o->guide_bodies) {
    status = dj_setGuideText(s->model, o->guide_bodies, &err);
  } else if (status == DJ_OK && task && task->nguide >= 0) {
    status = dj_setGuideBodies(s->model, task->nguide, task->guide, &err);
  }
  return status < 0 ? scene_fail(o, s->path, &err) : renew_report(s, o);
}

// Numbers of "V[,V...]": new memory, NULL where one is bad.
static double* set_values(const char* text, int* n) {
  int count = 1;
  for (const char* c = text; *c; c++) count += *c == ',';
  double* value = tool_alloc((size_t)count, sizeof *value);
  char* copy = tool_copyText(text);
  char* part = copy;
  bool good = true;
  for (int i = 0; i < count && good; i++) {
    size_t length = strcspn(part, ",");
    part[length] = 0;
    good = tool_number(&value[i], part) && isfinite(value[i]);
    part += length + 1;
  }
  free(copy);
  *n = count;
  if (good) return value;
  free(value);
  return NULL;
}

// A value for one parameter, which is added to the scene's list.
static int apply_set(Scene* s, const Options* o, const char* given, const djParam* param,
                     const char* values) {
  djError err = {""};
  s->set = tool_grow(s->set, (size_t)s->nset + 1, sizeof *s->set);
  SetValue* set = &s->set[s->nset++];
  if (strchr(given, '*')) {
    size_t size = dj_paramNameSize(s->model, param);
    *set = (SetValue){.name = tool_alloc(size, 1)};
    dj_paramName(set->name, size, s->model, param);
  } else {
    *set = (SetValue){.name = tool_copyText(given)};
  }
  set->value = set_values(values, &set->n);
  if (!set->value) {
    return tool_fail(o->verb, s->path, set->name, "expected finite numbers, not '%s'", values);
  }
  if (set->n != param->nvalue) {
    return tool_fail(o->verb, s->path, set->name, "expected %d number%s, not %d", param->nvalue,
                     param->nvalue == 1 ? "" : "s", set->n);
  }
  if (dj_setParam(s->model, param, set->value, &err) < 0) {
    bool named = strncmp(err.text, set->name, strlen(set->name)) == 0;
    return tool_fail(o->verb, s->path, named ? NULL : set->name, "%s", err.text);
  }
  return 0;
}

// "NAME=V[,V...]", for each parameter that NAME stands for.
static int apply_pattern(Scene* s, const Options* o, const char* given) {
  djError err = {""};
  const char* equals = strchr(given, '=');
  char* name = tool_copyText(given);
  name[equals - given] = 0;
  int n = dj_matchParams(NULL, 0, s->model, name, &err);
  djParam* param = tool_alloc(n > 0 ? (size_t)n : 0, sizeof *param);
  int status = n < 0 ? tool_fail(o->verb, s->path, "--set", "%s", err.text) : 0;
  dj_matchParams(param, n, s->model, name, NULL);
  for (int i = 0; i < n && !status; i++) status = apply_set(s, o, name, &param[i], equals + 1);
  free(param);
  free(name);
  return status;
}

int scene_applySets(Scene* s, const Options* o) {
  int status = 0;
  for (int i = 0; i < o->nset && !status; i++) status = apply_pattern(s, o, o->set[i]);
  return status;
}

int scene_open(Scene* s, const Options* o, const char* path) {
  int status = scene_load(s, o, path);
  if (!status) status = scene_applySettings(s, o, NULL);
  if (!status) status = scene_checkIgnored(s, o);
  if (!status) status = scene_applySets(s, o);
  return status;
}

void scene_close(Scene* s) {
  if (s->model) dj_deleteModel(s->model);
#ifdef DJ_HAVE_MUJOCO
  if (s->report) dj_deleteReport(s->report);
  if (s->stock) mj_deleteModel(s->stock);
#endif
  for (int i = 0; i < s->nset; i++) {
    free(s->set[i].name);
    free(s->set[i].value);
  }
  free(s->set);
  *s = (Scene){0};
}

static void write_setting(Json* out, const djModel* m, const djSetting* s) {
  double value[3];
  dj_settingInForce(value, m, s);
  if (s->kind == DJ_SETTING_CHOICE) {
    json_text(out, s->name, dj_choiceName(s, (int)value[0]));
  } else if (s->kind == DJ_SETTING_FLAGS) {
    json_list(out, s->name);
    for (const djChoice* c = s->choice; c->name; c++) {
      if ((int)value[0] & c->value) json_text(out, NULL, c->name);
    }
    json_end(out);
  } else if (s->kind == DJ_SETTING_WHOLE) {
    json_integer(out, s->name, (long)value[0]);
  } else if (s->size > 1) {
    json_vector(out, s->name, (size_t)s->size, value);
  } else {
    json_number(out, s->name, value[0]);
  }
}

static bool hasOwn(const djModel* m) {
  bool own = (int)m->opt.contact > 0;
  for (int i = 0; i < m->ngeom; i++) own = own || m->geom_contact[i] != DJ_CONTACT_DEFAULT;
  for (int i = 0; i < m->npair; i++) own = own || m->pair_contact[i] != DJ_CONTACT_DEFAULT;
  for (int i = 0; i < m->ngeom; i++) own = own || dj_restitution(m, i, -1) > 0;
  for (int i = 0; i < m->npair; i++) own = own || dj_restitution(m, -1, i) > 0;
  return own;
}

// Contact models, settings and restitution of single geoms and pairs, and settings of models other
// than the first.
static void write_own(Json* out, const djModel* m) {
  int model;
  const djSetting* row;
  json_list(out, "own");
  for (int k = 0; k < m->ngeom + m->npair; k++) {
    int geom = k < m->ngeom ? k : -1, pair = k < m->ngeom ? -1 : k - m->ngeom;
    int contact = pair >= 0 ? m->pair_contact[pair] : m->geom_contact[geom];
    double restitution = dj_restitution(m, geom, pair);
    bool any = contact != DJ_CONTACT_DEFAULT || restitution > 0;
    for (int i = 0; i < m->nsetting; i++) {
      any = any || (m->setting_geom[i] == geom && m->setting_pair[i] == pair);
    }
    if (!any) continue;
    json_object(out, NULL);
    if (pair >= 0) json_text(out, "pair", m->names + m->name_pair[pair]);
    else json_text(out, "geom", dj_id2name(m, DJ_OBJ_GEOM, geom));
    json_integer(out, "id", pair >= 0 ? pair : geom);
    if (contact != DJ_CONTACT_DEFAULT) {
      json_text(out, "contact", dj_contactName((djContactModel)contact));
    }
    for (int i = 0; i < m->nsetting; i++) {
      if (m->setting_geom[i] != geom || m->setting_pair[i] != pair) continue;
      row = dj_contactSetting(&model, m->setting_slot[i]);
      if (row->kind == DJ_SETTING_CHOICE) {
        json_text(out, row->name, dj_choiceName(row, (int)m->setting_value[i]));
      } else {
        json_number(out, row->name, m->setting_value[i]);
      }
    }
    if (restitution > 0) json_number(out, "restitution", restitution);
    json_end(out);
  }
  json_end(out);
  for (int k = 1; dj_contactName((djContactModel)k)[0]; k++) {
    json_object(out, dj_contactName((djContactModel)k));
    for (int i = 0; (row = dj_contactSetting(&model, i)); i++) {
      if (model == k) json_number(out, row->name, m->kernel_setting[i]);
    }
    json_end(out);
  }
}

void scene_writeSettings(Json* out, const Scene* s, const Options* o) {
  const djSetting* setting;
  json_object(out, "settings");
  for (int i = 0; (setting = dj_setting(i)); i++) write_setting(out, s->model, setting);
  json_number(out, "contact_range", s->model->contact.range);
  if (s->model->nsetting > 0 || hasOwn(s->model)) write_own(out, s->model);
  json_integer(out, "threads", o->threads > 0 ? o->threads : 1);
  bool any = false;
  for (int i = 0; (setting = dj_setting(i)); i++) {
    if (!dj_isIdle(s->model, setting)) continue;
    if (!any) json_list(out, "without_effect");
    any = true;
    json_text(out, NULL, setting->name);
  }
  if (any) json_end(out);
  json_end(out);
}

void scene_printIdle(const djModel* m) {
  const djSetting* setting;
  for (int i = 0; (setting = dj_setting(i)); i++) {
    if (!dj_isIdle(m, setting)) continue;
    printf("  %s: without effect, of a contact model by which no geoms touch\n", setting->name);
  }
}

const char* scene_bodyName(char text[16], const djModel* model, int body) {
  const char* name = dj_id2name(model, DJ_OBJ_BODY, body);
  if (name && *name) return name;
  if (body == 0) return "world";
  snprintf(text, 16, "#%d", body);
  return text;
}
