// Our own settings in MuJoCo's scenes: <custom> fields and the configuration of the plugin; what
// the plugin says of a scene.

#include "common/mjcf.h"
#include "common/near.h"
#include "instance.h"

#include <dijoco/dijoco.h>

#include <stdio.h>
#include <stdlib.h>

#define WORLD                                                                             \
  "<worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 1'><freejoint/><geom "      \
  "size='.1'/></body></worldbody></mujoco>"

static char warning[8000];      // what MuJoCo warned of, one after the other
static void onWarning(const char* text) {
  size_t n = strlen(warning);
  snprintf(warning + n, sizeof(warning) - n, "%s\n", text);
}

// ------------------------------ custom fields ---------------------------------------------------

typedef struct Setting {
  const char* name;
  size_t offset;          // in djModel
  bool whole;
  const char* text;       // as a text field
  double value;
  const char* bad;        // as a number, NULL: none is
} Setting;

#define OPT(field) offsetof(djModel, opt.field)
static const Setting settings[] = {
    {"timestep", OPT(timestep), false, "0.0123", 0.0123, "0"},
    {"support", OPT(support), false, "0.0123", 0.0123, "1.5"},
    {"length_scale", OPT(length_scale), false, "0.7", 0.7, "0"},
    {"stiffness", OPT(stiffness), false, "3e-5", 3e-5, "0"},
    {"skin", OPT(skin), false, "0.0021", 0.0021, NULL},
    {"friction_eps", OPT(friction_eps), false, "2e-9", 2e-9, "0"},
    {"frictionloss_eps", OPT(frictionloss_eps), false, "0.03", 0.03, "-1"},
    {"tolerance", OPT(tolerance), false, "1e-7 ", 1e-7, "0"},
    {"gravity_ramp", offsetof(djModel, gravity_ramp), false, "1.5", 1.5, "-1"},
    {"max_iterations", OPT(max_iterations), true, "37", 37, "1.5"},
    {"contact", OPT(contact), true, "none", DJ_CONTACT_NONE, "1"},
    {"contact", OPT(contact), true, "separating_plane", DJ_SEPARATING_PLANE, "-2"},
    {"integrator", OPT(integrator), true, "position", DJ_POSITION, "-1"},
    {"integrator", OPT(integrator), true, "variational", DJ_VARIATIONAL, "2"},
    {"overlap", OPT(overlap), true, "recover", DJ_OVERLAP_RECOVER, "-1"},
    {"overlap", OPT(overlap), true, "error", DJ_OVERLAP_ERROR, "2"},
    {"friction_arms", OPT(friction_arms), true, "plane", DJ_ARMS_PLANE, "-1"},
    {"friction_arms", OPT(friction_arms), true, "paper", DJ_ARMS_PAPER, "2"},
    {"friction_cap", OPT(friction_cap), true, "magnitude", DJ_CAP_MAGNITUDE, "-1"},
    {"friction_cap", OPT(friction_cap), true, "paper", DJ_CAP_PAPER, "2"},
};
enum { NSETTING = sizeof(settings) / sizeof(*settings) };

static double valueOf(const djModel* m, const Setting* s) {
  if (!s->whole) return *(const double*)(const void*)((const char*)m + s->offset);
  return *(const int*)(const void*)((const char*)m + s->offset);
}

static mjModel* withCustom(const char* kind, const char* name, const char* data) {
  char text[1000];
  snprintf(text, sizeof(text), "<mujoco><custom><numeric name='other' data='1 2'/><text "
           "name='note' data='n'/><%s name='%s' data='%s'/></custom>" WORLD, kind, name, data);
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

// Each one reaches its option, as a number and as a text, and no other.
static void testCustom(void** state) {
  (void)state;
  mjModel* plain = djt_compile("<mujoco>" WORLD);
  djModel* none = djt_import(NULL, plain);
  for (int i = 0; i < NSETTING; i++) {
    const Setting* s = settings + i;
    char name[60], number[40];
    snprintf(name, sizeof(name), "dijoco_%s", s->name);
    snprintf(number, sizeof(number), "%.17g", s->value);
    for (int text = 0; text < 3; text++) {
      bool choice = s->text[0] >= 'a';
      if (text == 2 && choice) continue;   // a number that is given as text
      mjModel* m = withCustom(text ? "text" : "numeric", name, text == 1 ? s->text : number);
      djModel* x = djt_import(NULL, m);
      for (int k = 0; k < NSETTING; k++) {
        bool own = strcmp(settings[k].name, s->name) == 0;
        double wanted = own ? s->value : valueOf(none, settings + k);
        if (valueOf(x, settings + k) != wanted) {
          fail_msg("%s: %s is %g", name, settings[k].name, valueOf(x, settings + k));
        }
      }
      dj_deleteModel(x);
      mj_deleteModel(m);
    }
    if (s->bad) expectRefusal("numeric", name, s->bad);
    if (s->bad) expectRefusal("text", name, s->bad);
    expectRefusal("numeric", name, "1 2");
    expectRefusal("text", name, "many");
    expectRefusal("text", name, "1x");
  }
  expectRefusal("numeric", "dijoco_max_iterations", "3e9");
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
static void testConfiguration(void** state) {
  (void)state;
  static const Setting keys[] = {
      {"contact", OPT(contact), true, "none", DJ_CONTACT_NONE, "soft"},
      {"support", OPT(support), false, "0.0123", 0.0123, "1.5"},
      {"length_scale", OPT(length_scale), false, "0.7", 0.7, "0"},
      {"stiffness", OPT(stiffness), false, "3e-5", 3e-5, "0"},
      {"skin", OPT(skin), false, "0.0021", 0.0021, "x"},
      {"friction_eps", OPT(friction_eps), false, "2e-9", 2e-9, "0"},
      {"tolerance", OPT(tolerance), false, "1e-7", 1e-7, "0"},
  };
  char error[1000];
  for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
    mjModel* m = withConfig(keys[i].name, keys[i].text, error);
    if (!m) fail_msg("%s", error);
    mjData* d = mj_makeData(m);
    djModel* x = djt_import(NULL, m);
    djt_near(valueOf(x, keys + i), keys[i].value, 0);
    djt_near(valueOf(djm_model(djm_pluginContext(m, d)), keys + i), keys[i].value, 0);
    dj_deleteModel(x);
    mj_deleteData(d);
    mj_deleteModel(m);
    assert_null(withConfig(keys[i].name, keys[i].bad, error));
    if (!strstr(error, keys[i].name)) fail_msg("%s: %s", keys[i].name, error);
  }
}

static void testSubsteps(void** state) {
  (void)state;
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
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    assert_null(withConfig("substeps", bad[i], error));
    assert_non_null(strstr(error, "substeps"));
  }
}

