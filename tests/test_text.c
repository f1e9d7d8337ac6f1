// Texts that grow, numbers in texts, and paths.

#include "common/near.h"
#include "common/test.h"
#include "io/text.h"

static void testText(void) {
  djText t = {0};
  dj_addText(&t, "a");
  dj_addInt(&t, -42);
  dj_addQuoted(&t, "x\"\\\n\x01");
  dj_addNumber(&t, 0.1);
  dj_addText(&t, " ");
  dj_addExact(&t, 0.1);
  dj_addText(&t, " ");
  dj_addJsonNumber(&t, -INFINITY);
  assert_false(t.failed);
  assert_string_equal(t.data,
                      "a-42\"x\\\"\\\\\\u000a\\u0001\"0.1 0.10000000000000001 \"-inf\"");
  assert_int_equal(t.length, strlen(t.data));
  for (int i = 0; i < 1000; i++) dj_addText(&t, "0123456789");
  assert_int_equal(t.length, strlen(t.data));
  dj_freeText(&t);
  assert_null(t.data);
}

static void testScan(void) {
  const struct {
    const char* text;
    double value;
    int length;
  } list[] = {{"1.5,2", 1.5, 3}, {"-2e3x", -2000, 4}, {"abc", 0, 0}, {"", 0, 0}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    const char* end;
    double value = dj_scanNumber(list[i].text, &end);
    assert_int_equal(end - list[i].text, list[i].length);
    if (list[i].length > 0) djt_near(value, list[i].value, 0);
  }
}

static void testPaths(void) {
  const char* list[][3] = {{"a/b/", "c.json", "a/b/c.json"},
                           {"", "c.json", "c.json"},
                           {"a/", "/c.json", "/c.json"}};
  for (size_t i = 0; i < 3; i++) {
    char* path = dj_joinPath(list[i][0], list[i][1]);
    assert_string_equal(path, list[i][2]);
    free(path);
  }
  const char* folders[][2] = {{"a/b/c.json", "a/b/"}, {"c.json", ""}, {"/c", "/"}};
  for (size_t i = 0; i < 3; i++) {
    char* folder = dj_folderOf(folders[i][0]);
    assert_string_equal(folder, folders[i][1]);
    free(folder);
  }
}

DJT_MAIN(testText, testScan, testPaths)
