#include "optimize_run.h"

#include "clock.h"
#include "interrupt.h"
#include "overlap.h"
#include "progress.h"
#include "tunnels.h"
#include "warn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What the command line says about it.
static int choose_optimizer(djOptimizer* how, djStage* stage, const Options* o) {
  const djSetting* key;
  djError err = {""};
  int iterations = 0;
  if (o->optimizer && dj_setOptimizerType(how, o->optimizer, &err) < 0) {
    return tool_fail(o->verb, NULL, "--optimizer", "%s", err.text);
  }
  for (int i = 0; (key = dj_optimizerKey(i)); i++) {
    double value = dj_getOptimizer(&o->how, key);
    if (strcmp(key->name, "iterations") == 0) iterations = i;
    if (!(o->how_given >> i & 1)) continue;
    if (strcmp(key->name, "iterations") == 0 && value == 0) {
      return tool_fail(o->verb, NULL, "--iterations", "nothing would be done");
    }
    dj_setOptimizer(how, key->name, value, NULL);
    if (dj_checkOptimizerKey(how, key->name, &err) < 0) {
      return tool_fail(o->verb, NULL, opt_nameOf(key).text, "%s", strchr(err.text, ':') + 2);
    }
  }
  if (o->how_given >> iterations & 1) dj_copyStages(how, stage, how->iterations);
  return 0;
}

int optimize_load(OptimizeRun* r, const Options* o) {
  *r = (OptimizeRun){.options = o};
  GradRun* g = &r->grad;
  djError err = {""};
  int status = grad_load(g, o, o->argument[0]);
  if (status) return status;
  if (djd_checkVariables(g->problem, &err) < 0) return scene_fail(o, o->argument[0], &err);
  if (g->design->n == 0) {
    return tool_fail(o->verb, o->argument[0], "variables", "there is nothing to vary");
  }
  r->how = g->task->optimizer;
  r->stage = tool_alloc((size_t)r->how.nstage, sizeof *r->stage);
  dj_copyStages(&r->how, r->stage, -1);
  status = choose_optimizer(&r->how, r->stage, o);
  if (status) return status;
  r->how.receding.nthread = o->threads > 0 ? (int)o->threads : 0;
  if (r->how.receding.horizon > 0 &&
      djd_makeReceding(&r->receding, g->design, &r->how, &err) < 0) {
    return scene_fail(o, o->argument[0], &err);
  }
  for (int k = 0; k < g->problem->nparam; k++) {
    const char* name = dj_parameterEntry((int)g->problem->param[k].field)->name;
    r->moves_meshes |= strcmp(name, "mesh/N/vert") == 0;
  }
  status = grad_phases(&r->phases, g, r->how.phases);
  if (status) return status;
  size_t nvariable = (size_t)g->problem->nvariable;
  for (int k = 0; k < OPTIMIZE_POINTS; k++) {
    r->term[k] = tool_alloc((size_t)g->nterm, sizeof(double));
    r->scene_loss[k] = tool_alloc((size_t)g->nscene, sizeof(double));
    r->value[k] = tool_alloc(nvariable, sizeof(double*));
  }
  r->x = tool_alloc((size_t)g->design->n, sizeof *r->x);
  r->nbegun = r->how.nstage > 0 ? g->design->n : 0;
  r->begun = tool_alloc((size_t)r->nbegun, sizeof *r->begun);
  return 0;
}

static void free_course(Course* c) {
  free(c->time);
  free(c->xpos);
  free(c->xquat);
  free(c->qpos);
  free(c->ctrl);
  film_close(&c->film);
}

void optimize_free(OptimizeRun* r) {
  for (int k = 0; k < OPTIMIZE_POINTS; k++) {
    for (int i = 0; r->value[k] && i < r->grad.problem->nvariable; i++) free(r->value[k][i]);
    free(r->value[k]);
    free(r->term[k]);
    free(r->scene_loss[k]);
    free_course(&r->course[k]);
  }
  free(r->row);
  free(r->row_loss);
  free(r->reach);
  free(r->x);
  free(r->stage);
  free(r->begun);
  djd_deleteReceding(r->receding);
  djd_deletePhases(r->phases);
  grad_free(&r->grad);
  *r = (OptimizeRun){0};
}

