// Tasks, second stage: names are looked up in a model.

#include "io/task_resolve.h"

#include "base/status.h"
#include "gradient/problem.h"
#include "io/task_attach.h"
#include "model/check.h"
#include "model/joint_type.h"
#include "model/make.h"

#include <dijoco/csv.h>

#include <stdlib.h>
#include <string.h>

#define DJ_MAX_CTRL 20000000   // horizon x nu

static double* takeNumbers(djPool* pool, size_t n) { return dj_poolTake(pool, n, sizeof(double)); }

// A vector of the task over the one that is there.
static djStatus override(double* out, int n, const char* name, const double* given, int ngiven,
                         djError* err) {
  if (ngiven < 0) return DJ_OK;
  if (ngiven != n) {
    return dj_fail(err, DJ_INVALID, "initial: %s: must be %d numbers", name, n);
  }
  dj_copyNumbers(out, given, n);
  return DJ_OK;
}

// Integrators that keep none leave it aside.
static djStatus resolveHistory(djProblem* p, const djTask* task, const djModel* m, djPool* pool,
                               djError* err) {
  if (!task->history) return DJ_OK;
  double *q = takeNumbers(pool, (size_t)m->nq), *v = takeNumbers(pool, (size_t)m->nv);
  if (!q || !v) return dj_failMemory(err);
  djStatus status =
      override(q, m->nq, "history: qpos", task->history_qpos, task->nhistory_qpos, err);
  if (status == DJ_OK) {
    status = override(v, m->nv, "history: qvel", task->history_qvel, task->nhistory_qvel, err);
  }
  if (status < 0) return status;
  status = dj_checkQpos(q, m, err);
  if (status < 0) return dj_prefix(err, status, "initial: history: qpos");
  status = dj_checkQvel(v, m, err);
  if (status < 0) return dj_prefix(err, status, "initial: history: qvel");
  p->history_qpos0 = q;
  p->history_qvel0 = v;
  return DJ_OK;
}

static djStatus resolveInitial(djProblem* p, const djTask* task, const djModel* m, djPool* pool,
                               djError* err) {
  p->key = -1;
  p->qpos0 = takeNumbers(pool, (size_t)m->nq);
  p->qvel0 = takeNumbers(pool, (size_t)m->nv);
  p->act0 = takeNumbers(pool, (size_t)m->na);
  if (!p->qpos0 || !p->qvel0 || !p->act0) return dj_failMemory(err);
  dj_copyNumbers(p->qpos0, m->qpos0, m->nq);
  if (task->keyframe) {
    p->key = dj_name2id(m, DJ_OBJ_KEY, task->keyframe);
    if (p->key < 0) {
      return dj_fail(err, DJ_INVALID, "initial: keyframe: there is no '%.100s'", task->keyframe);
    }
    size_t k = (size_t)p->key;
    dj_copyNumbers(p->qpos0, m->key_qpos + k * (size_t)m->nq, m->nq);
    dj_copyNumbers(p->qvel0, m->key_qvel + k * (size_t)m->nv, m->nv);
    dj_copyNumbers(p->act0, m->key_act + k * (size_t)m->na, m->na);
  }
  djStatus status = override(p->qpos0, m->nq, "qpos", task->qpos, task->nqpos, err);
  if (status == DJ_OK) status = override(p->qvel0, m->nv, "qvel", task->qvel, task->nqvel, err);
  if (status == DJ_OK) status = override(p->act0, m->na, "act", task->act, task->nact, err);
  if (status < 0) return status;
  status = dj_checkQpos(p->qpos0, m, err);
  if (status < 0) return dj_prefix(err, status, "initial: qpos");
  status = dj_checkQvel(p->qvel0, m, err);
  if (status < 0) return dj_prefix(err, status, "initial: qvel");
  status = dj_checkNumbers(p->act0, m->na, "act", err);
  if (status < 0) return dj_prefix(err, status, "initial");
  return resolveHistory(p, task, m, pool, err);
}

// Row k of the controls is row min(k, nrow - 1) of what is given.
static void repeatRows(double* ctrl, int horizon, int nu, const double* given, int nrow) {
  for (int k = 0; k < horizon && nu > 0; k++) {
    const double* row = given + (size_t)(k < nrow ? k : nrow - 1) * (size_t)nu;
    dj_copyNumbers(ctrl + (size_t)k * (size_t)nu, row, nu);
  }
}

