// The table of settings: every row by every way that the core has.

#include "common/make_model.h"
#include "common/sample_model.h"
#include "common/setting_case.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

#define EACH(s) (int i_ = 0; (s = dj_setting(i_)); i_++)

static const char kScene[] = "{\"dijoco_model\":1,\"bodies\":[{\"name\":\"world\"}]%s}";
static const char kTask[] = "{\"scene\":\"s.json\",\"horizon\":1,\"loss\":[]%s}";

static djModel* load(const char* format, const char* more, djError* err) {
  char text[500];
  djModel* m = NULL;
  snprintf(text, sizeof text, format, more);
  djStatus status = dj_loadModelText(&m, text, err);
  assert_true((status == DJ_OK) == (m != NULL));
  return m;
}

// Every row is whole, and each name is there once.
static void testRows(void) {
  const djSetting *s, *other;
  int n = 0;
  for EACH(s) {
    assert_true(s->name && s->unit && s->symbol && s->help && s->field && s->in_force);
    assert_true(s->size == 1 || (s->size == 3 && s->kind == DJ_SETTING_REAL));
    bool names = s->kind == DJ_SETTING_CHOICE || s->kind == DJ_SETTING_FLAGS;
    assert_true(names == (s->choice != NULL));
    assert_true(s->automatic == (s->rule != NULL));
    assert_true(s->ways & DJ_BY_SCENE);
    assert_ptr_equal(dj_findSetting(s->name, 0), s);
    for (int k = 0; (other = dj_setting(k)); k++) {
      if (other != s) assert_string_not_equal(other->name, s->name);
    }
    n++;
  }
  assert_true(n >= 20 && n <= DJ_MAX_SETTINGS);
  assert_null(dj_setting(-1));
  assert_null(dj_setting(n));
  assert_null(dj_findSetting("colour", 0));
  assert_null(dj_findSetting(NULL, 0));
  assert_null(dj_findSetting("gravity", DJ_BY_COMMAND | DJ_BY_TASK | DJ_BY_MJCF));
}

// The whole option is covered, and defaults are lawful: where a rule decides they are -1.
static void testDefaults(void) {
  const djSetting* s;
  djOption option = dj_defaultOption();
  bool covered[sizeof(djOption)] = {false};
  for EACH(s) {
    double value[3], standard = -1;
    dj_getSetting(value, &option, s);
    assert_true(djt_sameSetting(s, value, s->automatic ? &standard : s->standard));
    size_t size = s->kind == DJ_SETTING_REAL ? 8 * (size_t)s->size : 4;
    for (size_t k = 0; k < size; k++) {
      assert_false(covered[s->offset + k]);
      covered[s->offset + k] = true;
    }
  }
  size_t missing = 0;
  for (size_t k = 0; k < sizeof option; k++) missing += !covered[k];
  assert_true(missing < sizeof(double) * 2);   // padding
}

// Set alone, a setting changes itself and no other.
static void assertOnly(const djModel* m, const djModel* plain, const djSetting* set,
                       const double* wanted) {
  const djSetting* s;
  for EACH(s) {
    double value[3], before[3];
    dj_getSetting(value, &m->opt, s);
    dj_getSetting(before, &plain->opt, s);
    bool same = djt_sameSetting(s, value, s == set ? wanted : before);
    if (!same) fail_msg("%s: %s", set->name, s->name);
  }
  double value[3];
  djArray field, in_force;
  dj_settingInForce(value, m, set);
  bool geomless = set->per_geom;   // there is nothing that could have it
  if (!geomless) assert_true(djt_sameSetting(set, value, wanted));
  assert_int_equal(dj_modelArray(&field, m, set->field), DJ_OK);
  assert_int_equal(dj_modelArray(&in_force, m, set->in_force), DJ_OK);
  assert_int_equal(field.columns, set->size);
  assert_int_equal(in_force.columns, set->size);
  const char* place = (const char*)&m->opt + set->offset;
  assert_ptr_equal(field.data, place);
}

