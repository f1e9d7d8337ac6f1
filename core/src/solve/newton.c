#include "solve/newton.h"

#include <math.h>
#include <string.h>

static const double SHORT = 0.15;        // where a step is cut to less, the substitute is asked for
static const double MOST_SHIFT = 1e12;
// Of a convex substitute.
static const double MOST_STRETCH = 64, GROWTH = 4;   // of its steps, in all and at once
static const double LEAST_SHARE = 0.01, SHARE_FACTOR = 2;
static const double STIFF = 0.3;         // of the slope is left after a full step: it is too stiff
static const int MOST_APPROACHES = 10;    // trials to a minimum along a step that was cut
// Where forces change within a hair's breadth, as of faces that lie on each other: after so many
// steps in a row that were cut they end where the slope is small; so many in a row of them that
// gain nothing beyond noise are the last.
static const int ROW = 3, LAST = 6, MOST_BISECTIONS = 30;
static const double LOW_SLOPE = 0.1;
static const double NOISES = 100;        // that a step gains, to be searched along
// A part of the value tells something if it has risen by so many decrements; how often it may.
static const double EXCESS = 1e-3;
static const int MOST_LESSONS = 4;
static const int MOST_GROWTHS = 4;       // of a step that was taught, where a whole one leaves
static const double MOST_LEFT = 0.5;    // so much of the slope
static const double NEAR_ENOUGH = 100;   // of the tolerance, from where the next step may be the last
static const double DOWNHILL = 0.01;     // the least that a lesson leaves of the step's slope
// A foreseen step may lead this many decrements above where easing began.
static const double LEAP_RISE = 100;

// A solution under way.
typedef struct Search {
  const djNewtonProblem* p;
  const djNewtonOption* o;
  djNewtonResult* r;
  double *gradient, *step;   // (n)
  double decrement2;         // -gradient . step: of the full step by the Jacobian
  bool majorizer;            // at the present point
  // The step is by the convex substitute; before newtonStep: that has not helped here.
  bool convex;
  bool shifted;              // the step is by a Jacobian with a shift
  double share, stretch;     // of the next substitute, and of steps by it
  djSystem system;
  double leap_limit;         // on the value after a leap
  int cut, idle;             // steps in a row that were cut, and that gained nothing
  bool taught;               // the step is by a Jacobian that knows more than the point's
  bool whole;                // the last step was a full one by the point's exact Jacobian
} Search;

static double slopeOf(const Search* s) {
  double sum = 0;
  for (int i = 0; i < s->p->n; i++) sum += s->gradient[i] * s->step[i];
  return sum;
}

// The step is by the Jacobian as it is.
static bool isExact(const Search* s) { return !(s->majorizer || s->convex || s->shifted); }

static double noiseOf(const Search* s) { return 1e-13 * fabs(s->r->value) + s->o->noise; }

// At the present point.
static djStatus ask(djSystemAt* at, Search* s) {
  at->value = s->r->value;
  at->gradient = s->gradient;
  djStatus status = s->p->system(s->p->user, at);
  s->r->value = at->value;
  return status;
}

static djStatus evaluateHere(Search* s, bool majorizer) {
  djSystemAt at = {.system = s->system,
                   .jacobian = majorizer ? DJ_JACOBIAN_MAJORIZER : DJ_JACOBIAN_EXACT};
  djStatus status = ask(&at, s);
  s->majorizer = at.majorizer;
  return status;
}

// step = -J^-1 g by the last factor; false: there is none.
static bool solveStep(Search* s) {
  for (int i = 0; i < s->p->n; i++) s->step[i] = -s->gradient[i];
  if (!s->p->solve(s->p->user, s->step)) return false;
  s->decrement2 = -slopeOf(s);
  return true;
}

// False: J is not positive definite, as far as its factors and this step show.
static bool solveShifted(Search* s, double shift) {
  return s->p->factor(s->p->user, shift) && solveStep(s) && !(s->decrement2 < 0);
}

// The least share of the convex substitute, from that which has been enough, that can be factored.
static djStatus convexStep(bool* found, Search* s) {
  for (;; s->share = fmin(SHARE_FACTOR * s->share, 1)) {
    djSystemAt at = {.system = s->system, .jacobian = DJ_JACOBIAN_CONVEX, .share = s->share};
    djStatus status = ask(&at, s);
    if (status < 0) return status;
    *found = solveShifted(s, 0);
    if (*found || !(s->share < 1)) return DJ_OK;
  }
}

