// Gymnasium's robots.
//   - Each of its 14 MJCF models runs 5 s under random controls.
//   - Without controls no run gains energy.
//   - States that overlap by centimetres, taken from stock MuJoCo's own runs, can be stepped and
//     come apart at a bounded speed.

#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const names[] = {"humanoid", "hopper", "walker2d", "ant", "half_cheetah",
                                    "swimmer", "reacher", "inverted_pendulum",
                                    "inverted_double_pendulum", "humanoidstandup", "walker2d_v5",
                                    "point", "pusher", "pusher_v5"};
enum {
  NMODEL = sizeof names / sizeof names[0],
  HOLD = 10           // steps for which controls are held
};
// Limits that the start violates are released within this time; ours throw, see the notes.
static const double early = 0.1;

static double largest(const double* x, int n) {
  double size = 0;
  for (int i = 0; i < n; i++) {
    if (isnan(x[i])) return NAN;
    size = djv_worst(size, fabs(x[i]));
  }
  return size;
}

static djIntegrator integrator;   // of our models

// Our model, or NULL with the line that refuses it.
static djModel* open(const mjModel* m, char line[600]) {
  djModel* model;
  djReport* report;
  djError err;
  if (dj_importMuJoCo(&model, &report, m, &err) != DJ_OK) {
    snprintf(line, 600, "%s", err.text);
    return NULL;
  }
  for (int i = 0; i < report->n; i++) {
    const djReportEntry* e = &report->entry[i];
    if (e->state != DJ_IGNORED) continue;
    snprintf(line, 600, "%s: %s: %s", e->element, e->feature, e->note);
    dj_deleteReport(report);
    dj_deleteModel(model);
    return NULL;
  }
  dj_deleteReport(report);
  model->opt.integrator = integrator;
  return model;
}

// ---- runs under random control ----------------------------------------------------------------

// Largest speed and energy of stock MuJoCo under the same controls, and whether it ever warned.
typedef struct Peer {
  double speed, energy;    // energy: kinetic, after `early`
  bool unstable;
} Peer;

static Peer runPeer(mjModel* m, long steps) {
  Peer peer = {0};
  djvRandom random = djv_random(7);
  mjData* d = mj_makeData(m);
  m->opt.enableflags |= mjENBL_ENERGY;
  for (long k = 0; k < steps; k++) {
    if (k % HOLD == 0) robot_randomCtrl(d->ctrl, m, &random, 1);
    mj_step(m, d);
    if (d->time < early) continue;
    peer.speed = djv_worst(peer.speed, largest(d->qvel, (int)m->nv));
    peer.energy = djv_worst(peer.energy, d->energy[1]);
  }
  for (int k = 0; k < mjNWARNING; k++) {
    if (k == mjWARN_BADQACC || k == mjWARN_BADQPOS || k == mjWARN_BADQVEL) {
      peer.unstable = peer.unstable || d->warning[k].number > 0;
    }
  }
  mj_deleteData(d);
  return peer;
}

static void runControlled(djvReport* r, const char* name, mjModel* m, const djModel* model) {
  djData* data = robot_makeData(model);
  djvRandom random = djv_random(7);
  long steps = lround(5 / model->opt.timestep), k = 0;
  double speed = 0, energy = 0, first = 0, start = -robot_clock();
  djStatus status = DJ_OK;
  for (; k < steps && status >= 0; k++) {
    if (k % HOLD == 0) robot_randomCtrl(data->ctrl, m, &random, 1);
    status = dj_step(model, data);
    double now = largest(data->qvel, model->nv);
    if (isnan(now)) speed = now;
    if (data->time < early) {
      first = djv_worst(first, now);
      continue;
    }
    speed = djv_worst(speed, now);
    if (k % HOLD == 0) {
      dj_forward(model, data);
      energy = djv_worst(energy, data->energy[1]);
    }
  }
  start += robot_clock();
  if (status < 0) djv_note("%s: step %ld: %s", name, k, dj_errorText(data));
  Peer peer = runPeer(m, steps);
  const djStats* s = &data->stats;
  djv_note("%s: h %g, s %.3g, K %.3g; Newton %.2f a step, recovering %ld, gap >= %.3g, overlap <= "
           "%.3g, %.3g us a step", name, model->opt.timestep, model->contact.support,
           model->contact.stiffness, (double)s->newton_iterations / (double)steps,
           s->recovering_steps, s->smallest_gap, s->deepest_overlap, 1e6 * start / (double)steps);
  djv_note("%s: |qvel| <= %.3g (%.3g in the first %g s), MuJoCo %.3g; kinetic energy <= %.3g, "
           "MuJoCo %.3g J%s", name, speed, first, early, peer.speed, energy, peer.energy,
           peer.unstable ? " (it was unstable)" : "");
  robot_countOf(r, steps - s->steps, 0, steps, "%s: steps that failed", name);
  djv_figure(r, "unconverged steps", (double)s->unconverged_steps, "");
  robot_countOf(r, s->unconverged_steps, 1, steps, "%s: unconverged steps", name);
  robot_below(r, speed / peer.speed, 3, "", "%s: largest |qvel| beside MuJoCo's", name);
  // Below the weight at 1 cm energies are those of slow drifts, which friction may stop or not.
  double floor = 0.01 * model->total_mass * model->contact.gravity;
  robot_below(r, energy / fmax(peer.energy, floor), 3, "", "%s: kinetic energy beside MuJoCo's",
              name);
  dj_deleteData(data);
}

