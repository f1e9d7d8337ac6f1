// Derivatives of actuators' forces and activations (derivative/smooth_slope.h) against differences
// of MuJoCo's functions: every transmission with every law, and ranges.

#include "common/mj_smooth.h"
#include "common/test.h"

#define BODIES                                                                                     \
  "<worldbody><site name='w' pos='.2 .1 .3' euler='10 20 30'/>"                                    \
  "<body pos='0 0 1'><joint name='free' type='free'/><geom type='box' size='.2 .15 .1' mass='2'/>" \
  "<site name='b' pos='.1 -.1 .1' euler='40 10 20'/>"                                              \
  "<body pos='.1 .2 .15' euler='5 10 15'><joint name='ball' type='ball'/>"                         \
  "<geom type='capsule' fromto='0 0 0 .3 .1 .05' size='.04' mass='.7'/>"                           \
  "<site name='l' pos='.2 .1 .1' euler='-20 30 50'/>"                                              \
  "<body pos='.3 0 .05' gravcomp='.7'><joint name='h' axis='0 1 .2'/><joint name='s' "             \
  "type='slide' "                                                                                  \
  "axis='1 0 .5'/><geom type='box' pos='.1 0 .1' size='.2 .05 .03' mass='.4'/>"                    \
  "<site name='t' pos='.1 0 .1' euler='70 20 10'/></body></body></body>"                           \
  "<body pos='0 .4 1' gravcomp='.5'><joint name='p' axis='0 0 1' actuatorgravcomp='true'/>"        \
  "<geom type='box' size='.1 .05 .03' pos='.1 .1 .1' mass='.4'/><site name='c' pos='.1 .1 0'/>"    \
  "<body pos='.2 0 0'><joint name='o' axis='1 0 0' actuatorgravcomp='true'/><geom type='box' "     \
  "size='.1 .05 .03' pos='0 .1 .1' mass='.4'/></body></body></worldbody>"                          \
  "<tendon><spatial name='line'><site site='w'/><site site='b'/><site site='t'/></spatial>"        \
  "<fixed name='fixed'><joint joint='h' coef='.5'/><joint joint='p' coef='-1.5'/></fixed>"         \
  "<spatial name='bound' actuatorfrcrange='-.3 .2' actuatorfrclimited='true'><site site='w'/>"     \
  "<site site='c'/><site site='l'/></spatial></tendon>"

#define MODEL(actuators)                                                                           \
  "<mujoco><option timestep='.002' gravity='1 2 -9.8'/><compiler autolimits='true'/>" BODIES       \
  "<actuator>" actuators "</actuator></mujoco>"

#define AFFINE "gaintype='affine' gainprm='3 .2 -.1' biastype='affine' biasprm='.1 -.2 -.5'"

static djRng rng = {4321};

// Worst errors at random states: of forces, of next activations, of rates.
static void checkModel(const char* name, const char* text, int n, double most) {
  djtSmooth s = djt_openSmooth(djt_compile(text));
  double worst[DJT_NTHING] = {0};
  djError err = {""};
  if (djm_checkSmooth(s.m, &err) != DJ_OK) fail_msg("%s: %s", name, err.text);
  for (int i = 0; i < n; i++) {
    djt_shakeSmooth(&s, &rng, 0.4, 1);
    for (int thing = 0; thing < DJT_NTHING; thing++) {
      if (thing != DJT_FORCE && !s.m->na) continue;
      double error[4];
      djt_smoothErrors(error, &s, thing, 2e-4);
      if (getenv("DJT_SHOW")) {
        printf("%s %d %d: %.1e %.1e %.1e %.1e\n", name, i, thing, error[0], error[1], error[2],
               error[3]);
      }
      for (int k = 0; k < 4; k++) worst[thing] = fmax(worst[thing], error[k]);
    }
  }
  djt_closeSmooth(&s);
  print_message("%s: force %.1e, next %.1e, rate %.1e\n", name, worst[0], worst[1], worst[2]);
  for (int thing = 0; thing < DJT_NTHING; thing++) assert_true(worst[thing] < most);
}

