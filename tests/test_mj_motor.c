// Motors with states of their own beside MuJoCo: current, temperature, friction, cogging, a limit of
// the voltage.

#include "common/file.h"
#include "common/make_model.h"
#include "common/mj_drive_case.h"
#include "common/mj_physics.h"
#include "common/refused_text.h"
#include "common/test.h"

#include <dijoco/io.h>

#include <unistd.h>

#define ARM(option, motors)                                                                       \
  "<mujoco><option timestep='.002' " option "/><default><geom contype='0' conaffinity='0'/>"       \
  "</default><worldbody><site name='w' pos='.1 .6 1.2'/><body pos='0 0 1'><joint name='a' "        \
  "axis='0 1 0' damping='.1' armature='.01'/><geom type='capsule' fromto='0 0 0 .4 .05 .1' "       \
  "size='.04' mass='1.5'/><body pos='.4 .05 .1'><joint name='b' axis='1 1 0' damping='.1'/>"       \
  "<geom type='capsule' fromto='0 0 0 .3 .1 0' size='.03' mass='.8'/><site name='s' "             \
  "pos='.1 0 0'/><body name='tip' pos='.3 .1 0'><joint name='c' axis='0 1 .3' type='slide' "       \
  "damping='1'/><geom type='capsule' fromto='0 0 0 .2 .1 0' size='.03' mass='.4'/></body></body>"  \
  "</body></worldbody><tendon><fixed name='t'><joint joint='a' coef='.5'/><joint joint='b' "       \
  "coef='-.3'/></fixed><spatial name='p'><site site='w'/><site site='s'/></spatial></tendon>"      \
  "<actuator>" motors "</actuator></mujoco>"

#define MOTOR "motorconst='.5' resistance='2' "
#define CURRENT                                                                                   \
  "<dcmotor name='m1' joint='a' inductance='.02 0' gear='1.3' " MOTOR "/>"                         \
  "<dcmotor name='m2' joint='c' inductance='0 .005' saturation='2 0 0' input='pos vel ff "        \
  "voltage' controller='3 2 .4 9 9 12' " MOTOR "/>"
#define HEAT                                                                                      \
  "<dcmotor name='m1' joint='a' thermal='2 3 0 .004 25 30' " MOTOR "/><dcmotor name='m2' "         \
  "tendon='t' inductance='0 .01' thermal='2 3 0 .01 20 25' saturation='0 0 90' gear='-2' " MOTOR "/>"
#define SHAFT                                                                                     \
  "<dcmotor name='m1' joint='a' lugre='30 .4 .3 .5 .1' cogging='.2 6 .3' gear='1.2' " MOTOR "/>"   \
  "<dcmotor name='m2' joint='b' lugre='40 .5 .2 .3 .2' saturation='.4 0 0' input='vel voltage' "   \
  "controller='0 0 .8 0 0 0' " MOTOR "/>"
#define ALONG                                                                                     \
  "<dcmotor name='m1' tendon='p' cogging='.3 7 .2' gear='3' " MOTOR "/><dcmotor name='m2' "        \
  "tendon='p' input='pos vel' controller='9 0 1 0 0 2' gear='2' " MOTOR "/>"
#define ALL                                                                                       \
  "<dcmotor name='m1' joint='a' input='pos vel ff voltage' controller='9 3 .6 9 .5 20' "           \
  "inductance='0 .01' thermal='2 3 0 .004 25 30' lugre='30 .4 .3 .5 .1' cogging='.2 6 .3' "        \
  "gear='1.2' " MOTOR "/><position name='p' joint='b' kp='9'/><dcmotor name='m2' joint='c' "       \
  "lugre='30 .4 .3 .5 .1' thermal='2 3 0 .004 25 30' input='ff' " MOTOR "/>"

#define SCENES(motors) {ARM("", motors), ARM("integrator='implicitfast'", motors)}
static const struct {
  const char* name;
  const char* scene[2];
  int na, numbers;
} kScenes[] = {{"current", SCENES(CURRENT), 4, 18}, {"heat", SCENES(HEAT), 3, 22},
               {"shaft", SCENES(SHAFT), 2, 18},     {"along", SCENES(ALONG), 0, 14},
               {"all", SCENES(ALL), 7, 37}};
enum { NSCENE = sizeof kScenes / sizeof *kScenes };

