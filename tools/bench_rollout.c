// dijoco bench, rollouts: 200 steps of gymnasium's humanoid under random controls and the adjoint
// of a loss, beside MuJoCo's steps of the same start and controls; and many rollouts in threads.
//
// forward: simulation and what the adjoint needs, recorded. adjoint: gradient by all controls;
// adjoint_params: by all design parameters (contract: names) too. gradient: forward and adjoint
// together. threads/K: wall time of a batch of rollouts in K threads beside the same in one.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "clock.h"
#include "engine.h"
#include "inputs.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HORIZON = 200, HOLD = 10, REPEATS = 15, BATCH = 8, MAX_THREADS = 4, NLOSS = 2 };

// What one thread needs for rollouts.
typedef struct Lane {
  djData* data;
  djTape* tape;
} Lane;

typedef struct Rollouts {
  Bench* b;
  mjModel* m;
  mjData* d;
  djModel* model;
  Lane lane[MAX_THREADS];
  djLossTerm loss[NLOSS];
  double* ctrl;            // (BATCH x HORIZON x nu)
  double *grad_ctrl, *grad_param;
  int nparam;
  djParam* param;
  Times steps, forward, adjoint, params, peer;
  long failed, unconverged;
} Rollouts;

// ---- design parameters

typedef struct Family {
  const char* prefix;
  djObject object;
  const char* fields[10];
} Family;

static const Family families[] = {
    {"body", DJ_OBJ_BODY, {"pos", "quat", "mass", "ipos", "iquat", "inertia", "gravcomp"}},
    {"joint", DJ_OBJ_JOINT, {"pos", "axis", "damping", "stiffness", "springref", "armature",
                             "frictionloss", "range"}},
    {"geom", DJ_OBJ_GEOM, {"pos", "quat", "size", "friction"}},
    {"mesh", DJ_OBJ_MESH, {"vert"}},
    {"site", DJ_OBJ_SITE, {"pos"}},
    {"actuator", DJ_OBJ_ACTUATOR, {"gainprm", "biasprm", "gear"}}};

static void add_param(Rollouts* r, const char* name) {
  djParam p;
  if (dj_paramId(&p, r->model, name, NULL) < 0) return;
  r->param = tool_grow(r->param, (size_t)r->nparam + 1, sizeof *r->param);
  r->param[r->nparam++] = p;
}

// Every parameter that the model has.
static void list_params(Rollouts* r) {
  const djModel* m = r->model;
  for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
    const Family* family = &families[f];
    const int count[DJ_NOBJ] = {[DJ_OBJ_BODY] = m->nbody, [DJ_OBJ_JOINT] = m->njnt,
                                [DJ_OBJ_GEOM] = m->ngeom, [DJ_OBJ_MESH] = m->nmesh,
                                [DJ_OBJ_SITE] = m->nsite, [DJ_OBJ_ACTUATOR] = m->nu};
    for (int id = 0; id < count[family->object]; id++) {
      for (int k = 0; k < 10 && family->fields[k]; k++) {
        char name[100];
        snprintf(name, sizeof name, "%s/#%d/%s", family->prefix, id, family->fields[k]);
        add_param(r, name);
      }
    }
  }
  add_param(r, "option/gravity");
  add_param(r, "contact/stiffness");
  add_param(r, "contact/support");
}

static int param_size(const Rollouts* r) {
  int n = 0;
  for (int k = 0; k < r->nparam; k++) n += r->param[k].ntangent;
  return n;
}

// ---- one rollout

static djRollout rollout_of(const Rollouts* r, int index) {
  return (djRollout){.horizon = HORIZON,
                     .ctrl = r->ctrl + (size_t)index * HORIZON * (size_t)r->model->nu,
                     .nloss = NLOSS,
                     .loss = r->loss};
}

static void set_ctrl(Rollouts* r) {
  size_t nu = (size_t)r->m->nu;
  r->ctrl = tool_alloc(BATCH * HORIZON * nu, sizeof *r->ctrl);
  for (size_t k = 0; k < BATCH * HORIZON; k++) {
    for (size_t i = 0; i < nu; i++) {
      bool limited = r->m->actuator_ctrllimited[i];
      double low = limited ? r->m->actuator_ctrlrange[2 * i] : -1;
      double high = limited ? r->m->actuator_ctrlrange[2 * i + 1] : 1;
      r->ctrl[k * nu + i] = low + (high - low) * djd_random(9, k / HOLD, i);
    }
  }
}

static void run_peer(Rollouts* r) {
  mj_resetData(r->m, r->d);
  size_t nu = (size_t)r->m->nu;
  for (size_t k = 0; k < HORIZON; k++) {
    mju_copy(r->d->ctrl, r->ctrl + k * nu, (int)nu);
    mj_step(r->m, r->d);
  }
}

