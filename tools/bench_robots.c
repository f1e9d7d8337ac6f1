// dijoco bench, robots: steps and derivatives at the states of a stock MuJoCo run.
//
// MuJoCo (Euler, 2 ms) runs for 5 s with random controls held for 10 steps; 1,000 of the 2,500
// states, evenly spread, are timed. Both engines then go through all states in order, each state
// set in turn, so that both start warm from the previous state, as in a run; they are timed
// alternately. `cold`: warm starts are forgotten before each step (ours by dj_resetData, MuJoCo's
// by clearing qacc_warmstart). `run`: each engine on its own run from the model's start, with the
// same controls. `mujoco_transition`: mj_step, and A and B of it by formula, and mjd_transitionFD.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "clock.h"
#include "engine.h"
#include "inputs.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2500, TIMED = 1000, HOLD = 10, REPEATS = 3, MAX_ROBOTS = 4 };

static const char* const robots[MAX_ROBOTS] = {"humanoid", "hopper", "ant", "half_cheetah"};

typedef struct Robot {
  const char* name;
  mjModel* m;
  mjData* d;
  djModel* model;
  djData* data;
  int size;                // of one stored state: qpos, qvel, act, ctrl
  double* state;           // (STEPS x size)
  double *A, *B, *peer_A, *peer_B;
  // results
  djmTransitionWork* work; // of MuJoCo's own step
  Times step, peer_step, transition, both, peer_fd, exact;
  Times iterations;        // of Newton, as "seconds" of 1e-6
  long failed, unconverged, recovering;
} Robot;

static void store(const Robot* r, int k) {
  const mjModel* m = r->m;
  double* s = r->state + (size_t)k * (size_t)r->size;
  mju_copy(s, r->d->qpos, (int)m->nq);
  mju_copy(s += m->nq, r->d->qvel, (int)m->nv);
  mju_copy(s += m->nv, r->d->act, (int)m->na);
  mju_copy(s + m->na, r->d->ctrl, (int)m->nu);
}

static void set_ours(const Robot* r, int k) {
  const djModel* m = r->model;
  const double* s = r->state + (size_t)k * (size_t)r->size;
  memcpy(r->data->qpos, s, (size_t)m->nq * sizeof *s);
  memcpy(r->data->qvel, s += m->nq, (size_t)m->nv * sizeof *s);
  if (m->na) memcpy(r->data->act, s + m->nv, (size_t)m->na * sizeof *s);
  if (m->nu) memcpy(r->data->ctrl, s + m->nv + m->na, (size_t)m->nu * sizeof *s);
}

static void set_peer(const Robot* r, int k) {
  const mjModel* m = r->m;
  const double* s = r->state + (size_t)k * (size_t)r->size;
  mju_copy(r->d->qpos, s, (int)m->nq);
  mju_copy(r->d->qvel, s += m->nq, (int)m->nv);
  mju_copy(r->d->act, s += m->nv, (int)m->na);
  mju_copy(r->d->ctrl, s + m->na, (int)m->nu);
}

static bool timed(int k) { return (long)k * TIMED / STEPS != (long)(k - 1) * TIMED / STEPS || !k; }

// Random controls of step k.
static void set_ctrl(double* ctrl, const mjModel* m, int k) {
  for (int i = 0; i < m->nu; i++) {
    bool limited = m->actuator_ctrllimited[i];
    double low = limited ? m->actuator_ctrlrange[2 * i] : -1;
    double high = limited ? m->actuator_ctrlrange[2 * i + 1] : 1;
    double part = djd_random(1, (unsigned long)(k / HOLD), (unsigned long)i);
    ctrl[i] = low + (high - low) * part;
  }
}

// The run whose states are timed.
static void record(Robot* r) {
  mj_resetData(r->m, r->d);
  for (int k = 0; k < STEPS; k++) {
    set_ctrl(r->d->ctrl, r->m, k);
    store(r, k);
    mj_step(r->m, r->d);
  }
}

