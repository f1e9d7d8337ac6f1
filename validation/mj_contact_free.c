// Motion without contact beside MuJoCo's: the position-level step is a first-order method for
// MuJoCo's equations of motion.
//   - Trajectories approach MuJoCo's RK4 at 1e-5 s with order 1 in the timestep.
//   - In the limit of small steps the acceleration is MuJoCo's qacc.
//   - Free bodies keep their linear momentum to rounding; angular momentum about a principal axis
//     decays as L0/sqrt(1 + 2 h w0^2 t).

#include "common/random_tree.h"
#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A model of both engines with one start state and one set of controls, held throughout.
typedef struct Case {
  const char* name;
  mjModel* m;
  mjData* start;
} Case;

static djIntegrator integrator;   // of our models

static bool keepsMomentum(void) {
  return integrator == DJ_VARIATIONAL;
}

static double largest(const double* x, int n) {
  double size = 0;
  for (int i = 0; i < n; i++) size = djv_worst(size, fabs(x[i]));
  return size;
}

// Our model with another timestep and tolerance.
static djModel* import(const Case* c, double h, double tolerance) {
  djError err;
  djModel* model = robot_import(c->m, &err);
  djOption option;
  if (model) {
    option = model->opt;
    option.timestep = h;
    option.tolerance = tolerance;
    option.integrator = integrator;
  }
  if (!model || dj_setOption(model, &option, &err) < 0) {
    djv_fail("%s: %s", c->name, err.text);
  }
  return model;
}

// Reference: fourth order at a step whose error is far below all that is measured.
static mjData* reference(const Case* c, double time) {
  double h = 1e-5;
  c->m->opt.integrator = mjINT_RK4;
  c->m->opt.timestep = h;
  mjData* d = mj_copyData(NULL, c->m, c->start);
  for (long k = 0, n = lround(time / h); k < n; k++) mj_step(c->m, d);
  return d;
}

// Largest difference of positions (tangent) and of velocities at the end.
static bool errorAt(double error[2], const Case* c, const mjData* end, double time, double h) {
  djModel* model = import(c, h, 1e-4);
  djData* data = robot_makeData(model);
  robot_copyState(data, c->m, c->start);
  bool good = true;
  for (long k = 0, n = lround(time / h); k < n && good; k++) good = dj_step(model, data) == DJ_OK;
  int nv = (int)c->m->nv;
  double* v = malloc((size_t)nv * sizeof(double));
  mj_differentiatePos(c->m, v, 1, end->qpos, data->qpos);
  error[0] = largest(v, nv);
  mju_sub(v, data->qvel, end->qvel, nv);
  error[1] = largest(v, nv);
  free(v);
  dj_deleteData(data);
  dj_deleteModel(model);
  return good;
}

static void checkOrder(djvReport* r, const Case* c, double time) {
  static const double step[3] = {4e-3, 2e-3, 1e-3};
  double error[3][2];
  mjData* end = reference(c, time);
  bool good = true;
  for (int k = 0; k < 3; k++) good = errorAt(error[k], c, end, time, step[k]) && good;
  double speed = largest(end->qvel, (int)c->m->nv);
  mj_deleteData(end);
  djv_note("%s: errors at 4, 2, 1 ms after %g s: qpos %.3g %.3g %.3g, qvel %.3g %.3g %.3g; "
         "speeds up to %.2g", c->name, time, error[0][0], error[1][0], error[2][0], error[0][1],
         error[1][1], error[2][1], speed);
  robot_count(r, !good, 0, "%s: runs with a step that fails", c->name);
  for (int k = 0; k < 2; k++) {
    double order = log2(error[1][k] / error[2][k]);
    // of second order where nothing but inertia acts
    if (keepsMomentum()) order = fmin(order, 1);
    robot_near(r, order, 1, 0.2, "%s: order, %s", c->name, k ? "qvel" : "qpos");
    djv_figure(r, "order", order, "");
  }
}

