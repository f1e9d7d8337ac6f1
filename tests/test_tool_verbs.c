// Verbs as functions: their exit status, what they print, and the files that they write. What the
// whole command does is tested by cli_*.py.

#include "common/make_model.h"
#include "common/test.h"
#include "common/tool_case.h"
#include "verbs.h"

#include <dijoco/io.h>

#include <cjson/cJSON.h>
#include <sys/stat.h>

// The JSON that a verb prints, its status being this; NULL where it prints nothing.
static cJSON* run(int (*verb)(const Options*), int status, Options o) {
  o.json = true;
  djt_listen(1);
  djt_listen(2);
  int found = verb(&o);
  djt_heard(2);
  const char* text = djt_heard(1);
  cJSON* json = cJSON_Parse(text);
  assert_int_equal(found, status);
  assert_int_equal(json == NULL, !*text);
  return json;
}

static double number(const cJSON* json, const char* key) {
  const cJSON* item = cJSON_GetObjectItemCaseSensitive(json, key);
  return item && cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

// Bad input of each: status 2, a line on stderr that begins with the verb, and nothing else.
static void testRefused(void) {
  static const struct {
    int (*verb)(const Options*);
    char *argument, *key, *value;
    const char* words;
  } row[] = {
      {verb_inspect, "none.json", NULL, NULL, "none.json: cannot be opened"},
      {verb_convert, "scene.json", NULL, NULL, "--out: missing"},
      {verb_convert, "none.json", "--out", "x.json", "none.json: cannot be opened"},
      {verb_convert, "scene.json", "--out", "none/x", "none/x: cannot be written: "},
      {verb_simulate, "scene.json", NULL, NULL, "--time: missing"},
      {verb_simulate, "none.json", "--time", "1", "none.json: cannot be opened"},
      {verb_compare, "scene.json", "--time", "1", "--out: missing"},
      {verb_contact, "none.json", NULL, NULL, "none.json: cannot be opened"},
      {verb_grad, "none.json", NULL, NULL, "none.json: cannot be opened"},
      {verb_grad, "task.json", "--gravity-ramp", "1", "--gravity-ramp: is for "},
      {verb_optimize, "task.json", NULL, NULL, "--out: missing"},
      {verb_optimize, "none.json", "--out", "x", "none.json: cannot be opened"},
      {verb_help, "none", NULL, NULL, "none: unknown topic, expected one of settings, presets, "},
#ifdef DJ_HAVE_MUJOCO
      {verb_bench, "", "--models", "none", "none: cannot be read"},
#else
      {verb_bench, "", NULL, NULL, "this build has no MuJoCo"},
#endif
      {verb_bench, "none.json", NULL, NULL, "none.json: cannot be opened"},
      {verb_bench, "task.json", "--models", "none", "--models: is not for tasks"},
      {verb_bench, "task.json", "--pairs", "none", "--pairs: is not for tasks"},
  };
  int files = djt_countFiles(".");
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    char wanted[200];
    Options o = djt_options(row[i].argument, row[i].key, row[i].value);
    if (!*row[i].argument) o.nargument = 0;
    djt_listen(1);
    djt_listen(2);
    int status = row[i].verb(&o);
    const char* words = djt_heard(2);
    snprintf(wanted, sizeof wanted, "dijoco test: %s", row[i].words);
    if (strncmp(words, wanted, strlen(wanted)) != 0) fail_msg("%s, not %s", words, wanted);
    assert_int_equal(strcspn(words, "\n"), strlen(words) - 1);
    assert_string_equal(djt_heard(1), "");
    assert_int_equal(status, EXIT_BAD_INPUT);
    assert_int_equal(djt_countFiles("."), files);
  }
}

static djModel* loadModel(const char* path) {
  djModel* m = djt_load(path);
  return m;
}