static void count(Rollouts* r, djStatus status) {
  r->failed += status < 0;
  r->unconverged += status > 0;
}

// Each thing once, one after the other.
static void pass(Rollouts* r) {
  djRollout run = rollout_of(r, 0), plain = run;
  plain.loss_only = true;
  djData* d = r->lane[0].data;
  djTape* tape = r->lane[0].tape;
  djRolloutResult result = {.grad_ctrl = r->grad_ctrl};
  djRolloutResult design = {.grad_ctrl = r->grad_ctrl,
                            .nparam = r->nparam,
                            .param = r->param,
                            .grad_param = r->grad_param};
  double t0 = bench_threadClock();
  count(r, djd_rolloutForward(&result, r->model, d, &plain, tape));
  double t1 = bench_threadClock();
  run_peer(r);
  double t2 = bench_threadClock();
  count(r, djd_rolloutForward(&result, r->model, d, &run, tape));
  double t3 = bench_threadClock();
  count(r, djd_rolloutBackward(&result, r->model, d, &run, tape));
  double t4 = bench_threadClock();
  count(r, djd_rolloutBackward(&design, r->model, d, &run, tape));
  double t5 = bench_threadClock();
  times_add(&r->steps, t1 - t0);
  times_add(&r->peer, t2 - t1);
  times_add(&r->forward, t3 - t2);
  times_add(&r->adjoint, t4 - t3);
  times_add(&r->params, t5 - t4);
}

static void time_rollout(Rollouts* r) {
  pass(r);
  Times* all[] = {&r->steps, &r->forward, &r->adjoint, &r->params, &r->peer};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) all[k]->n = 0;
  r->failed = r->unconverged = 0;
  for (int k = 0; k < REPEATS; k++) pass(r);
  double steps = times_median(&r->steps), forward = times_median(&r->forward);
  double adjoint = times_median(&r->adjoint), params = times_median(&r->params);
  double peer = times_median(&r->peer);
  static const char rollout[] = "200 mj_step", own[] = "our own forward";
  Bench* b = r->b;
  bench_add(b, "rollout_steps/humanoid", steps, rollout, peer,
            "%d steps of %g ms from the model's start, random controls, nothing recorded; "
            "unconverged %ld, failed %ld. Times of rollouts are the thread's", HORIZON,
            1e3 * r->model->opt.timestep, r->unconverged, r->failed);
  bench_add(b, "rollout_forward/humanoid", forward, rollout, peer,
            "Simulation, linearised and recorded for the adjoint");
  bench_add(b, "rollout_adjoint/humanoid", adjoint, own, forward,
            "Gradient by all %d controls", HORIZON * r->model->nu);
  bench_add(b, "rollout_adjoint_params/humanoid", params, own, forward,
            "Gradient by all controls and %d numbers of %d design parameters", param_size(r),
            r->nparam);
  bench_add(b, "rollout_gradient/humanoid", forward + adjoint, rollout, peer,
            "Forward and adjoint by all controls");
  bench_add(b, "rollout_gradient_params/humanoid", forward + params, rollout, peer,
            "Forward and adjoint by all controls and design parameters");
}

// ---- threads

typedef struct Share {
  Rollouts* r;
  double* out;             // (BATCH x size)
  size_t size;
  djStatus status[BATCH];
} Share;

static void work(void* arg, int k, int lane) {
  Share* s = arg;
  const Lane* own = &s->r->lane[lane];
  double* out = s->out + (size_t)k * s->size;
  djRollout run = rollout_of(s->r, k);
  djRolloutResult result = {.grad_ctrl = out + 1};
  djStatus status = djd_rolloutForward(&result, s->r->model, own->data, &run, own->tape);
  if (status >= 0) {
    status = djd_rolloutBackward(&result, s->r->model, own->data, &run, own->tape);
  }
  s->status[k] = status;
  out[0] = result.loss;
}

// Wall time of the batch, or a negative number.
static double run_batch(Rollouts* r, djCrew* crew, double* out, size_t size) {
  Share share = {.r = r, .out = out, .size = size};
  double t0 = tool_clock();
  dj_crewDo(crew, BATCH, work, &share);
  double t1 = tool_clock();
  for (int k = 0; k < BATCH; k++) {
    if (share.status[k] < 0) return -1;
  }
  return t1 - t0;
}

