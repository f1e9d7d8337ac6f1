// Seen from the centre (of a cylinder: along its axis, unrolled afterwards) the ends are at
// distances r0, r1, and the path turns by an angle phi from one to the other. Its length is
//   straight:  d = sqrt(r0^2 + r1^2 - 2 r0 r1 cos(phi)), at rho = r0 r1 sin(phi)/d from the centre;
//   around:    k0 + k1 + R (phi - a0 - a1),  k = sqrt(r^2 - R^2),  a = atan2(k, R);
//   inside:    the shortest way by a point of the circle. Both parts meet the circle there under
//              one angle t, pass the centre at R cos(t), and
//                phi = pi - 2 t - b0 - b1,  b = atan2(R cos(t), k),  k = sqrt(r^2 - R^2 cos(t)^2),
//                l = k0 + k1 - 2 R sin(t).
// With s = 1 - (1 - x)^3, x = |R - rho|/(onset R) up to 1, the path's is d + s (l - d): l - d is of
// second order in x, and so this is C2 where x is 0.
//
// In the plane with normal n let e be the unit vectors to the ends, t = n x e:
//   dr = e . dp,  dphi = t1 . dp1/r1 - t0 . dp0/r0.
// A sphere's plane turns with the ends, a cylinder's does not. Unrolled, a cylinder's path is
// straight: L = sqrt(l^2 + z^2), z the ends' distance along the axis.

#include "model/wrap.h"

#include "math/block6.h"
#include "math/smooth.h"
#include "model/span.h"

#include <math.h>
#include <string.h>

// ---- functions of (r0, r1, phi, R) -------------------------------------------------------------

enum { NVAR = 4 };

// A value with its first and second derivatives.
typedef struct Jet {
  double f, g[NVAR], H[NVAR][NVAR];
} Jet;

static Jet number(double f) {
  Jet x = {.f = f};
  return x;
}

static Jet variable(double f, int k) {
  Jet x = {.f = f};
  x.g[k] = 1;
  return x;
}

// a x + b y
static Jet sum(double a, Jet x, double b, Jet y) {
  Jet z = {.f = a * x.f + b * y.f};
  for (int i = 0; i < NVAR; i++) {
    z.g[i] = a * x.g[i] + b * y.g[i];
    for (int k = 0; k < NVAR; k++) z.H[i][k] = a * x.H[i][k] + b * y.H[i][k];
  }
  return z;
}

// f(x)
static Jet apply(djJet f, Jet x) {
  Jet z = {.f = f.f};
  for (int i = 0; i < NVAR; i++) {
    z.g[i] = f.d * x.g[i];
    for (int k = 0; k < NVAR; k++) z.H[i][k] = f.d * x.H[i][k] + f.dd * x.g[i] * x.g[k];
  }
  return z;
}

static Jet product(Jet x, Jet y) {
  Jet z = {.f = x.f * y.f};
  for (int i = 0; i < NVAR; i++) {
    z.g[i] = x.f * y.g[i] + y.f * x.g[i];
    for (int k = 0; k < NVAR; k++) {
      z.H[i][k] = x.f * y.H[i][k] + y.f * x.H[i][k] + x.g[i] * y.g[k] + x.g[k] * y.g[i];
    }
  }
  return z;
}

static Jet quotient(Jet x, Jet y) {
  double i = 1 / y.f;
  return product(x, apply((djJet){i, -i * i, 2 * i * i * i}, y));
}

static Jet cosine(Jet x) { return apply((djJet){cos(x.f), -sin(x.f), -cos(x.f)}, x); }
static Jet sine(Jet x) { return apply((djJet){sin(x.f), cos(x.f), -sin(x.f)}, x); }

// sqrt(x^2 - y^2), rounded off below 1e-8 of x.
static Jet leg(Jet x, Jet y) {
  Jet square = sum(1, product(x, x), -1, product(y, y));
  return apply(dju_smoothRoot(fmax(square.f, 0), DJ_SPAN_EPS * x.f), square);
}

// The angle of (x, y): with r^2 = x^2 + y^2, its derivative is (x dy - y dx)/r^2.
static Jet angle(Jet y, Jet x) {
  Jet z = {.f = atan2(y.f, x.f)};
  double q = 1 / (x.f * x.f + y.f * y.f);
  for (int i = 0; i < NVAR; i++) z.g[i] = q * (x.f * y.g[i] - y.f * x.g[i]);
  for (int i = 0; i < NVAR; i++) {
    for (int k = 0; k < NVAR; k++) {
      double own = x.f * y.H[i][k] - y.f * x.H[i][k] + x.g[k] * y.g[i] - y.g[k] * x.g[i];
      z.H[i][k] = q * (own - 2 * (x.f * x.g[k] + y.f * y.g[k]) * z.g[i]);
    }
  }
  return z;
}

