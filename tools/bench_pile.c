// dijoco bench, piles: time per step of heaps of free boxes, each engine on its own run, and the
// memory that data and tape take.
//
// `pile/N` has N boxes of 0.2 m in layers as wide as they are high, every second one shifted and
// every box turned a little, so that boxes rest on several others. `pile_forward/N` and
// `pile_adjoint/N` are a step of a rollout that is recorded, from where the run ended, and one of
// its adjoint. The exponent is the slope of log(median) over log(N), fitted to all sizes.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "bench_mujoco.h"
#include "engine.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NPILE = 5, SETTLE = 40, TIMED = 20, HORIZON = 4 };

static const int pile_size[NPILE] = {10, 30, 100, 300, 1000};

// How often the run is repeated: small piles often.
static int runs(int n) { return n <= 30 ? 10 : n <= 100 ? 4 : 1; }

typedef struct Pile {
  Bench* b;
  int n;
  mjModel* m;
  mjData* d;
  djModel* model;
  djData* data;
  djTape* tape;
  Times ours, peer;
  double forward, adjoint;   // microseconds; NaN: not done
} Pile;

static void write_pile(Buffer* out, int n) {
  int side = (int)lround(cbrt(n));
  double part = 0;
  buf_addf(out, "<mujoco><option timestep='.005'/><size memory='1G'/><default><geom size='.1 .1 .1'"
                " mass='1'/></default><worldbody><geom type='plane' size='9 9 1'/>");
  for (int i = 0; i < n; i++) {
    int x = i % side, y = i / side % side, z = i / side / side;
    part = fmod(part + 0.618033988749895, 1);
    double shift = z % 2 ? 0.05 : 0, turn = 0.1 * (part - 0.5);
    buf_addf(out,
             "<body pos='%.17g %.17g %.17g' quat='%.17g 0 0 %.17g'><freejoint/><geom type='box'/>"
             "</body>", 0.225 * x + shift, 0.225 * y - shift, 0.1005 + 0.201 * z, cos(turn),
             sin(turn));
  }
  buf_addf(out, "</worldbody></mujoco>");
}

static void run_steps(void* arg) {
  Pile* s = arg;
  for (int k = 0; k < runs(s->n) * (SETTLE + TIMED); k++) {
    if (k % (SETTLE + TIMED) == 0) {
      dj_resetData(s->model, s->data);
      mj_resetData(s->m, s->d);
    }
    double t0 = bench_threadClock();
    dj_step(s->model, s->data);
    double t1 = bench_threadClock();
    mj_step(s->m, s->d);
    double t2 = bench_threadClock();
    if (k % (SETTLE + TIMED) < SETTLE) continue;
    times_add(&s->ours, t1 - t0);
    times_add(&s->peer, t2 - t1);
  }
}

// The gradient of the last box's height by the start, twice: the first touches the tape's memory.
static void run_gradient(void* arg) {
  Pile* s = arg;
  const djModel* m = s->model;
  size_t nv = (size_t)m->nv;
  double* qpos = tool_alloc((size_t)m->nq, sizeof(double));
  double* qvel = tool_alloc(2 * nv, sizeof(double));
  mju_copy(qpos, s->data->qpos, m->nq);
  mju_copy(qvel, s->data->qvel, m->nv);
  djLossTerm loss = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = m->nbody - 1,
                     .weight = 1};
  djRollout run = {.horizon = HORIZON, .qpos0 = qpos, .qvel0 = qvel, .nloss = 1, .loss = &loss};
  djRolloutResult result = {.grad_qpos0 = qvel + nv};
  for (int k = 0; k < 2; k++) {
    double t0 = bench_threadClock();
    djStatus status = djd_rolloutForward(&result, m, s->data, &run, s->tape);
    double t1 = bench_threadClock();
    if (status >= 0) status = djd_rolloutBackward(&result, m, s->data, &run, s->tape);
    double t2 = bench_threadClock();
    s->forward = status < 0 ? NAN : 1e6 * (t1 - t0) / HORIZON;
    s->adjoint = status < 0 ? NAN : 1e6 * (t2 - t1) / HORIZON;
  }
  free(qpos);
  free(qvel);
}