static void pass_steps(Robot* r, bool cold, bool count) {
  mj_resetData(r->m, r->d);
  dj_resetData(r->model, r->data);
  long recovering = 0;
  for (int k = 0; k < STEPS; k++) {
    if (cold && !timed(k)) continue;
    if (cold) dj_resetData(r->model, r->data);
    if (cold) mju_zero(r->d->qacc_warmstart, (int)r->m->nv);
    set_ours(r, k);
    set_peer(r, k);
    double t0 = tool_clock();
    djStatus status = dj_step(r->model, r->data);
    double t1 = tool_clock();
    mj_step(r->m, r->d);
    double t2 = tool_clock();
    bool recovers = cold ? r->data->stats.recovering_steps > 0
                         : r->data->stats.recovering_steps > recovering;
    recovering = r->data->stats.recovering_steps;
    if (!timed(k)) continue;
    times_add(&r->step, t1 - t0);
    times_add(&r->peer_step, t2 - t1);
    if (!count) continue;
    times_add(&r->iterations, 1e-6 * r->data->stats.iterations);
    r->failed += status < 0;
    r->unconverged += status > 0;
    r->recovering += recovers;
  }
}

static void pass_run(Robot* r) {
  mj_resetData(r->m, r->d);
  dj_resetData(r->model, r->data);
  for (int k = 0; k < STEPS; k++) {
    set_ctrl(r->d->ctrl, r->m, k);
    set_ctrl(r->data->ctrl, r->m, k);
    long recovering = r->data->stats.recovering_steps;
    double t0 = tool_clock();
    djStatus status = dj_step(r->model, r->data);
    double t1 = tool_clock();
    mj_step(r->m, r->d);
    double t2 = tool_clock();
    times_add(&r->step, t1 - t0);
    times_add(&r->peer_step, t2 - t1);
    times_add(&r->iterations, 1e-6 * r->data->stats.iterations);
    r->failed += status < 0;
    r->unconverged += status > 0;
    r->recovering += r->data->stats.recovering_steps > recovering;
  }
}

static void pass_derivatives(Robot* r) {
  mj_resetData(r->m, r->d);
  dj_resetData(r->model, r->data);
  for (int k = 0; k < STEPS; k++) {
    set_ours(r, k);
    set_peer(r, k);
    double t0 = tool_clock();
    djStatus status = dj_step(r->model, r->data);
    double t1 = tool_clock();
    if (timed(k)) {
      djStatus linear = status < 0 ? status : djd_lastTransition(r->model, r->data, r->A, r->B);
      double t2 = tool_clock();
      mjd_transitionFD(r->m, r->d, 1e-6, 0, r->peer_A, r->peer_B, NULL, NULL);
      double t3 = tool_clock();
      if (linear == DJ_OK) {
        times_add(&r->transition, t2 - t1);
        times_add(&r->both, t2 - t0);
      }
      times_add(&r->peer_fd, t3 - t2);
    }
    mj_step(r->m, r->d);   // MuJoCo's warm start
  }
}

// A and B of MuJoCo's own step, by formula and by mjd_transitionFD, and the step.
static void pass_mujoco(Robot* r) {
  djError err;
  mj_resetData(r->m, r->d);
  for (int k = 0; k < STEPS; k++) {
    set_peer(r, k);
    if (timed(k)) {
      double t0 = tool_clock();
      djStatus status = djm_transitionMuJoCoWith(r->m, r->d, r->work, r->A, r->B, NULL, NULL, &err);
      double t1 = tool_clock();
      mjd_transitionFD(r->m, r->d, 1e-6, 0, r->peer_A, r->peer_B, NULL, NULL);
      double t2 = tool_clock();
      r->failed += status < 0;
      times_add(&r->exact, t1 - t0);
      times_add(&r->peer_fd, t2 - t1);
    }
    double t3 = tool_clock();
    mj_step(r->m, r->d);
    if (timed(k)) times_add(&r->peer_step, tool_clock() - t3);
  }
}

static const char* solver(const mjModel* m) {
  return m->opt.solver == mjSOL_PGS ? "PGS" : m->opt.solver == mjSOL_CG ? "CG" : "Newton";
}