typedef struct Circle {
  Jet r[2], phi, R;
} Circle;

static Jet around(const Circle* c) {
  Jet l = product(c->R, c->phi);
  for (int i = 0; i < 2; i++) {
    Jet k = leg(c->r[i], c->R);
    l = sum(1, sum(1, l, 1, k), -1, product(c->R, angle(k, c->R)));
  }
  return l;
}

// phi less what t makes of it; k: the legs.
static Jet reflection(Jet k[2], const Circle* c, Jet t) {
  Jet rest = sum(1, number(acos(-1)), -1, c->phi), foot = product(c->R, cosine(t));
  rest = sum(1, rest, -2, t);
  for (int i = 0; i < 2; i++) {
    k[i] = leg(c->r[i], foot);
    rest = sum(1, rest, -1, angle(foot, k[i]));
  }
  return rest;
}

static double slopeOf(const Circle* c, double t) {
  double slope = -2, R = c->R.f, y = R * cos(t);
  for (int i = 0; i < 2; i++) {
    double r = c->r[i].f;
    slope += R * sin(t) / sqrt(fmax(r * r - y * y, DJ_SPAN_EPS * DJ_SPAN_EPS * r * r));
  }
  return fmin(slope, -DJ_SPAN_EPS);
}

static double reflectionAt(const Circle* c, double t) {
  double rest = acos(-1) - c->phi.f - 2 * t, y = c->R.f * cos(t);
  for (int i = 0; i < 2; i++) rest -= asin(fmin(y / c->r[i].f, 1));
  return rest;
}

// The root t of the reflection in [0, pi/2], where it falls: Newton's steps, halves beyond its
// bounds.
static double meetingAngle(const Circle* c) {
  double low = 0, high = 0.5 * acos(-1), t = 0.5 * high;
  for (int i = 0; i < 100; i++) {
    double rest = reflectionAt(c, t);
    if (rest > 0) low = t;
    else high = t;
    double next = t - rest / slopeOf(c, t);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    bool done = fabs(next - t) <= 1e-16 * (1 + t);
    t = next;
    if (done) break;
  }
  return t;
}

// Two more steps with derivatives, each of which brings those of one order more.
static Jet inside(const Circle* c) {
  double t = meetingAngle(c), slope = slopeOf(c, t);
  Jet x = number(t), k[2];
  for (int i = 0; i < 2; i++) x = sum(1, x, -1 / slope, reflection(k, c, x));
  reflection(k, c, x);
  return sum(1, sum(1, k[0], 1, k[1]), -2, product(c->R, sine(x)));
}

// The length with its gradient alone: (k0/r0, k1/r1, rho, what the radius adds).
static Jet slopesOnly(const Circle* c, bool through) {
  double R = c->R.f, t = through ? meetingAngle(c) : 0, rho = R * cos(t), on = c->phi.f;
  Jet l = {.g = {0, 0, rho, -2 * sin(t)}};
  for (int i = 0; i < 2; i++) {
    double r = c->r[i].f;
    djJet k = dju_smoothRoot(fmax(r * r - rho * rho, 0), DJ_SPAN_EPS * r);
    on -= atan2(k.f, R);
    l.f += k.f;
    l.g[i] = k.f / r;
  }
  if (!through) l.g[3] = on;
  l.f += R * l.g[3];
  return l;
}

// Whether the straight line, whose foot is between the ends, is so near that the path sets in.
static bool setsIn(const Circle* c, double onset) {
  double a = c->r[0].f, b = c->r[1].f, square = a * a + b * b - 2 * a * b * cos(c->phi.f);
  double rho = a * b * sin(c->phi.f) / sqrt(fmax(square, DJ_SPAN_EPS * DJ_SPAN_EPS));
  return fabs(c->R.f - rho) < onset * c->R.f;
}

