#include "shape/implicit_distance.h"

#include "base/status.h"
#include "shape/simplex.h"

#include <float.h>

#define TOLERANCE 1e-12 // of normals, and of points by size
#define STALLED 1e-9    // likewise, where no step comes nearer
#define SMALL 1e-13     // of the distance, by size
#define REACH 0.5       // longest step, of the shapes' size
#define NEAR 0.995      // cosine of how far that may turn the normal to another maximum
#define TIE 1e-9        // least of Ka^-1 + Kb^-1 + delta, of the shapes' size
#define FLAT 1e-6       // least curvature, over the size: what is left of a sum with its inverse

// b's frame in a's, and whether the shapes are apart.
typedef struct Apart {
  djMat3 R;
  djVec3 r;
  bool apart;
} Apart;

// t.H t/|grad| of vectors in the shape's frame.
static void curvature(double K[3], const djImplicitPoint* p, const djVec3 t[2]) {
  const double f = 1 / dju_norm3(p->g);
  const djVec3 H0 = dju_scale3(f, dj_bendImplicit(p->H, t[0]));
  K[0] = dju_dot3(t[0], H0);
  K[1] = dju_dot3(t[1], H0);
  K[2] = f * dju_dot3(t[1], dj_bendImplicit(p->H, t[1]));
}

// Eigenvalues of a symmetric matrix, the larger first, and the unit vector of that.
static void eigen(double w[2], double v[2], const double K[3]) {
  const double half = 0.5 * (K[0] - K[2]), mean = 0.5 * (K[0] + K[2]), r = hypot(half, K[1]);
  const double angle = 0.5 * atan2(K[1], half);
  v[0] = cos(angle);
  v[1] = sin(angle);
  w[0] = mean + r;
  w[1] = mean - r;
}

// out = f(K) with f 1/k (power -1), of what is left of k above `floor`.
static void invert(double out[3], const double K[3], double floor) {
  double w[2], v[2];
  eigen(w, v, K);
  const double a = 1 / fmax(w[0], floor), b = 1 / fmax(w[1], fmax(floor, 1e-15 * w[0]));
  out[0] = a * v[0] * v[0] + b * v[1] * v[1];
  out[1] = (a - b) * v[0] * v[1];
  out[2] = a * v[1] * v[1] + b * v[0] * v[0];
}

// Ka^-1 + Kb^-1 + delta.
static void radiiOf(double S[3], const double Ka[3], const double Kb[3], double delta,
                    double size) {
  double Ra[3], Rb[3];
  invert(Ra, Ka, FLAT / size);
  invert(Rb, Kb, FLAT / size);
  for (int k = 0; k < 3; k++) S[k] = Ra[k] + Rb[k] + (k == 1 ? 0 : delta);
}

static bool isMaximum(const djImplicitGap* g, double size) {
  double S[3], w[2], v[2];
  radiiOf(S, g->Ka, g->Kb, g->delta, size);
  eigen(w, v, S);
  return w[1] > TIE * size;
}

void dj_shiftGap(djImplicitShift* s, const djImplicitGap* g) {
  const double *Ka = g->Ka, *Kb = g->Kb, D = g->delta;
  // 1 + delta Ka, and Q = Ka + Kb of that.
  const double E[4] = {1 + D * Ka[0], D * Ka[1], D * Ka[1], 1 + D * Ka[2]};
  const double Q[4] = {Ka[0] + Kb[0] * E[0] + Kb[1] * E[2], Ka[1] + Kb[0] * E[1] + Kb[1] * E[3],
                       Ka[1] + Kb[1] * E[0] + Kb[2] * E[2], Ka[2] + Kb[1] * E[1] + Kb[2] * E[3]};
  const double f = 1 / (Q[0] * Q[3] - Q[1] * Q[2]);
  const bool solved = g->regular && isfinite(f);
  const double u[2] = {D * s->A[0] - s->w[0], D * s->A[1] - s->w[1]};
  const double r[2] = {s->B[0] - s->A[0] - Kb[0] * u[0] - Kb[1] * u[1],
                       s->B[1] - s->A[1] - Kb[1] * u[0] - Kb[2] * u[1]};
  s->tau[0] = solved ? f * (Q[3] * r[0] - Q[1] * r[1]) : 0;
  s->tau[1] = solved ? f * (Q[0] * r[1] - Q[2] * r[0]) : 0;
  for (int k = 0; k < 2; k++) {
    s->sigma[k] = solved ? E[2 * k] * s->tau[0] + E[2 * k + 1] * s->tau[1] + u[k] : 0;
    s->dn[k] = solved ? s->A[k] + Ka[k] * s->tau[0] + Ka[k + 1] * s->tau[1] : 0;
  }
}