// ---- trajectories

Poses course_poses(const OptimizeRun* r, const Course* c, int sample) {
  size_t at = (size_t)sample * (size_t)r->grad.design->model->nbody;
  return (Poses){c->xpos + 3 * at, c->xquat + 4 * at};
}

static void copy(double* to, const double* from, size_t n) {
  if (n > 0) memcpy(to, from, n * sizeof *to);
}

// Step through the design's present point.
static void record_course(Course* c, djDesign* d, bool filmed) {
  const djModel* m = d->model;
  const djRollout* rollout = &d->rollout;
  size_t n = (size_t)rollout->horizon + 1, nbody = (size_t)m->nbody, nu = (size_t)m->nu;
  c->time = tool_alloc(n, sizeof(double));
  c->xpos = tool_alloc(3 * n * nbody, sizeof(double));
  c->xquat = tool_alloc(4 * n * nbody, sizeof(double));
  c->qpos = tool_alloc(n * (size_t)m->nq, sizeof(double));
  c->ctrl = tool_alloc((n - 1) * nu, sizeof(double));
  copy(c->ctrl, rollout->ctrl, (n - 1) * nu);
  djData* data = grad_begin(d);
  TouchList touch = {0};
  if (!data) return;
  if (filmed) film_open(&c->film, m, rollout->horizon);
  double start = data->time;
  bool good = dj_forward(m, data) >= 0;
  for (size_t k = 0; k < n && good; k++) {
    copy(c->xpos + 3 * k * nbody, data->xpos, 3 * nbody);
    copy(c->xquat + 4 * k * nbody, data->xquat, 4 * nbody);
    copy(c->qpos + k * (size_t)m->nq, data->qpos, (size_t)m->nq);
    c->time[k] = data->time - start;
    c->nsample++;
    if (film_due(&c->film, (long)k)) {
      film_add(&c->film, c->time[k], data->xpos, data->xquat, &touch);
    }
    if (k + 1 == n) break;
    copy(data->ctrl, rollout->ctrl + k * nu, nu);
    good = dj_step(m, data) >= 0;
    if (good && film_due(&c->film, (long)k + 1)) touch_dijoco(&touch, m, data);
    good = good && dj_forward(m, data) >= 0;
  }
  touch_free(&touch);
  dj_deleteData(data);
}

// ---- the run

static int stage_iterations(const OptimizeRun* r, int stage) {
  int n = r->stage[stage].iterations;
  return n > 0 ? n : r->how.iterations;
}

// What is watched of a design that hangs together, and whose inertia follows its shapes.
static void watched_text(char* text, size_t size, const OptimizeRun* r, const HistoryRow* row) {
  text[0] = 0;
  int n = 0;
  if (row->pieces > 0) {
    n = snprintf(text, size, ", components %d, genus %d", row->pieces, row->genus);
  }
  if (r->grad.problem->inertia_from_geom == DJ_INERTIA_COMPILED || r->receding) return;
  snprintf(text + n, size - (size_t)n, ", overlap %.2g%%", 100 * row->overlap);
}

// An iteration counts as done with its last evaluation, of which nobody knows beforehand that it is
// the last: while steps of a rollout go by the time goes on, and nothing else.
static void show_run(const OptimizeRun* r) {
  const HistoryRow* last = r->nrow > 0 ? &r->row[r->nrow - 1] : NULL;
  const djReceding* how = &r->how.receding;
  int done = last ? last->iteration : 0;
  char watched[80] = "";
  if (last) watched_text(watched, sizeof watched, r, last);
  if (last && r->receding) {
    int n = r->how.iterations > 0 ? r->how.iterations : 1, apply = how->apply;
    double frames = (double)(last->frame - how->frame) / apply + (double)done / n;
    double all = (r->receding->horizon - how->frame - 1) / apply + 1;
    progress_show("optimizing", frames, all, "frame %d of %d, loss %.6g, iteration %d of %d",
                  last->frame, r->receding->horizon, last->loss, done, r->how.iterations);
  } else if (last && r->how.nstage > 0) {
    int n = stage_iterations(r, last->stage);
    double all = 0, before = 0;
    for (int i = r->how.first_stage; i < r->how.nstage; i++) {
      before = i == last->stage ? all : before;
      all += stage_iterations(r, i);
    }
    progress_show("optimizing", before + done, all, "stage %d of %d, iteration %d of %d, loss %.6g%s",
                  last->stage + 1, r->how.nstage, done, n, last->loss, watched);
  } else if (last) {
    progress_show("optimizing", done, r->how.iterations, "iteration %d of %d, loss %.6g%s", done,
                  r->how.iterations, last->loss, watched);
  } else {
    progress_show("optimizing", 0, r->how.iterations, "the start");
  }
}

