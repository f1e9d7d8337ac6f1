// Adhesion actuators: what they hold, momentum, derivatives.

#include "common/make_model.h"
#include "common/mj_drive_case.h"
#include "common/test.h"
#include "math/so3.h"

#include <dijoco/io.h>

// A pad against a ceiling.
static const char kCeiling[] =
    "<mujoco><option timestep='.002' cone='elliptic'/><worldbody><geom type='box' size='1 1 .1' "
    "pos='0 0 1.1'/><body name='pad' pos='0 0 .9003'><freejoint/><geom type='box' size='.1 .08 .1' "
    "mass='.5'/></body></worldbody><actuator><adhesion name='a' body='pad' ctrlrange='0 1' "
    "gain='10'/></actuator></mujoco>";

// Heights after a second at a control: ours, from where surfaces touch; MuJoCo's, whose contacts
// are a little deep.
static void hang(double height[2], double u) {
  mjModel* m = djt_compile(kCeiling);
  mjData* d = mj_makeData(m);
  djModel* model = djt_import(NULL, m);
  djData* data = djt_dataOf(model);
  djt_takeState(data, m, d);
  data->qpos[2] = 0.9;
  data->ctrl[0] = d->ctrl[0] = u;
  for (int k = 0; k < 500; k++) {
    djt_mustStep(model, data);
    mj_step(m, d);
  }
  height[0] = data->qpos[2];
  height[1] = d->qpos[2];
  djt_delete(model, data);
  djt_deleteEngine(m, d);
}

static void testHolds(void) {
  double height[2];
  hang(height, 0.6);    // 6 N hold 4.9 N
  print_message("held at %.6f, MuJoCo %.6f\n", height[0], height[1]);
  djt_near(height[0], 0.9, 1e-4);
  djt_near(height[1], 0.9, 1e-3);
  hang(height, 0.45);   // 4.5 N do not
  print_message("fallen to %.3f, MuJoCo %.3f\n", height[0], height[1]);
  assert_true(height[0] < -2 && height[1] < -2);
}

// Two bodies in flight, of which one adheres to the other.
#define FLYERS(size)                                                                              \
  "<mujoco><option timestep='.002' gravity='0 0 0'/><default><geom condim='1'/></default>"         \
  "<worldbody><body name='a'><freejoint/><geom type='box' size='.1 .08 .1' mass='.5'/></body>"     \
  "<body name='b' pos='.02 .01 .2'><freejoint/><geom " size " mass='.8'/></body></worldbody>"      \
  "<actuator><adhesion name='a' body='a' ctrlrange='0 1' gain='10'/></actuator></mujoco>"

// Of bodies whose inertial frame is that of the body.
static void momentum(double p[6], const mjModel* m, const djData* d) {
  djVec3 P = {0, 0, 0}, L = {0, 0, 0};
  for (int b = 0; b < 2; b++) {
    djMat3 R = dju_quatToMat(dju_loadQuat(d->qpos + 7 * b + 3));
    const double *w = d->qvel + 6 * b + 3, *I = m->body_inertia + 3 * (b + 1);
    djVec3 mv = dju_scale3(m->body_mass[b + 1], dju_load3(d->qvel + 6 * b));
    djVec3 spin = {I[0] * w[0], I[1] * w[1], I[2] * w[2]};
    P = dju_add3(P, mv);
    L = dju_add3(L, dju_cross3(dju_load3(d->qpos + 7 * b), mv));
    L = dju_add3(L, dju_mulMV(R, spin));
  }
  dju_store3(p, P);
  dju_store3(p + 3, L);
}

