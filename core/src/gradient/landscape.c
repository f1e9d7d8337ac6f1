// A loss along a line: samples, and what they say of how it varies.

#include "base/status.h"

#include <dijoco/design.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 1e-9 // of the range: smaller differences have no sign

// ---- samples ----------------------------------------------------------------------------------

static void sample(double* loss, double* gradient, djPhases* phases, double* x, double* grad,
                   int entry) {
  *loss = *gradient = NAN;
  djStatus status = djd_evaluatePhases(loss, grad, phases, x);
  if (status < 0)
    *loss = NAN;
  else if (status != DJ_SINGULAR)
    *gradient = grad[entry];
}

static bool isUnconverged(const djPhases* phases) {
  for (int k = 0; k < phases->n; k++) {
    if (phases->design[k]->result.unconverged_steps > 0) return true;
  }
  return false;
}

// ---- measures ---------------------------------------------------------------------------------

static double variationOf(const double* y, int n) {
  double sum = 0, last = NAN;
  for (int i = 0; i < n; i++) {
    if (!isfinite(y[i])) continue;
    if (isfinite(last)) sum += fabs(y[i] - last);
    last = y[i];
  }
  return sum;
}

static double rangeOf(const double* y, int n) {
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < n; i++) {
    if (!isfinite(y[i])) continue;
    low = fmin(low, y[i]);
    high = fmax(high, y[i]);
  }
  return high >= low ? high - low : 0;
}

static int countTurns(const double* y, int n, double least) {
  int turns = 0;
  double last = NAN, sign = 0;
  for (int i = 0; i < n; i++) {
    if (!isfinite(y[i])) continue;
    const double change = isfinite(last) ? y[i] - last : 0;
    last = y[i];
    if (!(fabs(change) > least)) continue;
    turns += change * sign < 0;
    sign = change;
  }
  return turns;
}

// From the first loss on, over the samples that have both.
static double reconstruct(double* sum, const double* x, const double* loss, const double* gradient,
                          int n) {
  double worst = 0;
  int last = -1;
  for (int i = 0; i < n; i++) {
    sum[i] = NAN;
    if (!isfinite(loss[i]) || !isfinite(gradient[i])) continue;
    sum[i] = loss[i];
    if (last >= 0) {
      sum[i] = sum[last] + 0.5 * (gradient[i] + gradient[last]) * (x[i] - x[last]);
    }
    worst = fmax(worst, fabs(sum[i] - loss[i]));
    last = i;
  }
  return worst;
}

// ---- the landscape ----------------------------------------------------------------------------

static djStatus fail(djError* err, const djPhases* phases) {
  return dj_fail(err, DJ_INVALID, "landscape: there is a loss at no sample: %.300s",
                 djd_designError(phases->design[0]));
}

djStatus djd_landscape(djLandscape* out, double* values, double* loss, double* gradient,
                       double* reconstructed, int n, djPhases* phases, int entry, double from,
                       double to, djError* err) {
  if (!out || !values || !loss || !gradient || !reconstructed || !phases) {
    return dj_fail(err, DJ_INVALID, "landscape: NULL");
  }
  const djDesign* d = phases->design[0];
  if (entry < 0 || entry >= d->n) {
    return dj_fail(err, DJ_INVALID, "landscape: there is no entry %d of x, which has %d", entry,
                   d->n);
  }
  if (n < 2 || !(isfinite(from) && isfinite(to)) || from == to) {
    return dj_fail(err, DJ_INVALID, "landscape: two samples or more of a range are expected");
  }
  double* x = malloc(2 * (size_t)d->n * sizeof *x);
  if (!x) return dj_failMemory(err);
  memset(out, 0, sizeof *out);
  memcpy(x, d->x0, (size_t)d->n * sizeof *x);
  for (int i = 0; i < n; i++) {
    const double part = (double)i / (double)(n - 1);
    x[entry] = values[i] = i == n - 1 ? to : from + part * (to - from);
    sample(&loss[i], &gradient[i], phases, x, x + d->n, entry);
    out->missing += !isfinite(loss[i]) || !isfinite(gradient[i]);
    out->unconverged += isfinite(loss[i]) && isUnconverged(phases);
  }
  free(x);
  out->range = rangeOf(loss, n);
  out->total_variation = variationOf(loss, n);
  out->gradient_total_variation = variationOf(gradient, n);
  out->sign_changes = countTurns(loss, n, LEVEL * out->range);
  out->reconstruction_error = reconstruct(reconstructed, values, loss, gradient, n);
  return out->missing == n ? fail(err, phases) : DJ_OK;
}
