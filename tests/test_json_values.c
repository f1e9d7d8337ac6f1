// Single values and lists of JSON, their refusals, settings as JSON, and targets of files.

#include "base/pool.h"
#include "common/near.h"
#include "common/test.h"
#include "io/json.h"
#include "io/settings.h"
#include "io/target.h"
#include "model/choice.h"

#include <errno.h>
#include <unistd.h>

static cJSON* parse(const char* text) {
  cJSON* root;
  djError err;
  if (dj_parseJson(&root, text, strlen(text), &err) != DJ_OK) fail_msg("%s", err.text);
  return root;
}

static void testValues(void) {
  djError err;
  djAt at = {&err, "joint 'knee'"};
  cJSON* root = parse("{\"x\": 2.5, \"i\": 3, \"b\": true, \"t\": \"word\", \"v\": [1, 2],"
                      "\"r\": [[1, 2], [3, 4], [5, 6]], \"f\": [\"inf\", \"-inf\"]}");
  double x, v[2];
  int i, n, rows, columns = -1;
  bool b;
  const char* t;
  djPool pool = {0};
  const double* list;
  assert_int_equal(dj_jsonNumber(&x, dj_jsonGet(root, "x"), &at), DJ_OK);
  assert_int_equal(dj_jsonInt(&i, dj_jsonGet(root, "i"), &at), DJ_OK);
  assert_int_equal(dj_jsonBool(&b, dj_jsonGet(root, "b"), &at), DJ_OK);
  assert_int_equal(dj_jsonText(&t, dj_jsonGet(root, "t"), &at), DJ_OK);
  assert_true(x == 2.5 && i == 3 && b && strcmp(t, "word") == 0);
  assert_int_equal(dj_jsonVector(v, 2, dj_jsonGet(root, "v"), &at), DJ_OK);
  assert_true(v[0] == 1 && v[1] == 2);
  assert_int_equal(dj_jsonReals(v, 2, dj_jsonGet(root, "f"), &at), DJ_OK);
  assert_true(v[0] == INFINITY && v[1] == -INFINITY);
  assert_int_equal(dj_jsonNumbers(&list, &n, dj_jsonGet(root, "x"), &pool, &at), DJ_OK);
  assert_true(n == 1 && list[0] == 2.5);
  assert_int_equal(dj_jsonRows(&list, &rows, &columns, dj_jsonGet(root, "r"), &pool, &at), DJ_OK);
  assert_true(rows == 3 && columns == 2 && list[5] == 6);
  assert_null(dj_jsonGet(root, "y"));
  // refusals name the element and the key
  djt_refusedWith(DJ_INVALID, dj_jsonInt(&i, dj_jsonGet(root, "x"), &at), err, "joint 'knee': x: ");
  assert_int_equal(dj_jsonVector(v, 2, dj_jsonGet(root, "r"), &at), DJ_INVALID);
  assert_int_equal(dj_jsonVector(v, 2, dj_jsonGet(root, "f"), &at), DJ_INVALID);
  assert_int_equal(dj_jsonNumber(&x, dj_jsonGet(root, "t"), &at), DJ_INVALID);
  djt_refused(DJ_INVALID, dj_jsonFail(&at, NULL, "is odd"), err, "joint 'knee': is odd");
  cJSON_Delete(root);
  dj_poolFree(&pool);
}

static void testKeys(void) {
  djError err;
  djAt at = {&err, ""};
  static const char* const keys[] = {"a", "b", NULL};
  static const djNamed names[] = {{"one", 1}, {"two", 2}, {NULL, 0}};
  cJSON *good = parse("{\"b\": \"two\"}"), *other = parse("{\"c\": 1}"),
        *twice = parse("{\"a\": 1, \"a\": 2}");
  int value;
  assert_int_equal(dj_jsonKeys(good, keys, &at), DJ_OK);
  djt_refusedWith(DJ_INVALID, dj_jsonKeys(other, keys, &at), err, "c");
  assert_int_equal(dj_jsonKeys(twice, keys, &at), DJ_INVALID);
  assert_int_equal(dj_jsonNamed(&value, dj_jsonGet(good, "b"), names, &at), DJ_OK);
  assert_int_equal(value, 2);
  assert_string_equal(dj_nameOf(names, 1), "one");
  assert_string_equal(dj_nameOf(names, 3), "");
  cJSON_Delete(good);
  cJSON_Delete(other);
  cJSON_Delete(twice);
}

// What a setting is written as reads back.
static void testSettings(void) {
  const struct {
    const char* name;
    double value[3];
    const char* text;
  } list[] = {{"timestep", {0.25}, "0.25"},
              {"integrator", {DJ_MIDPOINT}, "\"midpoint\""},
              {"gravity", {0, 1, -2}, NULL}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    const djSetting* row = dj_findSetting(list[i].name, 0);
    djText text = {0};
    double value[3] = {0};
    djError err;
    djAt at = {&err, ""};
    dj_addText(&text, "{\"x\": ");
    dj_addSetting(&text, row, list[i].value);
    if (list[i].text) assert_string_equal(text.data + 6, list[i].text);
    dj_addText(&text, "}");
    cJSON* root = parse(text.data);
    assert_int_equal(dj_jsonValue(value, row, dj_jsonGet(root, "x"), &at), DJ_OK);
    for (int k = 0; k < row->size; k++) assert_true(value[k] == list[i].value[k]);
    djSettings given = {.given = {0}};
    given.option = dj_defaultOption();
    if (row->ways & DJ_BY_TASK) {
      assert_int_equal(dj_jsonSetting(&given, row, dj_jsonGet(root, "x"), &at), DJ_OK);
      assert_true(dj_isGiven(&given, row));
    }
    cJSON_Delete(root);
    dj_freeText(&text);
  }
}

static void testTarget(void) {
  djTarget t;
  char folder[] = "targetXXXXXX", file[40], link[40];
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/file", folder);
  snprintf(link, sizeof link, "%s/link", folder);
  assert_int_equal(dj_findTarget(&t, file), 0);
  assert_false(t.exists);
  assert_true(t.place[0] == '/' && t.descriptor == -1);
  dj_freeTarget(&t);
  FILE* f = fopen(file, "w");
  assert_non_null(f);
  fclose(f);
  assert_int_equal(symlink("file", link), 0);
  assert_int_equal(dj_findTarget(&t, link), 0);   // where it leads
  assert_true(t.exists && strcmp(t.place + strlen(t.place) - 5, "/file") == 0);
  dj_freeTarget(&t);
  assert_int_equal(dj_findTarget(&t, folder), EISDIR);
  dj_freeTarget(&t);
  assert_int_equal(dj_findTarget(&t, "no/folder/x"), ENOENT);
  dj_freeTarget(&t);
  assert_int_equal(unlink(link) | unlink(file) | rmdir(folder), 0);
}

DJT_MAIN(testValues, testKeys, testSettings, testTarget)
