// Slope of the remainder L(e) - L - e g.d, over the logarithm of the step: 2 for a right gradient.

#include "gradient/ladder.h"

#include <math.h>

// What the slope is read from.
typedef struct djRemainder {
  const djLadder* s;
  const djDifference* d;
  double analytic;
} djRemainder;

// L(e) - L - e g.d at +e_k or -e_k.
static double remainderAt(const djRemainder* r, int k, int side) {
  double e = r->s->e[k];
  return side < 0 ? r->s->minus[k] + e * r->analytic : r->s->plus[k] - e * r->analytic;
}

// The largest step of the slope: from it on the remainder is mainly even in the step, as its
// second-order term is, and it is at most a hundred times the step at which the differences found
// the loss to follow its series. Larger ones are outside the range in which the slope means
// anything. *found: there is such a step.
static int firstOfSlope(bool* found, const djRemainder* r) {
  const djLadder* s = r->s;
  int near = 0;
  while (near + 3 < s->n && s->e[near] > 100 * r->d->step) near++;
  for (int k = near; k + 1 < s->n; k++) {
    bool even = true;
    for (int i = k; i < k + 2; i++) {
      double plus = remainderAt(r, i, 1), minus = remainderAt(r, i, -1);
      even = even && fabs(plus - minus) <= 0.3 * fabs(plus + minus);
    }
    if (even) {
      *found = true;
      return k;
    }
  }
  *found = false;
  return near;
}

// Whether a remainder at step k tells anything: the loss is not linear there, to rounding and
// noise.
static bool isReadable(const djRemainder* r, int k, double size) {
  return size > 20 * r->s->noise &&
         size >= 1e-10 * fmax(fabs(r->s->loss), fabs(r->analytic) * r->s->e[k]);
}

// Slope of the remainder's size R(e) on one side, read over three neighbouring steps from `first`
// on. In its asymptotic range the two local slopes agree, and mostly R(-e) is like R(e). Where they
// agree best, counting what noise and the gradient's own measured error may do to them, the slope
// is extrapolated to step 0: local slopes depend on the step linearly. Returns by how much they
// disagree there; infinite where nothing can be read.
static double readSide(double* slope, const djRemainder* r, int first, int side) {
  const djLadder* s = r->s;
  double best = INFINITY, unit = log(DJ_RATIO), own = fabs(r->analytic - r->d->value);
  for (int k = first; k + 2 < s->n; k++) {
    double size[3], odd = 0;
    bool readable = true;
    for (int i = 0; i < 3; i++) {
      size[i] = fabs(remainderAt(r, k + i, side));
      readable = readable && isReadable(r, k + i, size[i]);
      double other = log(fabs(remainderAt(r, k + i, -side)) / size[i]) / unit;
      odd = fmax(odd, isfinite(other) ? fmin(fabs(other), 1) : 1);
    }
    double one = log(size[0] / size[1]) / unit, two = log(size[1] / size[2]) / unit;
    double noise = s->noise + own * s->e[k + 2];
    double error = fabs(one - two) + 0.05 * odd + noise / size[2];
    if (readable && error < best) {
      best = error;
      *slope = two + (two - one) / (DJ_RATIO - 1);
    }
  }
  return best;
}

bool dj_measureSlope(double* slope, double* doubt, const djDifference* d, const djLadder* s,
                     double analytic) {
  djRemainder r = {s, d, analytic};
  int plus = 0, minus = 0;
  for (int k = 0; k < s->n; k++) {
    plus += isfinite(s->plus[k]) ? 1 : 0;
    minus += isfinite(s->minus[k]) ? 1 : 0;
  }
  bool quadratic;
  int first = firstOfSlope(&quadratic, &r);
  double side[2] = {NAN, NAN}, disagree[2] = {INFINITY, INFINITY};
  if (plus >= minus) disagree[0] = readSide(&side[0], &r, first, 1);
  if (minus >= plus) disagree[1] = readSide(&side[1], &r, first, -1);
  int best = disagree[1] < disagree[0];
  *slope = side[best];
  // A remainder of third order at every step that tells anything: the one of second order is
  // below what can be read. (That of a wrong gradient is of first order.)
  bool higher = !quadratic && side[best] > 2.5;
  bool found = isfinite(side[best]) && !higher;
  *doubt = found ? disagree[best] : 0;
  return found;
}
