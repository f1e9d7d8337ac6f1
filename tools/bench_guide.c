// dijoco bench, guides: what the tail costs beside plain contact.
//
// `guide_pair/box_warm` is a pair of boxes near contact; `guide_push` a step of models/long_range/push
// under random controls; `guide_crowd/N` a step of N free boxes in which everything acts on everything,
// `guide_crowd_forward/N` the same recorded. The peer is always the same without a guide.

#include "bench.h"

#ifdef DJ_HAVE_MUJOCO

#include "clock.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POSES = 400, REPEATS = 30, PUSH_STEPS = 400, NCROWD = 3, SETTLE = 3, TIMED = 20, HORIZON = 4 };

static const int crowd_size[NCROWD] = {16, 32, 64};

// ---- one pair

static const double half_size[3] = {0.1, 0.15, 0.2};

// b above a, turned a little about an axis that changes with the pose, near contact.
static void set_pose(double pos[3], double quat[4], int i, double shift) {
  double axis = 2.399963 * i, angle = 1e-3 * (i % 17);
  quat[0] = cos(0.5 * angle);
  quat[1] = sin(0.5 * angle) * cos(axis);
  quat[2] = sin(0.5 * angle) * sin(axis);
  quat[3] = 0;
  pos[0] = 0.02 * sin(axis);
  pos[1] = 0.02 * cos(axis);
  pos[2] = 2 * half_size[2] + 0.004 + 1e-4 * (i % 13) + shift;
}

static void pass(Times* t, djcPair* pair) {
  static const double zero[3], unit[4] = {1, 0, 0, 0};
  double pos[3], quat[4], value, gradient[12], hessian[144], spent = 0;
  for (int i = 0; i < POSES; i++) {
    set_pose(pos, quat, i, 2e-4);
    djc_evalPair(&value, gradient, hessian, pair, zero, unit, pos, quat);
    set_pose(pos, quat, i, 0);
    double t0 = tool_clock();
    djc_evalPair(&value, gradient, hessian, pair, zero, unit, pos, quat);
    spent += tool_clock() - t0;
  }
  times_add(t, spent / POSES);
}

static void bench_boxes(Bench* b) {
  const char* name = "guide_pair/box_warm";
  if (!bench_wants(b, name) || !bench_begin(b, name)) return;
  djcShape shape = {.geom = DJ_BOX, .quat = {1, 0, 0, 0}};
  for (int k = 0; k < 3; k++) shape.size[k] = half_size[k];
  const djcSetting guide = {"guide", 1e-4};
  djcPair* pair[2] = {NULL, NULL};
  djError err = {""};
  bool good = true;
  for (int k = 0; k < 2; k++) {
    djcOption option = djc_defaultOption();
    option.support = 0.01;
    option.nsetting = k;
    option.setting = &guide;
    good = good && djc_makePair(&pair[k], &shape, &shape, &option, &err) >= 0;
  }
  Times times[2] = {{0}, {0}};
  for (int i = 0; i <= REPEATS && good; i++) {
    if (i == 1) times[0].n = times[1].n = 0;   // warm-up
    for (int k = 0; k < 2; k++) pass(&times[k], pair[k]);
  }
  if (good) {
    bench_add(b, name, times_median(&times[1]), "plain contact", times_median(&times[0]),
              "Value, gradient, 12x12 Hessian of two boxes near contact from a plane 0.2 mm away; %d "
              "poses", POSES);
  } else {
    bench_skip(b, name, "%.200s", err.text);
  }
  for (int k = 0; k < 2; k++) {
    djc_deletePair(pair[k]);
    times_free(&times[k]);
  }
}

// ---- runs, with a guide and without

typedef struct Twin {
  djModel* model[2];       // plain, guided
  djData* data[2];
  Times times[2];
} Twin;

// The second model with a guide between all bodies, or those of the text.
static bool open_twin(Twin* t, djModel* model, const char* bodies, double guide, djError* err) {
  t->model[0] = model;
  if (dj_copyModel(&t->model[1], model, err) < 0) return false;
  djOption option = model->opt;
  if (guide < 0) option.guide_factor = 1;
  else option.guide = guide;
  if (dj_setOption(t->model[1], &option, err) < 0) return false;
  if (dj_setGuideText(t->model[1], bodies, err) < 0) return false;
  for (int k = 0; k < 2; k++) {
    if (dj_makeData(&t->data[k], t->model[k], err) < 0) return false;
  }
  return true;
}

static void close_twin(Twin* t) {
  for (int k = 0; k < 2; k++) {
    dj_deleteData(t->data[k]);
    dj_deleteModel(t->model[k]);
    times_free(&t->times[k]);
  }
}

static void step_twin(Twin* t, int nstep, int settle, bool control) {
  for (int i = 0; i < nstep; i++) {
    for (int k = 0; k < 2; k++) {
      djData* d = t->data[k];
      for (int a = 0; a < t->model[k]->nu && control; a++) {
        d->ctrl[a] = 0.4 * djd_random(1, (unsigned long)(i / 20), (unsigned long)a) - 0.2;
      }
      double t0 = bench_threadClock();
      dj_step(t->model[k], d);
      if (i >= settle) times_add(&t->times[k], bench_threadClock() - t0);
    }
  }
}

