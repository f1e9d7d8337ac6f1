#include "solve/newton.h"

#include <math.h>
#include <string.h>

// Where a step is cut to less than this, the substitute is asked for.
static const double SHORT = 0.15;

static double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// step = -J^-1 g. False: J is not positive definite, as far as its factors and this step show.
static bool solveShifted(double* decrement2, const djNewtonProblem* p, const double* gradient,
                         double* step, double shift) {
  if (!p->factor(p->user, shift)) return false;
  for (int i = 0; i < p->n; i++) step[i] = -gradient[i];
  p->solve(p->user, step);
  *decrement2 = -dot(gradient, step, p->n);
  return !(*decrement2 < 0);
}

// The step by J or, where that is not positive definite, by its convex substitute, which *convex
// then tells, with the smallest shift of a ladder that it takes. *convex on entry: the substitute
// has not helped here. *decrement2: -g . step, or a negative number when no shift helps.
static djStatus newtonStep(double* decrement2, const djNewtonProblem* p, djNewtonResult* r,
                           double* gradient, double* step, bool* convex) {
  bool allowed = p->convexify && !*convex;
  *convex = false;
  if (solveShifted(decrement2, p, gradient, step, 0)) return DJ_OK;
  if (allowed) {
    djStatus status = p->convexify(p->user, &r->value, gradient);
    if (status < 0) return status;
    *convex = true;
    if (solveShifted(decrement2, p, gradient, step, 0)) return DJ_OK;
  }
  r->shifts++;
  for (double shift = 0.1; shift <= 1e12; shift *= 4) {
    if (solveShifted(decrement2, p, gradient, step, shift)) return DJ_OK;
  }
  *decrement2 = -1;
  return DJ_OK;
}

// Backtracking with Armijo's rule. Every trial is evaluated in full, because nearly all are
// accepted. *value, gradient, *majorizer: at the present point, replaced by those of the trial.
// Returns the accepted fraction, 0 when none was found.
static double lineSearch(const djNewtonProblem* p, double* value, double* gradient,
                         const double* step, double decrement2, const djNewtonOption* o,
                         bool* majorizer, djStatus* status) {
  double fraction = 1;
  *status = p->max_step(p->user, &fraction, step);
  if (*status < 0) return 0;
  double noise = 1e-13 * fabs(*value) + o->noise;
  for (int cut = 0; cut <= o->max_cuts; cut++) {
    double trial;
    bool careful = fraction < SHORT;
    *status = p->trial(p->user, &trial, gradient, step, fraction, &careful);
    if (*status < 0) return 0;
    if (trial <= *value - 1e-4 * fraction * decrement2 + noise) {
      *value = trial;
      *majorizer = careful;
      return fraction;
    }
    fraction *= isfinite(trial) ? 0.5 : 0.25;
  }
  return 0;
}

// Full step near the solution: accepted when it is feasible.
static djStatus fullStep(const djNewtonProblem* p, const double* step) {
  double value;
  bool majorizer = false;
  djStatus status = p->trial(p->user, &value, NULL, step, 1, &majorizer);
  if (status < 0) return status;
  if (!isfinite(value)) return DJ_NOT_CONVERGED;
  p->accept(p->user);
  return DJ_OK;
}

// Full steps without a search, until the decrement stops falling.
static djStatus refine(djNewtonResult* r, const djNewtonProblem* p, const djNewtonOption* o,
                       double* gradient, double* step) {
  for (int k = 0; k < o->refinement_steps; k++) {
    bool majorizer = false, convex = false;
    djStatus status = p->evaluate(p->user, &r->value, gradient, &majorizer);
    if (status < 0) return status;
    double d2;
    status = newtonStep(&d2, p, r, gradient, step, &convex);
    if (status < 0) return status;
    if (!(d2 >= 0) || sqrt(d2) >= 0.5 * r->decrement) return DJ_OK;
    status = fullStep(p, step);
    if (status != DJ_OK) return status < 0 ? status : DJ_OK;
    r->decrement = sqrt(d2);
  }
  return DJ_OK;
}

// The whole step that was foreseen, wherever it leads.
static djStatus leap(djNewtonResult* r, const djNewtonProblem* p, double* gradient,
                     const double* step, bool* majorizer) {
  double fraction = 1, value;
  p->unease(p->user, false);
  djStatus status = p->max_step(p->user, &fraction, step);
  if (status < 0) return status;
  *majorizer = false;
  status = p->trial(p->user, &value, gradient, step, fraction, majorizer);
  if (status < 0) return status;
  if (isfinite(value)) {
    r->value = value;
    p->accept(p->user);
    return DJ_OK;
  }
  *majorizer = true;
  return p->evaluate(p->user, &r->value, gradient, majorizer);
}

djStatus dj_newton(djNewtonResult* r, const djNewtonProblem* p, const djNewtonOption* o,
                   double* gradient, double* step) {
  memset(r, 0, sizeof(*r));
  if (p->n == 0) return DJ_OK;
  bool majorizer = true, convex = false;
  djStatus status = p->evaluate(p->user, &r->value, gradient, &majorizer);
  if (status < 0) return status;
  enum { PLAIN, EASED, FORESEEN } way = PLAIN;
  if (p->ease && p->ease(p->user, gradient)) {
    way = EASED;
    majorizer = true;
    status = p->evaluate(p->user, &r->value, gradient, &majorizer);
    if (status < 0) return status;
  }
  for (r->iterations = 1; r->iterations <= o->max_iterations; r->iterations++) {
    double d2;
    status = newtonStep(&d2, p, r, gradient, step, &convex);
    if (status < 0) return status;
    if (!(d2 >= 0) || !isfinite(d2)) return DJ_NOT_CONVERGED;
    r->decrement = sqrt(d2);
    if (way == FORESEEN) {
      way = PLAIN;
      convex = false;
      status = leap(r, p, gradient, step, &majorizer);
      if (status < 0) return status;
      continue;
    }
    bool near = way == PLAIN && r->decrement <= o->tolerance;
    if (way == EASED && r->decrement <= o->ease_tolerance) {
      way = FORESEEN;
      p->unease(p->user, true);
    }
    if (near && (!(majorizer || convex) || r->decrement <= 0.01 * o->tolerance)) {
      status = fullStep(p, step);
      if (status == DJ_OK) return refine(r, p, o, gradient, step);
      if (status < 0) return status;
    }
    double taken = 0;
    if (!near || !majorizer || convex) {
      taken = lineSearch(p, &r->value, gradient, step, d2, o, &majorizer, &status);
      if (status < 0) return status;
    }
    if (taken > 0) {
      p->accept(p->user);
      convex = false;
      continue;
    }
    if (way != PLAIN) {   // it has served
      way = PLAIN;
      p->unease(p->user, false);
      majorizer = true, convex = false;
      status = p->evaluate(p->user, &r->value, gradient, &majorizer);
      if (status < 0) return status;
      continue;
    }
    if (convex) {   // once more from here, with a shift
      status = p->evaluate(p->user, &r->value, gradient, &majorizer);
      if (status < 0) return status;
      continue;
    }
    // Near with a substitute: let the exact Jacobian decide. No progress with the exact one: once
    // more from here with the substitute.
    if (!near && majorizer) return DJ_NOT_CONVERGED;
    bool wanted = !majorizer;
    majorizer = wanted;
    status = p->evaluate(p->user, &r->value, gradient, &majorizer);
    if (status < 0) return status;
    if (wanted && !majorizer) return DJ_NOT_CONVERGED;   // there is no substitute
  }
  r->iterations = o->max_iterations;
  return DJ_NOT_CONVERGED;
}
