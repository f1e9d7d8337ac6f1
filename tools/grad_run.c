#include "grad_run.h"

#include "clock.h"
#include "engine.h"
#include "progress.h"
#include "warn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --set; masses follow as with the task's own set.
static int apply_sets(GradPart* part, const Options* o) {
  djModel* compiled = NULL;
  djError err = {""};
  bool follow = part->task->inertia_from_geom && o->nset > 0;
  int changed;
  if (follow && (dj_copyModel(&compiled, part->scene.model, &err) < 0 ||
                 dj_renewFacets(&changed, compiled, compiled, &err) < 0)) {
    dj_deleteModel(compiled);
    return scene_fail(o, o->argument[0], &err);
  }
  int status = scene_applySets(&part->scene, o);
  if (!status && follow && dj_renewFacets(&changed, part->scene.model, compiled, &err) < 0) {
    status = scene_fail(o, o->argument[0], &err);
  }
  if (!status && follow && dj_followGeomsBy(part->scene.model, compiled,
                                            part->task->inertia_from_geom, &err) < 0) {
    status = scene_fail(o, o->argument[0], &err);
  }
  dj_deleteModel(compiled);
  return status;
}

static int load_scene(GradPart* part, const Options* o) {
  djError err = {""};
  int status = scene_load(&part->scene, o, part->task->scene);
  if (!status) status = scene_applySettings(&part->scene, o, part->task);
  if (!status) status = scene_checkIgnored(&part->scene, o);
  if (!status && dj_applySet(part->scene.model, part->task, &err) < 0) {
    status = scene_fail(o, o->argument[0], &err);
  }
  if (!status) status = apply_sets(part, o);
  return status;
}

static int load_part(GradPart* part, const Options* o, const char* path) {
  djError err = {""};
  int status = load_scene(part, o);
  if (status) return status;
  int key;
  char name[32];
  status = inputs_keyframe(&key, o, &part->scene);
  if (status) return status;
  if (key >= 0) {
    snprintf(name, sizeof name, "#%d", key);
    part->task->keyframe = name;  // stronger than the task's own
  }
  djModel* m = part->scene.model;
  djStatus resolved = dj_resolveTask(&part->problem, part->task, m, &err);
  if (key >= 0) part->task->keyframe = NULL;
  if (resolved < 0) return scene_fail(o, path, &err);
  if (djd_makeDesign(&part->design, m, part->problem, &err) < 0) return scene_fail(o, path, &err);
  m->opt.gravity_ramp = 0;   // not in force here; the design keeps the scene's
  return 0;
}

int grad_phases(djPhases** phases, const GradRun* g, int nphase) {
  const Options* o = g->options;
  djError err = {""};
  size_t n = (size_t)g->nscene;
  djDesign** design = tool_alloc(n, sizeof *design);
  double* weight = tool_alloc(n, sizeof *weight);
  for (size_t k = 0; k < n; k++) {
    design[k] = g->part[k].design;
    weight[k] = g->part[k].task->weight;
  }
  int nthread = o->threads > 0 ? (int)o->threads : 0;
  djStatus status = djd_makeScenes(phases, g->nscene, design, weight, nphase, nthread, &err);
  free(design);
  free(weight);
  return status < 0 ? scene_fail(o, o->argument[0], &err) : 0;
}

bool grad_refusesRamp(const Options* o) {
  if (!(o->settings.option.gravity_ramp > 0)) return false;
  tool_fail(o->verb, NULL, "--gravity-ramp", "is for simulate and compare");
  return true;
}

int grad_load(GradRun* g, const Options* o, const char* path) {
  return grad_loadText(g, o, path, NULL);
}

static djStatus load_task(djTask** task, const char* path, const char* text, djError* err) {
  if (!text) return dj_loadTask(task, path, err);
  char* folder = tool_copyText(path);
  char* slash = strrchr(folder, '/');
  if (slash) slash[slash == folder] = 0;
  djStatus status = dj_loadTaskText(task, text, slash ? folder : NULL, err);
  free(folder);
  return status;
}

