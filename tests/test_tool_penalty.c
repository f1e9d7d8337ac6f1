// Answers to queries of penalty contact: what is written, and that nothing is where one is refused.

#include "common/test.h"
#include "common/tool_case.h"
#include "contact_penalty.h"
#include "verbs.h"

static const char params[] = "{\"kn\":100,\"kt\":8,\"kd\":50,\"mu\":0.25,\"scale\":2}";
static const char points[] = "{\"points\":[[0.1,0.2,-0.03],[0,0,1]],\"origin\":[0,0,0],"
                             "\"twist\":[0,0,0,0.01,0,-0.2]}";
static const char floor_[] = "{\"geom\":\"plane\"}";

static int ask(Buffer* out, char message[200], const char* with, const char* a, const char* b,
               const char* more) {
  char text[900];
  snprintf(text, sizeof text, "{\"model\":\"penalty\",\"params\":%s,\"a\":%s,\"b\":%s%s}", with, a,
           b, more);
  cJSON* entry = cJSON_Parse(text);
  Json writer;
  assert_non_null(entry);
  message[0] = 0;
  json_start(&writer, out);
  const int status = answer_penalty(&writer, entry, message, 200);
  cJSON_Delete(entry);
  return status;
}

static double number(const cJSON* in, const char* key, int i) {
  const cJSON* list = cJSON_GetObjectItemCaseSensitive(in, key);
  return cJSON_IsArray(list) ? cJSON_GetArrayItem(list, i)->valuedouble : list->valuedouble;
}

static void testAnswer(void) {
  Buffer out = {0};
  char message[200];
  const char* lambda = ",\"lambda\":[0,0,0,0,0,1,0,0,0,0,0,0]";
  assert_int_equal(ask(&out, message, params, points, floor_, lambda), EXIT_DONE);
  cJSON* answer = cJSON_Parse(out.text);
  assert_non_null(answer);
  static const char* const keys[] = {"status",        "wrench_a",       "wrench_b", "points",
                                     "pose_jacobian", "twist_jacobian", "gradient"};
  assert_int_equal(cJSON_GetArraySize(answer), 7);
  for (int k = 0; k < 7; k++) assert_non_null(cJSON_GetObjectItemCaseSensitive(answer, keys[k]));
  assert_true(fabs(number(answer, "wrench_a", 5) - 6.6) < 1e-12);
  assert_true(fabs(number(answer, "wrench_b", 5) + 6.6) < 1e-12);
  const cJSON* list = cJSON_GetObjectItemCaseSensitive(answer, "points");
  assert_int_equal(cJSON_GetArraySize(list), 2);
  const cJSON *first = cJSON_GetArrayItem(list, 0), *second = cJSON_GetArrayItem(list, 1);
  assert_string_equal(cJSON_GetObjectItem(first, "state")->valuestring, "stick");
  assert_string_equal(cJSON_GetObjectItem(second, "state")->valuestring, "free");
  assert_true(number(first, "distance", 0) == -0.03 && number(first, "normal", 2) == 1);
  assert_true(fabs(number(first, "force", 0) + 0.16) < 1e-12);
  const cJSON* by = cJSON_GetObjectItemCaseSensitive(answer, "gradient");
  assert_true(fabs(number(by, "kn", 0) - 2 * 0.03) < 1e-12); // of the force along z
  assert_true(fabs(number(by, "kd", 0) - 2 * 0.03 * 0.2) < 1e-12);
  assert_true(number(by, "mu", 0) == 0 && number(by, "kt", 0) == 0);
  assert_true(fabs(number(by, "scale", 0) - 3.3) < 1e-12);
  const cJSON* row = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(by, "points"), 0);
  assert_true(fabs(cJSON_GetArrayItem(row, 2)->valuedouble + 2 * 110) < 1e-9);
  cJSON_Delete(answer);
  buf_free(&out);
}

// A cube of closed triangles, of which a face's normal is exact; as the box it answers the same,
// and its vertices have derivatives, which move with the face.
#define CORNERS "[[-1,-1,-1],[1,-1,-1],[-1,1,-1],[1,1,-1],[-1,-1,1],[1,-1,1],[-1,1,1],[1,1,1]]"
#define SIDES "[0,2,1],[1,2,3],[4,5,6],[5,7,6],[0,1,4],[1,5,4],[2,6,3],[3,6,7],[0,4,2],[2,4,6],"
static const char pose[] = "\"pose\":[0,0,-1,1,0,0,0]";

