// Derivatives of a function of one number by differences, where it is exact to rounding.
//
// With D(e) = (f(e) - f(-e))/2e = f' + c e^2 + O(e^4), (16 D(e/4) - D(e))/15 has no e^2 left. The
// two differ by 15/16 c e^2, whose square tells what remains. e falls by fours until they agree well
// enough, or rounding has the upper hand: of each stretch the pair that agreed best counts.

#include "gradient/hessian.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 8, STRETCHES = 8 };
static const double AGREES = 3e-5;        // relative, of both
static const double AGREES_WELL = 5e-7;   // the next ones may be longer
static const double ROUNDING = 1e3;       // of the function, in units of its last digit

typedef struct djPair {
  double *D, *mean;   // (n)
} djPair;

// Both at a distance.
static djStatus centre(djPair* to, double* ahead, double* back, int n, djSampled f, void* user,
                       double e) {
  djStatus status = f(ahead, user, e);
  if (status == DJ_OK) status = f(back, user, -e);
  if (status != DJ_OK) return status;
  for (int i = 0; i < n; i++) {
    to->D[i] = (ahead[i] - back[i]) / (2 * e);
    to->mean[i] = (ahead[i] + back[i]) / 2;
  }
  return DJ_OK;
}

static double largest(const double* x, const double* less, const djStretch* s) {
  double most = 0;
  for (int j = 0; j < s->n; j++) {
    double v = fabs(x[s->from + j] - (less ? less[s->from + j] : 0));
    most = fmax(most, s->weight ? s->weight[j] * v : v);
  }
  return most;
}

// By how much far and near are apart beyond rounding, by what they say.
static double apart(const djPair* far, const djPair* near, const djStretch* s, double value,
                    double e) {
  double gap = largest(far->D, near->D, s) - ROUNDING * DBL_EPSILON * value / e;
  return gap > 0 ? gap / largest(near->D, NULL, s) : 0;
}

static void settle(double* d, double* mean, const djPair* far, const djPair* near,
                   const djStretch* s) {
  for (int i = s->from; i < s->from + s->n; i++) {
    d[i] = (16 * near->D[i] - far->D[i]) / 15;
    if (mean) mean[i] = (16 * near->mean[i] - far->mean[i]) / 15;
  }
}

djStatus dj_differ(double* d, double* mean, double* step, double* error, int n,
                   const djStretch* stretch, int nstretch, djSampled f, void* user,
                   double* sample) {
  size_t each = (size_t)n;
  djPair far = {sample, sample + each}, near = {sample + 2 * each, sample + 3 * each};
  double *ahead = sample + 4 * each, *back = ahead + each, e = *step;
  double best[STRETCHES], worst = INFINITY, begun = e;
  int worse[STRETCHES] = {0};
  for (int k = 0; k < nstretch; k++) best[k] = INFINITY;
  djStatus status = centre(&far, ahead, back, n, f, user, e);
  for (int try = 0; try < TRIES && status == DJ_OK; try++, e /= 4) {
    bool more = false;
    double value = 0, all = 0;
    status = centre(&near, ahead, back, n, f, user, e / 4);
    if (status != DJ_OK) return status;
    for (int k = 0; k < nstretch; k++) value = fmax(value, largest(near.mean, NULL, &stretch[k]));
    for (int k = 0; k < nstretch; k++) {
      double gap = apart(&far, &near, &stretch[k], value, e / 4);
      if (getenv("DBG") && gap > AGREES) fprintf(stderr, "  stretch %d gap %.1e far %.3e near %.3e mean %.3e e %.1e\n", k, gap, largest(far.D, NULL, &stretch[k]), largest(near.D, NULL, &stretch[k]), largest(near.mean, NULL, &stretch[k]), e / 4);
      worse[k] = gap < best[k] ? 0 : worse[k] + 1;
      if (gap < best[k]) settle(d, mean, &far, &near, &stretch[k]);
      best[k] = fmin(best[k], gap);
      more = more || (best[k] > AGREES && worse[k] < 3);
      all = fmax(all, best[k]);
    }
    worst = fmin(worst, all);
    *step = all > AGREES ? begun : all < AGREES_WELL ? 4 * e : e;
    if (!more) break;
    djPair swap = far;
    far = near;
    near = swap;
  }
  *error = fmax(*error, worst);
  return status;
}
