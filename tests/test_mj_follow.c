// A context follows changes of its mjModel as a new context would have them; what the user has set
// on it stays.

#include "common/make_model.h"
#include "common/mj_zoo.h"
#include "common/near.h"
#include "common/random.h"
#include "common/room.h"
#include "common/test.h"
#include "follow.h"

#include <dijoco/dijoco.h>

typedef struct Scene {
  mjModel* m;
  mjData* d;
  djmContext* c;
} Scene;

enum { STEPS = 25 };

// The zoo, some steps after a shaken start; settings: of the context, or NULL.
static Scene openScene(const djSettings* settings) {
  Scene x = {.m = djt_compile(DJT_ZOO)};
  djRng rng = {5};
  djError err;
  x.d = mj_makeData(x.m);
  if (djm_makeContextWith(&x.c, NULL, x.m, settings, &err) != DJ_OK) fail_msg("%s", err.text);
  djt_shake(x.d, &rng, x.m, 0.05, 0.5);
  for (int k = 0; k < STEPS; k++) assert_true(djm_step(x.m, x.d, x.c) >= 0);
  return x;
}

static void closeScene(Scene* x) {
  djm_deleteContext(x->c);
  djt_deleteEngine(x->m, x->d);
}

static int geom(const mjModel* m, const char* name) { return mj_name2id(m, mjOBJ_GEOM, name); }

static void gravity(mjModel* m) { m->opt.gravity[0] = 3; }
static void timestep(mjModel* m) { m->opt.timestep = 0.005; }
static void wind(mjModel* m) { m->opt.density = 20, m->opt.wind[1] = 4; }
static void noGravity(mjModel* m) { m->opt.disableflags |= mjDSBL_GRAVITY; }
static void noContact(mjModel* m) { m->opt.disableflags |= mjDSBL_CONTACT; }
static void size(mjModel* m) { m->geom_size[3 * geom(m, "base") + 2] = 0.09; }
static void pose(mjModel* m) { m->geom_pos[3 * geom(m, "base") + 2] = 0.01; }
static void type(mjModel* m) { m->geom_type[geom(m, "base")] = mjGEOM_ELLIPSOID; }
static void friction(mjModel* m) {
  m->geom_friction[3 * geom(m, "base")] = m->geom_friction[0] = 0.1;
}
static void contype(mjModel* m) {
  m->geom_contype[geom(m, "base")] = m->geom_conaffinity[geom(m, "base")] = 0;
}
static void mass(mjModel* m) {
  m->body_mass[2] *= 2;
  for (int i = 0; i < 3; i++) m->body_inertia[6 + i] *= 2;
}
static void joint(mjModel* m) { m->jnt_axis[3 * m->njnt - 1] = 0.5; }
static void damping(mjModel* m) { m->dof_damping[m->nv - 1] = 1; }
static void spring(mjModel* m) { m->jnt_stiffness[2] = 50; }
static void loss(mjModel* m) { m->dof_frictionloss[m->nv - 1] = 1; }
static void gain(mjModel* m) { m->actuator_gainprm[0] = 3; }
static void gear(mjModel* m) { m->actuator_gear[0] = 3; }
static void law(mjModel* m) { m->actuator_biastype[2] = mjBIAS_NONE; }
static void muscle(mjModel* m) { m->actuator_gaintype[2] = mjGAIN_MUSCLE; }   // left out
static void tendon(mjModel* m) { m->tendon_stiffness[0] = 30; }

static void sameState(const mjModel* m, const mjData* d, const mjData* e) {
  assert_memory_equal(d->qpos, e->qpos, sizeof(mjtNum) * (size_t)m->nq);
  assert_memory_equal(d->qvel, e->qvel, sizeof(mjtNum) * (size_t)m->nv);
  assert_memory_equal(d->act, e->act, sizeof(mjtNum) * (size_t)m->na);
  assert_memory_equal(d->cfrc_ext, e->cfrc_ext, sizeof(mjtNum) * 6 * (size_t)m->nbody);
  assert_memory_equal(d->sensordata, e->sensordata, sizeof(mjtNum) * (size_t)m->nsensordata);
}

