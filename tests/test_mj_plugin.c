// The plugin dijoco.contact inside MuJoCo's step.

#include "common/mjcf.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/mujoco.h>

// A scene with an instance of the plugin: its configuration, options, bodies and the rest.
typedef struct Scene {
  const char* config;     // <config .../> elements
  const char* option;     // attributes and children of <option
  const char* world;
  const char* rest;
} Scene;

static mjModel* compile(const Scene* scene, char error[1000]) {
  static char xml[8000];
  snprintf(xml, sizeof(xml),
           "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'>%s</instance>"
           "</plugin></extension><option %s</option><worldbody>%s</worldbody>%s</mujoco>",
           scene->config ? scene->config : "", scene->option, scene->world,
           scene->rest ? scene->rest : "");
  return djt_tryCompile(xml, error);
}

static mjModel* load(const Scene* scene) {
  char error[1000] = "";
  mjModel* m = compile(scene, error);
  if (!m) print_message("%s\n", error);
  assert_non_null(m);
  return m;
}

static const char kNoContact[] = "><flag contact='disable'/>";
static const char kBoxOnPlane[] =
    "<geom name='floor' type='plane' size='2 2 .1'/>"
    "<body name='box' pos='0 0 .3'><freejoint/><geom name='box' type='box' size='.1 .1 .05'/>"
    "</body>";

// Largest difference of MuJoCo's step with the plugin and of djm_step, by the plugin's integrator,
// from the same states, along a run of the former.
static double missOf(const mjModel* m, int steps, djIntegrator integrator, double* height) {
  djmContext* context;
  djError err;
  assert_int_equal(djm_makeContext(&context, NULL, m, &err), DJ_OK);
  djm_model(context)->opt.integrator = integrator;
  mjData *d = mj_makeData(m), *own = mj_makeData(m);
  double worst = 0;
  for (int i = 0; i < steps; i++) {
    mj_copyData(own, m, d);
    assert_true(djm_step(m, own, context) >= 0);
    mj_step(m, d);
    worst = djt_worst(worst, djt_furthest(d->qvel, own->qvel, (int)m->nv));
    worst = djt_worst(worst, djt_furthest(d->qpos, own->qpos, (int)m->nq));
  }
  *height = d->qpos[2];
  mj_deleteData(d);
  mj_deleteData(own);
  djm_deleteContext(context);
  return worst;
}

static void testLandsOnOurStep(void) {
  static const char* const integrators[] = {"Euler", "implicit", "implicitfast", "discrete"};
  for (int i = 0; i < 4; i++) {
    char option[200];
    snprintf(option, sizeof(option), "integrator='%s'%s", integrators[i], kNoContact);
    mjModel* m = load(&(Scene){.option = option, .world = kBoxOnPlane});
    double height, miss = missOf(m, 500, DJ_EULER, &height);
    assert_true(miss < 1e-10);
    assert_true(fabs(height - 0.05) < 1e-3);
    mj_deleteModel(m);
  }
}

// With `euler` limits, friction loss and damping at the end of the step are MuJoCo's own, of both.
static void testLandsOnEuler(void) {
  static const char* const integrators[] = {"Euler", "implicit", "implicitfast", "discrete"};
  static const char arm[] =
      "<geom type='plane' size='2 2 .1'/><body pos='0 0 .5'><joint axis='0 1 0' limited='true' "
      "range='-40 20' damping='.3' frictionloss='.05'/><geom type='capsule' size='.03' "
      "fromto='0 0 0 .3 0 0'/><body pos='.3 0 0'><joint axis='0 1 0' limited='true' "
      "range='-10 60' damping='.2'/><geom type='capsule' size='.03' fromto='0 0 0 .25 0 -.2'/>"
      "</body></body><body pos='.45 0 .06'><freejoint/><geom type='box' size='.05 .05 .05'/>"
      "</body>";
  for (int i = 0; i < 4; i++) {
    char option[200];
    snprintf(option, sizeof(option), "integrator='%s'%s", integrators[i], kNoContact);
    mjModel* m = load(&(Scene){.option = option, .world = arm,
                               .rest = "<custom><text name='dijoco_integrator' data='euler'/>"
                                       "</custom>"});
    double angle, position;
    assert_true(missOf(m, 500, DJ_EULER, &angle) < 1e-10);
    assert_true(missOf(m, 100, DJ_POSITION, &position) > 1e-4);
    mj_deleteModel(m);
  }
}