// Both by themselves from the same start; stock: by contact mujoco.
static double runBeside(const mjModel* m, int n, bool stock) {
  mjData* d = mj_makeData(m);
  djModel* model = stock ? djt_chosen(m) : djt_import(NULL, m);
  djData* data = djt_dataOf(model);
  djRng rng = {13};
  djt_driveStart(d, m, &rng);
  djt_takeState(data, m, d);
  for (int k = 0; k < n; k++) {
    if (k % 30 == 0) djt_driveInputs(d, m, &rng, 1);
    mju_copy(data->ctrl, d->ctrl, (int)m->nu);
    mj_step(m, d);
    djt_mustStep(model, data);
  }
  double worst = djt_distance(data->qpos, d->qpos, (int)m->nq);
  worst = djt_worst(worst, djt_distance(data->qvel, d->qvel, (int)m->nv));
  worst = djt_worst(worst, djt_distance(data->act, d->act, (int)m->na));
  djt_delete(model, data);
  mj_deleteData(d);
  return worst;
}

static void testSteps(void) {
  for (int i = 0; i < 2 * NSCENE; i++) {
    mjModel* m = djt_compile(kScenes[i / 2].scene[i % 2]);
    double strongest, steps = djt_driveSteps(&strongest, m, 1000, 3);
    double run = runBeside(m, 1000, false), stock = runBeside(m, 300, true);
    print_message("%s, %s: steps %.1e, force %.1f, run %.1e, by mujoco %.1e\n", kScenes[i / 2].name,
                  i % 2 ? "implicitfast" : "Euler", steps, strongest, run, stock);
    assert_true(run < 1e-10 && stock < 1e-10);
    assert_int_equal(m->na, kScenes[i / 2].na);
    assert_true(steps < 1e-11 && strongest > 0.3);
    mj_deleteModel(m);
  }
}

// Forces of the current before the step, and beyond the range of a joint.
static void testOthers(void) {
  for (int i = 0; i < 2 * NSCENE; i++) {
    for (int bound = 0; bound < 2; bound++) {
      mjModel* m = djt_compile(kScenes[i / 2].scene[i % 2]);
      for (int k = 0; k < m->nactuator; k++) {   // those on tendons are not in joints' ranges
        if (m->actuator_trntype[k] == mjTRN_TENDON) m->actuator_group[k] = bound;
      }
      m->opt.disableactuator = 1 << 1;
      for (int k = 0; k < m->nactuator && !bound; k++) m->actuator_actearly[k] = 0;
      for (int j = 0; j < m->njnt && bound; j++) {
        m->jnt_actfrclimited[j] = 1;
        m->jnt_actfrcrange[2 * j] = -(m->jnt_actfrcrange[2 * j + 1] = 0.2);
      }
      double strongest, steps = djt_driveSteps(&strongest, m, 300, 3);
      double slopes = djt_driveSlopes(m, 10, 1);
      print_message("%s, %s: steps %.1e, A and B %.1e\n", kScenes[i / 2].name,
                    bound ? "bounds" : "late", steps, slopes);
      assert_true(steps < 1e-11 && slopes < 1e-7);
      assert_true(bound ? strongest <= 0.2 : strongest > 0.2);
      mj_deleteModel(m);
    }
  }
}

static void testTransitions(void) {
  for (int i = 0; i < 2 * NSCENE; i++) {
    mjModel* m = djt_compile(kScenes[i / 2].scene[i % 2]);
    double slopes = djt_driveSlopes(m, 20, 1);
    print_message("%s: A and B %.1e\n", kScenes[i / 2].name, slopes);
    assert_true(slopes < 1e-7);
    mj_deleteModel(m);
  }
}

// Of numbers that are not 0, at which many of them are off. Returns how many these are.
static int checkParam(const djtDriveRun* run, const char* name) {
  djParam p;
  djError err;
  double g[10] = {0}, value[10], moved[10];
  int n = 0;
  if (dj_paramId(&p, run->model, name, &err) < 0) fail_msg("%s", err.text);
  djRolloutResult result = {.nparam = 1, .param = &p, .grad_param = g}, plain = {0};
  djt_driveLoss(run, &result);
  assert_int_equal(dj_getParam(value, run->model, &p), DJ_OK);
  for (int k = 0; k < p.nvalue; k++) {
    double f[4], h = 1e-4 * fabs(value[k]);
    for (int side = 0; side < 4 && h > 0; side++) {
      memcpy(moved, value, sizeof moved);
      moved[k] += (side % 2 ? h : -h) * (side < 2 ? 1 : 2);
      if (dj_setParam(run->model, &p, moved, &err) < 0) fail_msg("%s: %s", name, err.text);
      f[side] = djt_driveLoss(run, &plain);
    }
    assert_int_equal(dj_setParam(run->model, &p, value, &err), DJ_OK);
    if (h == 0) continue;
    double slope = (8 * (f[1] - f[0]) - (f[3] - f[2])) / (12 * h);
    if (!(fabs(g[k] - slope) * fabs(value[k]) < 1e-6 * fmax(fabs(slope * value[k]), 1e-3))) {
      fail_msg("%s[%d]: %.9g, differences %.9g", name, k, g[k], slope);
    }
    n += slope != 0;
  }
  return n;
}

