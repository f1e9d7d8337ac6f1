// The touch of two implicit shapes where Newton's method fails (implicit_pair.h, (1)).
//
// On the line z + s d, z across d, a ends at s = sa(z), and b, its origin at 0, begins at -sb(z).
// On that line the shapes touch where their origins are T(z) = sa(z) + sb(z) apart, which is
// concave in the two coordinates z, as both are convex: the touch is its maximum. With g = grad
// phi, H its Hessian, e_k across d and f_k = e_k + (ds/dz_k) d,
//
//   ds/dz_k = -g.e_k/(g.d),   d2s/dz_k dz_l = -f_k.H f_l/(g.d).                           (1)
//
// The maximum is in a polygon, of which each trial z0 leaves what is not below the best T by the
// tangent plane, T(z0) + grad T.(z - z0) >= best. Where a line misses a shape it leaves what is not
// outside by a tangent plane of the shape's gauge that contains the line's direction. Trials at the
// centroid leave at most 1 - 1/e of the area, whatever the shapes are (Levin 1965, Newman 1965);
// Newton's method on T goes first as long as it is fast. How far the best trial's plane rises over
// the polygon bounds what T can still gain.

#include "shape/implicit_pair.h"

#include <float.h>
#include <string.h>

enum { TRIALS = 200, CORNERS = TRIALS + 8 };

#define CLOSE 1e-16 // of the smaller shape's size: what may be left
#define LAST 1e-14  // of a shape's size: the last step to its end
#define FAR 10      // phi, where it may rise like an exponential function

// ---- the polygon --------------------------------------------------------------------------------

typedef struct Polygon {
  int n;
  double z[CORNERS][2];
} Polygon;

// Leaves c + g.(z - z0) >= 0.
static void cut(Polygon* p, double c, const double g[2], const double z0[2]) {
  Polygon q = {.n = 0};
  double f[CORNERS];
  for (int i = 0; i < p->n; i++) {
    f[i] = c + g[0] * (p->z[i][0] - z0[0]) + g[1] * (p->z[i][1] - z0[1]);
  }
  for (int i = 0; i < p->n; i++) {
    const int j = i + 1 < p->n ? i + 1 : 0;
    if (f[i] >= 0) memcpy(q.z[q.n++], p->z[i], sizeof q.z[0]);
    if ((f[i] >= 0) != (f[j] >= 0)) {
      const double t = f[i] / (f[i] - f[j]);
      for (int k = 0; k < 2; k++) q.z[q.n][k] = p->z[i][k] + t * (p->z[j][k] - p->z[i][k]);
      q.n++;
    }
  }
  p->n = q.n;
  memcpy(p->z, q.z, (size_t)q.n * sizeof q.z[0]);
}

// The centroid; returns the area.
static double middleOf(double z[2], const Polygon* p) {
  double area = 0, sum[2] = {0, 0};
  for (int i = 1; i + 1 < p->n; i++) {
    const double *o = p->z[0], *u = p->z[i], *v = p->z[i + 1];
    const double part = 0.5 * ((u[0] - o[0]) * (v[1] - o[1]) - (u[1] - o[1]) * (v[0] - o[0]));
    area += part;
    for (int k = 0; k < 2; k++) sum[k] += part * (u[k] + v[k] - 2 * o[k]) / 3;
  }
  for (int k = 0; k < 2 && area > 0; k++) z[k] = p->z[0][k] + sum[k] / area;
  return area;
}

// The most of g.(z' - z) on it, from 0.
static double mostOf(const Polygon* p, const double g[2], const double z[2]) {
  double most = 0;
  for (int i = 0; i < p->n; i++) {
    most = fmax(most, g[0] * (p->z[i][0] - z[0]) + g[1] * (p->z[i][1] - z[1]));
  }
  return most;
}

static bool holds(const Polygon* p, const double z[2]) {
  for (int i = 0; i < p->n; i++) {
    const double *u = p->z[i], *v = p->z[i + 1 < p->n ? i + 1 : 0];
    if (!((v[0] - u[0]) * (z[1] - u[1]) - (v[1] - u[1]) * (z[0] - u[0]) > 0)) return false;
  }
  return p->n > 2;
}

