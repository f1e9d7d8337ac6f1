// The plugin dijoco.contact under states, models and calls that nobody intends: nothing crashes,
// nothing leaks, and what comes after is right.

#include "common/mjcf.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/mujoco.h>

#define WITH(config)                                                                    \
  "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'>" config      \
  "</instance></plugin></extension>"
#define QUIET "<option><flag contact='disable'/></option>"

static const char kScene[] =
    WITH("<config key='support' value='.02'/><config key='geoms' value='all'/>") QUIET
    "<asset><mesh name='wedge' vertex='-.1 -.1 0 .1 -.1 0 -.1 .1 0 .1 .1 0 0 0 .15'/></asset>"
    "<worldbody><geom name='floor' type='plane' size='2 2 .1'/>"
    "<body name='box' pos='0 0 .08' euler='2 1 0'><freejoint/>"
    "<geom name='box' type='box' size='.1 .1 .05'/></body>"
    "<body name='arm' pos='1 0 .3'><joint name='ball' type='ball' damping='.1'/>"
    "<geom type='capsule' fromto='0 0 0 .2 0 -.1' size='.03'/>"
    "<body pos='.2 0 -.1'><joint name='hinge' axis='0 1 0' limited='true' range='-80 80'/>"
    "<geom type='mesh' mesh='wedge'/></body></body>"
    "<body name='hand' mocap='true' pos='0 .5 .1'><geom type='sphere' size='.05'/></body>"
    "</worldbody><actuator><motor name='m' joint='hinge'/>"
    "<general joint='hinge' dyntype='filter' dynprm='.05'/></actuator></mujoco>";

static void run(const mjModel* m, mjData* d, int n) {
  for (int k = 0; k < n; k++) mj_step(m, d);
}

// Fails unless d, after a reset, runs as a fresh data does.
static void expectSound(const mjModel* m, mjData* d) {
  mjData* fresh = mj_makeData(m);
  assert_non_null(fresh);
  mj_resetData(m, d);
  run(m, d, 30);
  run(m, fresh, 30);
  assert_memory_equal(d->qpos, fresh->qpos, m->nq * sizeof(mjtNum));
  assert_memory_equal(d->qvel, fresh->qvel, m->nv * sizeof(mjtNum));
  for (int i = 0; i < m->nq; i++) assert_true(isfinite(d->qpos[i]));
  mj_deleteData(fresh);
}

// ------------------------------ states -----------------------------------------------------------

// Every array that the plugin reads, with one entry made bad.
static void spoil(const mjModel* m, mjData* d, int kind, mjtNum value) {
  switch (kind) {
    case 0: d->qpos[2] = value; break;
    case 1: mju_fill(d->qpos + 3, value, 4); break;
    case 2: d->qpos[m->nq - 1] = value; break;
    case 3: d->qvel[0] = value; break;
    case 4: d->qvel[4] = value; break;
    case 5: mju_fill(d->qvel, value, (int)m->nv); break;
    case 6: d->ctrl[0] = value; break;
    case 7: d->act[0] = value; break;
    case 8: d->qfrc_applied[2] = value; break;
    case 9: d->xfrc_applied[6 + 4] = value; break;
    case 10: d->mocap_pos[1] = value; break;
    case 11: mju_fill(d->mocap_quat, value, 4); break;
    case 12: d->time = value; break;
    case 13: mju_fill(d->qpos + 7, value, 4); break;
    default: break;
  }
}
enum { NSPOIL = 14 };

static void testBadStates(void) {
  static const mjtNum values[] = {NAN, INFINITY, -INFINITY, 0, 1e9, -1e30, 1e200, 1e-320};
  mjModel* m = djt_compile(kScene);
  mjData* d = mj_makeData(m);
  int flags = m->opt.disableflags;
  for (int k = 0; k < 2 * NSPOIL * (int)(sizeof(values) / sizeof(*values)); k++) {
    int kind = k / 2 % NSPOIL;
    m->opt.integrator = (int[]){mjINT_EULER, mjINT_IMPLICIT, mjINT_IMPLICITFAST,
                                mjINT_DISCRETE}[k % 4];
    m->opt.disableflags = k % 2 ? flags | mjDSBL_AUTORESET : flags;
    mj_resetData(m, d);
    run(m, d, 5);
    spoil(m, d, kind, values[k / 2 / NSPOIL]);
    mj_forward(m, d);
    mj_inverse(m, d);
    run(m, d, 3);
    m->opt.disableflags = flags;
    expectSound(m, d);
  }
  djt_deleteEngine(m, d);
}

