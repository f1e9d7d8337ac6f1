// Certificate of a directional derivative.
//
// With L(e) the loss at step e, central differences D(e) = (L(e) - L(-e))/(2e) = L' + c2 e^2 + ...
// Steps of a geometric ladder e_k = scale r^-k give Richardson's tableau
//   D[k][0] = D(e_k),  D[k][j] = (r^2j D[k][j-1] - D[k-1][j-1]) / (r^2j - 1)
// whose entries lose one more term of the series per column. An entry's error is estimated by its
// distance to its two parents (truncation) plus the rounding of the losses divided by the step; the
// entry with the smallest estimate is the difference. Large steps suffer from truncation, small
// ones from rounding: this balances the two without knowing either in advance.

#include <dijoco/check.h>

#include <float.h>
#include <math.h>

enum { LADDER = 13, COLUMNS = 6 };

static const double ratio = 3.1622776601683795;  // sqrt(10)

typedef struct djLadder {
  double loss;               // at step 0
  double e[LADDER];
  double plus[LADDER], minus[LADDER];  // NaN where not allowed
} djLadder;

static double lossAt(djdLossAlong along, void* user, double e, int* evaluations) {
  double value;
  (*evaluations)++;
  return along(user, e, &value) && isfinite(value) ? value : NAN;
}

static double second(const djLadder* s, int k) {
  return s->plus[k] + s->minus[k] - 2 * s->loss;
}

// Noise of the losses at step k: rounding, and what the two smallest steps show of the solver's
// own: their second differences fall with the square of the step, noise does not.
static double noiseAt(const djLadder* s, int k) {
  double size = fabs(s->loss);
  if (isfinite(s->plus[k])) size = fmax(size, fabs(s->plus[k]));
  if (isfinite(s->minus[k])) size = fmax(size, fabs(s->minus[k]));
  double own = fabs(second(s, LADDER - 1) - second(s, LADDER - 2) / (ratio * ratio));
  return fmax(2 * DBL_EPSILON * size, isfinite(own) ? own : 0);
}

// Quotient of step k: side 0 central, +1 and -1 one-sided. NaN where losses are missing.
static double quotient(const djLadder* s, int k, int side) {
  if (side > 0) return (s->plus[k] - s->loss) / s->e[k];
  if (side < 0) return (s->loss - s->minus[k]) / s->e[k];
  return (s->plus[k] - s->minus[k]) / (2 * s->e[k]);
}

// Tableau over one kind of quotients. Keeps in result whatever has the smallest error estimate;
// returns the number of quotients.
static int extrapolate(djdCertificate* result, const djLadder* s, int side) {
  double above[COLUMNS] = {0}, row[COLUMNS] = {0};
  int used = 0;      // rows without a gap so far
  int count = 0;
  double power = side ? ratio : ratio * ratio;
  for (int k = 0; k < LADDER; k++) {
    row[0] = quotient(s, k, side);
    if (!isfinite(row[0])) {
      used = 0;
      continue;
    }
    count++;
    double floor_error = noiseAt(s, k) / s->e[k];
    double factor = 1;
    for (int j = 1; j <= used && j < COLUMNS; j++) {
      factor *= power;
      row[j] = (factor * row[j - 1] - above[j - 1]) / (factor - 1);
      double error = fmax(fabs(row[j] - row[j - 1]), fabs(row[j] - above[j - 1])) + floor_error;
      if (error < result->difference_error) {
        result->difference_error = error;
        result->difference = row[j];
        result->step = s->e[k];
      }
    }
    for (int j = 0; j < COLUMNS; j++) above[j] = row[j];
    used++;
  }
  return count;
}

// Slope of the remainder R(e) = |L(e) - L - e g.d|: the local slopes of neighbouring steps agree
// where R is in its asymptotic range, so the slope is read over the three steps where they differ
// least, counting what rounding and the gradient's own measured error may do to them.
static void measureSlope(djdCertificate* result, const djLadder* s, int side) {
  double remainder[LADDER], noise[LADDER];
  int first = -1;
  double own = fabs(result->analytic - result->difference);
  for (int k = 0; k < LADDER; k++) {
    double value = side < 0 ? s->minus[k] : s->plus[k];
    double e = side < 0 ? -s->e[k] : s->e[k];
    remainder[k] = fabs(value - s->loss - e * result->analytic);
    noise[k] = noiseAt(s, k) + own * s->e[k];
    if (first < 0 && isfinite(remainder[k])) first = k;
  }
  if (first < 0) return;
  double smallest = 1e-10 * fmax(fabs(s->loss), fabs(result->analytic) * s->e[first]);
  if (!(remainder[first] >= smallest) || remainder[first] == 0) return;
  double best = INFINITY, unit = log(ratio);
  for (int k = first; k + 2 < LADDER; k++) {
    if (!isfinite(remainder[k]) || !isfinite(remainder[k + 1]) || !(remainder[k + 2] > 0)) continue;
    double one = log(remainder[k] / remainder[k + 1]) / unit;
    double two = log(remainder[k + 1] / remainder[k + 2]) / unit;
    double error = fabs(one - two) + noise[k + 2] / remainder[k + 2];
    if (error < best) {
      best = error;
      result->slope = (one + two) / 2;
    }
  }
  result->has_slope = true;
}

djStatus djd_check(djdCertificate* result, double loss, double analytic, double scale,
                   djdLossAlong along, void* user) {
  if (!result || !along || !isfinite(loss) || !(scale > 0) || !isfinite(scale)) return DJ_INVALID;
  *result = (djdCertificate){.analytic = analytic, .difference = NAN,
                             .difference_error = INFINITY, .relative_error = INFINITY,
                             .slope = NAN};
  djLadder s = {.loss = loss};
  int nplus = 0, nminus = 0;
  double e = scale;
  for (int k = 0; k < LADDER; k++, e /= ratio) {
    s.e[k] = e;
    s.plus[k] = lossAt(along, user, e, &result->evaluations);
    s.minus[k] = lossAt(along, user, -e, &result->evaluations);
    nplus += isfinite(s.plus[k]) ? 1 : 0;
    nminus += isfinite(s.minus[k]) ? 1 : 0;
  }
  int side = nplus >= nminus ? 1 : -1;
  if (extrapolate(result, &s, 0) < 3 && extrapolate(result, &s, side) < 3) {
    return DJ_NOT_CONVERGED;
  }
  double error = fabs(analytic - result->difference);
  double size = fmax(fabs(analytic), 1e-9 * fabs(loss));
  result->relative_error = error == 0 ? 0 : error / size;
  measureSlope(result, &s, side);
  bool slope_good = !result->has_slope || (result->slope >= 1.9 && result->slope <= 2.1);
  result->passed = result->relative_error <= 1e-6 && slope_good;
  return DJ_OK;
}