// Without controls energy only falls, but for what limits and overlaps give back at the start. The
// second half of the run must not rise above the first.
static void runPassive(djvReport* r, const char* name, const djModel* model) {
  djData* data = robot_makeData(model);
  long steps = lround(2 / model->opt.timestep);
  double highest[2] = {-INFINITY, -INFINITY};
  djStatus status = DJ_OK;
  for (long k = 0; k < steps && status >= 0; k++) {
    status = dj_step(model, data);
    dj_forward(model, data);
    double energy = data->energy[0] + data->energy[1];
    highest[k >= steps / 2] = djv_worst(highest[k >= steps / 2], energy);
  }
  double unit = fmax(model->total_mass * model->contact.gravity, 1e-9);   // J per metre
  robot_below(r, (highest[1] - highest[0]) / unit, 1e-4, "m",
              "%s: energy gained without controls, /weight", name);
  dj_deleteData(data);
}

// Returns whether it runs.
static bool testModel(djvReport* r, const char* name) {
  char line[600];
  mjModel* m = robot_load(name);
  djModel* model = open(m, line);
  if (model) {
    runControlled(r, name, m, model);
    runPassive(r, name, model);
    dj_deleteModel(model);
  } else {
    djv_note("%s: refused: %s", name, line);
  }
  mj_deleteModel(m);
  return model != NULL;
}

// ---- overlapping states -----------------------------------------------------------------------

typedef struct States {
  int n, room, nq, nv;
  double *qpos, *qvel;      // (n x nq), (n x nv)
  double deepest;
} States;

static double depth(const mjData* d) {
  double deepest = 0;
  for (int i = 0; i < d->ncon; i++) deepest = djv_worst(deepest, -d->contact[i].dist);
  return deepest;
}

// States of stock runs under random control that overlap by more than `least` metres, at most one
// in five steps. Runs are 2 s long.
static States collect(mjModel* m, int room, double least) {
  States s = {.room = room, .nq = (int)m->nq, .nv = (int)m->nv};
  s.qpos = malloc((size_t)room * (size_t)s.nq * sizeof(double));
  s.qvel = malloc((size_t)room * (size_t)s.nv * sizeof(double));
  mjData* d = mj_makeData(m);
  djvRandom random = djv_random(11);
  long run = lround(2 / m->opt.timestep), last = 0;
  for (long k = 0; k < 200 * run && s.n < room; k++) {
    if (k % run == 0) mj_resetData(m, d);
    if (k % HOLD == 0) robot_randomCtrl(d->ctrl, m, &random, 1);
    mj_step(m, d);
    if (k < last + 5) continue;
    mjtNum* qpos = s.qpos + (size_t)s.n * (size_t)s.nq;
    mju_copy(qpos, d->qpos, s.nq);     // contacts listed now are those of the step's start
    mju_copy(s.qvel + (size_t)s.n * (size_t)s.nv, d->qvel, s.nv);
    mj_fwdPosition(m, d);
    double deep = depth(d);
    if (deep < least) continue;
    s.deepest = djv_worst(s.deepest, deep);
    s.n++;
    last = k;
  }
  mj_deleteData(d);
  return s;
}

typedef struct Outcome {
  long failed, steps, unconverged, still;   // still: overlapping by more than 2 skin at the end
  double speed;                             // of separation, times h/range
  double rate;                              // largest |qvel| in runs that start at rest
} Outcome;

// Depth of our state as MuJoCo measures it.
static double depthNow(const mjModel* m, mjData* d, const djData* data) {
  mju_copy(d->qpos, data->qpos, (int)m->nq);
  mj_fwdPosition(m, d);
  return depth(d);
}