// Without the plugin the box would fall: it is the plugin that holds it.
static void testIsNeeded(void) {
  mjModel* m = load(&(Scene){.config = "<config key='geoms' value='floor'/>"
                                       "<config key='contact' value='none'/>",
                             .option = kNoContact, .world = kBoxOnPlane});
  mjData* d = mj_makeData(m);
  for (int i = 0; i < 500; i++) mj_step(m, d);
  assert_true(d->qpos[2] < -3);
  djt_deleteEngine(m, d);
}

// ------------------------------ configuration ---------------------------------------------------

static void expectRefusal(const char* config, const char* option, const char* text) {
  char error[1000] = "";
  mjModel* m = compile(&(Scene){.config = config, .option = option, .world = kBoxOnPlane}, error);
  if (!strstr(error, text)) print_message("'%s' lacks '%s'\n", error, text);
  assert_null(m);
  assert_non_null(strstr(error, text));
}

static void testRefusals(void) {
  expectRefusal("<config key='suport' value='1'/>", kNoContact, "suport");
  expectRefusal("<config key='support' value='x'/>", kNoContact, "support");
  expectRefusal("<config key='support' value='2'/>", kNoContact, "support");
  expectRefusal("<config key='contact' value='hertz'/>", kNoContact, "hertz");
  expectRefusal("<config key='substeps' value='0'/>", kNoContact, "substeps");
  expectRefusal("<config key='geoms' value='box ball'/>", kNoContact, "ball");
  expectRefusal("<config key='bodies' value='table'/>", kNoContact, "table");
  expectRefusal("<config key='constraints' value='both'/>", kNoContact, "both");
  expectRefusal("", "integrator='RK4'><flag contact='disable'/>", "RK4");
  expectRefusal("", "><flag contact='disable' spring='disable' damper='disable'/>", "passive");
}

static void testSettings(void) {
  mjModel* m = load(&(Scene){.config = "<config key='support' value='.02'/>"
                                       "<config key='skin' value='0'/>",
                             .option = kNoContact, .world = kBoxOnPlane,
                             .rest = "<custom><numeric name='dijoco_support' data='.05'/>"
                                     "<numeric name='dijoco_stiffness' data='3'/></custom>"});
  djModel* model;
  djError err;
  assert_int_equal(dj_importMuJoCo(&model, NULL, m, &err), DJ_OK);
  assert_true(model->contact.support == 0.02);     // the instance is stronger
  assert_true(model->contact.stiffness == 3);
  assert_true(model->contact.skin == 0);
  dj_deleteModel(model);
  mj_deleteModel(m);
}

static void testSubsteps(void) {
  mjModel* m = load(&(Scene){.config = "<config key='substeps' value='4'/>", .option = kNoContact,
                             .world = kBoxOnPlane});
  mjData* d = mj_makeData(m);
  for (int i = 0; i < 100; i++) mj_step(m, d);
  assert_true(fabs(d->qvel[2] + 9.81 * 100 * m->opt.timestep) < 1e-9);
  for (int i = 0; i < 500; i++) mj_step(m, d);
  assert_true(fabs(d->qpos[2] - 0.05) < 1e-3);
  djt_deleteEngine(m, d);
}

// ------------------------------ ownership -------------------------------------------------------

static const char kTwoBoxes[] =
    "<geom name='floor' type='plane' size='2 2 .1'/>"
    "<body name='one' pos='0 0 .3'><freejoint/><geom name='one' type='box' size='.1 .1 .05' "
    "contype='0' conaffinity='0'/></body>"
    "<body name='two' pos='1 0 .3'><freejoint/><geom name='two' type='box' size='.1 .1 .05'/>"
    "<geom name='looks' type='sphere' size='.3' contype='0' conaffinity='0' mass='0'/></body>";