// ------------------------------ what is said ----------------------------------------------------

// The plugin speaks of what its step leaves out, not of what MuJoCo's step has beside it.
static void testLeftOut(void** state) {
  (void)state;
  warning[0] = '\0';
  mjModel* m = djt_compile(
      "<mujoco><extension><plugin plugin='dijoco.contact'><instance "
      "name='dj'/></plugin></extension>"
      "<asset><hfield name='x' nrow='2' ncol='2' size='1 1 1 1'/></asset><worldbody><body name='A'>"
      "<joint name='j' springyield='.1' stiffness='1'/><geom name='a' size='.1' adhesion='1'/>"
      "</body><body name='C' pos='1 0 0'><freejoint name='f'/><geom size='.1'/></body><geom "
      "name='h' "
      "type='hfield' hfield='x'/></worldbody><tendon><fixed name='t' stiffness='1' armature='.1'>"
      "<joint joint='j' coef='1'/></fixed></tendon><equality><weld name='e' body1='A' body2='C'/>"
      "</equality><actuator><motor name='u' tendon='t'/><velocity name='v' joint='f'/><motor "
      "name='d' joint='j' nsample='3' delay='.006'/></actuator></mujoco>");
  mjData* d = mj_makeData(m);
  static const char* const said[] = {"joint/j: springyield is left out", "geom/a: adhesion is",
                                     "geom/h: type is", "tendon/t: armature is",
                                     "actuator/v: biasprm is"};
  static const char* const unsaid[] = {"equality/", "tendon/t: stiffness", "actuator/u",
                                       "actuator/d", "frictionloss", "integrator"};
  for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
    if (!strstr(warning, said[i])) fail_msg("not said: %s\n%s", said[i], warning);
  }
  for (size_t i = 0; i < sizeof(unsaid) / sizeof(*unsaid); i++) {
    if (strstr(warning, unsaid[i])) fail_msg("said: %s\n%s", unsaid[i], warning);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}

// Every entry is looked at, the first one too, and each is said by itself.
static void testLeftOutAlone(void** state) {
  (void)state;
  warning[0] = '\0';           // said when the compiler makes data to try the scene
  mjModel* m = djt_compile(
      "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'/></plugin></extension>"
      "<worldbody><body><joint name='yields' springyield='.1' stiffness='1'/><geom size='.1' "
      "contype='0' conaffinity='0'/></body></worldbody></mujoco>");
  djReport* report;
  djModel* x = djt_import(&report, m);
  assert_int_equal(report->n, 1);
  assert_int_equal(report->entry[0].state, DJ_IGNORED);
  mjData* d = mj_makeData(m);   // not said again
  char text[700];
  snprintf(text, sizeof(text), "dijoco.contact: joint/yields: springyield is left out: %s\n",
           report->entry[0].note);
  assert_string_equal(warning, text);
  dj_deleteReport(report);
  dj_deleteModel(x);
  mj_deleteData(d);
  mj_deleteModel(m);
}

// Eight names at most; geoms of owned bodies that touch nothing of MuJoCo's are not among them.
static void testCollided(void** state) {
  (void)state;
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

static int setup(void** state) {
  mju_user_warning = onWarning;
  return djt_registerContact(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testCustom),  cmocka_unit_test(testConfiguration),
      cmocka_unit_test(testSubsteps), cmocka_unit_test(testLeftOut),
      cmocka_unit_test(testCollided), cmocka_unit_test(testLeftOutAlone),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
