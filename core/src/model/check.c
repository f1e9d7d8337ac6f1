#include "model/check.h"

#include "base/status.h"
#include "model/element.h"
#include "model/joint_type.h"

#include <math.h>
#include <stdlib.h>
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

static bool isShare(double x) { return x > 0 && x < 1; }

const char* dj_impedanceProblem(const double limit[5]) {
  if (!isShare(limit[0]) || !isShare(limit[1])) return "limit_impedance is not in (0, 1)";
  if (!dj_allNonnegative(limit + 2, 1)) return "the width of limit_impedance is negative";
  if (!isShare(limit[3])) return "the midpoint of limit_impedance is not in (0, 1)";
  if (!(limit[4] >= 1 && isfinite(limit[4]))) return "the power of limit_impedance is below 1";
  return NULL;
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

// A free joint is alone on its body, and a body has at most six dofs.
static djStatus checkCombinations(const djModelDef* def, djError* err) {
  int dofs = 0;
  for (int i = 0; i < def->njnt; i++) {
    const djJointDef* j = &def->joint[i];
    bool first = i == 0 || def->joint[i - 1].body != j->body;
    dofs = first ? 0 : dofs;
    bool free_before = !first && dj_jointRows[def->joint[i - 1].type].pose;
    if (free_before || (!first && dj_jointRows[j->type].pose)) {
      return dj_fail(err, DJ_INVALID, "%s: a free joint cannot be combined with other joints",
                     dj_elementText("joint", j->name, i).text);
    }
    dofs += dj_jointNv((int)j->type);
    if (dofs > 6) {
      return dj_fail(err, DJ_INVALID, "%s: more than 6 degrees of freedom",
                     dj_elementText("body", def->body[j->body].name, j->body).text);
    }
  }
  return DJ_OK;
}

djStatus dj_checkTree(const djModelDef* def, djError* err) {
  djStatus status = dj_checkKind(def, DJ_OBJ_BODY, err);
  if (status == DJ_OK) status = dj_checkKind(def, DJ_OBJ_JOINT, err);
  return status == DJ_OK ? checkCombinations(def, err) : status;
}

// What moves with a body: its subtree's mass, sum of moments, and number of bodies with mass.
typedef struct djLoad {
  double mass, inertia;
  double least;      // sum of the smallest moments
  int nmassive;
} djLoad;

static const char* loadProblem(const djModel* m, int body, const djLoad* load) {
  int first = m->body_jntadr[body];
  for (int j = first; j < first + m->body_jntnum[body]; j++) {
    const djJointRow* row = dj_jointRow(m, j);
    if (m->jnt_armature[j] > 0) continue;
    if (load->mass <= 0) return "moves but has no mass";
    bool point = load->inertia <= 0 && load->nmassive < 2;
    if (point && row->quat) return "rotates but has no inertia";
    if (row->pose && load->least <= 0 && load->nmassive < 2) {
      return "rotates but has no inertia about one axis";
    }
  }
  return NULL;
}

djStatus dj_checkMasses(const djModel* m, djError* err) {
  djLoad* load = calloc((size_t)m->nbody, sizeof *load);
  if (!load) return dj_failMemory(err);
  djStatus status = DJ_OK;
  for (int b = m->nbody - 1; b > 0 && status == DJ_OK; b--) {
    const double* inertia = m->body_inertia + 3 * b;
    load[b].mass += m->body_mass[b];
    load[b].inertia += inertia[0] + inertia[1] + inertia[2];
    load[b].least += fmin(inertia[0], fmin(inertia[1], inertia[2]));
    load[b].nmassive += m->body_mass[b] > 0;
    const char* problem = loadProblem(m, b, &load[b]);
    if (problem) {
      status = dj_fail(err, DJ_INVALID, "%s: %s",
                       dj_elementText("body", dj_id2name(m, DJ_OBJ_BODY, b), b).text, problem);
    }
    djLoad* parent = &load[m->body_parent[b]];
    parent->mass += load[b].mass;
    parent->inertia += load[b].inertia;
    parent->least += load[b].least;
    parent->nmassive += load[b].nmassive;
  }
  free(load);
  return status;
}

djStatus dj_checkQpos(double* qpos, const djModel* model, djError* err) {
  for (int j = 0; j < model->njnt; j++) {
    double* q = qpos + model->jnt_qposadr[j];
    const djJointRow* row = dj_jointRow(model, j);
    double* quat = q + row->nplain;
    bool ok = dj_allFinite(q, dj_jointNq(model->jnt_type[j]));
    if (ok && row->quat) ok = dj_makeUnit(quat, quat, 4);
    const char* problem = dj_sizeProblem(q, row->nplain, DJ_LARGEST);
    if (!ok) problem = "coordinates are not finite or a quaternion is zero";
    else if (problem) problem = "a coordinate is larger than 1e20";
    if (problem) {
      return dj_fail(err, DJ_INVALID, "%s: %s",
                     dj_elementText("joint", dj_id2name(model, DJ_OBJ_JOINT, j), j).text, problem);
    }
  }
  return DJ_OK;
}

djStatus dj_checkQvel(const double* qvel, const djModel* model, djError* err) {
  for (int k = 0; k < model->nv; k++) {
    const char* problem = dj_sizeProblem(qvel + k, 1, DJ_LARGEST);
    if (!isfinite(qvel[k])) problem = "is not finite";
    if (!problem) continue;
    int j = model->dof_jnt[k];
    return dj_fail(err, DJ_INVALID, "%s: a velocity %s",
                   dj_elementText("joint", dj_id2name(model, DJ_OBJ_JOINT, j), j).text, problem);
  }
  return DJ_OK;
}

djStatus dj_checkNumbers(const double* v, int n, const char* what, djError* err) {
  for (int k = 0; k < n; k++) {
    const char* problem = dj_sizeProblem(v + k, 1, DJ_LARGEST);
    if (!isfinite(v[k])) problem = "is not finite";
    if (problem) return dj_fail(err, DJ_INVALID, "%s[%d] %s", what, k, problem);
  }
  return DJ_OK;
}
