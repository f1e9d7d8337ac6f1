// Where a child hangs, and whether links that are tied to that place have it in them.

#include "io/task_attach.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void dj_placeOfHanging(djVec3* own, djVec3* above, const djModel* m, int body, int joint) {
  const djPose pose = {dju_load3(m->body_pos + 3 * body),
                       dju_quatToMat(dju_normalizeQuat(dju_loadQuat(m->body_quat + 4 * body)))};
  *own = joint >= 0 ? dju_load3(m->jnt_pos + 3 * joint) : dju_vec3(0, 0, 0);
  *above = dju_transform(&pose, *own);
}

bool dj_linkHolds(double* depth, const djModel* m, const djBodyPart* part, int body, djVec3 x) {
  bool held = false;
  *depth = -INFINITY;
  for (int g = m->body_geomadr[body]; g < m->body_geomadr[body] + m->body_geomnum[body]; g++) {
    if (!part[g].plane) continue;
    double one = dj_depthIn(&part[g], x);
    held |= one >= dj_partTolerance(&part[g]);
    *depth = fmax(*depth, one);
  }
  return held;
}

static const char* nameOf(char text[64], const djModel* m, djObject object, int id) {
  const char* name = dj_id2name(m, object, id);
  if (name && *name)
    snprintf(text, 64, "%.60s", name);
  else
    snprintf(text, 64, "#%d", id);
  return text;
}

djStatus dj_failOutside(const djModel* m, int body, int joint, int link, double depth,
                        djError* err) {
  char what[64], name[64];
  nameOf(what, m, joint >= 0 ? DJ_OBJ_JOINT : DJ_OBJ_BODY, joint >= 0 ? joint : body);
  return dj_fail(err, DJ_INVALID, "%s '%s' is outside of body '%s' by %.3g m",
                 joint >= 0 ? "joint" : "the frame of body", what,
                 nameOf(name, m, DJ_OBJ_BODY, link), -depth);
}

djStatus dj_failOutsideBoth(const djModel* m, int body, djError* err) {
  char child[64], parent[64];
  return dj_fail(err, DJ_INVALID, "where body '%s' hangs is outside of it and of body '%s'",
                 nameOf(child, m, DJ_OBJ_BODY, body),
                 nameOf(parent, m, DJ_OBJ_BODY, m->body_parent[body]));
}

// ---- listed connections -------------------------------------------------------------------------

// The child whose place a point is, and the joint there; -1: it is none.
static int childOf(int* joint, const djModel* m, const djTaskPoint* p) {
  bool is = p->object == DJ_OBJ_BODY || p->object == DJ_OBJ_JOINT;
  int id = is ? dj_name2id(m, p->object, p->name) : -1, body = id;
  *joint = -1;
  if (id < 0) return -1;
  if (p->object == DJ_OBJ_JOINT) {
    *joint = id;
    body = m->jnt_body[id];
  } else if (m->body_jntnum[id] > 0) {
    *joint = m->body_jntadr[id];
  }
  return body;
}

// What has no volume holds nothing.
static djStatus makeParts(djBodyPart* part, const djModel* m, int body, djError* err) {
  for (int g = m->body_geomadr[body]; g < m->body_geomadr[body] + m->body_geomnum[body]; g++) {
    if (part[g].plane || !dj_isPart(m, g)) continue;
    djError why;
    djStatus status = dj_makePart(&part[g], m, g, &why);
    if (status == DJ_NO_MEMORY) return dj_failMemory(err);
    if (status < 0) dj_freePart(&part[g]);
  }
  return DJ_OK;
}

// A geom's point tied to where a child hangs: the geom's link is to have that place in it. The
// world is no link. What is not as it should be else is told when connections are resolved.
static djStatus checkOne(djBodyPart* part, const djModel* m, const djTaskPoint* geom,
                         const djTaskPoint* place, djError* err) {
  int joint, child = childOf(&joint, m, place);
  int g = geom->object == DJ_OBJ_GEOM ? dj_name2id(m, DJ_OBJ_GEOM, geom->name) : -1;
  if (child <= 0 || g < 0) return DJ_OK;
  int parent = m->body_parent[child], link = m->geom_body[g];
  if (parent == 0 || m->body_mocap[child] >= 0 || (link != child && link != parent)) return DJ_OK;
  djVec3 own, above;
  double depth, other = -INFINITY;
  djStatus status = makeParts(part, m, child, err);
  if (status == DJ_OK) status = makeParts(part, m, parent, err);
  if (status < 0) return status;
  dj_placeOfHanging(&own, &above, m, child, joint);
  if (dj_linkHolds(&depth, m, part, link, link == child ? own : above)) return DJ_OK;
  if (isinf(depth)) return DJ_OK; // nothing of it has a shape
  bool held = link == child ? dj_linkHolds(&other, m, part, parent, above)
                            : dj_linkHolds(&other, m, part, child, own);
  if (!held && isfinite(other)) return dj_failOutsideBoth(m, child, err);
  return dj_failOutside(m, child, joint, link, depth, err);
}

djStatus dj_checkAttachments(const djModel* m, const djTask* task, djError* err) {
  djBodyPart* part = calloc((size_t)m->ngeom + 1, sizeof *part);
  djStatus status = part ? DJ_OK : dj_failMemory(err);
  for (int i = 0; i < task->nconnect && status == DJ_OK; i++) {
    const djTaskConnect* c = &task->connect[i];
    status = checkOne(part, m, &c->a, &c->b, err);
    if (status == DJ_OK) status = checkOne(part, m, &c->b, &c->a, err);
    char element[32];
    snprintf(element, sizeof element, "connect[%d]", i);
    if (status < 0) dj_prefix(err, status, element);
  }
  for (int g = 0; g < m->ngeom && part; g++) dj_freePart(&part[g]);
  free(part);
  return status;
}
