// dijoco bench, stacks: time per step of harmonic stacks of planks, each engine on its own run.
//
// `step/book_stacking` is the shipped scene; `stack/N` has N planks with its sizes and settings.
// The cost exponent is the slope of log(median) over log(N), fitted to all sizes. Then, from where
// the run ended: stack_forward/N, a step of a rollout that is recorded for the adjoint, and
// stack_adjoint/N, a step of the adjoint of the top plank's place.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "bench_mujoco.h"
#include "clock.h"
#include "engine.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTLE = 200, TIMED = 500, MAX_STACKS = 4, HORIZON = 50, REPEATS = 7 };

static const int stack_size[MAX_STACKS] = {5, 10, 20, 40};

typedef struct Stack {
  Bench* b;
  const char* name;
  mjModel* m;
  mjData* d;
  djModel* model;
  djData* data;
  djTape* tape;
  Times ours, peer, forward, adjoint;
} Stack;

// Both engines from the scene's start; gravity is ramped over the settling steps.
static void run_stack(void* arg) {
  Stack* s = arg;
  double gravity[3];
  mju_copy3(gravity, s->m->opt.gravity);
  long iterations = 0, unconverged = 0;
  for (int k = 0; k < SETTLE + TIMED; k++) {
    double scale = fmin(1, (double)(k + 1) / SETTLE);
    mju_scl3(s->m->opt.gravity, gravity, scale);
    s->data->gravity_scale = scale;
    double t0 = tool_clock();
    djStatus status = dj_step(s->model, s->data);
    double t1 = tool_clock();
    mj_step(s->m, s->d);
    double t2 = tool_clock();
    if (k < SETTLE) continue;
    times_add(&s->ours, t1 - t0);
    times_add(&s->peer, t2 - t1);
    iterations += s->data->stats.iterations;
    unconverged += status != DJ_OK;
  }
  static const char* const integrator[] = {"Euler", "RK4", "implicit", "implicitfast", "discrete"};
  int i = s->m->opt.integrator;
  bench_add(s->b, s->name, times_median(&s->ours), "mj_step", times_median(&s->peer),
            "nv %d; %d steps of each engine's own run, after %d with gravity raised. Newton mean "
            "%.2f; unconverged %ld; %d pairs. MuJoCo: %s, %s cone, %g ms. Means %.1f and %.1f us",
            s->model->nv, TIMED, SETTLE, (double)iterations / TIMED, unconverged, s->data->npair,
            i >= 0 && i < 5 ? integrator[i] : "?",
            s->m->opt.cone == mjCONE_ELLIPTIC ? "elliptic" : "pyramidal",
            1e3 * s->m->opt.timestep, times_mean(&s->ours), times_mean(&s->peer));
}

// Rollouts from the end of the run, and their adjoints: times per step.
static void run_gradient(void* arg) {
  Stack* s = arg;
  const djModel* m = s->model;
  size_t nv = (size_t)m->nv;
  double* memory = tool_alloc((size_t)m->nq + 3 * nv, sizeof(double));
  double *qpos = memory, *qvel = qpos + m->nq;
  mju_copy(qpos, s->data->qpos, m->nq);
  mju_copy(qvel, s->data->qvel, m->nv);
  djLossTerm loss = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = m->nbody - 1,
                     .weight = 1};
  djRollout run = {.horizon = HORIZON, .qpos0 = qpos, .qvel0 = qvel, .nloss = 1, .loss = &loss};
  djRolloutResult result = {.grad_qpos0 = qvel + nv, .grad_qvel0 = qvel + 2 * nv};
  for (int k = 0; k <= REPEATS; k++) {
    double t0 = bench_threadClock();
    djStatus status = djd_rolloutForward(&result, m, s->data, &run, s->tape);
    double t1 = bench_threadClock();
    if (status >= 0) status = djd_rolloutBackward(&result, m, s->data, &run, s->tape);
    double t2 = bench_threadClock();
    if (k == 0 || status < 0) continue;   // the first touches the tape's memory
    times_add(&s->forward, (t1 - t0) / HORIZON);
    times_add(&s->adjoint, (t2 - t1) / HORIZON);
  }
  free(memory);
}

static bool open_stack(Stack* s, djError* err) {
  if (!s->model && dj_importMuJoCo(&s->model, NULL, s->m, err) < 0) return false;
  if (dj_makeData(&s->data, s->model, err) < 0) return false;
  s->d = mj_makeData(s->m);
  return djm_guard(run_stack, s, err) >= 0;
}

static void close_stack(Stack* s) {
  if (s->d) mj_deleteData(s->d);
  times_free(&s->ours);
  times_free(&s->peer);
  times_free(&s->forward);
  times_free(&s->adjoint);
  djd_deleteTape(s->tape);
  if (s->data) dj_deleteData(s->data);
  if (s->model) dj_deleteModel(s->model);
  if (s->m) mj_deleteModel(s->m);
}

