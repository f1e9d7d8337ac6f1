// Variables of a task.

#include "base/status.h"
#include "gradient/problem.h"
#include "io/pattern.h"
#include "io/task_resolve.h"
#include "model/joint_type.h"

#include <math.h>
#include <string.h>

// ---- names ------------------------------------------------------------------------------------

// "qpos0[joint/N]" with the given start "qpos0[joint/": the joint N. -1: not of this form;
// -2: no such joint.
static int jointOf(const djModel* m, const char* name, const char* start, djPool* pool) {
  size_t n = strlen(name), k = strlen(start);
  if (n < k + 1 || strncmp(name, start, k) != 0 || name[n - 1] != ']') return -1;
  char* joint = dj_poolText(pool, name + k);
  if (!joint) return -2;
  joint[n - k - 1] = 0;
  int id = dj_name2id(m, DJ_OBJ_JOINT, joint);
  return id >= 0 ? id : -2;
}

static void setWhole(djVariable* v, djVariableKind kind, int nvalue, int ntangent) {
  v->kind = kind;
  v->nvalue = nvalue;
  v->ntangent = ntangent;
}

static void setJoint(djVariable* v, const djModel* m, djVariableKind kind, int joint) {
  int type = m->jnt_type[joint];
  v->kind = kind;
  v->joint = joint;
  v->ntangent = dj_jointNv(type);
  v->adr = m->jnt_dofadr[joint];
  bool qpos = kind == DJ_VAR_QPOS0_JOINT;
  v->nvalue = qpos ? dj_jointNq(type) : v->ntangent;
  v->valueadr = qpos ? m->jnt_qposadr[joint] : v->adr;
}

// A parameter, listed once however often it is named.
static djStatus setParam(djVariable* v, djProblem* p, const djModel* m, djPool* pool,
                         djError* err) {
  djParam param;
  djStatus status = dj_paramId(&param, m, v->name, err);
  if (status == DJ_OK) status = dj_listParam(&v->param, p, &param, pool, err);
  if (status < 0) return status;
  v->kind = DJ_VAR_PARAM;
  v->adr = dj_paramTangentAdr(p, v->param);
  v->nvalue = param.nvalue;
  v->ntangent = param.ntangent;
  return DJ_OK;
}

// Of the start's history, which must be there, and count.
static djStatus setHistory(djVariable* v, const djProblem* p, const djModel* m, djError* err) {
  if (strcmp(v->name, "history_qpos0") == 0) setWhole(v, DJ_VAR_HISTORY_QPOS0, m->nq, m->nv);
  else if (strcmp(v->name, "history_qvel0") == 0) setWhole(v, DJ_VAR_HISTORY_QVEL0, m->nv, m->nv);
  else return dj_fail(err, DJ_INVALID, "there is no variable '%.100s'", v->name);
  if (dj_tangentSize(m) == 2 * m->nv + m->na) {
    return dj_fail(err, DJ_INVALID, "'%.100s': integrator '%s' keeps no history", v->name,
                   dj_integratorName(m->opt.integrator));
  }
  if (p->history_qpos0) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "'%.100s': initial has no history", v->name);
}

static djStatus setKind(djVariable* v, djProblem* p, int horizon, const djModel* m, djPool* pool,
                        djError* err) {
  v->joint = v->param = v->free = -1;
  for (int i = 0; i < p->nfree; i++) {
    if (strcmp(p->free[i].name, v->name) != 0) continue;
    v->free = i;
    setWhole(v, DJ_VAR_FREE, p->free[i].n, p->free[i].n);
    return DJ_OK;
  }
  int nctrl = horizon * m->nu;
  int qpos_joint = jointOf(m, v->name, "qpos0[joint/", pool);
  int qvel_joint = jointOf(m, v->name, "qvel0[joint/", pool);
  if (qpos_joint == -2 || qvel_joint == -2) {
    return dj_fail(err, DJ_INVALID, "'%.100s': there is no such joint", v->name);
  }
  if (strcmp(v->name, "ctrl") == 0) setWhole(v, DJ_VAR_CTRL, nctrl, nctrl);
  else if (strcmp(v->name, "qpos0") == 0) setWhole(v, DJ_VAR_QPOS0, m->nq, m->nv);
  else if (strcmp(v->name, "qvel0") == 0) setWhole(v, DJ_VAR_QVEL0, m->nv, m->nv);
  else if (strcmp(v->name, "act0") == 0) setWhole(v, DJ_VAR_ACT0, m->na, m->na);
  else if (strncmp(v->name, "history_", 8) == 0) return setHistory(v, p, m, err);
  else if (qpos_joint >= 0) setJoint(v, m, DJ_VAR_QPOS0_JOINT, qpos_joint);
  else if (qvel_joint >= 0) setJoint(v, m, DJ_VAR_QVEL0_JOINT, qvel_joint);
  else if (!strchr(v->name, '/')) {
    return dj_fail(err, DJ_INVALID, "there is no variable '%.100s'", v->name);
  } else return setParam(v, p, m, pool, err);
  return DJ_OK;
}

// ---- entries ----------------------------------------------------------------------------------

static djStatus setIndex(djVariable* v, const djTaskVariable* t, djPool* pool, djError* err) {
  v->picked = t->nindex >= 0;
  v->n = v->picked ? t->nindex : v->ntangent;
  int* index = dj_poolTake(pool, (size_t)v->n, sizeof *index);
  if (!index) return dj_failMemory(err);
  for (int k = 0; k < v->n; k++) {
    index[k] = v->picked ? t->index[k] : k;
    if (index[k] < 0 || index[k] >= v->ntangent) {
      return dj_fail(err, DJ_INVALID, "'%.100s': index: there is no entry %d", v->name, index[k]);
    }
  }
  v->index = index;
  return DJ_OK;
}

