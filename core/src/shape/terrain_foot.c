// The foot of a point on a terrain, by Newton's method in (x, y).
//
// With w = |(-h_x, -h_y, 1)|, n = (-h_x, -h_y, 1)/w, r = y - c(n) - S and C = c'(n)
//
//   F_k = S_k . r,   F_kl = h_kl r_z - S_k . S_l - S_k . C n_l,   n_l = (1 - n n^T)(-h_xl, -h_yl, 0)/w,
//
// -F_kl is positive definite at a foot that is nearest; elsewhere S_k . S_l + S_k . C S_l/|S|
// stands for it. Steps are no longer than a part of a cell.

#include "shape/curve.h"
#include "shape/terrain.h"

#include <math.h>

enum { MOST = 40 };
#define CLOSE 1e-8   // after a step of so many cells nothing is left but rounding

typedef struct djFootEval {
  djTerrainPoint at;
  djVec3 S[2], n, x, r;
  double w, F[2];
} djFootEval;

static void evaluate(djFootEval* e, const djTerrain* t, const double u[2], djVec3 y,
                     const djMat3* G) {
  dj_evalTerrain(&e->at, t, u[0], u[1]);
  e->S[0] = dju_vec3(1, 0, e->at.g[0]);
  e->S[1] = dju_vec3(0, 1, e->at.g[1]);
  const djVec3 up = {-e->at.g[0], -e->at.g[1], 1};
  e->w = dju_norm3(up);
  e->n = dju_scale3(1 / e->w, up);
  djVec3 c = {0, 0, 0};
  if (G) dj_curveReach(&c, NULL, G, e->n);
  e->x = dju_sub3(y, c);
  e->r = dju_sub3(e->x, dju_vec3(u[0], u[1], e->at.h));
  for (int k = 0; k < 2; k++) e->F[k] = dju_dot3(e->S[k], e->r);
}

// n_l
static djVec3 normalRate(const djFootEval* e, int l) {
  const double* H = e->at.H;
  djVec3 v = {-H[l] / e->w, -H[l + 1] / e->w, 0};
  return dju_madd3(v, -dju_dot3(e->n, v), e->n);
}

// The step: -F_kl^-1 F, or with what stands for it.
static void newtonStep(double step[2], const djFootEval* e, const djMat3* G) {
  double J[2][2], P[2][2];
  for (int l = 0; l < 2; l++) {
    const djVec3 rate = normalRate(e, l);
    djVec3 bend = {0, 0, 0}, stiff = {0, 0, 0};
    if (G) {
      bend = dj_curveBend(G, e->n, rate);
      stiff = dj_curveBend(G, e->n, e->S[l]);
    }
    for (int k = 0; k < 2; k++) {
      const double metric = dju_dot3(e->S[k], e->S[l]);
      J[k][l] = metric + dju_dot3(e->S[k], bend) - e->at.H[k + l] * e->r.z;
      P[k][l] = metric + dju_dot3(e->S[k], stiff);
    }
  }
  double det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
  const bool good = det > 1e-6 * P[0][0] * P[1][1] && J[0][0] + J[1][1] > 0;
  double(*M)[2] = good ? J : P;
  if (!good) det = P[0][0] * P[1][1] - P[0][1] * P[1][0];
  step[0] = (M[1][1] * e->F[0] - M[0][1] * e->F[1]) / det;
  step[1] = (M[0][0] * e->F[1] - M[1][0] * e->F[0]) / det;
}

static void fill(djFoot* f, const djFootEval* e, const double u[2], const djMat3* G) {
  f->u[0] = u[0];
  f->u[1] = u[1];
  f->n = e->n;
  f->x = e->x;
  f->s = dju_vec3(u[0], u[1], e->at.h);
  f->d = dju_dot3(e->n, e->r);
  const double a = dju_norm3(e->S[0]), along = dju_dot3(e->S[1], e->S[0]) / a;
  f->T[0] = dju_scale3(1 / a, e->S[0]);
  const djVec3 across = dju_madd3(e->S[1], -along, f->T[0]);
  const double b = dju_norm3(across);
  f->T[1] = dju_scale3(1 / b, across);
  const double A[4] = {1 / a, 0, -along / (a * b), 1 / b};
  const double* H = e->at.H;
  for (int k = 0; k < 4; k++) f->A[k] = A[k];
  for (int k = 0; k < 3; k++) {   // (0, 0), (0, 1), (1, 1)
    const double *p = A + (k > 1 ? 2 : 0), *q = A + (k > 0 ? 2 : 0);
    f->B[k] = e->n.z * (p[0] * (H[0] * q[0] + H[1] * q[1]) + p[1] * (H[1] * q[0] + H[2] * q[1]));
    f->C[k] = G ? dju_dot3(f->T[k > 1], dj_curveBend(G, e->n, f->T[k > 0])) : 0;
  }
}

bool dj_findFoot(djFoot* foot, const djTerrain* t, djVec3 y, const djMat3* G) {
  const double cell = fmin(t->dx, t->dy);
  djFootEval e;
  double u[2] = {y.x, y.y};
  evaluate(&e, t, u, y, G);
  if (G) {
    u[0] = e.x.x;
    u[1] = e.x.y;
    evaluate(&e, t, u, y, G);
  }
  for (int k = 0; k < MOST; k++) {
    double step[2];
    newtonStep(step, &e, G);
    const double size = sqrt(step[0] * step[0] + step[1] * step[1]);
    const double most = k < 12 ? cell : cell / (k - 10), scale = size > most ? most / size : 1;
    u[0] += scale * step[0];
    u[1] += scale * step[1];
    evaluate(&e, t, u, y, G);
    if (!(size < CLOSE * cell)) continue;
    fill(foot, &e, u, G);
    return true;
  }
  fill(foot, &e, u, G);
  return false;
}

void dj_footAt(djFoot* foot, const djTerrain* t, const double u[2], djVec3 y, const djMat3* G) {
  djFootEval e;
  evaluate(&e, t, u, y, G);
  fill(foot, &e, u, G);
}
