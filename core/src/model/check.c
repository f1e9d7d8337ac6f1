#include "model/check.h"

#include "base/status.h"
#include "model/element.h"
#include "model/joint_type.h"

#include <math.h>
#include <stdlib.h>

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

// Bodies of the geoms of flexes have no others, and theirs are together.
static djStatus checkProxies(const djModelDef* def, djError* err) {
  if (def->ngeom == 0 || def->geom[def->ngeom - 1].flex < 0) return DJ_OK;
  bool* taken = calloc((size_t)def->nbody, sizeof *taken);
  if (!taken) return dj_failMemory(err);
  djStatus status = DJ_OK;
  for (int i = 0; i < def->ngeom && status == DJ_OK; i++) {
    const djGeomDef* g = &def->geom[i];
    bool follows = i > 0 && def->geom[i - 1].body == g->body && def->geom[i - 1].flex >= 0;
    if (g->flex >= 0 && taken[g->body] && !follows) {
      status = dj_fail(err, DJ_INVALID, "%s: its body has other geoms, or those of flexes are apart",
                       dj_elementText("geom", g->name, i).text);
    }
    taken[g->body] = true;
  }
  free(taken);
  return status;
}

djStatus dj_checkElements(const djModelDef* def, djError* err) {
  static const int kinds[] = {DJ_OBJ_MESH,        DJ_OBJ_HFIELD,    DJ_OBJ_SITE,
                              DJ_OBJ_TENDON,      DJ_OBJ_ACTUATOR,  DJ_OBJ_PAIR,
                              DJ_ELEMENT_EXCLUDE, DJ_ELEMENT_GUIDE, DJ_OBJ_EQUALITY};
  djStatus status = dj_checkKind(def, DJ_OBJ_GEOM, err);
  if (status == DJ_OK) status = checkProxies(def, err);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds && status == DJ_OK; k++) {
    status = dj_checkKind(def, kinds[k], err);
  }
  return status;
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
