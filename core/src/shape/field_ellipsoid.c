// With M = diag(1/a_i^2) the nearest point y of the surface y^T M y = 1 has x - y = t M y, so
//
//   w_i = (M y)_i = x_i/(a_i^2 + t),   d = t |w|,   n = w/|w|,                              (1)
//
// t the greatest root of sum (a_i w_i)^2 = 1. With c the least semi-axis, e_i = a_i^2 - c^2 and
// tau = t + c^2 >= 0 no denominator e_i + tau has a difference in it. The function
//
//   phi(tau) = 1 - 1/p,   p^2 = sum (a_i x_i/(e_i + tau))^2                                 (2)
//
// is convex and falls, and nearly straight, so that Newton's method rises to the root from where
// one term alone is 1, without overshooting. Where all x_i with e_i = 0 vanish and p(0) < 1, x is
// on the focal disc, two points are nearest, and tau = 0.
//
// The surface's shape operator at y is S = P M P/|w|, P = 1 - n n^T, and dn/dx = S (1 + d S)^-1,
// here in two tangents. Size k moves the surface along n by v = y_k^2/(a_k^3 |w|): dd/da_k = -v,
// and as n = dd/dx and dy/dx = P - d dn/dx, dn/da_k = -(P - d dn/dx) dv/dy.

#include "shape/field_ellipsoid.h"

#include <math.h>

#define MAX_NEWTON 60
#define TINY 1e-150 // nearer to the disc, by the semi-axis, is on it

typedef struct Nearest {
  double w[3]; // M y
  double t;
} Nearest;

// The ridge: the focal disc across the least axis, whose semi-axes are e_i/a_i.
static double ridgeDistance(const double e[3], const double a[3], const double x[3]) {
  double sum = 0, scaled = 0, least = INFINITY;
  for (int i = 0; i < 3; i++) {
    double half = e[i] / a[i], beyond = fmax(fabs(x[i]) - half, 0);
    sum += beyond * beyond;
    if (half > 0) {
      scaled += x[i] / half * (x[i] / half);
      least = fmin(least, half);
    }
  }
  double outside = scaled > 1 ? (sqrt(scaled) - 1) * least : 0;
  return fmax(sqrt(sum), outside);
}

// p^2 and -p dp/dtau, for tau > 0 or no x along a least axis.
static double sums(double* slope, const double a[3], const double e[3], const double x[3],
                   double tau) {
  double p2 = 0;
  *slope = 0;
  for (int i = 0; i < 3; i++) {
    if (e[i] + tau == 0) continue;
    double q = a[i] * x[i] / (e[i] + tau);
    p2 += q * q;
    *slope += q * q / (e[i] + tau);
  }
  return p2;
}

// The index of the least semi-axis.
static int leastAxis(const double a[3]) {
  int c = a[1] < a[0] ? 1 : 0;
  return a[2] < a[c] ? 2 : c;
}

// On the focal disc, where x is in the plane of the axes that are not the least.
static bool onDisc(Nearest* out, const double a[3], const double e[3], const double x[3], int c) {
  double slope, p2 = sums(&slope, a, e, x, 0);
  if (p2 > 1) return false;
  for (int i = 0; i < 3; i++) out->w[i] = e[i] > 0 ? x[i] / e[i] : 0;
  out->w[c] = sqrt(1 - p2) / a[c];
  out->t = -a[c] * a[c];
  return true;
}

static void findNearest(Nearest* out, double e[3], const double a[3], const double x[3]) {
  int c = leastAxis(a);
  double low = 0, slope;
  bool across = false; // x has a part along a least axis
  for (int i = 0; i < 3; i++) {
    e[i] = (a[i] - a[c]) * (a[i] + a[c]);
    low = fmax(low, a[i] * fabs(x[i]) - e[i]);
    across = across || (e[i] == 0 && fabs(x[i]) > TINY * a[i]);
  }
  if (!across && onDisc(out, a, e, x, c)) return;
  // From t = 0, as most points are near the surface: where that is beyond the root the first step
  // goes to its other side.
  double tau = fmax(low, a[c] * a[c]);
  for (int k = 0; k < MAX_NEWTON; k++) {
    // phi = 1 - 1/p, phi' = -slope/p^3
    double p2 = sums(&slope, a, e, x, tau), p = sqrt(p2);
    double next = fmax(tau + p2 * (p - 1) / slope, low), step = next - tau;
    if (k > 0 && !(step > 0)) break;
    tau = next;
    if (fabs(step) < 1e-9 * tau) break; // quadratic: the next step is below rounding
  }
  for (int i = 0; i < 3; i++) out->w[i] = x[i] / (e[i] + tau);
  out->t = tau - a[c] * a[c];
}

