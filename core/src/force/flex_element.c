// The law of triangles and tetrahedra, see model/flex_law.h: the energy D^T S D/4, D the squared
// lengths of edges less those at rest, whose gradient is w_e d_e along the edges d_e, w = S D.
// Damping is Rayleigh's: to D it adds c times the rate of squared lengths,
//   in a step      (l^2 - l_rate^2)/h, of an energy,
//   prompt         2 d . v - lag (d . v)^2/l^2,
// which is what MuJoCo has as (l^2 - (l - lag l')^2)/lag, lag its timestep.

#include "force/flex.h"

static int count(const djModel* m) { return m->nflexelem; }

static bool term(djFlexTerm* t, const djModel* m, int i) {
  int f = m->flexelem_flex[i], dim = m->flex_dim[f];
  if (dim == 1 || (dim == 2 && !(m->flex_elastic2d[f] & DJ_ELASTIC_STRETCH))) return false;
  t->n = dim + 1;
  for (int k = 0; k < t->n; k++) t->vert[k] = m->flexelem_vert[4 * (size_t)i + (size_t)k];
  for (int e = 0; e < dj_flexEdgeCount[dim]; e++) {
    int a = dj_flexEdges[dim][e][0], b = dj_flexEdges[dim][e][1];
    t->pair[a < b ? dj_flexPair(a, b) : dj_flexPair(b, a)] =
        m->flexelem_edge[DJ_FLEX_EDGE * (size_t)i + (size_t)e];
  }
  return true;
}

static djVec3 along(const djVec3* x, const int edge[2]) { return dju_sub3(x[edge[1]], x[edge[0]]); }

// What damping adds to D by a coefficient of 1, g and r with it.
static double dampedAt(djVec3* g, djVec3* r, djVec3 d, djVec3 y, const djFlexMotion* at) {
  double square = dju_dot3(d, d), a = dju_dot3(d, y), b = 2 / at->h;
  if (!at->prompt) {
    *g = dju_scale3(b, d);
    *r = dju_scale3(-b, y);
    return (square - dju_dot3(y, y)) / at->h;
  }
  double s = at->lag / square;
  *g = dju_madd3(dju_scale3(2 - 2 * s * a, y), 2 * s * a * a / square, d);
  *r = dju_scale3(2 - 2 * s * a, d);
  return 2 * a - s * a * a;
}

// D^T S D/4.
static double energyOf(const double* S, const double* D, int n) {
  double y[DJ_FLEX_EDGE], sum = 0;
  dj_mulFlexStiffness(y, S, D, n);
  for (int e = 0; e < n; e++) sum += 0.25 * D[e] * y[e];
  return sum;
}

static void unpack(double out[DJ_FLEX_EDGE][DJ_FLEX_EDGE], const double* S, int n) {
  for (int e = 0; e < n; e++) {
    for (int f = e; f < n; f++) out[e][f] = out[f][e] = *S++;
  }
}

static void evaluate(djFlexTerm* t, const djFlexMotion* at, int i, int what) {
  const djModel* m = at->model;
  int f = m->flexelem_flex[i], dim = m->flex_dim[f];
  const double* S = m->flexelem_stiffness + DJ_FLEX_STIFFNESS * (size_t)i;
  const int* edge = m->flexelem_edge + DJ_FLEX_EDGE * (size_t)i;
  double c = what & DJ_FLEX_DAMPER ? m->flex_damping[f] : 0, rate[DJ_FLEX_EDGE];
  djFlexEdges e;
  e.n = dj_flexEdgeCount[dim];
  e.edge = dj_flexEdges[dim];
  unpack(e.S, S, e.n);
  for (int k = 0; k < e.n; k++) {
    djVec3 d = e.d[k] = along(t->x, e.edge[k]);
    double l0 = m->flexedge_length0[edge[k]];
    e.D[k] = what & DJ_FLEX_SPRING ? dju_dot3(d, d) - l0 * l0 : 0;
    e.g[k] = dju_scale3(what & DJ_FLEX_SPRING ? 2 : 0, d);
    e.r[k] = (djVec3){0, 0, 0};
  }
  t->value = what & DJ_FLEX_SPRING ? energyOf(S, e.D, e.n) : 0;
  for (int k = 0; k < e.n && c != 0; k++) {
    djVec3 g, r;
    rate[k] = dampedAt(&g, &r, e.d[k], along(t->y, e.edge[k]), at);
    e.D[k] += c * rate[k];
    e.g[k] = dju_madd3(e.g[k], c, g);
    e.r[k] = dju_scale3(c, r);
  }
  if (c != 0 && !at->prompt) t->value += c * at->h * energyOf(S, rate, e.n);
  dj_sumFlexEdges(t, &e, what);
}

static void params(double* param, const djFlexTerm* t, const djFlexMotion* at, int i, int what,
                   const djVec3 u[DJ_FLEX_VERT]) {
  const djModel* m = at->model;
  int f = m->flexelem_flex[i], dim = m->flex_dim[f], n = dj_flexEdgeCount[dim];
  const int* edge = m->flexelem_edge + DJ_FLEX_EDGE * (size_t)i;
  double D[DJ_FLEX_EDGE] = {0}, d[DJ_FLEX_EDGE], y[DJ_FLEX_EDGE], by_damping = 0;
  double c = m->flex_damping[f];
  for (int k = 0; k < n; k++) {
    const int* ends = dj_flexEdges[dim][k];
    djVec3 x = along(t->x, ends);
    d[k] = 2 * dju_dot3(x, along(u, ends));
    double l0 = m->flexedge_length0[edge[k]];
    if (what & DJ_FLEX_SPRING) D[k] = dju_dot3(x, x) - l0 * l0;
  }
  dj_mulFlexStiffness(y, m->flexelem_stiffness + DJ_FLEX_STIFFNESS * (size_t)i, d, n);
  for (int k = 0; k < n && what & DJ_FLEX_DAMPER; k++) {
    djVec3 g, r, x = along(t->x, dj_flexEdges[dim][k]);
    double rate = dampedAt(&g, &r, x, along(t->y, dj_flexEdges[dim][k]), at);
    by_damping += 0.5 * rate * y[k];
    D[k] += c * rate;
  }
  const double* place[DJ_FLEX_VERT];
  double by[2], by_rest[DJ_FLEX_VERT][3];
  djFlexRest rest;
  djFlexMaterial mat = dj_flexMaterial(m, f);
  dj_elementPlaces(place, m, i, m->flexvert_rest);
  dj_flexRest(&rest, dim, place);
  dj_flexStiffnessParams(by, by_rest, &rest, &mat, D, d, what & DJ_FLEX_SPRING);
  double* vert = dj_paramBlock(param, m, DJ_FIELD_FLEX_VERT);
  for (int k = 0; k < t->n; k++) {
    dju_addTo3(vert + 3 * (size_t)t->vert[k], 1, dju_load3(by_rest[k]));
  }
  dj_paramBlock(param, m, DJ_FIELD_FLEX_DAMPING)[f] += by_damping;
  for (int k = 0; k < 2; k++) {
    dj_paramBlock(param, m, DJ_FIELD_FLEX_YOUNG)[f] += by[k] * mat.by_young[k];
    dj_paramBlock(param, m, DJ_FIELD_FLEX_POISSON)[f] += by[k] * mat.by_poisson[k];
    dj_paramBlock(param, m, DJ_FIELD_FLEX_THICKNESS)[f] += by[k] * mat.by_thickness[k];
  }
}

const djFlexLaw dj_flexElementLaw = {count, term, evaluate, params};
