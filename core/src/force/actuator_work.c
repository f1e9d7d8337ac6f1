// Work of actuators over a displacement psi, the integral of their force to rounding, so that a
// step's value and gradient agree wherever clamps are.
//
// Forces q_i = alpha_i + beta_i psi before their clamps are linear; clamps are made of polynomials
// of degree 4. So along psi the force has pieces, within which it is a polynomial, or (scaled by a
// tendon's range) analytic with its pole outside: the way is cut where one piece ends. First at
// edges of what is linear: of clamps of single forces below a joint's range, of a tendon's range.
// Then, within each part, at those of the clamps that come after: zeros of polynomials. Corners
// have continuous second derivatives, so that an edge missed by 1e-4 of a corner changes nothing.

#include "force/actuator.h"

#include "math/piecewise.h"

// Mean force of actuator i while it goes from p0 to p1 before its clamp.
static double meanBetween(const djModel* m, int i, double p0, double p1) {
  if (!m->actuator_forcelimited[i]) return 0.5 * (p0 + p1);
  return dju_smoothClampMean(p0, p1, m->actuator_forcerange[2 * i],
                             m->actuator_forcerange[2 * i + 1]);
}

double dj_meanForce(const djModel* m, int i, const djActuatorStep* a, double psi) {
  return meanBetween(m, i, a->alpha, a->alpha + a->beta * psi);
}

// A coordinate with a range of its total, while psi goes from 0 to `end`.
typedef struct Way {
  const djActuators* t;
  const djModel* m;
  int c;
  double end;
  const double* range;
} Way;

// ---- edges of what is linear ------------------------------------------------------------------

// *edge becomes where a + b psi reaches the level, if that is between `from` and it.
static void meet(double* edge, double from, double a, double b, double level) {
  double psi = (level - a) / b;
  bool behind = *edge > from ? psi > from && psi < *edge : psi < from && psi > *edge;
  if (behind) *edge = psi;
}

// Of the clamps of single forces.
static double nextForceEdge(const Way* w, double from) {
  double to = w->end, edge[4];
  for (int k = w->t->first[w->c]; k < w->t->first[w->c + 1]; k++) {
    int i = w->t->order[k];
    const double* range = w->m->actuator_forcerange + 2 * i;
    if (!w->m->actuator_forcelimited[i]) continue;
    int n = dju_clampEdges(edge, range[0], range[1]);
    for (int e = 0; e < n; e++) {
      meet(&to, from, w->t->act[i].alpha, w->t->act[i].beta, edge[e]);
    }
  }
  return to;
}

// Of a tendon's range, see dj_totalScale(): the sum x = a + b psi of its forces passes 0, a corner
// or a ramp; beyond, x doubles or halves, so that the pole of 1/x is far enough from each part.
static double nextScaleEdge(const Way* w, double from, double a, double b) {
  double to = w->end, x = a + b * from, width = 0.01 * (w->range[1] - w->range[0]);
  meet(&to, from, a, b, 0);
  for (int side = 0; side < 2; side++) {
    double sign = side ? 1 : -1, bound = fabs(w->range[side]), corner = fmin(width, 0.5 * bound);
    double edge[3] = {bound - corner, bound + corner, width};
    for (int e = 0; e < 3 && bound > 0; e++) meet(&to, from, a, b, sign * edge[e]);
    if (sign * x < bound) continue;
    meet(&to, from, a, b, 2 * x);
    meet(&to, from, a, b, 0.5 * x);
  }
  return to;
}

// ---- edges of what comes after ----------------------------------------------------------------

enum { MOST_EDGES = 4 * DJ_MAX_DEGREE };

// Adds where a polynomial in u of [0, 1], given at u = k/degree, passes levels, in order.
static void addEdges(double* list, int* n, const double* value, int degree, const double* level,
                     int nlevel) {
  double y[DJ_MAX_DEGREE + 1], p[DJ_MAX_DEGREE + 1], u[DJ_MAX_DEGREE];
  for (int e = 0; e < nlevel; e++) {
    for (int k = 0; k <= degree; k++) y[k] = value[k] - level[e];
    dju_fitPolynomial(p, y, degree);
    int found = dju_signChanges(u, p, degree);
    for (int k = 0; k < found; k++) {
      int at = (*n)++;
      for (; at > 0 && list[at - 1] > u[k]; at--) list[at] = list[at - 1];
      list[at] = u[k];
    }
  }
}

// Force of actuator i along the coordinate; -1: of all.
static double forceAt(const Way* w, int i, double psi) {
  if (i < 0) return dj_totalForce(w->t, w->m, w->c, psi).f.f;
  const djActuatorStep* a = &w->t->act[i];
  double raw = 0, slope;
  for (int k = w->t->first[w->c]; k < w->t->first[w->c + 1]; k++) {
    const djActuatorStep* b = &w->t->act[w->t->order[k]];
    raw += b->alpha + b->beta * psi;
  }
  double r = dj_totalScale(&slope, w->range, raw);
  return a->gear[0] * dj_clampForce(w->m, i, r * (a->alpha + a->beta * psi)).f;
}