// ---- lines --------------------------------------------------------------------------------------

// A shape on lines along `along`, across e, through `at` where z is 0; in its own frame.
typedef struct Side {
  const djImplicit* shape;
  djVec3 at, along, e[2];
  double size; // it is where |s| is no more
} Side;

// Where a shape ends on a line, with derivatives by z. Missed: all of the shape is where
// s + by.(z' - z) <= 0.
typedef struct End {
  bool missed;
  double s, by[2], bend[3];
} End;

static void endAt(End* out, const Side* side, double s, const djImplicitPoint* p) {
  const double over = 1 / dju_dot3(p->g, side->along);
  djVec3 f[2];
  out->missed = false;
  out->s = s - p->phi * over;
  for (int k = 0; k < 2; k++) {
    out->by[k] = -over * dju_dot3(p->g, side->e[k]);
    f[k] = dju_madd3(side->e[k], out->by[k], side->along);
  }
  const djVec3 H0 = dj_bendImplicit(p->H, f[0]), H1 = dj_bendImplicit(p->H, f[1]);
  out->bend[0] = over * dju_dot3(f[0], H0);
  out->bend[1] = over * dju_dot3(f[0], H1);
  out->bend[2] = over * dju_dot3(f[1], H1);
}

// Newton's method on phi from s, at the end or beyond. False: phi does not fall to 0 on this side
// of its minimum; that is between at[0] and at[1].
static bool descend(End* out, double at[2], int* spent, const Side* side, djVec3 z, double s) {
  const double outer = side->size;
  double last = INFINITY;
  at[0] = -outer;
  at[1] = outer;
  for (int k = 0; k < 40; k++) {
    djImplicitPoint p;
    side->shape->row->eval(&p, side->shape, dju_madd3(z, s, side->along));
    ++*spent;
    const double slope = dju_dot3(p.g, side->along), step = fabs(p.phi / slope);
    if (!(slope > 0)) {
      at[0] = s;
      return false;
    }
    if (step <= (step < last ? LAST : 1e3 * LAST) * outer) {
      endAt(out, side, s, &p);
      return true;
    }
    if (p.phi > 0) at[1] = s;
    if (s <= -outer) return false;
    last = step;
    s = fmax(-outer, fmin(s - p.phi / slope, outer));
  }
  return false;
}

// The gauge less 1 on the line, c - 1 with phi(y/c) = 0: at s, with slopes. It is convex, as phi is
// near the surface only.
typedef struct Slope {
  double s, f, df, by[2];
} Slope;

static void gaugeAt(Slope* out, int* spent, const Side* side, djVec3 z, double s) {
  const djImplicit* shape = side->shape;
  const djVec3 y = dju_madd3(z, s, side->along);
  const double r = fmax(dju_norm3(y), DBL_MIN);
  double low = shape->inner / r, high = shape->outer / r, c = fmin(1, high); // of 1/gauge
  djImplicitPoint p;
  for (int k = 0; k < 60; k++) {
    shape->row->eval(&p, shape, dju_scale3(c, y));
    ++*spent;
    *(p.phi < 0 ? &low : &high) = c;
    double next = c - p.phi / dju_dot3(p.g, y);
    if (!(next >= low && next <= high) || p.phi > FAR) next = 0.5 * (low + high);
    const double step = fabs(next - c);
    c = next;
    if (step <= 1e-12 * c) break;
  }
  const djVec3 g = dju_scale3(1 / (c * dju_dot3(p.g, y)), p.g);
  *out = (Slope){
      s, 1 / c - 1, dju_dot3(g, side->along), {dju_dot3(g, side->e[0]), dju_dot3(g, side->e[1])}};
}

