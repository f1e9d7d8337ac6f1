// Answers to queries of implicit surfaces: what is written, and that nothing is where one is
// refused.

#include "common/test.h"
#include "common/tool_case.h"
#include "contact_implicit.h"
#include "verbs.h"

static const char drum[] = "{\"shape\":\"superelliptic_cylinder\",\"R\":0.5,\"h\":1,\"n\":8,"
                           "\"pose\":[3,0,0,1,0,0,0]}";

static int ask(Buffer* out, char message[200], const char* a, const char* more) {
  char text[600];
  snprintf(text, sizeof text, "{\"model\":\"implicit_surface\",\"a\":%s,\"b\":%s%s}", a, drum,
           more);
  cJSON* entry = cJSON_Parse(text);
  Json writer;
  assert_non_null(entry);
  message[0] = 0;
  json_start(&writer, out);
  const int status = answer_implicit(&writer, entry, message, 200);
  cJSON_Delete(entry);
  return status;
}

static void testAnswers(void) {
  static const char* const good[] = {
      "{\"shape\":\"superellipsoid\",\"size\":[1,1,1],\"n\":1}",
      "{\"shape\":\"truncated_cone\",\"Rb\":1,\"Rt\":0.5,\"a\":1,\"b\":1,\"beta\":20}",
      "{\"shape\":\"smooth_capsule\",\"r\":0.5,\"h\":1,\"beta\":9}"};
  char message[200];
  for (int i = 0; i < 3; i++) {
    Buffer out = {0};
    assert_int_equal(ask(&out, message, good[i], ",\"sizes\":true"), EXIT_DONE);
    cJSON* answer = cJSON_Parse(out.text);
    assert_non_null(answer);
    assert_true(cJSON_GetObjectItem(answer, "alpha")->valuedouble > 1);
    const cJSON* sizes = cJSON_GetObjectItem(answer, "sizes_a");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(sizes, "alpha")), i == 0   ? 4
                                                                              : i == 1 ? 5
                                                                                       : 3);
    assert_null(cJSON_GetObjectItem(answer, "dalpha"));
    cJSON_Delete(answer);
    buf_free(&out);
  }
}

static void testRefused(void) {
  static const char* const bad[][2] = {
      {"{\"shape\":\"ball\"}", "a.shape"},
      {"{\"shape\":\"superellipsoid\",\"size\":[1,1],\"n\":1}", "a.size"},
      {"{\"shape\":\"smooth_capsule\",\"r\":0.5,\"h\":1}", "a.beta"},
      {"{\"shape\":\"smooth_capsule\",\"r\":0.5,\"h\":1,\"beta\":0.5}", "beta = 0.5"},
      {"3", "a"}};
  char message[200];
  for (int i = 0; i < 5; i++) {
    Buffer out = {0};
    assert_int_equal(ask(&out, message, bad[i][0], ""), EXIT_BAD_INPUT);
    if (!strstr(message, bad[i][1])) fail_msg("%s", message);
    assert_int_equal(out.size, 0);
    buf_free(&out);
  }
}

DJT_MAIN(testAnswers, testRefused)
