// Gravity compensation that counts as actuator force, beside MuJoCo.

#include "common/mj_drive_case.h"
#include "common/test.h"

// Ranges that clip compensation and servos together; a joint without an actuator; one without a
// range, and a ball between them.
#define ARM(option, type, b, actuator)                                                            \
  "<mujoco><compiler angle='radian'/><option timestep='.002' " option "/><default><geom "         \
  "contype='0' conaffinity='0'/></default><worldbody><body pos='0 0 1' gravcomp='1'><joint "      \
  "name='a' axis='0 1 0' damping='.1' actuatorgravcomp='true' actuatorfrcrange='-6 6'/>"          \
  "<geom type='capsule' fromto='0 0 0 .4 .05 .1' size='.04' mass='1.5'/><body name='mid' "        \
  "pos='.4 .05 .1' gravcomp='.7'><joint name='b' type='" type "' axis='1 1 0' damping='.1' " b     \
  "/><geom type='capsule' fromto='0 0 0 .3 .1 0' size='.03' mass='.8'/><body name='tip' "         \
  "pos='.3 .1 0' gravcomp='1.2'><joint name='c' axis='0 1 .3' type='slide' damping='1' "          \
  "actuatorgravcomp='true' actuatorfrcrange='-2 2'/><joint name='d' axis='0 .2 1' damping='.1' "  \
  "actuatorgravcomp='true'/><geom type='capsule' fromto='0 0 0 .2 .1 0' size='.03' mass='.4'/>"   \
  "</body></body></body></worldbody>" actuator "</mujoco>"
#define DRIVES "<actuator><motor joint='a' gear='5'/><general joint='c' gainprm='3' "             \
  "biastype='affine' biasprm='0 -3 -1'/><motor joint='d'/></actuator>"
#define FREE "<mujoco><default><geom contype='0' conaffinity='0'/></default><worldbody><body "    \
  "pos='0 0 1'><joint type='free' actuatorgravcomp='true'/><geom size='.1' pos='.02 0 .1'/><body " \
  "pos='.2 0 0' gravcomp='.7'><joint name='b' actuatorgravcomp='true'/><geom size='.08' "          \
  "pos='.1 0 .05'/></body></body></worldbody></mujoco>"

static const char* const kScene[] = {
  ARM("", "ball", "actuatorgravcomp='true'", DRIVES),
  ARM("integrator='implicitfast'", "hinge", "actuatorgravcomp='true' actuatorfrcrange='-1 1'",
      DRIVES),
  ARM("", "ball", "actuatorgravcomp='true'", ""),
  ARM("><flag actuation='disable'/></option><option ", "hinge", "actuatorgravcomp='true'", DRIVES),
  FREE};
enum { NSCENE = sizeof(kScene) / sizeof(*kScene) };

static void testSteps(void) {
  for (int i = 0; i < NSCENE; i++) {
    mjModel* m = djt_compile(kScene[i]);
    double strongest, steps = djt_driveSteps(&strongest, m, 300, 2), slopes;
    slopes = djt_driveSlopes(m, 20, 2);
    print_message("%d: steps %.1e, A and B %.1e\n", i, steps, slopes);
    assert_true(steps < 1e-11 && slopes < 1e-7);
    mj_deleteModel(m);
  }
}

static void testParams(void) {
  static const char* const names[] = {
    "body/mid/gravcomp", "body/tip/mass", "body/tip/gravcomp", "body/tip/ipos", "body/mid/pos",
    "joint/a/pos", "option/gravity", "body/tip/pos", "body/mid/mass", NULL};
  for (int i = 0; i < 4; i++) {
    mjModel* m = djt_compile(kScene[i]);
    djt_driveParams(m, mj_name2id(m, mjOBJ_BODY, "tip"), 2, names);
    mj_deleteModel(m);
  }
}

// Reported as exact; other integrators name the joint, and scenes of theirs leave it out.
static void testReport(void) {
  djReport* report;
  djError err;
  mjModel* m = djt_compile(kScene[0]);
  djModel* model = djt_import(&report, m);
  for (int i = 0; i < report->n; i++) {
    assert_int_not_equal(strcmp(report->entry[i].feature, "actuatorgravcomp"), 0);
  }
  djOption option = model->opt;
  option.integrator = DJ_POSITION;
  assert_int_equal(dj_setOption(model, &option, &err), DJ_OK);
  djData* data = djt_dataOf(model);
  assert_int_equal(dj_step(model, data), DJ_UNSUPPORTED);
  assert_non_null(strstr(dj_errorText(data), "joint 'a': actgravcomp within a range"));
  dj_deleteData(data);
  dj_deleteReport(report);
  dj_deleteModel(model);
  m->opt.integrator = mjINT_DISCRETE;
  model = djt_import(&report, m);
  bool told = false;
  for (int i = 0; i < report->n; i++) {
    if (strcmp(report->entry[i].feature, "actuatorgravcomp") == 0) told = true;
  }
  assert_true(told);
  data = djt_dataOf(model);
  djt_mustStep(model, data);
  dj_deleteData(data);
  dj_deleteReport(report);
  dj_deleteModel(model);
  mj_deleteModel(m);
}

DJT_MAIN(testSteps, testParams, testReport)
