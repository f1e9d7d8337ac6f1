// dijoco bench, batches: many worlds of gymnasium's robots under random controls, beside MuJoCo's
// batch of the same worlds, and what sharing them costs and brings.
//
// batch_rollout: runs of WORLDS worlds on one thread, beside mjb_rollout. batch_gradient: their
// gradients by all controls, beside the matrices of mjd_transitionFD of every step, chained.
// batch_threads/2: wall time of the runs by two threads beside one. batch_one: a batch of one world
// beside djData. batch_checkpoint: gradients from tapes that hold 10 steps beside whole ones.
// batch_memory: a step of 4096 hoppers; the note says what they take.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "clock.h"
#include "engine.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <mujoco/mjbatch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 16, HORIZON = 100, HOLD = 10, REPEATS = 9, MANY = 4096, ONE = 400 };

typedef struct Batches {
  Bench* b;
  const char* name;
  mjModel* m;
  mjData* d;
  mjBatch* peer;
  djModel* model;
  djBatch* batch[2];       // of one thread, of two
  djData* data;
  double *ctrl, *grad;     // (WORLDS x HORIZON x nu)
  double *A, *B;
  long failed;
} Batches;

static void set_ctrl(Batches* s) {
  size_t nu = (size_t)s->m->nu;
  s->ctrl = tool_alloc(WORLDS * HORIZON * nu, sizeof *s->ctrl);
  for (size_t k = 0; k < WORLDS * HORIZON; k++) {
    for (size_t i = 0; i < nu; i++) {
      const mjtNum* range = s->m->actuator_ctrlrange + 2 * i;
      s->ctrl[k * nu + i] = range[0] + (range[1] - range[0]) * djd_random(9, k / HOLD, i);
    }
  }
}

static void count(Batches* s, djStatus status) { s->failed += status < 0; }

// ---- runs -------------------------------------------------------------------------------------

static double run_ours(Batches* s, int threads, double (*clock)(void)) {
  djBatch* b = s->batch[threads - 1];
  count(s, dj_resetBatch(b, -1, -1));
  double t = clock();
  count(s, dj_batchRollout(b, HORIZON, s->ctrl, NULL, NULL, NULL));
  return clock() - t;
}

static double run_peer(Batches* s) {
  mjb_reset(s->peer, NULL, WORLDS, NULL, mjSTAGE_NONE);
  double t = bench_threadClock();
  s->failed += mjb_rollout(s->peer, NULL, WORLDS, HORIZON, s->ctrl, mjSTATE_CTRL, NULL, 0);
  return bench_threadClock() - t;
}

static void time_runs(Batches* s, const char* name) {
  Times ours = {0}, peer = {0};
  run_ours(s, 1, bench_threadClock);
  run_peer(s);
  for (int k = 0; k < REPEATS; k++) {
    times_add(&ours, run_ours(s, 1, bench_threadClock));
    times_add(&peer, run_peer(s));
  }
  double t = times_median(&ours), t1 = times_median(&peer), steps = WORLDS * HORIZON;
  bench_add(s->b, name, t / steps, "mjb_rollout", t1 / steps,
            "A step of %d worlds' runs of %d, %g ms each, random controls; one thread: %.0f steps a "
            "second beside %.0f; failed %ld", WORLDS, HORIZON, 1e3 * s->model->opt.timestep,
            1e6 * steps / t, 1e6 * steps / t1, s->failed);
  times_free(&ours);
  times_free(&peer);
}

static void time_threads(Batches* s, const char* name) {
  Times two = {0}, one = {0};
  run_ours(s, 2, tool_clock);
  for (int k = 0; k < 2 * REPEATS; k++) {
    times_add(&one, run_ours(s, 1, tool_clock));
    times_add(&two, run_ours(s, 2, tool_clock));
  }
  size_t n = (size_t)WORLDS * (size_t)s->model->nq;
  bool same = memcmp(s->batch[0]->qpos, s->batch[1]->qpos, n * sizeof(double)) == 0;
  double t = times_part(&two, 0), t1 = times_part(&one, 0);
  bench_add(s->b, name, t, "1 thread", t1,
            "%d runs of %d steps, best of %d: speed-up %.2f (medians %.2f); %s", WORLDS, HORIZON,
            2 * REPEATS, t1 / t, times_median(&one) / times_median(&two),
            same ? "the same bits" : "states DIFFER");
  times_free(&two);
  times_free(&one);
}

// ---- gradients --------------------------------------------------------------------------------

// Together, or one pass over all worlds after the other.
static double gradient_ours(Batches* s, djBatchTape* tape, bool apart) {
  djBatch* b = s->batch[0];
  djLossTerm loss = {.type = DJ_LOSS_COM, .object = DJ_OBJ_BODY, .id = -1, .weight = 1,
                     .target = {1, 0, 1}};
  djRollout run = {.horizon = HORIZON, .ctrl = s->ctrl, .nloss = 1, .loss = &loss};
  djBatchResult result = {.grad_ctrl = s->grad};
  count(s, dj_resetBatch(b, -1, -1));
  double t = bench_threadClock();
  if (apart) {
    count(s, djd_batchRolloutForward(&result, b, &run, tape));
    count(s, djd_batchRolloutBackward(&result, b, &run, tape, NULL, NULL));
  } else {
    count(s, djd_batchGradient(&result, b, &run, tape));
  }
  return bench_threadClock() - t;
}

