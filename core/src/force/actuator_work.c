// Work of actuators over a displacement psi, the integral of their force to rounding, so that a
// step's value and gradient agree wherever clamps are.
//
// Forces q_i = alpha_i + beta_i psi before their clamps are linear; clamps are made of polynomials
// of degree 4. So along psi the force has pieces, within which it is a polynomial, or (scaled by a
// tendon's range) analytic with its pole outside: the way is cut where one piece ends. First at
// edges of what is linear: of clamps of single forces below a joint's range, of a tendon's range.
// Then, within each part, at those of the clamps that come after: zeros of polynomials. Corners
// have continuous second derivatives, so that an edge missed by 1e-9 of a part changes nothing.

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

// A coordinate while psi goes from 0 to `end`. range: of its total, or NULL; of tendons the sum of
// forces before their clamps is a + b psi.
typedef struct Way {
  const djActuators* t;
  const djModel* m;
  int c;
  double end;
  const double* range;
  double a, b;
} Way;

// Mean of the sum of the forces, where nothing clamps that.
static double meanOfAll(const Way* w, double from, double to) {
  double sum = 0;
  for (int k = w->t->first[w->c]; k < w->t->first[w->c + 1]; k++) {
    int i = w->t->order[k];
    const djActuatorStep* a = &w->t->act[i];
    double q0 = a->alpha + a->beta * from, q1 = a->alpha + a->beta * to;
    sum += a->gear[0] * meanBetween(w->m, i, q0, q1);
  }
  return sum;
}

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
// or a ramp; beyond, x grows or falls by 3 at most, so that the pole of 1/x is far enough from each
// part. Of one actuator x r is its force, and there is no pole.
static double nextScaleEdge(const Way* w, double from) {
  double a = w->a, b = w->b, to = w->end, x = a + b * from;
  double width = 0.01 * (w->range[1] - w->range[0]);
  bool several = w->t->first[w->c + 1] - w->t->first[w->c] > 1;
  meet(&to, from, a, b, 0);
  for (int side = 0; side < 2; side++) {
    double sign = side ? 1 : -1, bound = fabs(w->range[side]), corner = fmin(width, 0.5 * bound);
    double edge[3] = {bound - corner, bound + corner, width};
    for (int e = 0; e < 3 && bound > 0; e++) meet(&to, from, a, b, sign * edge[e]);
    if (!several || sign * x < bound) continue;
    meet(&to, from, a, b, 3 * x);
    meet(&to, from, a, b, x / 3);
  }
  return to;
}

// ---- edges of what comes after ----------------------------------------------------------------

enum { MOST_EDGES = 4 * DJ_MAX_DEGREE };

// Adds where value - level * scale changes its sign, polynomials in u of [0, 1] that are given at
// u = k/degree; in order. scale NULL: 1.
static void addEdges(double* list, int* n, const double* value, const double* scale, int degree,
                     const double* level, int nlevel) {
  double y[DJ_MAX_DEGREE + 1], p[DJ_MAX_DEGREE + 1], u[DJ_MAX_DEGREE];
  for (int e = 0; e < nlevel; e++) {
    for (int k = 0; k <= degree; k++) y[k] = value[k] - level[e] * (scale ? scale[k] : 1);
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
  double slope, r = dj_totalScale(&slope, w->range, w->a + w->b * psi, false);
  return a->gear[0] * dj_clampForce(a, w->m, i, r * (a->alpha + a->beta * psi)).f;
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
    djJet p = dj_clampForce(a, w->m, i, a->alpha + a->beta * psi);
    sum += a->gear[0] * p.f;
    if (linear && p.dd != 0 && a->beta != 0) *linear = false;
  }
  return sum;
}

// True where the sum stays within the joint's range, or beyond it, all the way. Each force rises or
// falls all the way, so that its ends bound it.
static bool isPlain(double* work, const Way* w, double from, double to, const double level[4]) {
  double low = 0, high = 0;
  for (int k = w->t->first[w->c]; k < w->t->first[w->c + 1]; k++) {
    int i = w->t->order[k];
    const djActuatorStep* a = &w->t->act[i];
    double p0 = a->gear[0] * dj_clampForce(a, w->m, i, a->alpha + a->beta * from).f;
    double p1 = a->gear[0] * dj_clampForce(a, w->m, i, a->alpha + a->beta * to).f;
    low += fmin(p0, p1);
    high += fmax(p0, p1);
  }
  bool above = low >= level[3], within = low >= level[1] && high <= level[2];
  if (!above && !within && high > level[0]) return false;
  *work = (to - from) * (within ? meanOfAll(w, from, to) : w->range[above]);
  return true;
}