static void bench_book(Bench* b) {
  char path[1000];
  djError err = {""};
  Stack s = {.b = b, .name = "step/book_stacking"};
  if (!bench_wants(b, s.name)) return;
  if (!b->models) {
    bench_skip(b, s.name, "no folder `models` here or beside the program");
    return;
  }
  if (!bench_begin(b, s.name)) return;
  snprintf(path, sizeof path, "%.900s/book_stacking/scene.xml", b->models);
  if (dj_loadMJCF(&s.model, NULL, &s.m, path, &err) < 0 || !open_stack(&s, &err)) {
    bench_skip(b, s.name, "%.150s", err.text);
  }
  close_stack(&s);
}

// The k-th plank from the top reaches L/(2k) less 2 mm over the one below, L = 2 m.
static void write_stack(Buffer* out, int n) {
  buf_addf(out,
           "<mujoco><option timestep='.002' integrator='discrete' cone='elliptic' impratio='100'/>"
           "<size memory='64M'/><custom><numeric name='dijoco_friction_eps' data='1e-10'/>"
           "<numeric name='dijoco_support' data='1e-4'/>"
           "<numeric name='dijoco_stiffness' data='.01'/></custom>"
           "<default><geom type='box' size='1 .2 .1' friction='.5 .005 .0001' solref='.004 1'"
           " solimp='.9999 .9999 .001 .5 2'/></default><worldbody><geom pos='0 0 .1'/>");
  double x = 0;
  for (int i = 1; i <= n; i++) {
    x += 1.0 / (n + 1 - i) - 0.002;
    buf_addf(out, "<body pos='%.17g 0 %.17g'><freejoint/><geom mass='.16'/></body>", x,
             0.1 + 0.2 * i);
  }
  buf_addf(out, "</worldbody></mujoco>");
}

// What is timed of each stack.
enum { STEP, FORWARD, ADJOINT, NITEM };
static const char* const item[NITEM] = {"stack", "stack_forward", "stack_adjoint"};

typedef struct Series {
  double size[MAX_STACKS], ours[NITEM][MAX_STACKS], peer[MAX_STACKS];
  int n;
} Series;

static void item_name(char name[60], int k, int n) { snprintf(name, 60, "%s/%d", item[k], n); }

static void add_gradient(Stack* s, Series* series, int n) {
  char name[60];
  djError err = {""};
  int at = series->n;
  if (djd_makeTape(&s->tape, s->model, HORIZON, &err) < 0 || djm_guard(run_gradient, s, &err) < 0) {
    bench_skip(s->b, "stack_adjoint", "%.150s", err.text);
    return;
  }
  series->ours[STEP][at] = times_median(&s->ours);
  series->ours[FORWARD][at] = times_median(&s->forward);
  series->ours[ADJOINT][at] = times_median(&s->adjoint);
  series->peer[at] = times_median(&s->peer);
  series->size[at] = n;
  series->n++;
  item_name(name, FORWARD, n);
  bench_add(s->b, name, series->ours[FORWARD][at], "mj_step", series->peer[at],
            "A step of %d, linearised and recorded; time of the thread. Newton mean %.2f", HORIZON,
            (double)s->data->stats.newton_iterations / HORIZON);
  item_name(name, ADJOINT, n);
  bench_add(s->b, name, series->ours[ADJOINT][at], "our own forward", series->ours[FORWARD][at],
            "A step of the adjoint of %d", HORIZON);
}

static void time_stack(Bench* b, int n, Series* series) {
  char name[60], error[300] = "";
  item_name(name, STEP, n);
  if (!bench_begin(b, name)) return;
  Stack s = {.b = b, .name = name};
  Buffer text = {0};
  write_stack(&text, n);
  s.m = bench_compile(&text, error, sizeof error);
  djError err = {""};
  if (s.m && open_stack(&s, &err)) add_gradient(&s, series, n);
  else bench_skip(b, name, "%.100s%.100s", error, err.text);
  close_stack(&s);
}

static void bench_sizes(Bench* b) {
  Series series = {.n = 0};
  for (int k = 0; k < MAX_STACKS; k++) {
    bool wanted = false;
    for (int i = 0; i < NITEM; i++) {
      char name[60];
      item_name(name, i, stack_size[k]);
      wanted = wanted || bench_wants(b, name);
    }
    if (wanted) time_stack(b, stack_size[k], &series);
  }
  if (series.n < MAX_STACKS) return;
  double peer = bench_slope(series.size, series.peer, MAX_STACKS);
  for (int i = 0; i < NITEM; i++) {
    bench_fit(b, item[i], bench_slope(series.size, series.ours[i], MAX_STACKS), "mj_step", peer,
              "Cost exponent over 5, 10, 20 and 40 planks: slope of log(median time)");
  }
}

void bench_stack(Bench* b) {
  bench_book(b);
  bench_sizes(b);
}

#endif
