// Certificate of a directional derivative.
//
// With L(e) the loss at step e, central differences D(e) = (L(e) - L(-e))/(2e) = L' + c2 e^2 + ...
// Steps of a geometric ladder e_k = scale r^-k give Richardson's tableau
//   D[k][0] = D(e_k),  D[k][j] = (r^2j D[k][j-1] - D[k-1][j-1]) / (r^2j - 1)
// whose entries lose one more term of the series per column. An entry's error is estimated by its
// distance to its two parents (truncation), or a third of what it was a step above, as it may fall
// by chance where the series has other terms (losses that start at a kink of a higher derivative),
// plus the noise of the losses divided by the step; the
// entry with the smallest estimate is the difference. Large steps suffer from truncation, small
// ones from noise: this balances the two without knowing either in advance. Losses with stiff
// contact need steps far below those of smooth ones, hence the long ladder; it ends where smaller
// steps cannot improve anything. Where noise limits the result, a least-squares fit of
// D(e) = L' + c2 e^2 + c4 e^4 to more steps around the best ones averages it.

#include <dijoco/check.h>

#include <float.h>
#include <math.h>
#include <string.h>

enum { LADDER = 19, COLUMNS = 6, FIT = 17 };

static const double ratio = 3.1622776601683795;  // sqrt(10)

typedef struct djLadder {
  double loss;                         // at step 0
  int n;                               // steps so far
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

static double rounding(const djLadder* s, int k) {
  double size = fabs(s->loss);
  if (isfinite(s->plus[k])) size = fmax(size, fabs(s->plus[k]));
  if (isfinite(s->minus[k])) size = fmax(size, fabs(s->minus[k]));
  return 2 * DBL_EPSILON * size;
}

// Noise of the losses at step k: rounding, and what the two smallest steps show of the solver's
// own: their second differences fall with the square of the step, and, where losses are missing on
// one side, the first ones with the step; noise does not.
static double noiseAt(const djLadder* s, int k) {
  if (s->n < 2) return rounding(s, k);
  int a = s->n - 2, b = s->n - 1;
  double own = second(s, b) - second(s, a) / (ratio * ratio);
  if (!isfinite(own)) own = s->plus[b] - s->loss - (s->plus[a] - s->loss) / ratio;
  if (!isfinite(own)) own = s->minus[b] - s->loss - (s->minus[a] - s->loss) / ratio;
  return fmax(rounding(s, k), isfinite(own) ? fabs(own) : 0);
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
  double above[COLUMNS] = {0}, row[COLUMNS] = {0}, before[COLUMNS] = {0};
  int used = 0;      // rows without a gap so far
  int count = 0;
  double power = side ? ratio : ratio * ratio;
  result->difference_error = INFINITY;
  for (int k = 0; k < s->n; k++) {
    row[0] = quotient(s, k, side);
    if (!isfinite(row[0])) {
      used = 0;
      memset(before, 0, sizeof before);
      continue;
    }
    count++;
    double floor_error = noiseAt(s, k) / s->e[k];
    double factor = 1;
    for (int j = 1; j <= used && j < COLUMNS; j++) {
      factor *= power;
      row[j] = (factor * row[j - 1] - above[j - 1]) / (factor - 1);
      double parents = fmax(fabs(row[j] - row[j - 1]), fabs(row[j] - above[j - 1]));
      double error = fmax(parents, before[j] / ratio) + floor_error;
      before[j] = parents;
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

// Solve the 3 x 3 system A x = b for x[0], and the first entry of A^-1, by Cramer's rule.
static void solveFirst(double A[3][3], const double b[3], double x[3], double* inverse) {
  double c[3], det;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    c[i] = A[1][j] * A[2][k] - A[1][k] * A[2][j];
  }
  det = A[0][0] * c[0] + A[0][1] * c[1] + A[0][2] * c[2];
  *inverse = c[0] / det;
  for (int n = 0; n < 3; n++) {
    double M[3][3];
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) M[i][j] = j == n ? b[i] : A[i][j];
    }
    x[n] = (M[0][0] * (M[1][1] * M[2][2] - M[1][2] * M[2][1]) -
            M[0][1] * (M[1][0] * M[2][2] - M[1][2] * M[2][0]) +
            M[0][2] * (M[1][0] * M[2][1] - M[1][1] * M[2][0])) / det;
  }
}

// Least squares of d = L' + c2 t^2 + c t^power by weights; the scatter about it gives its error.
static double fit(double* error, const double* d, const double* t, int power) {
  double A[3][3] = {{0}}, b[3] = {0}, x[3], inverse, scatter = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < FIT; i++) {
      double square = t[i] * t[i], weight = square;   // the quotient's noise falls as 1/e
      double row[3] = {1, square, power == 3 ? square * t[i] : square * square};
      if (pass) {
        double rest = d[i] - d[0] - (x[0] + x[1] * row[1] + x[2] * row[2]);
        scatter += weight * rest * rest;
        continue;
      }
      for (int j = 0; j < 3; j++) {
        b[j] += weight * row[j] * (d[i] - d[0]);   // against cancellation
        for (int k = 0; k < 3; k++) A[j][k] += weight * row[j] * row[k];
      }
    }
    if (pass == 0) solveFirst(A, b, x, &inverse);
  }
  *error = sqrt(inverse * scatter / (FIT - 3));
  return d[0] + x[0];
}

