// Derivatives of a function of one number by differences, where it is exact to rounding.
//
// With D(e) = (f(e) - f(-e))/2e = f' + c e^2 + d e^4 + ..., R = (16 D(e/4) - D(e))/15 has no e^2
// left, and (256 R(e/4) - R(e))/255 no e^4. As Ridders does it: e falls by fours until two entries
// of this table agree well enough, or rounding has the upper hand; of each stretch the entry counts
// that agrees best with those of a lower order that it is made of.

#include "gradient/hessian.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TRIES = 8, STRETCHES = 8, ORDERS = 3 };
static const double AGREES = 1e-5;      // relative, of both
static const double AGREES_WELL = 3e-7; // the next ones may be longer
static const double ROUNDING = 1e3;     // of the function, in units of its last digit

// A row of the table, for a distance; and the function's mean there.
typedef struct djLine {
  double *order[ORDERS], *mean; // (n)
} djLine;

static djLine lineAt(double* memory, size_t n) {
  return (djLine){{memory, memory + n, memory + 2 * n}, memory + 3 * n};
}

// D and the mean at a distance.
static djStatus centre(djLine* to, double* both, int n, djSampled f, void* user, double e) {
  double *ahead = both, *back = both + n;
  djStatus status = f(ahead, user, e);
  if (status == DJ_OK) status = f(back, user, -e);
  if (status != DJ_OK) return status;
  for (int i = 0; i < n; i++) {
    to->order[0][i] = (ahead[i] - back[i]) / (2 * e);
    to->mean[i] = (ahead[i] + back[i]) / 2;
  }
  return DJ_OK;
}

static void extrapolate(djLine* near, const djLine* far, int n, int orders) {
  double f = 16;
  for (int k = 1; k < orders; k++, f *= 16) {
    const double *a = near->order[k - 1], *b = far->order[k - 1];
    for (int i = 0; i < n; i++) near->order[k][i] = (f * a[i] - b[i]) / (f - 1);
  }
}

static double largest(const double* x, const double* less, const djStretch* s) {
  double most = 0;
  for (int j = 0; j < s->n; j++) {
    double v = fabs(x[s->from + j] - (less ? less[s->from + j] : 0));
    most = fmax(most, s->weight ? s->weight[j] * v : v);
  }
  return most;
}

static void settle(double* d, double* mean, const djLine* far, const djLine* near, int order,
                   const djStretch* s) {
  for (int i = s->from; i < s->from + s->n; i++) {
    d[i] = near->order[order][i];
    if (mean) mean[i] = (16 * near->mean[i] - far->mean[i]) / 15;
  }
}

// By how much the entries of two rows are apart beyond rounding, the best of them; settled where
// that is less than before.
static double agree(double* best, double* d, double* mean, const djLine* far, const djLine* near,
                    const djStretch* s, int orders, double rounding) {
  double least = INFINITY, size = largest(near->order[0], NULL, s);
  for (int k = 1; k < orders; k++) {
    double gap = largest(far->order[k - 1], near->order[k - 1], s) - rounding;
    gap = gap > 0 ? gap / size : 0;
    least = fmin(least, gap);
    if (!(gap < *best)) continue;
    *best = gap;
    settle(d, mean, far, near, k, s);
  }
  return least;
}

djStatus dj_differ(double* d, double* mean, double* step, double* error, int n,
                   const djStretch* stretch, int nstretch, djSampled f, void* user,
                   double* sample) {
  size_t each = (size_t)n;
  djLine far = lineAt(sample, each), near = lineAt(sample + 4 * each, each);
  double *both = sample + 8 * each, e = *step, begun, best[STRETCHES], first = 0;
  int worse[STRETCHES] = {0};
  for (int k = 0; k < nstretch; k++) best[k] = INFINITY;
  djStatus status = centre(&far, both, n, f, user, e);
  for (int k = 0; k < TRIES && status != DJ_OK && status != DJ_NO_MEMORY; k++) {
    e /= 4; // beyond what is defined
    status = centre(&far, both, n, f, user, e);
  }
  begun = e;
  for (int try = 0, orders = 2; try < TRIES && status == DJ_OK; try++, e /= 4, orders = ORDERS) {
    bool more = false;
    double value = 0, worst = 0;
    status = centre(&near, both, n, f, user, e / 4);
    if (status != DJ_OK) return status;
    extrapolate(&near, &far, n, orders);
    for (int k = 0; k < nstretch; k++) value = fmax(value, largest(near.mean, NULL, &stretch[k]));
    double rounding = ROUNDING * DBL_EPSILON * value / (e / 4);
    for (int k = 0; k < nstretch; k++) {
      double before = best[k];
      double gap = agree(&best[k], d, mean, &far, &near, &stretch[k], orders, rounding);
      worse[k] = gap < before ? 0 : worse[k] + 1;
      more = more || (best[k] > AGREES && worse[k] < 3);
      worst = fmax(worst, best[k]);
    }
    if (try == 0) first = worst;
    // Where no shorter step does better it is rounding that keeps them apart.
    bool rounded = worst > AGREES && worst == first && try > 0;
    *step = worst > AGREES ? (rounded ? 4 * begun : begun) : worst < AGREES_WELL ? 4 * e : e;
    djLine swap = far;
    far = near;
    near = swap;
    if (more && try + 1 < TRIES) continue;
    *error = fmax(*error, worst);
    break;
  }
  return status;
}
