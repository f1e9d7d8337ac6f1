// Settings of contact models other than the first, in the JSON of a model (io/model_contact.h).

#include "io/model_contact.h"

#include "model/kernel_setting.h"

#include "common/own_settings.h"
#include "common/test.h"

// By models in the table's order, then geoms, then pairs; written the same way.
static void testModels(void) {
  static const char text[] =
      "{\"option\": {\"charge\": {\"charge\": 3}, \"timestep\": 1,"
      " \"spring\": {\"viscosity\": 0.5, \"stiffness\": 20}},"
      " \"pairs\": [{\"charge\": 4}], \"geoms\": [{\"damping\": 6, \"name\": \"g\"}]}";
  static const struct {
    const char *name, *model;
    int geom, pair;
    double value;
  } wanted[] = {{"viscosity", "spring", -1, -1, 0.5}, {"stiffness", "spring", -1, -1, 20},
                {"charge", "charge", -1, -1, 3},      {"damping", NULL, 0, -1, 6},
                {"charge", NULL, -1, 0, 4}};
  djGeomDef geom[1] = {{.name = "g"}};
  djPairDef pair[1] = {{.name = NULL}};
  djModelDef def = {.geom = geom, .ngeom = 1, .pair = pair, .npair = 1};
  djPool pool = {0};
  djError err = {""};
  assert_int_equal(djt_readOwn(&def, text, &pool, &err), DJ_OK);
  assert_int_equal(def.nsetting, 5);
  for (int i = 0; i < 5; i++) {
    const djSettingDef* s = &def.setting[i];
    assert_string_equal(s->name, wanted[i].name);
    if (wanted[i].model) assert_string_equal(s->model, wanted[i].model);
    else assert_null(s->model);
    assert_true(s->geom == wanted[i].geom && s->pair == wanted[i].pair);
    assert_true(s->value == wanted[i].value);
  }
  djText written = {0};
  const char* between = "";
  dj_addModelSettings(&written, &def, &between);
  assert_string_equal(written.data, "\"spring\": {\"viscosity\": 0.5, \"stiffness\": 20}, "
                                    "\"charge\": {\"charge\": 3}");
  assert_string_equal(between, ", ");   // for what follows
  dj_addOwnSettings(&written, &def, 0, -1);
  assert_non_null(strstr(written.data, "3}, \"damping\": 6"));
  dj_freeText(&written);
  dj_poolFree(&pool);
}

static void testRefused(void) {
  static const char* const list[][2] = {
      {"{\"option\": {\"spring\": 3}}", "spring: must be an object"},
      {"{\"option\": {\"spring\": {\"charge\": 3}}}", "spring: charge: unknown setting"},
      {"{\"option\": {\"charge\": {\"support\": 0.1}}}", "charge: support: unknown setting"},
      {"{\"option\": {\"charge\": {\"charge\": \"much\"}}}", "charge: charge: "}};
  djModelDef def = {0};
  djPool pool = {0};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    djError err = {""};
    assert_int_equal(djt_readOwn(&def, list[i][0], &pool, &err), DJ_INVALID);
    if (strncmp(err.text, list[i][1], strlen(list[i][1])) != 0) fail_msg("%s", err.text);
  }
  dj_poolFree(&pool);
}

// Models that have an object in `option`, and settings that several models have once.
static void testNames(void) {
  const char* names[60];
  assert_int_equal(dj_listModels(names, 0, DJ_MAX_MODELS), 8);
  assert_string_equal(names[0], "separating_plane");
  assert_string_equal(names[1], "implicit_surface");
  assert_string_equal(names[2], "penalty");
  assert_string_equal(names[3], "damped");
  assert_string_equal(names[4], "long_range");
  assert_string_equal(names[5], "spring");
  assert_string_equal(names[6], "charge");
  assert_string_equal(names[7], "swirl");
  assert_int_equal(dj_listModels(names, 0, 1), 1);
  int n = dj_listOwnSettings(names, 0, 60, false), stiffness = 0, damping = 0, different = 0, of;
  for (int i = 0; i < dj_settingSlots(); i++) {
    different += dj_settingNamed(dj_settingOfSlot(&of, i)->name, 0) == i;
  }
  for (int i = 0; i < n; i++) {
    stiffness += strcmp(names[i], "stiffness") == 0;
    damping += strcmp(names[i], "damping") == 0;
  }
  assert_true(stiffness == 1 && damping == 1 && n == different);
}

DJT_MAIN(testModels, testRefused, testNames)