// After each change the steps are those of a context made after it, and not those without it.
static void testChanges(void) {
  void (*const change[])(mjModel*) = {gravity, timestep, wind,    noGravity, noContact,
                                      size,    pose,     type,    friction,  contype,
                                      mass,    joint,    damping, spring,    loss,
                                      gain,    gear,     law,     muscle,    tendon};
  for (size_t k = 0; k < sizeof(change) / sizeof(*change); k++) {
    Scene x = openScene(NULL);
    x.d->ctrl[0] = 0.5;
    mjData *e = mj_copyData(NULL, x.m, x.d), *was = mj_copyData(NULL, x.m, x.d);
    mjModel* before = mj_copyModel(NULL, x.m);
    change[k](x.m);
    djmContext *fresh = djt_context(x.m), *old = djt_context(before);
    for (int i = 0; i < 3; i++) {
      assert_true(djm_step(x.m, x.d, x.c) >= 0);
      assert_true(djm_step(x.m, e, fresh) >= 0);
      assert_true(djm_step(before, was, old) >= 0);
      sameState(x.m, x.d, e);
    }
    djt_failIf(memcmp(x.d->qvel, was->qvel, sizeof(mjtNum) * (size_t)x.m->nv) == 0,
               "change %d does nothing", (int)k);
    assert_int_equal(djm_changes(x.c), 1);
    assert_int_equal(djm_changes(fresh), 0);
    assert_int_equal(djm_data(x.c)->stats.steps, STEPS + 3);   // of the run
    djm_deleteContext(fresh);
    djm_deleteContext(old);
    mj_deleteData(e);
    djt_deleteEngine(before, was);
    closeScene(&x);
  }
}

// djm_forward and djm_transition follow, too; a context is followed back and forth.
static void testCalls(void) {
  Scene x = openScene(NULL);
  size_t nx = 2 * (size_t)x.m->nv + (size_t)x.m->na;
  double* A[2] = {djt_room(nx * nx), djt_room(nx * nx)};
  for (int k = 0; k < 4; k++) {
    x.m->geom_friction[0] = x.m->geom_friction[3] = 0.2 + 0.1 * (k % 2);
    x.m->opt.gravity[0] = k % 2;
    djmContext* fresh = djt_context(x.m);
    assert_true(djm_transition(x.m, x.d, x.c, A[0], NULL, NULL, NULL) >= 0);
    assert_true(djm_transition(x.m, x.d, fresh, A[1], NULL, NULL, NULL) >= 0);
    assert_memory_equal(A[0], A[1], nx * nx * sizeof(double));
    x.m->opt.gravity[2] -= 1;
    mjData* e = mj_copyData(NULL, x.m, x.d);
    assert_true(djm_forward(x.m, x.d, x.c) >= 0);
    assert_true(djm_forward(x.m, e, fresh) >= 0);
    assert_memory_equal(x.d->qacc, e->qacc, sizeof(mjtNum) * (size_t)x.m->nv);
    assert_int_equal(djm_changes(x.c), 2 * k + 2);
    djm_deleteContext(fresh);
    mj_deleteData(e);
  }
  free(A[0]);
  free(A[1]);
  closeScene(&x);
}

static double settingOf(const djModel* model, const char* name) {
  double value[3];
  dj_getSetting(value, &model->opt, dj_findSetting(name, 0));
  return value[0];
}

static void setOf(djModel* model, const char* name, double value) {
  djError err;
  if (dj_setOptionEntry(model, name, &value, 1, &err) < 0) fail_msg("%s", err.text);
}

static double paramOf(djmContext* c, const char* name) {
  double value[20];
  djParam param = djt_param(djm_model(c), name);
  assert_true(param.nvalue <= 20);
  dj_getParam(value, djm_model(c), &param);
  return value[0];
}

static void setParam(djmContext* c, const char* name, double first) {
  djParam param;
  double value[20];
  djError err;
  assert_true(dj_paramId(&param, djm_model(c), name, &err) == DJ_OK);
  dj_getParam(value, djm_model(c), &param);
  value[0] = first;
  if (dj_setParam(djm_model(c), &param, value, &err) < 0) fail_msg("%s", err.text);
}

