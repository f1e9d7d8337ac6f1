// The mean of a design's loss over phases of a timestep. Every phase has a design of its own;
// threads take the next one that is left, and sums are taken in the order of phases.

#include "base/pool.h"
#include "base/status.h"
#include "gradient/design_parts.h"
#include "gradient/stages.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct djPhaseMemory {
  djPool pool;
  double* loss;       // (n)
  double* grad;       // (n x design->n)
  djStatus* status;   // (n)
  pthread_t* thread;  // (nthread)
} djPhaseMemory;

// What threads share.
typedef struct djPhaseWork {
  djPhases* phases;
  const double* x;
  bool gradient;
  double *r, *J;      // instead of losses: residuals and their derivatives, of nresidual a phase
  size_t nresidual;
  atomic_int next;
} djPhaseWork;

static int countThreads(int nthread, int n) {
  long processors = nthread > 0 ? nthread : sysconf(_SC_NPROCESSORS_ONLN);
  return processors > n ? n : processors < 1 ? 1 : (int)processors;
}

djStatus djd_makePhases(djPhases** phases, djDesign* design, int n, int nthread, djError* err) {
  if (!phases) return dj_fail(err, DJ_INVALID, "phases: NULL");
  *phases = NULL;
  if (!design) return dj_fail(err, DJ_INVALID, "design: NULL");
  if (n < 1 || nthread < 0) return dj_fail(err, DJ_INVALID, "phases or threads: too few");
  djPhases* p = calloc(1, sizeof *p);
  djPhaseMemory* w = calloc(1, sizeof *w);
  if (!p || !w) {
    free(p);
    free(w);
    return dj_failMemory(err);
  }
  p->n = n;
  p->nthread = countThreads(nthread, n);
  p->memory = w;
  w->loss = dj_poolTake(&w->pool, (size_t)n, sizeof(double));
  w->grad = dj_poolTake(&w->pool, (size_t)n * (size_t)design->n, sizeof(double));
  w->status = dj_poolTake(&w->pool, (size_t)n, sizeof(djStatus));
  w->thread = dj_poolTake(&w->pool, (size_t)p->nthread, sizeof(pthread_t));
  p->design = dj_poolTake(&w->pool, (size_t)n, sizeof(djDesign*));
  bool all = w->loss && w->grad && w->status && w->thread && p->design;
  djStatus status = all ? DJ_OK : dj_failMemory(err);
  if (all) p->design[0] = design;
  for (int j = 1; j < n && status == DJ_OK; j++) {
    status = djd_makeDesign(&p->design[j], dj_designMemory(design)->given, design->problem, err);
    if (status == DJ_OK) djd_setPhase(p->design[j], (double)j / n);
  }
  if (status < 0) {
    djd_deletePhases(p);
    return status;
  }
  *phases = p;
  return DJ_OK;
}

void djd_deletePhases(djPhases* p) {
  if (!p) return;
  djPhaseMemory* w = p->memory;
  for (int j = 1; j < p->n && p->design; j++) djd_deleteDesign(p->design[j]);
  dj_poolFree(&w->pool);
  free(w);
  free(p);
}

// Residuals of phase j, over sqrt(n).
static djStatus residualsOf(const djPhaseWork* s, int j) {
  djDesign* d = s->phases->design[j];
  size_t m = s->nresidual, n = (size_t)d->n;
  double *r = s->r + (size_t)j * m, *J = s->J ? s->J + (size_t)j * m * n : NULL;
  double root = sqrt(s->phases->n);
  djStatus status = djd_designResiduals(r, J, d, s->x);
  for (size_t i = 0; i < m && status >= 0; i++) r[i] /= root;
  for (size_t i = 0; i < m * n && J && status >= 0; i++) J[i] /= root;
  return status;
}

static void* work(void* shared) {
  djPhaseWork* s = shared;
  djPhases* p = s->phases;
  djPhaseMemory* w = p->memory;
  for (int j; (j = atomic_fetch_add(&s->next, 1)) < p->n;) {
    if (s->r) {
      w->status[j] = residualsOf(s, j);
      continue;
    }
    double* grad = s->gradient ? w->grad + (size_t)j * (size_t)p->design[0]->n : NULL;
    w->status[j] = djd_designObjective(p->design[j], &w->loss[j], grad, s->x);
  }
  return NULL;
}

