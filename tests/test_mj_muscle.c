// Muscles beside MuJoCo: laws, steps of `euler`, A and B, gradients by parameters.

#include "common/mj_drive_case.h"
#include "model/activation.h"
#include "model/force_law.h"
#include "model/muscle.h"

static void testLaws(void** state) {
  (void)state;
  djRng rng = {4};
  const mjtNum dyn[3] = {0.01, 0.04, 0};
  mjtNum prm[9] = {0.75, 1.05, -1, 200, 0.5, 1.6, 1.5, 1.3, 1.2};
  const mjtNum range[2] = {0.4, 0.9};
  for (int k = 0; k < 2000; k++) {
    djLawAt at = {djt_uniform(&rng, 0.1, 1.3), djt_uniform(&rng, -2, 2), {0.4, 0.9}, 7};
    djLawCoefs g, b;
    prm[8] = k % 3 ? 1.2 : 1;   // where it lengthens: more, or as much
    assert_null(dj_muscleProblem(prm));
    dj_muscleGain(&g, NULL, prm, &at);
    dj_muscleBias(&b, NULL, prm, &at);
    djt_near(g.c[0] + g.c[1] * at.l + g.c[2] * at.rate,
             mju_muscleGain(at.l, at.rate, range, 7, prm), 1e-12);
    djt_near(b.c[0] + b.c[1] * at.l + b.c[2] * at.rate, mju_muscleBias(at.l, range, 7, prm), 1e-12);
    mjtNum smooth[3] = {dyn[0], dyn[1], k % 2 ? 0.3 : 0};
    double w = djt_uniform(&rng, -0.2, 1.2), u = djt_uniform(&rng, -0.2, 1.2), h = 0.002, by[2];
    djDynNumbers n = {smooth[0], smooth[1], smooth[2]};
    djt_near(dj_muscleActivation(by, &n, w, u, h), w + h * mju_muscleDynamics(u, w, smooth), 1e-13);
    for (int i = 0; i < 2; i++) {
      double e = 1e-6, f[2], drop[2];
      for (int side = 0; side < 2; side++) {
        double d = side ? e : -e;
        f[side] = dj_muscleActivation(drop, &n, w + (i ? 0 : d), u + (i ? d : 0), h);
      }
      double slope = (f[1] - f[0]) / (2 * e);
      bool kink = fabs(u - w) < 1e-5 || fabs(u) < 1e-5 || fabs(u - 1) < 1e-5 || fabs(w) < 1e-5 ||
                  fabs(w - 1) < 1e-5;
      if (!kink) djt_near(by[i], slope, 1e-7);
    }
  }
}

// Muscles on a hinge, a slide, fixed and spatial tendons and a slider; gears and smooth switches.
static const char kArm[] =
    "<mujoco><compiler angle='radian'/><option timestep='.002' %s/><worldbody>"
    "<site name='a' pos='0 .05 .4'/><body name='upper' pos='0 0 .5'>"
    "<joint name='shoulder' axis='0 1 0' damping='.1' armature='.01'/>"
    "<joint name='lift' type='slide' axis='1 0 .2' stiffness='200' damping='3'/>"
    "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.03' mass='1'/>"
    "<site name='b' pos='.2 .04 .02'/><body name='lower' pos='.3 0 0'>"
    "<joint name='elbow' axis='0 1 0' damping='.05'/><geom type='capsule' "
    "fromto='0 0 0 .25 0 0' size='.025' mass='.6'/><site name='c' pos='.15 .02 -.03'/></body>"
    "</body></worldbody><tendon><spatial name='cord'><site site='a'/><site site='b'/>"
    "<site site='c'/></spatial><fixed name='both'><joint joint='shoulder' coef='.04'/><joint "
    "joint='elbow' coef='-.03'/></fixed></tendon><actuator>"
    "<muscle name='cord' tendon='cord' lengthrange='.3 .9' force='40' tausmooth='.2'/>"
    "<muscle name='both' tendon='both' lengthrange='-.1 .1' force='30' gear='1.3'/>"
    "<muscle name='hinge' joint='elbow' lengthrange='-1.5 1.5' scale='3' vmax='2'/>"
    "<muscle name='slide' joint='lift' lengthrange='-.3 .4' force='20' gear='-2' range='.8 1.2'/>"
    "<general name='bias' joint='shoulder' biastype='muscle' biasprm='.75 1.05 9 200 .5 1.6 1.5 1.3 "
    "1.2' lengthrange='-2 1' gainprm='2'/></actuator></mujoco>";