// Forward with matrices, and a product with their transposes on the way back, of the first world.
static double gradient_peer(Batches* s) {
  int nx = (int)(2 * s->m->nv + s->m->na), nu = (int)s->m->nu;
  size_t na = (size_t)nx * (size_t)nx, nb = (size_t)nx * (size_t)nu;
  mjtNum *lambda = s->A + HORIZON * na, *next = lambda + nx;
  mj_resetData(s->m, s->d);
  double t = bench_threadClock();
  for (int k = 0; k < HORIZON; k++) {
    mju_copy(s->d->ctrl, s->ctrl + k * nu, nu);
    mjd_transitionFD(s->m, s->d, 1e-6, 0, s->A + (size_t)k * na, s->B + (size_t)k * nb, NULL, NULL);
    mj_step(s->m, s->d);
  }
  mju_fill(lambda, 1, nx);
  for (int k = HORIZON - 1; k >= 0; k--) {
    mju_mulMatTVec(s->grad + k * nu, s->B + (size_t)k * nb, lambda, nx, nu);
    mju_mulMatTVec(next, s->A + (size_t)k * na, lambda, nx, nx);
    mju_copy(lambda, next, nx);
  }
  return bench_threadClock() - t;
}

static bool make_tape(djBatchTape** tape, Batches* s, int checkpoint) {
  djError err;
  if (djd_makeBatchTape(tape, s->batch[0], HORIZON, checkpoint, &err) >= 0) return true;
  bench_skip(s->b, "batch", "%.150s", err.text);
  return false;
}

static void time_gradients(Batches* s, const char* name) {
  Times ours = {0}, peer = {0};
  djBatchTape* tape;
  if (!make_tape(&tape, s, HORIZON)) return;
  gradient_ours(s, tape, false);
  for (int k = 0; k < REPEATS; k++) {
    times_add(&ours, gradient_ours(s, tape, false) / WORLDS);
    times_add(&peer, gradient_peer(s));
  }
  double t = times_median(&ours), t1 = times_median(&peer);
  bench_add(s->b, name, t, "mjd_transitionFD, forward, 1e-6, chained", t1,
            "A run of %d steps of %g ms with the gradient by %d controls, of %d worlds; one thread: "
            "%.1f gradients a second beside %.2f", HORIZON, 1e3 * s->model->opt.timestep,
            HORIZON * s->model->nu, WORLDS, 1e6 / t, 1e6 / t1);
  djd_deleteBatchTape(tape);
  times_free(&ours);
  times_free(&peer);
}

static void time_checkpoints(Batches* s, const char* name) {
  Times few = {0}, whole = {0}, plain = {0};
  djBatchTape *tape, *all;
  if (!make_tape(&tape, s, 10)) return;
  if (make_tape(&all, s, 0)) {
    for (int k = 0; k <= REPEATS; k++) {
      double a = gradient_ours(s, tape, true), c = gradient_ours(s, all, true), p = run_ours(s, 1, bench_threadClock);
      if (k == 0) continue;   // makes room
      times_add(&few, a);
      times_add(&whole, c);
      times_add(&plain, p);
    }
    double t = times_median(&few), t1 = times_median(&whole);
    bench_add(s->b, name, t, "whole tapes", t1,
              "Runs of %d worlds, then their gradients: 10 steps' linearisations a thread, %.2f "
              "MB beside %.1f; the difference is %.2f plain runs", WORLDS,
              1e-6 * (double)djd_batchTapeBytes(tape), 1e-6 * (double)djd_batchTapeBytes(all),
              (t - t1) / times_median(&plain));
    djd_deleteBatchTape(all);
  }
  djd_deleteBatchTape(tape);
  times_free(&few);
  times_free(&whole);
  times_free(&plain);
}

// ---- one, and many ----------------------------------------------------------------------------

static void time_one(Batches* s, const char* name) {
  Times ours = {0}, peer = {0};
  djBatch* one;
  djError err;
  if (dj_makeBatch(&one, s->model, 1, 1, &err) < 0) return;
  size_t nu = (size_t)s->m->nu;
  for (int k = 0; k < 3 * REPEATS; k++) {
    dj_resetBatch(one, -1, -1);
    dj_resetData(s->model, s->data);
    double t0 = bench_threadClock();
    for (size_t i = 0; i < ONE; i++) {
      memcpy(one->ctrl, s->ctrl + i * nu, nu * sizeof(double));
      count(s, dj_batchStep(one, 1));
    }
    double t1 = bench_threadClock();
    for (size_t i = 0; i < ONE; i++) {
      memcpy(s->data->ctrl, s->ctrl + i * nu, nu * sizeof(double));
      count(s, dj_step(s->model, s->data));
    }
    times_add(&ours, (t1 - t0) / ONE);
    times_add(&peer, (bench_threadClock() - t1) / ONE);
  }
  double t = times_part(&ours, 0), t1 = times_part(&peer, 0);
  bench_add(s->b, name, t, "dj_step", t1, "dj_batchStep of one world, runs of %d steps by turns, "
            "best of %d: %.1f %% more", ONE, 3 * REPEATS, 100 * (t / t1 - 1));
  dj_deleteBatch(one);
  times_free(&ours);
  times_free(&peer);
}

