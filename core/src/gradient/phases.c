// The loss that optimizers see: a sum over scenes of means over phases of a timestep. Every run has
// a design of its own; threads take the next one that is left, and sums are taken in the order of
// scenes and phases.

#include "base/pool.h"
#include "base/status.h"
#include "gradient/design_parts.h"
#include "gradient/phases.h"

#include <dijoco/crew.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct djPhaseMemory {
  djPool pool;
  double* loss;      // (n)
  double* grad;      // (n x design->n)
  double* weight;    // (nscene)
  djStatus* status;  // (n)
  size_t* residual;  // (n + 1) where those of a run begin
  djCrew* crew;      // of nthread
} djPhaseMemory;

// What is done with each run.
typedef enum djDuty { EVALUATE, OBJECTIVE, FORWARD, FORWARD_ALONE, BACKWARD, PRODUCT, RESIDUALS } djDuty;

// What threads share.
typedef struct djPhaseWork {
  djPhases* phases;
  djDuty duty;
  const double* x;
  const double* v; // direction of products
  double *r, *J; // residuals and their derivatives
} djPhaseWork;

// ---- making -----------------------------------------------------------------------------------

static int countThreads(int nthread, int n) {
  long processors = nthread > 0 ? nthread : sysconf(_SC_NPROCESSORS_ONLN);
  return processors > n ? n : processors < 1 ? 1 : (int)processors;
}

static bool takeMemory(djPhases* p, int nx) {
  djPhaseMemory* w = p->memory;
  size_t n = (size_t)p->n;
  w->loss = dj_poolTake(&w->pool, n, sizeof(double));
  w->grad = dj_poolTake(&w->pool, n * (size_t)nx, sizeof(double));
  w->weight = dj_poolTake(&w->pool, (size_t)p->nscene, sizeof(double));
  w->status = dj_poolTake(&w->pool, n, sizeof(djStatus));
  w->residual = dj_poolTake(&w->pool, n + 1, sizeof(size_t));
  w->crew = dj_makeCrew(p->nthread);
  p->design = dj_poolTake(&w->pool, n, sizeof(djDesign*));
  p->weight = w->weight;
  return w->loss && w->grad && w->weight && w->status && w->residual && w->crew && p->design;
}

static djStatus copyDesigns(djPhases* p, djDesign* const* design, djError* err) {
  djStatus status = DJ_OK;
  for (int j = 0; j < p->n && status == DJ_OK; j++) {
    djDesign* d = design[j / p->nphase];
    int phase = j % p->nphase;
    if (phase == 0) {
      p->design[j] = d;
      continue;
    }
    status = djd_makeDesign(&p->design[j], dj_designMemory(d)->given, d->problem, err);
    if (status == DJ_OK) djd_setPhase(p->design[j], (double)phase / p->nphase);
  }
  return status;
}

djStatus djd_makeScenes(djPhases** phases, int nscene, djDesign* const* design,
                        const double* weight, int nphase, int nthread, djError* err) {
  if (!phases) return dj_fail(err, DJ_INVALID, "phases: NULL");
  *phases = NULL;
  if (nscene < 1 || !design) return dj_fail(err, DJ_INVALID, "design: NULL");
  if (nphase < 1 || nthread < 0 || nphase > INT_MAX / nscene) {
    return dj_fail(err, DJ_INVALID, "phases or threads: too few");
  }
  djStatus status = dj_checkScenesAlike(nscene, design, weight, err);
  if (status < 0) return status;
  djPhases* p = calloc(1, sizeof *p);
  djPhaseMemory* w = calloc(1, sizeof *w);
  if (!p || !w) {
    free(p);
    free(w);
    return dj_failMemory(err);
  }
  p->n = nscene * nphase;
  p->nscene = nscene;
  p->nphase = nphase;
  p->nthread = countThreads(nthread, p->n);
  p->memory = w;
  status = takeMemory(p, design[0]->n) ? copyDesigns(p, design, err) : dj_failMemory(err);
  if (status < 0) {
    djd_deletePhases(p);
    return status;
  }
  for (int s = 0; s < nscene; s++) w->weight[s] = weight ? weight[s] : 1;
  *phases = p;
  return DJ_OK;
}

djStatus djd_makePhases(djPhases** phases, djDesign* design, int n, int nthread, djError* err) {
  return djd_makeScenes(phases, 1, &design, NULL, n, nthread, err);
}

