// Signed distance where vertices have ellipsoids (shape/curve.h).
//
// With P the hull of the vertices' differences w_k = a_k - b_k, c = c_a + c_b and q = q_a + q_b,
// the gap along the unit vector n, from A to B, is
//
//   g(n) = -max_k n.w_k - q(n),
//
// a lower bound of the signed distance, which is its maximum; there
//
//   sum_k l_k w_k + c(n) + d n = 0,  d = g(n),  l_k >= 0, sum l_k = 1, l_k > 0 only where n.w_k is
//   largest.
//
// GJK (EPA where the shapes overlap) on the curved shapes finds n and the active w_k roughly. Then
// Newton: with E a basis across n, n' = n + E t, C = C_a + C_b and l_0 = 1 - sum of the others,
//
//   (E^T C E + d I) t + sum_k>0 E^T (w_k - w_0) dl_k = -E^T (sum l w + c),
//   (w_k - w_0).E t = -n.(w_k - w_0),
//
// where vertices leave with negative l and join where they stand out; at most three are active.
// Where shapes are separated, |sum l w + c| is an upper bound of the distance, so that the result
// is certain. Overlapping ones end in a local maximum of g near that which EPA found.

#include "shape/minkowski.h"

#include <float.h>
#include <string.h>

#define MAX_ROUNDS 200
#define MAX_STEPS 30

// An iterate: n, active differences and their weights.
typedef struct Active {
  djVec3 n;
  int count;
  djSupport p[3];
  double weight[3];
  double d;                // g(n), over all vertices
} Active;

static djVec3 curvePoint(djVec3* a, djVec3* b, const djMinkowski* m, djVec3 n) {
  djVec3 zero = {0, 0, 0};
  *a = *b = zero;
  if (m->a.curved) dj_curveReach(a, NULL, &m->a.curve, n);
  if (m->b.curved) dj_curveReach(b, NULL, &m->b.curve, n);
  return dju_add3(*a, *b);
}

static double curveReach(const djMinkowski* m, djVec3 n) {
  double q = 0;
  if (m->a.curved) q += dj_curveReach(NULL, NULL, &m->a.curve, n);
  if (m->b.curved) q += dj_curveReach(NULL, NULL, &m->b.curve, n);
  return q;
}

static djVec3 curveBend(const djMinkowski* m, djVec3 n, djVec3 x) {
  djVec3 y = {0, 0, 0};
  if (m->a.curved) y = dju_add3(y, dj_curveBend(&m->a.curve, n, x));
  if (m->b.curved) y = dju_add3(y, dj_curveBend(&m->b.curve, n, x));
  return y;
}

// ------------------------------------------ GJK ------------------------------------------------

// Continue GJK until its bounds are within `tolerance`. False: the origin is inside or on the
// border. s, u: the simplex and its nearest point.
static bool approach(djVec3* u, djSimplex* s, int* iterations, djMinkowski* m, double tolerance) {
  double last = INFINITY;
  for (; *iterations < MAX_ROUNDS; ++*iterations) {
    double length = dju_norm3(*u);
    if (length <= 1e-13 * m->scale) return false;
    djSupport p = dj_minkowskiSupport(m, dju_neg3(*u));
    double lower = dju_dot3(*u, p.w) / length;
    if (length - lower <= tolerance * m->scale || !(length < last)) return true;
    last = length;
    djSimplex trial = *s;
    djVec3 v;
    trial.p[trial.n++] = p;
    if (dj_reduceSimplex(&v, &trial)) {
      *s = trial;
      return false;
    }
    if (!(dju_norm3(v) < length)) return true;
    *s = trial;
    *u = v;
  }
  return true;
}

// ------------------------------------------ Newton ---------------------------------------------

// g(n); *top is the difference farthest along n.
static double gapAlong(djSupport* top, djMinkowski* m, djVec3 n) {
  *top = dj_minkowskiVertices(m, n);
  return -dju_dot3(n, top->w) - curveReach(m, n);
}

static bool isActive(const Active* at, const djSupport* p) {
  for (int k = 0; k < at->count; k++) {
    if (at->p[k].ia == p->ia && at->p[k].ib == p->ib) return true;
  }
  return false;
}

static void drop(Active* at, int k) {
  at->count--;
  for (; k < at->count; k++) {
    at->p[k] = at->p[k + 1];
    at->weight[k] = at->weight[k + 1];
  }
  double sum = 0;
  for (int i = 0; i < at->count; i++) sum += at->weight[i] = fmax(at->weight[i], 0);
  for (int i = 0; i < at->count; i++) {
    at->weight[i] = sum > 0 ? at->weight[i] / sum : 1.0 / at->count;
  }
}

