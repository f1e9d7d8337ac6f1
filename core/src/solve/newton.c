#include "solve/newton.h"

#include <math.h>
#include <string.h>

// step = -H^-1 g with the smallest shift of a ladder that makes H positive definite. Returns the
// squared decrement -g . step, or a negative number when no shift helps.
static double newtonStep(const djNewtonProblem* p, const double* gradient, double* step,
                         int* shifts) {
  double shift = 0;
  while (!p->factor(p->user, shift)) {
    shift = shift == 0 ? 1e-4 : 10 * shift;
    if (shift > 1e8) return -1;
  }
  if (shift > 0) ++*shifts;
  for (int i = 0; i < p->n; i++) step[i] = -gradient[i];
  p->solve(p->user, step);
  double sum = 0;
  for (int i = 0; i < p->n; i++) sum -= gradient[i] * step[i];
  return sum;
}

// Backtracking with Armijo's rule. value: at the present point, replaced by that of the trial.
// Returns the accepted fraction, 0 when none was found.
static double lineSearch(const djNewtonProblem* p, double* value, const double* step,
                         double fraction, double decrement2, int max_cuts, djStatus* status) {
  // differences of values below this are rounding
  double noise = 1e-13 * (fabs(*value) + decrement2);
  for (int cut = 0; cut <= max_cuts; cut++) {
    double trial;
    *status = p->trial(p->user, &trial, step, fraction);
    if (*status < 0) return 0;
    if (trial <= *value - 1e-4 * fraction * decrement2 + noise) {
      *value = trial;
      return fraction;
    }
    fraction *= isfinite(trial) ? 0.5 : 0.25;
  }
  return 0;
}

// Full steps near the solution, without a search: stops when the decrement stops falling.
static djStatus polish(djNewtonResult* r, const djNewtonProblem* p, const djNewtonOption* o,
                       double* gradient, double* step, double decrement) {
  for (int k = 0; k < o->polish; k++) {
    bool cautious = false;
    djStatus status = p->evaluate(p->user, &r->value, gradient, &cautious);
    if (status < 0) return status;
    double d2 = newtonStep(p, gradient, step, &r->shifts);
    if (!(d2 >= 0) || sqrt(d2) >= 0.5 * decrement) return DJ_OK;
    decrement = sqrt(d2);
    double value;
    status = p->trial(p->user, &value, step, 1);
    if (status < 0) return status;
    if (!isfinite(value)) return DJ_OK;
    p->accept(p->user);
    r->decrement = decrement;
  }
  return DJ_OK;
}

djStatus dj_newton(djNewtonResult* r, const djNewtonProblem* p, const djNewtonOption* o,
                   double* gradient, double* step) {
  memset(r, 0, sizeof(*r));
  if (p->n == 0) return DJ_OK;
  bool cautious = true;
  for (r->iterations = 1; r->iterations <= o->max_iterations; r->iterations++) {
    djStatus status = p->evaluate(p->user, &r->value, gradient, &cautious);
    if (status < 0) return status;
    double d2 = newtonStep(p, gradient, step, &r->shifts);
    if (!(d2 >= 0) || !isfinite(d2)) return DJ_NOT_CONVERGED;
    r->decrement = sqrt(d2);
    double fraction = 1, value = r->value;
    if (r->decrement <= o->tolerance && cautious && r->decrement > 0.01 * o->tolerance) {
      cautious = false;   // near: let the exact Jacobian decide
      continue;
    }
    if (r->decrement <= o->tolerance) {
      status = p->trial(p->user, &value, step, 1);
      if (status < 0) return status;
      if (isfinite(value)) {
        p->accept(p->user);
        return polish(r, p, o, gradient, step, r->decrement);
      }
    }
    status = p->cap(p->user, &fraction, step);
    if (status < 0) return status;
    double taken = lineSearch(p, &r->value, step, fraction, d2, o->max_cuts, &status);
    if (status < 0) return status;
    if (taken == 0) {
      if (cautious) return DJ_NOT_CONVERGED;
      cautious = true;   // once more from here with the safer Jacobian
      continue;
    }
    p->accept(p->user);
    cautious = taken < 1;
  }
  r->iterations = o->max_iterations;
  return DJ_NOT_CONVERGED;
}
