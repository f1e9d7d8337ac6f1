// Certificate of a directional derivative: the given one beside differences (ladder.c), and the
// slope of what it leaves of the loss (slope.c).
//
// The verdict allows for what the difference itself can know. Its error is an estimate: four times
// it are granted. Where that matters, or where they would decide, more losses are taken first. A
// difference that knows less than a hundredth certifies nothing.
//
// Work ends where it can change nothing: where the gradient is wrong whatever else is learned, and
// where the difference is known so badly that all losses that are left do not make it useful. Losses
// with jumps at any step, as of runs whose steps have several solutions, are told apart from wrong
// gradients by the noise at tiny steps.

#include "gradient/ladder.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static const double tolerance = 1e-6;   // relative error of a gradient that passes
static const double granted = 4;        // times the difference's error
static const double useless = 1e-2;     // uncertainty of a difference that certifies nothing
static const double enough = 5e-8;      // relative error of a difference that needs no more losses
static const double plain = 10;         // times what is allowed: wrong, whatever else is learned
static const double lost = 10;          // times `useless`, from which more losses lead nowhere
static const double jumpy = 1e-3;       // noise at tiny steps, by all that the loss changes
static const double hopeless = 0.03;    // of the same: all losses together do not average it out
static const double amplified = 1e-11;  // of the loss, what a run makes of rounding: no jumps
static const double apart = 1e-4;       // relative distance of slopes on either side of a kink
enum { CONFIRM = 6 };                   // losses of dj_isConfirmed

// How much larger than allowed the gradient's error is; below 1: it passes.
static double judge(const djDifference* d, double analytic, double size) {
  return fabs(analytic - d->value) / (tolerance * size + granted * d->error);
}

// The noise by the largest change so far, where it is more than a run makes of rounding; 0 where all
// is constant.
static double noisePart(double* most, const djLadder* s) {
  *most = 0;
  for (int k = 0; k < s->n; k++) {
    if (isfinite(s->plus[k])) *most = fmax(*most, fabs(s->plus[k]));
    if (isfinite(s->minus[k])) *most = fmax(*most, fabs(s->minus[k]));
  }
  return s->noise > amplified * fabs(s->loss) && *most > 0 ? s->noise / *most : 0;
}

// The ladder, until smaller steps cannot improve anything. False: too few steps are allowed.
static bool climbDown(djDifference* d, djLadder* s, double analytic) {
  double until = INFINITY;   // no end above this step
  while (s->n < DJ_LADDER && dj_mayTake(s, 2 + CONFIRM)) {
    double most;
    dj_descend(s);
    if (!dj_extrapolate(d, s)) continue;
    if (noisePart(&most, s) > hopeless) break;
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
    double off = judge(d, analytic, size);
    bool near = off > 1 && fabs(analytic - d->value) < 1e-4 * size;
    if (d->error <= limit && !(k == 0 && near)) return;
    if (off > plain && !near) return;
    double most;
    if (noisePart(&most, s) > hopeless) return;
    if (k > 0 && granted * d->error > lost * useless * size) return;
    if (!dj_mayTake(s, d->side ? more[k] : 2 * more[k])) return;
    dj_refine(d, &low, s, more[k]);
  }
}

// ---- kinks ------------------------------------------------------------------------------------

// Slopes on both sides. Where they differ by far more than they are in doubt, there is a kink.
static bool findSides(djdCertificate* r, const djLadder* s) {
  djDifference side[2];
  bool found[2];
  double size = 1e-9 * fabs(s->loss), doubt = 0;
  for (int k = 0; k < 2; k++) {
    found[k] = dj_oneSided(&side[k], s, k ? 1 : -1);
    if (found[k]) size = fmax(size, fabs(side[k].value));
    doubt += granted * side[k].error;
  }
  for (int k = 0; k < 2; k++) {
    bool known = found[k] && granted * side[k].error <= useless * size;
    r->one_sided[k] = known ? side[k].value : NAN;
  }
  bool kink = fabs(r->one_sided[1] - r->one_sided[0]) > doubt + apart * size;
  if (kink) snprintf(r->kink, sizeof r->kink, "slopes on both sides differ");
  return kink;
}