// From the straight line's length to l.
static Jet blend(const Circle* c, Jet l, double onset) {
  Jet cross = product(c->r[0], c->r[1]);
  Jet square = sum(1, product(c->r[0], c->r[0]), 1, product(c->r[1], c->r[1]));
  square = sum(1, square, -2, product(cross, cosine(c->phi)));
  Jet d = apply(dju_smoothRoot(fmax(square.f, 0), DJ_SPAN_EPS), square);
  Jet rho = quotient(product(cross, sine(c->phi)), d);
  Jet x = sum(-1 / onset, quotient(rho, c->R), 1, number(1 / onset));
  if (x.f < 0) x = sum(-1, x, 0, x);
  double y = 1 - x.f;
  Jet s = apply((djJet){1 - y * y * y, 3 * y * y, -6 * y}, x);
  return sum(1, d, 1, product(s, sum(1, l, -1, d)));
}

// ---- the plane ---------------------------------------------------------------------------------

// The ends as seen there; n is such that the path turns about it by phi.
typedef struct View {
  djVec3 y[2], e[2], n, side;
  double r[2], z, phi;
  bool through, foot;  // inside; the straight line's nearest point is between the ends
} View;

static djVec3 perpendicular(djVec3 e) {
  djVec3 axis = fabs(e.x) < 0.6 ? dju_vec3(1, 0, 0) : dju_vec3(0, 1, 0);
  djVec3 n = dju_cross3(e, axis);
  return dju_scale3(1 / dju_norm3(n), n);
}

// Where a sphere's ends and centre are in line, its plane is that of the side.
static djVec3 normalOf(const View* v, const djWrapShape* s) {
  djVec3 n = dju_cross3(v->y[0], v->y[1]);
  if (s->cylinder) return s->axis;
  double size = dju_norm3(n);
  if (size > DJ_WRAP_EPS) return dju_scale3(1 / size, n);
  n = dju_cross3(v->e[0], v->side);
  size = dju_norm3(n);
  return size > DJ_SPAN_EPS * s->radius ? dju_scale3(1 / size, n) : perpendicular(v->e[0]);
}

static bool look(View* v, const djWrapShape* s, djVec3 p0, djVec3 p1) {
  v->y[0] = dju_sub3(p0, s->centre);
  v->y[1] = dju_sub3(p1, s->centre);
  v->side = s->sided ? dju_sub3(s->side, s->centre) : dju_vec3(0, 0, 0);
  v->through = s->sided && dju_norm3(v->side) < s->radius;
  v->z = 0;
  for (int i = 0; i < 2; i++) {
    if (s->cylinder) {
      double z = dju_dot3(s->axis, v->y[i]);
      v->y[i] = dju_madd3(v->y[i], -z, s->axis);
      v->z += i ? z : -z;
    }
    v->r[i] = dju_norm3(v->y[i]);
    if (v->r[i] < DJ_WRAP_EPS || v->r[i] < s->radius) return false;
    if (v->through && v->r[i] <= s->radius) return false;
    v->e[i] = dju_scale3(1 / v->r[i], v->y[i]);
  }
  v->n = normalOf(v, s);
  v->side = dju_madd3(v->side, -dju_dot3(v->n, v->side), v->n);
  double size = dju_norm3(v->side);
  if (size > DJ_WRAP_EPS) v->side = dju_scale3(1 / size, v->side);
  else v->side = v->e[0];
  return s->radius >= DJ_WRAP_EPS;
}

// From y0 counterclockwise about n, in (-pi, pi].
static double turnOf(djVec3 n, djVec3 y0, djVec3 y1) {
  return atan2(dju_dot3(n, dju_cross3(y0, y1)), dju_dot3(y0, y1));
}

// How far the straight line passes the centre, R if it ends before.
static double clearance(View* v, double R) {
  djVec3 d = dju_sub3(v->y[1], v->y[0]);
  double square = dju_dot3(d, d), t = -dju_dot3(d, v->y[0]);
  v->foot = square >= DJ_WRAP_EPS && t > 0 && t < square;
  return v->foot ? dju_norm3(dju_madd3(v->y[0], t / square, d)) : R;
}

// Finds the way of the path, as MuJoCo does: the shortest one that turns about the centre as the
// way from an end to the other does, or that by the side, if there is one. False: it is straight.
static bool chooseWay(View* v, const djWrapShape* s) {
  double distance = clearance(v, s->radius), straight = turnOf(v->n, v->y[0], v->y[1]);
  double turn = straight;
  bool by = s->sided && !v->through;
  if (by) turn = turnOf(v->n, v->e[0], v->side) + turnOf(v->n, v->side, v->e[1]);
  bool same = !by || fabs(turn - straight) < 1;   // else they differ by 2 pi
  if (turn < 0) v->n = dju_neg3(v->n);
  v->phi = fabs(turn);
  if (v->through) return !(v->foot && distance <= s->radius) && 1 + cos(v->phi) > DJ_WRAP_EPS;
  return !same || (v->foot && distance < s->radius);
}

