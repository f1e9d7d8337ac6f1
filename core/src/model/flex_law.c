#include "model/flex_law.h"

#include "math/vec.h"

#include <string.h>

const int dj_flexEdgeCount[4] = {0, 1, 3, 6};
const int dj_flexEdges[4][DJ_FLEX_EDGE][2] = {
    {{0, 0}},
    {{0, 1}},
    {{1, 2}, {2, 0}, {0, 1}},
    {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {0, 3}, {1, 3}},
};

djFlexMaterial dj_flexMaterial(const djModel* m, int f) {
  double E = m->flex_young[f], nu = m->flex_poisson[f], t = m->flex_thickness[f];
  bool flat = m->flex_dim[f] == 2;
  int elastic = flat ? m->flex_elastic2d[f] : DJ_ELASTIC_STRETCH;
  double stretch = elastic & DJ_ELASTIC_STRETCH ? 1 : 0, bend = elastic & DJ_ELASTIC_BEND ? 1 : 0;
  if (m->flex_dim[f] == 1) stretch = 0;
  double part = flat ? t : 1, a = 1 + nu, b = flat ? 1 - nu : 1 - 2 * nu, c = 1 - nu * nu;
  double mu = stretch / (2 * a), lambda = stretch * nu / (a * b), D = bend / (12 * c);
  double slope = flat ? 1 + nu * nu : 1 + 2 * nu * nu; // of nu/(a b), times (a b)^2
  return (djFlexMaterial){
      .mu = E * part * mu,
      .lambda = E * part * lambda,
      .rigidity = E * t * t * t * D,
      .by_young = {part * mu, part * lambda, t * t * t * D},
      .by_poisson = {-E * part * mu / a, E * part * stretch * slope / (a * a * b * b),
                     E * t * t * t * D * 2 * nu / c},
      .by_thickness = {flat ? E * mu : 0, flat ? E * lambda : 0, 3 * E * t * t * D},
  };
}

// ---- elements ----------------------------------------------------------------------------------

// A = G^-1 of n x n, n <= 3; returns the determinant of G.
static double invert(double* A, const double* G, int n) {
  if (n == 1) {
    A[0] = 1 / G[0];
    return G[0];
  }
  if (n == 2) {
    double det = G[0] * G[3] - G[1] * G[2];
    A[0] = G[3] / det;
    A[3] = G[0] / det;
    A[1] = A[2] = -G[1] / det;
    return det;
  }
  djVec3 r[3] = {dju_load3(G), dju_load3(G + 3), dju_load3(G + 6)};
  double det = dju_dot3(r[0], dju_cross3(r[1], r[2]));
  for (int k = 0; k < 3; k++) {
    double column[3];
    dju_store3(column, dju_scale3(1 / det, dju_cross3(r[(k + 1) % 3], r[(k + 2) % 3])));
    for (int i = 0; i < 3; i++) A[3 * i + k] = column[i];
  }
  return det;
}

// Volumes below this part of the product of edges are rounding.
#define FLAT 1e-12

bool dj_flexRest(djFlexRest* r, int dim, const double* const vert[DJ_FLEX_VERT]) {
  static const double faculty[4] = {1, 1, 2, 6};
  double G[9], size = 1;
  *r = (djFlexRest){.dim = dim};
  for (int i = 0; i < dim; i++) {
    for (int k = 0; k < 3; k++) r->e[i][k] = vert[i + 1][k] - vert[0][k];
  }
  for (int i = 0; i < dim; i++) {
    djVec3 e = dju_load3(r->e[i]);
    for (int j = 0; j < dim; j++) G[dim * i + j] = dju_dot3(e, dju_load3(r->e[j]));
    size *= sqrt(G[dim * i + i]);
  }
  double det = invert(r->A, G, dim);
  r->volume = sqrt(fmax(det, 0)) / faculty[dim];
  return r->volume > FLAT * size;
}