// What was set on the context's model and data stays; the rest is the mjModel's.
static void testSettings(void) {
  Scene x = openScene(NULL);
  djModel* model = djm_model(x.c);
  djData* data = djm_data(x.c);
  djm_stepOption(x.c)->substeps = 3;
  assert_true(djm_step(x.m, x.d, x.c) >= 0);   // applies the rules of settings anew
  setOf(model, "tolerance", 1e-7);
  setOf(model, "integrator", DJ_VARIATIONAL);
  setOf(model, "support_scale", 2);
  setParam(x.c, "body/link/mass", 0.9);
  setParam(x.c, "geom/tip/friction", 0.3);
  setParam(x.c, "contact/penalty/kn", 77);
  data->gravity_scale = 0.5;
  assert_true(djm_step(x.m, x.d, x.c) >= 0);
  for (int k = 1; k <= 2; k++) {
    x.m->opt.gravity[1] = k;
    x.m->opt.timestep = 0.003 * k;
    x.m->geom_size[3 * geom(x.m, "base")] = 0.2 + 0.01 * k;
    x.m->geom_friction[0] = 0.7;
    assert_true(djm_step(x.m, x.d, x.c) >= 0);
    assert_true(djm_model(x.c) == model && djm_data(x.c) == data);
    djt_near(settingOf(model, "tolerance"), 1e-7, 0);
    djt_near(settingOf(model, "integrator"), DJ_VARIATIONAL, 0);
    djt_near(settingOf(model, "support_scale"), 2, 0);
    djt_near(paramOf(x.c, "body/link/mass"), 0.9, 0);
    djt_near(paramOf(x.c, "geom/tip/friction"), 0.3, 0);
    djt_near(paramOf(x.c, "contact/penalty/kn"), 77, 0);
    djt_near(data->gravity_scale, 0.5, 0);
    djt_near(model->opt.gravity[1], k, 0);
    djt_near(model->opt.timestep, 0.001 * k, 1e-16);
    djt_near(model->geom_size[3 * geom(x.m, "base")], 0.2 + 0.01 * k, 0);
    djt_near(paramOf(x.c, "geom/floor/friction"), 0.7, 0);
  }
  setOf(model, "timestep", 0.0005);   // the user's own, of a substep
  x.m->opt.timestep = 0.004;
  x.m->body_mass[3] = 1.5;            // one that was set, another that was not
  x.m->body_mass[4] = 1.6;
  assert_true(djm_step(x.m, x.d, x.c) >= 0);
  djt_near(model->opt.timestep, 0.0005, 0);
  djt_near(paramOf(x.c, "body/link/mass"), 0.9, 0);
  djt_near(paramOf(x.c, "body/tip/mass"), 1.6, 0);
  closeScene(&x);
}

// Settings that a context is made with are stronger than the scene's, also where they are equal.
static void testGiven(void) {
  djSettings given = {.given = {0}};
  djError err;
  const char* const text[][2] = {
      {"contact", "implicit_surface"}, {"timestep", "0.002"}, {"integrator", "position"}};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(dj_parseSetting(&given, text[i][0], text[i][1], &err), DJ_OK);
  }
  Scene x = openScene(&given);
  const djModel* model = djm_model(x.c);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(model->opt.contact, DJ_IMPLICIT_SURFACE);
    assert_int_equal(model->opt.integrator, DJ_POSITION);
    djt_near(model->opt.timestep, 0.002, 0);
    x.m->opt.timestep = 0.004;
    x.m->opt.gravity[2] = -5;
    assert_true(djm_step(x.m, x.d, x.c) >= 0);
    djt_near(model->opt.gravity[2], -5, 0);
  }
  closeScene(&x);
  djmContext* c;
  mjModel* m = djt_compile(DJT_ZOO);
  given.option.timestep = -1;
  djt_refusedWith(DJ_INVALID, djm_makeContextWith(&c, NULL, m, &given, &err), err, "timestep");
  assert_null(c);
  mj_deleteModel(m);
}