// What some settings go with, beside another.
static const char* beside(const djSetting* s) {
  return strcmp(s->name, "guide_backward_only") ? ",\"guide_backward_only\":true" : "";
}

static const char kPlain[] = ",\"option\":{\"guide_backward_only\":true}";

static void testScene(void) {
  const djSetting* s;
  djError err;
  djModel* plain = load(kScene, kPlain, &err);
  for EACH(s) {
    char json[200], more[300];
    double value[3];
    djt_goodSetting(value, s);
    djt_settingJson(json, s, value);
    snprintf(more, sizeof more, ",\"option\":{\"%s\":%s%s}", s->name, json, beside(s));
    djModel* m = load(kScene, more, &err);
    if (!m) fail_msg("%s", err.text);
    assertOnly(m, plain, s, value);
    // Written and read again.
    const char* path = "settings_test.json";
    assert_int_equal(dj_saveModel(m, path, &err), DJ_OK);
    djModel* again = djt_load(path);
    assertOnly(again, plain, s, value);
    remove(path);
    dj_deleteModel(again);
    dj_deleteModel(m);
    for (int k = 0; k < DJT_BAD_SETTINGS; k++) {
      if (!djt_badSetting(value, s, k) || s->kind == DJ_SETTING_FLAGS) continue;
      djt_settingJson(json, s, value);
      snprintf(more, sizeof more, ",\"option\":{\"%s\":%s}", s->name, json);
      m = load(kScene, more, &err);
      if (m || !strstr(err.text, s->name)) fail_msg("%s: %s", more, m ? "taken" : err.text);
    }
    snprintf(more, sizeof more, ",\"option\":{\"%s\":{\"colour\":1}}", s->name);
    assert_null(load(kScene, more, &err));
    assert_non_null(strstr(err.text, s->name));
  }
  assert_null(load(kScene, ",\"option\":{\"colour\":1}", &err));
  assert_non_null(strstr(err.text, "integrator"));   // as many names as there is room for
  dj_deleteModel(plain);
}

// Where scenes had it before it was an option.
static void testRamp(void) {
  djError err;
  djModel* m = load(kScene, ",\"gravity_ramp\":0.5", &err);
  assert_true(m->opt.gravity_ramp == 0.5);
  dj_deleteModel(m);
  assert_null(load(kScene, ",\"gravity_ramp\":0.5,\"option\":{\"gravity_ramp\":1}", &err));
  assert_string_equal(err.text, "gravity_ramp: is given twice");
  assert_null(load(kScene, ",\"gravity_ramp\":-1", &err));
  assert_non_null(strstr(err.text, "gravity_ramp"));
}

static djTask* loadTask(const djSetting* s, const char* json, djError* err) {
  char text[500], more[300];
  djTask* task = NULL;
  if (!s->group) {
    snprintf(more, sizeof more, ",\"%s\":%s", s->name, json);
  } else {
    const char* key = strcmp(s->group, s->name) == 0 ? "model" : s->name;
    snprintf(more, sizeof more, ",\"%s\":{\"%s\":%s}", s->group, key, json);
  }
  snprintf(text, sizeof text, kTask, more);
  dj_loadTaskText(&task, text, NULL, err);
  return task;
}

static void testTask(void) {
  const djSetting *s, *other;
  djError err;
  djModel* plain = load(kScene, kPlain, &err);
  for EACH(s) {
    char json[200];
    double value[3];
    djt_goodSetting(value, s);
    djt_settingJson(json, s, value);
    djTask* task = loadTask(s, json, &err);
    if (!(s->ways & DJ_BY_TASK)) {
      assert_null(task);
      assert_non_null(strstr(err.text, s->name));
      continue;
    }
    if (!task) fail_msg("%s", err.text);
    for (int k = 0; (other = dj_setting(k)); k++) {
      assert_int_equal(dj_isGiven(&task->settings, other), other == s);
    }
    djModel* m = djt_copy(plain);
    assert_int_equal(dj_applyTask(m, task, &err), DJ_OK);
    assertOnly(m, plain, s, value);
    dj_deleteModel(m);
    dj_deleteTask(task);
    for (int k = 0; k < DJT_BAD_SETTINGS; k++) {
      if (!djt_badSetting(value, s, k)) continue;
      djt_settingJson(json, s, value);
      const char* key = s->group && strcmp(s->group, s->name) == 0 ? "model" : s->name;
      if (loadTask(s, json, &err) || !strstr(err.text, key)) fail_msg("%s %s", s->name, json);
    }
  }
  dj_deleteModel(plain);
}