static int on_rollout(void* user, double done) {
  (void)done;
  show_run(user);
  return 0;
}

// Losses of the scenes at x: those of the last runs, where these were at x.
static void keep_losses(OptimizeRun* r, const double* x) {
  const djDesign* d = r->grad.design;
  int n = r->grad.nscene;
  double* to = r->row_loss + (size_t)r->nrow * (size_t)n;
  double loss;
  if (n < 2) return;
  bool here = memcmp(d->x, x, (size_t)d->n * sizeof *x) == 0;
  bool known = here || djd_evaluatePhases(&loss, NULL, r->phases, x) >= 0;
  for (int k = 0; k < n; k++) to[k] = known ? djd_sceneLoss(r->phases, k) : NAN;
}

static double overlap_at(const OptimizeRun* r, const djOptimizeStep* step) {
  djDesign* d = r->grad.design;
  bool follows = d->problem->inertia_from_geom != DJ_INERTIA_COMPILED && !r->receding;
  if (!follows || djd_moveDesign(d, step->x) < 0) return 0;
  return overlap_share(d->model);
}

static bool on_step_of(void* user, int frame, const djOptimizeStep* step) {
  OptimizeRun* r = user;
  djDesign* d = r->grad.design;
  if (r->how.nstage > 0 && step->iteration == 0) copy(r->begun, step->x, (size_t)r->nbegun);
  if (r->nrow == r->capacity) {
    r->capacity = 2 * r->capacity + 64;
    r->row = tool_grow(r->row, (size_t)r->capacity, sizeof *r->row);
    size_t n = (size_t)r->capacity * (size_t)r->grad.nscene;
    r->row_loss = tool_grow(r->row_loss, n, sizeof *r->row_loss);
  }
  keep_losses(r, step->x);
  r->row[r->nrow++] = (HistoryRow){frame, step->stage, step->iteration, step->loss, step->step_norm,
                                   tool_clock() - r->started, step->flattened, step->pieces,
                                   step->pieces > 0 ? tunnels_count(d, step->x) : 0,
                                   overlap_at(r, step), step->jump};
  show_run(r);
  r->interrupted = interrupt_asked();
  return !r->interrupted;
}

static bool on_step(void* user, const djOptimizeStep* step) { return on_step_of(user, 0, step); }

static bool on_frame(void* user, const djRecedingFrame* frame) {
  OptimizeRun* r = user;
  (void)frame;
  r->interrupted = interrupt_asked() && r->receding->next < r->receding->horizon;
  return !r->interrupted;
}

// Loss, terms, values and trajectory at x.
static int keep_point(OptimizeRun* r, int point, const double* x) {
  djDesign* d = r->grad.design;
  const Options* o = r->options;
  const djPhases* p = r->phases;
  djStatus status = djd_evaluatePhases(&r->loss[point], NULL, r->phases, x);
  if (status < 0) return scene_fail(o, o->argument[0], &d->error);
  for (int i = 0; i < r->grad.nterm; i++) {
    GradTerm t = grad_term(&r->grad, i);
    djDesign** run = p->design + (size_t)t.scene_index * (size_t)p->nphase;
    double sum = 0;
    for (int j = 0; j < p->nphase; j++) sum += run[j]->result.term[t.term];
    r->term[point][i] = sum / p->nphase;
  }
  for (int k = 0; k < p->nscene; k++) r->scene_loss[point][k] = djd_sceneLoss(p, k);
  r->overlap[point] = overlap_share(d->model);
  r->unconverged[point] = 0;
  r->fallback[point] = r->recovering[point] = 0;
  for (int j = 0; j < p->n; j++) {
    r->unconverged[point] += p->design[j]->result.unconverged_steps;
    r->fallback[point] += p->design[j]->data->stats.fallback_steps;
    r->recovering[point] += p->design[j]->data->stats.recovering_steps;
  }
  for (int i = 0; i < d->problem->nvariable; i++) r->value[point][i] = grad_value(&r->grad, i);
  record_course(&r->course[point], d, point != PLAIN);
  return 0;
}

