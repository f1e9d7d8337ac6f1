// pid and dcmotor beside MuJoCo: several inputs, rate limits, integrals.

#include "common/make_model.h"
#include "common/mj_drive_case.h"
#include "common/test.h"

#include <dijoco/io.h>

#define ARM(option, imax, third)                                                                  \
  "<mujoco><option timestep='.002' " option "/><default><geom contype='0' conaffinity='0'/>"       \
  "</default><worldbody><site name='w' pos='0 .1 1'/><body pos='0 0 1'><joint name='a' "           \
  "axis='0 1 0' damping='.1' armature='.01'/><geom type='capsule' fromto='0 0 0 .4 .05 .1' "       \
  "size='.04' mass='1.5'/><body pos='.4 .05 .1'><joint name='b' axis='1 1 0' damping='.1'/>"       \
  "<geom type='capsule' fromto='0 0 0 .3 .1 0' size='.03' mass='.8'/><site name='s' "             \
  "pos='.1 0 0'/><body name='tip' pos='.3 .1 0'><joint name='c' axis='0 1 .3' type='slide' "       \
  "damping='1'/><geom type='capsule' fromto='0 0 0 .2 .1 0' size='.03' mass='.4'/></body></body>"  \
  "</body></worldbody><tendon><fixed name='t'><joint joint='a' coef='.5'/><joint joint='b' "       \
  "coef='-.3'/></fixed><spatial name='bent'><site site='w'/><site site='s'/></spatial></tendon><actuator>"                                                       \
  "<pid name='p1' joint='a' kp='8' kv='1' input='pos vel ff' gear='1.3'/>"                         \
  "<pid name='p2' joint='c' kp='30' kv='2' ki='20' imax='" imax "' slewmax='20' "                  \
  "input='pos vel' forcerange='-6 6'/>"                                                           \
  "<pid name='p3' tendon='t' kp='5' ki='3' input='pos ff' gear='-1.2'/>" third                     \
  "<dcmotor name='d1' joint='b' motorconst='.3' resistance='2'/>"                                 \
  "<dcmotor name='d2' joint='a' motorconst='.3' resistance='2' controller='3 2 .1 30 " imax " 0' " \
  "input='pos vel ff voltage'/></actuator></mujoco>"
#define ON_SITE "<pid name='p4' site='s' refsite='w' gear='1 0 .5 0 0 0' kp='3' kv='.5' " \
  "input='vel ff'/>"

static const char* const kOption[] = {"", "integrator='implicitfast'",
                                      "><flag clampctrl='disable'/></option><option "};

static void testSteps(void) {
  const char* const scene[] = {
    ARM("", ".01", ON_SITE), ARM("integrator='implicitfast'", ".01", ""),
    ARM("><flag clampctrl='disable'/></option><option ", ".3", ON_SITE)};
  for (int i = 0; i < 3; i++) {
    mjModel* m = djt_compile(scene[i]);
    double strongest, steps = djt_driveSteps(&strongest, m, 600, 1);
    print_message("%s: steps %.1e, force %.1f\n", kOption[i], steps, strongest);
    assert_int_equal(m->na, 5);
    assert_true(steps < 1e-11 && strongest > 1);
    mj_deleteModel(m);
  }
}

static void testTransitions(void) {
  const char* const scene[] = {ARM("", "9", ON_SITE), ARM("integrator='implicitfast'", "9", "")};
  for (int i = 0; i < 2; i++) {
    mjModel* m = djt_compile(scene[i]);
    double slopes = djt_driveSlopes(m, 20, 1);
    print_message("%s: A and B %.1e\n", kOption[i], slopes);
    assert_true(slopes < 1e-7);
    mj_deleteModel(m);
  }
}

// Products of the step with vectors are those of its matrices, while rates are limited, too.
static void testProducts(void) {
  mjModel* m = djt_compile(ARM("", "9", ON_SITE));
  djModel* model = djt_import(NULL, m);
  djData* data = djt_dataOf(model);
  const int nx = dj_tangentSize(model), nu = model->nu;
  double *A = djt_room((size_t)(nx * (nx + nu))), *B = A + nx * nx;
  djRng rng = {5};
  int limited = 0;
  for (int k = 0; k < 40; k++) {
    double x[DJT_DRIVE_MOST], u[DJT_DRIVE_MOST], l[DJT_DRIVE_MOST], y[DJT_DRIVE_MOST];
    double dx[DJT_DRIVE_MOST] = {0}, du[DJT_DRIVE_MOST] = {0};
    for (int i = 0; i < nu; i++) data->ctrl[i] = djt_uniform(&rng, -1, 1) * (k % 2 ? 1 : 0.02);
    assert_int_equal(djd_transition(model, data, A, B), DJ_OK);
    limited += A[nx * 7 + 6] != 0;   // the integral after the limited input
    djt_mustStep(model, data);
    for (int i = 0; i < nx; i++) x[i] = djt_uniform(&rng, -1, 1), l[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < nu; i++) u[i] = djt_uniform(&rng, -1, 1);
    assert_int_equal(djd_stepJvp(model, data, y, x, u), DJ_OK);
    assert_int_equal(djd_stepVjp(model, data, dx, du, l), DJ_OK);
    for (int r = 0; r < nx; r++) {
      double sum = 0, back = 0;
      for (int c = 0; c < nx; c++) sum += A[nx * r + c] * x[c], back += A[nx * c + r] * l[c];
      for (int c = 0; c < nu; c++) sum += B[nu * r + c] * u[c];
      djt_near(y[r], sum, 1e-11);
      djt_near(dx[r], back, 1e-11);
    }
    for (int c = 0; c < nu; c++) {
      double back = 0;
      for (int r = 0; r < nx; r++) back += B[nu * r + c] * l[r];
      djt_near(du[c], back, 1e-11);
    }
  }
  assert_true(limited > 5 && limited < 35);
  free(A);
  djt_delete(model, data);
  mj_deleteModel(m);
}