// Of tangents left (lo, or NULL) and right (hi, or NULL) of the minimum that mean which is level
// along the line; NULL: there the shape's size ends. Returns its value: positive, the line misses
// the shape.
static double levelOf(End* out, const Slope* lo, const Slope* hi) {
  const double w = !lo ? 0 : !hi ? 1 : hi->df / (hi->df - lo->df);
  out->missed = true;
  out->s = !lo ? hi->f : !hi ? lo->f : w * lo->f + (1 - w) * (hi->f + hi->df * (lo->s - hi->s));
  for (int k = 0; k < 2; k++) {
    out->by[k] = (lo ? w * lo->by[k] : 0) + (hi ? (1 - w) * hi->by[k] : 0);
  }
  return out->s;
}

// The same by the gauge, between at[0] and at[1]. False: *s is inside.
static bool isMissed(End* out, double* s, int* spent, const Side* side, djVec3 z, double at[2]) {
  const double outer = side->size;
  Slope lo, hi, now;
  gaugeAt(&lo, spent, side, z, *s = at[0]);
  if (!(lo.df < 0) && at[0] > -outer) gaugeAt(&lo, spent, side, z, *s = -outer);
  if (!(lo.df < 0)) return levelOf(out, NULL, &lo) > 0;
  gaugeAt(&hi, spent, side, z, *s = at[1]);
  if (!(hi.df > 0) && at[1] < outer) gaugeAt(&hi, spent, side, z, *s = outer);
  if (!(hi.df > 0)) return levelOf(out, &hi, NULL) > 0;
  for (int k = 0; k < 60; k++) {
    if (levelOf(out, &lo, &hi) > 0) return true;
    const double cross = (hi.f - lo.f + lo.df * lo.s - hi.df * hi.s) / (lo.df - hi.df);
    gaugeAt(&now, spent, side, z, *s = fmax(lo.s, fmin(cross, hi.s)));
    if (now.f <= 0) return false;
    *(now.df > 0 ? &hi : &lo) = now;
  }
  return true;
}

static void findEnd(End* out, int* spent, const Side* side, const double at_z[2], double s) {
  const double outer = side->size;
  const djVec3 z = dju_madd3(dju_madd3(side->at, at_z[0], side->e[0]), at_z[1], side->e[1]);
  double at[2], low;
  if (descend(out, at, spent, side, z, fmax(-outer, fmin(s, outer)))) return;
  if (isMissed(out, &low, spent, side, z, at)) return;
  // Between a point inside and one that is not.
  double high = outer;
  for (int k = 0; k < 60; k++) {
    djImplicitPoint p;
    const double middle = 0.5 * (low + high);
    side->shape->row->eval(&p, side->shape, dju_madd3(z, middle, side->along));
    ++*spent;
    *(p.phi < 0 ? &low : &high) = middle;
    if (p.phi >= 0 && p.phi < FAR && descend(out, at, spent, side, z, high)) return;
  }
  *out = (End){.missed = true}; // as it is to rounding
}

// ---- the search ---------------------------------------------------------------------------------

typedef struct Trial {
  double z[2], T, g[2], M[3]; // M: minus the Hessian
  End end[2];
} Trial;

// At z. NULL, or the end of a shape that the line misses. from: another trial, or NULL.
static const End* look(Trial* t, int* spent, const Side side[2], const Trial* from) {
  for (int k = 0; k < 2; k++) {
    double s = INFINITY;
    if (from) {
      const End* e = &from->end[k];
      s = e->s + e->by[0] * (t->z[0] - from->z[0]) + e->by[1] * (t->z[1] - from->z[1]);
    }
    findEnd(&t->end[k], spent, &side[k], t->z, s);
    if (t->end[k].missed) return &t->end[k];
  }
  const End *a = &t->end[0], *b = &t->end[1];
  t->T = a->s + b->s;
  for (int k = 0; k < 3; k++) {
    if (k < 2) t->g[k] = a->by[k] + b->by[k];
    t->M[k] = a->bend[k] + b->bend[k];
  }
  return NULL;
}

