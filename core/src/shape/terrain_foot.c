// The foot of a point on a terrain, by Newton's method in (x, y).
//
// With w = |(-h_x, -h_y, 1)|, n = (-h_x, -h_y, 1)/w, r = y - c(n) - S and C = c'(n)
//
//   F_k = S_k . r,   F_kl = h_kl r_z - S_k . S_l - S_k . C n_l,   n_l = (1 - n n^T)(-h_xl, -h_yl, 0)/w,
//
// At a foot that is nearest -F_kl has positive eigenvalues, by the metric S_k . S_l; elsewhere their
// magnitudes take their place, which leads away from places that are farthest along some way. Steps
// are no longer than a part of a cell. What is left of F counts for the distance by its square.

#include "shape/curve.h"
#include "shape/terrain.h"

#include <math.h>

enum { MOST = 60, FREE = 25 };   // steps, and those that may be a cell
#define CLOSE 1e-8   // after a step of so many cells nothing is left but rounding
#define FLAT 1e-2    // least magnitude of an eigenvalue
#define SMALL 1e-7   // of F, where steps are as they are

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

// 1/|l|, no more than it may be.
static double weightOf(double l) { return 1 / fmax(fabs(l), FLAT); }

// The step |N|^-1 m^-1 F with m = S_k . S_l, N = -m^-1 F_kl and its eigenvalues l1, l2:
// a + b N, a + b l_i = 1/|l_i|.
static void newtonStep(double step[2], const djFootEval* e, const djMat3* G) {
  const double xx = dju_dot3(e->S[0], e->S[0]), xy = dju_dot3(e->S[0], e->S[1]);
  const double yy = dju_dot3(e->S[1], e->S[1]), det = xx * yy - xy * xy;
  double J[2][2], N[2][2];
  for (int l = 0; l < 2; l++) {
    djVec3 bend = {0, 0, 0};
    if (G) bend = dj_curveBend(G, e->n, normalRate(e, l));
    for (int k = 0; k < 2; k++) {
      const double metric = dju_dot3(e->S[k], e->S[l]);
      J[k][l] = metric + dju_dot3(e->S[k], bend) - e->at.H[k + l] * e->r.z;
    }
  }
  for (int l = 0; l < 2; l++) {
    N[0][l] = (yy * J[0][l] - xy * J[1][l]) / det;
    N[1][l] = (xx * J[1][l] - xy * J[0][l]) / det;
  }
  const double v[2] = {(yy * e->F[0] - xy * e->F[1]) / det, (xx * e->F[1] - xy * e->F[0]) / det};
  const double half = 0.5 * (N[0][0] + N[1][1]), product = N[0][0] * N[1][1] - N[0][1] * N[1][0];
  const double root = sqrt(fmax(half * half - product, 0)), high = half + root, low = half - root;
  double a = weightOf(high), b = 0;
  if (low > FLAT) {   // plain
    a = (high + low) / product;
    b = -1 / product;
  } else if (root > 1e-9 * fabs(half)) {
    b = (a - weightOf(low)) / (high - low);
    a -= b * high;
  }
  for (int k = 0; k < 2; k++) step[k] = a * v[k] + b * (N[k][0] * v[0] + N[k][1] * v[1]);
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

bool dj_findFoot(djFoot* foot, const djTerrain* t, djVec3 y, const djMat3* G, const double* from) {
  const double cell = fmin(t->dx, t->dy);
  djFootEval e;
  double u[2] = {from ? from[0] : y.x, from ? from[1] : y.y};
  evaluate(&e, t, u, y, G);
  if (G && !from) {
    u[0] = e.x.x;
    u[1] = e.x.y;
    evaluate(&e, t, u, y, G);
  }
  for (int k = 0; k < MOST; k++) {
    double step[2];
    newtonStep(step, &e, G);
    const double size = sqrt(step[0] * step[0] + step[1] * step[1]);
    const double most = k < FREE ? cell : cell / (k - FREE + 2), scale = size > most ? most / size : 1;
    u[0] += scale * step[0];
    u[1] += scale * step[1];
    evaluate(&e, t, u, y, G);
    if (!(size < CLOSE * cell)) continue;
    fill(foot, &e, u, G);
    return true;
  }
  fill(foot, &e, u, G);
  return fabs(e.F[0]) + fabs(e.F[1]) < SMALL * cell;
}

void dj_footAt(djFoot* foot, const djTerrain* t, const double u[2], djVec3 y, const djMat3* G) {
  djFootEval e;
  evaluate(&e, t, u, y, G);
  fill(foot, &e, u, G);
}
