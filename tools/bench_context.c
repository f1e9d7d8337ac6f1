// dijoco bench, steps on MuJoCo's data: what djm_step costs with sensors beside without, and where
// the model has changed.
//
// gymnasium's humanoid (Euler, 2 ms) with the sensors below falls and lies under random controls
// held for 10 steps. The same run is taken three times at once, by contexts of their own, timed
// alternately: without sensors, with them, and with gravity changed a little before each step, which
// the context follows. mj_step takes its own run.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "bench_mujoco.h"
#include "clock.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <stdio.h>

enum { STEPS = 1000, HOLD = 10, PLAIN = 0, SENSORS, CHANGED, RUNS };

static const char* const items[RUNS] = {"context_step/humanoid", "context_sensors/humanoid",
                                        "context_change/humanoid"};

static const char kScene[] =
    "<mujoco><include file='%s/humanoid.xml'/><sensor>"
    "<framepos objtype='body' objname='torso'/><framequat objtype='body' objname='torso'/>"
    "<framelinvel objtype='body' objname='torso'/><frameangvel objtype='body' objname='torso'/>"
    "<framelinacc objtype='body' objname='torso'/><subtreecom body='torso'/>"
    "<contact geom1='left_foot' data='force' reduce='netforce'/>"
    "<contact geom1='right_foot' data='force' reduce='netforce'/></sensor></mujoco>";

typedef struct Run {
  Bench* b;
  mjModel *m, *changing;
  mjData* d[RUNS + 1];     // the last is MuJoCo's
  djmContext* c[RUNS];
  Times time[RUNS + 1];
} Run;

static void set_ctrl(mjData* d, const mjModel* m, int k) {
  for (int i = 0; i < m->nu; i++) {
    double part = djd_random(1, (unsigned long)(k / HOLD), (unsigned long)i);
    d->ctrl[i] = 0.4 * (2 * part - 1);
  }
}

static void run_steps(void* arg) {
  Run* r = arg;
  for (int k = 0; k < STEPS; k++) {
    r->changing->opt.gravity[2] = -9.81 - 1e-9 * (k % 2);
    for (int i = 0; i <= RUNS; i++) {
      const mjModel* m = i == CHANGED ? r->changing : r->m;
      set_ctrl(r->d[i], m, k);
      double start = tool_clock();
      if (i == RUNS) mj_step(m, r->d[i]);
      else djm_step(m, r->d[i], r->c[i]);
      times_add(&r->time[i], tool_clock() - start);
    }
  }
}

static bool open_run(Run* r, char* error, int size) {
  Buffer text = {0};
  djError err;
  buf_addf(&text, kScene, r->b->robots);
  r->m = bench_compile(&text, error, size);
  if (!r->m) return false;
  r->m->opt.integrator = mjINT_EULER;
  r->m->opt.timestep = 2e-3;
  r->changing = mj_copyModel(NULL, r->m);
  for (int i = 0; i <= RUNS; i++) {
    r->d[i] = mj_makeData(r->m);
    if (i == RUNS || djm_makeContext(&r->c[i], NULL, r->m, &err) == DJ_OK) continue;
    snprintf(error, (size_t)size, "%.200s", err.text);
    return false;
  }
  for (int i = 0; i < RUNS; i++) djm_stepOption(r->c[i])->sensors = i == SENSORS;
  return true;
}

static void close_run(Run* r) {
  for (int i = 0; i <= RUNS; i++) {
    if (i < RUNS) djm_deleteContext(r->c[i]);
    if (r->d[i]) mj_deleteData(r->d[i]);
    times_free(&r->time[i]);
  }
  if (r->changing) mj_deleteModel(r->changing);
  if (r->m) mj_deleteModel(r->m);
}

static void add_items(Run* r) {
  double t[RUNS + 1];
  for (int i = 0; i <= RUNS; i++) t[i] = times_median(&r->time[i]);
  bench_add(r->b, items[PLAIN], t[PLAIN], "mj_step", t[RUNS],
            "djm_step without sensors, each engine's own run of %d steps, 2 ms", STEPS);
  bench_add(r->b, items[SENSORS], t[SENSORS], "djm_step without sensors", t[PLAIN],
            "sensordata of %d sensors, and all else that mj_step fills", (int)r->m->nsensor);
  bench_add(r->b, items[CHANGED], t[CHANGED], "djm_step without a change", t[PLAIN],
            "gravity has changed before each step: the model is imported anew");
}

void bench_context(Bench* b) {
  Run r = {.b = b};
  char error[300] = "";
  djError err = {""};
  bool any = false;
  for (int i = 0; i < RUNS; i++) any = any || bench_wants(b, items[i]);
  if (!any) return;
  if (!b->robots) {
    bench_skip(b, "context", "no folder of gymnasium's models (--models DIR, DIJOCO_GYMNASIUM)");
    return;
  }
  if (!bench_begin(b, "context/humanoid")) return;
  if (!open_run(&r, error, sizeof error)) {
    bench_skip(b, "context", "%.150s", error);
  } else if (djm_guard(run_steps, &r, &err) < 0) {
    bench_skip(b, "context", "%.150s", err.text);
  } else {
    add_items(&r);
  }
  close_run(&r);
}

#endif
