// Connections of a task.

#include "base/status.h"
#include "gradient/problem.h"
#include "io/task_parse.h"
#include "io/task_resolve.h"
#include "math/vec.h"
#include "model/param.h"

#include <stdio.h>
#include <string.h>

// ---- first stage ------------------------------------------------------------------------------

static djStatus parsePoint(djTaskPoint* point, const cJSON* item, const djAt* at) {
  static const struct {
    const char* key;
    djObject object;
  } kinds[] = {{"geom", DJ_OBJ_GEOM}, {"site", DJ_OBJ_SITE}, {"body", DJ_OBJ_BODY},
               {"joint", DJ_OBJ_JOINT}, {"anchor", DJ_OBJ_JOINT}};
  static const char* const keys[] = {"geom", "site", "body", "joint", "anchor", "vertex", NULL};
  djStatus status = dj_jsonKeys(item, keys, at);
  int n = 0;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds && status == DJ_OK; k++) {
    const cJSON* c = dj_jsonGet(item, kinds[k].key);
    if (!c) continue;
    point->object = kinds[k].object;
    point->above = strcmp(kinds[k].key, "anchor") == 0;
    status = dj_jsonText(&point->name, c, at);
    n++;
  }
  if (status == DJ_OK && n != 1) status = dj_jsonFail(at, NULL, "must name one element");
  const cJSON* vertex = dj_jsonGet(item, "vertex");
  point->vertex = -1;
  if (status < 0 || !vertex) return status;
  status = dj_jsonInt(&point->vertex, vertex, at);
  if (status == DJ_OK && (point->object != DJ_OBJ_GEOM || point->vertex < 0)) {
    status = dj_jsonFail(at, "vertex", "must be that of a geom's mesh");
  }
  return status;
}

djStatus dj_parseConnect(djTask* task, const cJSON* list, djPool* pool, djError* err) {
  static const char* const keys[] = {"a", "b", NULL};
  djAt top = {err, ""};
  task->connect_auto = cJSON_IsString(list) && strcmp(list->valuestring, "auto") == 0;
  if (task->connect_auto) return DJ_OK;
  if (!cJSON_IsArray(list)) return dj_jsonFail(&top, "connect", "must be a list or \"auto\"");
  djTaskConnect* connect = dj_poolTake(pool, (size_t)cJSON_GetArraySize(list), sizeof *connect);
  if (!connect) return dj_failMemory(err);
  task->connect = connect;
  for (const cJSON* c = list->child; c; c = c->next) {
    char element[48];
    snprintf(element, sizeof element, "connect[%d]", task->nconnect);
    djAt at = {err, element};
    djTaskConnect* one = &connect[task->nconnect++];
    djStatus status = dj_jsonKeys(c, keys, &at);
    for (int k = 0; k < 2 && status == DJ_OK; k++) {
      const cJSON* point = dj_jsonGet(c, keys[k]);
      if (!point) return dj_jsonFail(&at, keys[k], "is missing");
      char place[64];
      snprintf(place, sizeof place, "%s: %s", element, keys[k]);
      djAt of = {err, place};
      if (k && cJSON_IsNull(point)) {
        one->b = (djTaskPoint){DJ_NOBJ, "", -1, false};
        continue;
      }
      status = parsePoint(k ? &one->b : &one->a, point, &of);
    }
    if (status < 0) return status;
  }
  return DJ_OK;
}

// ---- second stage -----------------------------------------------------------------------------

static void addPart(djConnect* c, const djModel* m, djField field, int id, int start,
                    const djMat3* factor, double sign) {
  djConnectPart* part = &c->part[c->npart];
  if (!dj_makeParam(&part->param, m, field, id)) return;
  part->start = start;
  for (int k = 0; k < 9; k++) part->factor[k] = sign * factor->m[k];
  c->npart++;
}

static bool isListed(const djProblem* p, djField field, int id) {
  for (int k = 0; k < p->nparam; k++) {
    if (p->param[k].field == (int)field && p->param[k].id == id) return true;
  }
  return false;
}

// A vertex is at geom_pos + R(geom_quat) vert.
static djStatus addVertex(djConnect* c, const djProblem* p, const djModel* m, int g,
                          const djTaskPoint* t, double sign, djError* err) {
  int mesh = m->geom_type[g] == DJ_MESH ? m->geom_mesh[g] : -1;
  if (mesh < 0 || t->vertex >= m->mesh_vertnum[mesh]) {
    return dj_fail(err, DJ_INVALID, "geom '%.100s' has no vertex %d", t->name, t->vertex);
  }
  if (isListed(p, DJ_FIELD_GEOM_QUAT, g)) {
    return dj_fail(err, DJ_INVALID, "geom '%.100s' may not turn", t->name);
  }
  djMat3 R = dju_quatToMat(dju_normalizeQuat(dju_loadQuat(m->geom_quat + 4 * g)));
  addPart(c, m, DJ_FIELD_MESH_VERT, mesh, 3 * t->vertex, &R, sign);
  return DJ_OK;
}