static djStatus resolveCtrl(djProblem* p, const djTask* task, const djModel* m, djPool* pool,
                            djError* err) {
  size_t n = (size_t)task->horizon * (size_t)m->nu;
  if (n > DJ_MAX_CTRL) {
    return dj_fail(err, DJ_INVALID, "horizon: more than %d controls in all", DJ_MAX_CTRL);
  }
  p->ctrl = takeNumbers(pool, n);
  if (!p->ctrl) return dj_failMemory(err);
  if (task->ctrl_file) {
    double* rows = NULL;
    int nrow = 0;
    djStatus status = dj_readCtrl(&rows, &nrow, m->nu, task->ctrl_file, err);
    if (status < 0) return dj_prefix(err, status, "ctrl");
    repeatRows(p->ctrl, task->horizon, m->nu, rows, nrow);
    dj_freeNumbers(rows);
  } else if (task->nrow > 0) {
    if (task->nctrl != m->nu) {
      return dj_fail(err, DJ_INVALID, "ctrl: must have %d columns", m->nu);
    }
    djStatus status = dj_checkNumbers(task->ctrl, task->nrow * m->nu, "ctrl", err);
    if (status < 0) return status;
    repeatRows(p->ctrl, task->horizon, m->nu, task->ctrl, task->nrow);
  } else if (p->key >= 0) {
    repeatRows(p->ctrl, task->horizon, m->nu, m->key_ctrl + (size_t)p->key * (size_t)m->nu, 1);
  }
  return DJ_OK;
}

static djStatus findElement(int* id, const djModel* m, djObject object, const char* name,
                            int loss, djError* err) {
  *id = dj_name2id(m, object, name);
  if (*id >= 0) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "loss[%d]: there is no %s '%.100s'", loss, dj_objectName(object),
                 name);
}

static djStatus resolveLosses(djProblem* p, const djTask* task, const djModel* m, djPool* pool,
                              djError* err) {
  p->loss = dj_poolTake(pool, (size_t)task->nloss, sizeof *p->loss);
  if (!p->loss) return dj_failMemory(err);
  for (int i = 0; i < task->nloss; i++) {
    const djTaskLoss* t = &task->loss[i];
    djLossTerm* term = &p->loss[i];
    djStatus status = DJ_OK;
    *term = t->term;
    term->object = t->object;
    if (t->name) status = findElement(&term->id, m, t->object, t->name, i, err);
    term->object2 = t->object2;
    if (status == DJ_OK && t->name2) {
      status = findElement(&term->id2, m, t->object2, t->name2, i, err);
    }
    if (status < 0) return status;
    for (int k = 0; k < 2; k++) {
      bool joint = (k ? t->object2 : t->object) == DJ_OBJ_JOINT;
      if (!joint || dj_isScalarJoint(m->jnt_type[k ? term->id2 : term->id])) continue;
      return dj_fail(err, DJ_INVALID, "loss[%d]: joint '%.100s' is not a slide or hinge", i,
                     k ? t->name2 : t->name);
    }
  }
  return DJ_OK;
}

static void setRollout(djProblem* p, const djTask* task) {
  p->rollout = (djRollout){.horizon = task->horizon,
                           .qpos0 = p->qpos0,
                           .qvel0 = p->qvel0,
                           .act0 = p->act0,
                           .history_qpos0 = p->history_qpos0,
                           .history_qvel0 = p->history_qvel0,
                           .ctrl = p->ctrl,
                           .nloss = task->nloss,
                           .loss = p->loss,
                           .checkpoint = task->checkpoint};
  p->derivatives = task->derivatives;
}

static djStatus named(const djTask* task, djStatus status, djError* err) {
  if (status < 0 && task->element[0]) dj_prefix(err, status, task->element);
  return status < 0 && task->path[0] ? dj_prefix(err, status, task->path) : status;
}

