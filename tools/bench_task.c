// dijoco bench TASK: the run of a task and its adjoint by all that varies, per step, with the
// task's own controls and with others that are drawn.
//
// forward: simulation, linearised and recorded, beside the run alone. adjoint: gradient by all
// variables; adjoint_ctrl: by controls and start alone, no parameter of the model asked for.
// gradient: forward and adjoint together. Of several scenes all that is of their sum, one after the
// other; scenes: the gradient of all on the clock, in threads beside one after the other.

#include "bench.h"
#include "clock.h"
#include "grad_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 15, SEED = 9 };

struct BenchTask {
  Options options; // the command's, with this task as the argument
  GradRun run;
  char name[40];
  double *x, *grad; // (design->n)
};

typedef struct Passes {
  const GradRun* run;
  double *x, *grad;
  Times alone, forward, adjoint, ctrl;
  bool failed;
  int unconverged;
} Passes;

// What the file is called, or its folder where all files are called alike.
static void name_task(char* name, size_t size, const char* path) {
  const char* file = strrchr(path, '/');
  file = file ? file + 1 : path;
  const char* start = file;
  size_t n = strcspn(file, ".");
  if (strcmp(file, "task.json") == 0 && file > path) {
    start = file - 1;
    while (start > path && start[-1] != '/') start--;
    n = (size_t)(file - 1 - start);
  }
  snprintf(name, size, "%.*s", (int)n, start);
}

int bench_openTasks(Bench* b) {
  const Options* o = b->options;
  b->task = tool_alloc((size_t)o->nargument, sizeof *b->task);
  for (int k = 0; k < o->nargument; k++) {
    BenchTask* t = &b->task[b->ntask++];
    t->options = *o;
    t->options.argument[0] = o->argument[k];
    int status = grad_load(&t->run, &t->options, o->argument[k]);
    if (status) return status;
    name_task(t->name, sizeof t->name, o->argument[k]);
    t->x = tool_alloc((size_t)t->run.design->n, sizeof *t->x);
    t->grad = tool_alloc((size_t)t->run.design->n, sizeof *t->grad);
  }
  return 0;
}

void bench_closeTasks(Bench* b) {
  for (int k = 0; k < b->ntask; k++) {
    grad_free(&b->task[k].run);
    free(b->task[k].x);
    free(b->task[k].grad);
  }
  free(b->task);
}

// Controls in the middle half of their bounds, or within 0.5 of the task's own; the model stays.
static void draw(double* x, const djDesign* d) {
  for (int k = 0; k < d->n; k++) {
    double low = d->lower[k], high = d->upper[k];
    bool bounded = isfinite(low) && isfinite(high);
    double middle = bounded ? low + (high - low) / 2 : d->x0[k];
    double width = bounded ? (high - low) / 2 : 1;
    x[k] = d->group[k] == 0 ? d->x0[k]
                            : middle + width * (djd_random(SEED, 0, (unsigned long)k) - 0.5);
  }
}

static void check(Passes* p, djStatus status) { p->failed |= status < 0 || status == DJ_SINGULAR; }

// Each thing once, one after the other, of one scene; adds the seconds.
static void pass_scene(double second[4], Passes* p, djDesign* d) {
  djRolloutResult ctrl = d->result;
  ctrl.nparam = 0;
  double loss;
  double t0 = bench_threadClock();
  check(p, djd_forwardDesign(&loss, d, p->x, false));
  double t1 = bench_threadClock();
  check(p, djd_forwardDesign(&loss, d, p->x, true));
  double t2 = bench_threadClock();
  if (p->failed) return;
  check(p, djd_backwardDesign(p->grad, d));
  double t3 = bench_threadClock();
  check(p, djd_rolloutBackward(&ctrl, d->model, d->data, &d->rollout, d->tape));
  double t4 = bench_threadClock();
  p->unconverged += d->result.unconverged_steps;
  const double at[] = {t0, t1, t2, t3, t4};
  for (int k = 0; k < 4; k++) second[k] += at[k + 1] - at[k];
}

static void pass(Passes* p) {
  double second[4] = {0, 0, 0, 0};
  Times* all[] = {&p->alone, &p->forward, &p->adjoint, &p->ctrl};
  p->unconverged = 0;
  for (int k = 0; k < p->run->nscene && !p->failed; k++) {
    pass_scene(second, p, p->run->part[k].design);
  }
  for (int k = 0; k < 4 && !p->failed; k++) times_add(all[k], second[k]);
}

// Bytes of all scenes' tapes, data and designs.
static void add_bytes(double bytes[3], const GradRun* g) {
  for (int k = 0; k < g->nscene; k++) {
    const djDesign* d = g->part[k].design;
    bytes[0] += (double)djd_tapeBytes(d->tape);
    bytes[1] += (double)dj_dataBytes(d->data);
    bytes[2] += (double)djd_designBytes(d);
  }
}

