#include "math/smooth.h"

// Corner of min(x, 0) on -1 <= t <= 1: slope 1 - S(u), u = (t + 1)/2, S = 3u^2 - 2u^3, so
// s(t) = -1 + 2 (u - u^3 + u^4/2); s(1) = 0 and s(0) = -3/16.
static djJet corner(double t) {
  if (t <= -1) return (djJet){t, 1, 0};
  if (t >= 1) return (djJet){0, 0, 0};
  double u = 0.5 * (t + 1), u2 = u * u;
  return (djJet){-1 + 2 * (u - u2 * u + 0.5 * u2 * u2), 1 - u2 * (3 - 2 * u), -3 * u * (1 - u)};
}

// Half width of the band about a bound.
static double band(double lo, double hi) {
  double w = 0.01 * (hi - lo);
  return isfinite(w) ? w : 0.01 * fmax(1e-8, isfinite(hi) ? fabs(hi) : fabs(lo));
}

djJet dju_smoothClamp(double x, double lo, double hi) {
  djJet r = {x, 1, 0};
  if (!(lo <= hi)) return r;
  if (lo == hi) return (djJet){lo, 0, 0};
  double w = band(lo, hi);
  if (x > hi - w) {
    djJet c = corner((x - hi) / w);
    r = (djJet){hi + w * c.f, c.d, c.dd / w};
  } else if (x < lo + w) {
    djJet c = corner((lo - x) / w);
    r = (djJet){lo - w * c.f, c.d, -c.dd / w};
  }
  return r;
}

// t (1 - t)^3 (1 + 3 t): the quintic that leaves 0 as t does and comes to rest there at t = 1, with
// two derivatives; at most 16/81, at t = 1/3.
static djJet beyond(double t) {
  if (t >= 1) return (djJet){0, 0, 0};
  double u = 1 - t;
  return (djJet){t * u * u * u * (1 + 3 * t), u * u * (1 - 3 * t) * (1 + 5 * t),
                 -12 * t * u * (3 - 5 * t)};
}

djJet dju_inputClamp(double x, double lo, double hi) {
  if (lo == hi) return (djJet){lo, 0, 0};
  if (!(lo <= hi) || !(x < lo || x > hi)) return (djJet){x, 1, 0};
  double w = band(lo, hi), side = x > hi ? 1 : -1, bound = x > hi ? hi : lo;
  djJet b = beyond(side * (x - bound) / w);
  return (djJet){bound + side * w * b.f, b.d, side * b.dd / w};
}

// Constant up to edge[0] and from edge[3], x between edge[1] and edge[2], a corner else.
int dju_clampEdges(double edge[4], double lo, double hi) {
  if (!(lo < hi)) return 0;
  double w = band(lo, hi);
  edge[0] = lo - w;
  edge[1] = lo + w;
  edge[2] = hi - w;
  edge[3] = hi + w;
  return 4;
}

// Gauss' rule with three points, exact on each piece; there are no differences that cancel.
double dju_smoothClampMean(double a, double b, double lo, double hi) {
  double bottom = fmin(a, b), top = fmax(a, b), from = bottom, sum = 0, edge[4];
  int n = dju_clampEdges(edge, lo, hi);
  if (n == 0 || !(top > bottom)) return dju_smoothClamp(0.5 * (a + b), lo, hi).f;
  for (int k = 0; k <= n; k++) {
    double to = k < n ? fmin(edge[k], top) : top, half = 0.5 * (to - from), mid = from + half;
    if (!(half > 0)) continue;
    double mean = dju_smoothClamp(mid, lo, hi).f;
    if (k == 1 || k == 3) {
      double d = 0.774596669241483377 * half;
      mean = (8 * mean + 5 * dju_smoothClamp(mid - d, lo, hi).f +
              5 * dju_smoothClamp(mid + d, lo, hi).f) / 18;
    }
    sum += half * mean;
    from = to;
  }
  return sum / (0.5 * (top - bottom));
}

djJet dju_softLimit(double x, double k, double w) {
  if (x <= 0) return (djJet){0, 0, 0};
  if (x < w) return (djJet){k * x * x * x / (6 * w), k * x * x / (2 * w), k * x / w};
  return (djJet){k * (0.5 * x * x - 0.5 * w * x + w * w / 6), k * (x - 0.5 * w), k};
}

double dju_softLimitByWidth(double x, double k, double w) {
  if (x <= 0) return 0;
  return x < w ? -0.5 * k * (x / w) * (x / w) : -0.5 * k;
}

djJet dju_smoothRamp(double x, double w) {
  djJet c = corner(-x / w);
  return (djJet){-w * c.f, c.d, -c.dd / w};
}

djJet dju_smoothStep(double t) {
  if (t <= 0) return (djJet){0, 0, 0};
  if (t >= 1) return (djJet){1, 0, 0};
  double u = 1 - t;
  return (djJet){t * t * t * (10 + t * (-15 + 6 * t)), 30 * t * t * u * u,
                 60 * t * u * (u - t)};
}

djJet dju_smoothAbs(double x, double e) {
  double r = sqrt(x * x + e * e);
  // sqrt(x^2 + e^2) - e without cancellation
  return (djJet){x * x / (r + e), x / r, e * e / (r * r * r)};
}

static djJet root(double y) {
  double r = sqrt(y), d = 0.5 / r;
  return (djJet){r, d, -0.5 * d / y};
}

djJet dju_smoothRoot(double y, double e) {
  if (y >= e * e) return root(y);
  double s = y / (e * e);
  return (djJet){e * (0.375 + s * (0.75 - 0.125 * s)), (0.75 - 0.25 * s) / e,
                 -0.25 / (e * e * e)};
}

// Between 0 and e^2 the quintic in y/e^2 that meets both sides with two derivatives.
djJet dju_smoothRampRoot(double y, double e) {
  if (y <= 0) return (djJet){0, 0, 0};
  if (y >= e * e) return root(y);
  double t = y / (e * e);
  return (djJet){e * t * t * t * (7.875 + t * (-11.25 + 4.375 * t)),
                 t * t * (23.625 + t * (-45 + 21.875 * t)) / e,
                 t * (47.25 + t * (-135 + 87.5 * t)) / (e * e * e)};
}