static void forget(Robot* r) {
  Times* all[] = {&r->step, &r->peer_step, &r->iterations};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) all[i]->n = 0;
  r->failed = r->unconverged = r->recovering = 0;
}

// Geometric means: sums of logarithms of ours and the peer.
typedef struct Mean {
  const char* name;
  double ours, peer;
  int n;
} Mean;

static void add_item(Bench* b, Mean* mean, const Robot* r, const char* what, double ours,
                     const char* peer_name, double peer, const char* note) {
  char name[60];
  snprintf(name, sizeof name, "%s/%s", what, r->name);
  bench_add(b, name, ours, peer_name, peer, "%s", note);
  mean->name = what;
  mean->ours += log(ours);
  mean->peer += log(peer);
  mean->n++;
}

static void step_note(char* text, size_t size, Robot* r, const char* start) {
  Times* t = &r->iterations;
  int room = t->n ? t->n : 1;
  snprintf(text, size, "%s. Newton: median %.0f, mean %.2f, 99%% %.0f; unconverged %ld, failed "
           "%ld, recovering %.0f%% of %d states. Means %.1f and %.1f us. MuJoCo: Euler, %s, 2 ms",
           start, times_median(t), times_mean(t), times_part(t, 0.99), r->unconverged, r->failed,
           100.0 * (double)r->recovering / room, t->n, times_mean(&r->step),
           times_mean(&r->peer_step), solver(r->m));
}

static bool wants(const Bench* b, const char* what, const char* robot) {
  char name[60], mean[60];
  snprintf(name, sizeof name, "%s/%s", what, robot);
  snprintf(mean, sizeof mean, "%s/geomean", what);
  return bench_wants(b, name) || bench_wants(b, mean);
}

typedef struct Job {
  Bench* b;
  Robot* r;
  Mean* mean;
} Job;

static void run_mujoco(Job* job) {
  Robot* r = job->r;
  char note[400];
  forget(r);
  r->peer_fd.n = 0;
  for (int k = 0; k < REPEATS; k++) pass_mujoco(r);
  double step = times_median(&r->peer_step), exact = times_median(&r->exact);
  snprintf(note, sizeof note, "An mj_step of %.1f us, and A and B of it by formula, %.1f us, which "
           "take a step of their own; %ld of %d states refused. MuJoCo: Euler, %s, 2 ms",
           step, exact, r->failed, REPEATS * TIMED, solver(r->m));
  add_item(job->b, &job->mean[5], r, "mujoco_transition", step + exact,
           "mjd_transitionFD, forward, 1e-6", times_median(&r->peer_fd), note);
  r->peer_fd.n = 0;
}

static void run_robot(void* arg) {
  Job* job = arg;
  Bench* b = job->b;
  Robot* r = job->r;
  char note[400];
  record(r);
  pass_steps(r, false, false);   // warm-up
  for (int cold = 0; cold < 2; cold++) {
    const char* what = cold ? "step_cold" : "step";
    if (!wants(b, what, r->name)) continue;
    forget(r);
    for (int k = 0; k < REPEATS; k++) pass_steps(r, cold, k == 0);
    step_note(note, sizeof note, r, cold ? "Cold starts of both" : "Consecutive states, both warm");
    add_item(b, &job->mean[cold], r, what, times_median(&r->step), "mj_step",
             times_median(&r->peer_step), note);
  }
  if (wants(b, "run", r->name)) {
    forget(r);
    pass_run(r);
    step_note(note, sizeof note, r, "Each engine's own run");
    add_item(b, &job->mean[4], r, "run", times_median(&r->step), "mj_step",
             times_median(&r->peer_step), note);
  }
  if (wants(b, "mujoco_transition", r->name)) run_mujoco(job);
  if (!wants(b, "transition", r->name) && !wants(b, "step+transition", r->name)) return;
  pass_derivatives(r);
  double fd = times_median(&r->peer_fd);
  snprintf(note, sizeof note, "A and B of the step just taken, %d states; nv %d, nu %d",
           r->transition.n, r->model->nv, r->model->nu);
  add_item(b, &job->mean[2], r, "transition", times_median(&r->transition),
           "mjd_transitionFD, forward, 1e-6", fd, note);
  add_item(b, &job->mean[3], r, "step+transition", times_median(&r->both),
           "mjd_transitionFD, forward, 1e-6", fd, "dj_step and djd_lastTransition together");
}

