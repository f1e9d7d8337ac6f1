// Superellipsoids and superelliptic cylinders (iDCOL, eqs. 18-19, A17-A37 with eps = 0).
//
// With S = sum (y_i/a_i)^(2n), where the cylinder takes the radius for two coordinates at once,
//   phi = s - 1,  s = S^(1/(2n)),
// s being the gauge of the shape: homogeneous of degree 1. With q = grad S/(2n)
//   grad phi = s q/S,   Hess phi = s/S ((D^2 S)/(2n) - (2n - 1) q q^T/S).
// n is real, (y^2)^n. Far from the surface powers would overflow: there y/m is evaluated, m the
// largest |y_i/a_i|, since s(y) = m s(y/m).
//
// Radii: inside S <= 1 for n >= 1 lies the ball of the least semi-axis, (sum u_i^n)^(1/n) being no
// more than sum u_i <= |y|^2/min a^2, u_i = (y_i/a_i)^2. By Hoelder's inequality the largest |y|^2
// = sum a_i^2 u_i with sum u_i^n = 1 is (sum a_i^(2n/(n-1)))^((n-1)/n).

#include "shape/implicit.h"

#include <float.h>

// u^(n-1)
static double lowPower(const djImplicit* shape, double u) {
  if (!shape->power) return pow(u, shape->sharp - 1);
  double out = 1;
  for (int k = shape->power - 1; k; k >>= 1, u *= u) {
    if (k & 1) out *= u;
  }
  return out;
}

static inline double logarithm(double S) {
  const double x = S - 1;
  return fabs(x) < 1e-4 ? x * (1 - x * (0.5 - x * (1.0 / 3 - 0.25 * x))) : log(S);
}

// S^(1/(2n))
static inline double root(double S, double n) {
  const double l = logarithm(S) / (2 * n);
  return fabs(l) < 1e-4 ? 1 + l * (1 + l * (0.5 + l * (1.0 / 6 + l / 24))) : exp(l);
}

static inline bool far(double m) { return m > 16 || (m < 1.0 / 16 && m > 0); }

static void evalEllipsoid(djImplicitPoint* out, const djImplicit* shape, djVec3 y) {
  const double *a = shape->size, n = shape->sharp;
  const double c[3] = {1 / (a[0] * a[0]), 1 / (a[1] * a[1]), 1 / (a[2] * a[2])};
  const double u[3] = {y.x * y.x * c[0], y.y * y.y * c[1], y.z * y.z * c[2]};
  const double m = fmax(u[0], fmax(u[1], u[2]));
  if (far(m)) {
    const double t = sqrt(m);
    evalEllipsoid(out, shape, dju_scale3(1 / t, y));
    out->phi = (out->phi + 1) * t - 1;
    for (int k = 0; k < 6; k++) out->H[k] /= t;
    return;
  }
  const double p[3] = {lowPower(shape, u[0]), lowPower(shape, u[1]), lowPower(shape, u[2])};
  const double S = fmax(p[0] * u[0] + p[1] * u[1] + p[2] * u[2], DBL_MIN);
  const double s = root(S, n), f = s / S, e = (2 * n - 1) * f, t = e / S;
  const djVec3 q = dju_vec3(p[0] * y.x * c[0], p[1] * y.y * c[1], p[2] * y.z * c[2]);
  out->phi = s - 1;
  out->g = dju_scale3(f, q);
  out->H[0] = e * p[0] * c[0] - t * q.x * q.x;
  out->H[1] = e * p[1] * c[1] - t * q.y * q.y;
  out->H[2] = e * p[2] * c[2] - t * q.z * q.z;
  out->H[3] = -t * q.x * q.y;
  out->H[4] = -t * q.x * q.z;
  out->H[5] = -t * q.y * q.z;
}

static void evalCylinder(djImplicitPoint* out, const djImplicit* shape, djVec3 y) {
  const double R = shape->size[0], h = shape->size[1], n = shape->sharp;
  const double c = 1 / (h * h), d = 1 / (R * R), r2 = y.y * y.y + y.z * y.z;
  const double u = y.x * y.x * c, v = r2 * d, m = fmax(u, v);
  if (far(m)) {
    const double t = sqrt(m);
    evalCylinder(out, shape, dju_scale3(1 / t, y));
    out->phi = (out->phi + 1) * t - 1;
    for (int k = 0; k < 6; k++) out->H[k] /= t;
    return;
  }
  const double p = lowPower(shape, u), w = lowPower(shape, v);
  const double S = fmax(p * u + w * v, DBL_MIN), s = root(S, n), f = s / S, e = (2 * n - 1) * f;
  const double t = e / S, k = r2 > 0 ? 2 * (n - 1) / r2 : 0; // along the radius
  const djVec3 q = dju_vec3(p * y.x * c, w * y.y * d, w * y.z * d);
  out->phi = s - 1;
  out->g = dju_scale3(f, q);
  out->H[0] = e * p * c - t * q.x * q.x;
  out->H[1] = f * w * d * (1 + k * y.y * y.y) - t * q.y * q.y;
  out->H[2] = f * w * d * (1 + k * y.z * y.z) - t * q.z * q.z;
  out->H[3] = -t * q.x * q.y;
  out->H[4] = -t * q.x * q.z;
  out->H[5] = f * w * d * k * y.y * y.z - t * q.y * q.z;
}

