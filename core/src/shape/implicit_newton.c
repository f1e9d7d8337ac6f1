// Newton's method on the conditions of touch (implicit_pair.h, (1)), reduced to two unknowns.
//
// The linearised surfaces leave (dy, dT) = a particular solution plus two directions in which the
// point slides along both: with t_k tangents of a,
//
//   dy = -phi_a/(grad_a.d) d + sum_k tau_k t_k,     dy - d dT = -phi_b/(grad_b.d) d + sum_k tau_k
//   f_k, f_k = t_k - s_k d,   s_k = grad_b.t_k/(grad_b.d).
//
// Multiplied by these directions, the linearised stationarity, with la = 1/(grad_a.d) and lb =
// -1/(grad_b.d), is a 2x2 system: M_jk = la t_j.Ha t_k + lb f_j.Hb f_k,
//
//   M tau = s - (la t.Ha dy0 + lb f.Hb dy0'),   dy0, dy0' the particular solutions.
//
// At the solution s = 0, and M is the sum of both curvatures times nu.
//
// Where surfaces are flat up to an edge, M says nothing of the edge. So steps are bounded, a part
// of the curvature of the shapes' ellipsoids (la (grad.y) S^-1 is that of an ellipsoid) is added to
// both Hessians, in proportion to the error, and from a cold start shapes are eased: each step is
// on sharper ones. A step that neither lowers the error nor raises a bound of T is shortened. The
// bound is mu T with mu = min(1, 1/(1 + phi/(grad.y - phi))): scaled by that, (y, T) is inside of
// both shapes to first order, whose origins are where y and y - T d begin.

#include "shape/implicit_pair.h"

#include "base/status.h"

#include <float.h>

// Of (1), distances over the size of the shapes and the angle between normals.
#define TOLERANCE 1e-12
// What rounding may leave where it ends without coming nearer; of more dj_touchImplicit judges.
#define STALLED 1e-11
// Longest step, of an ellipsoid's semi-axis along it; least curvature, of the ellipsoids', at an
// error of 1; least sine of the angles between d and the surfaces.
#define REACH 0.3
#define FAR 0.25 // phi over its depth at the surface
#define CURVATURE 0.1
#define STEEP 0.02
// Longest step that the touch is moved by in the end, of T.
#define LAST 1e-5

typedef struct Side {
  djImplicitPoint p;
  double length; // |grad|
  double along;  // grad.d
  double depth;  // grad.y - phi, by the origin of the shape; > 0 for convex phi
} Side;

// mu T: of the touch where that is T.
typedef struct Bound {
  double T, phi[2], depth[2];
} Bound;

typedef struct Step {
  djVec3 d, d_b; // d in both frames
  Side a, b;
  djVec3 n;          // of a
  djVec3 t[2], f[2]; // tangents of a; in b's frame, first the same
  double slip[2];    // grad_b.t
  double error;
  djVec3 dy, dy_b;
  double dT;
} Step;

static double boundOf(const Bound* b) {
  double out = b->T;
  for (int k = 0; k < 2; k++) out = fmin(out, b->T / (1 + b->phi[k] / b->depth[k]));
  return out;
}

static void look(Step* s, const djImplicit* a, const djImplicit* b, const djImplicitPlace* place,
                 const djImplicitStart* at, double size) {
  a->row->eval(&s->a.p, a, at->y);
  b->row->eval(&s->b.p, b, at->y_b);
  s->a.length = dju_norm3(s->a.p.g);
  s->b.length = dju_norm3(s->b.p.g);
  s->a.depth = fmax(dju_dot3(s->a.p.g, at->y) - s->a.p.phi, 1e-3);
  s->b.depth = b->outer > 0 ? fmax(dju_dot3(s->b.p.g, at->y_b) - s->b.p.phi, 1e-3) : INFINITY;
  s->a.along = dju_dot3(s->a.p.g, s->d);
  s->b.along = dju_dot3(s->b.p.g, s->d_b);
  s->n = dju_scale3(1 / s->a.length, s->a.p.g);
  dj_implicitTangents(s->t, s->n);
  double angle = 0;
  for (int k = 0; k < 2; k++) {
    s->f[k] = dju_mulMtV(place->R, s->t[k]);
    s->slip[k] = dju_dot3(s->b.p.g, s->f[k]);
    angle += s->slip[k] * s->slip[k];
  }
  const double over = 1 / s->b.length;
  const double turn = over * dju_dot3(dju_mulMtV(place->R, s->n), s->b.p.g);
  angle = sqrt(angle) * over + (turn > 0 ? 1 + turn : 0);
  s->error = (fabs(s->a.p.phi) / s->a.length + fabs(s->b.p.phi) * over) / size + angle;
}

