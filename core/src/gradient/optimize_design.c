// Optimizers on designs: the numbers that change over the iterations, and stages.

#include "base/status.h"
#include "gradient/design_smooth.h"
#include "gradient/loss.h"
#include "gradient/phases.h"
#include "gradient/stages.h"
#include "inertia/geom_inertia.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- annealing ----------------------------------------------------------------------------------

typedef struct djAnnealing {
  djPhases* phases;
  const djOptimizer* how;
  djParam* param; // (phases->n x nanneal)
} djAnnealing;

static djStatus findAnnealed(djParam* param, const djAnneal* one, const djDesign* d, djError* err) {
  djStatus status = dj_paramId(param, d->model, one->name, err);
  if (status != DJ_OK) return status;
  bool varies = false;
  for (int i = 0; i < d->problem->nparam; i++) {
    varies |= d->problem->param[i].field == param->field && d->problem->param[i].id == param->id;
  }
  const char* problem = param->nvalue != 1 ? "is not one number" : varies ? "varies" : NULL;
  if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", one->name, problem);
  const double end[2] = {one->to, one->from};
  for (int j = 0; j < 2; j++) {
    status = dj_setParam(d->model, param, &end[j], err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

static djStatus openAnnealing(djAnnealing* a, djPhases* phases, const djOptimizer* how,
                              djError* err) {
  size_t n = (size_t)how->nanneal;
  *a = (djAnnealing){.phases = phases, .how = how};
  if (n == 0) return DJ_OK;
  a->param = calloc((size_t)phases->n * n, sizeof *a->param);
  if (!a->param) return dj_failMemory(err);
  for (size_t j = 0; j < (size_t)phases->n; j++) {
    const djDesign* d = phases->design[j];
    for (size_t k = 0; k < n; k++) {
      if (findAnnealed(&a->param[j * n + k], &how->anneal[k], d, err) == DJ_OK) continue;
      dj_prefix(err, DJ_INVALID, "anneal");
      return dj_prefixScene(err, DJ_INVALID, d);
    }
  }
  return DJ_OK;
}

static bool anneal(void* user, int iteration) {
  const djAnnealing* a = user;
  int n = a->how->iterations;
  double part = n > 0 && iteration < n ? (double)iteration / n : 1;
  bool changed = false;
  for (int k = 0; k < a->how->nanneal; k++) {
    const djAnneal* one = &a->how->anneal[k];
    double value = part == 1 ? one->to : one->from + part * (one->to - one->from);
    for (int j = 0; j < a->phases->n; j++) {
      const djParam* param = &a->param[(size_t)j * (size_t)a->how->nanneal + (size_t)k];
      double before = NAN;
      dj_getParam(&before, a->phases->design[j]->model, param);
      if (before == value) continue;
      dj_setParam(a->phases->design[j]->model, param, &value, NULL);
      changed = true;
    }
  }
  return changed;
}

// ---- facets -------------------------------------------------------------------------------------

// Renew facets, and add what the loss changes by to *jump (NaN: unknown): to first order, which
// needs no run. By the moments of masses, of which alone facets decide, the derivative is known.
// Facets of what was looked at last may leave no possible mass at x, where hulls have changed by
// much: with those of x it has the mass that it had.
static int renewOne(double* jump, djDesign* d, const double* x) {
  const bool here = d->n == 0 || memcmp(d->x, x, (size_t)d->n * sizeof *x) == 0;
  const bool fits = djd_moveDesign(d, x) >= 0;
  int changed = 0, nbody = d->model->nbody;
  djMoments* before = fits && here ? malloc(((size_t)nbody + 1) * sizeof *before) : NULL;
  for (int b = 0; b < nbody && before; b++) before[b] = dj_bodyMoments(d->model, b);
  djd_renewFacets(&changed, d);
  const djQuadratic* by = here && fits ? dj_tapeMoments(dj_gradientRun(d).tape) : NULL;
  if (changed > 0 && !(before && by)) *jump = NAN;
  for (int b = 0; b < nbody && before && by; b++) {
    djMoments now = dj_bodyMoments(d->model, b);
    *jump += dj_integral(&by[b], &now) - dj_integral(&by[b], &before[b]);
  }
  free(before);
  return changed;
}

// Whether meshes of any run have other facets at x (n) than before.
static bool renew(void* user, double* loss, const double* x) {
  djPhases* p = user;
  int all = 0;
  for (int j = 0; j < p->n; j++) {
    double jump = 0;
    all += renewOne(&jump, p->design[j], x);
    *loss += p->weight[j / p->nphase] * jump / p->nphase;
  }
  return all > 0;
}

// At the result, whatever the optimizer did: its loss may have been told to first order.
static void renewResult(djOptimizeResult* r, djPhases* p, const double* x) {
  double loss = r->loss;
  bool renewed = renew(p, &loss, x);
  if ((!renewed && r->renewals == 0) || djd_forwardPhases(&loss, p, x, false) < 0) return;
  r->evaluations++;
  r->renewals += renewed;
  r->largest_jump = fmax(r->largest_jump, fabs(loss - r->loss));
  r->loss = loss;
}

// ---- what is told ------------------------------------------------------------------------------

// A callback that knows the design.
typedef struct djDesignStep {
  djOptimizeCallback callback;
  void* user;
  djDesign* design;
  int before;              // djd_countFlattened
  double* place;           // (n) scratch
} djDesignStep;

static bool onStep(void* user, const djOptimizeStep* step) {
  const djDesignStep* s = user;
  djDesign* d = s->design;
  djOptimizeStep told = *step;
  told.flattened = djd_countFlattened(d) - s->before;
  if (d->problem->nconnect > 0) {
    size_t size = (size_t)d->n * sizeof *d->x;
    bool there = d->n == 0 || memcmp(d->x, step->x, size) == 0;
    if (!there) memcpy(s->place, d->x, size);   // whoever watches may ask where it was
    if (there || djd_moveDesign(d, step->x) >= 0) djd_countPieces(&told.pieces, d, NULL);
    if (!there) djd_moveDesign(d, s->place);
  }
  return s->callback(s->user, &told);
}

// An error says which variable the connections leave no place.
static djStatus failConnect(const djDesign* d, int entry, djError* err) {
  int i = 0;
  while (i + 1 < d->problem->nvariable && d->adr[i + 1] <= entry) i++;
  const djVariable* v = &d->problem->variable[i];
  return dj_fail(err, DJ_INVALID, "connect: bounds of '%.100s', entry %d, contradict those of what "
                 "it is connected to", v->name, v->index[entry - d->adr[i]]);
}

djStatus djd_optimizePhases(djOptimizeResult* result, double* x, djPhases* phases,
                            const djOptimizer* optimizer, djOptimizeCallback callback,
                            void* callback_user, djError* err) {
  if (!phases) return dj_fail(err, DJ_INVALID, "phases: NULL");
  if (!optimizer) return dj_fail(err, DJ_INVALID, "optimizer: NULL");
  if (result) result->contradiction = -1;
  djDesign* d = phases->design[0];
  d->error = (djError){""};
  djDesignStep step = {callback, callback_user, d, djd_countFlattened(d),
                       malloc(((size_t)d->n + 1) * sizeof(double))};
  djAnnealing annealing;
  djStatus status = openAnnealing(&annealing, phases, optimizer, err);
  if (status == DJ_OK && !step.place) status = dj_failMemory(err);
  if (status < 0) {
    free(annealing.param);
    free(step.place);
    return status;
  }
  djOptimizeProblem problem = {.n = d->n,
                               .lower = d->lower,
                               .upper = d->upper,
                               .group = d->group,
                               .nequal = d->nequal,
                               .equal = d->equal,
                               .equal_start = d->equal_start,
                               .equal_index = d->equal_index,
                               .value = d->value,
                               .objective = djd_phasesObjective,
                               .product = djd_phasesHvp,
                               .user = phases,
                               .callback = callback ? onStep : NULL,
                               .callback_user = &step,
                               .change_user = &annealing};
  if (optimizer->nanneal > 0) problem.change = anneal;
  djError none = {""};
  if (djd_countPhasesResiduals(&problem.nresidual, phases, &none) < 0) {
    problem.no_residuals = none.text;
  } else {
    problem.residuals = djd_phasesResiduals;
  }
  problem.renew_user = phases;
  if (d->problem->inertia_from_geom) problem.renew = renew;
  status = optimizer->nstage > 0 ? dj_optimizeStages(result, x, phases, &problem, optimizer, err)
                                 : dj_optimize(result, x, &problem, optimizer, err);
  free(annealing.param);
  free(step.place);
  if (!result) return status;
  if (status >= 0 && problem.renew) renewResult(result, phases, x);
  if (status < 0 && result->contradiction >= 0) return failConnect(d, result->contradiction, err);
  result->flattened = djd_countFlattened(d) - step.before;
  if (status < 0 && *d->error.text) return dj_fail(err, status, "%.500s", d->error.text);
  return status;
}

djStatus djd_optimizeScenes(djOptimizeResult* result, double* x, int nscene,
                            djDesign* const* design, const double* weight,
                            const djOptimizer* optimizer, int nthread, djOptimizeCallback callback,
                            void* callback_user, djError* err) {
  if (!optimizer) return dj_fail(err, DJ_INVALID, "optimizer: NULL");
  djPhases* phases;
  djStatus status =
      djd_makeScenes(&phases, nscene, design, weight, optimizer->phases, nthread, err);
  if (status < 0) return status;
  status = djd_optimizePhases(result, x, phases, optimizer, callback, callback_user, err);
  djd_deletePhases(phases);
  return status;
}

djStatus djd_optimizeDesign(djOptimizeResult* result, double* x, djDesign* design,
                            const djOptimizer* optimizer, int nthread, djOptimizeCallback callback,
                            void* callback_user, djError* err) {
  return djd_optimizeScenes(result, x, 1, &design, NULL, optimizer, nthread, callback,
                            callback_user, err);
}