// By each semi-axis, and by n. With L = log u: dS/da_k = -2n p_k u_k/a_k, d(u^n)/dn = u^n L. Of phi
// = S^(1/2n) - 1 with q as above:
//   dphi = s (dS/(2n S) - dn log(S)/(2n^2)),
//   dg = s dq/S + (dphi - s dS/S) q/S, where dq has dp = (n - 1) p du/u + dn p L.
// On the surface S = 1. By a length dS = -2n q.y/a, dq = -2n q/a of what has that length.
// f = s/S over that length, h = (1 - 2n)/S.
static void byLength(double out[4][DJ_FEW], int k, double f, double h, double n, djVec3 q,
                     djVec3 own, djVec3 y) {
  const double dphi = -f * dju_dot3(own, y);
  dj_putNumber(out, k, dphi, dju_madd3(dju_scale3(-2 * n * f, own), h * dphi, q));
}

static void byPower(double out[4][DJ_FEW], int k, double s, double S, double n, djVec3 q, djVec3 dq,
                    djVec3 y) {
  const double f = s / S, dS = dju_dot3(dq, y), dphi = (f * dS - s * logarithm(S) / n) / (2 * n);
  dj_putNumber(out, k, dphi, dju_madd3(dju_scale3(f, dq), (dphi - f * dS) / S, q));
}

static double logOf(double u) { return u > 0 ? log(u) : 0; }

static void byEllipsoid(double out[4][DJ_FEW], const djImplicit* shape, djVec3 y) {
  const double *a = shape->size, n = shape->sharp, at[3] = {y.x, y.y, y.z};
  double q[3], dq[3], over[3], S = 0;
  for (int k = 0; k < 3; k++) {
    over[k] = 1 / a[k];
    const double c = at[k] * over[k] * over[k], u = at[k] * c;
    q[k] = lowPower(shape, u) * c;
    dq[k] = q[k] * logOf(u);
    S += q[k] * at[k];
  }
  S = fmax(S, DBL_MIN);
  const double s = root(S, n), f = s / S, h = (1 - 2 * n) / S;
  for (int k = 0; k < 3; k++) {
    double own[3] = {0};
    own[k] = q[k];
    byLength(out, k, f * over[k], h, n, dju_load3(q), dju_load3(own), y);
  }
  byPower(out, 3, s, S, n, dju_load3(q), dju_load3(dq), y);
}

static void byCylinder(double out[4][DJ_FEW], const djImplicit* shape, djVec3 y) {
  const double R = 1 / shape->size[0], h = 1 / shape->size[1], n = shape->sharp;
  const double c = h * h, d = R * R;
  const double u = y.x * y.x * c, v = (y.y * y.y + y.z * y.z) * d;
  const double p = lowPower(shape, u) * c, w = lowPower(shape, v) * d;
  const djVec3 along = dju_vec3(p * y.x, 0, 0), round = dju_vec3(0, w * y.y, w * y.z);
  const djVec3 q = dju_add3(along, round);
  const double S = fmax(dju_dot3(q, y), DBL_MIN), s = root(S, n), f = s / S, g = (1 - 2 * n) / S;
  byLength(out, 0, f * R, g, n, q, round, y);
  byLength(out, 1, f * h, g, n, q, along, y);
  byPower(out, 2, s, S, n, q, dju_add3(dju_scale3(logOf(u), along), dju_scale3(logOf(v), round)),
          y);
}

static void radii(double* inner, double* outer, const djImplicit* shape) {
  const int n = shape->nsize - 1;
  const double e = shape->sharp > 1 ? 2 * shape->sharp / (shape->sharp - 1) : INFINITY;
  double least = shape->size[0], most = shape->size[0], sum = 0;
  for (int k = 1; k < n; k++) {
    least = fmin(least, shape->size[k]);
    most = fmax(most, shape->size[k]);
  }
  for (int k = 0; k < n; k++) sum += isfinite(e) ? pow(shape->size[k] / most, e) : 0;
  *inner = least;
  *outer = isfinite(e) ? most * pow(sum, 1 / e) : most;
}

static void roundEllipsoid(double S[6], const djImplicit* shape) {
  for (int k = 0; k < 3; k++) S[k] = shape->size[k] * shape->size[k];
}

static void roundCylinder(double S[6], const djImplicit* shape) {
  S[0] = shape->size[1] * shape->size[1];
  S[1] = S[2] = shape->size[0] * shape->size[0];
}

static const char* const AXES[] = {"a", "b", "c", NULL};
static const char* const ROUND[] = {"R", "h", NULL};

const djImplicitRow dj_superellipsoid = {.name = "superellipsoid",
                                         .sharp = "n",
                                         .list = "size",
                                         .size = AXES,
                                         .eval = evalEllipsoid,
                                         .by = byEllipsoid,
                                         .round = roundEllipsoid,
                                         .radii = radii};
const djImplicitRow dj_superellipticCylinder = {.name = "superelliptic_cylinder",
                                                .sharp = "n",
                                                .size = ROUND,
                                                .eval = evalCylinder,
                                                .by = byCylinder,
                                                .round = roundCylinder,
                                                .radii = radii};