static bool isPair(const mjModel* m, const char* a, const char* b) {
  djModel* model;
  djError err;
  assert_int_equal(dj_importMuJoCo(&model, NULL, m, &err), DJ_OK);
  int ga = dj_name2id(model, DJ_OBJ_GEOM, a), gb = dj_name2id(model, DJ_OBJ_GEOM, b);
  bool collide = (model->geom_contype[ga] & model->geom_conaffinity[gb]) ||
                 (model->geom_contype[gb] & model->geom_conaffinity[ga]);
  dj_deleteModel(model);
  return collide;
}

// One box is ours and has no bits, the other is MuJoCo's: both rest, and nothing touches what is
// only for looks.
static void testOwnedGeoms(void) {
  const char* const keys[] = {"<config key='geoms' value='one'/>",
                              "<config key='bodies' value='one'/>"};
  for (int i = 0; i < 2; i++) {
    djt_warning[0] = '\0';
    mjModel* m = load(&(Scene){.config = keys[i], .option = ">", .world = kTwoBoxes});
    mjData* d = mj_makeData(m);
    assert_null(strstr(djt_warning, "acts twice"));
    for (int k = 0; k < 500; k++) mj_step(m, d);
    assert_true(fabs(d->qpos[2] - 0.05) < 1e-3);
    assert_true(fabs(d->qpos[9] - 0.05) < 1e-2);
    for (int k = 0; k < d->ncon; k++) assert_true(d->contact[k].geom[1] != 1);
    assert_true(d->ncon > 0);
    assert_true(isPair(m, "one", "floor") && isPair(m, "one", "two"));
    assert_true(isPair(m, "two", "floor"));          // in djm_step all contacts are ours
    assert_false(isPair(m, "one", "looks"));
    djt_deleteEngine(m, d);
  }
}

static void makeAndDelete(void* model) { mj_deleteData(mj_makeData(model)); }

// A warning that was swallowed is given again.
static void testWarnsAfterGuard(void) {
  static const char kWorld[] =
      "<geom name='ground' type='plane' size='2 2 .1'/><body pos='0 0 1'><freejoint/>"
      "<geom name='crate' size='.1'/></body>";
  mjModel* m = load(&(Scene){.option = ">", .world = kWorld});
  djError err;
  djt_warning[0] = '\0';
  assert_int_equal(djm_guard(makeAndDelete, m, &err), DJ_OK);
  assert_non_null(strstr(err.text, "ground, crate"));
  assert_null(strstr(djt_warning, "crate"));
  mjData* d = mj_makeData(m);
  assert_non_null(strstr(djt_warning, "acts twice: ground, crate"));
  djt_deleteEngine(m, d);
}

static void testWarnsOfDoubleContact(void) {
  djt_warning[0] = '\0';
  mjModel* m = load(&(Scene){.option = ">", .world = kTwoBoxes});
  mjData* d = mj_makeData(m);
  mjData* again = mj_makeData(m);
  const char* text = strstr(djt_warning, "acts twice");
  assert_non_null(text);
  assert_non_null(strstr(text, "floor, two"));
  assert_null(strstr(text + 1, "acts twice"));         // once
  mj_deleteData(d);
  djt_deleteEngine(m, again);
}

// ------------------------------ what MuJoCo keeps -----------------------------------------------

static const char kLimited[] =
    "<body pos='0 0 1'><joint name='hinge' axis='0 1 0' range='-30 30'/>"
    "<geom type='capsule' fromto='0 0 0 .5 0 0' size='.02'/></body>";