static mjModel* arm(const char* option) {
  char text[4000];
  snprintf(text, sizeof(text), kArm, option);
  return djt_compile(text);
}

static const char* const kOption[] = {"", "integrator='implicitfast'",
                                      "><flag eulerdamp='disable'/></option><option "};

static void excite(mjData* d, const mjModel* m, djRng* rng) {
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = djt_uniform(rng, 0, 1);
}

static void testSteps(void** state) {
  (void)state;
  for (int o = 0; o < 3; o++) {
    mjModel* m = arm(kOption[o]);
    mjData* d = mj_makeData(m);
    djReport* report;
    djError err;
    djModel* model;
    assert_int_equal(dj_importMuJoCo(&model, &report, m, &err), DJ_OK);
    for (int i = 0; i < report->n; i++) assert_null(strstr(report->entry[i].note, "muscle"));
    djData* data = djt_dataOf(model);
    djRng rng = {11};
    double worst = 0, strongest = 0;
    for (int k = 0; k < 1000; k++) {
      if (k % 50 == 0) excite(d, m, &rng);
      worst = djt_worst(worst, djt_stepBeside(data, d, model, m));
      for (int i = 0; i < m->nu; i++) strongest = fmax(strongest, fabs(d->actuator_force[i]));
    }
    print_message("%s: %.1e\n", kOption[o], worst);
    assert_true(worst < 1e-11 && strongest > 1);
    dj_deleteReport(report);
    dj_deleteData(data);
    dj_deleteModel(model);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}

static void testTransitions(void** state) {
  (void)state;
  for (int o = 0; o < 3; o++) {
    mjModel* m = arm(kOption[o]);
    mjData* d = mj_makeData(m);
    djModel* model = djt_import(NULL, m);
    djData* data = djt_dataOf(model);
    djmTransitionWork* work;
    djError err;
    djRng rng = {12};
    int nx = dj_tangentSize(model), nu = model->nu;
    double *A = djt_room((size_t)(2 * nx * (nx + nu))), *B = A + nx * nx, *C = B + nx * nu;
    double* D = C + nx * nx;
    double worst = 0;
    assert_int_equal(djm_makeTransitionWork(&work, m, &err), DJ_OK);
    for (int k = 0; k < 300; k++) {
      if (k % 50 == 0) excite(d, m, &rng);
      mj_step(m, d);
      if (k % 10) continue;
      djt_takeState(data, m, d);
      assert_int_equal(djm_transitionMuJoCoWith(m, d, work, C, D, NULL, NULL, &err), DJ_OK);
      assert_int_equal(djd_transition(model, data, A, B), DJ_OK);
      worst = djt_worst(worst, djt_distance(A, C, nx * nx));
      worst = djt_worst(worst, djt_distance(B, D, nx * nu));
    }
    print_message("%s: A and B %.1e\n", kOption[o], worst);
    assert_true(worst < 1e-9);
    djm_deleteTransitionWork(work);
    free(A);
    dj_deleteData(data);
    dj_deleteModel(model);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}

// ---- parameters -------------------------------------------------------------------------------

enum { HORIZON = 40, NU = 5 };

static double lossOf(const djModel* model, djData* data, djTape* tape, djRolloutResult* result) {
  static double u[HORIZON * NU];
  double q[3] = {0.3, 0.05, 0.6}, v[3] = {0.4, 0.1, -0.5}, act[5] = {0.3, 0.6, 0.4, 0.7, 0};
  for (int i = 0; i < HORIZON * NU; i++) u[i] = 0.5 + 0.4 * sin(0.3 * i);
  djLossTerm loss = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 2, .weight = 1,
                     .target = {0.4, 0.1, 0.2}};
  djRollout r = {.horizon = HORIZON, .qpos0 = q, .qvel0 = v, .act0 = act, .ctrl = u, .nloss = 1,
                 .loss = &loss};
  if (djd_rolloutForward(result, model, data, &r, tape) < 0 ||
      (result->nparam && djd_rolloutBackward(result, model, data, &r, tape) < 0)) {
    fail_msg("%s", dj_errorText(data));
  }
  return result->loss;
}

static const char* const kParam[] = {
  "actuator/cord/gainprm", "actuator/both/gainprm", "actuator/hinge/gainprm",
  "actuator/slide/gainprm", "actuator/bias/biasprm", "actuator/cord/biasprm",
  "actuator/both/gear", "actuator/slide/gear", "site/b/pos", "body/lower/pos", "body/lower/mass"};

static void compareParam(djModel* model, djData* data, djTape* tape, const char* name) {
  djParam p;
  djError err;
  double g[10] = {0}, value[10], moved[10];
  if (dj_paramId(&p, model, name, &err) < 0) fail_msg("%s", err.text);
  djRolloutResult result = {.nparam = 1, .param = &p, .grad_param = g}, plain = {0};
  bool muscle = strstr(name, "prm") && !strstr(name, "bias/gain");
  if (muscle) assert_int_equal(p.nvalue, 9);
  lossOf(model, data, tape, &result);
  assert_int_equal(dj_getParam(value, model, &p), DJ_OK);
  for (int k = 0; k < p.nvalue; k++) {
    double f[4], h = 1e-4 * fmax(fabs(value[k]), 0.1);
    for (int side = 0; side < 4; side++) {
      memcpy(moved, value, sizeof(moved));
      moved[k] += (side % 2 ? h : -h) * (side < 2 ? 1 : 2);
      if (dj_setParam(model, &p, moved, &err) < 0) fail_msg("%s: %s", name, err.text);
      f[side] = lossOf(model, data, tape, &plain);
    }
    assert_int_equal(dj_setParam(model, &p, value, &err), DJ_OK);
    double slope = (8 * (f[1] - f[0]) - (f[3] - f[2])) / (12 * h);
    if (!(fabs(g[k] - slope) < 1e-6 * fmax(fabs(slope), 1e-2))) {
      fail_msg("%s[%d]: %.9g, differences %.9g", name, k, g[k], slope);
    }
  }
}

static void testParams(void** state) {
  (void)state;
  for (int o = 0; o < 2; o++) {
    mjModel* m = arm(kOption[o]);
    djModel* model = djt_import(NULL, m);
    djData* data = djt_dataOf(model);
    djTape* tape;
    djError err;
    assert_int_equal(djd_makeTape(&tape, model, HORIZON, &err), DJ_OK);
    for (size_t i = 0; i < sizeof(kParam) / sizeof(*kParam); i++) {
      compareParam(model, data, tape, kParam[i]);
    }
    djd_deleteTape(tape);
    dj_deleteData(data);
    dj_deleteModel(model);
    mj_deleteModel(m);
  }
}

// Other integrators name the muscle that they do not step.
static void testRefused(void** state) {
  (void)state;
  mjModel* m = arm("");
  djModel* model = djt_import(NULL, m);
  djError err;
  djOption option = model->opt;
  option.integrator = DJ_POSITION;
  assert_int_equal(dj_setOption(model, &option, &err), DJ_OK);
  djData* data = djt_dataOf(model);
  assert_int_equal(dj_step(model, data), DJ_UNSUPPORTED);
  assert_non_null(strstr(dj_errorText(data), "'cord': muscles need the integrator euler"));
  dj_deleteData(data);
  dj_deleteModel(model);
  mj_deleteModel(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(testLaws), cmocka_unit_test(testSteps), cmocka_unit_test(testTransitions),
    cmocka_unit_test(testParams), cmocka_unit_test(testRefused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
