// Scenes of the command: loading them, settings and parameters given on the command line, the start
// and the controls of a run.

#include "common/make_model.h"
#include "common/test.h"
#include "common/tool_case.h"
#include "contact_features.h"
#include "inputs.h"
#include "scene.h"

#include <cjson/cJSON.h>

static Scene openScene(const Options* o) {
  Scene s;
  djt_says(scene_open(&s, o, "scene.json"), 0, "");
  return s;
}

static void testLoad(void) {
  Options o = djt_options("scene.json");
  Scene s;
  djt_says(scene_load(&s, &o, "scene.json"), 0, "");
  assert_int_equal(s.model->nbody, 3);
  assert_int_equal(s.model->nkey, 2);
  assert_int_equal(scene_checkIgnored(&s, &o), 0);
  char text[16];
  assert_string_equal(scene_bodyName(text, s.model, 0), "world");
  assert_string_equal(scene_bodyName(text, s.model, 1), "ball");
  assert_string_equal(scene_bodyName(text, s.model, 2), "#2");
  scene_close(&s);
  assert_null(s.model);
  scene_close(&s);
  static const char* const bad[][2] = {
      {"scene.txt", "dijoco test: scene.txt: expected a scene: .xml, .mjb or .json\n"},
      {".json", "dijoco test: .json: expected a scene: .xml, .mjb or .json\n"},
      {"none.json", "dijoco test: none.json: cannot be opened\n"}};
  for (int i = 0; i < 3; i++) {
    djt_says(scene_load(&s, &o, bad[i][0]), EXIT_BAD_INPUT, bad[i][1]);
    scene_close(&s);
  }
  // The path is named once.
  djError err = {"at/x: y"}, none = {""};
  djt_says(scene_fail(&o, "at/x", &err), EXIT_BAD_INPUT, "dijoco test: at/x: y\n");
  djt_says(scene_fail(&o, "x", &err), EXIT_BAD_INPUT, "dijoco test: x: at/x: y\n");
  djt_says(scene_fail(&o, NULL, &none), EXIT_BAD_INPUT, "dijoco test: refused\n");
}

// A task's settings prevail over the scene's, the command line's over both.
static void testSettings(void) {
  djTask task = {.settings = {.option = dj_defaultOption()}, .nguide = -1};
  djError err;
  assert_int_equal(dj_parseSetting(&task.settings, "timestep", "0.02", &err), DJ_OK);
  assert_int_equal(dj_parseSetting(&task.settings, "skin", "0.003", &err), DJ_OK);
  Options plain = djt_options("scene.json");
  Options given = djt_options("scene.json", "--timestep", "0.04", "--support=0.001");
  Scene s = openScene(&plain);
  assert_int_equal(scene_applySettings(&s, &plain, NULL), 0);
  assert_true(s.model->opt.timestep == 0.005);
  assert_int_equal(scene_applySettings(&s, &plain, &task), 0);
  assert_true(s.model->opt.timestep == 0.02 && s.model->opt.skin == 0.003);
  assert_int_equal(scene_applySettings(&s, &given, &task), 0);
  assert_true(s.model->opt.timestep == 0.04 && s.model->opt.skin == 0.003);
  assert_true(s.model->opt.support == 0.001);
  scene_close(&s);
  s = openScene(&given);
  assert_true(s.model->opt.timestep == 0.04 && s.model->opt.support == 0.001);
  scene_close(&s);
}

static double param(const djModel* m, const char* name) {
  double value[3] = {NAN, NAN, NAN};
  djParam p = djt_param(m, name);
  dj_getParam(value, m, &p);
  return value[0];
}

