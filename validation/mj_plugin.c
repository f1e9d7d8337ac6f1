// The plugin dijoco.contact: mj_step with it beside djm_step.
//   - Single steps from the states of the plugin's run end with djm_step's velocity, for every
//     integrator and timestep.
//   - Trajectories of both stay together as far as rounding does, which tumbling multiplies: as far
//     as one of djm_step does with another from a start that is moved by rounding.
//   - Limits of joints: by default all is ours. With constraints="mujoco" MuJoCo's solver adds to
//     them: where it does, steps part, where it adds nothing, they do not, and joints go no further
//     beyond their limits.
//   - Contact carries what MuJoCo's constraints hang on it.
//   - What a step costs with and without the plugin, on the humanoid.

#include "common/robots.h"

#include <engine/engine.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOLD = 10 };           // steps for which controls are held
#define ROUNDING 1e-15        // m, rad

static const struct {
  mjtIntegrator id;
  const char* name;
} kIntegrators[] = {{mjINT_EULER, "Euler"}, {mjINT_IMPLICIT, "implicit"},
                    {mjINT_IMPLICITFAST, "implicitfast"}, {mjINT_DISCRETE, "discrete"}};
enum { NINTEGRATOR = 4 };

// ------------------------------ scenes -----------------------------------------------------------

#define PLUGIN(config)                                                                        \
  "<extension><plugin plugin='dijoco.contact'><instance name='dj'>" config                    \
  "</instance></plugin></extension>"
static const char kBox[] =
    "<mujoco>" PLUGIN("") "<option><flag contact='disable'/></option><worldbody>"
    "<geom type='plane' size='5 5 1'/><body pos='0 0 .4' euler='20 10 0'><freejoint/>"
    "<geom type='box' size='.1 .08 .05'/></body></worldbody></mujoco>";

static const char kSliding[] =
    "<mujoco>" PLUGIN("") "<option><flag contact='disable'/></option><worldbody>"
    "<geom type='plane' size='5 5 1' friction='.3'/><body pos='0 0 .052'><freejoint/>"
    "<geom type='box' size='.1 .08 .05' friction='.3'/></body></worldbody>"
    "<keyframe><key qpos='0 0 .052 1 0 0 0' qvel='1.5 .5 0 0 0 3'/></keyframe></mujoco>";

// n boxes, each a little turned.
static char* stackText(int n) {
  size_t size = 1000 + 300 * (size_t)n, at = 0;
  char* text = malloc(size);
  at += (size_t)snprintf(text, size, "%s",
                         "<mujoco>" PLUGIN("") "<option><flag contact='disable'/></option>"
                         "<worldbody><geom type='plane' size='5 5 1'/>");
  for (int i = 0; i < n; i++) {
    at += (size_t)snprintf(text + at, size - at,
                           "<body pos='%g %g %g' euler='1 .5 %d'><freejoint/>"
                           "<geom type='box' size='.1 .1 .05'/></body>",
                           0.01 * (i % 2), 0.005 * (i % 3), 0.055 + 0.11 * i, 7 * i);
  }
  snprintf(text + at, size - at, "</worldbody></mujoco>");
  return text;
}

// A gymnasium robot as it is, with a piece of MJCF before its end.
static char* robotText(const char* name, const char* more) {
  char path[1000];
  snprintf(path, sizeof path, "%s/%s.xml", robot_folder(), name);
  FILE* file = fopen(path, "rb");
  if (!file) djv_fail("%s: cannot be read", path);
  char* text = malloc(200000 + strlen(more));
  size_t n = fread(text, 1, 199999, file);
  fclose(file);
  text[n] = '\0';
  char* end = strstr(text, "</mujoco>");
  if (!end) djv_fail("%s: no </mujoco>", path);
  strcpy(end, more);
  strcat(end, "</mujoco>");
  return text;
}

static const char kJointsMuJoCos[] =
    PLUGIN("<config key='constraints' value='mujoco'/>")
    "<option integrator='Euler'><flag contact='disable'/></option>";
static const char kJointsOurs[] =
    PLUGIN("") "<option integrator='Euler'><flag contact='disable'/></option>";

// ------------------------------ runs -------------------------------------------------------------

typedef struct Difference {
  double step;                // of velocities after single steps from the same state, relative,
                              //   where MuJoCo's solver adds nothing
  double held;                // the same where it does
  double run;                 // of positions of separate runs (m, rad), largest over time
  double moved;               // the same, of djm_step's from a start moved by ROUNDING
  double beyond[2];           // largest angle beyond a hinge's limit in the second half of the
                              //   run: with the plugin, by djm_step
  long steps, nheld, failed;  // held by MuJoCo's solver; steps of ours that failed
} Difference;