// E = sum of D_e C_e: by edge (0, i) G_ii and half of G_ij, by (i, j) minus half of G_ij.
static void strainOf(double* E, const double* D, int dim) {
  memset(E, 0, (size_t)(dim * dim) * sizeof(double));
  for (int e = 0; e < dj_flexEdgeCount[dim]; e++) {
    int a = dj_flexEdges[dim][e][0], b = dj_flexEdges[dim][e][1];
    if (a > 0 && b > 0) {
      E[dim * (a - 1) + b - 1] -= 0.25 * D[e];
      E[dim * (b - 1) + a - 1] -= 0.25 * D[e];
      continue;
    }
    int i = a + b - 1;
    for (int j = 0; j < dim; j++) {
      E[dim * i + j] += 0.25 * D[e];
      E[dim * j + i] += 0.25 * D[e];
    }
  }
}

// C = A B of n x n.
static void mul(double* C, const double* A, const double* B, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += A[n * i + k] * B[n * k + j];
      C[n * i + j] = sum;
    }
  }
}

static double trace(const double* A, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += A[(n + 1) * i];
  return sum;
}

// Of A X, A Y: tr(A X A Y).
static double traceOf(const double* X, const double* Y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) sum += X[n * i + j] * Y[n * j + i];
  }
  return sum;
}

void dj_flexStiffness(double S[DJ_FLEX_STIFFNESS], const djFlexRest* r, const djFlexMaterial* mat) {
  int n = r->dim, count = dj_flexEdgeCount[n];
  double X[DJ_FLEX_EDGE][9], C[9];
  memset(S, 0, DJ_FLEX_STIFFNESS * sizeof *S);
  for (int e = 0; e < count; e++) {
    double D[DJ_FLEX_EDGE] = {0};
    D[e] = 1;
    strainOf(C, D, n);
    mul(X[e], r->A, C, n);
  }
  for (int e = 0, k = 0; e < count; e++) {
    for (int f = e; f < count; f++) {
      S[k++] =
          4 * r->volume *
          (mat->mu * traceOf(X[e], X[f], n) + 0.5 * mat->lambda * trace(X[e], n) * trace(X[f], n));
    }
  }
}

void dj_mulFlexStiffness(double* y, const double S[DJ_FLEX_STIFFNESS], const double* x, int n) {
  memset(y, 0, (size_t)n * sizeof *y);
  for (int e = 0, k = 0; e < n; e++) {
    y[e] += S[k++] * x[e];
    for (int f = e + 1; f < n; f++, k++) {
      y[e] += S[k] * x[f];
      y[f] += S[k] * x[e];
    }
  }
}

