// Friction while Newton's method runs: an easier law to begin with, the leap from its solution to
// that of the law as it is, and dual variables.
//
// Easing. With a small eps Newton's method jumps to and fro over the kink at s = 0. It is therefore
// led first to near the solution with eps_1 = max(eps, ease_eps), and from there, once, to that
// with eps. A point that sticks carries nearly the same force in both: with y = s/r, and
// p = sqrt(eps/eps_1), it will slip by s* = p s, at which eps gives the same y. There it is
// linearised, and the line is carried to the slip s at hand:
//   F(s) = W (y + k* (s - s*)),   k* = (1 - y y^T)/r*,   r* = sqrt(|s*|^2 + eps),
// along s W s/r* (p + (eps/r*^2) (1 - p)). A point that slides stays: s* = s. So one linear step
// leads to near the solution with eps, by how well the first one was solved, and not by how far
// slips are apart. Between hulls the plane's motion, at rest with eps_1, moves with this step too.
//
// Dual variables (Chan, Golub and Mulet 1999, for total variation). A point's force is W y with
// r y = s. The same equation linearised with y of its own,
//   y+ = s+/r - y (s . (s+ - s))/r^2,   k = W/r (1 - (y s^T + s y^T)/(2 r)),
// is as exact at the solution, where y = s/r, and holds the stiffness of a point that has slid until
// its force has turned. |y| <= 1 keeps k positive semi-definite.

#include "contact/friction/friction_plane.h"

#include <string.h>

// Keeps k from being less than zero by rounding: far below the inertia of anything that slides.
#define INSIDE (1 - 1e-9)

djSlipLaw dj_slipLaw(const djLagged* lagged, const djPairInput* in) {
  double aim = lagged->law.eps, eps = aim;
  if (in->ease != DJ_EASE_NONE && in->ease_eps > eps) eps = in->ease_eps;
  return (djSlipLaw){eps, aim, sqrt(aim / eps), in->ease == DJ_EASE_FORESEEN};
}

// y+ (2) of a point that had slip s0 and dual variable y0, and has slip s now.
static void moveDual(double y[2], const double s[2], const double s0[2], const double y0[2],
                     double eps) {
  double rr = s0[0] * s0[0] + s0[1] * s0[1] + eps, ir = 1 / sqrt(rr);
  double turn = (s0[0] * (s[0] - s0[0]) + s0[1] * (s[1] - s0[1])) / rr;
  y[0] = s[0] * ir - y0[0] * turn, y[1] = s[1] * ir - y0[1] * turn;
  double norm = sqrt(y[0] * y[0] + y[1] * y[1]);
  if (norm > INSIDE) y[0] *= INSIDE / norm, y[1] *= INSIDE / norm;
}

// s* and its y.
static void foresee(djDualPoint* point, const double s[2], const djSlipLaw* law) {
  double ss = s[0] * s[0] + s[1] * s[1];
  djSlipSlope slope = dj_slipSlope(ss, sqrt(ss + law->eps), law);
  for (int k = 0; k < 2; k++) {
    point->force[k] = slope.turn * s[k];
    point->slip[k] = slope.turn / slope.across * s[k];
  }
}

bool dj_dualSlips(double (*y)[2], djFrictionState* state, const djLagged* lagged,
                  double (*slip)[2], int n, const djSlipLaw* law, int iterate) {
  if (!dj_hasDuals(lagged, n, iterate)) return false;
  if (state->iterate != iterate) {
    for (int i = 0; i < state->nnext; i++) lagged->dual[i].now = lagged->dual[i].next;
    state->nnow = iterate > 1 ? state->nnext : 0;   // none of a solution before
    state->iterate = iterate;
  }
  state->nnext = n;
  for (int i = 0; i < n; i++) {
    djDualPoint *next = &lagged->dual[i].next, *now = &lagged->dual[i].now;
    const double *s = slip[i], none[2] = {0};
    if (law->foreseen) {
      foresee(next, s, law);
      continue;
    }
    bool first = state->nnow != n;
    moveDual(y[i], s, first ? s : now->slip, first ? none : now->force, law->eps);
    memcpy(next->slip, s, sizeof next->slip);
    memcpy(next->force, y[i], sizeof next->force);
  }
  return !law->foreseen;
}
