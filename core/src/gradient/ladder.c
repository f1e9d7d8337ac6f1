// Differences of a loss along a line, extrapolated to step 0.
//
// With L(e) the loss at step e, central differences D(e) = (L(e) - L(-e))/(2e) = L' + c2 e^2 + ...
// Steps of a geometric ladder e_k = scale r^-k give Richardson's tableau
//   D[k][0] = D(e_k),  D[k][j] = (r^2j D[k][j-1] - D[k-1][j-1]) / (r^2j - 1)
// whose entries lose one more term of the series per column. An entry's error is estimated by its
// distance to its two parents (truncation), or a third of what it was a step above, as it may fall
// by chance where the series has other terms (losses that start at a kink of a higher derivative),
// plus the noise of the losses divided by the step. Large steps suffer from truncation, small ones
// from noise: the entry with the smallest estimate balances the two without knowing either in
// advance.
//
// Large steps may leave the neighbourhood in which the derivative is meant, and find another smooth
// loss there, or a constant one: a ball that no longer hits. So steps at which nothing varies do
// not count where smaller ones vary, what a small step knows better overrules a larger one, and the
// result is held against steps a hundred and ten thousand times smaller.
//
// The noise of the losses, rounding and what Newton's method leaves, is measured: k-th differences
// of a smooth function at tiny equal steps vanish, those of noise of variance s^2 have the variance
// s^2 (2k)!/(k!)^2 (Moré and Wild, Estimating computational noise, 2011).

#include "gradient/ladder.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { COLUMNS = 6, SAMPLES = 9 };

double dj_changeAt(djLadder* s, double e) {
  double change;
  s->evaluations++;
  return s->along(s->user, e, &change) && isfinite(change) ? change : NAN;
}

bool dj_mayTake(djLadder* s, int n) {
  s->spent = s->spent || s->evaluations + n > s->most;
  return !s->spent;
}

void dj_measureNoise(djLadder* s) {
  double f[SAMPLES], h = 1e-8 * s->scale, least = INFINITY;
  int shift = SAMPLES / 2;
  for (int k = 0; k < SAMPLES; k++) f[k] = dj_changeAt(s, (k - shift) * h);
  if (!isfinite(f[0]) || !isfinite(f[SAMPLES - 1])) {   // one side only
    double side = isfinite(f[0]) ? -1 : 1;
    for (int k = 0; k < SAMPLES; k++) f[k] = dj_changeAt(s, side * k * h);
  }
  double factor = 1;   // (k!)^2/(2k)!
  for (int k = 1; k < SAMPLES - 2; k++) {
    double sum = 0;
    factor *= k / (2.0 * (2 * k - 1));
    for (int i = 0; i < SAMPLES - k; i++) {
      f[i] = f[i + 1] - f[i];
      sum += f[i] * f[i];
    }
    double variance = factor * sum / (SAMPLES - k);
    if (k > 1 && variance < least) least = variance;
  }
  s->noise = fmax(s->rounding, isfinite(least) ? 2 * sqrt(least) : 0);
}

void dj_descend(djLadder* s) {
  double e = s->n ? s->e[s->n - 1] / DJ_RATIO : s->scale;
  s->e[s->n] = e;
  s->plus[s->n] = dj_changeAt(s, e);
  s->minus[s->n] = dj_changeAt(s, -e);
  s->n++;
}

// ---- tableau ----------------------------------------------------------------------------------

static double quotient(double plus, double minus, double e, int side) {
  return side > 0 ? plus / e : side < 0 ? -minus / e : (plus - minus) / (2 * e);
}

// Largest steps at which the loss is exactly what it is at 0, while it varies at smaller ones.
static int firstVarying(const djLadder* s) {
  for (int k = 0; k < s->n; k++) {
    if (fabs(s->plus[k]) > 0 || fabs(s->minus[k]) > 0) return k;
  }
  return 0;
}