// With E and F of D and d, X = A E, Y = A F: phi = 2 V (mu tr(X Y) + lambda/2 tr X tr Y). By G0
//   V: V A/2,  tr(X Y): -(X Y A + Y X A),  tr X: -X A,
// and G0_ij = e_i . e_j. By the squared lengths of D minus S d/2.
void dj_flexStiffnessParams(double by_material[2], double by_rest[DJ_FLEX_VERT][3],
                            const djFlexRest* r, const djFlexMaterial* mat, const double* D,
                            const double* d, bool strained) {
  int n = r->dim, count = dj_flexEdgeCount[n];
  double E[9], X[9], Y[9], XA[9], YA[9], XY[9], YX[9], by[9], S[DJ_FLEX_STIFFNESS], y[DJ_FLEX_EDGE];
  strainOf(E, D, n);
  mul(X, r->A, E, n);
  strainOf(E, d, n);
  mul(Y, r->A, E, n);
  mul(XA, X, r->A, n);
  mul(YA, Y, r->A, n);
  mul(XY, X, YA, n);
  mul(YX, Y, XA, n);
  double V = r->volume, tx = trace(X, n), ty = trace(Y, n);
  by_material[0] = 2 * V * traceOf(X, Y, n);
  by_material[1] = V * tx * ty;
  double phi = mat->mu * by_material[0] + mat->lambda * by_material[1];
  for (int k = 0; k < n * n; k++) {
    by[k] = 0.5 * phi * r->A[k] - 2 * V * mat->mu * (XY[k] + YX[k]) -
            V * mat->lambda * (ty * XA[k] + tx * YA[k]);
  }
  memset(by_rest, 0, DJ_FLEX_VERT * sizeof *by_rest);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      double g = 0;
      for (int j = 0; j < n; j++) g += (by[n * i + j] + by[n * j + i]) * r->e[j][k];
      by_rest[i + 1][k] += g;
      by_rest[0][k] -= g;
    }
  }
  dj_flexStiffness(S, r, mat);
  dj_mulFlexStiffness(y, S, d, count);
  for (int e = 0; e < count && strained; e++) {
    int a = dj_flexEdges[n][e][0], b = dj_flexEdges[n][e][1];
    for (int k = 0; k < 3; k++) {
      double edge = (b > 0 ? r->e[b - 1][k] : 0) - (a > 0 ? r->e[a - 1][k] : 0);
      by_rest[b][k] -= y[e] * edge;
      by_rest[a][k] += y[e] * edge;
    }
  }
}

// ---- flaps -------------------------------------------------------------------------------------

void dj_flap(djFlap* flap, const double* const vert[4]) {
  djDual x[4][3], e[5][3], n[3], t[2][3];
  for (int i = 0; i < 12; i++) x[i / 3][i % 3] = dju_dual(vert[i / 3][i % 3], i);
  for (int i = 0; i < 3; i++) dju_dualSub3(e[i], x[i + 1], x[0]);
  for (int i = 3; i < 5; i++) dju_dualSub3(e[i], x[i - 1], x[1]);
  djDual area[2], cot[2][2], sum = {0}; // twice an area; cotangents at 0 and at 1
  for (int s = 0; s < 2; s++) {
    dju_dualCross3(n, e[0], e[1 + s]);
    area[s] = dju_dualSqrt(dju_dualDot3(n, n));
    cot[s][0] = dju_dualDiv(dju_dualDot3(e[0], e[1 + s]), area[s]);
    cot[s][1] = dju_dualScale(-1, dju_dualDiv(dju_dualDot3(e[0], e[3 + s]), area[s]));
    flap->c[2 + s] = dju_dualScale(-1, dju_dualAdd(cot[s][0], cot[s][1]));
    sum = dju_dualAdd(sum, dju_dualScale(0.5, area[s]));
    for (int k = 0; k < 3; k++) { // across the edge, as long as it
      t[s][k] =
          dju_dualAdd(dju_dualMul(cot[s][1], e[1 + s][k]), dju_dualMul(cot[s][0], e[3 + s][k]));
    }
  }
  flap->c[0] = dju_dualAdd(cot[0][1], cot[1][1]);
  flap->c[1] = dju_dualAdd(cot[0][0], cot[1][0]);
  djDual square = dju_dualDot3(e[0], e[0]);
  djDual cosine = dju_dualScale(-1, dju_dualDiv(dju_dualDot3(t[0], t[1]), square));
  flap->scale = dju_dualDiv(cosine, sum);
  dju_dualCross3(n, e[0], e[1]);
  djDual part = dju_dualDiv(square, dju_dualMul(area[0], area[1]));
  djDual det = dju_dualMul(dju_dualDot3(n, e[2]), dju_dualMul(part, part));
  flap->beta = dju_dualScale(-1, dju_dualDiv(det, sum));
}

void dj_flapBending(double out[DJ_FLEX_BENDING], const djFlap* flap, double rigidity) {
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      out[4 * i + j] = rigidity * flap->scale.f * flap->c[i].f * flap->c[j].f;
    }
  }
  out[16] = rigidity * flap->beta.f;
}
