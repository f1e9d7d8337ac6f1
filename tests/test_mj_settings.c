// Our own settings in MuJoCo's scenes: <custom> fields and the configuration of the plugin; what
// the plugin says of a scene.

#include "common/mjcf.h"
#include "common/near.h"
#include "common/setting_case.h"
#include "common/test.h"
#include "instance.h"

#include <dijoco/dijoco.h>

#define WORLD                                                                             \
  "<worldbody><geom type='plane' size='1 1 1' condim='1'/><body pos='0 0 1'><freejoint/><geom " \
  "size='.1' condim='1'/></body></worldbody></mujoco>"

// ------------------------------ custom fields ---------------------------------------------------

// Beside what some settings go with.
static mjModel* withCustom(const char* kind, const char* name, const char* data) {
  char text[1000];
  bool other = strcmp(name, "dijoco_guide_backward_only") != 0;
  snprintf(text, sizeof(text), "<mujoco><custom><numeric name='other' data='1 2'/><text "
           "name='note' data='n'/>%s<%s name='%s' data='%s'/></custom>" WORLD,
           other ? "<text name='dijoco_guide_backward_only' data='true'/>" : "", kind, name, data);
  return djt_compile(text);
}

static void expectRefusal(const char* kind, const char* name, const char* data) {
  mjModel* m = withCustom(kind, name, data);
  djModel* x;
  djError err;
  char start[100];
  snprintf(start, sizeof(start), "%s/%s: ", kind, name);
  if (dj_importMuJoCo(&x, NULL, m, &err) != DJ_INVALID) fail_msg("%s%s: taken", start, data);
  assert_null(x);
  if (strncmp(err.text, start, strlen(start)) != 0) fail_msg("%s%s: %s", start, data, err.text);
  mj_deleteModel(m);
}

// Each row of the table reaches its option, as a number and as a text, and no other.
static void assertOnly(const djModel* m, const djModel* plain, const djSetting* set,
                       const double* wanted) {
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    double value[3], before[3];
    dj_getSetting(value, &m->opt, s);
    dj_getSetting(before, &plain->opt, s);
    djt_failIf(!djt_sameSetting(s, value, s == set ? wanted : before), "%s: %s is %g", set->name,
               s->name, value[0]);
  }
}

// Written to MJCF and read again it is what it was.
static void assertWritten(const djModel* m, const djSetting* s, const double* wanted) {
  char* text;
  djError err;
  double value[3];
  djStatus status = djm_makeMJCF(&text, "scene.json", m, NULL, &err);
  if (status != DJ_OK) fail_msg("%s: %s", s->name, err.text);
  mjModel* stock = djt_compile(text);
  djModel* again = djt_import(NULL, stock);
  dj_getSetting(value, &again->opt, s);
  djt_near(value[0], *wanted, 1e-15);
  dj_deleteModel(again);
  mj_deleteModel(stock);
  free(text);
}

static void testCustom(void) {
  mjModel* plain = withCustom("numeric", "third", "1");
  djModel* none = djt_import(NULL, plain);
  const djSetting* s;
  int n = 0;
  for (int i = 0; (s = dj_setting(i)); i++) {
    char name[60], data[64];
    double value[3];
    snprintf(name, sizeof(name), "dijoco_%s", s->name);
    if (!(s->ways & DJ_BY_MJCF)) {
      expectRefusal("numeric", name, "1");
      expectRefusal("text", name, "1");
      continue;
    }
    djt_goodSetting(value, s);
    for (int text = 0; text < 3; text++) {   // a number, a text, a number that is given as text
      if (text == 1) djt_settingText(data, s, value);
      else snprintf(data, sizeof(data), "%.17g%s", value[0], text ? " " : "");
      mjModel* m = withCustom(text ? "text" : "numeric", name, data);
      djModel* x = djt_import(NULL, m);
      assertOnly(x, none, s, value);
      if (text == 0) assertWritten(x, s, value);
      dj_deleteModel(x);
      mj_deleteModel(m);
    }
    for (int k = 0; k < DJT_BAD_SETTINGS; k++) {
      if (!djt_badSetting(value, s, k) || isinf(value[0])) continue;
      snprintf(data, sizeof(data), "%.17g", value[0]);
      expectRefusal("numeric", name, data);
      expectRefusal("text", name, data);
    }
    expectRefusal("numeric", name, "1 2");
    expectRefusal("text", name, "many");
    expectRefusal("text", name, "1x");
    n++;
  }
  assert_true(n >= 15);
  expectRefusal("numeric", "dijoco_", "1");
  expectRefusal("text", "dijoco_suport", "1");
  dj_deleteModel(none);
  mj_deleteModel(plain);
}