static void testParams(void) {
  static const char* const names[] = {
    "actuator/p1/gainprm", "actuator/#1/gainprm", "actuator/#2/gainprm", "actuator/p1/biasprm",
    "actuator/p2/gainprm", "actuator/p2/gear", "actuator/p3/gear", "actuator/p3/biasprm",
    "actuator/#6/gainprm", "actuator/d1/gainprm", "actuator/d2/biasprm", "body/tip/mass",
    "body/tip/pos", NULL};
  const char* const scene[] = {ARM("", "9", ON_SITE), ARM("integrator='implicitfast'", "9", "")};
  for (int i = 0; i < 2; i++) {
    mjModel* m = djt_compile(scene[i]);
    djt_driveParams(m, mj_name2id(m, mjOBJ_BODY, "tip"), 1, names);
    mj_deleteModel(m);
  }
}

// Where |z| has reached its limit: of a pid it may be beyond, of a dcmotor it is clipped.
static void testWindup(void) {
  mjModel* m = djt_compile(ARM("", ".01", ""));
  djModel* model = djt_import(NULL, m);
  djData* data = djt_dataOf(model);
  double A[11 * 11], B[11 * 12];
  const int nx = dj_tangentSize(model), nu = model->nu, z = model->actuator_zadr[3];
  const int clipped = model->actuator_zadr[model->nu - 4];
  assert_true(nx == 11 && nu == 12);
  for (int sign = -1; sign <= 1; sign += 2) {
    data->qpos[0] = data->qpos[1] = data->qpos[2] = 0;
    data->ctrl[3] = data->ctrl[8] = 0.5 * sign;
    data->act[z] = 0.011 * sign;
    data->act[clipped] = 0.0099 * sign;
    assert_int_equal(djd_transition(model, data, A, B), DJ_OK);
    djt_mustStep(model, data);
    djt_near(data->act[z], 0.011 * sign, 1e-15);
    djt_near(data->act[clipped], 0.01 * sign, 1e-15);
    assert_true(A[nx * (6 + z) + 6 + z] == 1 && A[nx * (6 + z) + 2] == 0);
    assert_true(A[nx * (6 + clipped) + 6 + clipped] == 0 && A[nx * (6 + clipped)] == 0);
    assert_true(B[nu * (6 + z) + 3] == 0);
    memset(data->act, 0, (size_t)model->na * sizeof(double));
    memset(data->qvel, 0, 3 * sizeof(double));
  }
  djt_delete(model, data);
  mj_deleteModel(m);
}

// What is not carried is told by name, and makes no force; others are exact.
static void testReport(void) {
  static const char* const list[] = {
    "<dcmotor site='s' motorconst='.3' resistance='2' inductance='.01 0'/>",
    "<dcmotor site='s' refsite='w' motorconst='.3' resistance='2' cogging='.1 4 0'/>",
    "<dcmotor tendon='bent' motorconst='.3' resistance='2' thermal='2 3 0 .004 25 30'/>",
    "<pid site='s' refsite='w' gear='1 0 0 0 0 0' kp='1' ki='1'/>"};
  for (int i = -1; i < 4; i++) {
    char text[4000];
    const char* scene = ARM("", "9", ON_SITE);
    const char* cut = strstr(scene, "<actuator>");
    snprintf(text, sizeof(text), "%.*s<actuator>%s</actuator></mujoco>", (int)(cut - scene), scene,
             i < 0 ? "" : list[i]);
    mjModel* m = djt_compile(i < 0 ? scene : text);
    djReport* report;
    djModel* model = djt_import(&report, m);
    int ignored = 0;
    for (int k = 0; k < report->n; k++) {
      if (report->entry[k].state != DJ_IGNORED) continue;
      ignored++;
      assert_int_equal(strcmp(report->entry[k].feature, "gaintype"), 0);
    }
    assert_int_equal(ignored, i >= 0);
    assert_int_equal(model->nu, m->nu);
    dj_deleteReport(report);
    dj_deleteModel(model);
    mj_deleteModel(m);
  }
}

// Model files have them.
static void testFile(void) {
  mjModel* m = djt_compile(ARM("", ".3", ON_SITE));
  djModel *model = djt_import(NULL, m), *again;
  djError err;
  assert_int_equal(dj_saveModel(model, "servo.json", &err), DJ_OK);
  if (dj_loadModel(&again, "servo.json", &err) != DJ_OK) fail_msg("%s", err.text);
  remove("servo.json");
  assert_int_equal(again->na, model->na);
  djData *a = djt_dataOf(model), *b = djt_dataOf(again);
  for (int k = 0; k < 50; k++) {
    for (int i = 0; i < model->nu; i++) a->ctrl[i] = b->ctrl[i] = sin(0.3 * k + i);
    djt_mustStep(model, a);
    djt_mustStep(again, b);
  }
  assert_memory_equal(a->qpos, b->qpos, (size_t)model->nq * sizeof(double));
  assert_memory_equal(a->act, b->act, (size_t)model->na * sizeof(double));
  dj_deleteData(a);
  djt_delete(again, b);
  dj_deleteModel(model);
  mj_deleteModel(m);
}

DJT_MAIN(testSteps, testTransitions, testProducts, testParams, testWindup, testReport, testFile)