// Best entries of the tableau's rows over one kind of quotients; error infinite: none. Returns the
// number of quotients.
static int fillRows(djDifference row[DJ_LADDER], const djLadder* s, int side) {
  double above[COLUMNS] = {0}, now[COLUMNS] = {0}, before[COLUMNS] = {0};
  int used = 0;      // rows without a gap so far
  int count = 0, first = firstVarying(s);
  double power = side ? DJ_RATIO : DJ_RATIO * DJ_RATIO;
  for (int k = 0; k < s->n; k++) {
    row[k] = (djDifference){.error = INFINITY, .step = s->e[k], .side = side};
    now[0] = k < first ? NAN : quotient(s->plus[k], s->minus[k], s->e[k], side);
    if (!isfinite(now[0])) {
      used = 0;
      memset(before, 0, sizeof before);
      continue;
    }
    count++;
    double noise = s->noise / s->e[k] + 4 * DBL_EPSILON * fabs(now[0]), factor = 1;
    for (int j = 1; j <= used && j < COLUMNS; j++) {
      factor *= power;
      now[j] = (factor * now[j - 1] - above[j - 1]) / (factor - 1);
      noise *= (factor + 1 / DJ_RATIO) / (factor - 1);   // that of the row above is smaller
      double parents = fmax(fabs(now[j] - now[j - 1]), fabs(now[j] - above[j - 1]));
      double error = fmax(parents, before[j] / DJ_RATIO) + noise;
      before[j] = parents;
      if (error < row[k].error) {
        row[k].error = error;
        row[k].value = now[j];
      }
    }
    memcpy(above, now, sizeof above);
    used++;
  }
  return count;
}

// The row with the smallest error, which is at least what smaller steps find it to be.
static bool choose(djDifference* out, const djDifference row[DJ_LADDER], int n) {
  out->error = INFINITY;
  for (int k = 0; k < n; k++) {
    double error = row[k].error;
    for (int j = k + 1; j < n && isfinite(error); j++) {
      if (!isfinite(row[j].error)) continue;
      error = fmax(error, fabs(row[k].value - row[j].value) - 2 * row[j].error);
    }
    if (!(error < out->error)) continue;
    *out = row[k];
    out->error = error;
  }
  return isfinite(out->error);
}

bool dj_extrapolate(djDifference* out, const djLadder* s) {
  djDifference row[DJ_LADDER];
  int plus = 0, minus = 0;
  *out = (djDifference){.value = NAN, .error = INFINITY};
  for (int k = 0; k < s->n; k++) {
    plus += isfinite(s->plus[k]) ? 1 : 0;
    minus += isfinite(s->minus[k]) ? 1 : 0;
  }
  if (fillRows(row, s, 0) < 3 && fillRows(row, s, plus >= minus ? 1 : -1) < 3) return false;
  return choose(out, row, s->n);
}

bool dj_oneSided(djDifference* out, const djLadder* s, int side) {
  djDifference row[DJ_LADDER];
  *out = (djDifference){.value = NAN, .error = INFINITY, .side = side};
  return fillRows(row, s, side) >= 3 && choose(out, row, s->n);
}

bool dj_isConfirmed(double* below, const djDifference* d, djLadder* s) {
  double whole = quotient(dj_changeAt(s, d->step), dj_changeAt(s, -d->step), d->step, d->side);
  double bend = fabs(whole - d->value);
  for (int k = 1; k <= 2; k++) {
    double e = d->step * (k == 1 ? 1e-2 : 1e-4);
    double value = quotient(dj_changeAt(s, e), dj_changeAt(s, -e), e, d->side);
    double allowed = 4 * (d->error + s->noise / e) + 0.1 * bend + 1e-7 * fabs(d->value);
    if (!isfinite(value) || fabs(value - d->value) <= allowed) continue;
    *below = e;
    return false;
  }
  return true;
}

// ---- fit --------------------------------------------------------------------------------------

enum { TERMS = 5 };

// Functions of t that are fitted, that of the derivative first: 1, t^2, t^power. One-sided
// quotients have all powers, and the error of the loss at 0 in common: 1, 1/t, t, t^2... Returns
// how many.
static int basis(double row[TERMS], double t, int power, int side) {
  row[0] = 1;
  if (!side) {
    row[1] = t * t;
    row[2] = power == 3 ? t * t * t : t * t * t * t;
    return 3;
  }
  row[1] = 1 / t;
  row[2] = t;
  row[3] = t * t;
  row[4] = t * t * t;
  return power + 1;
}

