// dijoco bench, stack: time per step of the book stack, each engine on its own run.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "engine.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SETTLE = 200, TIMED = 500 };

typedef struct Stack {
  Bench* b;
  mjModel* m;
  mjData* d;
  djModel* model;
  djData* data;
  Times ours, peer;
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
    double t0 = engine_clock();
    djStatus status = dj_step(s->model, s->data);
    double t1 = engine_clock();
    mj_step(s->m, s->d);
    double t2 = engine_clock();
    if (k < SETTLE) continue;
    times_add(&s->ours, t1 - t0);
    times_add(&s->peer, t2 - t1);
    iterations += s->data->stats.iterations;
    unconverged += status != DJ_OK;
  }
  static const char* const integrator[] = {"Euler", "RK4", "implicit", "implicitfast", "discrete"};
  int i = s->m->opt.integrator;
  bench_add(s->b, "step/book_stacking", times_median(&s->ours), "mj_step", times_median(&s->peer),
            "nv %d; %d steps of each engine's own run, after %d with gravity raised. Newton mean "
            "%.2f; unconverged %ld; %d pairs. MuJoCo: %s, %s cone, %g ms. Means %.1f and %.1f us",
            s->model->nv, TIMED, SETTLE, (double)iterations / TIMED, unconverged, s->data->npair,
            i >= 0 && i < 5 ? integrator[i] : "?",
            s->m->opt.cone == mjCONE_ELLIPTIC ? "elliptic" : "pyramidal",
            1e3 * s->m->opt.timestep, times_mean(&s->ours), times_mean(&s->peer));
}

void bench_stack(Bench* b) {
  char path[1000];
  djError err = {""};
  Stack s = {.b = b};
  if (!bench_wants(b, "step/book_stacking")) return;
  if (!b->models) {
    bench_skip(b, "step/book_stacking", "no folder `models` here or beside the program");
    return;
  }
  snprintf(path, sizeof path, "%.900s/book_stacking/scene.xml", b->models);
  if (dj_loadMJCF(&s.model, NULL, &s.m, path, &err) < 0 ||
      dj_makeData(&s.data, s.model, &err) < 0) {
    bench_skip(b, "step/book_stacking", "%.150s", err.text);
  } else {
    s.d = mj_makeData(s.m);
    if (djm_guard(run_stack, &s, &err) < 0) bench_skip(b, "step/book_stacking", "%.150s", err.text);
    mj_deleteData(s.d);
  }
  times_free(&s.ours);
  times_free(&s.peer);
  if (s.data) dj_deleteData(s.data);
  if (s.model) dj_deleteModel(s.model);
  if (s.m) mj_deleteModel(s.m);
}

#endif