// The step. It is at most a part of the ellipsoids' size long.
static void solve(Step* s, const djImplicit* a, const djImplicit* b, const djImplicitStart* at) {
  const double la = 1 / fmax(s->a.along, STEEP * s->a.length);
  const double lb = 1 / fmax(-s->b.along, STEEP * s->b.length);
  const double to_a = -s->a.p.phi * la, to_b = s->b.p.phi * lb;
  djVec3 ha[2], hb[2];
  double slip[2], r[2];
  for (int k = 0; k < 2; k++) {
    slip[k] = -s->slip[k] * lb;
    s->f[k] = dju_madd3(s->f[k], -slip[k], s->d_b);
    ha[k] = dju_scale3(la, dj_bendImplicit(s->a.p.H, s->t[k]));
    hb[k] = dju_scale3(lb, dj_bendImplicit(s->b.p.H, s->f[k]));
    r[k] = slip[k] - dju_dot3(ha[k], s->d) * to_a - dju_dot3(hb[k], s->d_b) * to_b;
  }
  const double least = CURVATURE * fmin(1, s->error);
  const double ea = least * la * fabs(dju_dot3(s->a.p.g, at->y));
  const double eb = least * lb * fabs(dju_dot3(s->b.p.g, at->y_b));
  for (int k = 0; k < 2; k++) {
    ha[k] = dju_madd3(ha[k], ea, dj_bendImplicit(a->flat, s->t[k]));
    hb[k] = dju_madd3(hb[k], eb, dj_bendImplicit(b->flat, s->f[k]));
  }
  double m11 = dju_dot3(s->t[0], ha[0]) + dju_dot3(s->f[0], hb[0]);
  double m22 = dju_dot3(s->t[1], ha[1]) + dju_dot3(s->f[1], hb[1]);
  const double m12 = dju_dot3(s->t[0], ha[1]) + dju_dot3(s->f[0], hb[1]);
  double det = m11 * m22 - m12 * m12;
  if (!(det > 0 && m11 > 0)) { // dents, or rounding
    const double shift = fabs(m11) + fabs(m22) + fabs(m12) + DBL_MIN;
    m11 += shift;
    m22 += shift;
    det = m11 * m22 - m12 * m12;
  }
  const double tau[2] = {(m22 * r[0] - m12 * r[1]) / det, (m11 * r[1] - m12 * r[0]) / det};
  s->dy = dju_madd3(dju_madd3(dju_scale3(to_a, s->d), tau[0], s->t[0]), tau[1], s->t[1]);
  s->dT = to_a - to_b + tau[0] * slip[0] + tau[1] * slip[1];
  s->dy_b = dju_madd3(dju_madd3(dju_scale3(to_b, s->d_b), tau[0], s->f[0]), tau[1], s->f[1]);
  const double length = sqrt(fmax(dju_dot3(s->dy, dj_bendImplicit(a->flat, s->dy)),
                                  dju_dot3(s->dy_b, dj_bendImplicit(b->flat, s->dy_b))));
  if (length > REACH) {
    s->dy = dju_scale3(REACH / length, s->dy);
    s->dy_b = dju_scale3(REACH / length, s->dy_b);
    s->dT *= REACH / length;
  }
}

// One more step, to first order: what the tolerance leaves of the angle moves the point far where
// surfaces are flat.
static void correct(djImplicitTouch* out, const Step* s, const djImplicitPlace* place) {
  const double to_a = -out->la * s->a.p.phi, to_b = out->lb * s->b.p.phi;
  const double det = out->M[0] * out->M[2] - out->M[1] * out->M[1];
  double r[2];
  for (int k = 0; k < 2; k++) {
    r[k] = (-out->lb * s->slip[k] - dju_dot3(out->ha[k], s->d) * to_a -
            dju_dot3(out->hb[k], s->d) * to_b) /
           det;
  }
  double tau[2] = {out->M[2] * r[0] - out->M[1] * r[1], out->M[0] * r[1] - out->M[1] * r[0]};
  if (!(fabs(tau[0]) + fabs(tau[1]) < LAST * out->T)) tau[0] = tau[1] = 0;
  djVec3 dy = dju_scale3(to_a, s->d);
  for (int k = 0; k < 2; k++) dy = dju_madd3(dy, tau[k], out->t[k]);
  djVec3 dy_b = dju_scale3(to_b, s->d_b);
  for (int k = 0; k < 2; k++) dy_b = dju_madd3(dy_b, tau[k], dju_mulMtV(place->R, out->t[k]));
  out->y = dju_add3(out->y, dy);
  out->y_b = dju_add3(out->y_b, dy_b);
  out->T += to_a - to_b;
  for (int k = 0; k < 2; k++) {
    out->n = dju_madd3(out->n, dju_dot3(out->ha[k], dy) / out->nu, out->t[k]);
  }
  out->nu = 1 / dju_dot3(out->n, s->d);
}

