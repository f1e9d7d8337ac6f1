#include "gradient/stages.h"

#include "base/status.h"
#include "gradient/design_parts.h"
#include "gradient/phases.h"
#include "model/make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Parameters that vary or that maps compute belong to x.
static bool isOfDesign(const djProblem* p, const djParam* param) {
  for (int i = 0; i < p->nparam; i++) {
    if (p->param[i].field == param->field && p->param[i].id == param->id) return true;
  }
  return false;
}

// p: whose parameters cannot be set; NULL: all can.
static djStatus setOne(djModel* m, const djProblem* p, const djTaskSet* s, const djParam* param,
                       djError* err) {
  if (p && isOfDesign(p, param)) {
    return dj_fail(err, DJ_INVALID, "'%.100s' varies", s->name);
  }
  if (s->n != param->nvalue) {
    return dj_fail(err, DJ_INVALID, "'%.100s': must be %d numbers", s->name, param->nvalue);
  }
  return dj_setParam(m, param, s->value, err);
}

// m: the design's model, or a copy; any: also what varies.
static djStatus setAll(djModel* m, const djDesign* d, const djStage* stage, bool any,
                       djError* err) {
  djStatus status = DJ_OK;
  for (int i = 0; i < stage->nset && status == DJ_OK; i++) {
    const djTaskSet* s = &stage->set[i];
    int n = dj_matchParams(NULL, 0, m, s->name, err);
    if (n < 0) return (djStatus)n;
    djParam* param = calloc((size_t)n + 1, sizeof *param);
    if (!param) return dj_failMemory(err);
    dj_matchParams(param, n, m, s->name, NULL);
    for (int k = 0; k < n && status == DJ_OK; k++) {
      status = setOne(m, any ? NULL : d->problem, s, &param[k], err);
    }
    free(param);
  }
  const djModel* compiled = dj_designMemory(d)->compiled;
  if (status < 0 || stage->nset == 0 || !compiled) return status;
  int changed;
  status = dj_renewFacets(&changed, m, compiled, err);
  if (status < 0) return status;
  return dj_followGeomsBy(m, compiled, d->problem->inertia_from_geom, err);
}

static djStatus setStage(djModel* m, const djDesign* d, const djStage* stage, int i, bool any,
                         djError* err) {
  djStatus status = setAll(m, d, stage, any, err);
  char element[48];
  snprintf(element, sizeof element, "optimizer: stages[%d]: set", i);
  return status < 0 ? dj_prefix(err, dj_prefixScene(err, status, d), element) : status;
}

static djStatus setStages(djPhases* phases, const djStage* stage, int i, djError* err) {
  djStatus status = DJ_OK;
  for (int j = 0; j < phases->n && status == DJ_OK; j++) {
    djDesign* d = phases->design[j];
    status = setStage(d->model, d, stage, i, false, err);
  }
  return status;
}

// Masses go by the facets that hulls have at x, whatever was looked at last: so a stage begins alike
// after the one before and where an interrupted run goes on. Facets of what was looked at last may
// leave no possible mass at x, where hulls have changed by much.
static void renewAt(djPhases* phases, const double* x) {
  for (int j = 0; j < phases->n; j++) {
    int changed;
    djDesign* d = phases->design[j];
    const bool fits = djd_moveDesign(d, x) == DJ_OK;
    if (djd_renewFacets(&changed, d) == DJ_OK && !fits) djd_moveDesign(d, x);
  }
}

// A stage that finds nothing better than the point where it begins leaves that to the next one,
// which if it sets nothing would take the same steps again, to the bit: so it takes shorter ones.
// Not by half: trust_region halves its own where they lead nowhere, so that lengths would come
// twice.
// Returns by what. before: the result of the stage before; NULL: this is the first.
static double shrinkOf(const djOptimizer* o, const djStage* stage,
                       const djOptimizeResult* before) {
  if (!before) return o->shrink > 0 ? o->shrink : 1;
  const bool again = stage->nset == 0 && !(before->loss < before->first_loss);
  return again ? 0.6 * before->shrink : 1;
}

static djOptimizer shortened(const djOptimizer* o, double shrink) {
  djOptimizer how = *o;
  how.radius *= shrink;
  how.control_radius *= shrink;
  how.rate *= shrink;
  return how;
}