// The differences of a simplex, each once.
static void startActive(Active* at, const djSimplex* s, djMinkowski* m) {
  at->count = 0;
  for (int i = 0; i < s->n; i++) {
    bool known = false;
    for (int k = 0; k < at->count && !known; k++) {
      known = at->p[k].ia == s->p[i].ia && at->p[k].ib == s->p[i].ib;
      if (known) at->weight[k] += s->weight[i];
    }
    if (known) continue;
    if (at->count == 3) {
      int least = 0;
      for (int k = 1; k < 3; k++) least = at->weight[k] < at->weight[least] ? k : least;
      if (at->weight[least] > s->weight[i]) continue;
      drop(at, least);
    }
    at->p[at->count] = dj_minkowskiPoint(m, s->p[i].ia, s->p[i].ib);
    at->weight[at->count++] = s->weight[i];
  }
}

// Gaussian elimination with pivots; false where it is singular. A (n x n, rows of 4), b (n).
static bool solveSmall(double A[16], double b[4], int n) {
  for (int k = 0; k < n; k++) {
    int at = k;
    for (int i = k + 1; i < n; i++) at = fabs(A[4 * i + k]) > fabs(A[4 * at + k]) ? i : at;
    for (int j = 0; j < n; j++) {
      double t = A[4 * k + j];
      A[4 * k + j] = A[4 * at + j];
      A[4 * at + j] = t;
    }
    double t = b[k], pivot = A[4 * k + k];
    b[k] = b[at];
    b[at] = t;
    if (!(fabs(pivot) > 0)) return false;
    for (int i = k + 1; i < n; i++) {
      double f = A[4 * i + k] / pivot;
      for (int j = k; j < n; j++) A[4 * i + j] -= f * A[4 * k + j];
      b[i] -= f * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) b[k] -= A[4 * k + j] * b[j];
    b[k] /= A[4 * k + k];
  }
  return true;
}

// One step of n and the weights. *turn: |t|. False: no maximum here, or dependent differences.
static bool newtonStep(Active* at, double* turn, djMinkowski* m) {
  djVec3 E[2], a, b, x = curvePoint(&a, &b, m, at->n);
  int extra = at->count - 1, n = 2 + extra;
  double A[16] = {0}, rhs[4], M[2][2];
  for (int k = 0; k < at->count; k++) x = dju_madd3(x, at->weight[k], at->p[k].w);
  dj_across(E, at->n);
  for (int i = 0; i < 2; i++) {
    djVec3 C = curveBend(m, at->n, E[i]);
    for (int j = 0; j < 2; j++) M[i][j] = A[4 * i + j] = dju_dot3(E[j], C) + (i == j ? at->d : 0);
    rhs[i] = -dju_dot3(E[i], x);
  }
  for (int k = 0; k < extra; k++) {
    djVec3 w = dju_sub3(at->p[k + 1].w, at->p[0].w);
    for (int i = 0; i < 2; i++) A[4 * i + 2 + k] = A[4 * (2 + k) + i] = dju_dot3(E[i], w);
    rhs[2 + k] = -dju_dot3(at->n, w);
  }
  if (extra == 0 && !(M[0][0] > 0 && M[0][0] * M[1][1] > M[0][1] * M[1][0])) return false;
  if (extra == 1) {   // along the edge's normal in the plane
    double p = A[2], q = A[6];
    if (!(q * q * M[0][0] - 2 * p * q * M[0][1] + p * p * M[1][1] > 0)) return false;
  }
  if (!solveSmall(A, rhs, n)) return false;
  *turn = sqrt(rhs[0] * rhs[0] + rhs[1] * rhs[1]);
  if (!isfinite(*turn)) return false;
  double limit = fmin(1, 0.5 / fmax(*turn, 1e-300));
  djVec3 next = dju_madd3(dju_madd3(at->n, limit * rhs[0], E[0]), limit * rhs[1], E[1]);
  at->n = dju_scale3(1 / dju_norm3(next), next);
  for (int k = 0; k < extra; k++) {
    at->weight[k + 1] += rhs[2 + k];
    at->weight[0] -= rhs[2 + k];
  }
  return true;
}

// A vertex pair joins; where there are three, in the place of that with the least weight.
static void join(Active* at, const djSupport* p) {
  if (at->count == 3) {
    int least = 0;
    for (int k = 1; k < 3; k++) least = at->weight[k] < at->weight[least] ? k : least;
    drop(at, least);
  }
  at->p[at->count] = *p;
  at->weight[at->count++] = 0;
}