static void testSets(void) {
  Options o = djt_options("scene.json", "--set", "geom/*/friction=0.25,0,0", "--set",
                          "joint/hinge/damping=3", "--set=body/ball/pos=1,-2e0, 3");
  Scene s = openScene(&o);
  assert_true(param(s.model, "geom/floor/friction") == 0.25);
  assert_true(param(s.model, "geom/skin/friction") == 0.25);
  assert_true(param(s.model, "joint/hinge/damping") == 3);
  assert_true(param(s.model, "body/ball/pos") == 1);
  static const char* const name[] = {"geom/floor/friction", "geom/skin/friction",
                                     "joint/hinge/damping", "body/ball/pos"};
  assert_int_equal(s.nset, 4);   // patterns have become names
  for (int i = 0; i < 4; i++) assert_string_equal(s.set[i].name, name[i]);
  assert_int_equal(s.set[3].n, 3);
  assert_true(s.set[3].value[1] == -2 && s.set[3].value[2] == 3 && s.set[1].value[0] == 0.25);
  scene_close(&s);
  static char* bad[][2] = {
      {"body/ball/pos=1,2", "body/ball/pos: expected 3 numbers, not 2"},
      {"joint/hinge/damping=1,2", "joint/hinge/damping: expected 1 number, not 2"},
      {"joint/hinge/damping=", "joint/hinge/damping: expected finite numbers, not ''"},
      {"joint/hinge/damping=inf", "joint/hinge/damping: expected finite numbers, not 'inf'"},
      {"body/ball/pos=1,,3", "body/ball/pos: expected finite numbers, not '1,,3'"},
      {"body/ball/pos=1,2,3,", "body/ball/pos: expected finite numbers, not '1,2,3,'"},
      {"geom/*/friction=x", "geom/floor/friction: expected finite numbers, not 'x'"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char words[200];
    snprintf(words, sizeof words, "dijoco test: scene.json: %s\n", bad[i][1]);
    o = djt_options("scene.json", "--set", bad[i][0]);
    djt_says(scene_open(&s, &o, "scene.json"), EXIT_BAD_INPUT, words);
    scene_close(&s);
  }
  static char* refused[] = {"joint/none/damping=1", "geom/skin/size=-1,0,0"};
  for (int i = 0; i < 2; i++) {   // the library says why; the element is named once
    o = djt_options("scene.json", "--set", refused[i]);
    djt_listen(2);
    assert_int_equal(scene_open(&s, &o, "scene.json"), EXIT_BAD_INPUT);
    const char* words = djt_heard(2);
    char element[40];
    snprintf(element, sizeof element, "%.*s", (int)strcspn(refused[i], "="), refused[i]);
    assert_non_null(strstr(words, element));
    assert_null(strstr(strstr(words, element) + 1, element));
    scene_close(&s);
  }
}

// The scene with a setting of one geom: a model (1) or a number (2) of its own.
static const char* writeOwn(int own) {
  static const char* const key[] = {"", "\"contact\":\"separating_plane\",", "\"support\":0.004,"};
  Buffer text = {0};
  const char* at = strstr(djt_sceneText, "\"name\":\"skin\"");
  buf_addn(&text, djt_sceneText, (size_t)(at - djt_sceneText));
  buf_add(&text, key[own]);
  buf_add(&text, at);
  djt_writeText("own.json", text.text);
  buf_free(&text);
  return "own.json";
}

// "settings" as JSON: every setting in force, and what geoms have of their own.
static void testWriteSettings(void) {
  for (int own = 0; own < 3; own++) {
    Options o = djt_options("scene.json", "--timestep", "0.04", "--threads", "3");
    Scene s;
    djt_says(scene_open(&s, &o, writeOwn(own)), 0, "");
    Buffer text = {0};
    Json out;
    json_start(&out, &text);
    json_object(&out, NULL);
    scene_writeSettings(&out, &s, &o);
    json_end(&out);
    cJSON* all = cJSON_Parse(text.text);
    const cJSON* found = cJSON_GetObjectItemCaseSensitive(all, "settings");
    const djSetting* row;
    for (int i = 0; (row = dj_setting(i)); i++) {
      const cJSON* item = cJSON_GetObjectItemCaseSensitive(found, row->name);
      double value[3];
      dj_settingInForce(value, s.model, row);
      if (row->kind == DJ_SETTING_CHOICE) {
        assert_string_equal(item->valuestring, dj_choiceName(row, (int)value[0]));
      } else if (row->kind == DJ_SETTING_FLAGS) {
        assert_int_equal(cJSON_GetArraySize(item), __builtin_popcount((unsigned)value[0]));
      } else if (row->size > 1) {
        for (int k = 0; k < row->size; k++) {
          assert_true(cJSON_GetArrayItem(item, k)->valuedouble == value[k]);
        }
      } else {
        assert_true(item->valuedouble == value[0]);
      }
    }
    assert_true(cJSON_GetObjectItemCaseSensitive(found, "timestep")->valuedouble == 0.04);
    assert_true(cJSON_GetObjectItemCaseSensitive(found, "threads")->valuedouble == 3);
    const cJSON* list = cJSON_GetObjectItemCaseSensitive(found, "own");
    assert_int_equal(list ? cJSON_GetArraySize(list) : 0, own > 0);
    if (own) {
      const cJSON* entry = cJSON_GetArrayItem(list, 0);
      assert_string_equal(cJSON_GetObjectItemCaseSensitive(entry, "geom")->valuestring, "skin");
      const cJSON* model = cJSON_GetObjectItemCaseSensitive(entry, "contact");
      const cJSON* support = cJSON_GetObjectItemCaseSensitive(entry, "support");
      if (own == 1) assert_string_equal(model->valuestring, "separating_plane");
      if (own == 2) assert_true(support->valuedouble == 0.004);
      assert_true(own == 1 ? !support : !model);
      assert_true(cJSON_GetObjectItemCaseSensitive(entry, "id")->valuedouble == 1);
    }
    cJSON_Delete(all);
    buf_free(&text);
    scene_close(&s);
  }
}

// ---- inputs

static void testKeyframe(void) {
  Options o = djt_options("scene.json");
  Scene s = openScene(&o);
  static const struct {
    char* name;
    int key;
    const char* words;
  } row[] = {
      {NULL, -1, ""},
      {"up", 1, ""},
      {"0", 0, ""},
      {"1", 1, ""},
      {"#1", 1, ""},
      {"2", -1, "dijoco test: scene.json: --keyframe: index 2: the scene has 2 keyframes\n"},
      {"-1", -1, "dijoco test: scene.json: --keyframe: index -1: the scene has 2 keyframes\n"},
      {"1x", -1, "dijoco test: scene.json: --keyframe: the scene has no keyframe '1x'\n"}};
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    int key = 7;
    o.keyframe = row[i].name;
    djt_says(inputs_keyframe(&key, &o, &s), *row[i].words ? EXIT_BAD_INPUT : 0, row[i].words);
    assert_int_equal(key, row[i].key);
  }
  scene_close(&s);
}

