// Where the search for a touch begins: at the touch of ellipsoids of about the same extents, and,
// where Newton's method fails from there, at the minimum of a smoothed maximum of both gauges.

#include "shape/implicit_pair.h"

#include <float.h>

// (R S R^T), S symmetric (xx, yy, zz, xy, xz, yz)
static void turn(double out[6], djMat3 R, const double S[6]) {
  static const int ROW[6] = {0, 1, 2, 0, 0, 1}, COLUMN[6] = {0, 1, 2, 1, 2, 2};
  djVec3 v[3];
  for (int i = 0; i < 3; i++) {
    v[i] = dj_bendImplicit(S, dju_vec3(R.m[3 * i], R.m[3 * i + 1], R.m[3 * i + 2]));
  }
  for (int k = 0; k < 6; k++) {
    const double* r = &R.m[3 * COLUMN[k]];
    out[k] = dju_dot3(v[ROW[k]], dju_vec3(r[0], r[1], r[2]));
  }
}

// S^-1 x; S positive definite.
static djVec3 solve(const double S[6], djVec3 x) {
  double C[6];
  dj_invertImplicit(C, S);
  return dj_bendImplicit(C, x);
}

// T = (ha(n) + hb(n))/(n.d) is least where n is parallel to (Sa/ha + Sb/hb)^-1 d, with h^2 = n.S n
// the support functions: of the same centre and size that is solved at once, else by iteration.
void dj_startImplicit(djImplicitStart* start, const djImplicit* a, const djImplicit* b,
                      const djImplicitPlace* place) {
  double Sb[6], S[6];
  turn(Sb, place->R, b->round);
  djVec3 n = place->d;
  for (int k = 0; k < 3; k++) {
    const double ha = sqrt(dju_dot3(n, dj_bendImplicit(a->round, n)));
    const double hb = sqrt(dju_dot3(n, dj_bendImplicit(Sb, n)));
    for (int i = 0; i < 6; i++) S[i] = a->round[i] / ha + Sb[i] / hb;
    n = solve(S, place->d);
  }
  const djVec3 y = dj_bendImplicit(a->round, n);
  const double ha = sqrt(dju_dot3(n, y)), hb = sqrt(dju_dot3(n, dj_bendImplicit(Sb, n)));
  start->y = dju_scale3(1 / ha, y);
  start->T = (ha + hb) / dju_dot3(n, place->d);
}

// ---- gauges -------------------------------------------------------------------------------------

// gamma(x): phi(x/gamma) = 0; convex, homogeneous of degree 1. With u = x/gamma, v = grad phi(u):
//   grad = v/(v.u),   Hess = P^T (Hess phi) P/(gamma v.u),   P = I - u grad^T.
typedef struct Gauge {
  double value;
  djVec3 grad;
  double hess[6];
} Gauge;

static void gauge(Gauge* out, const djImplicit* shape, djVec3 x) {
  const double r = fmax(dju_norm3(x), DBL_MIN);
  double low = shape->inner / r, high = shape->outer / r, s = low; // of 1/gamma
  djImplicitPoint p;
  for (int k = 0; k < 60; k++) {
    shape->row->eval(&p, shape, dju_scale3(s, x));
    if (p.phi < 0)
      low = s;
    else
      high = s;
    const double slope = dju_dot3(p.g, x);
    double next = s - p.phi / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const bool done = fabs(next - s) <= 1e-14 * s;
    s = next;
    if (done) break;
  }
  shape->row->eval(&p, shape, dju_scale3(s, x));
  const djVec3 u = dju_scale3(s, x);
  const double vu = dju_dot3(p.g, u);
  out->value = 1 / s;
  out->grad = dju_scale3(1 / vu, p.g);
  const djVec3 Hu = dj_bendImplicit(p.H, u);
  const double uHu = dju_dot3(u, Hu), f = s / vu;
  const double g[3] = {out->grad.x, out->grad.y, out->grad.z}, h[3] = {Hu.x, Hu.y, Hu.z};
  static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 6; k++) {
    const int i = I[k], j = J[k];
    out->hess[k] = f * (p.H[k] - h[i] * g[j] - g[i] * h[j] + uHu * g[i] * g[j]);
  }
}

// F = t log(exp(ga/t) + exp(gb/t)), and the weight of b in its gradient.
static double soft(double* w, double ga, double gb, double t) {
  const double e = exp(-fabs(ga - gb) / t);
  *w = (ga > gb ? e : 1) / (1 + e);
  return fmax(ga, gb) + t * log1p(e);
}