// Starts that overlap, up to all bodies in one place, come apart without ever being thrown.
static void testOverlaps(void) {
  mjModel* m = djt_compile(
      WITH("") QUIET "<worldbody><geom type='plane' size='2 2 .1'/>"
      "<body pos='0 0 .2'><freejoint/><geom type='box' size='.1 .1 .05'/></body>"
      "<body pos='0 0 .2'><freejoint/><geom type='box' size='.1 .1 .05'/></body>"
      "<body pos='0 0 .2'><freejoint/><geom type='sphere' size='.1'/></body>"
      "</worldbody></mujoco>");
  for (int trial = 0; trial < 4; trial++) {
    mjData* d = mj_makeData(m);
    for (int b = 0; b < 3; b++) {
      d->qpos[7 * b + 2] = trial == 0 ? 0.2 : trial == 1 ? 0 : trial == 2 ? -0.3 : 0.01 * b;
      d->qpos[7 * b] = trial == 3 ? 0.05 * b : 0;
    }
    double fastest = 0;
    for (int k = 0; k < 500; k++) {
      mj_step(m, d);
      for (int i = 0; i < m->nv; i++) fastest = djt_worst(fastest, fabs(d->qvel[i]));
    }
    assert_true(fastest < 200);
    for (int i = 0; i < m->nq; i++) assert_true(isfinite(d->qpos[i]));
    expectSound(m, d);
    mj_deleteData(d);
  }
  mj_deleteModel(m);
}

// ------------------------------ models that change -----------------------------------------------

// Changes that the next step takes in; nonsense makes the plugin stand back.
static void change(mjModel* m, int kind, mjtNum value) {
  switch (kind) {
    case 0: m->opt.timestep = value; break;
    case 1: m->opt.gravity[2] = value; break;
    case 2: m->body_mass[1] = value; break;
    case 3: m->geom_friction[0] = m->geom_friction[3] = value; break;
    case 4: m->geom_size[4] = value; break;
    case 5: m->body_inertia[3] = m->body_inertia[4] = m->body_inertia[5] = value; break;
    case 6: m->dof_damping[m->nv - 1] = value; break;
    case 7: m->geom_pos[3] = value; break;
    case 8: mju_fill(m->geom_quat + 4, value, 4); break;
    case 9: m->jnt_range[5] = value; break;
    case 10: m->qpos0[m->nq - 1] = value; break;
    case 11: m->actuator_gear[0] = value; break;
    case 12: m->opt.viscosity = value; break;
    default: break;
  }
}
enum { NCHANGE = 13 };

// A data that saw the model change goes on as one that is made for the changed model.
static void testChangesTakeEffect(void) {
  static const mjtNum good[NCHANGE] = {5e-3, -3, 2.5, .1, .13, .05, 2, .02, .5, .02, .1, 2, .1};
  for (int kind = 0; kind < NCHANGE; kind++) {
    mjModel *m = djt_compile(kScene), *plain = djt_compile(kScene);
    mjData *d = mj_makeData(m), *unchanged = mj_makeData(plain);
    d->ctrl[0] = unchanged->ctrl[0] = 0.2;
    run(m, d, 40);
    run(plain, unchanged, 40);
    change(m, kind, good[kind]);
    mj_setConst(m, unchanged);  // as MuJoCo asks for; unchanged is scratch here
    mj_copyData(unchanged, plain, d);
    mjData* fresh = mj_makeData(m);
    mj_copyData(fresh, m, d);
    run(m, d, 60);
    run(m, fresh, 60);
    run(plain, unchanged, 60);
    assert_memory_equal(d->qpos, fresh->qpos, m->nq * sizeof(mjtNum));
    assert_memory_not_equal(d->qpos, unchanged->qpos, m->nq * sizeof(mjtNum));
    mj_deleteData(d);
    mj_deleteData(fresh);
    djt_deleteEngine(m, unchanged);
    mj_deleteModel(plain);
  }
}

