// Secants of a loss: whether its gradient leads over steps of a size that is of use.
//
// A certificate compares the gradient with the loss in the limit of small steps. A gradient may be
// exact there and say nothing of steps that an optimizer takes: between the impacts of a ball that
// bounces the loss is smooth, but each piece is narrower than such a step. So along the same
// direction d, over steps s,
//   secant = (L(x+) - L(x-)) / w,  x+- = x +- s d within bounds,  w = (x+ - x-) . d
// beside g . (x+ - x-) / w, which is g . d where no bound is in the way, and then w = 2 s. Central
// secants lose the second order of the loss, so that curvature alone does not count as a gradient
// that does not lead; the third order may bend a secant by as much as the gradient itself, hence a
// factor of two to either side.

#include "gradient/certify.h"

#include <math.h>

static const double parts[DJD_NSECANT] = {1e-3, 1e-2, 5e-2};
static const double factor = 2;
static const double rounding = 1e-10;   // of losses, relative: what tolerances leave

typedef struct djSecantLine {
  djPhases* phases;
  const double* x;                      // (design->n) where it begins
  const double *direction, *gradient;   // (design->n)
  double loss;                          // at x
  double* trial;                        // (design->n)
} djSecantLine;

// One side of a secant; all 0 but for the loss where there is no run.
typedef struct djSecantSide {
  double loss;
  double moved;       // along the direction
  double foretold;    // by the gradient
} djSecantSide;

static djSecantSide runAt(const djSecantLine* line, double e) {
  djPhases* p = line->phases;
  const djDesign* d = p->design[0];
  djSecantSide side = {.loss = line->loss}, none = side;
  for (int k = 0; k < d->n; k++) {
    double x = line->x[k], at = x + e * line->direction[k];
    at = fmax(fmin(at, fmax(d->upper[k], x)), fmin(d->lower[k], x));
    line->trial[k] = at;
    side.moved += (at - x) * line->direction[k];
    side.foretold += (at - x) * line->gradient[k];
  }
  bool taken = side.moved != 0 && djd_forwardPhases(&side.loss, p, line->trial, false) >= 0;
  return taken && isfinite(side.loss) ? side : none;
}

static void takeSecant(djdCertificate* r, const djSecantLine* line, int k) {
  djSecantSide above = runAt(line, parts[k] * r->scale), below = runAt(line, -parts[k] * r->scale);
  double width = above.moved - below.moved;
  double size = fmax(fabs(line->loss), fmax(fabs(above.loss), fabs(below.loss)));
  r->secant_step[k] = parts[k];
  r->secant_sides[k] = (above.moved != 0) + (below.moved != 0);
  r->secant[k] = r->secant_analytic[k] = r->secant_flat[k] = NAN;
  if (r->secant_sides[k] == 0) return;
  r->secant[k] = (above.loss - below.loss) / width;
  r->secant_analytic[k] = (above.foretold - below.foretold) / width;
  r->secant_flat[k] = rounding * size / width;
}

bool djd_leadsAt(const djdCertificate* r, int step) {
  if (!r || step < 0 || step >= DJD_NSECANT) return false;
  double flat = r->secant_flat[step], size = fabs(r->secant_analytic[step]);
  double along = copysign(1, r->secant_analytic[step]) * r->secant[step];
  return along >= size / factor - flat && along <= size * factor + flat;
}

void dj_takeSecants(djdCertificate* r, djPhases* phases, const double* x, const double* direction,
                    double loss, const double* gradient, double scale, double* trial) {
  const djSecantLine line = {phases, x, direction, gradient, loss, trial};
  bool missing = false, not = false;
  r->scale = scale;
  for (int k = 0; k < DJD_NSECANT; k++) {
    takeSecant(r, &line, k);
    if (r->secant_sides[k] == 0) missing = true;
    else if (!djd_leadsAt(r, k)) not = true;
  }
  r->leads = not ? DJD_LEADS_NOT : missing ? DJD_LEAD_UNKNOWN : DJD_LEADS;
}