// Fits over two rungs of the ladder that begin at the best step, with a fourth power of it and, for
// losses that start at a kink of a higher derivative, with a third. The better one replaces the
// tableau's result where its error is smaller.
static void refine(djdCertificate* result, djdLossAlong along, void* user) {
  double d[FIT], t[FIT];
  for (int i = 0; i < FIT; i++) {
    double grow = pow(ratio, 2.0 * i / (FIT - 1)), e = result->step * grow;
    double plus = lossAt(along, user, e, &result->evaluations);
    double minus = lossAt(along, user, -e, &result->evaluations);
    d[i] = (plus - minus) / (2 * e);
    t[i] = grow / (ratio * ratio);
    if (!isfinite(d[i])) return;
  }
  for (int power = 4; power >= 3; power--) {
    double error, value = fit(&error, d, t, power);
    if (!(error < result->difference_error)) continue;
    result->difference_error = error;
    result->difference = value;
  }
}

// L(e) - L - e g.d at +e_k or -e_k.
static double remainderAt(const djdCertificate* result, const djLadder* s, int k, int side) {
  double value = side < 0 ? s->minus[k] : s->plus[k];
  double e = side < 0 ? -s->e[k] : s->e[k];
  return value - s->loss - e * result->analytic;
}

// The largest step of the slope: from it on the remainder is mainly even in the step, as its
// second-order term is, and it is at most a hundred times the step at which the tableau found the
// loss to follow its series. Larger ones are outside the range in which the slope means anything.
// *found: there is such a step.
static int firstOfSlope(bool* found, const djdCertificate* result, const djLadder* s) {
  int near = 0;
  while (near + 3 < s->n && s->e[near] > 100 * result->step) near++;
  for (int k = near; k + 1 < s->n; k++) {
    bool even = true;
    for (int i = k; i < k + 2; i++) {
      double plus = remainderAt(result, s, i, 1), minus = remainderAt(result, s, i, -1);
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

// Whether the remainder at step k tells anything: the loss is not linear there, to rounding.
static bool isReadable(const djdCertificate* result, const djLadder* s, int k, int side) {
  double r = fabs(remainderAt(result, s, k, side));
  return r > 0 && r >= 1e-10 * fmax(fabs(s->loss), fabs(result->analytic) * s->e[k]);
}

// Slope of the remainder's size R(e) on one side, read over three neighbouring steps from `first`
// on. In its asymptotic range the two local slopes agree, and mostly R(-e) is like R(e). Where they
// agree best, counting what noise and the gradient's own measured error may do to them, the slope
// is extrapolated to step 0: local slopes depend on the step linearly. Returns by how much they
// disagree there; infinite where nothing can be read.
static double measureSlope(double* slope, const djdCertificate* result, const djLadder* s,
                           int first, int side) {
  double best = INFINITY, unit = log(ratio), own = fabs(result->analytic - result->difference);
  for (int k = first; k + 2 < s->n; k++) {
    double r[3], odd = 0;
    bool readable = true;
    for (int i = 0; i < 3; i++) {
      r[i] = fabs(remainderAt(result, s, k + i, side));
      readable = readable && isReadable(result, s, k + i, side);
      double other = log(fabs(remainderAt(result, s, k + i, -side)) / r[i]) / unit;
      odd = fmax(odd, isfinite(other) ? fmin(fabs(other), 1) : 1);
    }
    double one = log(r[0] / r[1]) / unit, two = log(r[1] / r[2]) / unit;
    double noise = noiseAt(s, k + 2) + own * s->e[k + 2];
    double error = fabs(one - two) + 0.05 * odd + noise / r[2];
    if (readable && error < best) {
      best = error;
      *slope = two + (two - one) / (ratio - 1);
    }
  }
  return best;
}

// Quotients and slope of the ladder so far; true where smaller steps cannot improve them.
static bool evaluate(djdCertificate* result, const djLadder* s, int* side) {
  int plus = 0, minus = 0, last = s->n - 1;
  for (int k = 0; k < s->n; k++) {
    plus += isfinite(s->plus[k]) ? 1 : 0;
    minus += isfinite(s->minus[k]) ? 1 : 0;
  }
  *side = plus >= minus ? 1 : -1;
  if (extrapolate(result, s, 0) < 3 && extrapolate(result, s, *side) < 3) {
    result->difference_error = INFINITY;
    return false;
  }
  bool quadratic;
  int first = firstOfSlope(&quadratic, result, s);
  double slope[2] = {NAN, NAN}, disagree[2] = {INFINITY, INFINITY};
  if (plus >= minus) disagree[0] = measureSlope(&slope[0], result, s, first, 1);
  if (minus >= plus) disagree[1] = measureSlope(&slope[1], result, s, first, -1);
  int best = disagree[1] < disagree[0];
  result->slope = slope[best];
  // A remainder of third order at every step that tells anything: the one of second order is
  // below what can be read. (That of a wrong gradient is of first order.)
  bool higher = !quadratic && slope[best] > 2.5;
  result->has_slope = isfinite(slope[best]) && !higher;
  double doubt = result->has_slope ? disagree[best] : 0;
  return rounding(s, last) / s->e[last] > 10 * result->difference_error && doubt < 0.05;
}

djStatus djd_check(djdCertificate* result, double loss, double analytic, double scale,
                   djdLossAlong along, void* user) {
  if (!result || !along || !isfinite(loss) || !(scale > 0) || !isfinite(scale)) return DJ_INVALID;
  *result = (djdCertificate){.analytic = analytic, .difference = NAN,
                             .difference_error = INFINITY, .relative_error = INFINITY,
                             .slope = NAN};
  // Losses along the line may differ from the given one by rounding: theirs at 0 counts.
  double e = scale, own = lossAt(along, user, 0, &result->evaluations);
  djLadder s = {.loss = fabs(own - loss) <= 1e-10 * fabs(loss) ? own : loss};
  int side = 1;
  bool done = false;
  while (s.n < LADDER && !done) {
    s.e[s.n] = e;
    s.plus[s.n] = lossAt(along, user, e, &result->evaluations);
    s.minus[s.n] = lossAt(along, user, -e, &result->evaluations);
    s.n++;
    done = evaluate(result, &s, &side);
    e /= ratio;
  }
  if (!isfinite(result->difference_error)) return DJ_NOT_CONVERGED;
  if (result->difference_error > 1e-9 * fabs(result->difference)) refine(result, along, user);
  // 0, or rounding, against what noise of the losses alone makes of it: 0 against 0
  double noise = fmax(64 * DBL_EPSILON * fabs(s.loss) / result->step,
                      fmin(4 * result->difference_error, 1e-10 * fabs(loss)));
  bool none = fabs(analytic) <= 1e-15 * fabs(loss);   // less than the relative error counts
  if (none && fabs(result->difference) <= noise) result->difference = 0;
  double error = fabs(analytic - result->difference);
  double size = fmax(fabs(analytic), 1e-9 * fabs(loss));
  result->relative_error = error == 0 ? 0 : error / size;
  bool slope_good = !result->has_slope || (result->slope >= 1.9 && result->slope <= 2.1);
  result->passed = result->relative_error <= 1e-6 && slope_good;
  return DJ_OK;
}