static double workOfJoint(const Way* w) {
  double work, sum = 0, level[4], from = 0;
  int nlevel = dju_clampEdges(level, w->range[0], w->range[1]);
  if (nlevel == 0) return w->range[0] * w->end;
  if (isPlain(&work, w, 0, w->end, level)) return work;
  while (from != w->end) {
    double to = nextForceEdge(w, from), size = to - from, value[5], edge[MOST_EDGES];
    bool linear = true;
    int n = 0;
    sumAt(w, from + 0.5 * size, &linear);
    if (isPlain(&work, w, from, to, level)) {
      sum += work;
    } else if (linear) {
      sum += size * dju_smoothClampMean(sumAt(w, from, NULL), sumAt(w, to, NULL), w->range[0],
                                         w->range[1]);
    } else {
      for (int k = 0; k <= 4; k++) value[k] = sumAt(w, from + 0.25 * k * size, NULL);
      addEdges(edge, &n, value, NULL, 4, level, nlevel);
      sum += integrate(w, -1, from, to, edge, n);
    }
    from = to;
  }
  return sum;
}

// ---- tendons ----------------------------------------------------------------------------------

// Of actuator i in a part where its scale r is one piece; cut where the clamp of r q_i passes an
// edge. As polynomials: x r q_i - level x, of degree 1 beyond a bound and 5 in its corner; on a ramp
// r q_i - level, of degree 6.
static double workWithin(const Way* w, int i, double from, double to) {
  const djActuatorStep* act = &w->t->act[i];
  double value[DJ_MAX_DEGREE + 1], scale[DJ_MAX_DEGREE + 1], edge[MOST_EDGES], level[4], slope;
  double middle = w->a + w->b * (from + 0.5 * (to - from));
  double r = dj_totalScale(&slope, w->range, middle, false);
  if (r == 1 || r == 0) {
    double q0 = r * (act->alpha + act->beta * from), q1 = r * (act->alpha + act->beta * to);
    return (to - from) * act->gear[0] * meanBetween(w->m, i, q0, q1);
  }
  double bound = fabs(w->range[middle > 0]), width = 0.01 * (w->range[1] - w->range[0]);
  double corner = fmin(width, 0.5 * bound);
  bool near = fabs(middle) > bound - corner;
  int degree = fabs(middle) > bound + corner ? 1 : DJ_MAX_DEGREE, n = 0, nlevel = 0;
  const double* range = w->m->actuator_forcerange + 2 * i;
  if (w->m->actuator_forcelimited[i]) nlevel = dju_clampEdges(level, range[0], range[1]);
  for (int k = 0; k <= degree && nlevel > 0; k++) {
    double psi = from + (to - from) * k / degree, x = w->a + w->b * psi;
    scale[k] = near ? x : 1;
    value[k] = dj_totalScale(&slope, w->range, x, false) * (act->alpha + act->beta * psi) * scale[k];
  }
  addEdges(edge, &n, value, scale, degree, level, nlevel);
  return integrate(w, i, from, to, edge, n);
}

static double workOfTendon(const Way* w) {
  double work = 0, from = 0;
  while (from != w->end) {
    double to = nextScaleEdge(w, from);
    for (int k = w->t->first[w->c]; k < w->t->first[w->c + 1]; k++) {
      work += workWithin(w, w->t->order[k], from, to);
    }
    from = to;
  }
  return work;
}

double dj_workAlong(const djActuators* t, const djModel* m, int c, double psi) {
  Way w = {t, m, c, psi, dj_totalRange(m, c), 0, 0};
  if (!w.range || !isfinite(psi)) return psi * meanOfAll(&w, 0, psi);
  if (m->coord_type[c] != DJ_COORD_TENDON) return workOfJoint(&w);
  for (int k = t->first[c]; k < t->first[c + 1]; k++) {
    w.a += t->act[t->order[k]].alpha;
    w.b += t->act[t->order[k]].beta;
  }
  return workOfTendon(&w);
}
