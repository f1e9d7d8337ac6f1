// Certificates of the loss that optimizers see, along a line.

#include "base/status.h"
#include "gradient/certify.h"
#include "gradient/design_parts.h"
#include "gradient/ladder.h"
#include "gradient/loss.h"
#include "integrate/work.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A run at step 0.
typedef struct djLineStart {
  long double loss; // not rounded
  unsigned long long kink[DJ_NKINK];
} djLineStart;

typedef struct djLine {
  djPhases* phases;
  const double* x;
  const double* direction;
  djLineStart* start;     // (phases->n)
  double* trial;          // (design->n)
  double least[DJ_NKINK]; // step of the nearest run that has others
} djLine;

// Where other points touch, the other sets are of others, too: nothing is said of these.
static void noteKinks(djLine* line, int run, double e) {
  bool other[DJ_NKINK];
  const djData* data = line->phases->design[run]->data;
  for (int k = 0; k < DJ_NKINK; k++) {
    other[k] = data->stats.kink[k] != line->start[run].kink[k];
  }
  for (int k = 0; k < DJ_NKINK; k++) {
    const bool told = (k != DJ_KINK_TOUCH && other[DJ_KINK_TOUCH]) ||
                      (k == DJ_KINK_SLIP && other[DJ_KINK_RELEASE]);
    if (other[k] && !told) line->least[k] = fmin(line->least[k], fabs(e));
  }
}

static long double factorOf(const djPhases* p, int run) {
  return (long double)p->weight[run / p->nphase] / p->nphase;
}

static bool changeAlong(void* user, double e, double* change) {
  djLine* line = user;
  djPhases* p = line->phases;
  double loss;
  for (int k = 0; k < p->design[0]->n; k++) {
    line->trial[k] = line->x[k] + e * line->direction[k];
  }
  if (djd_forwardPhases(&loss, p, line->trial, false) < 0) return false;
  long double sum = 0;
  for (int j = 0; j < p->n; j++) {
    if (e != 0) noteKinks(line, j, e);
    sum += factorOf(p, j) * (dj_tapeLoss(p->design[j]->tape) - line->start[j].loss);
  }
  *change = (double)sum;
  return true;
}

static djStatus judge(djdCertificate* result, djLine* line, double loss, double analytic,
                      double scale, int most) {
  djPhases* p = line->phases;
  double change = 0;
  long double size = 0;
  bool surrogate = false;
  if (!changeAlong(line, 0, &change)) return DJ_NOT_CONVERGED;
  for (int j = 0; j < p->n; j++) {
    const djDesign* d = p->design[j];
    line->start[j].loss = dj_tapeLoss(d->tape);
    memcpy(line->start[j].kink, d->data->stats.kink, sizeof line->start[j].kink);
    size += factorOf(p, j) * fabsl(line->start[j].loss);
    surrogate = surrogate || djd_isSurrogate(d); // at x
  }
  for (int k = 0; k < DJ_NKINK; k++) line->least[k] = INFINITY;
  double rounding = (double)(LDBL_EPSILON * size);
  djStatus status = dj_judge(result, loss, analytic, scale, rounding, most - 1, changeAlong, line);
  result->evaluations++;   // that at step 0
  result->surrogate = surrogate;
  result->touched = 0;
  for (int k = 0; k < DJ_NKINK; k++) {
    result->touched |= (unsigned)(line->least[k] <= 10 * result->step) << k;
  }
  return status;
}

djStatus djd_checkPhases(djdCertificate* result, djPhases* p, const double* x,
                         const double* direction, double loss, double analytic, double scale) {
  return dj_checkLine(result, p, x, direction, loss, analytic, scale, DJD_CHECK_RUNS);
}

djStatus dj_checkLine(djdCertificate* result, djPhases* p, const double* x,
                      const double* direction, double loss, double analytic, double scale,
                      int most) {
  if (!result || !p || !x || !direction) return DJ_INVALID;
  for (int j = 0; j < p->n; j++) {
    if (x == p->design[j]->x) return DJ_INVALID;
  }
  if (!isfinite(loss) || !(scale > 0) || !isfinite(scale)) return DJ_INVALID;
  djLine line = {.phases = p, .x = x, .direction = direction};
  line.start = calloc((size_t)p->n, sizeof *line.start);
  line.trial = calloc((size_t)p->design[0]->n + 1, sizeof *line.trial);
  djStatus status =
      line.start && line.trial ? judge(result, &line, loss, analytic, scale, most) : DJ_NO_MEMORY;
  free(line.start);
  free(line.trial);
  return status;
}

djStatus djd_checkDesign(djdCertificate* result, djDesign* d, const double* x,
                         const double* direction, double loss, double analytic, double scale) {
  if (!d) return DJ_INVALID;
  djPhases* p;
  djStatus status = djd_makePhases(&p, d, 1, 1, NULL);
  if (status < 0) return status;
  status = djd_checkPhases(result, p, x, direction, loss, analytic, scale);
  djd_deletePhases(p);
  return status;
}
