// A path around a sphere or a cylinder (wrap_slope.h).
//
// In the plane through the centre (of a cylinder: across its axis) the length depends on distances
// r0, r1 of the ends and the angle phi between them:
//   around:  l = k0 + k1 + R (Phi - acos(R/r0) - acos(R/r1)),  k = sqrt(r^2 - R^2), Phi = phi or
//            2 pi - phi;    dl/dr = k/r,  d2l/dr2 = R^2/(k r^2),  dl/dphi = R or -R
//   inside:  touches at an angle alpha from end 0 where l = a(r0, alpha) + b(r1, phi - alpha) is
//            stationary; second derivatives lose l_x,alpha l_alpha,y / l_alpha,alpha
//   a^2 = r^2 + R^2 - 2 r R cos(alpha).
// With e the unit vectors to the ends, t that in the plane across e towards the other end, b the
// normal
//   dr/dx = e,  d2r/dx2 = (1 - e e^T)/r,   dphi/dx0 = -t0/r0,   dphi/dx1 = -t1/r1,
//   d2phi/dx0^2 = (t0 e0^T + e0 t0^T + cot(phi) b b^T)/r0^2,
//   d2phi/dx0dx1 = -b b^T/(r0 r1 sin(phi)),
// where b is fixed in a cylinder: its terms (and those of 1 - e e^T) are left out. Unrolled, a
// cylinder's path is straight: with z the distance along the axis, L = sqrt(l^2 + z^2).

#include "wrap_slope.h"

#include "slope_math.h"

#include <string.h>

// l by (r0, r1, phi).
typedef struct Plane {
  double l, g[3], H[3][3];
} Plane;

static void around(Plane* f, double r0, double r1, double phi, double R, double sign) {
  double k0 = sqrt(r0 * r0 - R * R), k1 = sqrt(r1 * r1 - R * R);
  double whole = sign > 0 ? phi : 2 * M_PI - phi;
  f->l = k0 + k1 + R * (whole - acos(R / r0) - acos(R / r1));
  f->g[0] = k0 / r0;
  f->g[1] = k1 / r1;
  f->g[2] = sign * R;
  f->H[0][0] = R * R / (k0 * r0 * r0);
  f->H[1][1] = R * R / (k1 * r1 * r1);
}

// Distance from an end to the circle's point at angle x, by r and x: value, r, x, rr, rx, xx.
static void chord(double* c, double r, double R, double x) {
  double cosine = cos(x), sine = sin(x);
  c[0] = sqrt(r * r + R * R - 2 * r * R * cosine);
  c[1] = (r - R * cosine) / c[0];
  c[2] = r * R * sine / c[0];
  c[3] = (1 - c[1] * c[1]) / c[0];
  c[4] = (R * sine - c[1] * c[2]) / c[0];
  c[5] = (r * R * cosine - c[2] * c[2]) / c[0];
}

static bool inside(Plane* f, double r0, double r1, double phi, double R, double alpha) {
  double a[6], b[6], start = alpha;
  for (int i = 0; i < 6; i++) { // MuJoCo's is true to 1e-6
    chord(a, r0, R, alpha);
    chord(b, r1, R, phi - alpha);
    alpha -= (a[2] - b[2]) / (a[5] + b[5]);
  }
  if (!(fabs(alpha - start) < 1e-3)) return false;
  chord(a, r0, R, alpha);
  chord(b, r1, R, phi - alpha);
  double mixed[3] = {a[4], -b[4], -b[5]}, curve = a[5] + b[5];
  f->l = a[0] + b[0];
  f->g[0] = a[1];
  f->g[1] = b[1];
  f->g[2] = b[2];
  f->H[0][0] = a[3];
  f->H[1][1] = b[3];
  f->H[1][2] = f->H[2][1] = b[4];
  f->H[2][2] = b[5];
  for (int i = 0; i < 9; i++) f->H[i / 3][i % 3] -= mixed[i / 3] * mixed[i % 3] / curve;
  return true;
}

static void addOuter(double* M, const double* a, const double* b, double scale) {
  for (int i = 0; i < 9; i++) M[i] += scale * a[i / 3] * b[i % 3];
}