// The step by J or, where that is not positive definite, by its convex substitute, which s->convex
// then tells, with the smallest shift of a ladder that it takes. decrement2: a negative number when
// no shift helps.
static djStatus newtonStep(Search* s) {
  bool allowed = s->p->convex && !s->convex;
  s->convex = s->shifted = false;
  if (solveShifted(s, 0)) return DJ_OK;
  if (allowed) {
    s->convex = true;
    bool found;
    djStatus status = convexStep(&found, s);
    if (status < 0 || found) return status;
  }
  s->r->shifts++;
  s->shifted = true;
  for (double shift = 0.1; shift <= MOST_SHIFT; shift *= 4) {
    if (solveShifted(s, shift)) return DJ_OK;
  }
  s->decrement2 = -1;
  return DJ_OK;
}

// The step by the factor of the step before, where it may be the last: of a decrement d1 a full step
// left d2, so that the Jacobian has changed by about d2/d1 of itself, and this one leaves twice
// d2 d2/d1 at most.
static bool lastStep(Search* s) {
  const double before = s->r->decrement;
  if (s->majorizer || !(s->o->enough > 0) || s->o->refinement_steps > 0) return false;
  if (!(before <= NEAR_ENOUGH * s->o->tolerance) || !solveStep(s)) return false;
  if (!(s->decrement2 >= 0 && 2 * s->decrement2 <= s->o->enough * before)) return false;
  s->convex = s->shifted = false;
  return sqrt(s->decrement2) <= s->o->tolerance;
}

// A point along the step. Every trial is evaluated in full, because nearly all are accepted.
typedef struct Trial {
  double fraction, value, slope;   // slope: of the value along the whole step
  bool majorizer;
} Trial;

static djStatus tryAt(Trial* t, Search* s, double fraction) {
  djSystemAt at = {.step = s->step,
                   .fraction = fraction,
                   .system = s->system,
                   .jacobian = fraction < SHORT ? DJ_JACOBIAN_MAJORIZER : DJ_JACOBIAN_EXACT,
                   .gradient = s->gradient};
  djStatus status = s->p->system(s->p->user, &at);
  *t = (Trial){.fraction = fraction, .value = at.value, .majorizer = at.majorizer};
  t->slope = isfinite(t->value) ? slopeOf(s) : INFINITY;
  return status;
}

// From a trial *t with most of the slope left towards the minimum before the fraction `high`, which
// is too far: where a contact is met there, the next Jacobian knows of it. Halving again from a
// point short of the contact would meet it ever anew.
static djStatus approach(Trial* t, Search* s, double high, double enough, double noise) {
  bool there = true;   // *t is the last trial
  for (int k = 0; k < MOST_APPROACHES && t->slope < -enough; k++) {
    double low = t->fraction;
    Trial next;
    djStatus status = tryAt(&next, s, high > 2 * low ? sqrt(low * high) : 0.5 * (low + high));
    if (status < 0) return status;
    there = next.value <= t->value + noise && next.slope < enough;
    if (there) *t = next;
    else high = next.fraction;
  }
  return there ? DJ_OK : tryAt(t, s, t->fraction);
}

// From a trial *t beyond the minimum back to where the slope is `enough`.
static djStatus goBack(Trial* t, Search* s, double enough) {
  double low = 0, high = t->fraction;
  for (int k = 0; k < MOST_BISECTIONS && fabs(t->slope) > enough; k++) {
    djStatus status = tryAt(t, s, 0.5 * (low + high));
    if (status < 0) return status;
    *(t->slope < 0 ? &low : &high) = t->fraction;
  }
  return DJ_OK;
}

// An accepted trial *t, where it was cut or is far beyond the minimum.
static djStatus improve(Trial* t, Search* s, double refused, double slope, double noise) {
  djStatus status = DJ_OK;
  s->cut = refused > 0 ? s->cut + 1 : 0;
  if (refused > 0) status = approach(t, s, refused, 0.5 * slope, noise);
  bool idle = t->value > s->r->value - noise, beyond = t->slope > 0.5 * slope;
  s->idle = idle && beyond ? s->idle + 1 : 0;
  if (status < 0 || !beyond || !(idle || s->cut > ROW)) return status;
  return goBack(t, s, LOW_SLOPE * slope);
}