static void finish(djImplicitTouch* out, const Step* s, const djImplicitStart* at,
                   const djImplicitPlace* place) {
  out->n = s->n;
  out->a = s->a.p;
  out->b = s->b.p;
  out->error = s->error;
  out->la = 1 / s->a.along;
  out->lb = -1 / s->b.along;
  out->nu = s->a.length / s->a.along;
  out->y = at->y;
  out->y_b = at->y_b;
  out->T = at->T;
  for (int k = 0; k < 2; k++) {
    out->t[k] = s->t[k];
    out->ha[k] = dju_scale3(out->la, dj_bendImplicit(s->a.p.H, s->t[k]));
    const djVec3 t_b = dju_mulMtV(place->R, s->t[k]);
    out->hb[k] = dju_scale3(out->lb, dju_mulMV(place->R, dj_bendImplicit(s->b.p.H, t_b)));
  }
  for (int k = 0; k < 3; k++) {
    static const int I[3] = {0, 0, 1}, J[3] = {0, 1, 1};
    out->A[k] = dju_dot3(out->t[I[k]], out->ha[J[k]]);
    out->M[k] = out->A[k] + dju_dot3(out->t[I[k]], out->hb[J[k]]);
  }
  correct(out, s, place);
}

// A shape less sharp than it is, with about the same faces: of smooth maxima so much is taken from
// phi that opposite faces alone would not move.
static const djImplicit* ease(djImplicit* room, const djImplicit* shape, double sharp) {
  if (!(sharp < shape->sharp * shape->scale)) return shape;
  *room = *shape;
  room->sharp = fmax(sharp / shape->scale, 1);
  room->ease = shape->lift;
  room->power = 0;
  for (int k = 1; k <= 16; k++) {
    if (room->sharp == k) room->power = k;
  }
  return room;
}

typedef struct Search {
  djImplicitStart at, base, best; // now; where the step began; with the least error
  double part;                    // of the step that is taken
  int shortened;                  // how often
  bool whole;                     // base's error and merit are comparable
  double error;                   // base's
  Bound bound;                    // likewise
  double least;                   // best's error
} Search;

// Shortens the step, or takes the next. sharper: shapes will not be the same.
static void move(Search* q, Step* s, const djImplicit* a, const djImplicit* b, bool sharper) {
  const Bound now = {q->at.T, {s->a.p.phi, s->b.p.phi}, {s->a.depth, s->b.depth}};
  if (q->whole && q->shortened < 4 && !(s->error < 1.5 * q->error) &&
      !(boundOf(&now) > boundOf(&q->bound))) {
    q->shortened++;
    q->part *= 0.4;
  } else {
    q->shortened = 0;
    q->whole = false;
    if (now.phi[0] > FAR * now.depth[0] || now.phi[1] > FAR * now.depth[1]) {
      const double mu = boundOf(&now) / q->at.T; // back to where the shape begins
      q->at.y = dju_scale3(mu, q->at.y);
      q->at.y_b = dju_scale3(mu, q->at.y_b);
      q->at.T *= mu;
      return;
    }
    solve(s, a, b, &q->at);
    q->base = q->at;
    q->bound = now;
    q->error = s->error;
    q->part = 1;
    q->whole = !sharper;
  }
  q->at.y = dju_madd3(q->base.y, q->part, s->dy);
  q->at.y_b = dju_madd3(q->base.y_b, q->part, s->dy_b);
  q->at.T = fmax(a->inner + b->inner, fmin(q->base.T + q->part * s->dT, a->outer + b->outer));
}

bool dj_newtonImplicit(djImplicitTouch* out, djImplicitStart* start, const djImplicit* a,
                       const djImplicit* b, const djImplicitPlace* place, double sharp,
                       double growth, int most) {
  const double size = fmax(a->outer, b->outer);
  const double sharpest = fmax(a->sharp * a->scale, b->sharp * b->scale);
  djImplicit eased_a, eased_b;
  Step s = {.d = place->d, .d_b = dju_mulMtV(place->R, place->d)};
  const bool b_smaller = b->outer > 0 && b->outer < a->outer;
  Search q = {.at = *start, .base = *start, .best = *start, .part = 1, .least = INFINITY};
  bool easy = sharp > 0 && sharp < sharpest;
  for (out->iterations = 1; out->iterations <= most; out->iterations++) {
    const bool was_easy = easy;
    if (easy) {
      look(&s, ease(&eased_a, a, sharp), ease(&eased_b, b, sharp), place, &q.at, size);
      if (growth >= 2 || s.error < 0.3) sharp *= growth;
      easy = sharp < sharpest;
    } else {
      look(&s, a, b, place, &q.at, size);
      const bool stalled = s.error < STALLED && s.error > 0.5 * q.error && q.whole;
      if (s.error < q.least) q.least = s.error, q.best = q.at;
      if ((s.error < TOLERANCE || stalled) && s.a.along > 0 && s.b.along < 0) {
        if (s.error > q.least) look(&s, a, b, place, &q.best, size);
        *start = q.best;
        finish(out, &s, start, place);
        return true;
      }
    }
    move(&q, &s, a, b, was_easy);
    dj_settleStart(&q.at, b_smaller, place);
  }
  look(&s, a, b, place, &q.best, size);
  *start = q.best;
  finish(out, &s, start, place);
  out->iterations = most;
  return false;
}
