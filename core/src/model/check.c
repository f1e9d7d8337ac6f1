#include "model/check.h"

#include "base/status.h"
#include "model/joint_type.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static djStatus checkBody(const djBodyDef* b, int i, djError* err) {
  double unit[4];
  const char* problem = NULL;
  if (i == 0) {
    static const double identity[4] = {1, 0, 0, 0}, zero[3] = {0, 0, 0};
    if (b->parent != 0) problem = "the world has no parent";
    else if (memcmp(b->quat, identity, sizeof identity) || memcmp(b->pos, zero, sizeof zero)) {
      problem = "the world's frame must be the identity";
    } else if (b->mocap) problem = "the world cannot be mocap";
  } else if (b->parent < 0 || b->parent >= i) {
    problem = "parent must be an earlier body";
  } else if (b->mocap && b->parent != 0) {
    problem = "a mocap body must be a child of the world";
  }
  if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", dj_elementText("body", b->name, i).text,
                              problem);
  if (!dj_allFinite(b->pos, 3)) problem = "pos is not finite";
  else if (!dj_makeUnit(unit, b->quat, 4)) problem = "quat is zero or not finite";
  else if (!dj_allFinite(b->ipos, 3)) problem = "ipos is not finite";
  else if (!dj_makeUnit(unit, b->iquat, 4)) problem = "iquat is zero or not finite";
  else if (!dj_allNonnegative(&b->mass, 1)) problem = "mass is negative or not finite";
  else if (!dj_allNonnegative(b->inertia, 3)) problem = "inertia is negative or not finite";
  else if (!dj_inertiaOk(b->inertia)) {
    problem = "a moment of inertia is larger than the sum of the other two";
  } else if (!isfinite(b->gravcomp)) problem = "gravcomp is not finite";
  if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", dj_elementText("body", b->name, i).text,
                              problem);
  return DJ_OK;
}

// Reference coordinates: a ball's or free joint's quaternion may be zero (not given).
static const char* coordinateProblem(const djJointDef* j, const double* q, const char* problem) {
  return dj_allFinite(q, dj_jointNq((int)j->type)) ? NULL : problem;
}

static bool isShare(double x) { return x > 0 && x < 1; }

const char* dj_impedanceProblem(const double limit[5], double loss_damping, double loss) {
  if (!isShare(limit[0]) || !isShare(limit[1])) return "limit_impedance is not in (0, 1)";
  if (!dj_allNonnegative(limit + 2, 1)) return "the width of limit_impedance is negative";
  if (!isShare(limit[3])) return "the midpoint of limit_impedance is not in (0, 1)";
  if (!(limit[4] >= 1 && isfinite(limit[4]))) return "the power of limit_impedance is below 1";
  if (!dj_allNonnegative(&loss_damping, 1)) return "frictionloss_damping is negative";
  if (!isShare(loss)) return "frictionloss_impedance is not in (0, 1)";
  return NULL;
}

static const char* jointProblem(const djJointDef* j) {
  double unit[3];
  const djJointRow* row = &dj_jointRows[j->type];
  bool scalar = dj_isScalarJoint((int)j->type);
  const char* problem;
  if (!dj_allFinite(j->pos, 3)) return "pos is not finite";
  if (scalar && !dj_makeUnit(unit, j->axis, 3)) return "axis is zero or not finite";
  if (!dj_allFinite(j->axis, 3)) return "axis is not finite";
  if ((problem = coordinateProblem(j, j->qpos0, "qpos0 is not finite"))) return problem;
  if ((problem = coordinateProblem(j, j->springref, "springref is not finite"))) return problem;
  if (!dj_allNonnegative(&j->stiffness, 1)) return "stiffness is negative or not finite";
  if (!dj_allFinite(j->stiffnesspoly, 2)) return "stiffnesspoly is not finite";
  if (!dj_allNonnegative(&j->damping, 1)) return "damping is negative or not finite";
  if (!dj_allFinite(j->dampingpoly, 2)) return "dampingpoly is not finite";
  if (!dj_allNonnegative(&j->armature, 1)) return "armature is negative or not finite";
  if (!dj_allNonnegative(&j->frictionloss, 1)) return "frictionloss is negative or not finite";
  if (j->limited && row->pose) return "a free joint has no limits";
  if (j->limited && row->quat && !(isfinite(j->range[1]) && j->range[1] > 0)) {
    return "range of a ball joint must end at a positive angle";
  }
  if (!isfinite(j->margin)) return "margin is not finite";
  if (!dj_allNonnegative(&j->limit_stiffness, 1)) return "limit_stiffness is negative";
  if (!dj_allNonnegative(&j->limit_damping, 1)) return "limit_damping is negative";
  problem = dj_impedanceProblem(j->limit_impedance, j->frictionloss_damping,
                                j->frictionloss_impedance);
  if (problem) return problem;
  if (j->actfrclimited && !scalar) return "actfrcrange is for slide and hinge joints only";
  return NULL;
}

static djStatus checkJoint(const djModelDef* def, int i, djError* err) {
  const djJointDef* j = &def->joint[i];
  djElementText element = dj_elementText("joint", j->name, i);
  const char* problem = NULL;
  if (!dj_isChoice(dj_jointNames, (int)j->type)) problem = "unknown type";
  else if (j->body == 0) problem = "the world cannot have joints";
  else if (j->body < 0 || j->body >= def->nbody) problem = "its body does not exist";
  else if (def->body[j->body].mocap) problem = "a mocap body cannot have joints";
  else if (i > 0 && j->body < def->joint[i - 1].body) {
    problem = "joints must be listed in the order of their bodies";
  } else problem = jointProblem(j);
  if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", element.text, problem);

  const djJointRow* row = &dj_jointRows[j->type];
  problem = dj_rangeProblem(j->range, j->limited && !row->quat);
  if (problem) return dj_fail(err, DJ_INVALID, "%s: range %s", element.text, problem);
  problem = dj_rangeProblem(j->actfrcrange, j->actfrclimited);
  if (problem) return dj_fail(err, DJ_INVALID, "%s: actfrcrange %s", element.text, problem);

  if (row->pose && def->body[j->body].parent != 0) {
    return dj_fail(err, DJ_INVALID, "%s: a free joint must be on a child of the world",
                   element.text);
  }
  return DJ_OK;
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
  for (int i = 0; i < def->nbody; i++) {
    djStatus status = checkBody(&def->body[i], i, err);
    if (status < 0) return status;
  }
  for (int i = 0; i < def->njnt; i++) {
    djStatus status = checkJoint(def, i, err);
    if (status < 0) return status;
  }
  return checkCombinations(def, err);
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