// A step that was taught is stiffer than need be, too: where a whole one leaves most of the slope it
// is made longer, by the secant of the slope, while that is of use. *slope: along the step.
static djStatus goOn(Trial* t, Search* s, double* slope, double noise) {
  djStatus status = DJ_OK;
  for (int k = 0; k < MOST_GROWTHS && status >= 0; k++) {
    if (t->fraction < 1 || t->slope >= -MOST_LEFT * *slope) break;
    const Trial before = *t;
    const double by = fmin(1 / (1 + t->slope / *slope), GROWTH);
    double fraction = 1;
    for (int i = 0; i < s->p->n; i++) s->step[i] *= by;
    status = s->p->limit(s->p->user, &fraction, s->step);
    if (status >= 0) status = tryAt(t, s, fraction);
    const double left = t->slope / by;
    if (status < 0 || (t->value <= before.value + noise && left < 0.5 * *slope)) {
      *slope *= by;
      continue;
    }
    for (int i = 0; i < s->p->n; i++) s->step[i] /= by;
    status = s->p->limit(s->p->user, &fraction, s->step);
    return status < 0 ? status : tryAt(t, s, 1);
  }
  return status;
}

static bool isEnough(const Search* s, const Trial* t, double slope, double noise) {
  return t->value <= s->r->value - 1e-4 * t->fraction * slope + noise;
}

// A step by what the refused trial has told. *found: there is one, and it leads downhill, not along
// the hill; else the step stays what it is.
static djStatus learn(bool* found, Search* s) {
  const djNewtonProblem* p = s->p;
  const size_t size = (size_t)p->n * sizeof(double);
  double *gradient = p->scratch, *step = p->scratch + p->n;
  const double value = s->r->value, decrement2 = s->decrement2;
  const bool convex = s->convex;
  *found = false;
  djSystemAt at = {
      .system = s->system, .jacobian = DJ_JACOBIAN_LEARNED, .excess = EXCESS * decrement2};
  djStatus status = ask(&at, s);
  if (status < 0 || at.none) return status;
  memcpy(step, s->step, size);
  bool solved = true;
  status = convex ? convexStep(&solved, s) : newtonStep(s);
  *found = status >= 0 && solved && s->decrement2 >= 0;
  memcpy(s->gradient, gradient, size);
  *found = *found && -slopeOf(s) > DOWNHILL * decrement2;
  if (!*found) memcpy(s->step, step, size);
  s->taught = true;
  s->r->value = value;
  s->decrement2 = decrement2;
  s->convex = convex && !*found;
  return status;
}

// The whole step, as far as it may be taken, while trials that are refused tell of another one.
// Where none is taken the first one is cut, which knows of no hills: a step along them would have
// to be cut far more.
static djStatus tryWhole(Trial* t, double* slope, Search* s, double noise) {
  const djNewtonProblem* p = s->p;
  const size_t size = (size_t)p->n * sizeof(double);
  double* untaught = p->scratch + 2 * p->n;
  Trial first;
  if (p->learns) memcpy(p->scratch, s->gradient, size);
  for (int k = 0;; k++) {
    double fraction = 1;
    djStatus status = p->limit(p->user, &fraction, s->step);
    if (status < 0) return status;
    const double along = -slopeOf(s);
    status = tryAt(t, s, fraction);
    if (k == 0) *slope = along, first = *t;
    if (status < 0) return status;
    if (isEnough(s, t, along, noise)) {
      *slope = along;
      return status;
    }
    if (k == 0 && p->learns) memcpy(untaught, s->step, size);
    bool found = false;
    if (p->learns && k < MOST_LESSONS) status = learn(&found, s);
    if (status < 0) return status;
    if (found) continue;
    if (k == 0) return status;
    memcpy(s->step, untaught, size);
    *t = first;
    s->taught = false;
    return p->limit(p->user, &fraction, s->step);
  }
}

