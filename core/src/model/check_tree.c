// What is wrong with a body or a joint of a definition.

#include "model/check.h"
#include "model/element.h"
#include "model/joint_type.h"

#include <string.h>

const char* dj_bodyBefore(const djModelDef* def, int i) {
  static const double identity[4] = {1, 0, 0, 0}, zero[3] = {0, 0, 0};
  const djBodyDef* b = &def->body[i];
  if (i > 0) {
    if (b->parent < 0 || b->parent >= i) return "parent must be an earlier body";
    return b->mocap && b->parent != 0 ? "a mocap body must be a child of the world" : NULL;
  }
  if (b->parent != 0) return "the world has no parent";
  if (memcmp(b->quat, identity, sizeof identity) || memcmp(b->pos, zero, sizeof zero)) {
    return "the world's frame must be the identity";
  }
  return b->mocap ? "the world cannot be mocap" : NULL;
}

const char* dj_bodyAfter(const djModelDef* def, int i) {
  bool good = dj_inertiaOk(def->body[i].inertia);
  return good ? NULL : "a moment of inertia is larger than the sum of the other two";
}

const char* dj_jointBefore(const djModelDef* def, int i) {
  const djJointDef* j = &def->joint[i];
  if (!dj_isChoice(dj_jointNames, (int)j->type)) return "unknown type";
  if (j->body == 0) return "the world cannot have joints";
  if (j->body < 0 || j->body >= def->nbody) return "its body does not exist";
  if (def->body[j->body].mocap) return "a mocap body cannot have joints";
  if (i > 0 && j->body < def->joint[i - 1].body) {
    return "joints must be listed in the order of their bodies";
  }
  return j->limited && dj_jointRows[j->type].pose ? "a free joint has no limits" : NULL;
}

const char* dj_jointAfter(const djModelDef* def, int i) {
  const djJointDef* j = &def->joint[i];
  const char* problem = dj_impedanceProblem(j->limit_impedance);
  if (problem || !dj_jointRows[j->type].pose || def->body[j->body].parent == 0) return problem;
  return "a free joint must be on a child of the world";
}
