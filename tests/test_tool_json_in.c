// Reading JSON input: each access with its type, and the first thing that is wrong.

#include "common/test.h"
#include "common/tool_case.h"
#include "json_in.h"

static cJSON* parse(const char* text) {
  char message[300] = "";
  djt_writeText("in.json", text);
  cJSON* json = read_json("in.json", message, sizeof message);
  if (!json) fail_msg("%s", message);
  return json;
}

static void testFile(void) {
  char message[300] = "";
  assert_null(read_json("none.json", message, sizeof message));
  assert_string_equal(message, "cannot be opened");
  djt_writeText("in.json", "{\"a\":1,\n \"b\" 2}");
  assert_null(read_json("in.json", message, sizeof message));
  assert_non_null(strstr(message, "line 2"));
  char small[4];
  assert_null(read_json("none.json", small, sizeof small));
  assert_string_equal(small, "can");

  // Names of numbers become infinite, but not within texts, escaped quotes or not.
  cJSON* json = parse("{\"NaN\":[NaN,Infinity,-Infinity,1],\"t\":\"a\\\"NaN\\\\\",\"u\":Infinity}");
  const cJSON* list = cJSON_GetObjectItemCaseSensitive(json, "NaN");
  assert_non_null(list);
  static const double wanted[] = {INFINITY, INFINITY, -INFINITY, 1};
  for (int i = 0; i < 4; i++) assert_true(cJSON_GetArrayItem(list, i)->valuedouble == wanted[i]);
  Reader r = {false};
  assert_string_equal(read_text(&r, json, "", "t", true), "a\"NaN\\");
  double value = 7;
  assert_false(read_number(&r, json, "", "u", &value));
  assert_string_equal(r.element, "u");
  assert_string_equal(r.message, "is not finite");
  assert_true(value == 7);
  cJSON_Delete(json);
}

static void testFirstFailure(void) {
  Reader r = {false};
  read_fail(&r, "pairs[2]", "size", "is %d", 3);
  read_fail(&r, "pairs[3]", "size", "is %d", 4);
  assert_true(r.failed);
  assert_string_equal(r.element, "pairs[2].size");
  assert_string_equal(r.message, "is 3");
  r = (Reader){false};
  read_fail(&r, "", "size", "x");
  assert_string_equal(r.element, "size");
  r = (Reader){false};
  read_fail(&r, "pairs", NULL, "x");
  assert_string_equal(r.element, "pairs");

  // Nothing more is read, and values stay.
  cJSON* json = parse("{\"n\":2,\"b\":true,\"v\":[1,2],\"p\":[[1,2,3]],\"o\":{},\"t\":\"x\"}");
  double number = 5, v[2] = {5, 5};
  bool flag = false;
  int n = 9;
  assert_false(read_number(&r, json, "", "n", &number));
  assert_false(read_bool(&r, json, "", "b", &flag));
  assert_false(read_bool(&r, json, "", "missing", &flag));
  assert_int_equal(read_vector(&r, json, "", "v", 2, 2, v), 0);
  assert_null(read_points(&r, json, "", "p", &n));
  assert_null(read_object(&r, json, "", "o", true));
  assert_null(read_list(&r, json, "", "v", true));
  assert_null(read_text(&r, json, "", "t", true));
  assert_false(read_keys(&r, json, "", (const char*[]){"n", "b", "v", "p", "o", "t", NULL}));
  assert_true(number == 5 && v[0] == 5 && !flag && n == 9);
  assert_string_equal(r.element, "pairs");
  cJSON_Delete(json);
}

static void testKeys(void) {
  static const char* const known[] = {"a", "b", NULL};
  static const struct {
    const char *text, *element, *message;
  } row[] = {{"{}", "", ""},
             {"{\"b\":1,\"a\":2}", "", ""},
             {"{\"a\":1,\"A\":2}", "at.A", "unknown key"},
             {"{\"c\":1,\"c\":2}", "at.c", "unknown key"}};
  for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
    Reader r = {false};
    cJSON* json = parse(row[k].text);
    assert_int_equal(read_keys(&r, json, "at", known), !*row[k].message);
    assert_string_equal(r.element, row[k].element);
    assert_string_equal(r.message, row[k].message);
    cJSON_Delete(json);
  }
  // Twice, which files may not have either.
  Reader r = {false};
  cJSON* json = cJSON_Parse("{\"a\":1,\"b\":2,\"a\":3}");
  assert_false(read_keys(&r, json, "at", known));
  assert_string_equal(r.element, "at.a");
  assert_string_equal(r.message, "given twice");
  cJSON_Delete(json);
}

