// The plugin dijoco.contact with implicit surfaces: its steps beside ours, keys, surfaces as given,
// refusals, changes of the model, robots.

#include "common/make_model.h"
#include "common/mj_zoo.h"
#include "common/mjcf.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/mujoco.h>

// Keys of the instance beside `contact`, bodies, and what else the scene has.
static const char* textOf(const char* keys, const char* world, const char* rest) {
  static char text[8000];
  snprintf(text, sizeof(text),
           "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'>"
           "<config key='contact' value='implicit_surface'/>%s</instance></plugin></extension>"
           "<option><flag contact='disable'/></option><worldbody>"
           "<geom name='floor' type='plane' size='2 2 .1'/>%s</worldbody>%s</mujoco>",
           keys, world, rest);
  return text;
}

#define BALL "<body pos='0 0 .0999'><freejoint/><geom name='ball' size='.1'/></body>"

// One of each type, a cone among them, on a heap.
#define HEAP                                                                                       \
  "<body pos='0 0 .12'><freejoint/><geom type='sphere' size='.1'/></body>"                         \
  "<body pos='.03 .02 .3' euler='20 30 0'><freejoint/><geom type='box' size='.1 .08 .06'/>"        \
  "</body><body pos='-.02 0 .5' euler='70 10 0'><freejoint/><geom type='capsule' "                 \
  "size='.06 .08'/></body><body pos='.02 -.02 .7' euler='10 40 0'><freejoint/>"                    \
  "<geom type='ellipsoid' size='.1 .08 .06'/></body><body pos='.3 0 .2' euler='10 20 30'>"         \
  "<freejoint/><geom type='mesh' mesh='wedge'/></body><body pos='.3 .02 .4' euler='5 50 0'>"       \
  "<freejoint/><geom name='cone' type='cylinder' size='.08 .1'/></body>"
#define HEAP_REST                                                                                  \
  "<asset><mesh name='wedge' vertex='-.1 -.1 -.05 .1 -.1 -.05 .1 .1 -.05 -.1 .1 -.05 "             \
  "-.1 0 .08 .06 .02 .1'/></asset><custom><text name='dijoco_shape/cone' "                         \
  "data='truncated_cone .09 .05 .1 .1 20'/></custom>"

// Largest difference of velocities after single steps of both from the states of a run of the
// plugin's; controls are held for ten steps. touching: counts those with contact.
static double missOf(const mjModel* m, mjData* d, int steps, djStats* stats, int* touching) {
  djmContext* context = djt_context(m);
  mjData* own = mj_makeData(m);
  double worst = 0;
  for (int k = 0; k < steps; k++) {
    for (int i = 0; i < m->nu && k % 10 == 0; i++) d->ctrl[i] = 0.5 * sin(1 + 3 * k + 5 * i);
    mj_copyData(own, m, d);
    if (djm_step(m, own, context) < 0) fail_msg("step %d: %s", k, djm_errorText(context));
    mj_step(m, d);
    *touching += djm_data(djm_pluginContext(m, d))->npair > 0;
    double size = 1;
    for (int i = 0; i < m->nv; i++) size = djt_worst(size, fabs(d->qvel[i]));
    worst = djt_worst(worst, djt_furthest(d->qvel, own->qvel, (int)m->nv) / size);
  }
  *stats = djm_data(context)->stats;
  mj_deleteData(own);
  djm_deleteContext(context);
  return worst;
}

static void testLands(void) {
  static const char* const laws[] = {"hertz", "paper", "barrier"};
  static const int integrators[] = {mjINT_EULER, mjINT_IMPLICIT, mjINT_IMPLICITFAST,
                                    mjINT_DISCRETE};
  for (int k = 0; k < 12; k++) {
    char keys[200];
    snprintf(keys, sizeof(keys), "<config key='law' value='%s'/><config key='damping' value='1'/>",
             laws[k / 4]);
    mjModel* m = djt_compile(textOf(keys, HEAP, HEAP_REST));
    m->opt.integrator = integrators[k % 4];
    mjData* d = mj_makeData(m);
    djStats stats;
    int touching = 0;
    assert_true(missOf(m, d, 150, &stats, &touching) < 1e-12);
    assert_true(touching > 100);
    for (int b = 0; b < 6; b++) assert_true(d->qpos[7 * b + 2] > 0.03);
    djt_deleteEngine(m, d);
  }
}

