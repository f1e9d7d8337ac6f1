// Derivatives of a function of one number by differences, where it is exact to rounding.
//
// With D(e) = (f(e) - f(-e))/2e = f' + c e^2 + O(e^4), (16 D(e/4) - D(e))/15 has no e^2 left. The
// two differ by 15/16 c e^2, whose square tells what remains. e falls by fours until they agree well
// enough, or rounding has the upper hand: then the pair that agreed best counts.

#include "gradient/hessian.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TRIES = 9 };
static const double AGREES = 1e-3;        // relative, of both
static const double AGREES_WELL = 2e-6;   // the next ones may be longer
static const double ROUNDING = 1e3;       // of the function, in units of its last digit

typedef struct djPair {
  double *D, *mean;   // (n)
} djPair;

// Both at a distance; *size (n) max |f|.
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

// By how much far and near are apart beyond rounding, by what they say, in the worst stretch.
static double apart(const djPair* far, const djPair* near, const djStretch* stretch, int nstretch,
                    double e) {
  double worst = 0;
  for (int k = 0; k < nstretch; k++) {
    double size = 0, gap = 0, value = 0;
    for (int i = stretch[k].from; i < stretch[k].from + stretch[k].n; i++) {
      size = fmax(size, fabs(near->D[i]));
      gap = fmax(gap, fabs(far->D[i] - near->D[i]));
      value = fmax(value, fabs(near->mean[i]));
    }
    gap -= ROUNDING * DBL_EPSILON * value / e;
    if (gap > 0) worst = fmax(worst, gap / size);
  }
  return worst;
}

djStatus dj_differ(double* d, double* mean, double* step, double* error, int n,
                   const djStretch* stretch, int nstretch, djSampled f, void* user, double* sample) {
  size_t each = (size_t)n;
  djPair far = {sample, sample + each}, near = {sample + 2 * each, sample + 3 * each};
  double *ahead = sample + 4 * each, *back = ahead + each, e = *step, best = INFINITY;
  djStatus status = centre(&far, ahead, back, n, f, user, e);
  for (int k = 0, worse = 0; k < TRIES && worse < 2 && status == DJ_OK; k++, e /= 4) {
    status = centre(&near, ahead, back, n, f, user, e / 4);
    if (status != DJ_OK) return status;
    double gap = apart(&far, &near, stretch, nstretch, e / 4);
    worse = gap < best ? 0 : worse + 1;
    for (int i = 0; i < n && gap < best; i++) {
      d[i] = (16 * near.D[i] - far.D[i]) / 15;
      if (mean) mean[i] = (16 * near.mean[i] - far.mean[i]) / 15;
    }
    if (gap < best) *step = gap < AGREES_WELL ? 4 * e : e;
    best = fmin(best, gap);
    if (best <= AGREES) break;
    djPair swap = far;
    far = near;
    near = swap;
  }
  *error = fmax(*error, best);
  return status;
}
