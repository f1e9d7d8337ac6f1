#include "contact/half_space.h"

#include "contact/barrier.h"
#include "math/vec.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Values at one (t, o): h = U_tt, U_to, U_oo.
typedef struct djHalfEval {
  double value, g[2], h[3];
  double least;            // smallest t z + o
} djHalfEval;

static void evalHalf(djHalfEval* e, const double* z, int n, const double x[2], double s) {
  djLanes sum[8] = {0}, least = dju_splat(INFINITY);
  for (int i = 0; i < n; i += DJU_LANES) {
    djLanes h = dju_loadLanes(z + i), d = x[0] * h + x[1];
    least = dju_minLanes(d, least);
    if (n > 2 * DJU_LANES && !(dju_least(d) < s)) continue;
    djLanes b[3];
    dj_barrierLanes(b, d, s, (d < s) & dju_firstLanes(n - i));
    sum[0] += b[0];
    sum[1] += b[1] * h;
    sum[2] += b[1];
    sum[3] += b[2] * h * h;
    sum[4] += b[2] * h;
    sum[5] += b[2];
  }
  e->least = dju_least(least);
  double bt[3], bo[3], total[8];
  dj_barrier(bt, 1 - x[0], s);
  dj_barrier(bo, -x[1], s);
  if (!(e->least > 0) || !(x[0] > 0) || isinf(bt[0]) || isinf(bo[0])) {
    e->value = INFINITY;
    return;
  }
  dju_sumEight(total, sum);
  e->value = total[0] + bt[0] + 4 * bo[0];
  e->g[0] = total[1] - bt[1];
  e->g[1] = total[2] - 4 * bo[1];
  e->h[0] = total[3] + bt[2];
  e->h[1] = total[4];
  e->h[2] = total[5] + 4 * bo[2];
}

// Inverse of the 2x2 Hessian; a vanishing pivot holds its unknown.
static void invert(double inv[3], const double h[3]) {
  double det = h[0] * h[2] - h[1] * h[1];
  if (det > 1e-15 * h[0] * h[2]) {
    inv[0] = h[2] / det;
    inv[1] = -h[1] / det;
    inv[2] = h[0] / det;
  } else {
    inv[0] = h[0] >= h[2] && h[0] > 0 ? 1 / h[0] : 0;
    inv[1] = 0;
    inv[2] = h[0] < h[2] ? 1 / h[2] : 0;
  }
}

// Damped step; arguments are linear in it: positive below d0/(d0 - d1). slope 0: the last step,
// which only has to be feasible.
static bool descend(double x[2], djHalfEval* e, const double* z, int n, double s,
                    const double dx[2], double slope) {
  double step = 1, bound = slope > 0 ? e->value * (1 + 1e-14) : DBL_MAX;
  for (int k = 0; k < 40; k++) {
    double q[2] = {x[0] + step * dx[0], x[1] + step * dx[1]};
    djHalfEval trial;
    evalHalf(&trial, z, n, q, s);
    if (trial.value <= bound - 1e-4 * step * slope) {
      x[0] = q[0];
      x[1] = q[1];
      *e = trial;
      return true;
    }
    if (isinf(trial.value)) {
      double inside = 1;
      if (!(trial.least > 0)) inside = fmin(inside, e->least / (e->least - trial.least));
      if (!(q[0] < 1)) inside = fmin(inside, (1 - x[0]) / (q[0] - x[0]));
      if (!(q[0] > 0)) inside = fmin(inside, x[0] / (x[0] - q[0]));
      if (!(q[1] < 0)) inside = fmin(inside, x[1] / (x[1] - q[1]));
      step *= 0.9 * inside;
    } else {
      step *= 0.5;
    }
  }
  return false;
}

static djPlaneStatus minimise(djHalfSolution* sol, djHalfEval* e, const double* z, int n,
                              double s, int max_iterations) {
  double x[2] = {sol->t, sol->o};
  djPlaneStatus status = DJ_PLANE_DONE;
  for (;;) {
    invert(sol->inv, e->h);
    double dx[2] = {-sol->inv[0] * e->g[0] - sol->inv[1] * e->g[1],
                    -sol->inv[1] * e->g[0] - sol->inv[2] * e->g[1]};
    double decrement2 = -e->g[0] * dx[0] - e->g[1] * dx[1];
    bool last = decrement2 <= 1e-13 * e->value;   // as in dj_solvePlane
    if (last && decrement2 <= 1e-29 * e->value) break;
    if (!last && sol->iterations >= max_iterations) status = DJ_PLANE_LOST;
    if (status == DJ_PLANE_DONE && !descend(x, e, z, n, s, dx, last ? 0 : decrement2) && !last) {
      status = DJ_PLANE_LOST;
    }
    if (status != DJ_PLANE_DONE) break;
    sol->iterations++;
    if (e->value == 0) status = DJ_PLANE_ZERO;
    if (last || status != DJ_PLANE_DONE) break;
  }
  invert(sol->inv, e->h);
  sol->t = x[0];
  sol->o = x[1];
  return status;
}