djStatus dj_resolveTask(djProblem** problem, const djTask* task, const djModel* model,
                        djError* err) {
  if (!problem) return dj_fail(err, DJ_INVALID, "problem: NULL");
  *problem = NULL;
  if (!task || !model) return dj_fail(err, DJ_INVALID, "task or model: NULL");
  djProblem* p = calloc(1, sizeof *p);
  djPool* pool = calloc(1, sizeof *pool);
  if (!p || !pool) {
    free(p);
    free(pool);
    return dj_failMemory(err);
  }
  p->memory = pool;
  p->element = task->element;
  djStatus status = resolveInitial(p, task, model, pool, err);
  if (status == DJ_OK) status = resolveCtrl(p, task, model, pool, err);
  if (status == DJ_OK) status = resolveLosses(p, task, model, pool, err);
  if (status == DJ_OK) status = dj_resolveMaps(p, task, model, pool, err);
  if (status == DJ_OK) status = dj_resolveVariables(p, task, model, pool, err);
  if (status == DJ_OK) status = dj_resolveConnect(p, task, model, pool, err);
  if (status < 0) {
    dj_deleteProblem(p);
    return named(task, status, err);
  }
  setRollout(p, task);
  *problem = p;
  return DJ_OK;
}

static djStatus setOne(djModel* model, const djTask* task, const djTaskSet* s,
                       const djParam* param, djError* err) {
  if (s->n == param->nvalue && !(task->inertia_from_geom && dj_paramFollows(model, param))) {
    return dj_setParam(model, param, s->value, err);
  }
  char name[128];
  dj_paramName(name, sizeof name, model, param);
  const char* shown = strchr(s->name, '*') ? name : s->name;
  return s->n != param->nvalue
             ? dj_fail(err, DJ_INVALID, "'%.100s': must be %d numbers", shown, param->nvalue)
             : dj_fail(err, DJ_INVALID, "'%.100s': follows its geoms (inertia_from_geom)", shown);
}

// A value is given to each parameter that its name stands for.
static djStatus setAll(djModel* model, const djTask* task, djError* err) {
  for (int i = 0; i < task->nset; i++) {
    const djTaskSet* s = &task->set[i];
    int n = dj_matchParams(NULL, 0, model, s->name, err);
    djParam* param = calloc(n > 0 ? (size_t)n : 1, sizeof *param);
    djStatus status = n < 0 ? (djStatus)n : param ? DJ_OK : dj_failMemory(err);
    if (status == DJ_OK) dj_matchParams(param, n, model, s->name, NULL);
    for (int k = 0; k < n && status == DJ_OK; k++) {
      status = setOne(model, task, s, &param[k], err);
    }
    free(param);
    if (status < 0) return dj_prefix(err, status, "set");
  }
  return DJ_OK;
}

static djStatus applySet(djModel* model, const djTask* task, djError* err) {
  bool follow = task->inertia_from_geom && task->nset > 0;
  if (!follow) return setAll(model, task, err);
  djModel* compiled = NULL;
  int changed;
  djStatus status = dj_copyModel(&compiled, model, err);
  if (status == DJ_OK) status = dj_renewFacets(&changed, compiled, compiled, err);
  if (status == DJ_OK) status = setAll(model, task, err);
  if (status == DJ_OK) status = dj_renewFacets(&changed, model, compiled, err);
  if (status == DJ_OK) {
    status = dj_followGeomsBy(model, compiled, task->inertia_from_geom, err);
    if (status < 0) dj_prefix(err, status, "set: inertia_from_geom");
  }
  dj_deleteModel(compiled);
  return status;
}

djStatus dj_applySet(djModel* model, const djTask* task, djError* err) {
  if (!model || !task) return dj_fail(err, DJ_INVALID, "model or task: NULL");
  djStatus status = dj_growBySet(model, task, err);
  if (status == DJ_OK) status = applySet(model, task, err);
  if (status == DJ_OK) status = dj_connectAuto(model, task, err);
  if (status == DJ_OK && task->nconnect > 0) status = dj_checkAttachments(model, task, err);
  return named(task, status, err);
}

djStatus dj_applyTask(djModel* model, const djTask* task, djError* err) {
  if (!model || !task) return dj_fail(err, DJ_INVALID, "model or task: NULL");
  if (dj_isGiven(&task->settings, NULL)) {
    djOption option = model->opt;
    dj_applySettings(&option, &task->settings);
    djStatus status = dj_setOption(model, &option, err);
    if (status < 0) return named(task, status, err);
  }
  if (task->nguide >= 0) {
    djStatus status = dj_setGuideBodies(model, task->nguide, task->guide, err);
    if (status < 0) return named(task, dj_prefix(err, status, "contact"), err);
  }
  return dj_applySet(model, task, err);
}

const char* dj_taskScene(const djTask* task) { return task ? task->scene : ""; }

const djOptimizer* dj_taskOptimizer(const djTask* task) {
  return task ? &task->optimizer : NULL;
}
