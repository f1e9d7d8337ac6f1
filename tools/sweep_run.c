#include "sweep.h"

#include "optimize_run.h"

#include <dijoco/csv.h>
#include <dijoco/receding.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* sample_statusName(SampleStatus status) {
  static const char* const name[SAMPLE_STATUSES] = {"ok", "no_convergence", "singular", "failed"};
  return name[status];
}

// A field of CSV: as it is, or quoted.
static void add_field(Buffer* line, const char* text) {
  if (!strpbrk(text, ",\"\n\r")) {
    buf_add(line, text);
    return;
  }
  buf_add(line, "\"");
  for (const char* c = text; *c; c++) {
    const char one[3] = {*c == '\n' || *c == '\r' ? ' ' : *c, *c == '"' ? '"' : 0, 0};
    buf_add(line, one);
  }
  buf_add(line, "\"");
}

static void add_number(Buffer* line, double value) {
  char text[32];
  buf_addf(line, ",%s", isnan(value) ? "" : dj_formatNumber(text, value));
}

static void add_labels(Buffer* line, const Sweep* w, const char* before) {
  for (int e = 0; e < w->base.design->n; e++) {
    Buffer name = {0};
    buf_addf(&name, "%s%s", before, w->label[e]);
    buf_add(line, ",");
    add_field(line, name.text);
    buf_free(&name);
  }
}

void sweep_header(Buffer* line, const Sweep* w) {
  const Options* o = w->options;
  const djProblem* p = w->base.problem;
  buf_add(line, "sample,status,loss,unconverged_steps");
  add_labels(line, w, "");
  add_labels(line, w, "d ");
  for (int i = 0; i < p->nvariable && o->check; i++) {
    for (int k = 0; k < 2; k++) {
      Buffer name = {0};
      buf_addf(&name, "%s %s", k ? "passed" : "error", p->variable[i].name);
      buf_add(line, ",");
      add_field(line, name.text);
      buf_free(&name);
    }
  }
  if (o->optimize) {
    buf_add(line, ",loss_last,iterations,stop");
    add_labels(line, w, "best ");
  }
  buf_add(line, ",message\n");
}

// ---- a task with keys of its own

// RFC 7396: members of the patch replace those of the target, objects member by member, null takes
// them away.
static void merge(cJSON* target, const cJSON* patch) {
  const cJSON* item;
  cJSON_ArrayForEach(item, patch) {
    cJSON* old = cJSON_GetObjectItemCaseSensitive(target, item->string);
    if (cJSON_IsNull(item)) {
      cJSON_DeleteItemFromObjectCaseSensitive(target, item->string);
    } else if (cJSON_IsObject(item)) {
      if (!cJSON_IsObject(old)) {
        cJSON_DeleteItemFromObjectCaseSensitive(target, item->string);
        old = cJSON_AddObjectToObject(target, item->string);
      }
      merge(old, item);
    } else {
      cJSON_DeleteItemFromObjectCaseSensitive(target, item->string);
      cJSON_AddItemToObject(target, item->string, cJSON_Duplicate(item, true));
    }
  }
}

static bool same_columns(const Sweep* w, const djDesign* d) {
  bool same = d->n == w->base.design->n && d->problem->nvariable == w->base.problem->nvariable;
  if (!same) return false;
  char** label = sweep_labels(d);
  for (int e = 0; e < d->n; e++) {
    same = same && strcmp(label[e], w->label[e]) == 0;
    free(label[e]);
  }
  free(label);
  return same;
}

// The worker's run for a sample: that of the task, or one of its own. Scenes are loaded one after
// the other.
static int load(Worker* k, int sample) {
  const Sweep* w = k->sweep;
  const char* path = w->options->argument[0];
  const cJSON* patch = w->samples.patch ? cJSON_GetArrayItem(w->samples.patch, sample) : NULL;
  if (k->loaded && !patch) return 0;
  worker_free(k);
  k->options = *w->options;
  k->options.threads = 1;   // what is shared is the samples
  k->loaded = true;
  char* text = NULL;
  if (patch) {
    cJSON* task = cJSON_Duplicate(w->task, true);
    merge(task, patch);
    text = cJSON_PrintUnformatted(task);
    cJSON_Delete(task);
  }
  pthread_mutex_lock(w->loading);
  int status = grad_loadText(&k->run, &k->options, path, text);
  pthread_mutex_unlock(w->loading);
  if (!status && w->options->optimize) {
    djError err = {""};
    if (djd_checkVariables(k->run.problem, &err) < 0) {
      status = scene_fail(&k->options, path, &err);
    }
  }
  if (!status && !same_columns(w, k->run.design)) {
    status = tool_fail(k->options.verb, path, "variables", "are not those of the task");
  }
  free(text);
  return status;
}

void worker_free(Worker* k) {
  if (k->loaded) grad_free(&k->run);
  k->loaded = false;
}

// ---- what a sample comes to

typedef struct Outcome {
  SampleStatus status;
  double loss, unconverged;
  double *x, *gradient;     // (n)
  djdCertificate* certificate;
  double last, iterations;
  const char* stop;
  double* best;             // (n)
} Outcome;

static int refuse(const Worker* k) {
  return scene_fail(&k->options, k->options.argument[0], &k->run.design->error);
}