static void testConvert(void) {
  cJSON* json = run(verb_convert, 0, djt_options("scene.json", "--out", "new.json"));
  assert_string_equal(cJSON_GetObjectItem(json, "out")->valuestring, "new.json");
  cJSON_Delete(json);
  djModel *a = loadModel("scene.json"), *b = loadModel("new.json");
  assert_null(djt_difference(a, b));
  dj_deleteModel(b);
  Options o = djt_options("scene.json", "--out=new.json", "--timestep=0.25", "--set",
                          "joint/hinge/damping=3");
  cJSON_Delete(run(verb_convert, 0, o));
  b = loadModel("new.json");
  assert_true(b->opt.timestep == 0.25 && b->jnt_damping[1] == 3);
  assert_non_null(djt_difference(a, b));
  dj_deleteModel(a);
  dj_deleteModel(b);
  remove("new.json");
}

// The ball falls freely for 0.1 s, and the file has each state.
static void testSimulate(void) {
  Options o = djt_options("scene.json", "--time", "0.1", "--out", "run.csv", "--every", "5");
  cJSON* json = run(verb_simulate, 0, o);
  djt_near(number(json, "steps"), 20, 0);
  djt_near(number(json, "time"), 0.1, 1e-12);
  cJSON_Delete(json);
  int lines = 0;
  double last[4] = {0};
  char *text = djt_readText("run.csv"), *rest;
  for (char* l = strtok_r(text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest), lines++) {
    sscanf(l, "%lf,%lf,%lf,%lf", &last[0], &last[1], &last[2], &last[3]);
  }
  assert_int_equal(lines, 1 + 5);
  djt_near(last[0], 0.1, 1e-12);
  djt_near(last[3], 0.5 - 9.81 * 0.005 * 0.005 * 20 * 21 / 2, 1e-9);
  remove("run.csv");
}

static void testInspect(void) {
  cJSON* json = run(verb_inspect, 0, djt_options("scene.json"));
  char* text = cJSON_PrintUnformatted(json);
  assert_non_null(strstr(text, "\"timestep\":0.005"));
  cJSON_free(text);
  cJSON_Delete(json);
}

// Two unit balls with centres 3 m apart, and a bad entry, which does not spoil it.
static void testContact(void) {
  djt_writeText("pairs.json",
                "[{\"model\":\"gap\",\"params\":{\"smoothing\":1e-6},\"a\":{\"geom\":\"sphere\","
                "\"size\":[1]},\"b\":{\"geom\":\"sphere\",\"size\":[1],\"pose\":[3,0,0,1,0,0,0]}},"
                "{\"model\":\"none\"}]");
  cJSON* json = run(verb_contact, EXIT_BAD_INPUT, djt_options("pairs.json"));
  const cJSON* results = cJSON_GetObjectItem(json, "results");
  assert_int_equal(cJSON_GetArraySize(results), 2);
  djt_near(number(cJSON_GetArrayItem(results, 0), "gap"), 1, 1e-12);
  assert_true(isnan(number(cJSON_GetArrayItem(results, 1), "gap")));
  cJSON_Delete(json);
  remove("pairs.json");
}

static const char taskText[] =
    "{\"scene\":\"scene.json\",\"horizon\":20,\"loss\":[{\"type\":\"position\",\"body\":\"ball\","
    "\"target\":[0.1,0,0.5]}],\"variables\":[{\"name\":\"qvel0\",\"index\":[0]}]}";

static void testGradAndOptimize(void) {
  djt_writeText("task.json", taskText);
  cJSON* json = run(verb_grad, 0, djt_options("task.json", "--check"));
  double fall = 9.81 * 0.005 * 0.005 * 20 * 21 / 2;
  djt_near(number(json, "loss"), 0.01 + fall * fall, 1e-9);
  const cJSON* first = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "variables"), 0);
  const cJSON* gradient = cJSON_GetObjectItem(first, "gradient");
  djt_near(cJSON_GetArrayItem(gradient, 0)->valuedouble, -2 * 0.1 * 0.1, 1e-9);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "certificate")), 1);
  cJSON_Delete(json);
  Options o = djt_options("task.json", "--optimizer", "lbfgsb", "--iterations", "30");
  o.out = "made/result";
  json = run(verb_optimize, 0, o);
  cJSON_Delete(json);