// Steps from one state; at rest: qvel 0, so that what separates the shapes is recovery.
static void recoverOne(Outcome* o, const djModel* model, djData* data, const mjModel* m, mjData* d,
                       const double* qpos, const double* qvel, int steps) {
  dj_resetData(model, data);
  memcpy(data->qpos, qpos, (size_t)model->nq * sizeof(double));
  if (qvel) memcpy(data->qvel, qvel, (size_t)model->nv * sizeof(double));
  double before = depthNow(m, d, data), range = model->contact.range;
  for (int k = 0; k < steps; k++) {
    djStatus status = dj_step(model, data);
    double speed = largest(data->qvel, model->nv);
    if (status < 0 || isnan(speed)) {
      if (!o->failed) djv_note("step %d from a state: %s", k, dj_errorText(data));
      o->failed++;
      return;
    }
    o->steps++;
    o->unconverged += status != DJ_OK;
    if (qvel) continue;
    o->rate = djv_worst(o->rate, speed);
    double now = depthNow(m, d, data);
    o->speed = djv_worst(o->speed, (before - now) / range);
    before = now;
  }
  o->still += depthNow(m, d, data) > 2 * model->contact.skin * (1 + 1e-6);
}

static void setOption(djModel* model, double timestep, int disable) {
  djOption option = model->opt;
  option.timestep = timestep;
  option.disable = disable;
  djError err;
  if (dj_setOption(model, &option, &err) < 0) djv_fail("%s", err.text);
}

static void testOverlaps(djvReport* r, const char* name, int count) {
  char line[600];
  mjModel* m = robot_load(name);
  djModel* model = open(m, line);
  if (!model) djv_fail("%s: %s", name, line);
  setOption(model, 2e-3, 0);
  States s = collect(m, count, 0.01);
  djv_note("%s: %d states, 10 to %.3g mm deep; 2 ms, range %.3g, skin %.3g mm", name, s.n,
           1e3 * s.deepest, 1e3 * model->contact.range, 1e3 * model->contact.skin);
  mjData* d = mj_makeData(m);
  for (int moving = 0; moving < 2; moving++) {
    // At rest nothing but recovery moves: no gravity, springs, limits.
    setOption(model, 2e-3, moving ? 0 : DJ_DSBL_GRAVITY | DJ_DSBL_SPRING | DJ_DSBL_LIMIT);
    djData* data = robot_makeData(model);
    Outcome o = {0};
    double start = -robot_clock();
    for (int i = 0; i < s.n; i++) {
      const double* v = s.qvel + (size_t)i * (size_t)s.nv;
      const double* q = s.qpos + (size_t)i * (size_t)s.nq;
      recoverOne(&o, model, data, m, d, q, moving ? v : NULL, 400);
    }
    start += robot_clock();
    dj_deleteData(data);
    const char* how = moving ? "moving" : "at rest";
    robot_countOf(r, o.failed, 0, s.n, "%s, %s: states with a failed step", name, how);
    robot_countOf(r, o.unconverged, o.steps / 2000, o.steps, "%s, %s: unconverged", name, how);
    robot_countOf(r, o.still, 0, s.n, "%s, %s: overlap by 2 skin after 0.8 s", name, how);
    djv_figure(r, "still overlap", (double)o.still, "");
    djv_note("%.3g us a step", 1e6 * start / (double)(o.steps ? o.steps : 1));
    if (moving) continue;
    djv_note("%s: largest |qvel| of runs that start at rest: %.3g", name, o.rate);
    robot_below(r, o.speed, 2, "range/h", "%s: separation speed", name);
  }
  mj_deleteData(d);
  free(s.qpos);
  free(s.qvel);
  dj_deleteModel(model);
  mj_deleteModel(m);
}

int main(int argc, char** argv) {
  integrator = djv_takeIntegrator(&argc, argv);
  bool quick = djv_isQuick(argc, argv);
  djvReport report = {0}, *r = &report;
  if (!robot_folder()) return DJV_SKIPPED;
  int refused = 0;
  djv_title("5 s under random controls, 2 s without");
  for (int k = 0; k < NMODEL; k++) refused += !testModel(r, names[k]);
  djv_countOf(r, "models that are refused", refused, 0, NMODEL);
  djv_figure(r, "models that run", NMODEL - refused, "");
  djv_title("States of stock MuJoCo's runs that overlap by 1 cm and more");
  static const char* const robots[] = {"humanoid", "hopper", "walker2d", "ant", "half_cheetah"};
  for (int k = 0; k < 5; k++) testOverlaps(r, robots[k], quick ? 50 : 1000);
  return djv_finish(r);
}
