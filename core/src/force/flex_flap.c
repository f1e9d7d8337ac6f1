// The law of flaps, see model/flex_law.h: the energy x^T B x/2 + beta det(x). Damping is c B v,
// with v = (x - x_rate)/h, of an energy, or velocities.

#include "force/flex.h"

#include "math/block6.h"

static int count(const djModel* m) { return m->nflexedge; }

static bool term(djFlexTerm* t, const djModel* m, int i) {
  bool bends = m->flex_elastic2d[m->flexedge_flex[i]] & DJ_ELASTIC_BEND;
  if (!bends || !dj_flapVertices(t->vert, m, i)) return false;
  const int* rim = m->flexedge_rim + 4 * (size_t)i;
  t->n = 4;
  t->pair[dj_flexPair(0, 1)] = i;
  t->pair[dj_flexPair(0, 2)] = rim[0];
  t->pair[dj_flexPair(1, 2)] = rim[1];
  t->pair[dj_flexPair(0, 3)] = rim[2];
  t->pair[dj_flexPair(1, 3)] = rim[3];
  t->pair[dj_flexPair(2, 3)] = m->nflexedge + i;
  return true;
}

// Velocities, or displacements over h.
static djVec3 rateOf(const djFlexMotion* at, const djFlexTerm* t, int k) {
  return at->prompt ? t->y[k] : dju_scale3(1 / at->h, dju_sub3(t->x[k], t->y[k]));
}

// Gradient of det(x); edges from vertex 0.
static void volumeSlope(djVec3 g[4], djVec3 e[3], const djFlexTerm* t) {
  for (int k = 0; k < 3; k++) e[k] = dju_sub3(t->x[k + 1], t->x[0]);
  g[0] = (djVec3){0, 0, 0};
  for (int k = 0; k < 3; k++) {
    g[k + 1] = dju_cross3(e[(k + 1) % 3], e[(k + 2) % 3]);
    g[0] = dju_sub3(g[0], g[k + 1]);
  }
}

static void addScaled(double* K, double s, const djMat3* A) {
  for (int k = 0; k < 9; k++) K[k] += s * A->m[k];
}

// s times the second derivative by edges i and k, of the vertices i + 1 and k + 1 and, by both, 0.
static void addEdges(djFlexTerm* t, int i, int k, double s, const djMat3* A) {
  addScaled(t->K[i + 1][k + 1], s, A);
  addScaled(t->K[0][k + 1], -s, A);
  addScaled(t->K[i + 1][0], -s, A);
  addScaled(t->K[0][0], s, A);
}

// Of det: by edges i and i + 1 -[e], e the third; a majorizer has |e| by each of the two.
static void addVolume(djFlexTerm* t, double beta, const djVec3 e[3], bool majorizer) {
  const djMat3 unit = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
  for (int i = 0; i < 3; i++) {
    int k = (i + 1) % 3, l = (i + 2) % 3;
    djMat3 X = dju_skew(e[l]);
    double size = fabs(beta) * dju_norm3(e[l]);
    if (majorizer) {
      addEdges(t, i, i, size, &unit);
      addEdges(t, k, k, size, &unit);
      continue;
    }
    addEdges(t, i, k, -beta, &X);
    addEdges(t, k, i, beta, &X);
  }
}