#ifdef DJ_HAVE_MUJOCO
#define SCENE_FILE "scene.xml"
#else
#define SCENE_FILE "scene.json"
#endif
  static const char* const files[] = {"history.csv", "final.json", "task.json",  "ctrl.csv",
                                      "report.html", SCENE_FILE,   "replay.json"};
  const int n = 7;
  for (int i = 0; i < n; i++) {
    char path[64];
    snprintf(path, sizeof path, "made/result/%s", files[i]);
    assert_non_null(djt_readText(path));
  }
  assert_int_equal(djt_countFiles("made/result"), n);
  djt_wellFormed(djt_readText("made/result/report.html"));
}

// Rows of a task: what they are called, that what is timed is there, and the filter.
static void testBenchTask(void) {
  static const char* const names[] = {
      "task_forward/fall",       "task_adjoint/fall",       "task_adjoint_ctrl/fall",
      "task_gradient/fall",      "task_forward/fall/drawn", "task_adjoint/fall/drawn",
      "task_adjoint_ctrl/fall/drawn", "task_gradient/fall/drawn"};
  djt_writeText("fall.json", taskText);
  assert_int_equal(mkdir("fall", 0777), 0);
  assert_int_equal(rename("fall.json", "fall/task.json"), 0);
  djt_writeText("fall/scene.json", djt_readText("scene.json"));
  cJSON* json = run(verb_bench, 0, djt_options("fall/task.json"));
  const cJSON* list = cJSON_GetObjectItem(json, "results");
  assert_int_equal(cJSON_GetArraySize(list), 8);
  for (int i = 0; i < 8; i++) {
    const cJSON* row = cJSON_GetArrayItem(list, i);
    assert_string_equal(cJSON_GetObjectItem(row, "name")->valuestring, names[i]);
    assert_true(number(row, "ours") > 0 && number(row, "peer") > 0);
    djt_near(number(row, "ratio"), number(row, "ours") / number(row, "peer"), 1e-12);
  }
  const cJSON *forward = cJSON_GetArrayItem(list, 0), *adjoint = cJSON_GetArrayItem(list, 1);
  const cJSON* both = cJSON_GetArrayItem(list, 3);
  const char* memory = strstr(cJSON_GetObjectItem(forward, "note")->valuestring, "; tape ");
  double tape = 0, data = 0, design = 0;
  assert_non_null(memory);
  assert_int_equal(
      sscanf(memory, "; tape %lf MB, data %lf MB, design %lf MB", &tape, &data, &design), 3);
  assert_true(tape < 200 && data < 200 && design < 200);
  djt_near(number(both, "ours"), number(forward, "ours") + number(adjoint, "ours"), 1e-9);
  assert_true(number(adjoint, "peer") == number(forward, "ours"));
  cJSON_Delete(json);
  Options o = djt_options("fall/task.json");
  o.filter = "adjoint/fall/drawn";
  json = run(verb_bench, 0, o);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "results")), 1);
  cJSON_Delete(json);
}

static void testHelp(void) {
  static char* const topics[] = {"settings", "presets", "losses", "parameters", "maps",
                                 "optimizers"};
  for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
    cJSON_Delete(run(verb_help, 0, djt_options(topics[i])));
    Options o = djt_options(topics[i], "--markdown");
    djt_listen(1);
    assert_int_equal(verb_help(&o), 0);
    assert_non_null(strstr(djt_heard(1), "|---|---|"));
  }
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testRefused, testConvert, testSimulate, testInspect,
            testContact, testGradAndOptimize, testHelp, testBenchTask)