// An anchor is at body_pos + R(body_quat) jnt_pos in the parent.
static djStatus addAnchor(int* body, djConnect* c, const djProblem* p, const djModel* m, int joint,
                          double sign, djError* err) {
  int child = m->jnt_body[joint];
  djMat3 eye = dju_eye3();
  djMat3 R = dju_quatToMat(dju_normalizeQuat(dju_loadQuat(m->body_quat + 4 * child)));
  if (isListed(p, DJ_FIELD_BODY_QUAT, child) && isListed(p, DJ_FIELD_JOINT_POS, joint)) {
    return dj_fail(err, DJ_INVALID, "body '%.100s' may not turn", dj_id2name(m, DJ_OBJ_BODY, child));
  }
  *body = m->body_parent[child];
  addPart(c, m, DJ_FIELD_BODY_POS, child, 0, &eye, sign);
  addPart(c, m, DJ_FIELD_JOINT_POS, joint, 0, &R, sign);
  return DJ_OK;
}

// Adds a point; *body is that in whose frame it is.
static djStatus addPoint(int* body, djConnect* c, const djProblem* p, const djModel* m,
                         const djTaskPoint* t, double sign, djError* err) {
  int id = t->object == DJ_NOBJ ? -1 : dj_name2id(m, t->object, t->name);
  djMat3 eye = dju_eye3();
  djStatus status = DJ_OK;
  if (t->object == DJ_NOBJ) return DJ_OK;   // of the other one's body
  if (id < 0) return dj_fail(err, DJ_INVALID, "there is no element '%.100s'", t->name);
  switch (t->object) {
    case DJ_OBJ_GEOM:
      *body = m->geom_body[id];
      if (t->vertex >= 0) status = addVertex(c, p, m, id, t, sign, err);
      addPart(c, m, DJ_FIELD_GEOM_POS, id, 0, &eye, sign);
      return status;
    case DJ_OBJ_SITE:
      *body = m->site_body[id];
      addPart(c, m, DJ_FIELD_SITE_POS, id, 0, &eye, sign);
      return DJ_OK;
    case DJ_OBJ_JOINT:
      *body = m->jnt_body[id];
      if (t->above) return addAnchor(body, c, p, m, id, sign, err);
      addPart(c, m, DJ_FIELD_JOINT_POS, id, 0, &eye, sign);
      return DJ_OK;
    default:
      *body = id > 0 ? m->body_parent[id] : 0;
      addPart(c, m, DJ_FIELD_BODY_POS, id, 0, &eye, sign);
      return DJ_OK;
  }
}

static djStatus resolveOne(djConnect* c, const djTaskConnect* t, const djProblem* p,
                           const djModel* m, djError* err) {
  int body_a = -1, body_b = -1;
  djStatus status = addPoint(&body_a, c, p, m, &t->a, 1, err);
  if (status < 0) return dj_prefix(err, status, "a");
  status = addPoint(&body_b, c, p, m, &t->b, -1, err);
  if (status < 0) return dj_prefix(err, status, "b");
  if (body_a == body_b || t->b.object == DJ_NOBJ) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "'%.100s' and '%.100s' are not in the frame of one body",
                 t->a.name, t->b.name);
}

djStatus dj_resolveConnect(djProblem* p, const djTask* task, const djModel* m, djPool* pool,
                           djError* err) {
  const djTaskMemory* memory = task->memory;
  int n = task->connect_auto ? memory->nfound : task->nconnect;
  if (task->connect_auto && !memory->found) {
    return dj_fail(err, DJ_INVALID, "connect: \"auto\" needs dj_applySet first");
  }
  p->joined = task->connect_auto ? memory->connect : task->connect;
  p->connect = dj_poolTake(pool, (size_t)n, sizeof *p->connect);
  if (!p->connect) return dj_failMemory(err);
  for (; p->nconnect < n; p->nconnect++) {
    int i = p->nconnect;
    char element[32];
    snprintf(element, sizeof element, "connect[%d]", i);
    djStatus status = resolveOne(&p->connect[i], &p->joined[i], p, m, err);
    if (status < 0) return dj_prefix(err, status, element);
  }
  return DJ_OK;
}