int grad_loadText(GradRun* g, const Options* o, const char* path, const char* text) {
  *g = (GradRun){.options = o};
  djError err = {""};
  if (scene_isMJCF(path)) {
    return tool_fail(o->verb, path, NULL, "a scene, where a task is expected (docs/tasks.md)");
  }
  if (load_task(&g->task, path, text, &err) < 0) return scene_fail(o, path, &err);
  g->nscene = dj_taskScenes(g->task);
  g->part = tool_alloc((size_t)g->nscene, sizeof *g->part);
  int status = 0;
  for (int k = 0; k < g->nscene && !status; k++) {
    g->part[k].task = g->task->scenes[k];
    status = load_part(&g->part[k], o, path);
    if (!status) g->nterm += g->part[k].problem->rollout.nloss;
  }
  if (status) return status;
  g->scene = g->part->scene;
  g->problem = g->part->problem;
  g->design = g->part->design;
  g->term = tool_alloc((size_t)g->nterm, sizeof *g->term);
  g->scene_loss = tool_alloc((size_t)g->nscene, sizeof *g->scene_loss);
  g->gradient = tool_alloc((size_t)g->design->n, sizeof *g->gradient);
  status = grad_phases(&g->sum, g, 1);
  if (status) return status;
  return djd_checkStages(g->sum, &g->task->optimizer, &err) < 0 ? scene_fail(o, path, &err) : 0;
}

// ---- scenes

const char* grad_sceneName(const GradRun* g, int scene) {
  const char* name = g->part[scene].task->name;
  return *name ? name : NULL;
}

GradTerm grad_term(const GradRun* g, int term) {
  int k = 0;
  for (; term >= g->part[k].problem->rollout.nloss; k++) term -= g->part[k].problem->rollout.nloss;
  return (GradTerm){&g->part[k], grad_sceneName(g, k), k, term};
}

const char* grad_termName(const GradTerm* t) {
  return dj_lossEntry((int)t->part->problem->rollout.loss[t->term].type)->name;
}

int grad_steps(const GradRun* g) {
  int n = 0;
  for (int k = 0; k < g->nscene; k++) n += g->part[k].problem->rollout.horizon;
  return n;
}

void grad_writeScenes(Json* out, const GradRun* g, const double* first, const double* last) {
  if (!grad_sceneName(g, 0)) return;
  json_list(out, "scenes");
  for (int k = 0; k < g->nscene; k++) {
    json_object(out, NULL);
    json_text(out, "name", grad_sceneName(g, k));
    json_number(out, "weight", g->part[k].task->weight);
    json_number(out, last ? "loss_first" : "loss", first[k]);
    if (last) json_number(out, "loss_last", last[k]);
    json_end(out);
  }
  json_end(out);
}

// ---- loss and gradient

static int show_forward(void* user, double done) {
  const djDesign* d = ((GradRun*)user)->design;
  progress_show("simulating", done, 1, "step %.0f of %d", done * d->rollout.horizon,
                d->rollout.horizon);
  return 0;
}

static int show_backward(void* user, double done) {
  (void)user;
  progress_show("differentiating", done, 1, "%s", "");
  return 0;
}

static int refuse(const GradRun* g) {
  return scene_fail(g->options, g->options->argument[0], &g->design->error);
}

// What the runs say, of all of them.
static void gather_results(GradRun* g) {
  for (int i = 0; i < g->nterm; i++) {
    GradTerm t = grad_term(g, i);
    g->term[i] = t.part->design->result.term[t.term];
  }
  g->unconverged_steps = 0;
  g->fallback_steps = g->recovering_steps = 0;
  g->worst_residual = g->worst_condition = 0;
  for (int k = 0; k < g->nscene; k++) {
    const djRolloutResult* r = &g->part[k].design->result;
    g->scene_loss[k] = djd_sceneLoss(g->sum, k);
    g->unconverged_steps += r->unconverged_steps;
    g->fallback_steps += g->part[k].design->data->stats.fallback_steps;
    g->recovering_steps += g->part[k].design->data->stats.recovering_steps;
    g->worst_residual = fmax(g->worst_residual, r->worst_residual);
    g->worst_condition = fmax(g->worst_condition, r->worst_condition);
  }
}