// ---- Newton's method on both points -------------------------------------------------------------

typedef struct Look {
  djVec3 n_b;       // outward normal of b, in a's frame
  double slip[2];   // its part along t
  double off[2];    // t.(q - p)
  double far[2];    // phi/|grad|
  double length[2]; // |grad|
} Look;

static void look(djImplicitGap* g, Look* l, const djImplicit* a, const djImplicit* b,
                 const Apart* at, double size) {
  a->row->eval(&g->a, a, g->y);
  b->row->eval(&g->b, b, g->y_b);
  g->iterations++;
  l->length[0] = dju_norm3(g->a.g);
  l->length[1] = dju_norm3(g->b.g);
  l->far[0] = g->a.phi / l->length[0];
  l->far[1] = g->b.phi / l->length[1];
  g->n = dju_scale3(1 / l->length[0], g->a.g);
  l->n_b = dju_scale3(1 / l->length[1], dju_mulMV(at->R, g->b.g));
  dj_implicitTangents(g->t, g->n);
  const djVec3 apart = dju_sub3(dju_add3(at->r, dju_mulMV(at->R, g->y_b)), g->y);
  g->delta = dju_dot3(g->n, apart);
  curvature(g->Ka, &g->a, g->t);
  djVec3 t_b[2];
  double error = (fabs(l->far[0]) + fabs(l->far[1])) / size;
  for (int k = 0; k < 2; k++) {
    t_b[k] = dju_mulMtV(at->R, g->t[k]);
    l->slip[k] = dju_dot3(g->t[k], l->n_b);
    l->off[k] = dju_dot3(g->t[k], apart);
  }
  curvature(g->Kb, &g->b, t_b);
  const double turn = dju_dot3(g->n, l->n_b);
  error += hypot(l->slip[0], l->slip[1]) + hypot(l->off[0], l->off[1]) / size;
  g->error = error + (turn > 0 ? 1 + turn : 0);
}

// What (2) says of the errors as changes: that of n_b's slip is e_b, that of q - p is -w.
static void step(djImplicitGap* g, const Look* l, const Apart* at, double size) {
  djImplicitShift s;
  const djVec3 Hn = dj_bendImplicit(g->a.H, g->n);
  const djVec3 Hb = dju_mulMV(at->R, dj_bendImplicit(g->b.H, dju_mulMtV(at->R, l->n_b)));
  for (int k = 0; k < 2; k++) {
    s.A[k] = -l->far[0] * dju_dot3(g->t[k], Hn) / l->length[0];
    s.B[k] = l->far[1] * dju_dot3(g->t[k], Hb) / l->length[1] - l->slip[k];
    s.w[k] = l->off[k];
  }
  g->regular = true;
  dj_shiftGap(&s, g);
  const djVec3 dp =
      dju_madd3(dju_madd3(dju_scale3(-l->far[0], g->n), s.tau[0], g->t[0]), s.tau[1], g->t[1]);
  const djVec3 dq = dju_madd3(dju_madd3(dju_scale3(-l->far[1], l->n_b), s.sigma[0], g->t[0]),
                              s.sigma[1], g->t[1]);
  const double length = fmax(dju_norm3(dp), dju_norm3(dq));
  const double part = length > REACH * size ? REACH * size / length : 1;
  g->y = dju_madd3(g->y, part, dp);
  g->y_b = dju_madd3(g->y_b, part, dju_mulMtV(at->R, dq));
}

