// Smooth capsules, strictly convex: with the distance w(y1) from the segment |y1| <= h smoothed, of
// a shape that lies inside the capsule
//
//   phi = sqrt(y2^2 + y3^2 + w^2)/r - 1,
//   w = (r/beta) (log(1 + e^(beta (y1 - h)/r)) + log(1 + e^(-beta (y1 + h)/r))) >= |y1| - h.
//
// w is convex and phi a norm of it, so that phi is convex. Where the ends begin the surface is
// deeper than the capsule's by r (1 - sqrt(1 - (log 2/beta)^2)), elsewhere by less.
//
// Radii: the capsule's outer one; a ball of radius r - w(0) is inside, as w(y1) <= w(0) + |y1| and
// so |y|^2 - y1^2 + w^2 <= (|y| + w(0))^2.

#include "shape/implicit.h"

#include <float.h>

enum { R, H, BETA };

// log(1 + e^x) and its first two derivatives.
static double soft(double* d, double* dd, double x) {
  const double e = exp(-fabs(x)), s = 1 / (1 + e);
  *d = x > 0 ? s : e * s;
  *dd = e * s * s;
  return fmax(x, 0) + log1p(e);
}

typedef struct Bend {
  double w, d, dd; // and by y1
  double up[2];    // the derivatives of both logarithms
} Bend;

static Bend bendOf(const djImplicit* shape, double y) {
  const double r = shape->size[R], b = shape->sharp / r;
  double d[2], dd[2];
  const double s = soft(&d[0], &dd[0], b * (y - shape->size[H]));
  const double t = soft(&d[1], &dd[1], -b * (y + shape->size[H]));
  return (Bend){fmax((s + t) / b, DBL_MIN), d[0] - d[1], b * (dd[0] + dd[1]), {d[0], d[1]}};
}

static void eval(djImplicitPoint* out, const djImplicit* shape, djVec3 y) {
  const double r = shape->size[R];
  const Bend b = bendOf(shape, y.x);
  const double s = sqrt(y.y * y.y + y.z * y.z + b.w * b.w), f = 1 / (r * s), c = 1 / s;
  const djVec3 q = dju_vec3(b.w * b.d * c, y.y * c, y.z * c); // of s
  out->phi = s / r - 1;
  out->g = dju_scale3(1 / r, q);
  out->H[0] = f * (b.d * b.d + b.w * b.dd - q.x * q.x);
  out->H[1] = f * (1 - q.y * q.y);
  out->H[2] = f * (1 - q.z * q.z);
  out->H[3] = -f * q.x * q.y;
  out->H[4] = -f * q.x * q.z;
  out->H[5] = -f * q.y * q.z;
}

// With k = r/beta, s and t the logarithms: w = k (s + t), s' = d0 etc. By r: of w dw = (s + t)/beta
// - (d0 (y - h) - d1 (y + h))/r, of its slope -dd ((y - h), (y + h))/r; and so on.
static void by(double out[4][DJ_FEW], const djImplicit* shape, djVec3 y) {
  const double r = shape->size[R], h = shape->size[H], beta = shape->sharp, b = beta / r;
  double d[2], dd[2];
  const double u = y.x - h, v = y.x + h;
  const double sum = soft(&d[0], &dd[0], b * u) + soft(&d[1], &dd[1], -b * v);
  const Bend at = bendOf(shape, y.x);
  const double s = sqrt(y.y * y.y + y.z * y.z + at.w * at.w);
  // w and its slope by b, and by h; by r, w = (s + t)/b through b alone, db/dr = -b/r.
  const double w_b = (d[0] * u - d[1] * v) / b - sum / (b * b), d_b = dd[0] * u + dd[1] * v;
  const double w_h = -d[0] - d[1], d_h = -b * (dd[0] - dd[1]);
  const double w_by[3] = {-b / r * w_b, w_h, w_b / r}, d_by[3] = {-b / r * d_b, d_h, d_b / r};
  for (int k = 0; k < 3; k++) {
    const double ds = at.w * w_by[k] / s, f = 1 / (r * s);
    const djVec3 g = dju_vec3(at.w * at.d, y.y, y.z);
    double dphi = ds / r;
    djVec3 dg = dju_vec3(w_by[k] * at.d + at.w * d_by[k], 0, 0);
    dg = dju_scale3(f, dju_madd3(dg, -ds / s, g));
    if (k == R) {
      dphi -= s / (r * r);
      dg = dju_madd3(dg, -f / r, g);
    }
    dj_putNumber(out, k, dphi, dg);
  }
}

static void roundOf(double S[6], const djImplicit* shape) {
  const double r = shape->size[R], h = shape->size[H];
  S[0] = (h + r) * (h + r);
  S[1] = S[2] = r * r;
}

static void radii(double* inner, double* outer, const djImplicit* shape) {
  *inner = shape->size[R] - bendOf(shape, 0).w;
  *outer = shape->size[R] + shape->size[H];
}

static const char* const NUMBERS[] = {"r", "h", NULL};

const djImplicitRow dj_smoothCapsule = {.name = "smooth_capsule",
                                        .sharp = "beta",
                                        .size = NUMBERS,
                                        .eval = eval,
                                        .by = by,
                                        .round = roundOf,
                                        .radii = radii};
