// The bodies of a guide in MuJoCo's scenes: a field, the plugin's key, and written scenes.

#include "common/file.h"
#include "common/mjcf.h"
#include "common/test.h"
#include "instance.h"
#include "model/guide_bodies.h"

#include <dijoco/dijoco.h>

#define SCENE(head, custom)                                                                  \
  "<mujoco>" head "<custom><numeric name='dijoco_guide' data='.02'/>" custom "</custom>"      \
  "<worldbody><body name='rod'><freejoint/><geom size='.1'/></body>"                           \
  "<body name='cube1' pos='1 0 0'><freejoint/><geom size='.1'/></body>"                        \
  "<body name='my box' pos='2 0 0'><freejoint/><geom size='.1'/></body>"                       \
  "<body pos='3 0 0'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
#define TEXT(list) "<text name='dijoco_guide_bodies' data='" list "'/>"
#define PLUGIN(key)                                                                       \
  "<extension><plugin plugin='dijoco.contact'><instance name='dj'>" key                   \
  "</instance></plugin></extension>"
#define KEY(list) "<config key='guide_bodies' value='" list "'/>"

enum { ROD = 1, CUBE, BOX, LAST };

static void assertPairs(const djModel* m, int n, const int* pair) {
  assert_int_equal(m->nguide, n);
  for (int i = 0; i < n; i++) {
    assert_int_equal(m->guide_body1[i], pair[2 * i]);
    assert_int_equal(m->guide_body2[i], pair[2 * i + 1]);
  }
}

static void expect(const char* text, int n, const int* pair) {
  djModel* m = djt_importText(text);
  assertPairs(m, n, pair);
  assert_true(m->contact.guide == 0.02);
  dj_deleteModel(m);
}

static void testFields(void) {
  expect(SCENE("", ""), 0, NULL);
  expect(SCENE("", TEXT("rod cube*, cube1 rod")), 1, (int[]){ROD, CUBE});
  expect(SCENE("", TEXT("my*box rod, #4 cube1")), 2, (int[]){ROD, BOX, CUBE, LAST});
}

// The plugin's key is stronger than the scene's field.
static void testPlugin(void) {
  expect(SCENE(PLUGIN(KEY("rod #4")), ""), 1, (int[]){ROD, LAST});
  expect(SCENE(PLUGIN(KEY("rod #4")), TEXT("rod cube1")), 1, (int[]){ROD, LAST});
  expect(SCENE(PLUGIN(""), TEXT("rod cube1")), 1, (int[]){ROD, CUBE});
}

static void testRefused(void) {
  static const char* const list[][2] = {
      {SCENE("", TEXT("rod cub")), "guide_bodies: there is no body 'cub'"},
      {SCENE("", TEXT("rod")), "guide_bodies: 'rod' is no list of pairs"}};
  for (int i = 0; i < 2; i++) {
    mjModel* stock = djt_compile(list[i][0]);
    djModel* m = NULL;
    djError err = {""};
    assert_int_equal(dj_importMuJoCo(&m, NULL, stock, &err), DJ_INVALID);
    assert_null(m);
    if (!strstr(err.text, list[i][1])) fail_msg("%s", err.text);
    mj_deleteModel(stock);
  }
  char error[1000], both[9100];
  assert_null(djt_tryCompile(SCENE(PLUGIN(KEY("rod cub")), ""), error));
  snprintf(both, sizeof both, "%s\n%s", error, djt_warning);   // whichever MuJoCo chose
  if (!strstr(both, "there is no body 'cub'")) fail_msg("%s", both);
}

// Scenes are written with their bodies, in place of those that the base has; bodies whose names are
// no words, too.
static void testWritten(void) {
  djError err = {""};
  const char* base = "guide_base.xml";
  static const char* const scene[] = {SCENE("", ""), SCENE("", TEXT("rod cube1"))};
  static const char* const wanted[] = {"rod cube1", "rod #4", "rod my*box, cube1 *", "* *", ""};
  for (int i = 0; i < 2; i++) {
    djt_writeText(base, scene[i]);
    for (int k = 0; k < 5; k++) {
      djModel* m = djt_importText(scene[i]);
      if (dj_setGuideText(m, wanted[k], &err) != DJ_OK) fail_msg("%s", err.text);
      char* text;
      if (djm_makeMJCF(&text, base, m, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
      djModel* again = djt_importText(text);
      assert_int_equal(again->nguide, m->nguide);
      for (int n = 0; n < m->nguide; n++) {
        assert_int_equal(again->guide_body1[n], m->guide_body1[n]);
        assert_int_equal(again->guide_body2[n], m->guide_body2[n]);
      }
      free(text);
      dj_deleteModel(m);
      dj_deleteModel(again);
    }
  }
  remove(base);
}

DJT_MAIN_IN(djt_keepWarnings, NULL, testFields, testPlugin, testRefused, testWritten)