// Sum l w + c: |.| is an upper bound of the distance.
static djVec3 pointOf(const Active* at, const djMinkowski* m) {
  djVec3 a, b, x = curvePoint(&a, &b, m, at->n);
  for (int k = 0; k < at->count; k++) x = dju_madd3(x, at->weight[k], at->p[k].w);
  return x;
}

// Newton's iteration. True: it ended in a maximum of g, to rounding.
static bool refine(Active* at, int* iterations, djMinkowski* m) {
  djSupport top;
  at->d = gapAlong(&top, m, at->n);
  for (int k = 0; k < MAX_STEPS; k++, ++*iterations) {
    double turn;
    if (!newtonStep(at, &turn, m)) return false;
    int least = 0;
    for (int i = 1; i < at->count; i++) least = at->weight[i] < at->weight[least] ? i : least;
    bool left = at->count > 1 && at->weight[least] < -1e-13;
    if (left) drop(at, least);
    at->d = gapAlong(&top, m, at->n);
    double unit = 64 * DBL_EPSILON * m->scale;
    bool out = dju_dot3(at->n, dju_sub3(top.w, at->p[0].w)) > unit && !isActive(at, &top);
    if (out) join(at, &top);
    if (left || out || !(turn < 1e-6)) continue;
    djVec3 x = dju_madd3(pointOf(at, m), at->d, at->n);
    if (dju_norm3(x) <= unit) return true;
  }
  return false;
}

// ------------------------------------------ result ---------------------------------------------

// From the normal and the differences of the last time; only separated shapes.
static bool fromCache(Active* at, int* iterations, djMinkowski* m, const djDistanceCache* cache) {
  if (!cache || cache->count < 1 || cache->count > 3) return false;
  at->n = dju_load3(cache->normal);
  if (!(fabs(dju_norm3(at->n) - 1) < 1e-6)) return false;
  at->count = 0;
  for (int i = 0; i < cache->count; i++) {
    int ia = cache->a[i], ib = cache->b[i];
    if (ia < 0 || ia >= m->a.shape->nvert || ib < 0 || ib >= m->b.shape->nvert) return false;
    at->p[at->count] = dj_minkowskiPoint(m, ia, ib);
    at->weight[at->count++] = cache->weight[i];
  }
  return refine(at, iterations, m) && at->d > 1e-9 * m->scale;
}

static void store(double* core, djVec3* n, djSimplex* s, const Active* at) {
  *core = at->d;
  *n = at->n;
  s->n = at->count;
  for (int k = 0; k < at->count; k++) {
    s->p[k] = at->p[k];
    s->weight[k] = at->weight[k];
  }
}

djStatus dj_curvedDistance(double* core, djVec3* n, djSimplex* s, int* iterations, djMinkowski* m,
                           const djDistanceCache* cache) {
  static const double tolerance[] = {1e-4, 1e-7, 1e-11};
  Active at, best = {.d = -INFINITY};
  djSupport top;
  *iterations = 0;
  if (fromCache(&at, iterations, m, cache)) {
    store(core, n, s, &at);
    return DJ_OK;
  }
  s->n = 1;
  s->weight[0] = 1;
  djVec3 u, toward = dju_sub3(dju_add3(dju_mulMV(m->b.R, m->b.shape->center), m->b.p),
                              dju_add3(dju_mulMV(m->a.R, m->a.shape->center), m->a.p));
  if (!(dju_norm3(toward) > 0)) toward = dju_vec3(0, 0, 1);
  s->p[0] = dj_minkowskiSupport(m, toward);
  bool apart = !dj_reduceSimplex(&u, s);
  for (int k = 0; k < 3 && apart; k++) {
    apart = approach(&u, s, iterations, m, tolerance[k]);
    if (!apart) break;
    startActive(&at, s, m);
    at.n = dju_scale3(-1 / dju_norm3(u), u);
    Active rough = at;
    if (refine(&at, iterations, m) && at.d > 0) {
      store(core, n, s, &at);
      return DJ_OK;
    }
    rough.d = gapAlong(&top, m, rough.n);
    if (rough.d > best.d) best = rough;
  }
  if (apart && best.d > 0) {
    store(core, n, s, &best);
    return DJ_OK;
  }
  double depth;
  int more;
  djVec3 across;
  djStatus status = dj_epa(&depth, &across, s, &more, m);
  *iterations += more;
  startActive(&at, s, m);
  at.n = across;
  Active rough = at;
  rough.d = gapAlong(&top, m, rough.n);
  if (refine(&at, iterations, m) && at.d >= rough.d) {
    store(core, n, s, &at);
    return DJ_OK;
  }
  store(core, n, s, &rough);
  return status;
}