// Solves A x = b of n unknowns, A symmetric and positive definite, by Cholesky. Returns the first
// entry of A^-1.
static double solve(double x[TERMS], double A[TERMS][TERMS], const double b[TERMS], int n) {
  double y[2][TERMS] = {{0}};   // of b, and of the first unit vector
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = A[i][j];
      for (int k = 0; k < j; k++) sum -= A[i][k] * A[j][k];
      A[i][j] = i == j ? sqrt(sum) : sum / A[j][j];
    }
  }
  for (int c = 0; c < 2; c++) {
    for (int i = 0; i < n; i++) {
      y[c][i] = c ? i == 0 : b[i];
      for (int k = 0; k < i; k++) y[c][i] -= A[i][k] * y[c][k];
      y[c][i] /= A[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
      for (int k = i + 1; k < n; k++) y[c][i] -= A[k][i] * y[c][k];
      y[c][i] /= A[i][i];
    }
  }
  memcpy(x, y[0], sizeof y[0]);
  return y[1][0];
}

// Least squares of quotients d at rising steps t by weights t^2, as their noise falls as 1/t.
// Returns the value at 0. *alike: correlation of neighbouring rests, near 1 where terms are
// missing. *error: the standard error of the value, as if only so many rests counted as are
// independent.
static double fit(double* error, double* alike, const double* d, const double* t, int n, int power,
                  int side) {
  double A[TERMS][TERMS] = {{0}}, b[TERMS] = {0}, x[TERMS], row[TERMS];
  double sum = 0, product = 0, last = 0;
  int terms = 0;
  for (int i = 0; i < n; i++) {
    terms = basis(row, t[i], power, side);
    for (int j = 0; j < terms; j++) {
      b[j] += t[i] * t[i] * row[j] * (d[i] - d[0]);   // against cancellation
      for (int k = 0; k < terms; k++) A[j][k] += t[i] * t[i] * row[j] * row[k];
    }
  }
  double inverse = solve(x, A, b, terms);
  for (int i = 0; i < n; i++) {
    basis(row, t[i], power, side);
    double rest = d[i] - d[0];
    for (int j = 0; j < terms; j++) rest -= x[j] * row[j];
    rest *= t[i];
    sum += rest * rest;
    product += rest * last;
    last = rest;
  }
  *alike = sum > 0 ? fmin(fmax(product / sum, 0), 1 - 1.0 / n) : 0;
  *error = sqrt(inverse * sum / (n - terms) * (1 + *alike) / (1 - *alike));
  return d[0] + x[0];
}

// Fits over two rungs of the ladder, with a fourth power of the step and, for losses that start at
// a kink of a higher derivative, with a third. Where terms are missing the next fit is to smaller
// steps, else to the same.
void dj_refine(djDifference* result, double* low, djLadder* s, int n) {
  enum { MOST = 256 };
  double d[MOST], t[MOST], top = DJ_RATIO * DJ_RATIO, least = INFINITY;
  if (n < 2) return;
  if (n > MOST) n = MOST;
  for (int i = 0; i < n; i++) {
    double grow = pow(top, (double)i / (n - 1)), e = *low * grow;
    double plus = result->side < 0 ? 0 : dj_changeAt(s, e);
    double minus = result->side > 0 ? 0 : dj_changeAt(s, -e);
    d[i] = quotient(plus, minus, e, result->side);
    t[i] = grow / top;
    if (!isfinite(d[i])) return;
  }
  bool missing = false;
  for (int power = 4; power >= 3; power--) {
    double error, alike, value = fit(&error, &alike, d, t, n, power, result->side);
    if (error < least) missing = alike > 0.5;
    least = fmin(least, error);
    if (!(error < result->error)) continue;
    result->error = error;
    result->value = value;
  }
  if (missing) *low /= DJ_RATIO;
}