static void testConstraints(void) {
  const Scene scenes[] = {
      {.option = ">", .world = kLimited},
      {.config = "<config key='constraints' value='mujoco'/>", .option = ">", .world = kLimited},
      {.option = "><flag limit='disable'/>", .world = kLimited}};
  for (int i = 0; i < 3; i++) {
    mjModel* m = load(&scenes[i]);
    mjData* d = mj_makeData(m);
    double deepest = 0;
    for (int k = 0; k < 1000; k++) {
      mj_step(m, d);
      deepest = djt_worst(deepest, fabs(d->qpos[0]));
    }
    if (i < 2) {
      assert_true(deepest > 0.5 && deepest < 0.62);
    } else {
      assert_true(deepest > 1);      // nobody limits it
    }
    djt_deleteEngine(m, d);
  }
}

// Limits and friction loss of joints are ours by default: MuJoCo's solver leaves them alone,
// whatever solver it is, and MuJoCo's step lands on ours.
static const char kLegs[] =
    "<geom type='plane' size='3 3 1' friction='.1' priority='1'/><body pos='0 0 .3'><freejoint/>"
    "<geom type='box' size='.2 .2 .05' mass='5'/><body pos='.2 0 0'><joint axis='0 1 0' "
    "range='-5 5' frictionloss='.3'/><geom type='capsule' fromto='0 0 0 .1 0 -.25' size='.02' "
    "mass='.2'/></body><body pos='-.2 0 0'><joint axis='0 1 0' range='-5 5' "
    "solreflimit='-900 -30'/><geom type='capsule' fromto='0 0 0 -.1 0 -.25' size='.02' mass='.2'/>"
    "</body></body>";

static void testJointsAreOurs(void) {
  static const char* const integrators[] = {"Euler", "implicit", "implicitfast", "discrete"};
  static const char* const solvers[] = {"Newton", "CG", "PGS"};
  for (int i = 0; i < 12; i++) {
    char option[200];
    snprintf(option, sizeof(option), "integrator='%s' solver='%s'%s", integrators[i % 4],
             solvers[i / 4], kNoContact);
    mjModel* m = load(&(Scene){.option = option, .world = kLegs});
    double height;
    double miss = missOf(m, 400, i % 4 == 3 ? DJ_POSITION : DJ_EULER, &height);
    assert_true(miss < 1e-9);
    mjData* d = mj_makeData(m);
    int limits = 0;
    for (int k = 0; k < 400; k++) {
      mj_step(m, d);
      for (int r = 0; r < d->nefc; r++) {
        limits += d->efc_type[r] == mjCNSTR_LIMIT_JOINT;
        assert_true(fabs(d->efc_force[r]) < 1e-12);
      }
    }
    assert_true(limits > 100);
    djt_deleteEngine(m, d);
  }
}

// Forces that only MuJoCo has act beside our contact: springs and dampers of tendons, muscles.
static const char kTendons[] =
    "<body pos='0 0 1'><joint name='a' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 .5 0 0' "
    "size='.02'/><body pos='.5 0 0'><joint name='b' axis='0 1 0'/><geom type='capsule' "
    "fromto='0 0 0 .3 0 0' size='.02'/></body></body>";
static const char kTendonRest[] =
    "<tendon><fixed name='t' stiffness='30' damping='.2' springlength='.1 .2'>"
    "<joint joint='a' coef='1'/><joint joint='b' coef='-.5'/></fixed></tendon>"
    "<actuator><muscle name='m' joint='b' force='20' lengthrange='-1 1' timeconst='.01 .04'/>"
    "</actuator>";

static void testForcesThatOnlyMuJoCoHas(void) {
  double worst[2];
  for (int i = 0; i < 2; i++) {
    double h = i == 0 ? 2e-3 : 1e-3;
    char option[100];
    snprintf(option, sizeof(option), "timestep='%g'%s", h, kNoContact);
    mjModel* m = load(&(Scene){.option = option, .world = kTendons, .rest = kTendonRest});
    mjModel stock = *m;
    stock.nplugin = 0;
    mjData *d = mj_makeData(m), *other = mj_makeData(m);
    d->ctrl[0] = other->ctrl[0] = 0.7;
    for (int k = 0; k < (int)round(0.5 / h); k++) {
      mj_step(m, d);
      mj_step(&stock, other);
    }
    worst[i] = djt_furthest(d->qpos, other->qpos, 2);
    assert_true(fabs(d->qpos[0]) > 0.1);
    mj_deleteData(d);
    djt_deleteEngine(m, other);
  }
  print_message("beside MuJoCo: %.1e, %.1e\n", worst[0], worst[1]);
  assert_true(worst[0] < 1e-12 && worst[1] < 1e-12);
}