static void moments(djMoments* m, const djHalfSpace* space, const double* z, double t, double o,
                    double s) {
  const djCloud* c = space->cloud;
  djLanes acc[16] = {0};
  for (int i = 0; i < c->n; i += DJU_LANES) {
    djLanes d = t * dju_loadLanes(z + i) + o;
    if (c->n > 2 * DJU_LANES && !(dju_least(d) < s)) continue;
    djLanes b[3];
    dj_barrierLanes(b, d, s, (d < s) & dju_firstLanes(c->n - i));
    djLanes y[4] = {dju_loadLanes(c->y[0] + i), dju_loadLanes(c->y[1] + i),
                    dju_loadLanes(c->y[2] + i), dju_splat(1)};
    acc[0] += b[0];
    for (int j = 0, at = 5; j < 4; j++) {
      acc[1 + j] += b[1] * y[j];
      for (int k = j; k < 4; k++) acc[at++] += b[2] * y[j] * y[k];
    }
  }
  double sum[16];
  dju_sumEight(sum, acc);
  dju_sumEight(sum + 8, acc + 8);
  m->value = sum[0];
  memcpy(m->f, sum + 1, sizeof m->f);
  memcpy(m->m, sum + 5, sizeof m->m);
  m->rp = 0;
}

djPlaneStatus dj_solveHalfSpace(djHalfSolution* sol, const djHalfSpace* space, double s,
                                double* z, int max_iterations) {
  const djCloud* c = space->cloud;
  const double* N = space->normal;
  djLanes least = dju_splat(INFINITY);
  for (int i = 0; i < c->n; i += DJU_LANES) {
    djLanes h = N[0] * dju_loadLanes(c->y[0] + i) + N[1] * dju_loadLanes(c->y[1] + i) +
                N[2] * dju_loadLanes(c->y[2] + i) + space->k;
    least = dju_minLanes(h, least);
    dju_storeLanes(z + i, h);
  }
  sol->least = dju_least(least);
  sol->value = 0;
  sol->iterations = 0;
  if (sol->least * (1 - s) >= 2 * s) return DJ_PLANE_ZERO;
  if (!(sol->least > 0)) return DJ_PLANE_LOST;

  // Warm start, unless the start with equal arguments of the lowest vertex is better.
  djHalfEval e = {.value = INFINITY}, centred;
  if (sol->t > 0 && sol->t < 1) evalHalf(&e, z, c->n, (double[2]){sol->t, sol->o}, s);
  double t = 1 / (1 + 0.5 * sol->least), o = -0.5 * t * sol->least;
  evalHalf(&centred, z, c->n, (double[2]){t, o}, s);
  if (!(e.value <= centred.value)) {
    e = centred;
    sol->t = t;
    sol->o = o;
  }
  if (isinf(e.value)) return DJ_PLANE_LOST;
  if (e.value == 0) return DJ_PLANE_ZERO;
  djPlaneStatus status = minimise(sol, &e, z, c->n, s, max_iterations);
  if (status == DJ_PLANE_ZERO) return status;
  sol->value = e.value;
  moments(&sol->m, space, z, sol->t, sol->o, s);
  return status;
}

// Heights under twists: a vertex moves as y -> ra + exp(wa)(y - ra) + va, and b's surface by
// N -> exp(wb) N about rb + vb, so z = (exp(wb) N).(y' - rb - vb) + const. With rho = y - r:
//
//   dz/dxi   = J = (rho_a x N, N, N x rho_b, -N) = K (y, 1)
//   wa wa:  (N rho_a^T + rho_a N^T)/2 - (N.rho_a) I       wb wb: likewise with rho_b
//   wa wb:  (wb x N).(wa x rho_a) = wa.(rho_a x (wb x N)) = wa.(wb (rho_a.N) - N (rho_a.wb))
//   va wb:  va.(wb x N)                                   vb wb: -vb.(wb x N)
//
// With f = sum P' (y,1), M = sum P''(y,1)(y,1)^T and kappa = (N, k), z = kappa.(y,1):
//
//   U_xi = t K f,  U_xixi = t^2 K M K^T + t (second order with sum P' rho for rho)
//   U_t,xi = t K M kappa + K f,  U_o,xi = t K M e4
typedef struct djSpaceFrame {
  djVec3 N, ref_n[2];      // N and ref x N
} djSpaceFrame;