// ------------------------------ the plugin's configuration --------------------------------------

static mjModel* withConfig(const char* key, const char* value, char error[1000]) {
  char text[1000];
  snprintf(text, sizeof(text),
           "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'><config "
           "key='%s' value='%s'/></instance></plugin></extension>" WORLD, key, value);
  return djt_tryCompile(text, error);
}

// Every key reaches the model of whole steps and the one of the plugin's own.
static void testConfiguration(void) {
  char error[1000], data[64];
  const djSetting* s;
  int n = 0;
  for (int i = 0; (s = dj_setting(i)); i++) {
    double value[3], got[3];
    if (s->size > 1) continue;
    djt_goodSetting(value, s);
    djt_settingText(data, s, value);
    mjModel* m = withConfig(s->name, data, error);
    if (!(s->ways & DJ_BY_PLUGIN)) {
      assert_null(m);
      continue;
    }
    if (!m) fail_msg("%s", error);
    mjData* d = mj_makeData(m);
    djModel* x = djt_import(NULL, m);
    dj_getSetting(got, &x->opt, s);
    djt_near(got[0], value[0], 0);
    dj_getSetting(got, &djm_model(djm_pluginContext(m, d))->opt, s);
    djt_near(got[0], value[0], 0);
    dj_deleteModel(x);
    djt_deleteEngine(m, d);
    for (int k = 0; k < DJT_BAD_SETTINGS; k++) {
      if (!djt_badSetting(value, s, k)) continue;
      djt_settingText(data, s, value);
      assert_null(withConfig(s->name, data, error));
      if (!strstr(error, s->name)) fail_msg("%s: %s", s->name, error);
    }
    n++;
  }
  assert_true(n >= 12);
}

static void testSubsteps(void) {
  static const char* const bad[] = {"0", "-1", "1001", "2.5", "two"};
  char error[1000];
  for (int n = 1; n <= 1000; n = n == 1 ? 3 : 1001) {
    char text[20];
    snprintf(text, sizeof(text), "%d", n == 1 ? 1000 : n);
    mjModel* m = withConfig("substeps", text, error);
    if (!m) fail_msg("%s", error);
    mjData* d = mj_makeData(m);
    djmContext *inside = djm_pluginContext(m, d), *own;
    djError err;
    assert_int_equal(djm_makeContext(&own, NULL, m, &err), DJ_OK);
    djmContext* both[] = {inside, own};
    for (int k = 0; k < 2; k++) {
      int substeps = djm_stepOption(both[k])->substeps;
      assert_int_equal(substeps, n == 1 ? 1000 : n);
      djt_near(djm_model(both[k])->opt.timestep * substeps, m->opt.timestep, 1e-15);
    }
    djm_deleteContext(own);
    djt_deleteEngine(m, d);
  }
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    assert_null(withConfig("substeps", bad[i], error));
    assert_non_null(strstr(error, "substeps"));
  }
}

// ------------------------------ what is said ----------------------------------------------------