bool dj_isBetween(const djdCertificate* r, double analytic) {
  double low = fmin(r->one_sided[0], r->one_sided[1]);   // of NaN the other one
  double high = fmax(r->one_sided[0], r->one_sided[1]);
  double allowed = tolerance * fmax(fabs(low), fabs(high)) + granted * r->difference_error;
  return analytic >= low - allowed && analytic <= high + allowed;
}

// ---- verdict ----------------------------------------------------------------------------------

// Why a gradient that does not pass is not called wrong.
static void explain(djdCertificate* r, const djLadder* s, bool found) {
  double most;
  char* text = r->gave_up;
  const size_t room = sizeof r->gave_up;
  if (noisePart(&most, s) > jumpy) {
    snprintf(text, room, "the loss jumps by about %.2g at steps of %.1g, %.2g at most at %.1g: "
             "there is no difference", s->noise, 1e-8 * s->scale, most, s->scale);
  } else if (s->spent) {
    snprintf(text, room, "%d runs, of %d allowed, did not tell", s->evaluations, s->most);
  } else if (!found) {
    snprintf(text, room, "fewer than three steps have a loss");
  } else if (r->uncertainty > useless) {
    snprintf(text, room, "the difference is known to %.1g of the gradient only", r->uncertainty);
  }
}

djStatus dj_judge(djdCertificate* result, double loss, double analytic, double scale,
                  double rounding, int most, djChangeAlong along, void* user) {
  *result = (djdCertificate){.analytic = analytic, .difference = NAN,
                             .difference_error = INFINITY, .relative_error = INFINITY,
                             .uncertainty = INFINITY, .slope = NAN, .one_sided = {NAN, NAN}};
  djLadder s = {.along = along, .user = user, .loss = loss, .scale = scale, .rounding = rounding,
                .most = most};
  djDifference d = {0};
  dj_measureNoise(&s);
  bool found = climbDown(&d, &s, analytic);
  double size = fmax(fabs(analytic), 1e-9 * fabs(loss));
  if (!found) {
    result->evaluations = s.evaluations;
    explain(result, &s, false);
    return DJ_NOT_CONVERGED;
  }
  // 0, or rounding, against what noise of the losses alone makes of it: 0 against 0
  double noise = fmax(64 * DBL_EPSILON * fabs(loss) / d.step,
                      fmin(granted * d.error, 1e-10 * fabs(loss)));
  bool none = fabs(analytic) <= 1e-15 * fabs(loss);   // less than the relative error counts
  if (none && fabs(d.value) <= noise) d.value = 0;
  else if (!findSides(result, &s)) learnMore(&d, &s, analytic, size);
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
  if (!result->passed) explain(result, &s, true);
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

int djd_checkBudget(int n, int most, long taken) {
  if (most <= 0) most = DJD_CHECK_RUNS;
  double left = (double)most + (double)n * (most / DJD_CHECK_SHARE) - (double)taken;
  return left <= 0 ? 0 : left < most ? (int)left : most;
}

djStatus djd_check(djdCertificate* result, double loss, double analytic, double scale,
                   djdLossAlong along, void* user) {
  if (!result || !along || !isfinite(loss) || !(scale > 0) || !isfinite(scale)) return DJ_INVALID;
  // Losses along the line may differ from the given one by rounding: theirs at 0 counts.
  djPlain losses = {along, user, loss};
  double own;
  if (along(user, 0, &own) && fabs(own - loss) <= 1e-10 * fabs(loss)) losses.base = own;
  return dj_judge(result, loss, analytic, scale, 2 * DBL_EPSILON * fabs(loss), DJD_CHECK_RUNS - 1,
                  changeAlong, &losses);
}