// Members that must have a type: what they say of another, and of a missing one.
static void testTypes(void) {
  cJSON* json = parse("{\"o\":{},\"l\":[1],\"t\":\"x\",\"b\":true,\"n\":1.5,\"null\":null}");
  static const char* const types[] = {"o", "l", "t", "b", "n", "null"};
  static const char* const wanted[] = {"expected an object", "expected a list", "expected a text",
                                       "expected true or false", "expected a number"};
  for (int read = 0; read < 5; read++) {
    for (int k = 0; k < 7; k++) {
      Reader r = {false};
      const char* key = k < 6 ? types[k] : "missing";
      bool flag = false, found = false;
      double number = 0;
      if (read == 0) found = read_object(&r, json, "", key, k == 6) != NULL;
      if (read == 1) found = read_list(&r, json, "", key, k == 6) != NULL;
      if (read == 2) found = read_text(&r, json, "", key, k == 6) != NULL;
      if (read == 3) found = read_bool(&r, json, "", key, &flag) && flag;
      if (read == 4) found = read_number(&r, json, "", key, &number) && number == 1.5;
      assert_int_equal(found, k == read);
      bool may_miss = k == 6 && read >= 3;
      assert_int_equal(r.failed, !found && !may_miss);
      if (r.failed) assert_string_equal(r.message, k == 6 ? "missing" : wanted[read]);
    }
    Reader r = {false};   // not required
    if (read == 0) assert_null(read_object(&r, json, "", "missing", false));
    if (read == 1) assert_null(read_list(&r, json, "", "missing", false));
    if (read == 2) assert_null(read_text(&r, json, "", "missing", false));
    assert_false(r.failed);
  }
  cJSON_Delete(json);
}

static void testVector(void) {
  cJSON* json = parse("{\"v\":[1,2,3],\"bad\":[1,\"x\"],\"far\":[1,NaN],\"none\":[]}");
  double v[4] = {0, 0, 0, 9};
  Reader r = {false};
  assert_int_equal(read_vector(&r, json, "", "v", 2, 3, v), 3);
  assert_true(v[0] == 1 && v[1] == 2 && v[2] == 3 && v[3] == 9);
  assert_int_equal(read_vector(&r, json, "", "missing", 2, 3, v), 0);
  assert_int_equal(read_vector(&r, json, "", "none", 0, 3, v), 0);
  assert_false(r.failed);
  static const struct {
    const char* key;
    int least, most;
    const char *element, *message;
  } row[] = {{"v", 4, 4, "v", "expected 4 numbers, not 3"},
             {"v", 1, 2, "v", "expected 1 to 2 numbers, not 3"},
             {"none", 1, 2, "none", "expected 1 to 2 numbers, not 0"},
             {"bad", 0, 4, "bad[1]", "expected a number"},
             {"far", 0, 4, "far[1]", "is not finite"}};
  for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
    r = (Reader){false};
    assert_int_equal(read_vector(&r, json, "", row[k].key, row[k].least, row[k].most, v), 0);
    assert_string_equal(r.element, row[k].element);
    assert_string_equal(r.message, row[k].message);
  }
  cJSON_Delete(json);
}

static void testPoints(void) {
  cJSON* json = parse("{\"p\":[[1,2,3],[4,5,6]],\"none\":[],\"flat\":[1,2,3],"
                      "\"short\":[[1,2,3],[4,5]],\"text\":[[1,2,3],[4,5,\"6\"]]}");
  Reader r = {false};
  int n = -1;
  double* point = read_points(&r, json, "a", "p", &n);
  assert_int_equal(n, 2);
  for (int i = 0; i < 6; i++) assert_true(point[i] == i + 1);
  free(point);
  static const char* const row[][3] = {{"none", "a.none", "is empty"},
                                       {"missing", "a.missing", "missing"},
                                       {"flat", "a.flat[0]", "expected 3 numbers"},
                                       {"short", "a.short[1]", "expected 3 numbers"},
                                       {"text", "a.text[1][2]", "expected a number"}};
  for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
    r = (Reader){false};
    assert_null(read_points(&r, json, "a", row[k][0], &n));
    assert_string_equal(r.element, row[k][1]);
    assert_string_equal(r.message, row[k][2]);
  }
  assert_int_equal(n, 2);
  cJSON_Delete(json);
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testFile, testFirstFailure, testKeys, testTypes,
            testVector, testPoints)