// (v+ - v)/h after one step.
static void acceleration(double* a, const Case* c, double h) {
  djModel* model = import(c, h, 1e-6);
  djData* data = robot_makeData(model);
  robot_copyState(data, c->m, c->start);
  djStatus status = dj_step(model, data);
  for (int i = 0; i < model->nv; i++) {
    a[i] = status < 0 ? NAN : (data->qvel[i] - c->start->qvel[i]) / h;
  }
  dj_deleteData(data);
  dj_deleteModel(model);
}

// Relative differences of (v+ - v)/h to qacc.
typedef struct Acceleration {
  double ours;      // h = 1e-5. An implicit step adds h times the fastest rate: 0.005 for a joint
                    //   with damping 5 and inertia 0.01, as the humanoid has them
  double limit;     // the same, extrapolated to h = 0 from 1e-5 and 2e-5
  double mujoco;    // h = 1e-5, MuJoCo's own implicit integrator
} Acceleration;

static Acceleration compareAcceleration(const Case* c) {
  int nv = (int)c->m->nv;
  double h = 1e-5, *one = calloc(3 * (size_t)nv, sizeof(double)), *two = one + nv, *acc = two + nv;
  mjData* d = mj_copyData(NULL, c->m, c->start);
  c->m->opt.integrator = mjINT_IMPLICIT;
  c->m->opt.timestep = h;
  mj_forward(c->m, d);
  mju_copy(acc, d->qacc, nv);
  mj_step(c->m, d);
  acceleration(one, c, h);
  acceleration(two, c, 2 * h);
  Acceleration a = {0};
  for (int i = 0; i < nv; i++) {
    a.ours = djv_worst(a.ours, fabs(one[i] - acc[i]));
    a.limit = djv_worst(a.limit, fabs(2 * one[i] - two[i] - acc[i]));
    a.mujoco = djv_worst(a.mujoco, fabs((d->qvel[i] - c->start->qvel[i]) / h - acc[i]));
    if (isnan(one[i])) a.ours = a.limit = INFINITY;
  }
  double size = largest(acc, nv);
  mj_deleteData(d);
  free(one);
  return (Acceleration){a.ours / size, a.limit / size, a.mujoco / size};
}

static void worse(Acceleration* worst, Acceleration a) {
  worst->ours = djv_worst(worst->ours, a.ours);
  worst->limit = djv_worst(worst->limit, a.limit);
  worst->mujoco = djv_worst(worst->mujoco, a.mujoco);
}

static void checkAcceleration(djvReport* r, Acceleration a, const char* name) {
  djv_note("%s: acceleration, h = 1e-5: ours %.2g; MuJoCo's implicit integrator %.2g", name, a.ours,
           a.mujoco);
  robot_below(r, a.limit, 1e-4, "", "%s: acceleration, h -> 0", name);
  djv_figure(r, "acceleration, h -> 0, off by", a.limit, "");
  double bound = fmax(1e-4, 1.5 * a.mujoco);
  robot_below(r, a.ours, bound, "", "%s: acceleration, h = 1e-5", name);
}

static void randomStart(const Case* c, djvRandom* random, double angle, double speed) {
  int nv = (int)c->m->nv;
  double* v = malloc((size_t)nv * sizeof(double));
  for (int i = 0; i < nv; i++) {
    v[i] = djv_uniform(random, -angle, angle);
    c->start->qvel[i] = djv_uniform(random, -speed, speed);
  }
  mj_integratePos(c->m, c->start->qpos, v, 1);
  for (int i = 0; i < c->m->na; i++) c->start->act[i] = djv_uniform(random, -0.5, 0.5);
  free(v);
}

static Case openCase(const char* name, mjModel* m) {
  m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
  return (Case){name, m, mj_makeData(m)};
}

static void closeCase(Case* c) {
  mj_deleteData(c->start);
  mj_deleteModel(c->m);
}