static void testTransmissions(void) {
  checkModel("joints",
             MODEL("<general joint='h' gear='2' " AFFINE "/><general joint='s' gear='.5' " AFFINE
                   "/><general joint='ball' gear='.1 .2 .3' " AFFINE "/><general joint='free' "
                   "gear='.1 .2 .3 .4 .5 .6' " AFFINE
                   "/><general jointinparent='ball' gear='.3 .2 .3' " AFFINE
                   "/><general jointinparent='free' gear='.1 .2 .3 .4 .5 .6' " AFFINE "/>"),
             4, 1e-8);
  checkModel("sites",
             MODEL("<general site='l' gear='.1 .2 .3 .4 .5 .6' " AFFINE "/><general site='t' "
                   "refsite='b' gear='.1 .2 .3 .4 .5 .6' " AFFINE "/><general site='t' refsite='l' "
                   "gear='0 0 0 .4 .5 .6' " AFFINE
                   "/><general site='c' refsite='t' gear='.3 .2 .1 0 0 0' " AFFINE
                   "/><general site='b' refsite='w' gear='.3 .2 .1 .2 0 .1' " AFFINE "/>"),
             4, 1e-8);
  checkModel("cranks",
             MODEL("<general cranksite='t' slidersite='b' cranklength='.9' gear='2' " AFFINE
                   "/><general cranksite='t' slidersite='w' cranklength='.02' gear='3' " AFFINE
                   "/>"),
             4, 1e-8);
  checkModel("tendons",
             MODEL("<general tendon='line' gear='2' " AFFINE "/><general tendon='fixed' "
                   "gear='-1' " AFFINE "/>"),
             4, 1e-8);
}

static void testRanges(void) {
  checkModel("control",
             MODEL("<general joint='h' ctrlrange='-.1 .1' " AFFINE "/><general joint='s' "
                   "ctrlrange='-2 2' " AFFINE "/>"),
             4, 1e-8);
  checkModel("force",
             MODEL("<general joint='h' forcerange='-.2 .2' " AFFINE "/><general tendon='line' "
                   "forcerange='-1 1' " AFFINE "/><general site='t' refsite='b' gear='1 0 0 0 1 0' "
                   "forcerange='-.3 .3' " AFFINE "/>"),
             6, 1e-8);
  checkModel("tendon",
             MODEL("<general tendon='bound' gear='2' " AFFINE "/><general tendon='bound' "
                   "dyntype='filter' dynprm='.1' " AFFINE
                   " forcerange='-.15 .15'/><motor tendon='bound' gear='-1'/>"),
             8, 1e-8);
  static const char joints[] =
      "<mujoco><option gravity='1 2 -9.8'/><compiler autolimits='true'/><worldbody><body "
      "gravcomp='1'>"
      "<joint name='a' axis='0 1 0' actuatorfrcrange='-1 1' actuatorgravcomp='true'/><geom "
      "size='.1' "
      "pos='.3 .1 0' mass='1'/><body pos='.5 0 0' gravcomp='.4'><joint name='b' axis='0 1 1' "
      "actuatorgravcomp='true'/><joint name='c' axis='1 1 0' actuatorfrcrange='-.2 .3'/><geom "
      "size='.1' pos='.1 .2 .1' mass='.3'/><site name='s' pos='.1 .1 "
      ".1'/></body></body></worldbody>"
      "<actuator><general joint='a' " AFFINE "/><general joint='b' " AFFINE
      "/><general joint='c' " AFFINE "/><general site='s' gear='1 2 3 .1 .2 .3' " AFFINE
      "/></actuator></mujoco>";
  checkModel("joint", joints, 12, 1e-8);
}

#define LAWS(kind)                                                                                 \
  "<general joint='h' gear='2' " kind "/><general tendon='line' " kind "/>"                        \
  "<general joint='s' actearly='true' " kind "/>"

static void testActivations(void) {
  checkModel("integrator", MODEL(LAWS("dyntype='integrator' " AFFINE)), 3, 1e-8);
  checkModel("limited", MODEL(LAWS("dyntype='integrator' actrange='-.2 .3' " AFFINE)), 3, 1e-8);
  checkModel("filter", MODEL(LAWS("dyntype='filter' dynprm='.05' " AFFINE)), 3, 1e-8);
  checkModel("exact", MODEL(LAWS("dyntype='filterexact' dynprm='.01' " AFFINE)), 3, 1e-8);
  checkModel(
      "disabled",
      "<mujoco><option actuatorgroupdisable='2'/><worldbody><body><joint name='j'/>"
      "<geom size='.1' mass='1' pos='.1 0 0'/></body></worldbody><actuator><general joint='j' "
      "dyntype='filter' dynprm='.1' group='2'/><general joint='j' dyntype='integrator' group='1'/>"
      "</actuator></mujoco>",
      3, 1e-8);
}

#define MUSCLE "lengthrange='.2 1.5' "

static void testMuscles(void) {
  checkModel("muscle",
             MODEL("<muscle tendon='line' lengthrange='.6 1.9' force='20'/><muscle joint='h' "
                   "lengthrange='-.4 .4' range='.8 1.1' scale='10' timeconst='.02 .05' "
                   "tausmooth='.4'/><muscle joint='s' "
                   "lengthrange='-.3 .1' force='10' vmax='4' fpmax='2' fvmax='1.6'/>"),
             8, 1e-8);
}