static void mulK(double out[12], const djSpaceFrame* s, const double m[4]) {
  djVec3 mn = dju_cross3(dju_load3(m), s->N), n = dju_scale3(m[3], s->N);
  dju_store3(out, dju_madd3(mn, -m[3], s->ref_n[0]));
  dju_store3(out + 3, n);
  dju_store3(out + 6, dju_madd3(dju_neg3(mn), m[3], s->ref_n[1]));
  dju_store3(out + 9, dju_neg3(n));
}

// Add t d2z/dxi dxi; Ra, Rb: sum P' rho, f0 = sum P'.
static void addSecondOrder(double H[144], djVec3 N, djVec3 Ra, djVec3 Rb, double f0, double t) {
  double n[3] = {N.x, N.y, N.z}, a[3] = {Ra.x, Ra.y, Ra.z}, b[3] = {Rb.x, Rb.y, Rb.z};
  double na = dju_dot3(N, Ra), nb = dju_dot3(N, Rb);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double delta = i == j;
      H[12 * i + j] += t * (0.5 * (n[i] * a[j] + a[i] * n[j]) - delta * na);
      H[12 * (6 + i) + 6 + j] += t * (0.5 * (n[i] * b[j] + b[i] * n[j]) - delta * nb);
      double ab = t * (delta * na - n[i] * a[j]);
      H[12 * i + 6 + j] += ab;
      H[12 * (6 + j) + i] += ab;
    }
  }
  // v.(w x N): row v, column w is -[N]x
  double S[9] = {0, n[2], -n[1], -n[2], 0, n[0], n[1], -n[0], 0};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double v = t * f0 * S[3 * i + j];
      H[12 * (3 + i) + 6 + j] += v;
      H[12 * (6 + j) + 3 + i] += v;
      H[12 * (9 + i) + 6 + j] -= v;
      H[12 * (6 + j) + 9 + i] -= v;
    }
  }
}

void dj_halfSpaceTwist(double gradient[12], double mixed[24], double hessian[144],
                       const djHalfSolution* sol, const djHalfSpace* space,
                       const double ref[2][3]) {
  djVec3 N = dju_load3(space->normal), ra = dju_load3(ref[0]), rb = dju_load3(ref[1]);
  djSpaceFrame s = {N, {dju_cross3(ra, N), dju_cross3(rb, N)}};
  const djMoments* m = &sol->m;
  double t = sol->t, Kf[12], W[24];
  mulK(Kf, &s, m->f);
  if (gradient) {
    for (int i = 0; i < 12; i++) gradient[i] = t * Kf[i];
  }
  if (!mixed && !hessian) return;
  double kappa[4] = {N.x, N.y, N.z, space->k}, e4[4] = {0, 0, 0, 1}, line[4];
  dju_mulSym4(line, m->m, kappa);
  mulK(W, &s, line);
  dju_mulSym4(line, m->m, e4);
  mulK(W + 12, &s, line);
  for (int i = 0; i < 12; i++) {
    W[i] = t * W[i] + Kf[i];
    W[12 + i] *= t;
  }
  if (mixed) memcpy(mixed, W, sizeof W);
  if (!hessian) return;

  static const int row[4][4] = {{0, 1, 2, 3}, {1, 4, 5, 6}, {2, 5, 7, 8}, {3, 6, 8, 9}};
  double KM[4][12];        // column j of K M
  for (int j = 0; j < 4; j++) {
    double column[4];
    for (int i = 0; i < 4; i++) column[i] = m->m[row[j][i]];
    mulK(KM[j], &s, column);
  }
  for (int i = 0; i < 12; i++) {
    double column[4] = {KM[0][i], KM[1][i], KM[2][i], KM[3][i]}, out[12];
    mulK(out, &s, column);
    for (int j = 0; j <= i; j++) {
      double implicit = W[i] * (sol->inv[0] * W[j] + sol->inv[1] * W[12 + j]) +
                        W[12 + i] * (sol->inv[1] * W[j] + sol->inv[2] * W[12 + j]);
      hessian[12 * i + j] = hessian[12 * j + i] = t * t * out[j] - implicit;
    }
  }
  djVec3 f = dju_load3(m->f);
  addSecondOrder(hessian, N, dju_madd3(f, -m->f[3], ra), dju_madd3(f, -m->f[3], rb), m->f[3], t);
}