static void testStart(void) {
  Options o = djt_options("scene.json", "--time", "0.0524");
  Scene s = openScene(&o);
  Inputs in;
  djt_says(inputs_read(&in, &o, &s, 0.005), 0, "");
  assert_int_equal(in.steps, 10);   // to the nearest
  assert_true(in.key == -1 && in.time == 0 && in.seed == -1 && in.nrow == 0);
  for (int i = 0; i < 8; i++) assert_true(in.qpos[i] == s.model->qpos0[i]);
  for (int i = 0; i < 7; i++) assert_true(in.qvel[i] == 0);
  inputs_free(&in);
  djt_writeText("qvel.csv", "1,2,3,4,5,6,7\n");
  djt_writeText("short.csv", "1,2\n");
  o = djt_options("scene.json", "--time", "0.1", "--keyframe", "up", "--qvel", "qvel.csv");
  djt_says(inputs_read(&in, &o, &s, 0.02), 0, "");
  assert_int_equal(in.steps, 5);
  assert_true(in.key == 1 && in.time == 1.5 && in.qpos[2] == 2 && in.qpos[7] == 0.3);
  for (int i = 0; i < 7; i++) assert_true(in.qvel[i] == i + 1);   // stronger than the keyframe
  double ctrl[2] = {9, 9};
  inputs_ctrl(ctrl, &in, 3);
  assert_true(ctrl[0] == 0.5 && ctrl[1] == -0.25);
  inputs_free(&in);
  inputs_free(&in);
  static char* bad[][4] = {{"--every", "1", "", "--time: missing"},
                           {"--time", "1e8", "", "--time: 2e+10 steps are too many"},
                           {"--time", "1", "--qpos=short.csv", NULL},
                           {"--time", "1", "--qvel=short.csv", NULL},
                           {"--time", "1", "--ctrl=none.csv", NULL}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char* more = *bad[i][2] ? bad[i][2] : NULL;
    o = djt_options("scene.json", bad[i][0], bad[i][1], more);
    djt_listen(2);
    assert_int_equal(inputs_read(&in, &o, &s, 0.005), EXIT_BAD_INPUT);
    assert_non_null(strstr(djt_heard(2), more ? strchr(more, '=') + 1 : bad[i][3]));
    inputs_free(&in);
  }
  scene_close(&s);
}