// A callback that knows the stage.
typedef struct djStageStep {
  djOptimizeCallback callback;
  void* user;
  int stage;
} djStageStep;

static bool onStep(void* user, const djOptimizeStep* step) {
  const djStageStep* s = user;
  djOptimizeStep told = *step;
  told.stage = s->stage;
  return s->callback(s->user, &told);
}

static djStatus checkOrder(const djDesign* d, const djOptimizer* o, djError* err) {
  if (o->nanneal > 0) return dj_fail(err, DJ_UNSUPPORTED, "optimizer: stages: not with anneal");
  if (o->first_stage < 0 || o->first_stage >= o->nstage) {
    return dj_fail(err, DJ_INVALID, "optimizer: stage: there is no stage %d", o->first_stage);
  }
  if (o->nstart != 0 && (o->nstart != d->n || !o->start)) {
    return dj_fail(err, DJ_INVALID, "optimizer: start: must be %d numbers", d->n);
  }
  return DJ_OK;
}

static djStatus checkStages(const djPhases* phases, const djOptimizer* o, bool any, djError* err) {
  djStatus status = checkOrder(phases->design[0], o, err);
  for (int j = 0; j < phases->n && status == DJ_OK; j += phases->nphase) {
    const djDesign* d = phases->design[j];
    djModel* copy = NULL;
    status = dj_copyModel(&copy, d->model, err);
    for (int i = 0; i < o->nstage && status == DJ_OK; i++) {
      status = setStage(copy, d, &o->stage[i], i, any, err);
    }
    dj_deleteModel(copy);
  }
  return status;
}

djStatus djd_checkStages(const djPhases* phases, const djOptimizer* o, djError* err) {
  if (!phases || !o) return dj_fail(err, DJ_INVALID, "phases or optimizer: NULL");
  return o->nstage > 0 ? checkStages(phases, o, true, err) : DJ_OK;
}

djStatus dj_optimizeStages(djOptimizeResult* result, double* x, djPhases* phases,
                           const djOptimizeProblem* problem, const djOptimizer* optimizer,
                           djError* err) {
  djOptimizeResult sum = {.loss = INFINITY};
  djStatus status = checkStages(phases, optimizer, false, err);
  for (int i = 0; i < optimizer->nstage && status >= 0; i++) {
    const djStage* stage = &optimizer->stage[i];
    const bool first = i == optimizer->first_stage;
    status = setStages(phases, stage, i, err);
    if (i < optimizer->first_stage || status < 0) continue;
    if (first && optimizer->nstart > 0) {
      dj_copyNumbers(x, optimizer->start, optimizer->nstart);
    }
    renewAt(phases, x);
    djStageStep step = {problem->callback, problem->callback_user, i};
    djOptimizeProblem one = *problem;
    const double shrink = shrinkOf(optimizer, stage, first ? NULL : result);
    djOptimizer how = shortened(optimizer, shrink);
    if (one.callback) one.callback = onStep;
    one.callback_user = &step;
    if (stage->iterations > 0) how.iterations = stage->iterations;
    status = dj_optimize(result, x, &one, &how, err);
    if (status < 0) {
      char element[48];
      snprintf(element, sizeof element, "optimizer: stages[%d]", i);
      return dj_prefix(err, status, element);
    }
    if (first) sum.first_loss = result->first_loss;
    sum.iterations += result->iterations;
    sum.evaluations += result->evaluations;
    sum.refused += result->refused;
    sum.restarts += result->restarts;
    sum.renewals += result->renewals;
    sum.largest_jump = fmax(sum.largest_jump, result->largest_jump);
    result->stage = i;
    result->shrink = shrink;
    if (result->stop == DJ_STOP_CALLBACK) break;
  }
  if (status < 0) return status;
  result->first_loss = sum.first_loss;
  result->iterations = sum.iterations;
  result->evaluations = sum.evaluations;
  result->refused = sum.refused;
  result->restarts = sum.restarts;
  result->renewals = sum.renewals;
  result->largest_jump = sum.largest_jump;
  return result->stop == DJ_STOP_STUCK ? DJ_NOT_CONVERGED : DJ_OK;
}