static void testTrees(djvReport* r, int count) {
  static const char* const variant[] = {"plain", "springs", "actuators", "gravcomp", "fluid",
                                        "all"};
  static const int features[] = {0, TREE_SPRINGS, TREE_ACTUATORS, TREE_GRAVCOMP, TREE_FLUID, 15};
  djvRandom random = djv_random(1);
  Acceleration worst[6] = {{0}};
  for (int k = 0; k < count; k++) {
    char name[60], *text = tree_random(&random, djv_integer(&random, 1, 7), features[k % 6]);
    Case c = openCase(name, robot_compile(text));
    snprintf(name, sizeof name, "tree %d, %s, nv %d", k, variant[k % 6], (int)c.m->nv);
    randomStart(&c, &random, 0.5, 1);
    for (int i = 0; i < c.m->nu; i++) c.start->ctrl[i] = djv_uniform(&random, -1, 1);
    if (k < 12) checkOrder(r, &c, 0.2);
    worse(&worst[k % 6], compareAcceleration(&c));
    closeCase(&c);
    free(text);
  }
  djv_note("|(v+ - v)/h - qacc|/|qacc|, worst of %d trees:", count);
  for (int k = 0; k < 6; k++) checkAcceleration(r, worst[k], variant[k]);
}

#define TREES(more)                                                                            \
  "<mujoco><default><geom contype='0' conaffinity='0'/></default><worldbody><site name='top' " \
  "pos='0 0 1'/><site name='side' pos='.6 0 1'/><body name='arm' pos='0 0 .2'><joint name='j' " \
  "axis='0 1 .1'/><geom type='capsule' fromto='0 0 0 .5 0 0' size='.03'/><site name='hand' "   \
  "pos='.4 0 .05'/><body pos='.5 0 0'><joint name='l' axis='0 1 0'/><geom type='capsule' "     \
  "fromto='0 0 0 .3 0 .1' size='.02'/><site name='tip' pos='.3 .02 .1'/></body></body><body "  \
  "name='load' pos='.6 0 .3'><freejoint/><geom type='box' size='.06 .04 .05'/><site "          \
  "name='hook' pos='0 .01 .06'/></body></worldbody>" more "</mujoco>"

// Tendons along paths and joints, with pulleys and armature, and what pulls on them, on sites and
// by a crank.
static void testTendons(djvReport* r) {
  static const char* const text[][2] = {
      {"rope between trees",
       TREES("<tendon><spatial stiffness='8 1 .5' damping='.5 .1 .1' springlength='1.2 1.2'><site "
             "site='tip'/><site site='top'/><site site='side'/><pulley divisor='2'/><site "
             "site='side'/><site site='hook'/></spatial></tendon>")},
      {"armature",
       TREES("<tendon><spatial name='t' stiffness='10' armature='.2'><site site='tip'/><site "
             "site='top'/></spatial><fixed name='f' damping='.2' armature='.1'><joint joint='j' "
             "coef='1'/><joint joint='l' coef='-.5'/></fixed></tendon><actuator><position "
             "tendon='t' kp='5' armature='.1'/><motor tendon='f' gear='2'/></actuator>")},
      {"sites and a crank",
       TREES("<actuator><general site='tip' refsite='hook' gear='1 .2 -.3 .1 0 .2' "
             "biastype='affine' biasprm='0 -3 -.2'/><motor site='hook' gear='.1 0 .4 0 .02 0'/>"
             "<position cranksite='top' slidersite='hand' cranklength='1.5' kp='3'/></actuator>")}};
  djvRandom random = djv_random(4);
  for (int k = 0; k < 3; k++) {
    Case c = openCase(text[k][0], robot_compile(text[k][1]));
    randomStart(&c, &random, 0.3, 1);
    robot_randomCtrl(c.start->ctrl, c.m, &random, 0.5);
    checkOrder(r, &c, 0.2);
    checkAcceleration(r, compareAcceleration(&c), text[k][0]);
    closeCase(&c);
  }
}

static void testRobots(djvReport* r) {
  static const char* const names[] = {"humanoid", "hopper", "walker2d", "ant", "half_cheetah",
                                      "swimmer", "reacher", "inverted_pendulum",
                                      "inverted_double_pendulum"};
  djvRandom random = djv_random(2);
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    Case c = openCase(names[k], robot_load(names[k]));
    randomStart(&c, &random, 0.1, 1);
    robot_randomCtrl(c.start->ctrl, c.m, &random, 0.2);
    checkOrder(r, &c, 0.2);
    checkAcceleration(r, compareAcceleration(&c), names[k]);
    closeCase(&c);
  }
}

