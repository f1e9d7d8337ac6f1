// Laws of rows, and single rows whose argument is linear in their force.

#include "integrate/row_law.h"

#include "math/barrier.h"

#include <math.h>

static const double SMALL = 0.3;           // of r: so far slips go along the curve
static const double LEAST_SLOPE = 1e-9;
static const double NEARLY = 1e-6;         // to which a force is met: the next digits follow
enum { MOST_STEPS = 40 };                  // of a row by itself

// ---- points of a law's curve ------------------------------------------------------------------

// The barrier by its q (math/barrier.h): x = s/(1 + q).
static void placeDepth(djLawRow* r, double q) {
  double f[3], x = r->width / (1 + q), ix = 1 / x, w = r->weight * ix * ix;
  dj_barrierByDepth(f, r->law, q);
  r->at = (djRowPoint){.x = x, .F = w * f[1], .acts = true};
  r->at.C = 1 / (w * ix * f[2]);
}

void dj_releaseRow(djLawRow* r, double x) {
  r->at = (djRowPoint){.x = x, .C = INFINITY};
}

// From where the row is, where that is not far. The force is that of the depth: on the curve.
void dj_placeForce(djLawRow* r, double F) {
  double y = F * r->width * r->width / r->weight;
  if (!(F > 0)) {
    dj_releaseRow(r, r->width);
    return;
  }
  if (r->at.acts && F > 0.5 * r->at.F && F < 2 * r->at.F) {
    double x = r->at.x, q = r->width / x - 1 + (F - r->at.F) * r->at.C * r->width / (x * x);
    if (q > 0) {
      placeDepth(r, dj_barrierDepthFrom(r->law, y, q, NEARLY));
      return;
    }
  }
  placeDepth(r, dj_barrierDepthFrom(r->law, y, dj_mostBarrierDepth(r->law, y), NEARLY));
}

void dj_placeArgument(djLawRow* r, double x) {
  if (r->kind == DJ_CURVE_COST) {
    djRowSlope s = dj_rowSlope(r->soft, x);
    r->at = (djRowPoint){.x = x, .F = -r->weight * s.d, .acts = s.dd > 0};
    r->at.C = r->at.acts ? 1 / (r->weight * s.dd) : INFINITY;
  } else if (x < r->width) {
    placeDepth(r, r->width / x - 1);
  } else {
    dj_releaseRow(r, x);
  }
}

// On the curve, or beside it: at any F within the disc. With r F = -W s linearised for what F and s
// are (Chan, Golub, Mulet, "A nonlinear primal-dual method for total variation-based image
// restoration", 1999),
//   r dF + T ds = -(r F + W s),   T = W + (F s^T + s F^T)/2r > 0,   C = r T^-1:
// so F need not jump where s turns round.
static void placeBoth(djLawRow* r, double x, double y, double F0, double F1) {
  double W = r->weight, size = sqrt(x * x + y * y + r->width);
  double least = (1 + LEAST_SLOPE) * W, t1 = 0.5 * (F0 * y + F1 * x) / size;
  double t0 = least + F0 * x / size, t2 = least + F1 * y / size, det = t0 * t2 - t1 * t1;
  double c = size / det;
  double e0 = size * F0 + W * x, e1 = size * F1 + W * y;
  r[0].at = (djRowPoint){x, F0, c * t2, -c * t1, true, (t2 * e0 - t1 * e1) / det};
  r[1].at = (djRowPoint){y, F1, c * t0, 0, true, (t0 * e1 - t1 * e0) / det};
}

void dj_placeSlip(djLawRow* r, double x, double y) {
  double c = r->weight / sqrt(x * x + y * y + r->width);
  placeBoth(r, x, y, -c * x, -c * y);
}

void dj_moveSlip(djLawRow* r, double dx, double dy, double dF, double dG) {
  double x = r->at.x, y = r[1].at.x, F0 = r->at.F + dF, F1 = r[1].at.F + dG;
  double size = sqrt(x * x + y * y + r->width), F = hypot(F0, F1), W = r->weight;
  if (hypot(dx, dy) < SMALL * size) {
    dj_placeSlip(r, x + dx, y + dy);
    return;
  }
  double f = F > W ? W / F : 1;
  placeBoth(r, x + dx, y + dy, f * F0, f * F1);
}

// ---- one row ----------------------------------------------------------------------------------

static void solveBarrier(djLawRow* r, double a, double g) {
  double s = r->width, D = s - a, w = r->weight;
  if (!(D > 0)) {
    dj_releaseRow(r, a);
    return;
  }
  double q = a > 0 ? s / a - 1 : INFINITY;
  if (g > 0) q = fmin(q, dj_mostBarrierDepth(r->law, D * s * s / (g * w)));
  if (isinf(q)) q = 100;
  for (int k = 0; k < 4 && g > 0; k++) {
    double f[3], x = s / (1 + q), ix = 1 / x, gw = g * w * ix;
    dj_barrierByDepth(f, r->law, q);
    double step = (a + gw * ix * f[1] - x) / (gw * f[2] / s + x * x / s);
    q -= step;
    if (fabs(step) < 1e-6 * q) break;
  }
  if (q > 0) placeDepth(r, q);
  else dj_releaseRow(r, a);
}

// x - a - g F is increasing: by Newton's method, halving between points on both sides where that
// leads out of them, as between stretches where F is constant.
static void solveCost(djLawRow* r, double a, double g) {
  double low = -INFINITY, high = INFINITY;
  dj_placeArgument(r, r->at.acts ? r->at.x : a);
  for (int k = 0; k < MOST_STEPS; k++) {
    double off = r->at.x - a - g * r->at.F;
    double step = off / (r->at.acts ? 1 + g / r->at.C : 1), to = r->at.x - step;
    if (off > 0) high = r->at.x;
    else low = r->at.x;
    if (!(to >= low && to <= high)) to = 0.5 * (low + high);
    dj_placeArgument(r, to);
    if (fabs(step) <= 1e-9 * fabs(r->at.x)) break;
  }
}

void dj_solveRow(djLawRow* r, double a, double g) {
  if (r->kind == DJ_CURVE_COST) solveCost(r, a, g);
  else solveBarrier(r, a, g);
}

// By r, at which s = (1 + W G/r)^-1 a has |s|^2 + eps = r^2.
void dj_solveDisc(djLawRow* r, const double a[2], const double G[3]) {
  double W = r->weight, aa = a[0] * a[0] + a[1] * a[1];
  double low = sqrt(r->width), high = sqrt(aa + r->width), size = high, x = a[0], y = a[1];
  for (int k = 0; k < 12; k++) {
    double f = W / size, m0 = 1 + f * G[0], m1 = f * G[1], m2 = 1 + f * G[2];
    double det = m0 * m2 - m1 * m1;
    x = (m2 * a[0] - m1 * a[1]) / det;
    y = (m0 * a[1] - m1 * a[0]) / det;
    double b0 = (G[0] * x + G[1] * y) * f / size, b1 = (G[1] * x + G[2] * y) * f / size;
    double dx = (m2 * b0 - m1 * b1) / det, dy = (m0 * b1 - m1 * b0) / det;   // ds/dr
    double by = sqrt(x * x + y * y + r->width), slope = (x * dx + y * dy) / by - 1;
    if (by > size) low = size;
    else high = size;
    double to = slope < 0 ? size - (by - size) / slope : low;
    if (!(to >= low && to <= high)) to = sqrt(low * high);
    if (fabs(to - size) < 1e-6 * size) break;
    size = to;
  }
  dj_placeSlip(r, x, y);
}