static int differentiate(Outcome* out, Worker* k) {
  GradRun* g = &k->run;
  djStatus status = djd_forwardPhases(&out->loss, g->sum, out->x, true);
  if (status < 0) return refuse(k);
  double unconverged = 0;
  for (int i = 0; i < g->nscene; i++) unconverged += g->part[i].design->result.unconverged_steps;
  out->unconverged = unconverged;
  if (unconverged > 0) out->status = SAMPLE_NOT_CONVERGED;
  if (status != DJ_SINGULAR) status = djd_backwardPhases(out->gradient, g->sum);
  if (status < 0) return refuse(k);
  if (status == DJ_SINGULAR) out->status = SAMPLE_SINGULAR;
  for (int e = 0; e < g->design->n && status == DJ_SINGULAR; e++) out->gradient[e] = NAN;
  return 0;
}

static void certify(Outcome* out, Worker* k) {
  const Options* o = k->sweep->options;
  int n = k->run.problem->nvariable;
  unsigned long seed = o->check_seed > 0 ? (unsigned long)o->check_seed : 0;
  long taken = 0;
  for (int i = 0; i < n; i++) {
    int most = djd_checkBudget(i + 1, (int)o->check_runs, taken);
    djd_certifyAt(&out->certificate[i], k->run.sum, out->x, i, out->loss,
                  out->gradient, seed, most);
    taken += out->certificate[i].evaluations;
  }
}

static int recede(Outcome* out, Worker* k) {
  djError err = {""};
  djRecedingRun* run = NULL;
  const char* path = k->options.argument[0];
  djDesign* d = k->run.design;
  if (djd_makeReceding(&run, d, &k->run.task->optimizer, &err) < 0 ||
      djd_receding(run, NULL, &err) < 0) {
    djd_deleteReceding(run);
    return scene_fail(&k->options, path, &err);
  }
  out->last = run->loss;
  out->iterations = run->iterations;
  out->stop = optimize_stopName(DJ_STOP_ITERATIONS);
  memcpy(out->best, run->x, (size_t)d->n * sizeof *out->best);
  djd_deleteReceding(run);
  return 0;
}

static int optimize(Outcome* out, Worker* k) {
  const djOptimizer* how = &k->run.task->optimizer;
  if (how->receding.horizon > 0) return recede(out, k);
  djError err = {""};
  djOptimizeResult result;
  djPhases* phases;
  memcpy(out->best, out->x, (size_t)k->run.design->n * sizeof *out->best);
  int status = grad_phases(&phases, &k->run, how->phases);
  if (status) return status;
  djStatus done = djd_optimizePhases(&result, out->best, phases, how, NULL, NULL, &err);
  djd_deletePhases(phases);
  if (done < 0) return scene_fail(&k->options, k->options.argument[0], &err);
  out->last = result.loss;
  out->iterations = result.iterations;
  out->stop = optimize_stopName(result.stop);
  return 0;
}

static int evaluate(Outcome* out, Worker* k, int sample) {
  const Sweep* w = k->sweep;
  int status = load(k, sample);
  if (status) return status;
  const djDesign* d = k->run.design;
  memcpy(out->x, d->x0, (size_t)d->n * sizeof *out->x);
  samples_point(out->x, &w->samples, d, sample);
  status = differentiate(out, k);
  if (status) return status;
  if (w->options->check && out->status != SAMPLE_SINGULAR) certify(out, k);
  return w->options->optimize ? optimize(out, k) : 0;
}

static void write_row(Buffer* line, const Sweep* w, const Outcome* out, int sample,
                      const char* message) {
  int n = w->base.design->n;
  buf_addf(line, "%d,%s", sample, sample_statusName(out->status));
  add_number(line, out->loss);
  add_number(line, out->unconverged);
  for (int e = 0; e < n; e++) add_number(line, out->x[e]);
  for (int e = 0; e < n; e++) add_number(line, out->gradient[e]);
  for (int i = 0; i < w->base.problem->nvariable && w->options->check; i++) {
    const djdCertificate* c = &out->certificate[i];
    bool known = c->evaluations > 0 && !c->surrogate;
    add_number(line, known ? c->relative_error : NAN);
    add_number(line, known ? c->passed : NAN);
  }
  if (w->options->optimize) {
    add_number(line, out->last);
    add_number(line, out->iterations);
    buf_addf(line, ",%s", out->stop);
    for (int e = 0; e < n; e++) add_number(line, out->best[e]);
  }
  buf_add(line, ",");
  add_field(line, message);
  buf_add(line, "\n");
}

void sweep_row(Buffer* line, Worker* k, int sample) {
  const Sweep* w = k->sweep;
  size_t n = (size_t)w->base.design->n;
  Outcome out = {.loss = NAN, .unconverged = NAN, .last = NAN, .iterations = NAN, .stop = ""};
  double** vector[] = {&out.x, &out.gradient, &out.best};
  for (int i = 0; i < 3; i++) {
    *vector[i] = tool_alloc(n, sizeof(double));
    for (size_t e = 0; e < n; e++) (*vector[i])[e] = NAN;
  }
  out.certificate = tool_alloc((size_t)w->base.problem->nvariable, sizeof *out.certificate);
  Buffer message = {0};
  buf_add(&message, "");
  tool_catch(&message);
  if (evaluate(&out, k, sample)) out.status = SAMPLE_FAILED;
  tool_catch(NULL);
  write_row(line, w, &out, sample, message.text);
  if (out.status == SAMPLE_FAILED) worker_free(k);
  buf_free(&message);
  for (int i = 0; i < 3; i++) free(*vector[i]);
  free(out.certificate);
}