// Within the range of adhesion alone, whose forces lie on one line; and together.
static void testMomentum(void) {
  mjModel* m = djt_compile(FLYERS("type='box' size='.1 .1 .1'"));
  mjData* d = mj_makeData(m);
  djModel* model = djt_import(NULL, m);
  djData* data = djt_dataOf(model);
  const double v[12] = {.3, .1, .05, .2, -.3, .1, .3, .1, .1, .2, -.3, .1};
  double before[6], after[6], apart = 0;
  djt_takeState(data, m, d);
  data->qpos[9] += 0.3 * model->contact.range;
  memcpy(data->qvel, v, sizeof(v));
  data->ctrl[0] = 1;
  for (int k = 0; k < 500; k++) {
    momentum(before, m, data);
    djt_mustStep(model, data);
    momentum(after, m, data);
    for (int i = 0; i < 6 && k == 0; i++) djt_near(after[i], before[i], 1e-13);
    for (int i = 0; i < 3; i++) djt_near(after[i], before[i], 1e-12);
    if (k == 0) assert_true(fabs(data->qvel[2] - v[2]) > 1e-3);
  }
  for (int i = 0; i < 3; i++) apart += (data->qpos[i] - data->qpos[7 + i]) *
                                       (data->qpos[i] - data->qpos[7 + i]);
  print_message("together at %.4f m\n", sqrt(apart));
  assert_true(sqrt(apart) < 0.22);   // else they are .25 m apart
  djt_delete(model, data);
  djt_deleteEngine(m, d);
}

// ---- derivatives ------------------------------------------------------------------------------

// A pad of two geoms on an arm, over a box that it holds.
#define GRIPPER(option, shape)                                                                    \
  "<mujoco><option timestep='.002' " option "/><default><geom condim='1'/></default><worldbody>"   \
  "<body name='arm' pos='0 0 1'><joint name='lift' type='slide' axis='0 0 1' damping='50'/>"       \
  "<joint name='tilt' axis='0 1 0' damping='1'/><geom type='box' size='.05 .05 .05' mass='2' "     \
  "contype='0' conaffinity='0'/><body name='pad' pos='0 0 -.15'><geom type='box' "                 \
  "size='.05 .05 .02' pos='.06 0 0' mass='.1'/><geom " shape " pos='-.06 0 0' mass='.1'/></body>" \
  "</body><body name='box' pos='0 0 .73'><freejoint/><geom type='box' size='.12 .1 .1' " \
  "mass='.5'/>" \
  "</body></worldbody><actuator><position joint='lift' kp='4000' ctrlrange='-9 9'/><position " \
  "joint='tilt' kp='200' ctrlrange='-9 9'/><adhesion name='a' body='pad' ctrlrange='0 2' " \
  "gain='10' forcerange='0 18'/></actuator></mujoco>"

static const char* const kGripper[] = {
  GRIPPER("", "type='sphere' size='.02'"),
  GRIPPER("integrator='implicitfast'", "type='capsule' size='.02 .03' euler='90 10 0'")};

static void startGripper(djData* data, const mjModel* m) {
  mjData* d = mj_makeData(m);
  djt_takeState(data, m, d);
  const double u[3] = {2.7 * 9.81 / 4000, 0.004, 1.2};
  memcpy(data->ctrl, u, sizeof(u));
  mj_deleteData(d);
}

// A and B against extrapolated differences with steps h; the largest entry of B by adhesion.
static void compareSlopes(double* by_input, const djModel* model, const djData* from, double h) {
  const int nx = dj_tangentSize(model), nu = model->nu;
  double *A = djt_room((size_t)(nx * (nx + nu))), *B = A + nx * nx;
  double worst = djt_driveSlopesAt(A, model, from, h);
  *by_input = 0;
  for (int r = 0; r < nx; r++) *by_input = fmax(*by_input, fabs(B[nu * r + nu - 1]));
  print_message("A and B %.1e, by adhesion %.1e\n", worst, *by_input);
  assert_true(worst < 2e-6);
  free(A);
}

// Held; and where the force ends, with some of one geom's and all of the other's, whose weights
// are not flat.
static void testTransitions(void) {
  for (int i = 0; i < 2; i++) {
    mjModel* m = djt_compile(kGripper[i]);
    djModel* model = djt_import(NULL, m);
    djData* data = djt_dataOf(model);
    startGripper(data, m);
    double by, range = model->contact.range;
    for (int k = 0; k < 200; k++) djt_mustStep(model, data);
    assert_true(fabs(data->qpos[4] - 0.73) < 1e-3);
    compareSlopes(&by, model, data, 1e-6);
    static const double turn[3] = {0.002, 0.004, 0.001};
    for (int k = 0; k < 4; k++) {
      startGripper(data, m);
      double v[DJT_DRIVE_MOST] = {0};
      v[4] = -range * (0.3 + 0.2 * k);
      for (int r = 0; r < 3; r++) v[5 + r] = k * turn[r];
      dj_integratePos(data->qpos, model, data->qpos, v, 1);
      compareSlopes(&by, model, data, 1e-6);
      if (k < 3) assert_true(by > 1e-3);
    }
    djt_delete(model, data);
    mj_deleteModel(m);
  }
}