// From the points in g. True: a stationary point of g, the maximum where shapes are apart.
static bool polish(djImplicitGap* g, const djImplicit* a, const djImplicit* b, const Apart* at,
                   double size, int most) {
  Look l;
  double last = INFINITY;
  djImplicitGap best = *g;
  best.error = INFINITY;
  for (int k = 0; k < most; k++) {
    look(g, &l, a, b, at, size);
    if (!(g->error < 1e3)) break;
    if (g->error < best.error) best = *g;
    if (g->error < TOLERANCE || (g->error < STALLED && g->error > 0.5 * last)) break;
    if (k > 2 && g->error > 2 * last) break;
    last = g->error;
    step(g, &l, at, size);
  }
  best.iterations = g->iterations;
  *g = best;
  const bool right = at->apart ? g->delta > -STALLED * size : g->delta < STALLED * size;
  g->regular = isMaximum(g, size);
  return g->error < STALLED && right && g->regular;
}

// ---- ascent on the sphere -----------------------------------------------------------------------

typedef struct Ascent {
  const djImplicit *a, *b;
  const Apart* at;
  djImplicitWarm warm[2];
  double size;
} Ascent;

// The point of a shape farthest along d, in its frame.
static bool farthest(djVec3* y, int* spent, const djImplicit* shape, djImplicitWarm* warm,
                     djVec3 d) {
  djImplicitTouch touch;
  const djStatus status = dj_supportImplicit(&touch, warm, shape, d);
  *spent += touch.iterations;
  *y = touch.y;
  return status == DJ_OK;
}

// g(n), with points, tangents and curvatures there; off: tangential part of q - p.
static bool evaluate(djImplicitGap* g, double off[2], Ascent* s, djVec3 n) {
  bool found = farthest(&g->y, &g->iterations, s->a, &s->warm[0], n);
  const djVec3 m = dju_neg3(dju_mulMtV(s->at->R, n));
  found = farthest(&g->y_b, &g->iterations, s->b, &s->warm[1], m) && found;
  s->a->row->eval(&g->a, s->a, g->y);
  s->b->row->eval(&g->b, s->b, g->y_b);
  g->n = n;
  dj_implicitTangents(g->t, n);
  const djVec3 t_b[2] = {dju_mulMtV(s->at->R, g->t[0]), dju_mulMtV(s->at->R, g->t[1])};
  curvature(g->Ka, &g->a, g->t);
  curvature(g->Kb, &g->b, t_b);
  const djVec3 apart = dju_sub3(dju_add3(s->at->r, dju_mulMV(s->at->R, g->y_b)), g->y);
  g->delta = dju_dot3(n, apart);
  for (int k = 0; k < 2; k++) off[k] = dju_dot3(g->t[k], apart);
  return found;
}

// Newton's step along the sphere: S^-1 off, S made positive where it is not.
static void ascentStep(double u[2], const djImplicitGap* g, const double off[2], double size) {
  double S[3], w[2], v[2];
  radiiOf(S, g->Ka, g->Kb, g->delta, size);
  eigen(w, v, S);
  const double least = 1e-3 * size;
  for (int k = 0; k < 2; k++) w[k] = fmax(fabs(w[k]), least * (w[k] > least ? 0 : 1));
  const double p = (v[0] * off[0] + v[1] * off[1]) / w[0];
  const double q = (v[0] * off[1] - v[1] * off[0]) / w[1];
  u[0] = p * v[0] - q * v[1];
  u[1] = p * v[1] + q * v[0];
}