// A step of the plugin's own context is the same with sensors, for which MuJoCo calls the plugin in
// between; also after a change of the model, which the plugin takes in at its next turn.
static void testStepsOfItsContext(void) {
  mjModel* m = load(&(Scene){.option = kNoContact, .world = kTendons, .rest = kTendonRest});
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  d->ctrl[0] = 0.7;
  for (int k = 0; k < 40; k++) {
    mj_step(m, d);
    mj_copyData(e, m, d);
    mj_forward(m, e);
    if (k >= 20) m->opt.gravity[2] = -9 - 0.01 * k;
    djmContext *with = djm_pluginContext(m, d), *without = djm_pluginContext(m, e);
    djm_stepOption(with)->sensors = true;
    assert_int_equal(djm_step(m, d, with), DJ_OK);
    assert_ptr_equal(djm_pluginContext(m, d), with);
    assert_int_equal(djm_step(m, e, without), DJ_OK);
    assert_memory_equal(d->qvel, e->qvel, m->nv * sizeof(mjtNum));
    assert_memory_equal(d->qpos, e->qpos, m->nq * sizeof(mjtNum));
  }
  assert_true(fabs(d->qpos[0]) > 0.01);
  mj_deleteData(d);
  djt_deleteEngine(m, e);
}

// Drawing shows contacts and changes nothing.
static void testDrawing(void) {
  mjModel* m = load(&(Scene){.option = kNoContact, .world = kBoxOnPlane});
  mjData *d = mj_makeData(m), *plain = mj_makeData(m);
  mjvScene scene;
  mjvOption option;
  mjvCamera camera;
  mjv_defaultScene(&scene);
  mjv_makeScene(m, &scene, 100);
  mjv_defaultOption(&option);
  mjv_defaultCamera(&camera);
  int hidden = 0;
  for (int k = 0; k < 500; k++) {
    mj_step(m, d);
    mj_step(m, plain);
    option.flags[mjVIS_CONTACTPOINT] = k != 498;
    mjv_updateScene(m, d, &option, NULL, &camera, mjCAT_ALL, &scene);
    if (k == 498) hidden = scene.ngeom;
  }
  assert_true(scene.ngeom > hidden);
  assert_memory_equal(d->qpos, plain->qpos, m->nq * sizeof(mjtNum));
  assert_int_equal(djm_data(djm_pluginContext(m, d))->stats.steps, 500);
  mjv_freeScene(&scene);
  mj_deleteData(d);
  djt_deleteEngine(m, plain);
}

// Drawing is of the model as it is: forces follow a change of gravity before the next step; a scene
// that cannot have the plugin any more shows nothing of it.
static void testDrawingFollows(void) {
  mjModel* m = load(&(Scene){.option = kNoContact, .world = kBoxOnPlane});
  mjData* d = mj_makeData(m);
  mjvScene scene;
  mjvOption option;
  mjvCamera camera;
  mjv_defaultScene(&scene);
  mjv_makeScene(m, &scene, 100);
  mjv_defaultOption(&option);
  mjv_defaultCamera(&camera);
  for (int k = 0; k < 500; k++) mj_step(m, d);
  int none = 0;
  double length[2] = {0, 0};
  for (int k = 0; k < 4; k++) {
    if (k == 2) m->opt.gravity[2] *= 3;
    if (k == 3) m->opt.integrator = mjINT_RK4;
    option.flags[mjVIS_CONTACTFORCE] = k > 0;
    mjv_updateScene(m, d, &option, NULL, &camera, mjCAT_ALL, &scene);
    if (k == 0) none = scene.ngeom;
    else assert_int_equal(scene.ngeom, none + (k < 3));
    for (int i = 0; i < scene.ngeom; i++) {
      if (scene.geoms[i].type == mjGEOM_ARROW) length[k - 1] = scene.geoms[i].size[2];
    }
  }
  assert_true(length[0] > 0 && length[1] > 1.5 * length[0]);
  mjv_freeScene(&scene);
  djt_deleteEngine(m, d);
}

