#include "state_file.h"

#include "json_in.h"
#include "json_out.h"
#include "output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// All n numbers of a member, which may be left out where there are none.
static void read_numbers(Reader* r, const cJSON* object, const char* path, const char* key, int n,
                         double* value) {
  if (n == 0 && !cJSON_GetObjectItemCaseSensitive(object, key)) return;
  if (read_list(r, object, path, key, true)) read_vector(r, object, path, key, n, n, value);
}

// Numbers as those of all other inputs: none is so large that products overflow, and no quaternion
// is zero.
static void check_state(Reader* r, const djModel* m, const char* path, const double* qpos,
                        const double* qvel) {
  char key[32];
  for (int i = 0; i < m->nq + m->nv && !r->failed; i++) {
    const bool speed = i >= m->nq;
    const int k = speed ? i - m->nq : i;
    snprintf(key, sizeof key, "%s[%d]", speed ? "qvel" : "qpos", k);
    if (fabs(speed ? qvel[k] : qpos[k]) > 1e20) read_fail(r, path, key, "is larger than 1e20");
  }
  for (int j = 0; j < m->njnt && !r->failed; j++) {
    if (m->jnt_type[j] != DJ_FREE && m->jnt_type[j] != DJ_BALL) continue;
    const int from = m->jnt_qposadr[j] + (m->jnt_type[j] == DJ_FREE ? 3 : 0);
    const double* q = qpos + from;
    snprintf(key, sizeof key, "qpos[%d]", from);
    if (q[0] != 0 || q[1] != 0 || q[2] != 0 || q[3] != 0) continue;
    read_fail(r, path, key, "the quaternion of joint '%.60s' is zero",
              dj_id2name(m, DJ_OBJ_JOINT, j));
  }
}

static void read_history(Reader* r, const cJSON* root, Inputs* in) {
  static const char* const keys[] = {"qpos", "qvel", NULL};
  const djModel* m = in->model;
  const cJSON* item = cJSON_GetObjectItemCaseSensitive(root, "history");
  if (r->failed || !item || cJSON_IsNull(item)) return;
  const cJSON* history = read_object(r, root, "", "history", true);
  if (!history || !read_keys(r, history, "history", keys)) return;
  in->history_qpos = tool_alloc((size_t)m->nq, sizeof(double));
  in->history_qvel = tool_alloc((size_t)m->nv, sizeof(double));
  read_numbers(r, history, "history", "qpos", m->nq, in->history_qpos);
  read_numbers(r, history, "history", "qvel", m->nv, in->history_qvel);
  check_state(r, m, "history", in->history_qpos, in->history_qvel);
}

int state_read(Inputs* in, const Options* o) {
  static const char* const keys[] = {"qpos", "qvel", "act", "history", NULL};
  char message[256];
  cJSON* root = read_json(o->state, message, sizeof message);
  if (!root) return tool_fail(o->verb, o->state, NULL, "%s", message);
  Reader r = {0};
  const djModel* m = in->model;
  if (!cJSON_IsObject(root))
    read_fail(&r, "", NULL, "expected an object");
  else if (read_keys(&r, root, "", keys)) {
    read_numbers(&r, root, "", "qpos", m->nq, in->qpos);
    read_numbers(&r, root, "", "qvel", m->nv, in->qvel);
    read_numbers(&r, root, "", "act", m->na, in->act);
    check_state(&r, m, "", in->qpos, in->qvel);
    read_history(&r, root, in);
  }
  cJSON_Delete(root);
  if (!r.failed) return 0;
  return tool_fail(o->verb, o->state, *r.element ? r.element : NULL, "%s", r.message);
}

void state_write(djFile* file, const Engine* e) {
  const djModel* m = e->model;
  double* history = tool_alloc((size_t)m->nq + (size_t)m->nv, sizeof *history);
  double* qvel = history + m->nq;
  Buffer text = {0};
  Json out;
  json_start(&out, &text);
  json_object(&out, NULL);
  json_vector(&out, "qpos", (size_t)m->nq, e->qpos);
  json_vector(&out, "qvel", (size_t)m->nv, e->qvel);
  json_vector(&out, "act", (size_t)m->na, e->act);
  if (e->own && dj_getHistory(history, qvel, m, e->own)) {
    json_object(&out, "history");
    json_vector(&out, "qpos", (size_t)m->nq, history);
    json_vector(&out, "qvel", (size_t)m->nv, qvel);
    json_end(&out);
  } else {
    json_null(&out, "history");
  }
  json_end(&out);
  out_write(file, &text);
  dj_printFile(file, "\n");
  buf_free(&text);
  free(history);
}
