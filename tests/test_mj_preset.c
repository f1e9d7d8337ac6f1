// Presets of contact in MuJoCo's scenes: fields, the plugin's key, and written scenes.

#include "common/file.h"
#include "common/mjcf.h"
#include "common/same_run.h"
#include "common/test.h"
#include "instance.h"

#include <dijoco/dijoco.h>

#define SCENE(head, custom)                                                               \
  "<mujoco>" head "<custom>" custom "</custom><worldbody><geom type='plane' "             \
  "size='1 1 1'/><body pos='0 0 .12'><freejoint/><geom name='ball' size='.1'/></body>"    \
  "</worldbody></mujoco>"
#define SMOOTH "<text name='dijoco_preset' data='smooth'/>"
#define WIDE "<numeric name='dijoco_support_scale' data='2'/>"

static void assertSame(const djModel* a, const djModel* b) {
  assert_int_equal(a->opt.preset, b->opt.preset);
  assert_memory_equal(a->kernel_setting, b->kernel_setting,
                      sizeof(double) * (size_t)a->nkernelsetting);
  djt_assertSameRuns(a, b);
}

// The scene `path`, with the settings of m, read again.
static djModel* written(const char* path, const djModel* m) {
  char* text;
  djError err;
  if (djm_makeMJCF(&text, path, m, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
  djModel* again = djt_importText(text);
  free(text);
  return again;
}

static void testFields(void) {
  djModel *plain = djt_importText(SCENE("", "")), *smooth = djt_importText(SCENE("", SMOOTH));
  djModel *wide = djt_importText(SCENE("", SMOOTH WIDE)),
          *wide_first = djt_importText(SCENE("", WIDE SMOOTH));
  djOption option = plain->opt;
  djError err;
  option.preset = smooth->opt.preset;
  assert_string_equal(dj_preset(option.preset)->name, "smooth");
  assert_true(wide->contact.support_scale == 2);
  assert_true(wide->contact.stiffness_scale == smooth->contact.stiffness_scale);
  assert_true(smooth->contact.stiffness_scale < plain->contact.stiffness_scale);
  assertSame(wide, wide_first);
  assert_int_equal(dj_setOption(plain, &option, &err), DJ_OK);
  assertSame(plain, smooth);
  dj_deleteModel(plain);
  dj_deleteModel(smooth);
  dj_deleteModel(wide);
  dj_deleteModel(wide_first);
}

static void refuse(const char* text, const char* words) {
  mjModel* stock = djt_compile(text);
  djModel* m;
  djError err = {""};
  assert_int_equal(dj_importMuJoCo(&m, NULL, stock, &err), DJ_INVALID);
  if (strncmp(err.text, words, strlen(words)) != 0) fail_msg("%s, not %s", err.text, words);
  mj_deleteModel(stock);
}

#define PLUGIN(key)                                                                       \
  "<extension><plugin plugin='dijoco.contact'><instance name='dj'>" key                   \
  "</instance></plugin></extension>"

static void testRefused(void) {
  refuse(SCENE("", "<text name='dijoco_preset' data='smoth'/>"),
         "text/dijoco_preset: unknown value 'smoth', expected one of none, smooth");
  refuse(SCENE("", "<text name='dijoco_preset/ball' data='smooth'/>"),
         "geom 'ball': preset: is of the scene");
  char error[1000], both[9100];
  assert_null(djt_tryCompile(SCENE(PLUGIN("<config key='preset' value='smoth'/>"), ""), error));
  snprintf(both, sizeof both, "%s\n%s", error, djt_warning);   // whichever MuJoCo chose
  assert_non_null(strstr(both, "plugin/dj: preset=smoth: unknown value 'smoth', expected"));
}

// The plugin's key is stronger than the scene's field.
static void testPlugin(void) {
  djModel* smooth = djt_importText(SCENE("", SMOOTH));
  djModel* key = djt_importText(SCENE(PLUGIN("<config key='preset' value='smooth'/>"), ""));
  djModel* none = djt_importText(SCENE(PLUGIN("<config key='preset' value='none'/>"), SMOOTH));
  assertSame(smooth, key);
  assert_int_equal(none->opt.preset, 0);
  assert_true(none->contact.support_scale == 1);
  dj_deleteModel(smooth);
  dj_deleteModel(key);
  dj_deleteModel(none);
}

// Scenes are written so that they replay: by the preset's name, with what has changed beside it.
static void testWritten(void) {
  djError err;
  const char* base = "preset_base.xml";
  static const char* const scene[] = {SCENE("", ""), SCENE("", SMOOTH), SCENE("", SMOOTH WIDE)};
  for (int i = 0; i < 3; i++) {
    djt_writeText(base, scene[i]);
    for (int change = 0; change < 4; change++) {
      djModel* m = djt_importText(scene[i]);
      djOption option = m->opt;
      if (change == 1) option.preset = 1 - option.preset;
      if (change == 2) option.stiffness_scale = 0.3;
      if (change == 3) option.friction_eps = 1e-7;
      assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
      djModel *own = written("scene.json", m), *again = written(base, m);
      assertSame(m, own);
      assertSame(m, again);
      dj_deleteModel(m);
      dj_deleteModel(own);
      dj_deleteModel(again);
    }
  }
  remove(base);
}

DJT_MAIN_IN(djt_keepWarnings, NULL, testFields, testRefused, testPlugin, testWritten)