// Ascent with a line search from n; Newton's method on the points is tried where it is likely to
// work: of shapes apart it can end at the distance alone.
static bool ascend(djImplicitGap* g, Ascent* s, djVec3 n) {
  double off[2], u[2];
  bool solved = evaluate(g, off, s, n);
  for (int k = 0; k < 32; k++) {
    ascentStep(u, g, off, s->size);
    double angle = hypot(u[0], u[1]);
    const double gain = u[0] * off[0] + u[1] * off[1];
    if (solved && (angle < 0.03 || k % 8 == 7)) {
      djImplicitGap trial = *g;
      if (polish(&trial, s->a, s->b, s->at, s->size, 10)) {
        *g = trial;
        return true;
      }
      g->iterations = trial.iterations;
    }
    if (!(gain > 0.01 * SMALL * s->size)) break;
    const djVec3 along = dju_madd3(dju_scale3(u[0] / angle, g->t[0]), u[1] / angle, g->t[1]);
    const double slope = gain / angle;
    djImplicitGap next = *g;
    double off_next[2];
    if (angle > 0.5) angle = 0.5;
    for (int cut = 0; cut < 14; cut++) {
      const djVec3 to = dju_madd3(dju_scale3(cos(angle), g->n), sin(angle), along);
      solved = evaluate(&next, off_next, s, dju_scale3(1 / dju_norm3(to), to));
      if (next.delta >= g->delta + 0.01 * angle * slope) break;
      angle *= 0.3;
    }
    if (!(next.delta > g->delta)) break;
    *g = next;
    off[0] = off_next[0];
    off[1] = off_next[1];
  }
  // What is left of q - p, by (2), moves the points as the normal.
  djImplicitShift shift = {.w = {off[0], off[1]}};
  g->regular = true;
  dj_shiftGap(&shift, g);
  g->regular = isMaximum(g, s->size);
  g->error = hypot(shift.dn[0], shift.dn[1]);
  const djVec3 dp = dju_madd3(dju_scale3(shift.tau[0], g->t[0]), shift.tau[1], g->t[1]);
  const djVec3 dq = dju_madd3(dju_scale3(shift.sigma[0], g->t[0]), shift.sigma[1], g->t[1]);
  if (solved && fmax(dju_norm3(dp), dju_norm3(dq)) < REACH * s->size) {
    g->y = dju_add3(g->y, dp);
    g->y_b = dju_add3(g->y_b, dju_mulMtV(s->at->R, dq));
  }
  return solved && hypot(off[0], off[1]) < STALLED * s->size;
}

// ---- descent of depth
// ----------------------------------------------------------------------------

// Along n shapes that overlap part after t, the least of (ha + hb - m.r)(m) over m with m.n = 1: a
// convex problem, whose m is a direction in which they are no deeper than t. So depths fall, to a
// local minimum, that of a face too. Newton's method on the points may only go to one nearby, so
// that the same is found from places nearby. Long ways, as of shapes that are nearly balls to each
// other, end where it can; steps from n to m are stretched on them while depths fall.
static bool sink(djImplicitGap* g, const djImplicit* a, const djImplicit* b, const Apart* at,
                 double size, djVec3 n, djVec3 common) {
  double least = INFINITY, stretch = 0;
  djVec3 turn = {0, 0, 0};
  for (int k = 0; k < 120; k++) {
    const bool is_long = k >= 12;
    const djImplicitPlace place = {at->R, n};
    const double along = dju_dot3(at->r, n);
    djImplicitStart start = {.y = common};
    int spent;
    dj_searchImplicit(&start, &spent, a, b, &place, dju_madd3(at->r, -along, n));
    djImplicitGap next = {.y = start.y, .y_b = start.y_b, .iterations = g->iterations + spent / 2};
    Look l;
    look(&next, &l, a, b, at, size);
    djImplicitGap trial = next;
    const bool polished = polish(&trial, a, b, at, size, 10);
    g->iterations = next.iterations = trial.iterations;
    if (polished && trial.delta > next.delta - STALLED * size &&
        (is_long || dju_dot3(trial.n, next.n) > NEAR)) {
      *g = trial;
      return true;
    }
    if (-next.delta < least) {
      const double last = dju_norm3(turn);
      turn = dju_sub3(next.n, n);
      least = -next.delta;
      *g = next;
      g->regular = isMaximum(g, size);
      if (dju_norm3(turn) < TOLERANCE) return true;
      const bool bent = stretch > 0 && dju_norm3(turn) > 2 * last; // back to the valley's ground
      stretch = !is_long || bent ? 0 : fmin(2 * stretch + 0.5, 0.1 / dju_norm3(turn));
      n = dju_madd3(next.n, stretch, turn);
    } else {
      if (stretch <= 0) break;
      stretch = stretch > 1 ? 0.25 * stretch : 0;
      n = dju_madd3(g->n, stretch, turn);
    }
    n = dju_scale3(1 / dju_norm3(n), n);
  }
  return false;
}