// By dj_setSetting and dj_setOptionEntry, which other languages use.
static void testOption(void) {
  const djSetting* s;
  djError err;
  djModel* plain = load(kScene, kPlain, &err);
  for EACH(s) {
    double value[3];
    djt_goodSetting(value, s);
    djModel* m = djt_copy(plain);
    djOption option = m->opt;
    assert_int_equal(dj_setSetting(&option, s, value, &err), DJ_OK);
    assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
    assertOnly(m, plain, s, value);
    assert_int_equal(dj_setOption(m, &plain->opt, &err), DJ_OK);
    assert_int_equal(dj_setOptionEntry(m, s->name, value, s->size, &err), DJ_OK);
    assertOnly(m, plain, s, value);
    assert_int_equal(dj_setOptionEntry(m, s->name, value, s->size + 1, &err), DJ_INVALID);
    for (int k = 0; k < DJT_BAD_SETTINGS; k++) {
      djOption kept = option;
      bool automatic = s->automatic && k == 1;   // negative: the rule
      if (!djt_badSetting(value, s, k)) continue;
      assert_int_equal(dj_setSetting(&option, s, value, &err), automatic ? DJ_OK : DJ_INVALID);
      assert_int_equal(dj_setOptionEntry(m, s->name, value, s->size, &err),
                       automatic ? DJ_OK : DJ_INVALID);
      if (automatic) {
        djt_goodSetting(value, s);
        assert_int_equal(dj_setSetting(&option, s, value, &err), DJ_OK);
      } else {
        assert_non_null(strstr(err.text, s->name));
        assert_memory_equal(&option, &kept, sizeof option);
      }
    }
    dj_deleteModel(m);
  }
  dj_deleteModel(plain);
}

// By text, as the command and MJCF give them.
static void testText(void) {
  const djSetting* s;
  const unsigned ways = DJ_BY_TASK | DJ_BY_COMMAND | DJ_BY_MJCF | DJ_BY_PLUGIN;
  for EACH(s) {
    djSettings given = {{0}, dj_defaultOption()};
    djError err;
    char text[64];
    double value[3], got[3];
    djt_goodSetting(value, s);
    djt_settingText(text, s, value);
    djStatus status = dj_parseSetting(&given, s->name, text, &err);
    if (!(s->ways & ways)) {
      assert_int_equal(status, DJ_INVALID);
      continue;
    }
    if (status != DJ_OK) fail_msg("%s", err.text);
    djOption option = dj_defaultOption();
    dj_applySettings(&option, &given);
    dj_getSetting(got, &option, s);
    assert_true(djt_sameSetting(s, got, value));
    for (int k = 0; k < DJT_BAD_SETTINGS; k++) {
      djSettings none = {{0}, dj_defaultOption()};
      if (!djt_badSetting(value, s, k)) continue;
      djt_settingText(text, s, value);
      djt_refusedWith(DJ_INVALID, dj_parseSetting(&none, s->name, text, &err), err, s->name);
      djt_refusedWith(DJ_INVALID, dj_giveSetting(&none, s, value, &err), err, s->name);
      assert_false(dj_isGiven(&none, NULL));
    }
  }
  djSettings given = {{0}, dj_defaultOption()};
  djError err;
  djt_refusedWith(DJ_INVALID, dj_parseSetting(&given, "colour", "1", &err), err, "integrator");
}

DJT_MAIN(testRows, testDefaults, testScene, testRamp, testTask, testOption, testText)
