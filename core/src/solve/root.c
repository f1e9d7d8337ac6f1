#include "solve/root.h"

#include <math.h>
#include <string.h>

static const double LEAST_FRACTION = 1e-8;
static const double FALL = 1e-4; // of the size, by a step that is accepted
// At a kink the way by the piece on this side ends, where that on the other side has not begun: a
// short step that rises a little is taken for its sake, that often.
static const double SHORT = 0.1, RISE = 0.1;
static const int MOST_CROSSINGS = 10;

typedef struct Search {
  const djRootProblem* p;
  double size;
  double *residual, *step; // (n)
  int crossings;
} Search;

// A part of the step, halved until the size falls. *taken: 0: none was found.
static djStatus search(double* taken, Search* s) {
  double fraction = 1;
  *taken = 0;
  djStatus status = s->p->limit(s->p->user, &fraction, s->step);
  for (; status >= 0 && fraction > LEAST_FRACTION; fraction *= 0.5) {
    double size;
    status = s->p->trial(s->p->user, &size, s->residual, s->step, fraction);
    if (status < 0) return status;
    const bool falls = size <= (1 - FALL * fraction) * s->size;
    const bool crosses = fraction <= SHORT && size <= (1 + RISE) * s->size;
    if (!falls && !(crosses && s->crossings < MOST_CROSSINGS)) continue;
    s->crossings += !falls;
    s->size = size;
    *taken = fraction;
    return DJ_OK;
  }
  return status;
}

djStatus dj_root(djNewtonResult* r, const djRootProblem* p, const djRootOption* o, double* residual,
                 double* step) {
  memset(r, 0, sizeof *r);
  Search s = {.p = p, .residual = residual, .step = step};
  djStatus status = p->evaluate(p->user, &s.size, residual);
  if (status < 0) return status;
  r->decrement = INFINITY;
  int solved = 0; // steps since
  for (r->iterations = 1; r->iterations <= o->max_iterations; r->iterations++) {
    status = p->direction(p->user, step, residual);
    if (status == DJ_SINGULAR) return solved ? DJ_OK : DJ_NOT_CONVERGED;
    if (status < 0) return status;
    double sum = 0, taken;
    for (int i = 0; i < p->n; i++) sum += residual[i] * step[i];
    const double decrement = sqrt(fabs(sum));
    if (!isfinite(decrement)) return DJ_NOT_CONVERGED;
    if (solved && !(decrement < 0.5 * r->decrement)) return DJ_OK;
    r->decrement = decrement;
    r->exact = true;
    if (decrement <= o->tolerance && solved++ > o->refinement_steps) return DJ_OK;
    status = search(&taken, &s);
    if (status < 0) return status;
    if (!(taken > 0)) return solved ? DJ_OK : DJ_NOT_CONVERGED;
    p->accept(p->user);
  }
  r->iterations = o->max_iterations;
  r->exhausted = !solved;
  return solved ? DJ_OK : DJ_NOT_CONVERGED;
}
