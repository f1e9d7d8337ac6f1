// dijoco bench, contact between triangles: what a frame of models/long_range/billiards costs with its
// gradient under `long_range`, without friction, by how finely the 16 balls are cut.
//
// `long_range_billiards/N` has N triangles in all; the peer is the coarsest cut.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "clock.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NCUT = 4, FRAMES = 25, RUNS = 3, NBALL = 16, RED = 1 };

static const int of_ball[NCUT] = {48, 80, 168, 440};

static djModel* open_billiards(const Bench* b, int triangles, djError* err) {
  char path[900];
  djModel* m = NULL;
  djParam p;
  snprintf(path, sizeof path, "%.800s/long_range/billiards/scene.xml", b->models ? b->models : "");
  bool good = b->models && dj_loadMJCF(&m, NULL, NULL, path, err) >= 0;
  for (int g = 0; g < (good ? m->ngeom : 0) && good; g++) {
    char name[100];
    const double none[3] = {0, 0.005, 0.0001};
    snprintf(name, sizeof name, "geom/%.60s/friction", dj_id2name(m, DJ_OBJ_GEOM, g));
    good = dj_paramId(&p, m, name, err) >= 0 && dj_setParam(m, &p, none, err) >= 0;
  }
  if (good) {
    djOption option = m->opt;
    option.contact = DJ_LONG_RANGE;
    option.integrator = DJ_POSITION;
    option.triangles = triangles;
    good = dj_setOption(m, &option, err) >= 0;
  }
  if (good) return m;
  dj_deleteModel(m);
  return NULL;
}

// Microseconds of a frame, forward and backward, of a run in which the red ball is shot at others;
// NaN: it could not be done.
static double time_frames(const djModel* m) {
  djData* d = NULL;
  djTape* tape = NULL;
  double best = NAN;
  double* qpos = tool_alloc((size_t)m->nq, sizeof *qpos);
  double* qvel = tool_alloc((size_t)m->nv, sizeof *qvel);
  double* grad = tool_alloc((size_t)m->nv, sizeof *grad);
  for (int i = 0; i < m->nq; i++) qpos[i] = m->qpos0[i] + (i % 7 == 2 ? 5e-4 : 0);
  qvel[0] = 2;
  qvel[1] = 0.3;
  djLossTerm loss = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = RED + 1, .weight = 1};
  djRollout run = {.horizon = FRAMES, .qpos0 = qpos, .qvel0 = qvel, .nloss = 1, .loss = &loss};
  djRolloutResult result = {.grad_qvel0 = grad};
  bool good = dj_makeData(&d, m, NULL) >= 0 && djd_makeTape(&tape, m, FRAMES, NULL) >= 0;
  for (int k = 0; k < RUNS && good; k++) {
    dj_resetData(m, d);
    const double t0 = bench_threadClock();
    good = djd_rolloutForward(&result, m, d, &run, tape) >= 0 &&
           djd_rolloutBackward(&result, m, d, &run, tape) >= 0;
    if (good) best = fmin(best, 1e6 * (bench_threadClock() - t0) / FRAMES);
  }
  djd_deleteTape(tape);
  dj_deleteData(d);
  free(qpos);
  free(qvel);
  free(grad);
  return best;
}

void bench_triangles(Bench* b) {
  double size[NCUT], time[NCUT];
  int n = 0;
  for (int k = 0; k < NCUT; k++) {
    char name[60];
    djError err = {"no models"};
    snprintf(name, sizeof name, "long_range_billiards/%d", NBALL * of_ball[k]);
    if (!bench_wants(b, name) || !bench_begin(b, name)) continue;
    djModel* m = open_billiards(b, of_ball[k], &err);
    if (!m) {
      bench_skip(b, name, "%.180s", err.text);
      continue;
    }
    size[n] = NBALL * of_ball[k];
    time[n] = time_frames(m);
    bench_add(b, name, time[n], "coarsest", time[0],
              "A frame of %d with its gradient, %g ms, 16 balls of %d triangles; time of the thread",
              FRAMES, 1e3 * m->opt.timestep, of_ball[k]);
    dj_deleteModel(m);
    n++;
  }
  if (n < NCUT) return;
  bench_fit(b, "long_range_billiards", bench_slope(size, time, NCUT), "linear", 1,
            "Cost exponent over triangles: slope of log(time)");
}

#endif
