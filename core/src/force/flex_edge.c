// The law of edges: k (l - l0) along an edge of length l, and c times the rate of l. In a step the
// rate is (l - l_rate)/h, of an energy c (l - l_rate)^2/(2 h); of prompt motions d . v/l, d and v
// the differences of places and velocities.

#include "force/flex.h"

#include <string.h>

static int count(const djModel* m) { return m->nflexedge; }

static bool term(djFlexTerm* t, const djModel* m, int i) {
  const int* v = m->flexedge_vert + 2 * (size_t)i;
  int f = m->flexedge_flex[i];
  if (m->flex_dim[f] != 1 && m->flex_edgedamping[f] == 0) return false;
  t->n = 2;
  t->vert[0] = v[0];
  t->vert[1] = v[1];
  t->pair[0] = i;
  return true;
}

// w = force/l: dw = (k l0 + ...)/l^3 d . dd.
static void evaluate(djFlexTerm* t, const djFlexMotion* at, int i, int what) {
  static const int ends[1][2] = {{0, 1}};
  const djModel* m = at->model;
  int f = m->flexedge_flex[i];
  double k = what & DJ_FLEX_SPRING ? m->flex_edgestiffness[f] : 0;
  double c = what & DJ_FLEX_DAMPER ? m->flex_edgedamping[f] : 0, l0 = m->flexedge_length0[i];
  djFlexEdges e = {.n = 1, .edge = ends, .d = {dju_sub3(t->x[1], t->x[0])}, .S = {{1}}};
  djVec3 d = e.d[0];
  double l = dju_norm3(d), l3 = l * l * l;
  e.D[0] = k * (l - l0) / l;
  e.g[0] = dju_scale3(k * l0 / l3, d);
  t->value = 0.5 * k * (l - l0) * (l - l0);
  if (c != 0 && at->prompt) {
    djVec3 v = dju_sub3(t->y[1], t->y[0]);
    double a = dju_dot3(d, v);
    e.D[0] += c * a / (l * l);
    e.g[0] = dju_madd3(dju_madd3(e.g[0], c / (l * l), v), -2 * c * a / (l * l3), d);
    e.r[0] = dju_scale3(c / (l * l), d);
  } else if (c != 0) {
    djVec3 d0 = dju_sub3(t->y[1], t->y[0]);
    double rate = dju_norm3(d0), b = c / at->h;
    e.D[0] += b * (l - rate) / l;
    e.g[0] = dju_madd3(e.g[0], b * rate / l3, d);
    e.r[0] = dju_scale3(-b / (l * rate), d0);
    t->value += 0.5 * b * (l - rate) * (l - rate);
  }
  dj_sumFlexEdges(t, &e, what);
}

static void params(double* param, const djFlexTerm* t, const djFlexMotion* at, int i, int what,
                   const djVec3 u[DJ_FLEX_VERT]) {
  const djModel* m = at->model;
  int f = m->flexedge_flex[i];
  if (!(what & DJ_FLEX_SPRING)) return;
  djVec3 d = dju_sub3(t->x[1], t->x[0]);
  djVec3 d0 = dju_sub3(dju_load3(m->flexvert_rest + 3 * (size_t)t->vert[1]),
                       dju_load3(m->flexvert_rest + 3 * (size_t)t->vert[0]));
  double l = dju_norm3(d), l0 = m->flexedge_length0[i], k = m->flex_edgestiffness[f];
  double along = dju_dot3(d, dju_sub3(u[1], u[0])) / l;
  double* stiffness = dj_paramBlock(param, m, DJ_FIELD_FLEX_EDGESTIFFNESS);
  if (m->flex_dim[f] == 1) stiffness[f] += (l - l0) * along;   // of others it stays 0
  double* vert = dj_paramBlock(param, m, DJ_FIELD_FLEX_VERT);
  dju_addTo3(vert + 3 * (size_t)t->vert[1], -k * along / l0, d0);
  dju_addTo3(vert + 3 * (size_t)t->vert[0], k * along / l0, d0);
}

const djFlexLaw dj_flexEdgeLaw = {count, term, evaluate, params};
