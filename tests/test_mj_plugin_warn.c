// The plugin dijoco.contact tells once what is not as in MuJoCo, in one warning.

#include "common/mjcf.h"
#include "common/test.h"

#include <dijoco/mujoco.h>

#define SCENE(config, name, geom, rest)                                                        \
  "<mujoco model='" name "'><extension><plugin plugin='dijoco.contact'><instance name='dj'>" config             \
  "</instance></plugin></extension><option><flag contact='disable'/></option><worldbody><geom " \
  "name='floor' type='plane' size='2 2 .1'/><body name='b' pos='0 0 1'><freejoint/><geom "     \
  "name='" geom "' size='.1'/><site name='s' size='.2'/></body></worldbody>" rest "</mujoco>"
#define QUIET "<config key='warn' value='false'/>"
#define SENSOR(text) "<sensor>" text "</sensor>"

// What is said when the scene is compiled and run, which makes data three times.
static const char* heard(const char* scene) {
  djt_warning[0] = '\0';
  mjModel* m = djt_compile(scene);
  for (int i = 0; i < 2; i++) {
    mjData* d = mj_makeData(m);
    mj_step(m, d);
    mj_deleteData(d);
  }
  mj_deleteModel(m);
  return djt_warning;
}

static int linesOf(const char* text) {
  int n = 0;
  for (; *text; text++) n += *text == '\n';
  return n;
}

static void testOnce(void) {
  const char* text = heard(SCENE("", "one", "g", ""));
  if (linesOf(text) != 1) fail_msg("not one warning: %s", text);
  assert_non_null(strstr(text, "dijoco.contact: one: not as in MuJoCo"));
  assert_non_null(strstr(text, "solref of 2 geoms, most at geom/floor: MuJoCo's bodies sink in by "
                               "about 0.37 mm"));
  assert_null(strstr(text, "sensor"));
}

static void testQuiet(void) {
  char error[1000];
  assert_string_equal(heard(SCENE(QUIET, "two", "g", "")), "");
  assert_null(djt_tryCompile(SCENE("<config key='warn' value='no'/>", "three", "g", ""), error));
  assert_non_null(strstr(error, "warn=no"));
  assert_non_null(strstr(heard(SCENE("<config key='warn' value='true'/>", "four", "g", "")), "solref"));
}

// Nothing that touches.
static void testClean(void) {
  assert_string_equal(heard(SCENE("<config key='geoms' value='g'/>", "five", "g' contype='0' "
                                  "conaffinity='0' mass='1", "<contact><exclude body1='world' "
                                  "body2='b'/></contact>")), "");
}

// Sensors of MuJoCo's that see none of these forces; what moves is right for the others.
static void testSensors(void) {
  static const char* const blind[] = {"touch", "force", "torque", "contact"};
  for (int i = 0; i < 4; i++) {
    char scene[2000], place[100];
    snprintf(scene, sizeof(scene), SCENE("", "six", "g", SENSOR("<%s name='x%d' %s/>")), blind[i], i,
             i == 3 ? "geom1='g'" : "site='s'");
    snprintf(place, sizeof(place), "force of sensor/x%d is ignored: ", i);
    if (!strstr(heard(scene), place)) fail_msg("%s\n%s", djt_warning, scene);
  }
  assert_null(strstr(heard(SCENE("", "seven", "g", SENSOR("<accelerometer site='s'/><gyro "
                                                                "site='s'/>"))), "sensor"));
  assert_non_null(strstr(djt_warning, "solref"));
}

DJT_MAIN_IN(djt_keepWarnings, NULL, testOnce, testQuiet, testClean, testSensors)