// From the plane to space; b: the normal, or NULL where it is fixed.
static void lift(djmWrapSlope* s, const Plane* f, double* const* e, double* const* t,
                 const double* b, const double* r, double phi) {
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 3; k++) s->slope[i][k] = f->g[i] * e[i][k] - f->g[2] * t[i][k] / r[i];
    double* H = s->H[2 * i];
    double q = r[i] * r[i];
    addOuter(H, e[i], e[i], f->H[i][i]);
    addOuter(H, t[i], t[i], f->g[i] / r[i] + f->H[2][2] / q);
    addOuter(H, e[i], t[i], f->g[2] / q - f->H[i][2] / r[i]);
    addOuter(H, t[i], e[i], f->g[2] / q - f->H[i][2] / r[i]);
    if (b) addOuter(H, b, b, f->g[i] / r[i] + f->g[2] / (tan(phi) * q));
  }
  double q = r[0] * r[1];
  addOuter(s->H[1], e[0], e[1], f->H[0][1]);
  addOuter(s->H[1], e[0], t[1], -f->H[0][2] / r[1]);
  addOuter(s->H[1], t[0], e[1], -f->H[1][2] / r[0]);
  addOuter(s->H[1], t[0], t[1], f->H[2][2] / q);
  if (b) addOuter(s->H[1], b, b, -f->g[2] / (sin(phi) * q));
}

// L = sqrt(l^2 + z^2); z = axis . (x1 - x0)
static void unroll(djmWrapSlope* s, double l, double z, const double* axis) {
  double L = sqrt(l * l + z * z), cl = l / L, cz = z / L, g[2][3], dz[2][3];
  static const int first[3] = {0, 0, 1}, second[3] = {0, 1, 1};
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 3; k++) dz[i][k] = (i ? 1 : -1) * axis[k];
    copy3(g[i], s->slope[i]);
    for (int k = 0; k < 3; k++) s->slope[i][k] = cl * g[i][k] + cz * dz[i][k];
  }
  for (int i = 0; i < 3; i++) {
    const double *g0 = g[first[i]], *g1 = g[second[i]], *z0 = dz[first[i]], *z1 = dz[second[i]];
    for (int k = 0; k < 9; k++) s->H[i][k] *= cl;
    addOuter(s->H[i], g0, g1, cz * cz / L);
    addOuter(s->H[i], z0, z1, cl * cl / L);
    addOuter(s->H[i], g0, z1, -cl * cz / L);
    addOuter(s->H[i], z0, g1, -cl * cz / L);
  }
}

// a without its part along the unit vector n
static void across(double* a, const double* n) { addScl3(a, n, -dot3(a, n)); }

bool djm_wrapSlope(djmWrapSlope* s, const double* x0, const double* x1, const double* w0,
                   const double* w1, const double* pos, const double* mat, double radius,
                   bool cylinder) {
  double y[2][3], touch[3], e[2][3], t[2][3], b[3], r[2], gap[3];
  double axis[3] = {mat[2], mat[5], mat[8]}, z = 0;
  memset(s, 0, sizeof(*s));
  sub3(y[0], x0, pos);
  sub3(y[1], x1, pos);
  sub3(touch, w0, pos);
  sub3(gap, w1, w0);
  if (cylinder) {
    z = dot3(y[1], axis) - dot3(y[0], axis);
    for (int i = 0; i < 2; i++) across(y[i], axis);
    across(touch, axis);
  }
  for (int i = 0; i < 2; i++) {
    r[i] = sqrt(dot3(y[i], y[i]));
    if (!(r[i] > radius)) return false;
    for (int k = 0; k < 3; k++) e[i][k] = y[i][k] / r[i];
  }
  double cosine = dot3(e[0], e[1]), sine;
  cross3(b, e[0], e[1]);
  sine = sqrt(dot3(b, b));
  if (sine < 1e-9) return false;
  for (int k = 0; k < 3; k++) {
    b[k] /= sine;
    t[0][k] = (e[1][k] - cosine * e[0][k]) / sine;
    t[1][k] = (e[0][k] - cosine * e[1][k]) / sine;
  }
  double phi = atan2(sine, cosine), forward = dot3(touch, t[0]);
  Plane f = {0};
  if (dot3(gap, gap) == 0) {
    if (!inside(&f, r[0], r[1], phi, radius, atan2(forward, dot3(touch, e[0])))) return false;
  } else {
    around(&f, r[0], r[1], phi, radius, forward > 0 ? 1 : -1);
  }
  lift(s, &f, (double*[]){e[0], e[1]}, (double*[]){t[0], t[1]}, cylinder ? NULL : b, r, phi);
  if (cylinder) unroll(s, f.l, z, axis);
  return true;
}