static void bench_push(Bench* b) {
  const char* name = "guide_push";
  char path[900];
  Twin t = {.model = {NULL}};
  djModel* model = NULL;
  djError err = {"no models"};
  if (!bench_wants(b, name) || !bench_begin(b, name)) return;
  snprintf(path, sizeof path, "%.800s/long_range/push/scene.xml", b->models ? b->models : "");
  bool good = b->models && dj_loadMJCF(&model, NULL, NULL, path, &err) >= 0 &&
              open_twin(&t, model, "rod box", 1e-3, &err);
  if (good) {
    step_twin(&t, PUSH_STEPS, 10, true);
    bench_add(b, name, times_median(&t.times[1]), "plain contact", times_median(&t.times[0]),
              "A step of a rod and a box on a floor, random controls, %g ms; time of the thread",
              1e3 * model->opt.timestep);
  } else {
    bench_skip(b, name, "%.180s", err.text);
  }
  close_twin(&t);
}

// ---- crowds

static djModel* make_crowd(int n, djError* err) {
  djModelDef def = dj_defaultModelDef();
  djBodyDef* body = tool_alloc((size_t)n + 1, sizeof *body);
  djJointDef* joint = tool_alloc((size_t)n, sizeof *joint);
  djGeomDef* geom = tool_alloc((size_t)n, sizeof *geom);
  int side = (int)ceil(cbrt(n));
  body[0] = dj_defaultBodyDef();
  for (int i = 0; i < n; i++) {
    body[i + 1] = dj_defaultBodyDef();
    body[i + 1].pos[0] = 0.4 * (i % side);
    body[i + 1].pos[1] = 0.4 * (i / side % side) + 0.01 * (i % 7);
    body[i + 1].pos[2] = 0.4 * (i / side / side) + 0.01 * (i % 5);
    body[i + 1].mass = 1;
    for (int k = 0; k < 3; k++) body[i + 1].inertia[k] = 0.0067;
    joint[i] = dj_defaultJointDef();
    joint[i].type = DJ_FREE;
    joint[i].body = i + 1;
    geom[i] = dj_defaultGeomDef();
    geom[i].type = DJ_BOX;
    geom[i].body = i + 1;
    for (int k = 0; k < 3; k++) geom[i].size[k] = 0.1;
  }
  def.option.gravity[2] = 0;
  def.option.timestep = 0.005;
  def.nbody = n + 1;
  def.njnt = def.ngeom = n;
  def.body = body;
  def.joint = joint;
  def.geom = geom;
  djModel* m = NULL;
  dj_makeModel(&m, &def, err);
  free(body);
  free(joint);
  free(geom);
  return m;
}

// Microseconds of a step that is recorded; NaN: it could not be done. *mib: of the tape.
static double record(double* mib, const djModel* m, djData* d) {
  djTape* tape = NULL;
  *mib = NAN;
  if (djd_makeTape(&tape, m, HORIZON, NULL) < 0) return NAN;
  dj_resetData(m, d);
  double* qvel = tool_alloc((size_t)m->nv, sizeof *qvel);
  djLossTerm loss = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 1, .weight = 1};
  djRollout run = {.horizon = HORIZON, .qpos0 = m->qpos0, .qvel0 = qvel, .nloss = 1, .loss = &loss};
  djRolloutResult result = {0};
  double best = NAN;
  for (int k = 0; k < 3; k++) {
    double t0 = bench_threadClock();
    bool good = djd_rolloutForward(&result, m, d, &run, tape) >= 0;
    if (good) best = fmin(best, 1e6 * (bench_threadClock() - t0) / HORIZON);
  }
  *mib = (double)djd_tapeBytes(tape) / (1 << 20);
  djd_deleteTape(tape);
  free(qvel);
  return best;
}

typedef struct Crowds {
  int n;
  double size[NCROWD], step[NCROWD], forward[NCROWD], plain[NCROWD];
} Crowds;

static void time_crowd(Bench* b, int n, Crowds* all) {
  char name[60];
  djError err = {""};
  Twin t = {.model = {NULL}};
  snprintf(name, sizeof name, "guide_crowd/%d", n);
  if (!bench_wants(b, name) || !bench_begin(b, name)) return;
  djModel* model = make_crowd(n, &err);
  if (!model || !open_twin(&t, model, "", -1, &err)) {
    bench_skip(b, name, "%.180s", err.text);
    close_twin(&t);
    return;
  }
  step_twin(&t, SETTLE + TIMED, SETTLE, false);
  double mib, plain_mib, forward = record(&mib, t.model[1], t.data[1]);
  double plain = record(&plain_mib, t.model[0], t.data[0]);
  int at = all->n++;
  all->size[at] = n;
  all->step[at] = times_median(&t.times[1]);
  all->plain[at] = times_median(&t.times[0]);
  all->forward[at] = forward;
  bench_add(b, name, all->step[at], "plain contact", all->plain[at],
            "A step of free boxes of which each acts on each; %d pairs", n * (n - 1) / 2);
  snprintf(name, sizeof name, "guide_crowd_forward/%d", n);
  bench_add(b, name, forward, "plain contact", plain,
            "A step of %d, linearised and recorded. Tape %.1f MiB, plain %.1f MiB", HORIZON, mib,
            plain_mib);
  close_twin(&t);
}

void bench_guide(Bench* b) {
  Crowds all = {.n = 0};
  bench_boxes(b);
  bench_push(b);
  for (int k = 0; k < NCROWD; k++) time_crowd(b, crowd_size[k], &all);
  if (all.n < NCROWD) return;
  double plain = bench_slope(all.size, all.plain, NCROWD);
  bench_fit(b, "guide_crowd", bench_slope(all.size, all.step, NCROWD), "plain contact", plain,
            "Cost exponent over 16, 32 and 64 boxes: slope of log(median time)");
  bench_fit(b, "guide_crowd_forward", bench_slope(all.size, all.forward, NCROWD), "plain contact",
            plain, "The same of steps that are recorded");
}

#endif
