#include "grad_run.h"

#include "clock.h"
#include "engine.h"
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// --set; masses follow as with the task's own set.
static int apply_sets(GradRun* g) {
  const Options* o = g->options;
  djModel* compiled = NULL;
  djError err = {""};
  bool follow = g->task->inertia_from_geom && o->nset > 0;
  int changed;
  if (follow && (dj_copyModel(&compiled, g->scene.model, &err) < 0 ||
                 dj_renewFacets(&changed, compiled, compiled, &err) < 0)) {
    dj_deleteModel(compiled);
    return scene_fail(o, o->argument[0], &err);
  }
  int status = scene_applySets(&g->scene, o);
  if (!status && follow && dj_renewFacets(&changed, g->scene.model, compiled, &err) < 0) {
    status = scene_fail(o, o->argument[0], &err);
  }
  if (!status && follow && dj_followGeomsBy(g->scene.model, compiled, g->task->inertia_from_geom,
                                            &err) < 0) {
    status = scene_fail(o, o->argument[0], &err);
  }
  dj_deleteModel(compiled);
  return status;
}

static int load_scene(GradRun* g) {
  const Options* o = g->options;
  djError err = {""};
  int status = scene_load(&g->scene, o, g->task->scene);
  if (!status) status = scene_checkIgnored(&g->scene, o);
  if (!status) status = scene_applySettings(&g->scene, o, g->task);
  if (!status && dj_applySet(g->scene.model, g->task, &err) < 0) {
    status = scene_fail(o, o->argument[0], &err);
  }
  if (!status) status = apply_sets(g);
  return status;
}

bool grad_refusesRamp(const Options* o) {
  if (!(o->settings.option.gravity_ramp > 0)) return false;
  tool_fail(o->verb, NULL, "--gravity-ramp", "is for simulate and compare");
  return true;
}

int grad_load(GradRun* g, const Options* o, const char* path) {
  *g = (GradRun){.options = o};
  djError err = {""};
  if (dj_loadTask(&g->task, path, &err) < 0) return scene_fail(o, path, &err);
  int status = load_scene(g);
  if (status) return status;
  int key;
  char name[32];
  status = inputs_keyframe(&key, o, &g->scene);
  if (status) return status;
  if (key >= 0) {
    snprintf(name, sizeof name, "#%d", key);
    g->task->keyframe = name;  // stronger than the task's own
  }
  djModel* m = g->scene.model;
  djStatus resolved = dj_resolveTask(&g->problem, g->task, m, &err);
  if (key >= 0) g->task->keyframe = NULL;
  if (resolved < 0) return scene_fail(o, path, &err);
  if (djd_makeDesign(&g->design, m, g->problem, &err) < 0) return scene_fail(o, path, &err);
  m->opt.gravity_ramp = 0;   // not in force here; the design keeps the scene's
  g->term = tool_alloc((size_t)g->problem->rollout.nloss, sizeof *g->term);
  g->gradient = tool_alloc((size_t)g->design->n, sizeof *g->gradient);
  return 0;
}

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

int grad_compute(GradRun* g) {
  djDesign* d = g->design;
  double start = tool_clock();
  d->rollout.watch = (djWatch){show_forward, g};
  djStatus status = djd_forwardDesign(&g->loss, d, d->x0, true);
  g->forward = tool_clock() - start;
  if (status < 0) return refuse(g);
  g->singular = status == DJ_SINGULAR;
  start = tool_clock();
  if (!g->singular) {
    d->rollout.watch = (djWatch){show_backward, g};
    status = djd_backwardDesign(g->gradient, d);
    if (status < 0) return refuse(g);
    g->singular = status == DJ_SINGULAR;
  }
  g->backward = tool_clock() - start;
  d->rollout.watch = (djWatch){0};
  progress_end();
  for (int k = 0; k < d->n && g->singular; k++) g->gradient[k] = NAN;
  for (int i = 0; i < d->rollout.nloss; i++) g->term[i] = d->result.term[i];
  g->unconverged_steps = d->result.unconverged_steps;
  g->worst_residual = d->result.worst_residual;
  g->worst_condition = d->result.worst_condition;
  return 0;
}

void grad_free(GradRun* g) {
  free(g->term);
  free(g->gradient);
  if (g->design) djd_deleteDesign(g->design);
  if (g->problem) dj_deleteProblem(g->problem);
  scene_close(&g->scene);
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

// ---- certificate

// A certificate takes up to 38 losses (check.h); more exactly, as many as those before.
static int show_certify(void* user, double done) {
  GradRun* g = user;
  int n = g->problem->nvariable, k = g->certified;
  double expected = k > 0 ? (double)g->before / k : 38;
  double part = fmin(((double)(g->losses - g->before) + done) / expected, 0.99);
  if (done >= 1) g->losses++;
  progress_show("checking", k + part, n, "variable %d of %d, loss %ld: %s", k + 1, n,
                g->losses - g->before + 1, g->problem->variable[k].name);
  return 0;
}

void grad_certify(djdCertificate* out, GradRun* g, int variable, unsigned long seed) {
  g->certified = variable;
  g->before = g->losses;
  g->design->rollout.watch = (djWatch){show_certify, g};
  djd_certifyVariable(out, g->design, variable, g->loss, g->gradient, seed);
  g->design->rollout.watch = (djWatch){0};
}

int grad_spread(double* spread, GradRun* g) {
  const Options* o = g->options;
  djPhases* phases;
  djError err = {""};
  progress_show("checking", 0, 0, "%d phases of a timestep", SPREAD_PHASES);
  int nthread = o->threads > 0 ? (int)o->threads : 0;
  if (djd_makePhases(&phases, g->design, SPREAD_PHASES, nthread, &err) < 0) {
    return scene_fail(o, o->argument[0], &err);
  }
  if (djd_phaseSpread(spread, phases, g->design->x0) < 0) {
    for (int i = 0; i < g->problem->nvariable; i++) spread[i] = NAN;
  }
  djd_deletePhases(phases);
  return 0;
}