// Above the other by more than rounding, or level with it and flatter.
static bool isBetter(const Trial* t, const Trial* than, double noise) {
  if (t->T > than->T + noise) return true;
  return t->T > than->T - noise && hypot(t->g[0], t->g[1]) < hypot(than->g[0], than->g[1]);
}

// By Newton's method, where that leaves the polygon with M larger. Returns what is gained;
// infinity: it leaves the polygon even so.
static double newton(double z[2], const Trial* t, const Polygon* polygon) {
  double far = 0, more = 0;
  for (int i = 0; i < polygon->n; i++) {
    far = fmax(far, hypot(polygon->z[i][0] - t->z[0], polygon->z[i][1] - t->z[1]));
  }
  for (int k = 0; k < 2; k++, more = 4 * hypot(t->g[0], t->g[1]) / far) {
    const double m11 = t->M[0] + more, m22 = t->M[2] + more, det = m11 * m22 - t->M[1] * t->M[1];
    if (!(det > 0 && m11 > 0)) continue;
    const double u[2] = {(m22 * t->g[0] - t->M[1] * t->g[1]) / det,
                         (m11 * t->g[1] - t->M[1] * t->g[0]) / det};
    for (int i = 0; i < 2; i++) z[i] = t->z[i] + u[i];
    if (holds(polygon, z)) return 0.5 * (u[0] * t->g[0] + u[1] * t->g[1]);
  }
  return INFINITY;
}

double dj_searchImplicit(djImplicitStart* start, int* spent, const djImplicit* a,
                         const djImplicit* b, const djImplicitPlace* place, djVec3 off) {
  const djVec3 d = place->d;
  djVec3 e[2];
  dj_implicitTangents(e, d);
  const double size = b->outer > 0 ? b->outer : a->outer, r = fmin(a->outer, size);
  const Side side[2] = {{a, {0, 0, 0}, d, {e[0], e[1]}, a->outer},
                        {b,
                         dju_neg3(dju_mulMtV(place->R, off)),
                         dju_neg3(dju_mulMtV(place->R, d)),
                         {dju_mulMtV(place->R, e[0]), dju_mulMtV(place->R, e[1])},
                         size}};
  const double noise = 4 * DBL_EPSILON * (a->outer + size); // of T
  const bool at_a = a->outer <= size;                       // the middle of the smaller shape
  const double x = at_a ? 0 : dju_dot3(e[0], off), y = at_a ? 0 : dju_dot3(e[1], off);
  Polygon polygon = {4, {{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}}};
  Trial best = {.T = -INFINITY}, t = {.z = {dju_dot3(e[0], start->y), dju_dot3(e[1], start->y)}};
  double left = INFINITY, gain = INFINITY;
  if (!holds(&polygon, t.z)) t.z[0] = x, t.z[1] = y;
  *spent = 0;
  for (int k = 0; k < TRIALS; k++) {
    bool fast = false;
    const End* missed = look(&t, spent, side, isfinite(best.T) ? &best : NULL);
    if (missed) {
      const double g[2] = {-missed->by[0], -missed->by[1]};
      cut(&polygon, -missed->s, g, t.z);
    } else {
      const bool better = isBetter(&t, &best, noise);
      const double last = gain;
      if (better) best = t;
      cut(&polygon, fmin(t.T - best.T + noise, 0), t.g, t.z);
      left = mostOf(&polygon, best.g, best.z);
      if (left <= CLOSE * r) break;
      gain = better ? newton(t.z, &best, &polygon) : INFINITY;
      fast = gain < 0.25 * last;
      if (!fast) gain = INFINITY;
    }
    if (k == 0 && missed)
      t.z[0] = x, t.z[1] = y; // where both origins are, if off is 0
    else if (!fast && !(middleOf(t.z, &polygon) > 0))
      break;
  }
  const djVec3 z = dju_madd3(dju_scale3(best.z[0], e[0]), best.z[1], e[1]);
  start->y = dju_madd3(z, best.end[0].s, d);
  start->T = best.T;
  start->y_b = dju_madd3(dju_mulMtV(place->R, dju_sub3(z, off)), best.end[1].s, side[1].along);
  return left;
}