// A change that cannot be: the call says which, d stays, and it goes on once that is mended.
static void testRefused(void) {
  Scene x = openScene(NULL);
  setOf(djm_model(x.c), "tolerance", 1e-7);
  setOf(djm_model(x.c), "support_scale", 2);
  mjData* e = mj_copyData(NULL, x.m, x.d);
  struct {
    mjtNum *at, value;
    const char* name;
  } bad[] = {{x.m->body_mass + 3, NAN, "body 'link'"},
             {x.m->geom_size + 3 * geom(x.m, "base"), -1, "geom 'base'"},
             {&x.m->opt.timestep, 0, "timestep"},
             {x.m->jnt_axis + 3 * 2, INFINITY, "joint '"}};
  for (size_t k = 0; k < sizeof(bad) / sizeof(*bad); k++) {
    mjtNum was = *bad[k].at;
    *bad[k].at = bad[k].value;
    for (int i = 0; i < 2; i++) {
      assert_true(djm_step(x.m, x.d, x.c) < 0);
      const char* why = djm_errorText(x.c);
      djt_failIf(!strstr(why, "has changed and cannot be followed") || !strstr(why, bad[k].name),
                 "%s: %s", bad[k].name, why);
    }
    sameState(x.m, x.d, e);
    *bad[k].at = was;
    assert_true(djm_forward(x.m, x.d, x.c) >= 0);
    mj_copyData(x.d, x.m, e);
    assert_int_equal(djm_changes(x.c), 0);
  }
  x.m->geom_type[geom(x.m, "base")] = mjGEOM_MESH;   // of which there are none
  assert_true(djm_step(x.m, x.d, x.c) < 0);
  assert_non_null(strstr(djm_errorText(x.c), "geom 'base'"));
  x.m->geom_type[geom(x.m, "base")] = mjGEOM_BOX;
  x.m->opt.gravity[2] = -9;
  assert_true(djm_step(x.m, x.d, x.c) >= 0);
  djt_near(settingOf(djm_model(x.c), "tolerance"), 1e-7, 0);
  djt_near(settingOf(djm_model(x.c), "support_scale"), 2, 0);
  mj_deleteData(e);
  closeScene(&x);
}

// What was replaced may be read on; the report is the new import's.
static void testTaken(void) {
  Scene x = openScene(NULL);
  const double *masses = djm_model(x.c)->body_mass, *qpos = djm_data(x.c)->qpos, was = masses[3];
  double q = qpos[0];
  djModel* model;
  djData* data;
  djReport* report;
  assert_false(djm_takeChange(x.c, &model, &data, &report));
  assert_true(!model && !data && !report);
  x.m->body_mass[3] = 5;
  x.m->opt.integrator = mjINT_RK4;
  assert_true(djm_step(x.m, x.d, x.c) >= 0);
  assert_true(djm_takeChange(x.c, &model, &data, &report));
  djt_near(djm_model(x.c)->body_mass[3], 5, 0);
  assert_true(djm_model(x.c)->body_mass != masses && djm_data(x.c)->qpos != qpos);
  djt_near(masses[3], was, 0);
  djt_near(qpos[0], q, 0);
  assert_true(model->body_mass == masses && data->qpos == qpos);
  assert_non_null(djt_entry(report, "option", "integrator"));
  assert_int_equal(dj_step(model, data), DJ_OK);   // both still go with each other
  dj_deleteModel(model);
  dj_deleteData(data);
  dj_deleteReport(report);
  assert_false(djm_takeChange(x.c, NULL, NULL, NULL));
  for (int k = 0; k < 3; k++) {   // not taken, taken in part
    x.m->body_mass[3] += 1;
    assert_true(djm_step(x.m, x.d, x.c) >= 0);
    if (k == 1) assert_true(djm_takeChange(x.c, NULL, NULL, NULL));
  }
  closeScene(&x);
}

// Sensors are filled where there are some that are not disabled, unless the user says otherwise.
static void testSensors(void) {
  Scene x = openScene(NULL);
  djmStepOption* option = djm_stepOption(x.c);
  assert_true(option->sensors);
  x.m->opt.disableflags |= mjDSBL_SENSOR;
  assert_true(djm_step(x.m, x.d, x.c) >= 0);
  assert_false(option->sensors);
  x.m->opt.disableflags = 0;
  assert_true(djm_step(x.m, x.d, x.c) >= 0);
  assert_true(option->sensors);
  option->sensors = false;
  x.m->opt.gravity[2] = -9;
  assert_true(djm_step(x.m, x.d, x.c) >= 0);
  assert_false(option->sensors);
  closeScene(&x);
  mjModel* m = djt_compile("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body>"
                           "</worldbody></mujoco>");
  djmContext* c = djt_context(m);
  assert_false(djm_stepOption(c)->sensors);
  djm_deleteContext(c);
  mj_deleteModel(m);
}

DJT_MAIN(testChanges, testCalls, testSettings, testGiven, testRefused, testTaken, testSensors)