int grad_compute(GradRun* g) {
  djDesign* d = g->design;
  double start = tool_clock();
  d->rollout.watch = (djWatch){show_forward, g};
  djStatus status = djd_forwardPhases(&g->loss, g->sum, d->x0, true);
  g->forward = tool_clock() - start;
  if (status < 0) return refuse(g);
  warn_begun();
  g->singular = status == DJ_SINGULAR;
  start = tool_clock();
  if (!g->singular) {
    d->rollout.watch = (djWatch){show_backward, g};
    status = djd_backwardPhases(g->gradient, g->sum);
    if (status < 0) return refuse(g);
    g->singular = status == DJ_SINGULAR;
  }
  g->backward = tool_clock() - start;
  d->rollout.watch = (djWatch){0};
  progress_end();
  for (int k = 0; k < d->n && g->singular; k++) g->gradient[k] = NAN;
  gather_results(g);
  return 0;
}

void grad_free(GradRun* g) {
  free(g->term);
  free(g->scene_loss);
  free(g->gradient);
  djd_deletePhases(g->sum);
  for (int k = 0; k < g->nscene; k++) {
    GradPart* part = &g->part[k];
    if (part->design) djd_deleteDesign(part->design);
    if (part->problem) dj_deleteProblem(part->problem);
    scene_close(&part->scene);
  }
  free(g->part);
  if (g->task) dj_deleteTask(g->task);
  *g = (GradRun){0};
}

const double* grad_of(const GradRun* g, int variable) {
  return g->gradient + g->design->adr[variable];
}

double* grad_value(const GradRun* g, int variable) {
  double* value = tool_alloc((size_t)g->problem->variable[variable].nvalue, sizeof *value);
  djd_designValue(value, g->design, variable);
  return value;
}

static void copy(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

djData* grad_begin(const djDesign* d) {
  const djModel* m = d->model;
  const djRollout* rollout = &d->rollout;
  djData* data = NULL;
  if (dj_makeData(&data, m, NULL) < 0) return NULL;
  if (d->problem->key >= 0) dj_resetKey(m, data, d->problem->key);
  copy(data->qpos, rollout->qpos0, m->nq);
  copy(data->qvel, rollout->qvel0, m->nv);
  copy(data->act, rollout->act0, m->na);
  dj_setHistory(data, m, rollout->history_qpos0, rollout->history_qvel0);
  return data;
}

// ---- certificate

// A certificate takes some 44 losses with its secants, rarely up to djd_checkBudget; more exactly,
// as many as those before.
static int show_certify(void* user, double done) {
  GradRun* g = user;
  int n = g->problem->nvariable, k = g->certified;
  double expected = k > 0 ? (double)g->before / k : 44;
  double part = fmin(((double)(g->losses - g->before) + done) / expected, 0.99);
  if (done >= 1) g->losses++;
  progress_show("checking", k + part, n, "variable %d of %d, loss %ld: %s", k + 1, n,
                g->losses - g->before + 1, g->problem->variable[k].name);
  return 0;
}

void grad_certify(djdCertificate* out, GradRun* g, int variable, unsigned long seed, int most) {
  g->certified = variable;
  g->before = g->losses;
  g->design->rollout.watch = (djWatch){show_certify, g};
  djd_certifyWithin(out, g->sum, variable, g->loss, g->gradient, seed, most);
  g->design->rollout.watch = (djWatch){0};
}

int grad_spread(double* spread, GradRun* g) {
  djPhases* phases;
  progress_show("checking", 0, 0, "%d phases of a timestep", SPREAD_PHASES);
  int status = grad_phases(&phases, g, SPREAD_PHASES);
  if (status) return status;
  if (djd_phaseSpread(spread, phases, g->design->x0) < 0) {
    for (int i = 0; i < g->problem->nvariable; i++) spread[i] = NAN;
  }
  djd_deletePhases(phases);
  return 0;
}