// Backtracking with Armijo's rule, and on to the minimum where a step was cut. *taken: the accepted
// fraction, 0 when none was found; else value, gradient and s->majorizer become those there.
static djStatus lineSearch(double* taken, double* left, Search* s) {
  double slope, refused = 0, noise = noiseOf(s);
  Trial t;
  *taken = 0;
  djStatus status = tryWhole(&t, &slope, s, noise);
  for (int cut = 0; status >= 0 && cut <= s->o->max_cuts; cut++) {
    if (isEnough(s, &t, slope, noise)) {
      if (cut == 0 && s->taught) status = goOn(&t, s, &slope, noise);
      if (status >= 0) status = improve(&t, s, refused, slope, noise);
      if (status < 0) return status;
      s->r->value = t.value;
      s->majorizer = t.majorizer;
      *taken = t.fraction;
      *left = -t.slope / slope;
      return DJ_OK;
    }
    refused = t.fraction;
    if (cut < s->o->max_cuts) status = tryAt(&t, s, refused * (isfinite(t.value) ? 0.5 : 0.25));
  }
  return status < 0 ? status : DJ_OK;
}

// What is next of a convex substitute, after a step by it: `left` of the slope was left.
static void adapt(Search* s, double taken, double left) {
  if (taken < 1) {
    s->stretch = 1;
    if (taken < 0.5) s->share = fmin(SHARE_FACTOR * s->share, 1);
    return;
  }
  // By the secant of the slope, with some caution.
  double growth = 1 / fmax(1 - 0.7 * left, 1 / GROWTH);
  s->stretch = fmax(1, fmin(s->stretch * growth, MOST_STRETCH));
  if (left > STIFF) s->share = fmax(s->share / SHARE_FACTOR, LEAST_SHARE);
}

// A line search along the step, a stretched one by the convex substitute.
static djStatus search(double* taken, Search* s) {
  double left = 0;
  if (!s->convex) s->stretch = 1;
  for (int i = 0; i < s->p->n && s->stretch > 1; i++) s->step[i] *= s->stretch;
  djStatus status = lineSearch(taken, &left, s);
  if (status >= 0 && s->convex) adapt(s, *taken, left);
  return status;
}

// Full step near the solution: accepted when it is feasible.
static djStatus fullStep(const Search* s) {
  djSystemAt at = {.step = s->step, .fraction = 1, .system = s->system};
  djStatus status = s->p->system(s->p->user, &at);
  if (status < 0) return status;
  if (!isfinite(at.value)) return DJ_NOT_CONVERGED;
  s->p->accept(s->p->user);
  return DJ_OK;
}

// Full steps without a search while the decrement falls. Where it does not, though values can tell
// steps from rounding, with one.
static djStatus refine(Search* s) {
  for (int k = 0; k < s->o->refinement_steps; k++) {
    djStatus status = evaluateHere(s, false);
    if (status < 0) return status;
    s->convex = false;
    status = newtonStep(s);
    if (status < 0) return status;
    if (!(s->decrement2 >= 0)) return DJ_OK;
    double taken = 1, decrement = sqrt(s->decrement2);
    bool exact = isExact(s);
    bool falls = decrement < 0.5 * s->r->decrement;
    if (!falls && !(s->decrement2 > NOISES * noiseOf(s))) return DJ_OK;
    status = falls ? fullStep(s) : search(&taken, s);
    if (status != DJ_OK || !(taken > 0)) return status < 0 ? status : DJ_OK;
    if (!falls) s->p->accept(s->p->user);
    s->r->decrement = decrement;
    s->r->exact = exact;
  }
  return DJ_OK;
}

// The whole step that was foreseen, wherever it leads unless that is absurd.
static djStatus leap(Search* s) {
  const djNewtonProblem* p = s->p;
  double fraction = 1;
  s->system = DJ_SYSTEM_ITSELF;
  s->convex = false;
  djStatus status = p->limit(p->user, &fraction, s->step);
  if (status < 0) return status;
  djSystemAt at = {.step = s->step, .fraction = fraction, .gradient = s->gradient};
  status = p->system(p->user, &at);
  if (status < 0) return status;
  if (!(at.value <= s->leap_limit)) return evaluateHere(s, true);
  s->r->value = at.value;
  s->majorizer = at.majorizer;
  p->accept(p->user);
  return DJ_OK;
}