// One bound for each entry; `none` where there is none.
static djStatus spread(double** out, const djVariable* v, const char* key,
                       const double* given, int ngiven, double none, djPool* pool, djError* err) {
  double* bound = dj_poolTake(pool, (size_t)v->n, sizeof *bound);
  if (!bound) return dj_failMemory(err);
  if (ngiven > 1 && ngiven != v->n) {
    return dj_fail(err, DJ_INVALID, "'%.100s': %s: must be 1 or %d numbers", v->name, key, v->n);
  }
  for (int k = 0; k < v->n; k++) {
    bound[k] = ngiven == 0 ? none : given[ngiven == 1 ? 0 : k];
  }
  *out = bound;
  return DJ_OK;
}

// Controls without bounds of their own stay in their actuators' ranges: beyond them the clamp leaves
// no gradient that leads back.
static void boundControl(double* min, double* max, const djModel* m, int actuator) {
  if (!m->actuator_ctrllimited[actuator] || (m->opt.disable & DJ_DSBL_CLAMPCTRL)) return;
  *min = m->actuator_ctrlrange[2 * actuator];
  *max = m->actuator_ctrlrange[2 * actuator + 1];
}

static djStatus setBounds(djVariable* v, const djTaskVariable* t, const djProblem* p,
                          const djModel* m, djPool* pool, djError* err) {
  double *min = NULL, *max = NULL;
  djStatus status = spread(&min, v, "min", t->min, t->nmin, -INFINITY, pool, err);
  if (status == DJ_OK) status = spread(&max, v, "max", t->max, t->nmax, INFINITY, pool, err);
  if (status < 0 || !min || !max) return status;
  v->min = min;
  v->max = max;
  for (int k = 0; k < v->n; k++) {
    bool given = t->nmin > 0 || t->nmax > 0;
    if (v->kind == DJ_VAR_CTRL && !given) boundControl(&min[k], &max[k], m, v->index[k] % m->nu);
    if (v->kind == DJ_VAR_FREE) {
      const djFree* f = &p->free[v->free];  // has bounds of its own
      min[k] = fmax(min[k], f->min[v->index[k]]);
      max[k] = fmin(max[k], f->max[v->index[k]]);
    }
    if (v->min[k] > v->max[k]) {
      return dj_fail(err, DJ_INVALID, "'%.100s': min is larger than max", v->name);
    }
    bool bounded = isfinite(v->min[k]) || isfinite(v->max[k]);
    if (bounded && dj_variableIsRotation(p, m, v, v->index[k])) {
      return dj_fail(err, DJ_INVALID, "'%.100s': entry %d is a rotation and takes no bounds",
                     v->name, v->index[k]);
    }
  }
  return DJ_OK;
}

static bool isFree(const djProblem* p, const char* name) {
  for (int i = 0; i < p->nfree; i++) {
    if (strcmp(p->free[i].name, name) == 0) return true;
  }
  return false;
}

static djStatus addVariable(djProblem* p, const char* name, const djTaskVariable* t,
                            const djTask* task, const djModel* m, djPool* pool, djError* err) {
  djVariable* v = &p->variable[p->nvariable++];
  v->name = name;
  djStatus status = setKind(v, p, task->horizon, m, pool, err);
  // Whole vectors that come twice are refused before memory is spent on them.
  for (int j = 0; j < p->nvariable - 1 && status == DJ_OK && t->nindex < 0; j++) {
    const djVariable* w = &p->variable[j];
    if (!w->picked && w->kind == v->kind && w->joint == v->joint && w->param == v->param &&
        w->free == v->free) {
      status = dj_fail(err, DJ_INVALID, "'%.100s' is listed twice", v->name);
    }
  }
  if (status == DJ_OK) status = setIndex(v, t, pool, err);
  return status < 0 ? status : setBounds(v, t, p, m, pool, err);
}

// A mask leaves out what maps compute.
static bool isMapped(const djProblem* p, const djModel* m, const char* name) {
  djParam param;
  return dj_paramId(&param, m, name, NULL) == DJ_OK && dj_isMapped(p, &param);
}

djStatus dj_resolveVariables(djProblem* p, const djTask* task, const djModel* m, djPool* pool,
                             djError* err) {
  typedef struct djNames {
    int n;
    const char* const* name;
  } djNames;
  size_t count = 0;
  djNames* list = dj_poolTake(pool, (size_t)task->nvariable, sizeof *list);
  if (!list) return dj_failMemory(err);
  for (int i = 0; i < task->nvariable; i++) {
    const char* const* name = &task->variable[i].name;
    list[i] = (djNames){1, name};
    if (!isFree(p, *name)) {
      djStatus status = dj_expandName(&list[i].name, &list[i].n, m, *name, pool, err);
      if (status < 0) return dj_prefix(err, status, "variables");
    }
    count += (size_t)list[i].n;
  }
  p->variable = dj_poolTake(pool, count, sizeof *p->variable);
  if (!p->variable) return dj_failMemory(err);
  djStatus status = DJ_OK;
  for (int i = 0; i < task->nvariable; i++) {
    const char* name = task->variable[i].name;
    for (int k = 0; k < list[i].n; k++) {
      if (list[i].name[k] != name && strchr(name, '*') && isMapped(p, m, list[i].name[k])) continue;
      status = addVariable(p, list[i].name[k], &task->variable[i], task, m, pool, err);
      if (status < 0) return dj_prefix(err, status, "variables");
    }
  }
  status = dj_checkListed(p, err);
  if (status == DJ_OK) status = dj_checkTargets(p, err);
  return status < 0 ? status : dj_checkFollowers(p, m, err);
}