// ---- in space ----------------------------------------------------------------------------------

// The sign with which what an end does adds to phi and z.
static double signOf(int i) { return i ? 1 : -1; }

// out: of l, which turns with the ends' plane unless that is fixed.
static void lift(djWrapLength* out, const View* v, const Jet* l, bool fixed) {
  const double *g = l->g, p = g[2];
  djVec3 t[2];
  double s = sin(v->phi);
  if (fabs(s) < DJ_SPAN_EPS) s = copysign(DJ_SPAN_EPS, s);
  memset(out, 0, sizeof *out);
  out->value = l->f;
  out->by_radius = g[3];
  for (int i = 0; i < 2; i++) t[i] = dju_scale3(signOf(i), dju_cross3(v->n, v->e[i]));
  for (int i = 0; i < 2; i++) {
    double r = v->r[i], q = r * r, mixed = l->H[i][2] / r - p / q;
    djVec3 e = v->e[i];
    djMat3* A = &out->A[i][i];
    out->g[i] = dju_madd3(dju_scale3(g[i], e), p / r, t[i]);
    out->g_by_radius[i] = dju_madd3(dju_scale3(l->H[3][i], e), l->H[3][2] / r, t[i]);
    dju_addOuter3(A, l->H[i][i], e, e);
    dju_addOuter3(A, g[i] / r + l->H[2][2] / q, t[i], t[i]);
    dju_addOuter3(A, mixed, e, t[i]);
    dju_addOuter3(A, mixed, t[i], e);
    if (!fixed) dju_addOuter3(A, g[i] / r + p * cos(v->phi) / (s * q), v->n, v->n);
  }
  double q = v->r[0] * v->r[1];
  djMat3* A = &out->A[0][1];
  dju_addOuter3(A, l->H[0][1], v->e[0], v->e[1]);
  dju_addOuter3(A, l->H[0][2] / v->r[1], v->e[0], t[1]);
  dju_addOuter3(A, l->H[1][2] / v->r[0], t[0], v->e[1]);
  dju_addOuter3(A, l->H[2][2] / q, t[0], t[1]);
  if (!fixed) dju_addOuter3(A, -p / (s * q), v->n, v->n);
}

// From l to L = sqrt(l^2 + z^2): with c = l/L and d = z/L, dL = c dl + d dz and
// L d2L = l d2l + (d dl - c dz)^2.
static void unroll(djWrapLength* out, double z, djVec3 axis) {
  double l = out->value, L = sqrt(l * l + z * z), c = l / L, d = z / L;
  djVec3 g[2], across[2];
  for (int i = 0; i < 2; i++) {
    g[i] = out->g[i];
    across[i] = dju_madd3(dju_scale3(d, g[i]), -c * signOf(i), axis);
    out->g[i] = dju_madd3(dju_scale3(c, g[i]), d * signOf(i), axis);
    djVec3 own = dju_scale3(c, out->g_by_radius[i]);
    out->g_by_radius[i] = dju_madd3(own, d * out->by_radius / L, across[i]);
  }
  for (int i = 0; i < 2; i++) {
    for (int k = i; k < 2; k++) {
      for (int n = 0; n < 9; n++) out->A[i][k].m[n] *= c;
      dju_addOuter3(&out->A[i][k], 1 / L, across[i], across[k]);
    }
  }
  out->value = L;
  out->by_radius *= c;
}

bool dj_wrapLength(djWrapLength* out, const djWrapShape* s, djVec3 p0, djVec3 p1, int order) {
  View v;
  if (!look(&v, s, p0, p1) || !chooseWay(&v, s)) return false;
  Circle c = {{variable(v.r[0], 0), variable(v.r[1], 1)}, variable(v.phi, 2),
              variable(s->radius, 3)};
  bool near = s->onset > 0 && v.foot && v.phi < acos(-1) && setsIn(&c, s->onset);
  Jet l;
  if (order < 2 && !near) l = slopesOnly(&c, v.through);
  else l = v.through ? inside(&c) : around(&c);
  if (near) l = blend(&c, l, s->onset);
  lift(out, &v, &l, s->cylinder);
  if (s->cylinder) unroll(out, v.z, s->axis);
  for (int n = 0; n < 9; n++) out->A[1][0].m[n] = out->A[0][1].m[3 * (n % 3) + n / 3];
  return true;
}