// Momentum of a step: sum of m (x+ - x)/h over centres of mass x; that of SDRS's energy.
static void stepMomentum(double p[3], const djModel* model, const djData* data, double* last) {
  p[0] = p[1] = p[2] = 0;
  for (int b = 1; b < model->nbody; b++) {
    for (int k = 0; k < 3; k++) {
      double x = data->xipos[3 * b + k];
      p[k] += model->body_mass[b] * (x - last[3 * b + k]) / model->opt.timestep;
      last[3 * b + k] = x;
    }
  }
}

// Momentum by qvel, which MuJoCo computes from our state.
static void momentum(double p[3], const Case* c, const djData* data, mjData* d) {
  mju_copy(d->qpos, data->qpos, (int)c->m->nq);
  mju_copy(d->qvel, data->qvel, (int)c->m->nv);
  mj_forward(c->m, d);
  mj_subtreeVel(c->m, d);
  mju_scl3(p, d->subtree_linvel, c->m->body_subtreemass[0]);
}

typedef struct Momentum {
  long unconverged, fallback;
  double drift, drift_now;   // relative, the worst: of a step's momentum; of that by qvel
  double lost;               // drift in runs with fallback steps
} Momentum;

static void runMomentum(Momentum* worst, const Case* c, mjData* d, const djModel* model,
                        djData* data, int steps) {
  dj_resetData(model, data);
  robot_copyState(data, c->m, c->start);
  dj_forward(model, data);
  double* last = malloc(3 * (size_t)model->nbody * sizeof(double));
  memcpy(last, data->xipos, 3 * (size_t)model->nbody * sizeof(double));
  double first[3], p[3], start[3], now[3], drift = 0, drift_now = 0;
  momentum(start, c, data, d);
  for (int i = 0; i < steps; i++) {
    dj_step(model, data);
    stepMomentum(p, model, data, last);
    momentum(now, c, data, d);
    if (i == 0) memcpy(first, p, sizeof first);
    drift = djv_worst(drift, mju_dist3(p, first));
    drift_now = djv_worst(drift_now, mju_dist3(now, start));
  }
  double size = mju_norm3(first), *kept = data->stats.fallback_steps ? &worst->lost : &worst->drift;
  *kept = djv_worst(*kept, drift / size);
  worst->drift_now = djv_worst(worst->drift_now, drift_now / size);
  worst->unconverged += data->stats.unconverged_steps;
  worst->fallback += data->stats.fallback_steps;
  free(last);
}

// Of starts at speeds up to 10 (m/s, rad/s) many steps at 10 ms have no solution by a method that
// keeps momentum. What is judged is that `position` then has one.
#define FAST 10

// From several starts, for a time each in which rounding does not grow to another motion: after
// some thousand steps the motion is another one on each machine, and with it what is counted.
static void judgeMomentum(djvReport* r, Case* c, double h, double tolerance, double speed) {
  enum { RUNS = 16, STEPS = 250 };
  djModel* model = import(c, h, tolerance);
  djData* data = robot_makeData(model);
  mjData* d = mj_makeData(c->m);
  Momentum worst = {0};
  djvRandom random = djv_random(3);
  for (int k = 0; k < RUNS; k++) {
    mj_resetData(c->m, c->start);
    randomStart(c, &random, 1, speed);
    runMomentum(&worst, c, d, model, data, STEPS);
  }
  djv_note("h %g, tolerance %g, speeds to %g, %d runs of %d steps: %ld unconverged; by qvel at the "
           "ends it differs by %.3g", h, tolerance, speed, RUNS, STEPS, worst.unconverged,
           worst.drift_now);
  if (tolerance >= 1e-6) robot_count(r, worst.unconverged, 0, "unconverged steps");
  // Centres of mass of size 1 are rounded to 1e-16; per step that is 1e-16/h.
  double rounding = 10 * 2.2e-16 / h;
  bool tight = tolerance < 1e-6;
  long all = RUNS * STEPS;
  if (speed >= FAST) {
    djv_note("%ld of %ld are fallback steps, which lose momentum: by up to %.3g in a run",
             worst.fallback, all, worst.lost);
  } else {
    robot_countOf(r, worst.fallback, all / 100, all, "h %g: fallback steps", h);
  }
  robot_below(r, worst.drift, tight ? 10 * rounding : 1e-6, "", "drift, h %g, tolerance %g", h,
              tolerance);
  mj_deleteData(d);
  dj_deleteData(data);
  dj_deleteModel(model);
}