// Of this force from psi0 to psi1, with edges in between.
static double integrate(const Way* w, int i, double psi0, double psi1, const double* edge, int n) {
  double sum = 0, from = psi0;
  for (int e = 0; e <= n; e++) {
    double to = e < n ? psi0 + edge[e] * (psi1 - psi0) : psi1, part = 0;
    for (int k = 0; k < DJ_GAUSS_POINTS; k++) {
      part += dju_gauss[k][1] * forceAt(w, i, from + dju_gauss[k][0] * (to - from));
    }
    sum += part * (to - from);
    from = to;
  }
  return sum;
}

// ---- joints -----------------------------------------------------------------------------------

// Sum of the forces before the joint's range; *linear: it is, around psi.
static double sumAt(const Way* w, double psi, bool* linear) {
  double sum = 0;
  for (int k = w->t->first[w->c]; k < w->t->first[w->c + 1]; k++) {
    int i = w->t->order[k];
    const djActuatorStep* a = &w->t->act[i];
    djJet p = dj_clampForce(w->m, i, a->alpha + a->beta * psi);
    sum += a->gear[0] * p.f;
    if (linear && p.dd != 0 && a->beta != 0) *linear = false;
  }
  return sum;
}

static double workOfJoint(const Way* w) {
  double work = 0, level[4], from = 0;
  int nlevel = dju_clampEdges(level, w->range[0], w->range[1]);
  while (from != w->end) {
    double to = nextForceEdge(w, from), size = to - from, value[5], edge[MOST_EDGES];
    bool linear = true;
    int n = 0;
    sumAt(w, from + 0.5 * size, &linear);
    if (linear) {
      work += size * dju_smoothClampMean(sumAt(w, from, NULL), sumAt(w, to, NULL), w->range[0],
                                         w->range[1]);
    } else {
      for (int k = 0; k <= 4; k++) value[k] = sumAt(w, from + 0.25 * k * size, NULL);
      addEdges(edge, &n, value, 4, level, nlevel);
      work += integrate(w, -1, from, to, edge, n);
    }
    from = to;
  }
  return work;
}

// ---- tendons ----------------------------------------------------------------------------------

// Of actuator i in a part where the sum x of all is a + b psi and its scale r is one piece; cut where
// the clamp of r q_i passes an edge. On a ramp r q_i has degree 6; near a bound and beyond, where x r
// is a polynomial, the one through seven points finds edges to 1e-4 of a corner.
static double workWithin(const Way* w, int i, double from, double to, double a, double b) {
  const djActuatorStep* act = &w->t->act[i];
  double value[DJ_MAX_DEGREE + 1], edge[MOST_EDGES], level[4], slope;
  double middle = a + b * (from + 0.5 * (to - from));
  double r = dj_totalScale(&slope, w->range, middle);
  if (r == 1 || r == 0) {
    double q0 = r * (act->alpha + act->beta * from), q1 = r * (act->alpha + act->beta * to);
    return (to - from) * act->gear[0] * meanBetween(w->m, i, q0, q1);
  }
  const double* range = w->m->actuator_forcerange + 2 * i;
  int n = 0, nlevel = 0;
  if (w->m->actuator_forcelimited[i]) nlevel = dju_clampEdges(level, range[0], range[1]);
  for (int k = 0; k <= DJ_MAX_DEGREE && nlevel > 0; k++) {
    double psi = from + (to - from) * k / DJ_MAX_DEGREE;
    value[k] = dj_totalScale(&slope, w->range, a + b * psi) * (act->alpha + act->beta * psi);
  }
  addEdges(edge, &n, value, DJ_MAX_DEGREE, level, nlevel);
  return integrate(w, i, from, to, edge, n);
}

static double workOfTendon(const Way* w) {
  double work = 0, from = 0, a = 0, b = 0;
  for (int k = w->t->first[w->c]; k < w->t->first[w->c + 1]; k++) {
    a += w->t->act[w->t->order[k]].alpha;
    b += w->t->act[w->t->order[k]].beta;
  }
  while (from != w->end) {
    double to = nextScaleEdge(w, from, a, b);
    for (int k = w->t->first[w->c]; k < w->t->first[w->c + 1]; k++) {
      work += workWithin(w, w->t->order[k], from, to, a, b);
    }
    from = to;
  }
  return work;
}

double dj_workAlong(const djActuators* t, const djModel* m, int c, double psi) {
  const Way w = {t, m, c, psi, dj_totalRange(m, c)};
  if (w.range && isfinite(psi)) {
    return m->coord_type[c] == DJ_COORD_TENDON ? workOfTendon(&w) : workOfJoint(&w);
  }
  double work = 0;
  for (int k = t->first[c]; k < t->first[c + 1]; k++) {
    int i = t->order[k];
    work += t->act[i].gear[0] * dj_meanForce(m, i, &t->act[i], psi);
  }
  return psi * work;
}