// After a search that found nothing. *over: there is no more to be tried.
static djStatus tryOtherwise(bool* over, Search* s, bool near) {
  *over = false;
  if (s->system != DJ_SYSTEM_ITSELF) {   // the other has served
    s->system = DJ_SYSTEM_ITSELF;
    s->convex = false;
    return evaluateHere(s, true);
  }
  // Once more from here: with a shift.
  if (s->convex) return evaluateHere(s, s->majorizer);
  // Near with a substitute: let the exact Jacobian decide. No progress with the exact one: with the
  // substitute.
  bool wanted = !s->majorizer;
  *over = !near && !wanted;
  if (*over) return DJ_OK;
  djStatus status = evaluateHere(s, wanted);
  *over = wanted && !s->majorizer;   // there is no substitute
  return status;
}

// An iteration after its step is known. *over: with the status that is returned.
static djStatus advance(bool* over, Search* s) {
  const djNewtonOption* o = s->o;
  *over = false;
  if (s->system == DJ_SYSTEM_FORESEEN) return leap(s);
  bool near = s->system == DJ_SYSTEM_ITSELF && s->r->decrement <= o->tolerance;
  bool exact = !(s->majorizer || s->convex);
  if (s->system == DJ_SYSTEM_EASED && s->r->decrement <= o->ease_tolerance) {
    s->system = DJ_SYSTEM_FORESEEN;
  }
  if (near && (exact || s->r->decrement <= 0.01 * o->tolerance)) {
    djStatus status = fullStep(s);
    *over = status == DJ_OK;
    if (status < 0) return status;
    if (*over) return refine(s);
  }
  double taken = 0;
  if (!near || !s->majorizer || s->convex) {
    djStatus status = search(&taken, s);
    if (status < 0) return status;
  }
  if (taken > 0) {
    s->p->accept(s->p->user);
    s->whole = s->system == DJ_SYSTEM_ITSELF && s->r->exact && !s->taught && taken == 1;
    s->convex = false;
    *over = s->idle >= LAST;
    return *over ? DJ_NOT_CONVERGED : DJ_OK;
  }
  djStatus status = tryOtherwise(over, s, near);
  return status >= 0 && *over ? DJ_NOT_CONVERGED : status;
}

// The step, where it is that of an easier system from now on.
static djStatus easeFar(Search* s) {
  bool far = !(s->decrement2 <= s->o->ease_tolerance * s->o->ease_tolerance);
  if (!far || !s->p->eases) return DJ_OK;
  const double before = s->r->value;
  djSystemAt at = {.system = DJ_SYSTEM_EASED, .jacobian = DJ_JACOBIAN_MAJORIZER};
  djStatus status = ask(&at, s);
  if (status < 0 || at.none) return status;
  s->system = DJ_SYSTEM_EASED;
  s->convex = false;
  s->majorizer = at.majorizer;
  status = newtonStep(s);
  s->leap_limit = before + LEAP_RISE * s->decrement2;
  return status;
}

djStatus dj_newton(djNewtonResult* r, const djNewtonProblem* p, const djNewtonOption* o,
                   double* gradient, double* step) {
  memset(r, 0, sizeof(*r));
  if (p->n == 0) return DJ_OK;
  Search s = {.p = p, .o = o, .r = r, .gradient = gradient, .step = step, .share = 1, .stretch = 1};
  djStatus status = evaluateHere(&s, !(o->near > 0));
  if (status < 0) return status;
  if (o->near > 0 && !isfinite(r->value)) return DJ_NOT_CONVERGED;
  for (r->iterations = 1; r->iterations <= o->max_iterations; r->iterations++) {
    bool last = s.whole && lastStep(&s);
    s.whole = s.taught = false;
    status = last ? DJ_OK : newtonStep(&s);
    if (status < 0) return status;
    if (r->iterations == o->plain_iterations + 1 && !(o->near > 0)) status = easeFar(&s);
    if (status < 0) return status;
    if (!(s.decrement2 >= 0) || !isfinite(s.decrement2)) return DJ_NOT_CONVERGED;
    r->decrement = sqrt(s.decrement2);
    r->exact = isExact(&s);
    if (o->near > 0 && r->iterations == 1 && r->decrement > o->near) return DJ_NOT_CONVERGED;
    bool over;
    status = advance(&over, &s);
    if (over || status < 0) return status;
  }
  r->iterations = o->max_iterations;
  r->exhausted = true;
  return DJ_NOT_CONVERGED;
}