// ------------------------------ changes of the model --------------------------------------------

static void testFollowsTheModel(void) {
  mjModel* m = load(&(Scene){.option = kNoContact, .world = kBoxOnPlane});
  mjData* d = mj_makeData(m);
  for (int i = 0; i < 500; i++) mj_step(m, d);
  assert_true(fabs(d->qvel[0]) < 1e-3);
  m->opt.gravity[0] = 9.81 * 0.8;      // within friction 1
  for (int i = 0; i < 100; i++) mj_step(m, d);
  assert_true(fabs(d->qvel[0]) < 0.05);
  for (int i = 0; i < m->ngeom; i++) m->geom_friction[3 * i] = 0.2;
  for (int i = 0; i < 100; i++) mj_step(m, d);
  double expected = 9.81 * (0.8 - 0.2) * 100 * m->opt.timestep;
  assert_true(fabs(d->qvel[0] - expected) < 0.1 * expected);
  m->opt.integrator = mjINT_RK4;
  djt_warning[0] = '\0';
  mj_step(m, d);
  assert_non_null(strstr(djt_warning, "RK4"));
  djt_deleteEngine(m, d);
}

static void testContactsAreSeen(void) {
  mjModel* m = load(&(Scene){.option = kNoContact, .world = kBoxOnPlane});
  mjData* d = mj_makeData(m);
  for (int i = 0; i < 500; i++) mj_step(m, d);
  djmContext* context = djm_pluginContext(m, d);
  assert_non_null(context);
  const djData* data = djm_data(context);
  assert_int_equal(data->npair, 1);
  double weight = m->body_mass[1] * 9.81;
  assert_true(fabs(data->pair[0].force[2] - weight) < 1e-3 * weight);
  mjData* copy = mj_copyData(NULL, m, d);
  assert_true(djm_pluginContext(m, copy) && djm_pluginContext(m, copy) != context);
  mj_deleteData(copy);
  djt_deleteEngine(m, d);
#define GAP "<plugin plugin='dijoco.gap'><instance name='g'><config key='geom1' value='a'/>" \
            "<config key='geom2' value='b'/></instance></plugin>"
#define CONTACT "<plugin plugin='dijoco.contact'><instance name='dj'/></plugin>"
  static const char* const scenes[] = {"", GAP, GAP CONTACT, CONTACT GAP};
  for (int i = 0; i < 4; i++) {
    char text[1000];
    snprintf(text, sizeof(text), "<mujoco><extension>%s</extension><worldbody><geom name='a' "
             "size='1'/><body pos='0 0 3'><freejoint/><geom name='b' size='1'/></body></worldbody>"
             "<sensor>%s</sensor></mujoco>", scenes[i],
             i ? "<plugin plugin='dijoco.gap' instance='g'/>" : "");
    m = djt_compile(text);
    d = mj_makeData(m);
    context = djm_pluginContext(m, d);
    if (i < 2) assert_null(context);
    else assert_int_equal(djm_model(context)->ngeom, 2);
    djt_deleteEngine(m, d);
  }
}

static int setup(void** state) {
  return djt_keepWarnings(state) || mjp_registerPlugin(djm_gapPlugin()) < 0;
}

DJT_MAIN_IN(setup, NULL, testLandsOnOurStep, testLandsOnEuler, testIsNeeded, testRefusals,
            testSettings, testSubsteps, testOwnedGeoms, testWarnsOfDoubleContact,
            testWarnsAfterGuard, testConstraints, testJointsAreOurs, testForcesThatOnlyMuJoCoHas,
            testStepsOfItsContext, testDrawing, testFollowsTheModel, testDrawingFollows,
            testContactsAreSeen)