static void testParams(void) {
  static const char* const names[] = {
    "actuator/a/gainprm", "body/box/mass", "body/pad/pos", "joint/tilt/pos", "body/pad/mass",
    "option/gravity", NULL};
  for (int i = 0; i < 2; i++) {
    mjModel* m = djt_compile(kGripper[i]);
    djError err;
    djtDriveRun run = {m, djt_import(NULL, m), NULL, NULL, 3, 0, 1e-5, 0.1, startGripper};
    run.data = djt_dataOf(run.model);
    assert_int_equal(djd_makeTape(&run.tape, run.model, DJT_DRIVE_HORIZON, &err), DJ_OK);
    for (const char* const* name = names; *name; name++) djt_driveParam(&run, *name);
    djd_deleteTape(run.tape);
    djt_delete(run.model, run.data);
    mj_deleteModel(m);
  }
}

// By shapes there are none while it acts.
static void testShapes(void) {
  mjModel* m = djt_compile(kGripper[0]);
  djModel* model = djt_import(NULL, m);
  djData* data = djt_dataOf(model);
  djTape* tape;
  djError err;
  double g[3], u[3], q[DJT_DRIVE_MOST];
  startGripper(data, m);
  memcpy(u, data->ctrl, sizeof(u));
  memcpy(q, data->qpos, (size_t)model->nq * sizeof(double));
  djLossTerm loss = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 3, .weight = 1};
  djRollout r = {.horizon = 1, .qpos0 = q, .ctrl = u, .nloss = 1, .loss = &loss};
  djParam p = djt_param(model, "geom/#3/size");
  djRolloutResult result = {.nparam = 1, .param = &p, .grad_param = g};
  assert_int_equal(djd_makeTape(&tape, model, 1, &err), DJ_OK);
  assert_true(djd_rolloutForward(&result, model, data, &r, tape) >= 0);
  assert_int_equal(djd_rolloutBackward(&result, model, data, &r, tape), DJ_UNSUPPORTED);
  assert_non_null(strstr(dj_errorText(data), "adhesion"));
  djd_deleteTape(tape);
  djt_delete(model, data);
  mj_deleteModel(m);
}

// ---- elsewhere --------------------------------------------------------------------------------

static bool reports(const mjModel* m, djFeatureState severity) {
  djReport* report;
  djModel* model = djt_import(&report, m);
  bool told = false;
  for (int i = 0; i < report->n; i++) {
    const djReportEntry* e = &report->entry[i];
    if (strcmp(e->feature, "transmission") == 0) told = e->state == severity;
  }
  dj_deleteReport(report);
  dj_deleteModel(model);
  return told;
}

static void testReport(void) {
  mjModel* m = djt_compile(kCeiling);
  djError err;
  assert_true(reports(m, DJ_APPROXIMATED));
  djModel *model = djt_import(NULL, m), *again;
  assert_int_equal(dj_saveModel(model, "adhesion.json", &err), DJ_OK);
  assert_int_equal(dj_loadModel(&again, "adhesion.json", &err), DJ_OK);
  remove("adhesion.json");
  assert_int_equal(again->actuator_body[0], 1);
  dj_deleteModel(again);
  djOption option = model->opt;
  option.integrator = DJ_VARIATIONAL;
  assert_int_equal(dj_setOption(model, &option, &err), DJ_OK);
  djData* data = djt_dataOf(model);
  assert_int_equal(dj_step(model, data), DJ_UNSUPPORTED);
  assert_non_null(strstr(dj_errorText(data), "'a': adhesion needs the integrator euler"));
  djt_delete(model, data);
  m->opt.integrator = mjINT_DISCRETE;
  assert_true(reports(m, DJ_IGNORED));
  mj_deleteModel(m);
}

DJT_MAIN(testHolds, testMomentum, testTransitions, testParams, testShapes, testReport)