static void testNonsenseInModels(void) {
  static const mjtNum values[] = {NAN, INFINITY, 0, -1, 1e300};
  for (int k = 0; k < NCHANGE * 5; k++) {
    mjModel* m = djt_compile(kScene);
    mjModel* whole = mj_copyModel(NULL, m);
    mjData* d = mj_makeData(m);
    run(m, d, 5);
    change(m, k / 5, values[k % 5]);
    mj_forward(m, d);
    run(m, d, 2);
    mj_copyModel(m, whole);
    expectSound(m, d);
    djt_deleteEngine(whole, d);
    mj_deleteModel(m);
  }
}

// What cannot be imposed leaves MuJoCo's own step, with one warning; then all is as before.
static void testRefusalsAtRunTime(void) {
  mjModel* m = djt_compile(kScene);
  mjModel* stock = mj_copyModel(NULL, m);
  stock->nplugin = 0;
  mjData *d = mj_makeData(m), *plain = mj_makeData(stock);
  for (int kind = 0; kind < 3; kind++) {
    mjOption opt = m->opt;
    if (kind == 0) m->opt.integrator = mjINT_RK4;
    if (kind == 1) m->opt.enableflags |= mjENBL_SLEEP;
    if (kind == 2) m->opt.disableflags |= mjDSBL_SPRING | mjDSBL_DAMPER;
    stock->opt = m->opt;
    djt_warning[0] = '\0';
    mj_resetData(m, d);
    mj_resetData(stock, plain);
    run(m, d, 20);
    run(stock, plain, 20);
    assert_memory_equal(d->qpos, plain->qpos, m->nq * sizeof(mjtNum));
    if (kind < 2) {
      const char* text = strstr(djt_warning, kind == 0 ? "RK4" : "sleep");
      assert_non_null(text);
      assert_null(strstr(text + 10, "dijoco.contact"));
    }
    m->opt = opt;
    expectSound(m, d);
  }
  mj_deleteData(d);
  mj_deleteData(plain);
  stock->nplugin = m->nplugin;
  mj_deleteModel(stock);
  mj_deleteModel(m);
}

// ------------------------------ specs and files --------------------------------------------------

static mjSpec* parse(const char* text) {
  char error[1000] = "";
  mjSpec* spec = mj_parseXMLString(text, NULL, error, sizeof(error));
  if (!spec) fail_msg("%s", error);
  return spec;
}

static void testRecompile(void) {
  mjSpec* spec = parse(kScene);
  mjModel* m = mj_compile(spec, NULL);
  assert_non_null(m);
  mjData* d = mj_makeData(m);
  for (int k = 0; k < 5; k++) {
    run(m, d, 20);
    mjtNum height = d->qpos[2];
    mjsBody* body = mjs_addBody(mjs_findBody(spec, "world"), NULL);
    body->pos[0] = 3 + k;
    body->pos[2] = 0.2;
    mjs_addFreeJoint(body);
    mjsGeom* geom = mjs_addGeom(body, NULL);
    geom->type = mjGEOM_SPHERE;
    geom->size[0] = 0.1;
    assert_int_equal(mj_recompile(spec, NULL, m, d), 0);
    assert_int_equal(m->nbody, 5 + k + 1);
    assert_true(d->qpos[2] == height);
  }
  run(m, d, 400);
  for (int b = 0; b < 5; b++) {
    double z = d->xpos[3 * (m->nbody - 1 - b) + 2];
    assert_true(fabs(z - 0.1) < 2e-3);
  }
  expectSound(m, d);
  djt_deleteEngine(m, d);
  mj_deleteSpec(spec);
}

