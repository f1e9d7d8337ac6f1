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

int scene_load(Scene* s, const Options* o, const char* path) {
  *s = (Scene){.path = path};
  int status = 0;
  progress_show("loading the scene", 0, 0, "%s", "");
  if (ends_with(path, ".json")) {
    djError err = {""};
    if (dj_loadModelWatched(&s->model, path, &hulls, &err) < 0) status = scene_fail(o, path, &err);
  } else if (ends_with(path, ".xml") || ends_with(path, ".mjb")) {
    status = load_mujoco(s, o);
  } else {
    status = tool_fail(o->verb, path, NULL, "expected a scene: .xml, .mjb or .json");
  }
  progress_end();
  if (!status) s->gravity_ramp = isnan(o->gravity_ramp) ? s->model->gravity_ramp : o->gravity_ramp;
  return status;
}

// Settings of the command line.
static int own_settings(djSettings* s, const Options* o) {
  djError err = {""};
  *s = (djSettings){.option = dj_defaultOption()};
  const struct {
    const char *option, *name;
    double value;
    const char* text;
  } list[] = {{"--timestep", "timestep", o->timestep, NULL},
              {"--support", "support", o->support, NULL},
              {"--length-scale", "length_scale", o->length_scale, NULL},
              {"--stiffness", "stiffness", o->stiffness, NULL},
              {"--skin", "skin", o->skin, NULL},
              {"--friction-eps", "friction_eps", o->friction_eps, NULL},
              {"--tolerance", "tolerance", o->tolerance, NULL},
              {"--contact", "contact", NAN, o->contact},
              {"--integrator", "integrator", NAN, o->integrator},
              {"--overlap", "overlap", NAN, o->overlap}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    char number[32];
    const char* text = list[i].text;
    if (!isnan(list[i].value)) text = dj_formatNumber(number, list[i].value);
    if (text && dj_parseSetting(s, list[i].name, text, &err) < 0) {
      return tool_fail(o->verb, NULL, list[i].option, "%s", err.text);
    }
  }
  return 0;
}

int scene_applySettings(Scene* s, const Options* o, const djSettings* task) {
  djSettings own;
  int status = own_settings(&own, o);
  if (status) return status;
  djOption option = s->model->opt;
  if (task) dj_applySettings(&option, task);
  dj_applySettings(&option, &own);
  djError err = {""};
  if (own.given || (task && task->given)) {
    if (dj_setOption(s->model, &option, &err) < 0) return scene_fail(o, s->path, &err);
  }
  return 0;
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

static int apply_set(Scene* s, const Options* o, SetValue* set, const char* values) {
  djError err = {""};
  djParam param;
  if (dj_paramId(&param, s->model, set->name, &err) < 0) {
    return tool_fail(o->verb, s->path, "--set", "%s", err.text);
  }
  set->value = set_values(values, &set->n);
  if (!set->value) {
    return tool_fail(o->verb, s->path, set->name, "expected finite numbers, not '%s'", values);
  }
  if (set->n != param.nvalue) {
    return tool_fail(o->verb, s->path, set->name, "expected %d number%s, not %d", param.nvalue,
                     param.nvalue == 1 ? "" : "s", set->n);
  }
  if (dj_setParam(s->model, &param, set->value, &err) < 0) {
    bool named = strncmp(err.text, set->name, strlen(set->name)) == 0;
    return tool_fail(o->verb, s->path, named ? NULL : set->name, "%s", err.text);
  }
  return 0;
}

int scene_applySets(Scene* s, const Options* o) {
  s->set = tool_alloc((size_t)o->nset, sizeof *s->set);
  for (int i = 0; i < o->nset; i++) {
    const char* equals = strchr(o->set[i], '=');
    SetValue* set = &s->set[s->nset++];
    set->name = tool_copyText(o->set[i]);
    set->name[equals - o->set[i]] = 0;
    int status = apply_set(s, o, set, equals + 1);
    if (status) return status;
  }
  return 0;
}

int scene_open(Scene* s, const Options* o, const char* path) {
  int status = scene_load(s, o, path);
  if (!status) status = scene_checkIgnored(s, o);
  if (!status) status = scene_applySettings(s, o, NULL);
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

void scene_writeSettings(Json* out, const Scene* s, const Options* o) {
  const djModel* m = s->model;
  const djContactSettings* c = &m->contact;
  json_object(out, "settings");
  json_number(out, "timestep", m->opt.timestep);
  json_text(out, "integrator", dj_integratorName(m->opt.integrator));
  json_text(out, "contact", dj_contactName(m->opt.contact));
  json_number(out, "support", c->support);
  json_number(out, "length_scale", c->length_scale);
  json_number(out, "stiffness", c->stiffness);
  json_number(out, "skin", c->skin);
  json_number(out, "friction_eps", c->friction_eps);
  json_number(out, "tolerance", m->opt.tolerance);
  json_text(out, "overlap", dj_overlapName(m->opt.overlap));
  json_integer(out, "max_iterations", m->opt.max_iterations);
  json_text(out, "friction_arms", m->opt.friction_arms == DJ_ARMS_PAPER ? "paper" : "plane");
  json_text(out, "friction_cap", m->opt.friction_cap == DJ_CAP_PAPER ? "paper" : "magnitude");
  json_number(out, "frictionloss_eps", m->opt.frictionloss_eps);
  json_number(out, "contact_range", c->range);
  json_vector(out, "gravity", 3, m->opt.gravity);
  json_number(out, "gravity_ramp", s->gravity_ramp);
  json_integer(out, "threads", o->threads > 0 ? o->threads : 1);
  json_end(out);
}

const char* scene_bodyName(char text[16], const djModel* model, int body) {
  const char* name = dj_id2name(model, DJ_OBJ_BODY, body);
  if (name && *name) return name;
  if (body == 0) return "world";
  snprintf(text, 16, "#%d", body);
  return text;
}