// How far hinges are beyond their limits.
static double beyondLimits(const mjModel* m, const mjData* d) {
  double most = 0;
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_type[j] != mjJNT_HINGE || !m->jnt_limited[j]) continue;
    double q = d->qpos[m->jnt_qposadr[j]];
    most = djv_worst(most, djv_worst(m->jnt_range[2 * j] - q, q - m->jnt_range[2 * j + 1]));
  }
  return most;
}

// Largest |v1 - v2|/max(1, |v|).
static double relative(const mjtNum* a, const mjtNum* b, int n) {
  double worst = 0, size = 1;
  for (int i = 0; i < n; i++) {
    if (!isfinite(a[i] - b[i])) return INFINITY;
    worst = djv_worst(worst, fabs(a[i] - b[i]));
    size = djv_worst(size, fabs(b[i]));
  }
  return worst / size;
}

// Largest difference of positions (m, rad).
static double apartBy(const mjModel* m, const mjData* a, const mjData* b, mjtNum* apart) {
  double worst = 0;
  mj_differentiatePos(m, apart, 1, a->qpos, b->qpos);
  for (int i = 0; i < m->nv; i++) worst = djv_worst(worst, fabs(apart[i]));
  return worst;
}

static Difference compareRuns(const mjModel* m, double time) {
  djmContext* context;
  djError err;
  if (djm_makeContext(&context, NULL, m, &err) < 0) djv_fail("%s", err.text);
  mjData *d = mj_makeData(m), *own = mj_makeData(m), *step = mj_makeData(m);
  mjData* moved = mj_makeData(m);
  int nv = (int)m->nv;
  mjtNum* apart = calloc((size_t)nv, sizeof(mjtNum));
  if (m->nkey > 0) mj_resetDataKeyframe(m, d, 0);
  mj_copyData(own, m, d);
  mj_copyData(moved, m, d);
  for (int i = 0; i < nv; i++) apart[i] = i % 2 ? ROUNDING : -ROUNDING;
  mj_integratePos(m, moved->qpos, apart, 1);
  djvRandom random = djv_random(5);
  Difference x = {0};
  for (long k = 0, n = lround(time / m->opt.timestep); k < n; k++) {
    if (k % HOLD == 0) robot_randomCtrl(d->ctrl, m, &random, 0.5);
    mju_copy(own->ctrl, d->ctrl, (int)m->nu);
    mju_copy(moved->ctrl, d->ctrl, (int)m->nu);
    mj_copyData(step, m, d);
    mj_step(m, d);
    bool held = mju_norm(d->qfrc_constraint, nv) != 0;
    double* worst = held ? &x.held : &x.step;
    x.steps++;
    x.nheld += held;
    x.failed += djm_step(m, step, context) < 0;
    *worst = djv_worst(*worst, relative(d->qvel, step->qvel, nv));
    x.failed += djm_step(m, own, context) < 0;
    djm_step(m, moved, context);
    x.run = djv_worst(x.run, apartBy(m, own, d, apart));
    x.moved = djv_worst(x.moved, apartBy(m, own, moved, apart));
    if (2 * k < n) continue;
    x.beyond[0] = djv_worst(x.beyond[0], beyondLimits(m, d));
    x.beyond[1] = djv_worst(x.beyond[1], beyondLimits(m, own));
  }
  free(apart);
  mj_deleteData(d);
  mj_deleteData(own);
  mj_deleteData(step);
  mj_deleteData(moved);
  djm_deleteContext(context);
  return x;
}

// Every joint's limits are ours alone: steps and runs agree. run: limit of the differences of runs
// where rounding does not make more of a difference.
static void checkOurs(djvReport* r, const char* label, const Difference* x, double run) {
  robot_countOf(r, x->nheld, 0, x->steps, "%s: MuJoCo's solver adds", label);
  robot_below(r, x->step, 1e-12, "", "%s: steps", label);
  robot_below(r, x->run, fmax(run, 10 * x->moved), "", "%s: runs", label);
  djv_figure(r, "single steps", x->step, "");
  djv_figure(r, "runs of 2 s", x->run, "");
}

// Limits are both engines': steps agree where only ours act. A limit's impulse takes at most the
// speed of what it stops, so that steps part by a part of the largest speed (by 0.2), and joints go
// no further beyond their limits than with one engine's (0.02 rad: runs part).
static void checkBoth(djvReport* r, const char* label, const Difference* x) {
  djv_note("%s: MuJoCo's solver adds in %ld of %ld steps; runs part by %.2g", label, x->nheld,
           x->steps, x->run);
  robot_count(r, x->nheld == 0 || x->nheld == x->steps, 0, "%s: it never or always does", label);
  robot_below(r, x->step, 1e-12, "", "%s: steps where it does not", label);
  robot_below(r, x->held, 0.5, "", "%s: steps where it does", label);
  robot_below(r, x->beyond[0] - x->beyond[1], 0.02, "rad", "%s: beyond limits, more", label);
  djv_note("%.3g rad beyond limits, ours alone %.3g", x->beyond[0], x->beyond[1]);
}

