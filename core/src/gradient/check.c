// Certificate of a directional derivative: the given one beside differences (ladder.c), and the
// slope of what it leaves of the loss (slope.c).
//
// The verdict allows for what the difference itself can know. Its error is an estimate: four times
// it are granted. Where that matters, or where they would decide, more losses are taken first. A
// difference that knows less than a hundredth certifies nothing.

#include "gradient/ladder.h"

#include <float.h>
#include <math.h>

static const double tolerance = 1e-6;   // relative error of a gradient that passes
static const double granted = 4;        // times the difference's error
static const double useless = 1e-2;     // uncertainty of a difference that certifies nothing
static const double enough = 5e-8;      // relative error of a difference that needs no more losses

// How much larger than allowed the gradient's error is; below 1: it passes.
static double judge(const djDifference* d, double analytic, double size) {
  return fabs(analytic - d->value) / (tolerance * size + granted * d->error);
}

// The ladder, until smaller steps cannot improve anything. False: too few steps are allowed.
static bool climbDown(djDifference* d, djLadder* s, double analytic) {
  double until = INFINITY;   // no end above this step
  while (s->n < DJ_LADDER) {
    dj_descend(s);
    if (!dj_extrapolate(d, s)) continue;
    double last = s->e[s->n - 1], slope, doubt, below;
    bool good = d->error <= 1e-11 * fabs(d->value) || s->noise / last > 10 * d->error;
    if (!good || last > until) continue;
    dj_measureSlope(&slope, &doubt, d, s, analytic);
    if (doubt >= 0.05) continue;
    if (dj_isConfirmed(&below, d, s)) break;
    until = below;
  }
  return isfinite(d->error);
}

// More losses, for a difference that knows too little, and once before a gradient is refused that
// is nearly right.
static void learnMore(djDifference* d, djLadder* s, double analytic, double size) {
  static const int more[] = {17, 51, 153, 153};
  double low = d->step;
  for (int k = 0; k < 4; k++) {
    double limit = k < 2 ? enough * size : 0.1 * tolerance * size;
    bool near = judge(d, analytic, size) > 1 && fabs(analytic - d->value) < 1e-4 * size;
    if (d->error <= limit && !(k == 0 && near)) return;
    dj_refine(d, &low, s, more[k]);
  }
}

djStatus dj_judge(djdCertificate* result, double loss, double analytic, double scale,
                  double rounding, djChangeAlong along, void* user) {
  *result = (djdCertificate){.analytic = analytic, .difference = NAN,
                             .difference_error = INFINITY, .relative_error = INFINITY,
                             .uncertainty = INFINITY, .slope = NAN};
  djLadder s = {.along = along, .user = user, .loss = loss, .scale = scale, .rounding = rounding};
  djDifference d = {0};
  dj_measureNoise(&s);
  bool found = climbDown(&d, &s, analytic);
  double size = fmax(fabs(analytic), 1e-9 * fabs(loss));
  if (!found) {
    result->evaluations = s.evaluations;
    return DJ_NOT_CONVERGED;
  }
  // 0, or rounding, against what noise of the losses alone makes of it: 0 against 0
  double noise = fmax(64 * DBL_EPSILON * fabs(loss) / d.step,
                      fmin(granted * d.error, 1e-10 * fabs(loss)));
  bool none = fabs(analytic) <= 1e-15 * fabs(loss);   // less than the relative error counts
  if (none && fabs(d.value) <= noise) d.value = 0;
  else learnMore(&d, &s, analytic, size);
  // Of derivatives this small, rounding of the states leaves nothing, and not at random.
  if (fabs(analytic) <= 1e-12 * fabs(loss)) {
    d.error = fmax(d.error, 16 * DBL_EPSILON * fabs(loss) / d.step);
  }
  result->evaluations = s.evaluations;
  double doubt, error = fabs(analytic - d.value);
  result->has_slope = dj_measureSlope(&result->slope, &doubt, &d, &s, analytic);
  result->difference = d.value;
  result->difference_error = d.error;
  result->step = d.step;
  result->relative_error = error == 0 ? 0 : error / size;
  result->uncertainty = d.error == 0 ? 0 : granted * d.error / size;
  bool slope_good = !result->has_slope || (result->slope >= 1.9 && result->slope <= 2.1);
  bool right = judge(&d, analytic, size) <= 1 && result->uncertainty <= useless;
  result->passed = (error == 0 || right || (none && d.value == 0)) && slope_good;
  return DJ_OK;
}

// ---- losses of any kind -----------------------------------------------------------------------

typedef struct djPlain {
  djdLossAlong along;
  void* user;
  double base;
} djPlain;

static bool changeAlong(void* user, double e, double* change) {
  djPlain* p = user;
  double loss;
  if (!p->along(p->user, e, &loss)) return false;
  *change = loss - p->base;
  return true;
}

djStatus djd_check(djdCertificate* result, double loss, double analytic, double scale,
                   djdLossAlong along, void* user) {
  if (!result || !along || !isfinite(loss) || !(scale > 0) || !isfinite(scale)) return DJ_INVALID;
  // Losses along the line may differ from the given one by rounding: theirs at 0 counts.
  djPlain plain = {along, user, loss};
  double own;
  if (along(user, 0, &own) && fabs(own - loss) <= 1e-10 * fabs(loss)) plain.base = own;
  return dj_judge(result, loss, analytic, scale, 2 * DBL_EPSILON * fabs(loss), changeAlong,
                  &plain);
}