#define ROUND                                                                                      \
  BALL "<body pos='.03 .02 .29' euler='20 30 0'><freejoint/><geom type='ellipsoid' "               \
       "size='.1 .08 .06'/></body><body pos='-.02 0 .45' euler='70 10 0'><freejoint/>"             \
       "<geom type='capsule' size='.06 .08'/></body>"

// The same run by our model and steps alone, as `dijoco simulate` takes them.
static void testOurRun(void) {
  mjModel* m = djt_compile(
      textOf("<config key='exponent' value='2'/><config key='damping' value='2'/>", ROUND, ""));
  mjData* d = mj_makeData(m);
  djModel* model = djt_import(NULL, m);
  djOption option = model->opt;
  option.integrator = DJ_EULER;
  assert_int_equal(dj_setOption(model, &option, NULL), DJ_OK);
  djData* data = djt_data(model);
  for (int k = 0; k < 100; k++) {
    mj_step(m, d);
    assert_int_equal(dj_step(model, data), DJ_OK);
  }
  assert_true(data->npair > 1);
  assert_true(djt_furthest(d->qpos, data->qpos, (int)m->nq) < 1e-9);
  djt_delete(model, data);
  djt_deleteEngine(m, d);
}

// ------------------------------ keys -------------------------------------------------------------

// Height of the ball's centre after two seconds, and the highest after it has been up.
static double restOf(const char* keys, const char* world, const char* rest) {
  mjModel* m = djt_compile(textOf(keys, world, rest));
  mjData* d = mj_makeData(m);
  for (int k = 0; k < 1000; k++) mj_step(m, d);
  const double z = d->qpos[2];
  djt_deleteEngine(m, d);
  return z;
}

static void testKeys(void) {
  const double weight = 1000 * 4 / 3.0 * 3.14159265358979 * 1e-3 * 9.81;
  char keys[400];
  // W = stiffness depth^exponent
  for (int p = 1; p < 4; p++) {
    const double stiffness = 3e4 * pow(100, p - 1);
    snprintf(keys, sizeof(keys),
             "<config key='stiffness' value='%g'/><config key='exponent' value='%d'/>"
             "<config key='damping' value='20'/>",
             stiffness, p);
    assert_true(fabs(0.1 - pow(weight / stiffness, 1.0 / p) - restOf(keys, BALL, "")) < 1e-6);
  }
  // W = stiffness P'(gap/support)/support, P = (1 - x)^4/x^5
  const double s = 0.01, x = 0.5, slope = 36;
  snprintf(keys, sizeof(keys),
           "<config key='law' value='barrier'/><config key='support' value='%g'/>"
           "<config key='stiffness' value='%.17g'/>",
           s, weight * s / slope);
#define HIGH "<body pos='0 0 .11'><freejoint/><geom name='ball' size='.1'/></body>"
  assert_true(fabs(0.1 + x * s - restOf(keys, HIGH, "")) < 1e-5);
  // A ball that falls from 0.2 m comes back by less than half as high with damping.
  double top[2];
  for (int k = 0; k < 2; k++) {
    snprintf(keys, sizeof(keys),
             "<config key='damping' value='%d'/>"
             "<config key='stiffness_scale' value='.1'/>",
             3 * k);
    mjModel* m =
        djt_compile(textOf(keys, "<body pos='0 0 .3'><freejoint/><geom size='.1'/></body>", ""));
    m->opt.timestep = 5e-4;
    mjData* d = mj_makeData(m);
    bool up = false;
    for (int i = 0; i < 1200; i++) {
      mj_step(m, d);
      if (i > 100 && d->qvel[2] > 0) up = true;
      if (up && d->qvel[2] < 0) break;
    }
    top[k] = d->qpos[2] - 0.1;
    djt_deleteEngine(m, d);
  }
  assert_true(top[0] > 0.1 && top[1] < 0.5 * top[0]);
}

