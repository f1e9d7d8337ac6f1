// Answers to queries of damped contact: what is written, and that nothing is where one is refused.

#include "common/tool_case.h"
#include "contact_damped.h"
#include "verbs.h"

static int ask(Buffer* out, char message[200], const char* params, const char* b,
               const char* more) {
  char text[900];
  snprintf(text, sizeof text,
           "{\"model\":\"damped\",\"params\":%s,\"a\":{\"points\":[[0.1,0.2,0.03],[0,0,1]],"
           "\"origin\":[0,0,0]},\"b\":%s%s}",
           params, b, more);
  cJSON* entry = cJSON_Parse(text);
  Json writer;
  assert_non_null(entry);
  message[0] = 0;
  json_start(&writer, out);
  const int status = answer_damped(&writer, entry, message, 200);
  cJSON_Delete(entry);
  return status;
}

static double number(const cJSON* in, const char* key, int i) {
  const cJSON* list = cJSON_GetObjectItemCaseSensitive(in, key);
  return cJSON_IsArray(list) ? cJSON_GetArrayItem(list, i)->valuedouble : list->valuedouble;
}

// The first point ends .02 above the floor, and closes at 1 m/s: alpha T is 5 ms.
static void testAnswer(void** state) {
  (void)state;
  Buffer out = {0};
  char message[200];
  const char* motion = ",\"dt\":0.01,\"motion_a\":[0,0,0,0,0,-0.01]";
  assert_int_equal(
      ask(&out, message, "{\"sigma\":0.3,\"alpha\":0.5}", "{\"geom\":\"plane\"}", motion),
      EXIT_DONE);
  cJSON* answer = cJSON_Parse(out.text);
  assert_non_null(answer);
  const cJSON* list = cJSON_GetObjectItemCaseSensitive(answer, "points");
  assert_int_equal(cJSON_GetArraySize(list), 2);
  const cJSON* first = cJSON_GetArrayItem(list, 0);
  assert_true(fabs(number(first, "gap", 0) - 0.02) < 1e-15);
  assert_true(fabs(number(first, "gap_damped", 0) - 0.015) < 1e-15);
  assert_true(number(first, "normal", 2) == 1);
  assert_true(fabs(number(first, "force", 2) - 20) < 1e-10);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(first, "hessian")), 3);
  assert_true(fabs(number(answer, "wrench_a", 5) - 20 - 0.3 / 0.985) < 1e-10);
  assert_true(fabs(number(answer, "wrench_b", 5) + 20 + 0.3 / 0.985) < 1e-10);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(answer, "pose_jacobian")), 12);
  cJSON_Delete(answer);
  buf_free(&out);
}

static void testRefused(void** state) {
  (void)state;
  static const char* const bad[][4] = {
      {"{\"sigma\":0}", "{\"geom\":\"plane\"}", ",\"dt\":0.01", "params: sigma"},
      {"{\"alpha\":-1}", "{\"geom\":\"plane\"}", ",\"dt\":0.01", "params: alpha"},
      {"{\"alpha\":1,\"damping_time\":1}", "{\"geom\":\"plane\"}", ",\"dt\":0.01", "damping_time"},
      {"{\"law\":\"hertz\"}", "{\"geom\":\"plane\"}", ",\"dt\":0.01", "law"},
      {"{}", "{\"geom\":\"plane\"}", "", "dt"},
      {"{}", "{\"geom\":\"plane\"}", ",\"dt\":0", "dt"},
      {"{}", "{\"geom\":\"mesh\"}", ",\"dt\":0.01", "b"},
      {"{}", "{\"geom\":\"sphere\",\"size\":[0.5]}", ",\"dt\":0.01", "points[0]: its damped gap"}};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    Buffer out = {0};
    char message[200];
    assert_int_equal(ask(&out, message, bad[k][0], bad[k][1], bad[k][2]), EXIT_BAD_INPUT);
    if (!strstr(message, bad[k][3])) fail_msg("%zu: %s", k, message);
    buf_free(&out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testAnswer), cmocka_unit_test(testRefused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
