// What the command writes with: buffers, JSON, tables, charts, hulls of pictures.

#include "chart.h"
#include "clock.h"
#include "common/near.h"
#include "common/test.h"
#include "help_table.h"
#include "json_out.h"
#include "picture_geom.h"
#include "text.h"

static void testBuffer(void) {
  Buffer b = {0};
  buf_add(&b, "ab");
  buf_addn(&b, "cdef", 2);
  buf_addf(&b, "%d%s", 5, "x");
  assert_string_equal(b.text, "abcd5x");
  assert_int_equal(b.size, 6);
  for (int i = 0; i < 2000; i++) buf_addf(&b, "%04d", i);
  assert_int_equal(b.size, 8006);
  assert_string_equal(b.text + 8002, "1999");
  buf_free(&b);
  double x;
  assert_true(tool_number(&x, " 2.5e1 ") && x == 25);
  assert_true(tool_number(&x, "-inf") && x == -INFINITY);
  double before = tool_clock();
  for (int i = 0; i < 1000; i++) {
    double now = tool_clock();
    assert_true(now >= before && now < before + 60);
    before = now;
  }
  assert_false(tool_number(&x, "2.5x") || tool_number(&x, "") || tool_number(&x, "1 2"));
}

// At most 98 columns, broken at blanks where there are any.
static void testWrapped(void) {
  Buffer b = {0};
  buf_addWrapped(&b, "one two", 2, 4);
  assert_string_equal(b.text, "  one two\n");
  buf_free(&b);
  char words[400] = "", expected[500], end[100];
  for (int i = 0; i < 30; i++) strcat(words, i ? " abcdefgh" : "abcdefgh");
  buf_addWrapped(&b, words, 2, 4);   // 10 words have 89 columns
  snprintf(end, sizeof end, "    %.89s\n", words);
  snprintf(expected, sizeof expected, "  %.89s\n%s%s", words, end, end);
  assert_string_equal(b.text, expected);
  buf_free(&b);
  memset(words, 'x', 99);
  words[99] = '\0';
  buf_addWrapped(&b, words, 0, 0);
  assert_int_equal(strcspn(b.text, "\n"), 98);
  assert_string_equal(b.text + 98, "\nx\n");
  buf_free(&b);
}

static void testJson(void) {
  Buffer b = {0};
  Json j;
  const double v[4] = {1, 0.1, NAN, 4};
  json_start(&j, &b);
  json_object(&j, NULL);
  json_number(&j, "x", -INFINITY);
  json_text(&j, "t", "a\"\n");
  json_list(&j, "l");
  json_integer(&j, NULL, 3);
  json_bool(&j, NULL, true);
  json_null(&j, NULL);
  json_end(&j);
  json_matrix(&j, "m", 2, 2, v);
  json_vector(&j, "v", 0, v);
  json_end(&j);
  char text[400], *to = text;
  for (const char* c = b.text; *c; c++) {   // without white space
    if (*c != ' ' && *c != '\n') *to++ = *c;
  }
  *to = 0;
  assert_string_equal(text, "{\"x\":\"-inf\",\"t\":\"a\\\"\\n\",\"l\":[3,true,null],"
                            "\"m\":[[1,0.10000000000000001],[\"nan\",4]],\"v\":[]}");
  buf_free(&b);
}

static void testTable(void) {
  HelpTable t = {.title = "Things", .ncolumn = 2, .column = {"name", "what it is"}};
  help_add(&t, (const char*[HELP_COLUMNS]){"first", "one | two"});
  help_add(&t, (const char*[HELP_COLUMNS]){"second", NULL});
  Buffer text = {0}, page = {0}, json = {0};
  help_text(&text, &t);
  help_markdown(&page, &t);
  help_json(&json, &t);
  assert_string_equal(text.text, "first\n    one | two\nsecond\n    \n");
  assert_non_null(strstr(page.text, "| name | what it is |\n|---|---|\n| `first` | one"));
  assert_non_null(strstr(json.text, "\"one | two\""));
  buf_free(&text);
  buf_free(&page);
  buf_free(&json);
  help_free(&t);
  assert_int_equal(t.nrow, 0);
}