static void testLinearMomentum(djvReport* r) {
  static const char text[] =
      "<mujoco><option gravity='0 0 0'/><default><geom contype='0' conaffinity='0'/></default>"
      "<worldbody>"
      "<body pos='1 0 0'><freejoint/><geom type='box' size='.1 .2 .3' pos='.1 .2 0'/></body>"
      "<body><freejoint/><geom type='capsule' size='.05' fromto='0 0 0 0 0 .5'/>"
      "<body pos='0 0 .5'><joint type='ball'/><geom type='box' size='.1 .05 .2' pos='0 0 .2'/>"
      "<body pos='0 0 .4'><joint axis='1 0 0'/><joint type='slide'/><geom size='.1' pos='.2 0 0'/>"
      "</body></body></body></worldbody></mujoco>";
  Case c = openCase("free bodies", robot_compile(text));
  judgeMomentum(r, &c, 2e-3, 1e-4, 3);
  judgeMomentum(r, &c, 1e-2, 1e-4, 3);
  judgeMomentum(r, &c, 1e-2, 1e-4, FAST);
  judgeMomentum(r, &c, 2e-3, 1e-8, 3);
  closeCase(&c);
}

// Loss 1 - L/L0 of a body that spins about a principal axis, beside 1 - 1/sqrt(1 + 2 h w0^2 t) of
// the position integrator; those that keep momentum have none.
static void testAngularMomentum(djvReport* r) {
  static const char text[] =
      "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/>"
      "<geom type='box' size='.1 .2 .3' contype='0' conaffinity='0'/></body></worldbody></mujoco>";
  Case c = openCase("spinning box", robot_compile(text));
  for (int axis = 0; axis < 3; axis++) {
    for (int k = 0; k < 3; k++) {
      double h = k == 2 ? 5e-3 : 2e-3, w0 = k == 1 ? 8 : 4, time = 1;
      mju_zero(c.start->qvel, 6);
      c.start->qvel[3 + axis] = w0;
      djModel* model = import(&c, h, 1e-4);
      djData* data = robot_makeData(model);
      robot_copyState(data, c.m, c.start);
      for (long i = 0, n = lround(time / h); i < n; i++) dj_step(model, data);
      double loss = 1 - data->qvel[3 + axis] / w0;
      double expected = 1 - 1 / sqrt(1 + 2 * h * w0 * w0 * time);
      if (keepsMomentum()) {
        robot_below(r, fabs(loss), 1e-9, "", "|1 - L/L0|, axis %d, w0 %g, h %g", axis, w0, h);
      } else {
        robot_near(r, loss, expected, 0.1 * expected, "loss 1 - L/L0, axis %d, w0 %g, h %g", axis,
                   w0, h);
      }
      dj_deleteData(data);
      dj_deleteModel(model);
    }
  }
  closeCase(&c);
}

int main(int argc, char** argv) {
  integrator = djv_takeIntegrator(&argc, argv);
  if (integrator == DJ_EULER) integrator = DJ_VARIATIONAL;   // euler's motion is mj_euler.c's
  bool quick = djv_isQuick(argc, argv);
  djvReport report = {0}, *r = &report;
  djv_title("Random trees beside RK4 at 1e-5 s");
  testTrees(r, quick ? 24 : 120);
  djv_title("Tendons, actuators on sites and by a crank beside RK4 at 1e-5 s");
  testTendons(r);
  djv_title("Linear momentum of free bodies and a free tree, relative");
  testLinearMomentum(r);
  djv_title("Angular momentum about a principal axis after 1 s");
  testAngularMomentum(r);
  if (!robot_folder()) return djv_finishWithout(r, "gymnasium's robots");
  djv_title("Robots without contact, limits and friction loss beside RK4 at 1e-5 s");
  testRobots(r);
  return djv_finish(r);
}
