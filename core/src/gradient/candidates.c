#include "gradient/candidates.h"

#include "base/status.h"
#include "gradient/design_parts.h"
#include "model/make.h"

#include <dijoco/check.h>
#include <dijoco/crew.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define PI 3.14159265358979323846
enum { NTERM = 4 };

struct djCandidates {
  const djWindow* window;
  djPool pool;
  int n, nlane;
  double spread;
  unsigned long seed;
  djDesign** design;   // (nlane) of the window, guided
  double* x;           // (n x window->design->n)
  double* loss;        // (n)
  djCrew* crew;        // of nlane
};

// ---- making -----------------------------------------------------------------------------------

static int countLanes(const djReceding* r) {
  long processors = r->nthread > 0 ? r->nthread : sysconf(_SC_NPROCESSORS_ONLN);
  return processors > r->candidates ? r->candidates : processors < 1 ? 1 : (int)processors;
}

static djStatus fill(djCandidates* c, djError* err) {
  const djWindow* w = c->window;
  size_t n = (size_t)c->n;
  c->crew = dj_makeCrew(c->nlane);
  if (!c->crew) return dj_failMemory(err);
  c->nlane = dj_crewSize(c->crew);
  c->x = dj_poolTake(&c->pool, n * (size_t)w->design->n, sizeof(double));
  c->loss = dj_poolTake(&c->pool, n, sizeof(double));
  c->design = dj_poolTake(&c->pool, (size_t)c->nlane, sizeof(djDesign*));
  if (!c->x || !c->loss || !c->design) return dj_failMemory(err);
  for (int i = 0; i < c->nlane; i++) {
    const djModel* given = dj_designMemory(w->task)->given;
    djStatus status = djd_makeDesign(&c->design[i], given, &w->problem, err);
    if (status < 0) return status;
    dj_setGuideBackwardOnly(c->design[i]->model, false);
  }
  return DJ_OK;
}

djStatus dj_makeCandidates(djCandidates** out, const djWindow* window, const djReceding* r,
                           djError* err) {
  *out = NULL;
  if (r->candidates < 2) return DJ_OK;
  djCandidates* c = calloc(1, sizeof *c);
  if (!c) return dj_failMemory(err);
  *c = (djCandidates){.window = window, .n = r->candidates, .nlane = countLanes(r),
                      .spread = r->spread, .seed = (unsigned long)r->seed};
  djStatus status = fill(c, err);
  if (status < 0) {
    dj_deleteCandidates(c);
    return status;
  }
  *out = c;
  return DJ_OK;
}

void dj_deleteCandidates(djCandidates* c) {
  if (!c) return;
  for (int i = 0; i < c->nlane && c->design; i++) djd_deleteDesign(c->design[i]);
  dj_deleteCrew(c->crew);
  dj_poolFree(&c->pool);
  free(c);
}

// ---- choosing ---------------------------------------------------------------------------------

// Number `at` of a candidate at a step, by Box and Muller.
static double normal(const djCandidates* c, int step, int candidate, int at) {
  unsigned long row = (unsigned long)step * (unsigned long)c->n + (unsigned long)candidate;
  double a = 1 - djd_random(c->seed, 2 * row, (unsigned long)at);
  double b = djd_random(c->seed, 2 * row + 1, (unsigned long)at);
  return sqrt(-2 * log(a)) * cos(2 * PI * b);
}

static double pathAt(const double xi[NTERM], double tau) {
  double sum = 0;
  for (int j = 0; j < NTERM; j++) {
    double f = (j + 0.5) * PI;
    sum += xi[j] * sqrt(2) * sin(f * tau) / f;
  }
  return sum;
}

// x (n) as the window has it becomes that of a candidate.
static void change(double* x, const djCandidates* c, int step, int candidate) {
  const djWindow* w = c->window;
  const djDesign* d = w->design;
  for (int i = 0, at = 0; i < w->problem.nvariable; i++) {
    const djWindowVariable* v = &w->variable[i];
    int rows = w->track[v->track].nrow;
    for (int k = 0; k < v->n; k++, at += NTERM) {
      double xi[NTERM];
      for (int j = 0; j < NTERM; j++) xi[j] = normal(c, step, candidate, at + j);
      for (int r = 0; r < rows; r++) {
        int e = d->adr[i] + r * v->n + k;
        double moved = x[e] + c->spread * pathAt(xi, (r + 1.0) / rows);
        x[e] = fmin(fmax(moved, d->lower[e]), d->upper[e]);
      }
    }
  }
}

static void evaluate(void* shared, int candidate, int lane) {
  djCandidates* c = shared;
  djDesign* d = c->design[lane];
  const double* x = c->x + (size_t)candidate * (size_t)d->n;
  djStatus status = djd_forwardDesign(&c->loss[candidate], d, x, false);
  if (status < 0 || isnan(c->loss[candidate])) c->loss[candidate] = INFINITY;
}

// No loss is less than 0.
static bool isLeast(double loss, const djProblem* p) {
  bool least = loss == 0;
  for (int i = 0; i < p->rollout.nloss; i++) least &= p->rollout.loss[i].weight >= 0;
  return least;
}

int dj_chooseCandidate(double* x, int* count, djCandidates* c, int step) {
  djDesign* own = c->window->design;
  double loss;
  int n = own->n, best = 0;
  *count += 1;
  if (djd_forwardDesign(&loss, own, x, false) >= 0 && isLeast(loss, own->problem)) return 0;
  *count += c->n;
  for (int i = 0; i < c->nlane; i++) dj_setDesignHistory(c->design[i]);
  for (int k = 0; k < c->n; k++) {
    double* to = c->x + (size_t)k * (size_t)n;
    dj_copyNumbers(to, x, n);
    if (k > 0) change(to, c, step, k);
  }
  dj_crewDo(c->crew, c->n, evaluate, c);
  for (int k = 1; k < c->n; k++) {
    if (c->loss[k] < c->loss[best]) best = k;
  }
  dj_copyNumbers(x, c->x + (size_t)best * (size_t)n, n);
  return best;
}
