// Reading texts: to the letter of RFC 8259, with the place of what is wrong, and never without end.

#define _GNU_SOURCE   // fopencookie

#include "common/test.h"
#include "io/read_file.h"

static djStatus check(djError* err, const char* text) {
  err->text[0] = 0;
  return dj_checkJson(text, strlen(text), false, err);
}

static void test_accepted(void) {
  static const char* const list[] = {
      "{}", "[]", "0", "-0", "\"\"", " \t\r\n[ ] \n", "null", "true", "false", "\xef\xbb\xbf{}",
      "[0.5,-1e5,1E+05,12.25e-3,10]", "{\"a\":{\"a\":[{},[],\"a\"]},\"b\":1}",
      "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"",
      "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf \x7f\"",
      "0.0000000000000000000000000000000000000000000000000000000000001",   // 63 characters
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djError err;
    if (check(&err, list[i]) != DJ_OK) fail_msg("%s: %s", list[i], err.text);
  }
}

static void test_refused(void) {
  static const char* const list[][2] = {
      {"", "line 1, column 1: the text ends, a value expected"},
      {"  \n ", "line 2, column 2: the text ends, a value expected"},
      {"{\"a\": 01}", "line 1, column 7: a: '01' is not a number of JSON"},
      {"{\"a\":[0,\n  1.]}", "line 2, column 3: a[1]: '1.' is not a number of JSON"},
      {"[-]", "line 1, column 2: [0]: '-' is not a number of JSON"},
      {"[.5]", "line 1, column 2: [0]: '.5' is not a number of JSON"},
      {"[+1]", "line 1, column 2: [0]: '+1' is not a number of JSON"},
      {"[1e]", "line 1, column 2: [0]: '1e' is not a number of JSON"},
      {"[1e+]", "line 1, column 2: [0]: '1e+' is not a number of JSON"},
      {"[-01]", "line 1, column 2: [0]: '-01' is not a number of JSON"},
      {"[0x10]", "line 1, column 2: [0]: '0x10' is not a number of JSON"},
      {"[1.5.5]", "line 1, column 2: [0]: '1.5.5' is not a number of JSON"},
      {"[NaN]", "line 1, column 2: [0]: 'NaN' is not a value of JSON"},
      {"[-Infinity]", "line 1, column 2: [0]: '-Infinity' is not a number of JSON"},
      {"[True]", "line 1, column 2: [0]: 'True' is not a value of JSON"},
      {"[0.00000000000000000000000000000000000000000000000000000000000001]",
       "line 1, column 2: [0]: a number has more than 63 characters"},
      {"{\"bodies\":[{},{\"name\":\"a\\u0000b\"}]}",
       "line 1, column 25: bodies[1].name: a string holds NUL (\\u0000)"},
      {"[\"a\tb\"]", "line 1, column 4: [0]: a string holds a control character"},
      {"[\"\xc3\xa9\xc3\x28\"]", "line 1, column 4: [0]: a string is not UTF-8"},
      {"[\"\xc0\x80\"]", "line 1, column 3: [0]: a string is not UTF-8"},
      {"[\"\xe0\x80\x80\"]", "line 1, column 3: [0]: a string is not UTF-8"},
      {"[\"\xed\xa0\x80\"]", "line 1, column 3: [0]: a string is not UTF-8"},
      {"[\"\xf4\x90\x80\x80\"]", "line 1, column 3: [0]: a string is not UTF-8"},
      {"[\"\xf0\x80\x80\x80\"]", "line 1, column 3: [0]: a string is not UTF-8"},
      {"[\"\xff\"]", "line 1, column 3: [0]: a string is not UTF-8"},
      {"[\"\xe2\x82", "line 1, column 3: [0]: a string is not UTF-8"},
      {"[\"\\x\"]", "line 1, column 3: [0]: unknown escape in a string"},
      {"[\"\\u12g4\"]", "line 1, column 3: [0]: \\u needs four hexadecimal digits"},
      {"[\"\\ud800\"]", "line 1, column 3: [0]: half of a surrogate pair"},
      {"[\"\\ud800\\u0041\"]", "line 1, column 3: [0]: half of a surrogate pair"},
      {"[\"\\udc00\"]", "line 1, column 3: [0]: half of a surrogate pair"},
      {"[\"a", "line 1, column 4: [0]: a string does not end"},
      {"[\"a\\", "line 1, column 4: [0]: a string does not end"},
      {"{\"geoms\":[{\"size\":[1 2]}]}",
       "line 1, column 22: geoms[0].size[0]: ',' or ']' expected, not '2'"},
      {"{\"a\":1,}", "line 1, column 8: a key in quotes expected, not '}'"},
      {"[1,]", "line 1, column 4: [1]: a value expected, not ']'"},
      {"{\"a\" 1}", "line 1, column 6: a: ':' expected, not '1'"},
      {"{\"a\":1]", "line 1, column 7: a: ',' or '}' expected, not ']'"},
      {"{a:1}", "line 1, column 2: a key in quotes expected, not 'a'"},
      {"{\"a\":{\"b\":", "line 1, column 11: a.b: the text ends, a value expected"},
      {"{} x", "line 1, column 4: the end of the text expected, not 'x'"},
      {"{}\n\x01", "line 2, column 1: the end of the text expected, not byte 0x01"},
      {"[1 // one\n]", "line 1, column 4: [0]: ',' or ']' expected, not '/'"},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djError err;
    djt_refused(DJ_INVALID, check(&err, list[i][0]), err, list[i][1]);
    assert_int_equal(dj_checkJson(list[i][0], strlen(list[i][0]), false, NULL), DJ_INVALID);
  }
  djError err;
  djt_refused(DJ_INVALID, dj_checkJson("{}\0{", 4, false, &err), err,
              "line 1, column 3: the end of the text expected, not byte 0x00");
  djt_refused(DJ_INVALID, dj_checkJson("\"\0\"", 3, false, &err), err,
              "line 1, column 2: a string holds NUL");
  assert_int_equal(dj_checkJson(NULL, 0, false, &err), DJ_INVALID);
  assert_int_equal(dj_checkJson("[NaN,Infinity,-Infinity]", 24, true, &err), DJ_OK);
  assert_int_equal(dj_checkJson("[NaN,+Infinity]", 15, true, &err), DJ_INVALID);
}