static void testParams(void) {
  static const char* const names[] = {"actuator/m1/gainprm", "actuator/m1/biasprm",
                                      "actuator/m1/motorprm", "actuator/m1/gear",
                                      "actuator/m2/gainprm", "actuator/m2/biasprm",
                                      "actuator/m2/motorprm", "actuator/m2/gear",
                                      "actuator/#1/gainprm",  "actuator/#2/gainprm",
                                      "body/tip/mass", NULL};
  for (int i = 0; i < 2 * NSCENE; i++) {
    mjModel* m = djt_compile(kScenes[i / 2].scene[i % 2]);
    djError err;
    djtDriveRun run = {m, djt_import(NULL, m), NULL, NULL, mj_name2id(m, mjOBJ_BODY, "tip"),
                       1, 0,    0,    NULL};
    int n = 0;
    run.data = djt_dataOf(run.model);
    assert_int_equal(djd_makeTape(&run.tape, run.model, DJT_DRIVE_HORIZON, &err), DJ_OK);
    for (int k = 0; names[k]; k++) {
      bool other = names[k][9] == '#';   // a gain of a second or third input, where there is one
      if (!other || names[k][10] < '0' + run.model->nu) n += checkParam(&run, names[k]);
    }
    print_message("%s: %d numbers\n", kScenes[i / 2].name, n);
    assert_int_equal(n, kScenes[i / 2].numbers);
    djd_deleteTape(run.tape);
    djt_delete(run.model, run.data);
    mj_deleteModel(m);
  }
}

// Products of the step with vectors are those of its matrices.
static void testProducts(void) {
  mjModel* m = djt_compile(ARM("integrator='implicitfast'", ALL));
  djModel* model = djt_import(NULL, m);
  djData* data = djt_dataOf(model);
  const int nx = dj_tangentSize(model), nu = model->nu;
  double *A = djt_room((size_t)(nx * (nx + nu))), *B = A + nx * nx;
  djRng rng = {5};
  for (int k = 0; k < 40; k++) {
    double x[DJT_DRIVE_MOST], u[DJT_DRIVE_MOST], l[DJT_DRIVE_MOST], y[DJT_DRIVE_MOST];
    double dx[DJT_DRIVE_MOST] = {0}, du[DJT_DRIVE_MOST] = {0};
    for (int i = 0; i < nu; i++) data->ctrl[i] = djt_uniform(&rng, -1, 1);
    assert_int_equal(djd_transition(model, data, A, B), DJ_OK);
    djt_mustStep(model, data);
    for (int i = 0; i < nx; i++) x[i] = djt_uniform(&rng, -1, 1), l[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < nu; i++) u[i] = djt_uniform(&rng, -1, 1);
    assert_int_equal(djd_stepJvp(model, data, y, x, u), DJ_OK);
    assert_int_equal(djd_stepVjp(model, data, dx, du, l), DJ_OK);
    for (int r = 0; r < nx; r++) {
      double sum = 0, back = 0;
      for (int c = 0; c < nx; c++) sum += A[nx * r + c] * x[c], back += A[nx * c + r] * l[c];
      for (int c = 0; c < nu; c++) sum += B[nu * r + c] * u[c];
      djt_near(y[r], sum, 1e-9);
      djt_near(dx[r], back, 1e-9);
    }
    for (int c = 0; c < nu; c++) {
      double back = 0;
      for (int r = 0; r < nx; r++) back += B[nu * r + c] * l[r];
      djt_near(du[c], back, 1e-9);
    }
  }
  free(A);
  djt_delete(model, data);
  mj_deleteModel(m);
}