static void time_threads(Rollouts* r) {
  size_t size = 1 + HORIZON * (size_t)r->model->nu;
  double* one = tool_alloc(BATCH * size, sizeof *one);
  double* many = tool_alloc(BATCH * size, sizeof *many);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  djCrew* single = dj_makeCrew(1);
  for (int n = 2; n <= MAX_THREADS; n += 2) {
    char name[60];
    snprintf(name, sizeof name, "threads/%d", n);
    if (!bench_wants(r->b, name)) continue;
    Times ours = {0}, peer = {0};
    djCrew* crew = dj_makeCrew(n);
    bool good = single && crew && dj_crewSize(crew) == n, same = true;
    good = good && run_batch(r, crew, many, size) >= 0;
    for (int k = 0; k < 5 && good; k++) {
      double alone = run_batch(r, single, one, size), together = run_batch(r, crew, many, size);
      good = alone >= 0 && together >= 0;
      same = same && memcmp(one, many, BATCH * size * sizeof *one) == 0;
      times_add(&ours, together);
      times_add(&peer, alone);
    }
    double t = times_median(&ours), t1 = times_median(&peer);
    if (!good) bench_skip(r->b, name, "a rollout or a thread failed");
    else bench_add(r->b, name, t, "1 thread", t1,
                   "%d rollouts with gradients by controls; speed-up %.2f on %ld cores; losses "
                   "and gradients %s", BATCH, t1 / t, cores,
                   same ? "the same bits" : "DIFFER");
    times_free(&ours);
    times_free(&peer);
    dj_deleteCrew(crew);
  }
  dj_deleteCrew(single);
  free(one);
  free(many);
}

// ---- items

static const char* const items[] = {
    "rollout_steps/humanoid", "rollout_forward/humanoid", "rollout_adjoint/humanoid",
    "rollout_adjoint_params/humanoid", "rollout_gradient/humanoid",
    "rollout_gradient_params/humanoid"};

static void run_rollouts(void* arg) {
  Rollouts* r = arg;
  bool any = false;
  for (size_t k = 0; k < sizeof items / sizeof items[0]; k++) {
    any = any || bench_wants(r->b, items[k]);
  }
  if (any) time_rollout(r);
  time_threads(r);
}

static bool open_rollouts(Rollouts* r, djError* err) {
  char path[1000];
  snprintf(path, sizeof path, "%.900s/humanoid.xml", r->b->robots);
  if (dj_loadMJCF(&r->model, NULL, &r->m, path, err) < 0) return false;
  r->m->opt.integrator = mjINT_EULER;
  djOption option = r->model->opt;
  option.timestep = r->m->opt.timestep = 2e-3;
  if (dj_setOption(r->model, &option, err) < 0) return false;
  r->d = mj_makeData(r->m);
  for (int k = 0; k < MAX_THREADS; k++) {
    if (dj_makeData(&r->lane[k].data, r->model, err) < 0) return false;
    if (djd_makeTape(&r->lane[k].tape, r->model, HORIZON, err) < 0) return false;
  }
  list_params(r);
  set_ctrl(r);
  r->grad_ctrl = tool_alloc(HORIZON * (size_t)r->model->nu, sizeof(double));
  r->grad_param = tool_alloc((size_t)param_size(r), sizeof(double));
  r->loss[0] = (djLossTerm){.type = DJ_LOSS_COM, .object = DJ_OBJ_BODY, .id = -1, .weight = 1,
                            .target = {1, 0, 1}};
  r->loss[1] = (djLossTerm){.type = DJ_LOSS_EFFORT, .weight = 1e-2, .when = DJ_WHEN_RUNNING};
  return true;
}

static void close_rollouts(Rollouts* r) {
  Times* all[] = {&r->steps, &r->forward, &r->adjoint, &r->params, &r->peer};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) times_free(all[k]);
  for (int k = 0; k < MAX_THREADS; k++) {
    djd_deleteTape(r->lane[k].tape);
    dj_deleteData(r->lane[k].data);
  }
  free(r->ctrl);
  free(r->grad_ctrl);
  free(r->grad_param);
  free(r->param);
  if (r->d) mj_deleteData(r->d);
  if (r->m) mj_deleteModel(r->m);
  dj_deleteModel(r->model);
}

void bench_rollouts(Bench* b) {
  bool any = bench_wants(b, "threads/2") || bench_wants(b, "threads/4");
  for (size_t k = 0; k < sizeof items / sizeof items[0]; k++) any = any || bench_wants(b, items[k]);
  if (!any) return;
  if (!b->robots) {
    bench_skip(b, "rollouts", "no folder of gymnasium's models (--models DIR, DIJOCO_GYMNASIUM)");
    return;
  }
  if (!bench_begin(b, "rollouts")) return;
  Rollouts r = {.b = b};
  djError err = {""};
  if (!open_rollouts(&r, &err) || djm_guard(run_rollouts, &r, &err) < 0) {
    bench_skip(b, "rollouts", "%.150s", err.text);
  }
  close_rollouts(&r);
}

#endif