void djd_deletePhases(djPhases* p) {
  if (!p) return;
  djPhaseMemory* w = p->memory;
  for (int j = 0; j < p->n && p->design; j++) {
    if (j % p->nphase != 0) djd_deleteDesign(p->design[j]);
  }
  dj_deleteCrew(w->crew);
  dj_poolFree(&w->pool);
  free(w);
  free(p);
}

// ---- in threads -------------------------------------------------------------------------------

// Residuals of run j by the root of weight / nphase.
static djStatus residualsOf(const djPhaseWork* s, int j) {
  const djPhases* p = s->phases;
  const djPhaseMemory* w = p->memory;
  djDesign* d = p->design[j];
  size_t begin = w->residual[j], m = w->residual[j + 1] - begin, n = (size_t)d->n;
  double *r = s->r + begin, *J = s->J ? s->J + begin * n : NULL;
  double root = sqrt(p->nphase), weight = sqrt(w->weight[j / p->nphase]);
  djStatus status = djd_designResiduals(r, J, d, s->x);
  for (size_t i = 0; i < m && status >= 0; i++) r[i] = weight * r[i] / root;
  for (size_t i = 0; i < m * n && J && status >= 0; i++) J[i] = weight * J[i] / root;
  return status;
}

static djStatus dutyOf(const djPhaseWork* s, int j) {
  djPhases* p = s->phases;
  djPhaseMemory* w = p->memory;
  djDesign* d = p->design[j];
  double* grad = w->grad + (size_t)j * (size_t)d->n;
  switch (s->duty) {
    case EVALUATE:
      return djd_designObjective(d, &w->loss[j], NULL, s->x);
    case OBJECTIVE:
      return djd_designObjective(d, &w->loss[j], grad, s->x);
    case FORWARD:
      return djd_forwardDesign(&w->loss[j], d, s->x, true);
    case FORWARD_ALONE:
      return djd_forwardDesign(&w->loss[j], d, s->x, false);
    case BACKWARD:
      return djd_backwardDesign(grad, d);
    case PRODUCT:
      return djd_designHvp(grad, d, s->x, s->v);
    case RESIDUALS:
      break;
  }
  return residualsOf(s, j);
}

static void work(void* shared, int j, int lane) {
  (void)lane;
  const djPhaseWork* s = shared;
  djPhaseMemory* w = s->phases->memory;
  w->status[j] = dutyOf(s, j);
}

// What all runs ended with: the first that failed counts.
static djStatus statusOf(djPhases* p) {
  const djPhaseMemory* w = p->memory;
  djStatus status = DJ_OK;
  for (int j = 0; j < p->n; j++) {
    if (w->status[j] == DJ_SINGULAR || (w->status[j] > 0 && status != DJ_SINGULAR)) {
      status = w->status[j];
    }
    if (w->status[j] >= 0) continue;
    djError* err = &p->design[0]->error;
    const djDesign* d = p->design[j];
    if (j > 0) *err = d->error;
    if (j % p->nphase > 0) {
      dj_fail(err, w->status[j], "phase %d of %d: %.450s", j % p->nphase, p->nphase, d->error.text);
    }
    return dj_prefixScene(err, w->status[j], d);
  }
  return status;
}

static djStatus share(djPhaseWork* s) {
  const djPhaseMemory* w = s->phases->memory;
  dj_crewDo(w->crew, s->phases->n, work, s);
  return statusOf(s->phases);
}

// ---- sums -------------------------------------------------------------------------------------

// Of one number of each run, `stride` apart: the mean over phases, and of these the sum over
// scenes.
static double sumOf(const djPhases* p, const double* each, size_t stride) {
  double all = 0;
  for (int s = 0; s < p->nscene; s++) {
    double sum = 0;
    for (int j = 0; j < p->nphase; j++) sum += each[(size_t)(s * p->nphase + j) * stride];
    double one = p->weight[s] * (sum / p->nphase);
    all = s > 0 ? all + one : one;
  }
  return all;
}

static void sumGradients(double* grad, const djPhases* p) {
  const djPhaseMemory* w = p->memory;
  size_t n = (size_t)p->design[0]->n;
  for (size_t i = 0; i < n; i++) grad[i] = sumOf(p, w->grad + i, n);
}

static djStatus forward(double* loss, djPhases* p, const double* x, djDuty duty) {
  const djPhaseMemory* w = p->memory;
  djPhaseWork s = {.phases = p, .duty = duty, .x = x};
  djStatus status = share(&s);
  if (status >= 0) *loss = sumOf(p, w->loss, 1);
  return status;
}