// Nothing is left out or approximated; model files have all of it.
static void testFile(void) {
  for (int i = 0; i < 2 * NSCENE; i++) {
    mjModel* m = djt_compile(kScenes[i / 2].scene[i % 2]);
    djReport* report;
    djModel *model = djt_import(&report, m), *again;
    djError err;
    for (int k = 0; k < report->n; k++) {
      assert_true(report->entry[k].state != DJ_IGNORED);
      assert_non_null(strstr("forcerange", report->entry[k].feature));
    }
    assert_int_equal(dj_saveModel(model, "motor.json", &err), DJ_OK);
    if (dj_loadModel(&again, "motor.json", &err) != DJ_OK) fail_msg("%s", err.text);
    remove("motor.json");
    assert_int_equal(again->na, model->na);
    djData *a = djt_dataOf(model), *b = djt_dataOf(again);
    for (int k = 0; k < 50; k++) {
      for (int c = 0; c < model->nu; c++) a->ctrl[c] = b->ctrl[c] = sin(0.3 * k + c);
      djt_mustStep(model, a);
      djt_mustStep(again, b);
    }
    assert_memory_equal(a->qpos, b->qpos, (size_t)model->nq * sizeof(double));
    assert_memory_equal(a->act, b->act, (size_t)model->na * sizeof(double));
    dj_deleteReport(report);
    djt_delete(again, b);
    djt_delete(model, a);
    mj_deleteModel(m);
  }
}

// Changed numbers are written, into the scene and from the model alone; what has several inputs is
// refused by name.
static void testWrite(void) {
  static const char* const scene = ARM("",
      "<dcmotor name='m1' joint='a' inductance='0 .01' thermal='2 3 0 .004 25 30' lugre='30 .4 .3 .5 "
      ".1' cogging='.2 6 .3' gear='1.2' " MOTOR "/><dcmotor name='m2' joint='c' input='pos' "
      "controller='9 3 .6 9 .5 20' saturation='2 0 90' inductance='0 .01' " MOTOR "/>");
  static const char* const kind[] = {"gainprm", "biasprm", "motorprm"};
  mjModel* m = djt_compile(scene);
  djModel* model = djt_import(NULL, m);
  djError err;
  char *text, name[40], path[] = "motor_XXXXXX.xml";
  for (int k = 0; k < 6; k++) {
    double value[10];
    snprintf(name, sizeof name, "actuator/m%d/%s", 1 + k % 2, kind[k / 2]);
    djParam p = djt_param(model, name);
    assert_int_equal(dj_getParam(value, model, &p), DJ_OK);
    for (int e = 0; e < p.nvalue; e++) value[e] *= 1 + 0.01 * (e + k);
    assert_int_equal(dj_setParam(model, &p, value, &err), DJ_OK);
  }
  int file = mkstemps(path, 4);
  assert_true(file >= 0);
  close(file);
  djt_writeText(path, scene);
  for (int own = 0; own < 2; own++) {
    djStatus status = djm_makeMJCF(&text, own ? path : "motor.json", model, NULL, &err);
    if (status != DJ_OK) fail_msg("%s", err.text);
    mjModel* written = djt_compile(text);
    double strongest, steps = djt_driveSteps(&strongest, written, 100, 1);
    assert_true(steps < 1e-11);
    djModel* again = djt_import(NULL, written);
    for (int k = 0; k < 2 * DJ_NPRM; k++) {
      djt_near(again->actuator_gainprm[k], model->actuator_gainprm[k], 1e-9);
      djt_near(again->actuator_biasprm[k], model->actuator_biasprm[k], 1e-9);
    }
    for (int k = 0; k < 2 * DJ_NMOTORPRM; k++) {
      djt_near(again->actuator_motorprm[k], model->actuator_motorprm[k], 1e-9);
    }
    djt_near(again->actuator_tau[1], model->actuator_tau[1], 1e-9);
    djt_near(again->actuator_integral_limit[1], 0.5, 1e-9);
    assert_int_equal(again->actuator_input[1], DJ_INPUT_POSITION);
    dj_deleteModel(again);
    mj_deleteModel(written);
    free(text);
  }
  remove(path);
  dj_deleteModel(model);
  mj_deleteModel(m);
  m = djt_compile(ARM("", ALL));
  model = djt_import(NULL, m);
  assert_int_equal(djm_makeMJCF(&text, "motor.json", model, NULL, &err), DJ_UNSUPPORTED);
  assert_non_null(strstr(err.text, "dcmotors with one input"));
  dj_deleteModel(model);
  mj_deleteModel(m);
}