// The hull of a square with points inside and on its border, counter-clockwise.
static void testHull(void) {
  Point2 p[] = {{0.5, 0.5}, {0, 0}, {1, 1}, {1, 0}, {0, 1}, {0.5, 0}, {0.2, 0.9}};
  assert_int_equal(hull2(p, 7), 4);
  double area = 0;
  for (int i = 0; i < 4; i++) {
    Point2 a = p[i], b = p[(i + 1) % 4];
    area += (a.x * b.y - a.y * b.x) / 2;
  }
  djt_near(area, 1, 1e-15);
  Camera c = {.right = {1, 0, 0}, .up = {0, 0, 1}, .forward = {0, 1, 0}, .center = {1, 2, 3},
              .scale = 10, .width = 200, .height = 100};
  Point2 at = project(&c, (const double[]){1, 7, 3});
  Point2 right = project(&c, (const double[]){2, 2, 4});
  djt_near(at.x, 100, 1e-12);
  djt_near(at.y, 50, 1e-12);
  djt_near(right.x, 110, 1e-12);
  djt_near(right.y, 40, 1e-12);   // pictures count downwards
}

static void testChart(void) {
  const double x[3] = {0, 1, 2}, y[3] = {1, NAN, 3};
  Chart chart = {.ylabel = "height, m", .xlabel = "time, s", .label = "h", .width = 300,
                 .height = 200, .n = 3, .x = x};
  chart_add(&chart, y, "#123456", false);
  chart_legend(&chart, "#123456", true, "%s %d", "line", 7);
  assert_int_equal(chart.nseries, 1);
  assert_string_equal(chart.legend[0].text, "line 7");
  Buffer b = {0}, escaped = {0};
  chart_draw(&b, &chart);
  assert_int_equal(strncmp(b.text, "<svg", 4), 0);
  assert_non_null(strstr(b.text, "height, m"));
  assert_non_null(strstr(b.text, "#123456"));
  assert_null(strstr(b.text, "nan"));
  html_text(&escaped, "a<b>&\"");
  assert_string_equal(escaped.text, "a&lt;b&gt;&amp;&quot;");
  buf_free(&b);
  buf_free(&escaped);
}

static int countPoints(const char* svg) {
  const char *line = strstr(svg, "points=\""), *end = line ? strchr(line + 8, '"') : NULL;
  int n = 0;
  for (const char* c = line; c && c < end; c++) n += *c == ',';
  return n;
}

// Of very many points those that are seen, extremes among them; where stages begin there are names.
static void testManyPoints(void) {
  enum { N = 100000 };
  static double x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = i, y[i] = i % 977 / 977.0;
  y[54321] = 7;
  y[54322] = -5;
  Chart chart = {.ylabel = "y", .xlabel = "x", .label = "l", .width = 300, .height = 200, .x = x};
  chart_add(&chart, y, "#123456", false);
  for (int k = 0; k < 2; k++) {
    Buffer b = {0};
    chart.n = k ? N : 1000;
    chart_draw(&b, &chart);
    int n = countPoints(b.text);
    if (k == 0) assert_int_equal(n, 1000); // few are all drawn
    if (k == 1) assert_true(n > 2 * 206 && n <= 4 * 208);
    buf_free(&b);
  }
  Buffer all = {0}, few = {0};
  chart_draw(&all, &chart);
  const double least = chart.height - 40; // pixels; of the value axis
  char number[32];
  snprintf(number, sizeof number, ",%.1f ", least); // -5 is where the axis begins
  assert_non_null(strstr(strstr(all.text, "points="), number));
  chart_mark(&chart, 0, "stage %d", 1);
  chart_mark(&chart, N - 100, "stage %d", 2);
  chart_draw(&few, &chart);
  assert_null(strstr(all.text, "stage"));
  assert_non_null(strstr(few.text, ">stage 1</text>"));
  assert_non_null(strstr(few.text, ">2</text>")); // there is no room for more
  buf_free(&all);
  buf_free(&few);
}

DJT_MAIN(testBuffer, testWrapped, testJson, testTable, testHull, testChart, testManyPoints)