#define SERVO "kp='3' kv='.5' "

static void testServos(void) {
  checkModel(
      "position",
      MODEL("<position joint='ball' gear='2 1 3' kp='2' kv='.3'/><position site='t' "
            "refsite='b' gear='0 0 0 3 4 5' kp='1'/><intvelocity joint='ball' gear='1 2 1' kp='2' "
            "actrange='-10 10'/>"),
      4, 1e-8);
}

// Set points beyond half a turn are brought back.
static void testAnchor(void) {
  djtSmooth s = djt_openSmooth(djt_compile(
      MODEL("<general joint='ball' gaintype='so3' biastype='so3' dyntype='integrator' actdim='3' "
            "gainprm='3' biasprm='0 -3 -.5'/>")));
  djt_shakeSmooth(&s, &rng, 0.4, 1);
  for (int k = 0; k < 3; k++) s.d->act[k] = 3 + k;
  mj_forward(s.m, s.d);
  for (int thing = 0; thing < 2; thing++) {
    double error[4];
    djt_smoothErrors(error, &s, thing, 2e-4);
    for (int k = 0; k < 4; k++) assert_true(error[k] < 1e-8);
  }
  djt_closeSmooth(&s);
}

static void testPid(void) {
  checkModel(
      "pid",
      MODEL("<pid joint='h' kp='3' kv='.5'/><pid joint='s' kp='3' kv='.5' input='pos vel ff' "
            "gear='2'/><pid tendon='line' kp='4' kv='1' ki='2' imax='.3'/><pid joint='ball' "
            "gear='0 1 2' kp='2' "
            "kv='.3' ki='1'/><pid joint='p' kv='2' input='vel ff'/>"),
      8, 1e-8);
  checkModel(
      "slew",
      MODEL("<pid joint='h' kp='3' kv='.5' slewmax='.4'/><pid joint='s' kp='3' kv='.5' ki='2' "
            "imax='.2' slewmax='300'/><pid tendon='line' kp='3' ki='2' slewmax='2' input='pos "
            "vel'/>"),
      8, 1e-8);
}

#define MOTOR "motorconst='.5' resistance='2' "

static void testMotors(void) {
  checkModel(
      "motor",
      MODEL("<dcmotor joint='h' " MOTOR "/><dcmotor tendon='line' gear='3' " MOTOR
            "cogging='.3 6 .2'/><dcmotor joint='s' " MOTOR
            "input='pos vel' controller='3 0 .5'/><dcmotor joint='p' " MOTOR
            "input='pos vel ff voltage' controller='3 2 .5 .3 .4 6'/><dcmotor joint='o' " MOTOR
            "input='none' lugre='20 1 .5 .7 2'/>"),
      8, 1e-8);
  checkModel(
      "current",
      MODEL("<dcmotor joint='h' inductance='0 .01' " MOTOR "/><dcmotor joint='p' " MOTOR
            "inductance='.02 0' thermal='2 3 0 .004 25 30' lugre='20 1 .5 .7 2' input='pos vel ff' "
            "controller='3 2 .5 .3 .4 6'/><dcmotor joint='o' " MOTOR "thermal='2 3 0 .004 25 30' "
            "saturation='.2 0 0'/><dcmotor tendon='line' inductance='0 .02' " MOTOR
            "input='pos' controller='3 0 .4 .2 0 0'/>"
            "<dcmotor joint='s' " MOTOR "inductance='0 .01' saturation='.1 0 5'/>"),
      8, 1e-8);
}

static void testOrientations(void) {
  checkModel("orientation",
             MODEL("<orientation joint='ball' kp='3' kv='.5'/><orientation joint='ball' kp='2' "
                   "kv='.3' input='quat'/><orientation site='t' refsite='b' kp='2' "
                   "kv='.4'/><orientation site='t' "
                   "refsite='w' kp='3' kv='.4' forcerange='0 .6'/>"),
             4, 1e-8);
  checkModel(
      "integrated",
      MODEL("<general joint='ball' gaintype='so3' biastype='so3' dyntype='integrator' "
            "actdim='3' gainprm='3' biasprm='0 -3 -.5'/><general joint='ball' gaintype='so3' "
            "biastype='so3' "
            "dyntype='integrator' actdim='3' gainprm='2' biasprm='0 -2 -.5' actearly='true'/>"),
      4, 1e-8);
}

DJT_MAIN(testTransmissions, testRanges, testActivations, testMuscles, testServos, testPid,
         testMotors, testOrientations, testAnchor)