static int minimise(OptimizeRun* r) {
  djError err = {""};
  r->started = tool_clock();
  djStatus done = djd_optimizePhases(&r->result, r->x, r->phases, &r->how, on_step, r, &err);
  r->wall = tool_clock() - r->started;
  return done < 0 ? scene_fail(r->options, r->options->argument[0], &err) : 0;
}

// The same of all frames; iterations of one that is left do not count.
static int recede(OptimizeRun* r) {
  djError err = {""};
  djRecedingRun* run = r->receding;
  const djRecedingCallback callback = {on_step_of, on_frame, r};
  r->started = tool_clock();
  djStatus done = djd_receding(run, &callback, &err);
  r->wall = tool_clock() - r->started;
  if (done < 0) return scene_fail(r->options, r->options->argument[0], &err);
  r->result = (djOptimizeResult){
      .stop = r->interrupted ? DJ_STOP_CALLBACK : DJ_STOP_ITERATIONS, .first_loss = run->first_loss,
      .loss = run->loss, .iterations = run->iterations, .evaluations = run->evaluations,
      .refused = run->refused};
  copy(r->x, run->x, (size_t)run->design->n);
  return 0;
}

static void set_plain(OptimizeRun* r, bool plain) {
  for (int j = 0; j < r->phases->n; j++) {
    dj_setGuideBackwardOnly(r->phases->design[j]->model, plain);
  }
}

// What the result is without a guide, where one acts in the run.
static int keep_plain(OptimizeRun* r) {
  const djModel* m = r->grad.design->model;
  bool any = false;
  for (int k = 0; k < r->grad.nscene; k++) any |= dj_guidesRuns(r->grad.part[k].design->model);
  if (!any) return 0;
  set_plain(r, true);
  int status = keep_point(r, PLAIN, r->x);
  set_plain(r, false);
  if (status) return status;
  const Course *a = &r->course[AT_END], *b = &r->course[PLAIN];
  int n = (a->nsample < b->nsample ? a->nsample : b->nsample) * m->nbody;
  for (int i = 0; i < n; i++) {
    const double *p = a->xpos + 3 * (size_t)i, *q = b->xpos + 3 * (size_t)i;
    double d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
    r->bias = fmax(r->bias, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
  }
  return 0;
}

int optimize_run(OptimizeRun* r) {
  djDesign* d = r->grad.design;
  d->rollout.watch = (djWatch){on_rollout, r};
  int status = keep_point(r, AT_START, d->x0);
  if (!status) warn_begun();
  copy(r->x, d->x0, (size_t)d->n);
  if (!status) status = r->receding ? recede(r) : minimise(r);
  d->rollout.watch = (djWatch){0};
  if (!status) status = keep_point(r, AT_END, r->x);
  if (!status) reach_find(r);
  if (!status) status = keep_plain(r);
  if (!status && r->course[PLAIN].xpos) {   // the design is to be that of the result
    double loss;
    djd_evaluatePhases(&loss, NULL, r->phases, r->x);
  }
  progress_end();
  return status;
}

const char* optimize_status(const OptimizeRun* r) {
  if (r->interrupted) return "interrupted";
  if (r->unconverged[AT_END] > 0) return "no_convergence";
  bool improved = r->loss[AT_END] < r->loss[AT_START];
  return r->result.stop == DJ_STOP_STUCK && !improved ? "stuck" : "ok";
}

const char* optimize_stopName(djStop stop) {
  switch (stop) {
    case DJ_STOP_ITERATIONS: return "iterations";
    case DJ_STOP_GRADIENT: return "gradient_tolerance";
    case DJ_STOP_STEP: return "step_tolerance";
    case DJ_STOP_CALLBACK: return "interrupted";
    case DJ_STOP_STUCK: return "stuck";
    case DJ_STOP_PATIENCE: return "patience";
  }
  return "unknown";
}