static bool open_pile(Pile* s, char* error, size_t size, djError* err) {
  Buffer text = {0};
  write_pile(&text, s->n);
  s->m = bench_compile(&text, error, (int)size);
  if (!s->m || dj_importMuJoCo(&s->model, NULL, s->m, err) < 0) return false;
  if (dj_makeData(&s->data, s->model, err) < 0) return false;
  s->d = mj_makeData(s->m);
  return djm_guard(run_steps, s, err) >= 0 &&
         djd_makeTape(&s->tape, s->model, HORIZON, err) >= 0 &&
         djm_guard(run_gradient, s, err) >= 0;
}

static void close_pile(Pile* s) {
  if (s->d) mj_deleteData(s->d);
  times_free(&s->ours);
  times_free(&s->peer);
  djd_deleteTape(s->tape);
  if (s->data) dj_deleteData(s->data);
  if (s->model) dj_deleteModel(s->model);
  if (s->m) mj_deleteModel(s->m);
}

// What is timed of each pile.
enum { STEP, FORWARD, ADJOINT, NITEM };
static const char* const item[NITEM] = {"pile", "pile_forward", "pile_adjoint"};

typedef struct Series {
  double size[NPILE], ours[NITEM][NPILE], peer[NPILE];
  int n;
} Series;

static void item_name(char name[60], int k, int n) { snprintf(name, 60, "%s/%d", item[k], n); }

static void add_items(Pile* s, Series* series) {
  char name[60];
  int at = series->n++;
  double peer = times_median(&s->peer), mib = 1.0 / (1 << 20);
  series->size[at] = s->n;
  series->ours[STEP][at] = times_median(&s->ours);
  series->ours[FORWARD][at] = s->forward;
  series->ours[ADJOINT][at] = s->adjoint;
  series->peer[at] = peer;
  item_name(name, STEP, s->n);
  bench_add(s->b, name, series->ours[STEP][at], "mj_step", peer,
            "nv %d; steps %d to %d of each engine's own run; time of the thread. Newton %d at the "
            "end; unconverged %ld; %d pairs. Data %.1f MiB, of MuJoCo %.1f MiB. MuJoCo: its "
            "defaults, %g ms", s->model->nv, SETTLE + 1, SETTLE + TIMED, s->data->stats.iterations,
            s->data->stats.unconverged_steps, s->data->npair, mib * (double)dj_dataBytes(s->data),
            mib * (double)(s->d->nbuffer + s->d->maxuse_arena), 1e3 * s->m->opt.timestep);
  item_name(name, FORWARD, s->n);
  bench_add(s->b, name, s->forward, "mj_step", peer,
            "A step of %d, linearised and recorded. Tape %.1f MiB", HORIZON,
            mib * (double)djd_tapeBytes(s->tape));
  item_name(name, ADJOINT, s->n);
  bench_add(s->b, name, s->adjoint, "our own forward", s->forward, "A step of the adjoint of %d",
            HORIZON);
}

static void time_pile(Bench* b, int n, Series* series) {
  char name[60], error[300] = "";
  djError err = {""};
  item_name(name, STEP, n);
  if (!bench_begin(b, name)) return;
  Pile s = {.b = b, .n = n, .forward = NAN, .adjoint = NAN};
  if (open_pile(&s, error, sizeof error, &err)) add_items(&s, series);
  else bench_skip(b, name, "%.100s%.100s", error, err.text);
  close_pile(&s);
}

void bench_pile(Bench* b) {
  Series series = {.n = 0};
  for (int k = 0; k < NPILE; k++) {
    bool wanted = false;
    for (int i = 0; i < NITEM; i++) {
      char name[60];
      item_name(name, i, pile_size[k]);
      wanted = wanted || bench_wants(b, name);
    }
    if (wanted) time_pile(b, pile_size[k], &series);
  }
  if (series.n < NPILE) return;
  double peer = bench_slope(series.size, series.peer, NPILE);
  for (int i = 0; i < NITEM; i++) {
    bench_fit(b, item[i], bench_slope(series.size, series.ours[i], NPILE), "mj_step", peer,
              "Cost exponent over 10, 30, 100, 300 and 1000 boxes: slope of log(median time)");
  }
}

#endif