// Minimises F over x, origins D apart, from *x. Newton's method with a line search: F is convex.
static void descend(djVec3* x, const djImplicit* a, const djImplicit* b,
                    const djImplicitPlace* place, double D, double t) {
  const djVec3 apart = dju_scale3(D, place->d);
  for (int k = 0; k < 40; k++) {
    Gauge ga, gb;
    double w, H[6], turned[6];
    gauge(&ga, a, *x);
    gauge(&gb, b, dju_mulMtV(place->R, dju_sub3(*x, apart)));
    const double F = soft(&w, ga.value, gb.value, t);
    const djVec3 vb = dju_mulMV(place->R, gb.grad), off = dju_sub3(ga.grad, vb);
    turn(turned, place->R, gb.hess);
    const djVec3 g = dju_madd3(dju_scale3(1 - w, ga.grad), w, vb);
    const double o[3] = {off.x, off.y, off.z}, c = w * (1 - w) / t;
    static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
    double trace = 0;
    for (int i = 0; i < 6; i++) {
      H[i] = (1 - w) * ga.hess[i] + w * turned[i] + c * o[I[i]] * o[J[i]];
      if (i < 3) trace += H[i];
    }
    const double least = 1e-3 * dju_dot3(g, g) + 1e-12 * trace;
    for (int i = 0; i < 3; i++) H[i] += least;
    djVec3 step = dju_neg3(solve(H, g));
    double slope = dju_dot3(step, g);
    if (!(slope < 0)) {
      step = dju_scale3(-1 / (trace + DBL_MIN), g);
      slope = dju_dot3(step, g);
    }
    if (!(slope < -1e-15 * F)) return;
    double part = 1, next;
    int cut = 0;
    do {
      Gauge ta, tb;
      double wt;
      const djVec3 trial = dju_madd3(*x, part, step);
      gauge(&ta, a, trial);
      gauge(&tb, b, dju_mulMtV(place->R, dju_sub3(trial, apart)));
      next = soft(&wt, ta.value, tb.value, t);
      if (next <= F + 0.1 * part * slope) break;
      part *= 0.4;
    } while (++cut < 40);
    if (cut == 40) return;
    *x = dju_madd3(*x, part, step);
  }
}

// Of a half space z.d >= 0: T is the support function along d, 1/T the least gauge where x.d = 1,
// over the two coordinates of that plane. From a point where the ellipsoid's gauge is the least.
static void searchFarthest(djImplicitStart* start, const djImplicit* a, djVec3 d) {
  const djVec3 Sd = dj_bendImplicit(a->round, d);
  djVec3 x = dju_scale3(1 / dju_dot3(d, Sd), Sd), t[2], Bt[2];
  // Tangents of the plane that are orthonormal, up to a factor, as the ellipsoid is a ball.
  const djVec3 e = fabs(d.x) < 0.7 ? dju_vec3(1, 0, 0) : dju_vec3(0, 1, 0);
  t[0] = dju_cross3(d, e);
  t[1] = dju_cross3(d, t[0]);
  for (int k = 0; k < 2; k++) {
    if (k == 1) t[1] = dju_madd3(t[1], -dju_dot3(t[1], Bt[0]), t[0]);
    Bt[k] = dj_bendImplicit(a->flat, t[k]);
    const double f = 1 / sqrt(dju_dot3(t[k], Bt[k]));
    t[k] = dju_scale3(f, t[k]);
    Bt[k] = dju_scale3(f, Bt[k]);
  }
  Gauge at, trial;
  gauge(&at, a, x);
  for (int k = 0; k < 200; k++) {
    const double g[2] = {dju_dot3(at.grad, t[0]), dju_dot3(at.grad, t[1])};
    const djVec3 H0 = dj_bendImplicit(at.hess, t[0]), H1 = dj_bendImplicit(at.hess, t[1]);
    const double least = 1e-3 * hypot(g[0], g[1]) / at.value + 1e-12;
    const double h11 = dju_dot3(t[0], H0) + least / at.value, h12 = dju_dot3(t[1], H0);
    const double h22 = dju_dot3(t[1], H1) + least / at.value, det = h11 * h22 - h12 * h12;
    double u = (h12 * g[1] - h22 * g[0]) / det, v = (h12 * g[0] - h11 * g[1]) / det;
    const double length = hypot(u, v), most = 0.5 * at.value;
    if (!(length < most)) u *= most / length, v *= most / length;
    const double slope = u * g[0] + v * g[1];
    if (!(slope < -1e-16 * at.value)) break;
    double part = 1;
    int cut = 0;
    do {
      gauge(&trial, a, dju_madd3(dju_madd3(x, part * u, t[0]), part * v, t[1]));
      if (trial.value <= at.value + 0.01 * part * slope) break;
      part *= 0.4;
    } while (++cut < 40);
    if (cut == 40) break;
    x = dju_madd3(dju_madd3(x, part * u, t[0]), part * v, t[1]);
    at = trial;
  }
  start->T = 1 / at.value;
  start->y = dju_scale3(start->T, x);
}

void dj_searchImplicit(djImplicitStart* start, const djImplicit* a, const djImplicit* b,
                       const djImplicitPlace* place) {
  if (!(b->outer > 0)) {
    searchFarthest(start, a, place->d);
    return;
  }
  const double D = a->inner + b->inner;
  djVec3 x = dju_scale3(D * a->inner / (a->inner + b->inner), place->d);
  for (double t = 0.1; t > 1e-5; t *= 0.2) descend(&x, a, b, place, D, t);
  Gauge ga, gb;
  gauge(&ga, a, x);
  gauge(&gb, b, dju_mulMtV(place->R, dju_madd3(x, -D, place->d)));
  const double alpha = fmax(ga.value, gb.value);
  start->y = dju_scale3(1 / alpha, x);
  start->T = D / alpha;
}