static const char* const items[] = {"task_forward", "task_adjoint", "task_adjoint_ctrl",
                                    "task_gradient"};
enum { NITEM = sizeof items / sizeof *items };

// "ITEM/TASK/drawn".
static void name_item(char name[100], int item, const BenchTask* t, bool drawn) {
  snprintf(name, 100, "%s/%s%s", items[item], t->name, drawn ? "/drawn" : "");
}

static void add_rows(Bench* b, const BenchTask* t, bool drawn, Passes* p) {
  const djDesign* d = t->run.design;
  int steps = grad_steps(&t->run);
  double alone = times_median(&p->alone) / steps, forward = times_median(&p->forward) / steps;
  double adjoint = times_median(&p->adjoint) / steps, ctrl = times_median(&p->ctrl) / steps;
  static const char run[] = "the run alone", own[] = "our own forward";
  const double ours[NITEM] = {forward, adjoint, ctrl, forward + adjoint};
  const double peer[NITEM] = {alone, forward, forward, alone};
  for (int k = 0; k < NITEM; k++) {
    char name[100], note[260] = "";
    name_item(name, k, t, drawn);
    if (k == 0) {
      double bytes[3] = {0, 0, 0};
      add_bytes(bytes, &t->run);
      snprintf(note, sizeof note,
               "A step, by %d of %g ms, %d variables, %d numbers of the model; unconverged %d. "
               "Times are the thread's; tape %.1f MB, data %.1f MB, design %.1f MB",
               steps, 1e3 * d->model->opt.timestep, d->n, d->problem->nparamtangent,
               p->unconverged, bytes[0] / 1e6, bytes[1] / 1e6, bytes[2] / 1e6);
    }
    bench_add(b, name, ours[k], k == 0 || k == NITEM - 1 ? run : own, peer[k], "%s", note);
  }
}

// The gradient of all scenes, on the clock of the wall.
static void time_sum(Times* times, djPhases* sum, const BenchTask* t) {
  double loss;
  for (int k = 0; k <= REPEATS; k++) {
    double start = tool_clock();
    if (djd_evaluatePhases(&loss, t->grad, sum, t->x) < 0) return;
    if (k > 0) times_add(times, tool_clock() - start); // the first warms up
  }
}

static void time_scenes(Bench* b, BenchTask* t) {
  const GradRun* g = &t->run;
  char name[100];
  snprintf(name, sizeof name, "task_scenes/%s", t->name);
  if (g->nscene < 2 || !bench_wants(b, name) || !bench_begin(b, t->name)) return;
  Options one = *g->options;
  GradRun alone = *g;
  djPhases* sum = NULL;
  Times own = {0}, peer = {0};
  one.threads = 1;
  alone.options = &one;
  if (grad_phases(&sum, &alone, 1)) return;
  memcpy(t->x, g->design->x0, (size_t)g->design->n * sizeof *t->x);
  time_sum(&peer, sum, t);
  time_sum(&own, g->sum, t);
  int steps = grad_steps(g);
  if (own.n > 0) {
    bench_add(b, name, times_median(&own) / steps, "one thread", times_median(&peer) / steps,
              "A step, by %d of %d scenes in %d threads, on the clock", steps, g->nscene,
              g->sum->nthread);
  }
  djd_deletePhases(sum);
  times_free(&own);
  times_free(&peer);
}

static void time_task(Bench* b, BenchTask* t, bool drawn) {
  djDesign* d = t->run.design;
  bool any = false;
  char name[100];
  for (int k = 0; k < NITEM; k++) {
    name_item(name, k, t, drawn);
    any = any || bench_wants(b, name);
  }
  if (!any || !bench_begin(b, t->name)) return;
  if (drawn)
    draw(t->x, d);
  else
    memcpy(t->x, d->x0, (size_t)d->n * sizeof *t->x);
  Passes p = {.run = &t->run, .x = t->x, .grad = t->grad};
  Times* all[] = {&p.alone, &p.forward, &p.adjoint, &p.ctrl};
  for (int k = 0; k <= REPEATS && !p.failed; k++) {
    pass(&p);
    for (size_t i = 0; i < 4 && k == 0; i++) all[i]->n = 0; // the first warms up
  }
  if (p.failed)
    bench_skip(b, t->name, "%s", drawn ? "drawn controls have no gradient" : "no gradient");
  else
    add_rows(b, t, drawn, &p);
  for (size_t i = 0; i < 4; i++) times_free(all[i]);
}

void bench_tasks(Bench* b) {
  for (int k = 0; k < 2 * b->ntask; k++) {
    time_task(b, &b->task[k / 2], k % 2 == 1);
    if (k % 2 == 1) time_scenes(b, &b->task[k / 2]);
  }
}