// The configuration in XML that MuJoCo writes, and in its binary format.
static void testRoundTrips(void) {
  mjSpec* spec = parse(kScene);
  mjModel* m = mj_compile(spec, NULL);
  assert_non_null(m);
  char error[1000] = "", xml[20000];
  assert_int_equal(mj_saveXMLString(spec, xml, sizeof(xml), error, sizeof(error)), 0);
  mjModel* again = djt_compile(xml);
  const char *path = "plugin_round_trip.mjb";
  mj_saveModel(m, path, NULL, 0);
  mjModel* binary = mj_loadModel(path, NULL);
  remove(path);
  assert_non_null(binary);
  const mjModel* both[] = {again, binary};
  for (int k = 0; k < 2; k++) {
    assert_int_equal(both[k]->nplugin, 1);
    assert_string_equal(mj_getPluginConfig(both[k], 0, "support"), ".02");
    assert_string_equal(mj_getPluginConfig(both[k], 0, "geoms"), "all");
    mjData *d = mj_makeData(m), *e = mj_makeData(both[k]);
    djmContext* context = djm_pluginContext(both[k], e);
    assert_non_null(context);
    assert_true(djm_model(context)->contact.support == 0.02);
    run(m, d, 100);
    run(both[k], e, 100);
    double worst = 0;
    for (int i = 0; i < m->nq; i++) worst = djt_worst(worst, fabs(d->qpos[i] - e->qpos[i]));
    assert_true(worst < 1e-4);
    if (k == 1) assert_true(worst == 0);
    mj_deleteData(d);
    mj_deleteData(e);
  }
  mj_deleteModel(binary);
  mj_deleteModel(again);
  mj_deleteModel(m);
  mj_deleteSpec(spec);
}

// ------------------------------ making and deleting ----------------------------------------------

static void testManyTimes(void) {
  mjModel* m = djt_compile(kScene);
  for (int k = 0; k < 200; k++) {
    mjData* d = mj_makeData(m);
    if (k % 3 == 0) run(m, d, 2);
    mjData* copy = mj_copyData(NULL, m, d);
    mj_deleteData(d);
    if (k % 5 == 0) mj_resetData(m, copy);
    if (k % 7 == 0) {
      m->opt.timestep = k % 2 ? 2e-3 : 1e-3;
      run(m, copy, 1);
    }
    mj_deleteData(copy);
  }
  mj_deleteModel(m);
}

static void expectError(const char* text, const char* reason) {
  char error[1000];
  mjModel* m = djt_tryCompile(text, error);
  if (m || !strstr(error, reason)) fail_msg("'%s' lacks '%s'", error, reason);
}

// Scenes that cannot have the plugin, again and again; and the smallest that can.
static void testScenes(void) {
  static const char* const fine[] = {
      WITH("") "</mujoco>",
      WITH("") QUIET "<worldbody><geom type='plane' size='1 1 1'/></worldbody></mujoco>",
      WITH("") "<worldbody><body><joint/><inertial pos='0 0 .1' mass='1' diaginertia='1 1 1'/>"
      "</body></worldbody></mujoco>",
      WITH("") "<asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1'/></asset>"
      "<worldbody><geom type='hfield' hfield='h'/><body><freejoint/><geom size='.1'/>"
      "</body></worldbody></mujoco>",
      WITH("<config key='contact' value='none'/>") "<worldbody><body><freejoint/>"
      "<geom size='.1'/></body></worldbody></mujoco>"};
  for (int trial = 0; trial < 20; trial++) {
    expectError("<mujoco><extension><plugin plugin='dijoco.contact'><instance name='a'/>"
                "<instance name='b'/></plugin></extension></mujoco>", "a scene may have one");
    expectError(WITH("<config key='support' value='7'/>") "</mujoco>", "support");
    expectError(WITH("<config key='geoms' value='nobody'/>") "</mujoco>", "nobody");
    expectError(WITH("") "<option integrator='RK4'/></mujoco>", "RK4");
  }
  for (int k = 0; k < (int)(sizeof(fine) / sizeof(*fine)); k++) {
    mjModel* m = djt_compile(fine[k]);
    mjData* d = mj_makeData(m);
    run(m, d, 10);
    djt_deleteEngine(m, d);
  }
}

DJT_MAIN_IN(djt_keepWarnings, NULL, testBadStates, testOverlaps, testChangesTakeEffect,
            testNonsenseInModels, testRefusalsAtRunTime, testRecompile, testRoundTrips,
            testManyTimes, testScenes)