// ---- Gilbert, Johnson, Keerthi ------------------------------------------------------------------

// Where n is known to rounding, but not the points, as between faces that are nearly flat: these
// are means of farthest points that have been met, from where Newton's method goes on. For shapes
// apart.
static bool collect(djImplicitGap* g, Ascent* s) {
  djSimplex simplex = {.n = 0};
  double off[2], last = INFINITY;
  djVec3 n = g->n, v;
  for (int k = 0; k < 64; k++) {
    djImplicitGap at = {.iterations = g->iterations};
    if (!evaluate(&at, off, s, n)) return false;
    g->iterations = at.iterations;
    djSupport* p = &simplex.p[simplex.n];
    p->a = at.y;
    p->b = dju_add3(s->at->r, dju_mulMV(s->at->R, at.y_b));
    p->w = dju_sub3(p->a, p->b);
    const bool reached = -dju_dot3(n, p->w) > last - SMALL * s->size;
    simplex.weight[simplex.n++] = 1;
    if (dj_reduceSimplex(&v, &simplex) || !(dju_norm3(v) > 0)) return false;
    djVec3 a = {0, 0, 0}, b = {0, 0, 0};
    for (int i = 0; i < simplex.n; i++) {
      a = dju_madd3(a, simplex.weight[i], simplex.p[i].a);
      b = dju_madd3(b, simplex.weight[i], simplex.p[i].b);
    }
    at.y = a;
    at.y_b = dju_mulMtV(s->at->R, dju_sub3(b, s->at->r));
    djImplicitGap trial = at;
    if (polish(&trial, s->a, s->b, s->at, s->size, 16)) {
      *g = trial;
      return true;
    }
    g->iterations = trial.iterations;
    const bool lower = dju_norm3(v) < last;
    n = dju_scale3(-1 / dju_norm3(v), v);
    if (reached || !lower) {
      at.iterations = g->iterations;
      at.n = n;
      at.delta = dju_norm3(v);
      at.error = SMALL;
      at.regular = true;
      if (reached) *g = at;
      return reached;
    }
    last = dju_norm3(v);
  }
  return false;
}

djStatus dj_distanceImplicit(djImplicitGap* out, const djVec3 near[2], const djImplicit* a,
                             const djImplicit* b, const djImplicitPlace* place, double D,
                             const djImplicitTouch* touch) {
  const double size = fmax(a->outer, b->outer);
  const Apart at = {place->R, dju_scale3(D, place->d), D > touch->T};
  djImplicitGap g = {.iterations = 0};
  bool found = false;
  if (near && at.apart) {
    g.y = near[0];
    g.y_b = near[1];
    found = polish(&g, a, b, &at, size, 12);
  }
  if (!found && at.apart) {
    g.y = touch->y;
    g.y_b = dju_mulMtV(place->R, dju_madd3(touch->y, -touch->T, place->d));
    found = polish(&g, a, b, &at, size, 12);
  }
  if (!found) {
    Ascent s = {.a = a, .b = b, .at = &at, .size = size};
    const djVec3 common = dju_scale3(D / touch->T, touch->y);
    found = at.apart ? ascend(&g, &s, touch->n) || collect(&g, &s)
                     : sink(&g, a, b, &at, size, touch->n, common);
  }
  *out = g;
  return found ? g.regular ? DJ_OK : DJ_SINGULAR : DJ_NOT_CONVERGED;
}

void dj_distanceHalfSpace(djImplicitGap* out, const djImplicitTouch* touch, double distance) {
  *out = (djImplicitGap){.y = touch->y, .n = touch->n, .delta = distance, .a = touch->a};
  out->b = touch->b;
  out->error = touch->error;
  out->regular = true;
  for (int k = 0; k < 2; k++) out->t[k] = touch->t[k];
  curvature(out->Ka, &out->a, out->t);
}