// The plugin speaks of what its step leaves out, not of what MuJoCo's step has beside it.
static void testLeftOut(void) {
  djt_warning[0] = '\0';
  mjModel* m = djt_compile(
      "<mujoco><extension><plugin plugin='dijoco.contact'><instance "
      "name='dj'/></plugin></extension>"
      "<asset><hfield name='x' nrow='2' ncol='2' size='1 1 1 1'/></asset><worldbody><body name='A'>"
      "<joint name='j' springyield='.1' stiffness='1'/><geom name='a' size='.1' adhesion='1'/>"
      "</body><body name='C' pos='1 0 0'><freejoint name='f'/><geom size='.1'/></body><geom "
      "name='h' "
      "type='hfield' hfield='x'/></worldbody><tendon><fixed name='t' stiffness='1' "
      "springyield='.1'>"
      "<joint joint='j' coef='1'/></fixed></tendon><equality><weld name='e' body1='A' body2='C'/>"
      "</equality><actuator><motor name='u' tendon='t'/><velocity name='v' joint='f'/><motor "
      "name='d' joint='j' nsample='3' delay='.006'/></actuator></mujoco>");
  mjData* d = mj_makeData(m);
  static const char* const said[] = {"springyield of joint/j is ignored: ", "adhesion of geom/a is",
                                     "springyield of tendon/t is"};
  static const char* const unsaid[] = {"equality/", "stiffness of tendon/t", "actuator/u", "actuator/v",
                                       "actuator/d", "frictionloss", "integrator"};
  for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
    if (!strstr(djt_warning, said[i])) fail_msg("not said: %s\n%s", said[i], djt_warning);
  }
  for (size_t i = 0; i < sizeof(unsaid) / sizeof(*unsaid); i++) {
    if (strstr(djt_warning, unsaid[i])) fail_msg("said: %s\n%s", unsaid[i], djt_warning);
  }
  djt_deleteEngine(m, d);
}

// Every entry is looked at, the first one too, and each is said by itself.
static void testLeftOutAlone(void) {
  djt_warning[0] = '\0';   // said when the compiler makes data to try the scene
  mjModel* m = djt_compile(
      "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'/></plugin>"
      "</extension><worldbody><body><joint name='yields' springyield='.1' stiffness='1'/>"
      "<geom size='.1' contype='0' conaffinity='0'/></body></worldbody></mujoco>");
  djReport* report;
  djModel* x = djt_import(&report, m);
  assert_int_equal(report->n, 1);
  assert_int_equal(report->entry[0].state, DJ_IGNORED);
  mjData* d = mj_makeData(m);   // not said again
  char text[700];
  snprintf(text, sizeof(text), "dijoco.contact: MuJoCo Model: not as in MuJoCo (warn=\"false\" keeps this "
           "quiet): springyield of joint/yields is ignored: %s\n", report->entry[0].note);
  assert_string_equal(djt_warning, text);
  dj_deleteReport(report);
  dj_deleteModel(x);
  djt_deleteEngine(m, d);
}

// Eight names at most; geoms of owned bodies that touch nothing of MuJoCo's are not among them.
static void testCollided(void) {
  char text[4000], names[600];
  djError err;
  for (int n = 7; n <= 12; n++) {
    size_t used = (size_t)snprintf(text, sizeof(text), "<mujoco><extension><plugin "
                                   "plugin='dijoco.contact'><instance name='dj'><config "
                                   "key='bodies' "
                                   "value='B'/></instance></plugin></extension><worldbody><geom "
                                   "name='floor' type='plane' size='1 1 1' contype='1' "
                                   "conaffinity='1'/><body name='B'><freejoint/>");
    for (int k = 0; k < n; k++) {
      char name[24] = "";
      if (k != 3) snprintf(name, sizeof(name), "name='b%d' ", k);
      used += (size_t)snprintf(text + used, sizeof(text) - used, "<geom %ssize='.1'/>", name);
    }
    snprintf(text + used, sizeof(text) - used, "<geom name='apart' size='.1' contype='2' "
             "conaffinity='4'/></body></worldbody></mujoco>");
    mjModel* m = djt_compile(text);
    assert_int_equal(djm_listCollided(names, sizeof(names), m, &err), DJ_OK);
    assert_true(strncmp(names, "b0, b1, b2, #4, b4", 18) == 0);
    assert_null(strstr(names, "apart"));
    assert_null(strstr(names, "floor"));
    char more[30];
    snprintf(more, sizeof(more), "b7 and %d more", n - 8);
    if (n > 8) assert_true(strstr(names, more) && !strstr(names, "b8"));
    else assert_null(strstr(names, "more"));
    m->opt.disableflags |= mjDSBL_CONTACT;
    assert_int_equal(djm_listCollided(names, sizeof(names), m, &err), DJ_OK);
    assert_string_equal(names, "");
    mj_deleteModel(m);
  }
}

DJT_MAIN_IN(djt_keepWarnings, NULL, testCustom, testConfiguration, testSubsteps, testLeftOut,
            testCollided, testLeftOutAlone)