static cJSON* askMesh(const char* b, const char* more) {
  Buffer out = {0};
  char message[200], text[600];
  snprintf(text, sizeof text, "{%s,%s}", b, pose);
  const int status = ask(&out, message, params, points, text, more);
  if (status != EXIT_DONE) fail_msg("%s", message);
  cJSON* answer = cJSON_Parse(out.text);
  assert_non_null(answer);
  buf_free(&out);
  return answer;
}

static void testMesh(void) {
  const char* lambda = ",\"lambda\":[0,0,0,0,0,1,0,0,0,0,0,0]";
  cJSON* mesh = askMesh(
      "\"geom\":\"mesh\",\"vert\":" CORNERS ",\"triangles\":[" SIDES "[1,3,5],[3,7,5]]", lambda);
  cJSON* box = askMesh("\"geom\":\"box\",\"size\":[1,1,1]", lambda);
  const double error = number(mesh, "grid_error", 0);
  assert_true(error > 0 && error < 0.05);
  assert_null(cJSON_GetObjectItem(box, "grid_error"));
  for (int k = 0; k < 6; k++) {
    assert_true(fabs(number(mesh, "wrench_a", k) - number(box, "wrench_a", k)) < 1e-9);
    assert_true(fabs(number(mesh, "wrench_b", k) - number(box, "wrench_b", k)) < 1e-9);
  }
  const cJSON *by = cJSON_GetObjectItem(mesh, "gradient"),
              *of = cJSON_GetObjectItem(box, "gradient");
  assert_true(fabs(number(by, "kn", 0) - number(of, "kn", 0)) < 1e-9);
  assert_null(cJSON_GetObjectItem(of, "vert"));
  const cJSON* vert = cJSON_GetObjectItem(by, "vert");
  assert_int_equal(cJSON_GetArraySize(vert), 8);
  double sum[2] = {0, 0}; // along z, of those below and above
  for (int i = 0; i < 8; i++) {
    sum[i / 4] += cJSON_GetArrayItem(cJSON_GetArrayItem(vert, i), 2)->valuedouble;
  }
  assert_true(fabs(sum[0]) < 1e-9 && fabs(sum[1] - 2 * 110) < 1e-6);
  cJSON_Delete(mesh);
  cJSON_Delete(box);
}

static void testRefused(void) {
  const struct {
    const char *params, *a, *b, *more, *message;
  } bad[] = {{"{\"kt\":1}", points, floor_, "", "params.kn: missing"},
             {"{\"kn\":0}", points, floor_, "", "params.kn: must be positive"},
             {"{\"kn\":1,\"mu\":-1}", points, floor_, "", "params.mu: must not be negative"},
             {"{\"kn\":1,\"kx\":1}", points, floor_, "", "params.kx: unknown key"},
             {params, "{\"points\":[]}", floor_, "", "a.points"},
             {params, "{\"points\":[[1,2]]}", floor_, "", "a.points"},
             {params, points, "{\"geom\":\"mesh\"}", "", "b.vert"},
             {params, points, "{\"geom\":\"mesh\",\"vert\":" CORNERS "}", "", "b.triangles"},
             {params, points, "{\"geom\":\"mesh\",\"size\":[1]}", "", "b.size: unknown key"},
             {params, points, "{\"geom\":\"box\",\"vert\":[]}", "", "b.vert: unknown key"},
             {params, points, "{\"geom\":\"mesh\",\"vert\":" CORNERS ",\"triangles\":[[0,1,8]]}",
              "", "b.triangles: [0]: 8 is no vertex"},
             {params, points, "{\"geom\":\"mesh\",\"vert\":" CORNERS ",\"triangles\":[[0,1,0.5]]}",
              "", "b.triangles: [0]: 0.5 is no vertex"},
             {params, points,
              "{\"geom\":\"mesh\",\"vert\":" CORNERS ",\"triangles\":[" SIDES "[1,3,5]]}", "",
              "b.triangles: "},
             {params, points, "{\"geom\":\"cube\"}", "", "b.geom: unknown geom 'cube'"},
             {params, points, "{\"geom\":\"box\",\"size\":[1,1]}", "", "b.size"},
             {params, points, floor_, ",\"lambda\":[1]", "lambda"},
             {params, points, floor_, ",\"friction\":1", "friction: unknown key"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    Buffer out = {0};
    char message[200];
    const int status = ask(&out, message, bad[i].params, bad[i].a, bad[i].b, bad[i].more);
    assert_int_equal(status, EXIT_BAD_INPUT);
    if (strncmp(message, bad[i].message, strlen(bad[i].message)) != 0) fail_msg("%s", message);
    assert_true(!out.text || !out.text[0]);
    buf_free(&out);
  }
}

DJT_MAIN(testAnswer, testMesh, testRefused)
