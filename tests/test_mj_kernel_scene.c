// Contact models and settings of single pairs and geoms in MJCF: read, written and read again.

#include "common/file.h"
#include "common/make_model.h"
#include "common/mjcf.h"
#include "common/near.h"
#include "common/test.h"

#include <dijoco/io.h>
#include <dijoco/setting.h>

#define SCENE(custom)                                                                           \
  "<mujoco><custom>" custom "</custom><worldbody><geom name='floor' type='plane' size='5 5 .1'/>" \
  "<body name='b' pos='0 0 .1'><freejoint/><geom name='a/ball' size='.1'/></body>"              \
  "<body pos='1 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body></worldbody>"        \
  "<contact><pair name='p' geom1='a/ball' geom2='floor' condim='3'/></contact></mujoco>"

// Of an element by the setting's name; NAN: none.
static double own(const djModel* m, const char* name, int geom, int pair) {
  for (int i = 0; i < m->nsetting; i++) {
    const djSetting* row = dj_contactSetting(NULL, m->setting_slot[i]);
    bool same = strcmp(row->name, name) == 0 && m->setting_geom[i] == geom;
    if (same && m->setting_pair[i] == pair) return m->setting_value[i];
  }
  return NAN;
}

static double ofModel(const djModel* m, const char* model, const char* name) {
  int k;
  const djSetting* row;
  for (int i = 0; (row = dj_contactSetting(&k, i)); i++) {
    if (strcmp(dj_contactName((djContactModel)k), model) == 0 && strcmp(row->name, name) == 0) {
      return m->kernel_setting[i];
    }
  }
  return NAN;
}

static const char all[] =
    SCENE("<text name='dijoco_contact/p' data='spring'/>"
          "<text name='dijoco_contact/a/ball' data='charge '/>"
          "<text name='dijoco_friction_arms/#2' data='paper'/>"
          "<numeric name='dijoco_stiffness/p' data='500'/>"
          "<numeric name='dijoco_skin/a/ball' data='1e-4'/>"
          "<numeric name='dijoco_contact/spring/damping' data='3'/>"
          "<text name='dijoco_contact' data='separating_plane'/>");

static void check(const djModel* m) {
  assert_string_equal(dj_contactName((djContactModel)m->pair_contact[0]), "spring");
  assert_string_equal(dj_contactName((djContactModel)m->geom_contact[1]), "charge");
  assert_int_equal(m->geom_contact[2], DJ_CONTACT_DEFAULT);
  assert_true(m->nsetting >= 3);   // and what default rules gave, where that is kept
  djt_near(own(m, "stiffness", -1, 0), 500, 0);
  djt_near(own(m, "skin", 1, -1), 1e-4, 0);
  djt_near(own(m, "friction_arms", 2, -1), DJ_ARMS_PAPER, 0);
  djt_near(ofModel(m, "spring", "damping"), 3, 0);
  djt_near(ofModel(m, "spring", "viscosity"), 1, 0);
}

static void testRead(void) {
  mjModel* m = djt_compile(all);
  djModel* x = djt_import(NULL, m);
  check(x);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

static void testRefused(void) {
  static const char* const bad[][2] = {
      {SCENE("<text name='dijoco_contact/nobody' data='spring'/>"),
       "text/dijoco_contact/nobody: there is no pair or geom of that name"},
      {SCENE("<text name='dijoco_contact/p' data='sprung'/>"),
       "pair 'p': contact: unknown value 'sprung'"},
      {SCENE("<numeric name='dijoco_dumping/p' data='1'/>"),
       "numeric/dijoco_dumping/p: there is no such contact setting"},
      {SCENE("<numeric name='dijoco_stiffness/#7' data='1'/>"), "no pair or geom"},
      {SCENE("<numeric name='dijoco_stiffness/p' data='1 2'/>"), "one number is expected"},
      {SCENE("<numeric name='dijoco_stiffness/p' data='-1'/>"),
       "pair 'p': stiffness: must be positive"},
      {SCENE("<numeric name='dijoco_skin/p' data='1e-3'/>"),
       "pair 'p': skin: is of a geom, not of a pair"},
      {SCENE("<text name='dijoco_friction_arms/p' data='leg'/>"),
       "text/dijoco_friction_arms/p: unknown value, expected one of plane paper"},
      {SCENE("<text name='dijoco_stiffness/p' data='stiff'/>"), "is not a number"},
      {SCENE("<numeric name='dijoco_contact/sprung/damping' data='1'/>"),
       "there is no such contact model"},
      {SCENE("<numeric name='dijoco_contact/spring/dumping' data='1'/>"),
       "there is no such contact setting"},
      {SCENE("<numeric name='dijoco_contact/p' data='1'/>"), "no such contact setting"},
      {SCENE("<numeric name='dijoco_contact/separating_plane/support' data='.1'/>"),
       "support is one of the options"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    djModel* x;
    djError err = {""};
    mjModel* m = djt_compile(bad[i][0]);
    djStatus status = dj_importMuJoCo(&x, NULL, m, &err);
    if (status != DJ_INVALID) fail_msg("%d is taken", (int)i);
    assert_null(x);
    if (!strstr(err.text, bad[i][1])) fail_msg("%s\nnot: %s", err.text, bad[i][1]);
    mj_deleteModel(m);
  }
}

// Over a scene in MJCF, and from our own file.
static void testWritten(void) {
  const char* from = DIJOCO_BUILD_DIR "/tests/mj_kernel_scene.xml";
  const char* out = DIJOCO_BUILD_DIR "/tests/mj_kernel_scene_out.xml";
  const char* json = DIJOCO_BUILD_DIR "/tests/mj_kernel_scene.json";
  char text[1000];
  djError err = {""};
  djt_writeText(from, all);
  mjModel* m = djt_compile(all);
  djModel* x = djt_import(NULL, m);
  double value = 123;
  djParam p = djt_param(x, "contact/spring/stiffness");
  assert_int_equal(dj_setParam(x, &p, &value, &err), DJ_OK);
  if (dj_saveModel(x, json, &err) != DJ_OK) fail_msg("%s", err.text);
  for (int k = 0; k < 2; k++) {
    djStatus status = djm_writeMJCF(out, k ? json : from, x, NULL, &err);
    if (status != DJ_OK) fail_msg("%s", err.text);
    mjModel* w = mj_loadXML(out, NULL, text, sizeof text);
    if (!w) fail_msg("%s", text);
    djModel* y = djt_import(NULL, w);
    check(y);
    djt_near(ofModel(y, "spring", "stiffness"), 123, 1e-13);   // a factor of the default
    dj_deleteModel(y);
    mj_deleteModel(w);
  }
  dj_deleteModel(x);
  mj_deleteModel(m);
}

DJT_MAIN(testRead, testRefused, testWritten)
