#include "io/pattern.h"

#include "base/status.h"
#include "model/param.h"

#include <stdio.h>
#include <string.h>

static djStatus takeNames(const char*** names, int n, djPool* pool, djError* err) {
  *names = dj_poolTake(pool, (size_t)n, sizeof **names);
  return *names ? DJ_OK : dj_failMemory(err);
}

static djStatus expandParam(const char*** names, int* n, const djModel* m, const char* name,
                            djPool* pool, djError* err) {
  int count = dj_matchParams(NULL, 0, m, name, err);
  if (count < 0) return (djStatus)count;
  djParam* param = dj_poolTake(pool, (size_t)count, sizeof *param);
  djStatus status = takeNames(names, count, pool, err);
  if (status < 0 || !param) return dj_failMemory(err);
  dj_matchParams(param, count, m, name, NULL);
  for (int i = 0; i < count; i++) {
    size_t size = dj_paramNameSize(m, &param[i]);
    char* text = dj_poolTake(pool, size, 1);
    if (!text) return dj_failMemory(err);
    (*names)[i] = dj_paramName(text, size, m, &param[i]);
  }
  *n = count;
  return DJ_OK;
}

// "qpos0[joint/" and "]" around a pattern of joints.
static djStatus expandJoint(const char*** names, int* n, const djModel* m, const char* name,
                            djPool* pool, djError* err) {
  const char* pattern = strchr(name, '/') + 1;
  size_t length = strlen(pattern) - 1;
  int count = 0;
  for (int j = 0; j < m->njnt; j++) {
    count += dj_matches(pattern, length, dj_id2name(m, DJ_OBJ_JOINT, j));
  }
  if (count == 0) {
    char what[400] = "";
    dj_listElements(what, sizeof what, m, DJ_OBJ_JOINT);
    return dj_fail(err, DJ_INVALID, "'%.100s': no joint is called like that%s", name, what);
  }
  djStatus status = takeNames(names, count, pool, err);
  if (status < 0) return status;
  for (int j = 0; j < m->njnt; j++) {
    const char* joint = dj_id2name(m, DJ_OBJ_JOINT, j);
    if (!dj_matches(pattern, length, joint)) continue;
    size_t size = strlen(joint) + 40;
    char* text = dj_poolTake(pool, size, 1);
    if (!text) return dj_failMemory(err);
    int start = (int)(pattern - name);
    if (joint[0]) snprintf(text, size, "%.*s%s]", start, name, joint);
    else snprintf(text, size, "%.*s#%d]", start, name, j);
    (*names)[(*n)++] = text;
  }
  return DJ_OK;
}

static bool isOfJoint(const djModel* m, const char* name) {
  size_t n = strlen(name);
  bool part = strncmp(name, "qpos0[joint/", 12) == 0 || strncmp(name, "qvel0[joint/", 12) == 0;
  if (!part || name[n - 1] != ']') return false;
  for (int j = 0; j < m->njnt; j++) {   // a joint may be called so
    const char* joint = dj_id2name(m, DJ_OBJ_JOINT, j);
    if (strlen(joint) == n - 13 && strncmp(joint, name + 12, n - 13) == 0) return false;
  }
  return true;
}

djStatus dj_expandName(const char* const** names, int* n, const djModel* m, const char* name,
                       djPool* pool, djError* err) {
  const char** list = NULL;
  djParam param;
  djStatus status = DJ_OK;
  *n = 0;
  bool plain = !strchr(name, '*') || dj_paramId(&param, m, name, NULL) == DJ_OK;
  if (!plain && isOfJoint(m, name)) {
    status = expandJoint(&list, n, m, name, pool, err);
  } else if (!plain && (strchr(name, '/') || !strcmp(name, "*")) && !strchr(name, '[')) {
    status = expandParam(&list, n, m, name, pool, err);
  } else {
    status = takeNames(&list, 1, pool, err);
    if (status == DJ_OK) list[(*n)++] = name;
  }
  *names = list;
  return status;
}