// Orthonormal tangents.
static void tangents(djVec3 t[2], djVec3 n) {
  djVec3 e = fabs(n.x) < 0.6 ? dju_vec3(1, 0, 0) : dju_vec3(0, 1, 0);
  djVec3 u = dju_cross3(n, e);
  t[0] = dju_scale3(1 / dju_norm3(u), u);
  t[1] = dju_cross3(n, t[0]);
}

// dn/dx = T K (1 + d K)^-1 T^T with K = T^T M T/|w|.
static void turnOf(double turn[9], djVec3 n, const double a[3], double w, double d) {
  djVec3 t[2];
  tangents(t, n);
  double K[3] = {0, 0, 0};
  for (int i = 0; i < 3; i++) {
    double m = 1 / (a[i] * a[i] * w), u = (&t[0].x)[i], v = (&t[1].x)[i];
    K[0] += m * u * u;
    K[1] += m * u * v;
    K[2] += m * v * v;
  }
  // K (1 + d K)^-1 = (K + d det K)/det(1 + d K)
  double det = K[0] * K[2] - K[1] * K[1],
         all = (1 + d * K[0]) * (1 + d * K[2]) - d * d * K[1] * K[1];
  if (!(all > 1e-100)) return; // at the focal curve
  double h00 = (K[0] + d * det) / all, h01 = K[1] / all, h11 = (K[2] + d * det) / all;
  for (int i = 0; i < 3; i++) {
    double ui = (&t[0].x)[i], vi = (&t[1].x)[i];
    for (int j = 0; j < 3; j++) {
      double uj = (&t[0].x)[j], vj = (&t[1].x)[j];
      turn[3 * i + j] = h00 * ui * uj + h01 * (ui * vj + vi * uj) + h11 * vi * vj;
    }
  }
}

void dj_ellipsoidAt(djFieldAt* out, const djDistanceField* field, const double x[3]) {
  const double* a = field->size;
  Nearest near;
  double e[3];
  findNearest(&near, e, a, x);
  djVec3 w = dju_load3(near.w);
  double length = dju_norm3(w);
  djVec3 n = dju_scale3(1 / length, w);
  out->distance = near.t * length;
  dju_store3(out->gradient, n);
  dju_store3(out->normal, n);
  turnOf(out->turn, n, a, length, out->distance);
  out->ridge = DJ_RIDGE_MIDDLE;
  out->ridge_distance = ridgeDistance(e, a, x);
  int c = leastAxis(a);
  out->piece = n.x * (c == 0) + n.y * (c == 1) + n.z * (c == 2) < 0;
}

void dj_ellipsoidSizes(double distance[3], double normal[9], const djDistanceField* field,
                       const double x[3], const djFieldAt* at) {
  const double *a = field->size, *n = at->normal, d = at->distance;
  // y = a^2 n |w| lies on the surface: |w| = 1/|(a n)|
  (void)x;
  double an[3] = {a[0] * n[0], a[1] * n[1], a[2] * n[2]};
  double w = 1 / dju_norm3(dju_load3(an)), B[9];
  for (int i = 0; i < 9; i++) B[i] = (i % 4 == 0) - n[i / 3] * n[i % 3] - d * at->turn[i];
  for (int k = 0; k < 3; k++) {
    double y = a[k] * an[k] * w, cube = a[k] * a[k] * a[k], v = y * y / (cube * w);
    distance[k] = -v;
    // dv/dy = 2 y_k e_k/(a_k^3 |w|) - v M n/|w|
    double by[3];
    for (int i = 0; i < 3; i++) by[i] = -v * n[i] / (a[i] * a[i] * w);
    by[k] += 2 * y / (cube * w);
    for (int i = 0; i < 3; i++) {
      normal[3 * i + k] = -(B[3 * i] * by[0] + B[3 * i + 1] * by[1] + B[3 * i + 2] * by[2]);
    }
  }
}

// With k = |a^-1 x| >= 1, k - 1 is 1/c times a function of Lipschitz constant 1: d >= (k - 1) c.
double dj_ellipsoidBound(const djDistanceField* field, const double x[3]) {
  const double* a = field->size;
  double least = fmin(a[0], fmin(a[1], a[2])), scaled = 0, far = 0;
  for (int i = 0; i < 3; i++) {
    double beyond = fmax(fabs(x[i]) - a[i], 0);
    scaled += x[i] / a[i] * (x[i] / a[i]);
    far += beyond * beyond;
  }
  return scaled > 1 ? fmax((sqrt(scaled) - 1) * least, sqrt(far)) : -least;
}