// Signals are the caller's thread's. Where no thread can be had, it does the work of all.
static void share(djPhaseWork* s) {
  djPhaseMemory* w = s->phases->memory;
  int started = 0;
  sigset_t all, before;
  if (s->phases->nthread > 1) {
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started + 1 < s->phases->nthread &&
           pthread_create(&w->thread[started], NULL, work, s) == 0) {
      started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  work(s);
  for (int k = 0; k < started; k++) pthread_join(w->thread[k], NULL);
}

// What all phases ended with: the first that failed counts.
static djStatus statusOf(djPhases* p) {
  const djPhaseMemory* w = p->memory;
  djStatus status = DJ_OK;
  for (int j = 0; j < p->n; j++) {
    if (w->status[j] < 0) {
      if (j == 0) return w->status[0];
      return dj_fail(&p->design[0]->error, w->status[j], "phase %d of %d: %.450s", j, p->n,
                     p->design[j]->error.text);
    }
    if (w->status[j] != DJ_OK) status = w->status[j];
  }
  return status;
}

// Losses, and gradients, of all phases into their memory; the mean of losses.
static djStatus evaluate(double* loss, djPhases* p, const double* x, bool gradient) {
  const djPhaseMemory* w = p->memory;
  djPhaseWork s = {.phases = p, .x = x, .gradient = gradient};
  share(&s);
  double sum = 0;
  djStatus status = statusOf(p);
  if (status < 0) return status;
  for (int j = 0; j < p->n; j++) sum += w->loss[j];
  *loss = sum / p->n;
  return status;
}

djStatus djd_evaluatePhases(double* loss, double* grad, djPhases* p, const double* x) {
  if (!loss || !p || !x) return DJ_INVALID;
  const djPhaseMemory* w = p->memory;
  size_t n = (size_t)p->design[0]->n;
  djStatus status = evaluate(loss, p, x, grad != NULL);
  if (status < 0) return status;
  for (size_t i = 0; i < n && grad; i++) {
    double sum = 0;
    for (int j = 0; j < p->n; j++) sum += w->grad[(size_t)j * n + i];
    grad[i] = sum / p->n;
  }
  return status;
}

djStatus djd_phasesResiduals(void* phases, double* r, double* J, const double* x) {
  djPhases* p = phases;
  int n;
  if (!p || !r || !x) return DJ_INVALID;
  djStatus status = djd_countResiduals(&n, p->design[0], &p->design[0]->error);
  if (status < 0) return status;
  djPhaseWork s = {.phases = p, .x = x, .r = r, .J = J, .nresidual = (size_t)n};
  share(&s);
  return statusOf(p);
}

djStatus djd_phaseSpread(double* spread, djPhases* p, const double* x) {
  if (!spread || !p || !x) return DJ_INVALID;
  double loss;
  const djPhaseMemory* w = p->memory;
  const djDesign* d = p->design[0];
  djStatus status = evaluate(&loss, p, x, true);
  if (status < 0) return status;
  for (int v = 0; v < d->problem->nvariable; v++) {
    double size = 0, apart = 0;
    for (int i = d->adr[v]; i < d->adr[v + 1]; i++) {
      double mean = 0;
      for (int j = 0; j < p->n; j++) mean += w->grad[(size_t)j * (size_t)d->n + (size_t)i] / p->n;
      size += mean * mean;
      for (int j = 0; j < p->n; j++) {
        double from = w->grad[(size_t)j * (size_t)d->n + (size_t)i] - mean;
        apart += from * from / p->n;
      }
    }
    spread[v] = apart == 0 ? 0 : sqrt(apart / size);
  }
  return status;
}

djStatus djd_phasesObjective(void* phases, double* loss, double* grad, const double* x) {
  return djd_evaluatePhases(loss, grad, phases, x);
}

// ---- annealing ----------------------------------------------------------------------------------

typedef struct djAnnealing {
  djPhases* phases;
  const djOptimizer* how;
  djParam param[DJ_MAX_ANNEAL];
} djAnnealing;

static djStatus findAnnealed(djAnnealing* a, djError* err) {
  const djDesign* d = a->phases->design[0];
  for (int k = 0; k < a->how->nanneal; k++) {
    const djAnneal* one = &a->how->anneal[k];
    djParam* param = &a->param[k];
    if (dj_paramId(param, d->model, one->name, err) != DJ_OK) {
      return dj_prefix(err, DJ_INVALID, "anneal");
    }
    bool varies = false;
    for (int i = 0; i < d->problem->nparam; i++) {
      varies |= d->problem->param[i].field == param->field && d->problem->param[i].id == param->id;
    }
    const char* problem = param->nvalue != 1 ? "is not one number" : varies ? "varies" : NULL;
    if (problem) return dj_fail(err, DJ_INVALID, "anneal: %s: %s", one->name, problem);
    const double end[2] = {one->to, one->from};
    for (int j = 0; j < 2; j++) {
      if (dj_setParam(d->model, param, &end[j], err) < 0) {
        return dj_prefix(err, DJ_INVALID, "anneal");
      }
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
      double before = NAN;
      dj_getParam(&before, a->phases->design[j]->model, &a->param[k]);
      if (before == value) continue;
      dj_setParam(a->phases->design[j]->model, &a->param[k], &value, NULL);
      changed = true;
    }
  }
  return changed;
}

// ---- facets -------------------------------------------------------------------------------------

// How many meshes of all phases have other facets at x (n) than before.
static int renewAt(djPhases* p, const double* x) {
  int all = 0;
  for (int j = 0; j < p->n; j++) {
    int changed = 0;
    if (djd_moveDesign(p->design[j], x) >= 0) djd_renewFacets(&changed, p->design[j]);
    all += changed;
  }
  return all;
}

static bool renew(void* user, double* loss, const double* x) {
  djPhases* p = user;
  return renewAt(p, x) > 0 && evaluate(loss, p, x, false) >= 0;
}

// At the result, whatever the optimizer did.
static void renewResult(djOptimizeResult* r, djPhases* p, const double* x) {
  double loss = r->loss;
  if (!renew(p, &loss, x)) return;
  r->evaluations++;
  r->renewals++;
  r->largest_jump = fmax(r->largest_jump, fabs(loss - r->loss));
  r->loss = loss;
}

djStatus djd_optimizePhases(djOptimizeResult* result, double* x, djPhases* phases,
                            const djOptimizer* optimizer, djOptimizeCallback callback,
                            void* callback_user, djError* err) {
  if (!phases) return dj_fail(err, DJ_INVALID, "phases: NULL");
  if (!optimizer) return dj_fail(err, DJ_INVALID, "optimizer: NULL");
  djDesign* d = phases->design[0];
  d->error = (djError){""};
  djAnnealing annealing = {.phases = phases, .how = optimizer};
  djStatus found = findAnnealed(&annealing, err);
  if (found < 0) return found;
  djOptimizeProblem problem = {
      .n = d->n, .lower = d->lower, .upper = d->upper, .group = d->group, .nequal = d->nequal,
      .equal = d->equal, .value = d->value, .objective = djd_phasesObjective, .user = phases,
      .callback = callback, .callback_user = callback_user, .change_user = &annealing};
  if (optimizer->nanneal > 0) problem.change = anneal;
  djError none = {""};
  int m = 0;
  if (djd_countResiduals(&m, d, &none) < 0) {
    problem.no_residuals = none.text;
  } else if (m <= INT_MAX / phases->n) {
    problem.nresidual = m * phases->n;
    problem.residuals = djd_phasesResiduals;
  } else {
    problem.no_residuals = "too many residuals";
  }
  problem.renew_user = phases;
  if (d->problem->inertia_from_geom) problem.renew = renew;
  djStatus status = optimizer->nstage > 0
                        ? dj_optimizeStages(result, x, phases, &problem, optimizer, err)
                        : dj_optimize(result, x, &problem, optimizer, err);
  if (status >= 0 && problem.renew) renewResult(result, phases, x);
  if (status < 0 && *d->error.text) return dj_fail(err, status, "%.500s", d->error.text);
  return status;
}

djStatus djd_optimizeDesign(djOptimizeResult* result, double* x, djDesign* design,
                            const djOptimizer* optimizer, int nthread, djOptimizeCallback callback,
                            void* callback_user, djError* err) {
  if (!optimizer) return dj_fail(err, DJ_INVALID, "optimizer: NULL");
  djPhases* phases;
  djStatus status = djd_makePhases(&phases, design, optimizer->phases, nthread, err);
  if (status < 0) return status;
  status = djd_optimizePhases(result, x, phases, optimizer, callback, callback_user, err);
  djd_deletePhases(phases);
  return status;
}