// run: how far runs may part; negative: MuJoCo's solver has limits too.
static void testScene(djvReport* r, const char* name, mjModel* m, bool quick, double run) {
  static const double kSteps[] = {1e-3, 2e-3, 5e-3};
  djv_title("%s, %g s: single steps, relative; runs", name, quick ? 0.5 : 2.0);
  for (int i = 0; i < NINTEGRATOR; i++) {
    for (int k = quick ? 2 : 0; k < 3; k++) {
      m->opt.integrator = kIntegrators[i].id;
      m->opt.timestep = kSteps[k];
      Difference x = compareRuns(m, quick ? 0.5 : 2);
      djv_note("%-12s h %g ms: %.2g; %.2g, of a start moved by %g: %.2g", kIntegrators[i].name,
               1e3 * kSteps[k], x.step, x.run, ROUNDING, x.moved);
      char label[60];
      snprintf(label, sizeof label, "%s, h %g ms", kIntegrators[i].name, 1e3 * kSteps[k]);
      robot_countOf(r, x.failed, 0, 2 * x.steps, "%s: failed", label);
      if (run < 0) checkBoth(r, label, &x);
      else checkOurs(r, label, &x, run);
    }
  }
  mj_deleteModel(m);
}

// ------------------------------ beside MuJoCo's constraints --------------------------------------

#define FLOOR \
  "<option><flag contact='disable'/></option><worldbody><geom type='plane' size='3 3 1'/>"

static const struct {
  const char *name, *text;
} kCarried[] = {
    {"box with ten times its mass on a weld",
     "<mujoco>" PLUGIN("") FLOOR
     "<body name='A' pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .05' mass='1'/></body>"
     "<body name='B' pos='0 0 .34'><freejoint/><geom type='box' size='.05 .05 .05' mass='10'/>"
     "</body></worldbody><equality><weld body1='A' body2='B'/></equality></mujoco>"},
    {"links in a loop",
     "<mujoco>" PLUGIN("") FLOOR
     "<body name='A' pos='0 0 .3'><freejoint/><geom type='capsule' fromto='0 0 0 .3 0 0' "
     "size='.03'/><body name='A2' pos='.3 0 0'><joint axis='0 1 0'/><geom type='capsule' "
     "fromto='0 0 0 0 0 .3' size='.03'/></body></body><body name='B' pos='0 0 .6'><freejoint/>"
     "<geom type='capsule' fromto='.06 0 0 .24 0 0' size='.03' mass='5'/></body></worldbody>"
     "<equality><connect body1='A2' body2='B' anchor='0 0 .3'/>"
     "<connect body1='A' body2='B' anchor='0 0 .3'/></equality></mujoco>"},
    {"arm with friction loss on a box",
     "<mujoco>" PLUGIN("") FLOOR
     "<body pos='0 0 .06'><freejoint/><geom type='box' size='.1 .1 .05' mass='1'/>"
     "<body pos='0 0 .05'><joint axis='0 1 0' frictionloss='1'/><geom type='capsule' "
     "fromto='0 0 0 .5 0 .2' size='.02' mass='.3'/></body></body></worldbody></mujoco>"},
    {"boxes of both kinds in turn",
     "<mujoco>" PLUGIN("<config key='geoms' value='one three'/>")
     "<worldbody><geom type='plane' size='3 3 1'/>"
     "<body pos='0 0 .06'><freejoint/><geom type='box' size='.1 .1 .05' mass='1'/></body>"
     "<body pos='0 0 .18'><freejoint/><geom name='one' contype='0' conaffinity='0' type='box' "
     "size='.1 .1 .05' mass='3'/></body><body pos='.02 0 .3'><freejoint/><geom type='box' "
     "size='.1 .1 .05' mass='1'/></body><body pos='0 0 .42'><freejoint/><geom name='three' "
     "contype='0' conaffinity='0' type='box' size='.1 .1 .05' mass='3'/></body></worldbody>"
     "</mujoco>"}};