// Numbers that take a state from a motor, or give it one; other integrators.
static void testRefused(void) {
  mjModel* m = djt_compile(kScenes[1].scene[0]);
  djModel* model = djt_import(NULL, m);
  djParam p = djt_param(model, "actuator/m1/motorprm");
  djError err;
  double value[DJ_NMOTORPRM];
  static const struct {
    int k;
    double value;
    const char* why;
  } list[] = {{0, 0.1, "must stay above 0"}, {2, 0, "must stay above 0"},
              {5, 1, "must stay above 0"},   {3, 0, "needs a positive heat capacity"},
              {6, -1, "must not be negative"}};
  for (int i = 0; i < 5; i++) {
    assert_int_equal(dj_getParam(value, model, &p), DJ_OK);
    value[list[i].k] = list[i].value;
    assert_int_equal(dj_setParam(model, &p, value, &err), DJ_INVALID);
    assert_non_null(strstr(err.text, list[i].why));
  }
  assert_true(dj_paramId(&p, model, "actuator/#0/motorprm", &err) == DJ_OK);
  djOption option = model->opt;
  option.integrator = DJ_POSITION;
  assert_int_equal(dj_setOption(model, &option, &err), DJ_OK);
  djData* data = djt_dataOf(model);
  assert_int_equal(dj_step(model, data), DJ_UNSUPPORTED);
  assert_non_null(strstr(dj_errorText(data), "'m1': a dcmotor needs the integrator euler"));
  djt_delete(model, data);
  mj_deleteModel(m);
}

#define LAW "'gain':'dcmotor','bias':'dcmotor','gainprm':[2,1],'joint':'j'"
static void testModels(void) {
  static const char* const rows[][2] = {
    {"{'gain':'dcmotor','gainprm':[2,1],'joint':'j'}", "~gain and bias are both dcmotor"},
    {"{'bias':'dcmotor','joint':'j'}", "~gain and bias are both dcmotor"},
    {"{'gain':'dcmotor','bias':'dcmotor','gainprm':[0,1],'joint':'j'}", "~resistance must be"},
    {"{'gain':'dcmotor','bias':'dcmotor','gainprm':[1,0],'joint':'j'}", "~constant must be"},
    {"{'gain':'dcmotor','bias':'dcmotor','gainprm':[1,1,0,0,0,-1],'joint':'j'}", "~ki must not"},
    {"{" LAW ",'biasprm':[0,0,0,-1]}", "~forces and speed of friction"},
    {"{" LAW ",'dyn':'filter'}", "~dynamics are slew or none"},
    {"{" LAW ",'dyn':'slew'}", "~ki and slew need the input position"},
    {"{'gain':'dcmotor','bias':'dcmotor','gainprm':[2,1,0,0,0,1],'joint':'j'}",
     "~ki and slew need the input position"},
    {"{" LAW ",'integral':1}", "~integral is by its ki"},
    {"{" LAW ",'motorprm':[-1]}", "~must not be negative"},
    {"{" LAW ",'motorprm':[0,0,1]}", "~needs a positive heat capacity"},
    {"{" LAW ",'input':'power'}", "~input"},
    {"{" LAW "},{'adds_to':0}", "~an input of its dcmotor that is there already"},
    {"{" LAW "},{'adds_to':0,'input':'torque'},{'adds_to':0,'input':'torque'}",
     "~an input of its dcmotor that is there already"},
    {"{" LAW "},{'adds_to':0,'input':'torque','dyn':'integrator'}", "~has no dynamics"},
    {"{'gain':'dcmotor','bias':'dcmotor','gainprm':[2,1],'joint':'b'}", "~needs a slide, a hinge"},
    {"{'gain':'dcmotor','bias':'dcmotor','gainprm':[2,1],'site':'s'}", "~needs a slide, a hinge"},
  };
  djt_refuseModels(DJ_INVALID,
                   "{'dijoco_model':1,'bodies':[{'name':'world'},{'name':'a','mass':1,'inertia':"
                   "[1,1,1]},{'name':'c','mass':1,'inertia':[1,1,1]}],'joints':[{'name':'j','body':"
                   "'a','type':'hinge','axis':[1,0,0]},{'name':'b','body':'c','type':'ball'}],"
                   "'sites':[{'name':'s','body':'a'}],'actuators':[%s]}", rows);
}

DJT_MAIN(testSteps, testOthers, testTransitions, testParams, testProducts, testFile, testWrite, testRefused, testModels)
