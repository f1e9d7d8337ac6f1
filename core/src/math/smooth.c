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

// Integral of max(x - clamp(x), 0) about an upper bound: with t = (x - hi)/w, u = (t + 1)/2,
//   w^2 Integral (t - s(t)) dt = 2 w^2 (u^2 - u + u - u^2 + u^4/2 - u^5/5) on the band.
static double excess(double t, double w) {
  if (t <= -1) return 0;
  if (t >= 1) return w * w * (0.5 * t * t + 0.1);
  double u = 0.5 * (t + 1), u4 = u * u * u * u;
  return 2 * w * w * u4 * (0.5 - 0.2 * u);
}

double dju_smoothClampMean(double a, double b, double lo, double hi) {
  double mid = 0.5 * (a + b);
  if (!(lo < hi)) return dju_smoothClamp(mid, lo, hi).f;
  double w = band(lo, hi), top = fmax(a, b), bottom = fmin(a, b);
  if (top <= hi - w && bottom >= lo + w) return mid;
  if (top - bottom < 0.1 * w) {
    // Gauss' rule with three points: no cancellation
    double d = 0.774596669241483377 * 0.5 * (b - a);
    return (8 * dju_smoothClamp(mid, lo, hi).f + 5 * dju_smoothClamp(mid - d, lo, hi).f +
            5 * dju_smoothClamp(mid + d, lo, hi).f) / 18;
  }
  double cut = excess((b - hi) / w, w) - excess((a - hi) / w, w);
  cut += excess((lo - b) / w, w) - excess((lo - a) / w, w);
  return mid - cut / (b - a);
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