static void expectRefusal(const char* keys, const char* rest, const char* named, const char* why) {
  char error[1000];
  mjModel* m = djt_tryCompile(textOf(keys, BALL, rest), error);
  djt_failIf(m || !strstr(error, named) || !strstr(error, why), "'%s' lacks '%s' or '%s'", error,
             named, why);
}

static void testRefusals(void) {
  expectRefusal("<config key='law' value='hooke'/>", "", "law=hooke", "hertz, paper, barrier");
  expectRefusal("<config key='exponent' value='.5'/>", "", "exponent=.5", "smaller than 1");
  expectRefusal("<config key='exponent' value='two'/>", "", "exponent=two", "not a number");
  expectRefusal("<config key='damping' value='-1'/>", "", "damping=-1", "negative");
  expectRefusal("<config key='stiffness' value='nan'/>", "", "stiffness=nan", "not a number");
  expectRefusal("<config key='stiffness' value='1e400'/>", "", "stiffness=1e400", "finite");
  expectRefusal("<config key='support' value='0'/>", "", "support=0", "positive");
#define SHAPE(geom, data) "<custom><text name='dijoco_shape/" geom "' data='" data "'/></custom>"
  expectRefusal("", SHAPE("ball", "truncated_cone .1 0 .1 .1 20"), "ball", "Rt");
  expectRefusal("", SHAPE("ball", "superellipsoid .1 .1 .1 .5"), "ball", "at least 1");
  expectRefusal("", SHAPE("ball", "egg .1 .1 .1 2"), "ball", "egg");
  expectRefusal("", SHAPE("bowl", "superellipsoid .1 .1 .1 2"), "bowl", "no geom");
  expectRefusal("", SHAPE("floor", "superellipsoid .1 .1 .1 2"), "floor", "plane");
}

// ------------------------------ surfaces, and changes
// ---------------------------------------------

// A given surface is the plugin's too, and a geom that changes its size does so to us.
static void testSurfaces(void) {
#define STIFF "<config key='damping' value='20'/><config key='stiffness_scale' value='100'/>"
  assert_true(fabs(restOf(STIFF, BALL, "") - 0.1) < 1e-4);
  assert_true(fabs(restOf(STIFF, BALL, SHAPE("ball", "superellipsoid .1 .1 .07 1")) - 0.07) < 1e-4);
  mjModel* m = djt_compile(textOf(STIFF, BALL, ""));
  mjData* d = mj_makeData(m);
  for (int k = 0; k < 500; k++) mj_step(m, d);
  m->geom_size[3] = 0.05;
  for (int k = 0; k < 500; k++) mj_step(m, d);
  assert_true(fabs(d->qpos[2] - 0.05) < 1e-4);
  djt_deleteEngine(m, d);
}

static void testRobots(void) {
  static const char* const names[] = {"hopper", "humanoid"};
  static const char more[] =
      "<extension><plugin plugin='dijoco.contact'><instance name='dj'><config key='contact' "
      "value='implicit_surface'/><config key='damping' value='1'/></instance></plugin>"
      "</extension><option integrator='Euler'><flag contact='disable'/></option></mujoco>";
  for (int k = 0; k < 2; k++) {
    static char text[100000];
    char path[1000];
    snprintf(path, sizeof(path), "%s/%s.xml", djt_robotFolder(), names[k]);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof(text) - sizeof(more) - 1, file);
    fclose(file);
    text[n] = '\0';
    char* end = strstr(text, "</mujoco>");
    assert_non_null(end);
    memcpy(end, more, sizeof(more));
    mjModel* m = djt_compile(text);
    mjData* d = mj_makeData(m);
    djStats stats;
    int touching = 0;
    assert_true(missOf(m, d, 300, &stats, &touching) < 1e-11);
    assert_true(touching > 100);
    assert_int_equal(stats.unconverged_steps, 0);
    djt_deleteEngine(m, d);
  }
}

DJT_MAIN_IN(djt_registerContact, NULL, testLands, testOurRun, testKeys, testRefusals, testSurfaces,
            testRobots)