// Every cut of a text is refused, without a look beyond its end.
static void test_cuts(void) {
  static const char text[] = "{\"a\":[1.5e-3,\"\\ud83d\\ude00\xe2\x82\xac\",{\"b\":null}],"
                             "\"c\":true}";
  djError err;
  for (size_t n = 0; n < sizeof text - 1; n++) {
    char* cut = malloc(n ? n : 1);   // sanitizers see a byte too many
    assert_non_null(cut);
    memcpy(cut, text, n);
    assert_int_equal(dj_checkJson(cut, n, false, &err), DJ_INVALID);
    free(cut);
  }
  assert_int_equal(dj_checkJson(text, sizeof text - 1, false, &err), DJ_OK);
}

static void test_depth(void) {
  char text[600];
  for (int depth = 255; depth <= 258; depth++) {
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    djError err = {""};
    djStatus status = dj_checkJson(text, 2 * (size_t)depth, false, &err);
    assert_int_equal(status, depth <= 256 ? DJ_OK : DJ_INVALID);
    if (status < 0) assert_non_null(strstr(err.text, ": is nested too deep"));
  }
}

// ---- whole files ------------------------------------------------------------------------------

typedef struct Endless {
  size_t given;
  char byte;
} Endless;

static ssize_t give(void* cookie, char* buffer, size_t n) {
  Endless* e = cookie;
  memset(buffer, e->byte, n);
  e->given += n;
  return (ssize_t)n;
}

static FILE* endless(Endless* e) {
  FILE* file = fopencookie(e, "rb", (cookie_io_functions_t){.read = give});
  assert_non_null(file);
  return file;
}

static void test_bound(void) {
  static const size_t limits[] = {0, 1, 1000, 65535, 65536, 65537, 3 << 20};
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    Endless blanks = {0, ' '};
    FILE* file = endless(&blanks);
    char *text, wanted[64];
    size_t length;
    djError err = {""};
    assert_int_equal(dj_readStream(&text, &length, file, limits[i], &err), DJ_FILE);
    assert_null(text);
    bool large = limits[i] >= 1 << 20;
    snprintf(wanted, sizeof wanted, "is larger than %zu %s", large ? limits[i] >> 20 : limits[i],
             large ? "MiB" : "bytes");
    assert_string_equal(err.text, wanted);
    assert_true(blanks.given <= limits[i] + 100000);   // and it stops reading there
    fclose(file);
  }
  Endless zeros = {0, 0};
  FILE* file = endless(&zeros);
  char* text;
  size_t length;
  djError err = {""};
  djt_refused(DJ_INVALID, dj_readStream(&text, &length, file, (size_t)1 << 30, &err), err,
              "byte 1 is NUL: not a text");
  assert_true(zeros.given <= 100000);
  fclose(file);
}

// A text as long as the limit comes whole, with a 0 after it.
static void test_whole(void) {
  static const size_t sizes[] = {0, 1, 65534, 65535, 65536, 65537, 200000};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    size_t n = sizes[i], length;
    char *content = malloc(n + 1), *text;
    assert_non_null(content);
    for (size_t k = 0; k < n; k++) content[k] = (char)('a' + k % 26);
    FILE* file = n ? fmemopen(content, n, "rb") : fopen("/dev/null", "rb");
    assert_non_null(file);
    assert_int_equal(dj_readStream(&text, &length, file, n, NULL), DJ_OK);
    assert_int_equal(length, n);
    assert_memory_equal(text, content, n);
    assert_int_equal(text[n], 0);
    dj_freeFile(text);
    fclose(file);
    free(content);
  }
}

DJT_MAIN(test_accepted, test_refused, test_cuts, test_depth, test_bound, test_whole)