static void time_many(Batches* s, const char* name) {
  djBatch* many;
  djError err;
  Times ours = {0};
  if (dj_makeBatch(&many, s->model, MANY, 1, &err) < 0) {
    bench_skip(s->b, name, "%.150s", err.text);
    return;
  }
  for (int k = 0; k < 5; k++) {
    double t = bench_threadClock();
    count(s, dj_batchStep(many, 1));
    times_add(&ours, bench_threadClock() - t);
  }
  bench_add(s->b, name, times_median(&ours) / MANY, "dj_step's data of each, MB",
            1e-6 * MANY * (double)dj_dataSize(s->model),
            "A world's step of %d, each of a list of its own; they take %.1f MB", MANY,
            1e-6 * (double)dj_batchBytes(many));
  dj_deleteBatch(many);
  times_free(&ours);
}

// ---- items ------------------------------------------------------------------------------------

typedef struct Item {
  const char *name, *robot;
  void (*run)(Batches* s, const char* name);
} Item;

static const Item items[] = {
    {"batch_rollout/hopper", "hopper", time_runs},
    {"batch_gradient/hopper", "hopper", time_gradients},
    {"batch_one/hopper", "hopper", time_one},
    {"batch_memory/hopper", "hopper", time_many},
    {"batch_rollout/ant", "ant", time_runs},
    {"batch_gradient/ant", "ant", time_gradients},
    {"batch_rollout/humanoid", "humanoid", time_runs},
    {"batch_gradient/humanoid", "humanoid", time_gradients},
    {"batch_checkpoint/humanoid", "humanoid", time_checkpoints},
    {"batch_one/humanoid", "humanoid", time_one},
    {"batch_threads/2", "humanoid", time_threads}};
enum { ITEMS = sizeof items / sizeof items[0] };

typedef struct Job {
  Batches* s;
  const Item* item;
} Job;

static void run_item(void* arg) {
  Job* job = arg;
  job->item->run(job->s, job->item->name);
}

static void close_batches(Batches* s) {
  for (int k = 0; k < 2; k++) dj_deleteBatch(s->batch[k]);
  dj_deleteData(s->data);
  dj_deleteModel(s->model);
  if (s->peer) mjb_deleteBatch(s->peer);
  if (s->d) mj_deleteData(s->d);
  if (s->m) mj_deleteModel(s->m);
  free(s->ctrl);
  free(s->grad);
  free(s->A);
  free(s->B);
}

static bool open_batches(Batches* s, Bench* b, const char* robot, djError* err) {
  char path[1000];
  *s = (Batches){.b = b, .name = robot};
  snprintf(path, sizeof path, "%.900s/%s.xml", b->robots, robot);
  if (dj_loadMJCF(&s->model, NULL, &s->m, path, err) < 0) return false;
  s->m->opt.integrator = mjINT_EULER;
  djOption option = s->model->opt;
  option.timestep = s->m->opt.timestep = 2e-3;
  if (dj_setOption(s->model, &option, err) < 0) return false;
  s->d = mj_makeData(s->m);
  mjBatchConfig config;
  mjb_defaultConfig(&config);
  config.nthread = 1;
  s->peer = mjb_makeBatch(s->m, WORLDS, &config, err->text, sizeof err->text);
  if (!s->peer) return false;
  for (int k = 0; k < 2; k++) {
    if (dj_makeBatch(&s->batch[k], s->model, WORLDS, k + 1, err) < 0) return false;
  }
  if (dj_makeData(&s->data, s->model, err) < 0) return false;
  set_ctrl(s);
  size_t nx = (size_t)(2 * s->m->nv + s->m->na), nu = (size_t)s->m->nu;
  s->grad = tool_alloc(WORLDS * HORIZON * nu, sizeof(double));
  s->A = tool_alloc((HORIZON * nx + 2) * nx, sizeof(double));
  s->B = tool_alloc(HORIZON * nx * nu, sizeof(double));
  return true;
}

void bench_batch(Bench* b) {
  Batches s;
  djError err = {""};
  for (int k = 0; k < ITEMS; k++) {
    const Item* item = &items[k];
    if (!bench_wants(b, item->name)) continue;
    if (!b->robots) {
      bench_skip(b, "batch", "no folder of gymnasium's models (--models DIR, DIJOCO_GYMNASIUM)");
      return;
    }
    if (!bench_begin(b, item->name)) continue;
    Job job = {&s, item};
    if (!open_batches(&s, b, item->robot, &err) || djm_guard(run_item, &job, &err) < 0) {
      bench_skip(b, item->name, "%.150s", err.text);
    }
    close_batches(&s);
  }
}

#endif