djStatus djd_evaluatePhases(double* loss, double* grad, djPhases* p, const double* x) {
  if (!loss || !p || !x) return DJ_INVALID;
  djStatus status = forward(loss, p, x, grad ? OBJECTIVE : EVALUATE);
  if (status >= 0 && grad) sumGradients(grad, p);
  return status;
}

djStatus djd_phasesObjective(void* phases, double* loss, double* grad, const double* x) {
  return djd_evaluatePhases(loss, grad, phases, x);
}

djStatus djd_phasesHvp(void* phases, double* product, const double* x, const double* v) {
  djPhases* p = phases;
  if (!p || !product || !x || !v) return DJ_INVALID;
  djPhaseWork s = {.phases = p, .duty = PRODUCT, .x = x, .v = v};
  djStatus status = share(&s);
  if (status >= 0) sumGradients(product, p);
  return status;
}

djStatus djd_forwardPhases(double* loss, djPhases* p, const double* x, bool for_gradient) {
  if (!loss || !p || !x) return DJ_INVALID;
  return forward(loss, p, x, for_gradient ? FORWARD : FORWARD_ALONE);
}

djStatus djd_backwardPhases(double* grad, djPhases* p) {
  if (!grad || !p) return DJ_INVALID;
  djPhaseWork s = {.phases = p, .duty = BACKWARD};
  djStatus status = share(&s);
  if (status >= 0) sumGradients(grad, p);
  return status;
}

double djd_sceneLoss(const djPhases* p, int scene) {
  if (!p || scene < 0 || scene >= p->nscene) return NAN;
  double sum = 0;
  for (int j = 0; j < p->nphase; j++) sum += p->design[scene * p->nphase + j]->result.loss;
  return sum / p->nphase;
}

// ---- residuals --------------------------------------------------------------------------------

djStatus djd_countPhasesResiduals(int* n, const djPhases* p, djError* err) {
  if (!n || !p) return dj_fail(err, DJ_INVALID, "n or phases: NULL");
  size_t sum = 0;
  *n = 0;
  djPhaseMemory* w = p->memory;
  for (int j = 0; j < p->n; j++) {
    const djDesign* d = p->design[j];
    int m;
    djStatus status = djd_countResiduals(&m, d, err);
    if (status < 0) return dj_prefixScene(err, status, d);
    w->residual[j] = sum;
    sum += (size_t)m;
  }
  w->residual[p->n] = sum;
  if (sum > INT_MAX) return dj_fail(err, DJ_UNSUPPORTED, "too many residuals");
  *n = (int)sum;
  return DJ_OK;
}

djStatus djd_phasesResiduals(void* phases, double* r, double* J, const double* x) {
  djPhases* p = phases;
  int n;
  if (!p || !r || !x) return DJ_INVALID;
  djStatus status = djd_countPhasesResiduals(&n, p, &p->design[0]->error);
  if (status < 0) return status;
  djPhaseWork s = {.phases = p, .duty = RESIDUALS, .x = x, .r = r, .J = J};
  return share(&s);
}

// ---- spread -----------------------------------------------------------------------------------

// Entry i of the gradient at a phase.
static double partAt(const djPhases* p, int phase, int i) {
  const djPhaseMemory* w = p->memory;
  size_t n = (size_t)p->design[0]->n;
  double sum = 0;
  for (int s = 0; s < p->nscene; s++) {
    double one = p->weight[s] * w->grad[(size_t)(s * p->nphase + phase) * n + (size_t)i];
    sum = s > 0 ? sum + one : one;
  }
  return sum;
}

djStatus djd_phaseSpread(double* spread, djPhases* p, const double* x) {
  if (!spread || !p || !x) return DJ_INVALID;
  double loss;
  const djDesign* d = p->design[0];
  djStatus status = forward(&loss, p, x, OBJECTIVE);
  if (status < 0) return status;
  for (int v = 0; v < d->problem->nvariable; v++) {
    double size = 0, apart = 0;
    for (int i = d->adr[v]; i < d->adr[v + 1]; i++) {
      double mean = 0;
      for (int j = 0; j < p->nphase; j++) mean += partAt(p, j, i) / p->nphase;
      size += mean * mean;
      for (int j = 0; j < p->nphase; j++) {
        double from = partAt(p, j, i) - mean;
        apart += from * from / p->nphase;
      }
    }
    spread[v] = apart == 0 ? 0 : sqrt(apart / size);
  }
  return status;
}