static void close_robot(Robot* r) {
  Times* all[] = {&r->step, &r->peer_step, &r->iterations, &r->transition, &r->both, &r->peer_fd,
                  &r->exact};
  djm_deleteTransitionWork(r->work);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) times_free(all[i]);
  if (r->data) dj_deleteData(r->data);
  if (r->model) dj_deleteModel(r->model);
  if (r->d) mj_deleteData(r->d);
  if (r->m) mj_deleteModel(r->m);
  free(r->state);
  free(r->A);
  free(r->B);
  free(r->peer_A);
  free(r->peer_B);
}

static bool open_robot(Bench* b, Robot* r, const char* name) {
  char path[1000];
  djError err = {""};
  *r = (Robot){.name = name};
  snprintf(path, sizeof path, "%.900s/%s.xml", b->robots, name);
  if (dj_loadMJCF(&r->model, NULL, &r->m, path, &err) < 0) {
    bench_skip(b, name, "%.150s", err.text);
    return false;
  }
  r->m->opt.integrator = mjINT_EULER;
  djOption option = r->model->opt;
  option.timestep = r->m->opt.timestep = 2e-3;
  if (dj_setOption(r->model, &option, &err) < 0 || dj_makeData(&r->data, r->model, &err) < 0) {
    bench_skip(b, name, "%.150s", err.text);
    return false;
  }
  r->d = mj_makeData(r->m);
  if (djm_makeTransitionWork(&r->work, r->m, &err) < 0) {
    bench_skip(b, name, "%.150s", err.text);
    return false;
  }
  size_t nx = 2 * (size_t)r->model->nv + (size_t)r->model->na, nu = (size_t)r->model->nu;
  r->size = r->model->nq + r->model->nv + r->model->na + r->model->nu;
  r->state = tool_alloc((size_t)STEPS * (size_t)r->size, sizeof(double));
  r->A = tool_alloc(nx * nx, sizeof(double));
  r->B = tool_alloc(nx * nu, sizeof(double));
  r->peer_A = tool_alloc(nx * nx, sizeof(double));
  r->peer_B = tool_alloc(nx * nu, sizeof(double));
  return true;
}

void bench_robots(Bench* b) {
  static const char* const items[] = {"step", "step_cold", "transition", "step+transition", "run",
                                      "mujoco_transition"};
  enum { ITEMS = sizeof items / sizeof items[0] };
  Mean mean[ITEMS] = {{0}};
  for (int k = 0; k < MAX_ROBOTS; k++) {
    bool any = false;
    for (int i = 0; i < ITEMS; i++) any = any || wants(b, items[i], robots[k]);
    if (!any) continue;
    if (!b->robots) {
      bench_skip(b, "robots", "no folder of gymnasium's models (--models DIR, DIJOCO_GYMNASIUM)");
      return;
    }
    if (!bench_begin(b, robots[k])) continue;
    Robot r;
    djError err = {""};
    Job job = {b, &r, mean};
    if (open_robot(b, &r, robots[k]) && djm_guard(run_robot, &job, &err) < 0) {
      bench_skip(b, robots[k], "%.150s", err.text);
    }
    close_robot(&r);
  }
  for (int i = 0; i < ITEMS; i++) {
    bool linear = i == 2 || i == 3 || i == 5;
    char name[60];
    if (mean[i].n == 0) continue;
    snprintf(name, sizeof name, "%s/geomean", items[i]);
    bench_add(b, name, exp(mean[i].ours / mean[i].n), linear ? "mjd_transitionFD" : "mj_step",
              exp(mean[i].peer / mean[i].n), "Geometric mean of %d robots' medians", mean[i].n);
  }
}

#endif