static void testControls(void) {
  djt_writeText("ctrl.csv", "ctrl[0],ctrl[1]\n1,2\n3,4\n5,6\n");
  Options o = djt_options("scene.json", "--time", "1", "--ctrl", "ctrl.csv");
  Scene s = openScene(&o);
  Inputs in;
  double ctrl[2], other[2];
  djt_says(inputs_read(&in, &o, &s, 0.005), 0, "");
  for (long k = 0; k < 5; k++) {   // the last row is held
    inputs_ctrl(ctrl, &in, k);
    double row = k < 3 ? (double)k : 2;
    assert_true(ctrl[0] == 1 + 2 * row && ctrl[1] == 2 + 2 * row);
  }
  inputs_free(&in);
  o.ctrl_seed = 3;
  djt_says(inputs_read(&in, &o, &s, 0.005), EXIT_BAD_INPUT,
           "dijoco test: --ctrl-seed: cannot be given together with --ctrl\n");
  inputs_free(&in);
  o.ctrl = NULL;
  djt_says(inputs_read(&in, &o, &s, 0.005), 0, "");
  double low[2] = {9, 9}, high[2] = {-9, -9};
  for (long k = 0; k < 4000; k++) {
    inputs_ctrl(ctrl, &in, k);
    inputs_ctrl(other, &in, k - k % 10);
    assert_memory_equal(ctrl, other, sizeof ctrl);   // for ten steps
    for (int i = 0; i < 2; i++) low[i] = fmin(low[i], ctrl[i]), high[i] = fmax(high[i], ctrl[i]);
  }
  assert_true(low[0] >= 2 && low[0] < 2.2 && high[0] > 5.8 && high[0] <= 6);
  assert_true(low[1] >= -1 && low[1] < -0.9 && high[1] > 0.9 && high[1] <= 1);   // no limits
  inputs_ctrl(ctrl, &in, 9);
  inputs_ctrl(other, &in, 10);
  assert_true(ctrl[0] != other[0] && ctrl[1] != other[1]);
  in.seed = 4;
  inputs_ctrl(other, &in, 9);
  assert_true(ctrl[0] != other[0]);
  inputs_free(&in);
  scene_close(&s);
}

static void testGravity(void) {
  Inputs in = {.timestep = 0.01, .gravity_ramp = 0.04};
  static const double wanted[] = {0, 0.25, 0.5, 0.75, 1, 1, 1};
  for (long k = 0; k < 7; k++) djt_near(inputs_gravity(&in, k), wanted[k], 1e-15);
  in.gravity_ramp = 0;
  assert_true(inputs_gravity(&in, 0) == 1);
}

// Only of what came from MuJoCo.
static void testFeatures(void) {
  Options o = djt_options("scene.json");
  Scene s = openScene(&o);
  FILE* out = freopen("features.txt", "w", stdout);
  assert_non_null(out);
  features_print(&s, -1);
  assert_int_equal(ftell(stdout), 0);
  assert_non_null(freopen("/dev/null", "w", stdout));
  scene_close(&s);
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testLoad, testSettings, testSets, testWriteSettings,
            testKeyframe, testStart, testControls, testGravity, testFeatures)