static void evaluate(djFlexTerm* t, const djFlexMotion* at, int i, int what) {
  const djModel* m = at->model;
  const double* B = m->flexedge_bending + DJ_FLEX_BENDING * (size_t)i;
  double c = what & DJ_FLEX_DAMPER ? m->flex_damping[m->flexedge_flex[i]] : 0;
  double k = what & DJ_FLEX_SPRING ? 1 : 0, beta = k * B[16];
  djVec3 v[4], g[4], e[3];
  const djVec3* x = t->x;
  for (int a = 0; a < 4; a++) v[a] = c != 0 ? rateOf(at, t, a) : (djVec3){0, 0, 0};
  volumeSlope(g, e, t);
  t->value = beta * dju_dot3(e[0], g[1]);
  for (int a = 0; a < 4; a++) {
    djVec3 sum = dju_scale3(beta, g[a]);
    for (int b = 0; b < 4; b++) {
      double s = B[4 * a + b];
      sum = dju_madd3(dju_madd3(sum, k * s, x[b]), c * s, v[b]);
      t->value += 0.5 * k * s * dju_dot3(x[a], x[b]);
      if (!at->prompt) t->value += 0.5 * c * at->h * s * dju_dot3(v[a], v[b]);
    }
    dju_store3(t->f[a], sum);
  }
  if (!(what & DJ_FLEX_SLOPES)) return;
  bool majorizer = (what & DJ_FLEX_MAJORIZER) != 0, drop = majorizer && B[0] < 0;
  double by_x = k + (at->prompt ? 0 : c / at->h), by_y = at->prompt ? c : -c / at->h;
  for (int a = 0; a < 4; a++) {
    for (int b = 0; b < 4 && !drop; b++) {
      for (int r = 0; r < 9; r += 4) {
        t->K[a][b][r] += by_x * B[4 * a + b];
        if (what & DJ_FLEX_RATES) t->R[a][b][r] += by_y * B[4 * a + b];
      }
    }
  }
  if (beta != 0) addVolume(t, beta, e, majorizer);
}

// phi = D (scale (c . u) . (c . y) + beta u . grad det), y places and damping times rates.
static void params(double* param, const djFlexTerm* t, const djFlexMotion* at, int i, int what,
                   const djVec3 u[DJ_FLEX_VERT]) {
  const djModel* m = at->model;
  int f = m->flexedge_flex[i];
  const double* place[4];
  djFlap flap;
  djFlexMaterial mat = dj_flexMaterial(m, f);
  dj_flapPlaces(place, m, i, m->flexvert_rest);
  dj_flap(&flap, place);
  djVec3 y[4], g[4], e[3], U = {0, 0, 0}, X = U, V = U, Y;
  double w = 0, c = what & DJ_FLEX_DAMPER ? m->flex_damping[f] : 0;
  volumeSlope(g, e, t);
  for (int a = 0; a < 4; a++) {
    djVec3 v = rateOf(at, t, a), x = t->x[a];
    if (!(what & DJ_FLEX_SPRING))
      x = (djVec3){0, 0, 0};
    else
      w += dju_dot3(u[a], g[a]);
    y[a] = dju_madd3(x, c, v);
    U = dju_madd3(U, flap.c[a].f, u[a]);
    X = dju_madd3(X, flap.c[a].f, x);
    V = dju_madd3(V, flap.c[a].f, v);
  }
  Y = dju_madd3(X, c, V);
  double D = mat.rigidity, phi = flap.scale.f * dju_dot3(U, Y) + flap.beta.f * w;
  dj_paramBlock(param, m, DJ_FIELD_FLEX_YOUNG)[f] += phi * mat.by_young[2];
  dj_paramBlock(param, m, DJ_FIELD_FLEX_POISSON)[f] += phi * mat.by_poisson[2];
  dj_paramBlock(param, m, DJ_FIELD_FLEX_THICKNESS)[f] += phi * mat.by_thickness[2];
  if (what & DJ_FLEX_DAMPER) {
    dj_paramBlock(param, m, DJ_FIELD_FLEX_DAMPING)[f] += D * flap.scale.f * dju_dot3(U, V);
  }
  double* vert = dj_paramBlock(param, m, DJ_FIELD_FLEX_VERT);
  for (int k = 0; k < 12; k++) {
    double by = flap.scale.d[k] * dju_dot3(U, Y) + flap.beta.d[k] * w;
    for (int a = 0; a < 4; a++) {
      by += flap.scale.f * flap.c[a].d[k] * (dju_dot3(u[a], Y) + dju_dot3(U, y[a]));
    }
    vert[3 * (size_t)t->vert[k / 3] + (size_t)(k % 3)] += D * by;
  }
}

const djFlexLaw dj_flexFlapLaw = {count, term, evaluate, params};