// Contact that carries what MuJoCo's constraints hang on it: overlap, and steps of ours per step.
static void testCarried(djvReport* r, bool quick) {
  static const double kSteps[] = {1e-3, 2e-3, 5e-3};
  djv_title("Beside MuJoCo's constraints, %g s, discrete: our steps per step, time of a step",
            quick ? 0.5 : 2.0);
  for (size_t c = 0; c < sizeof kCarried / sizeof *kCarried; c++) {
    mjModel* m = robot_compile(kCarried[c].text);
    m->opt.integrator = mjINT_DISCRETE;
    for (int k = quick ? 2 : 0; k < 3; k++) {
      m->opt.timestep = kSteps[k];
      mjData* d = mj_makeData(m);
      long n = lround((quick ? 0.5 : 2) / kSteps[k]);
      double start = robot_clock();
      for (long i = 0; i < n; i++) mj_step(m, d);
      double time = (robot_clock() - start) / (double)n;
      const djStats* stats = &djm_data(djm_pluginContext(m, d))->stats;
      djv_note("%s, h %g ms: %.1f, %.0f us", kCarried[c].name, 1e3 * kSteps[k],
               (double)stats->steps / (double)n, 1e6 * time);
      robot_below(r, 1e3 * stats->deepest_overlap, 0.5, "mm", "%s, h %g ms: overlap",
                  kCarried[c].name, 1e3 * kSteps[k]);
      mj_deleteData(d);
    }
    mj_deleteModel(m);
  }
}

// ------------------------------ cost -------------------------------------------------------------

// One step from a state; seconds.
static double timeStep(const mjModel* m, mjData* d, const mjData* at) {
  mju_copy(d->qpos, at->qpos, (int)m->nq);
  mju_copy(d->qvel, at->qvel, (int)m->nv);
  mju_copy(d->ctrl, at->ctrl, (int)m->nu);
  double start = robot_clock();
  mj_step(m, d);
  return robot_clock() - start;
}

static void testCost(int steps) {
  enum { WAYS = 4 };
  static const char* const name[WAYS] = {"no contact", "MuJoCo's contact", "plugin", "djm_step"};
  char* plain = robotText("humanoid", "<option integrator='Euler'/>");
  char* with = robotText("humanoid", kJointsOurs);
  mjModel* m[3] = {robot_compile(plain), robot_compile(plain), robot_compile(with)};
  m[0]->opt.disableflags |= mjDSBL_CONTACT;
  mjData* d[3];
  for (int k = 0; k < 3; k++) d[k] = mj_makeData(m[k]);
  mjData *run = mj_makeData(m[2]), *own = mj_makeData(m[2]);
  djmContext* context;
  djError err;
  if (djm_makeContext(&context, NULL, m[2], &err) < 0) djv_fail("%s", err.text);
  double* time = calloc((size_t)(WAYS * steps), sizeof(double));
  djvRandom random = djv_random(9);
  double pairs = 0;
  for (int i = 0; i < steps; i++) {
    if (i % HOLD == 0) robot_randomCtrl(run->ctrl, m[2], &random, 1);
    for (int k = 0; k < 3; k++) time[k * steps + i] = timeStep(m[k], d[k], run);
    mj_copyData(own, m[2], run);
    double start = robot_clock();
    djm_step(m[2], own, context);
    time[3 * steps + i] = robot_clock() - start;
    pairs += djm_data(context)->npair;
    mj_step(m[2], run);
  }
  djv_title("A step of the humanoid (nv %d, %g ms, Euler): medians of %d states of the plugin's "
            "run, %.1f pairs near contact", (int)m[2]->nv, 1e3 * m[2]->opt.timestep, steps,
            pairs / steps);
  for (int k = 0; k < WAYS; k++) {
    djv_note("%-18s %6.1f us", name[k], 1e6 * robot_median(time + k * steps, steps));
  }
  free(time);
  free(plain);
  free(with);
  for (int k = 0; k < 3; k++) {
    mj_deleteData(d[k]);
    mj_deleteModel(m[k]);
  }
  mj_deleteData(run);
  mj_deleteData(own);
  djm_deleteContext(context);
}

int main(int argc, char** argv) {
  bool quick = djv_isQuick(argc, argv);
  djvReport report = {0}, *r = &report;
  mjp_registerPlugin(djm_contactPlugin());
  testScene(r, "dropped box", robot_compile(kBox), quick, 1e-10);
  testScene(r, "sliding box", robot_compile(kSliding), quick, 1e-10);
  char* text = stackText(quick ? 3 : 8);
  testScene(r, "stack", robot_compile(text), quick, 1e-10);
  free(text);
  testCarried(r, quick);
  if (!robot_folder()) return djv_finishWithout(r, "gymnasium's ant and humanoid");
  text = robotText("ant", kJointsOurs);
  testScene(r, "ant, limits ours", robot_compile(text), quick, 1e-10);
  free(text);
  text = robotText("ant", kJointsMuJoCos);
  testScene(r, "ant, limits of both", robot_compile(text), quick, -1);
  free(text);
  testCost(quick ? 100 : 2000);
  return djv_finish(r);
}
