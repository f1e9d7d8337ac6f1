#include "contact/plane/half_space.h"

#include "math/barrier.h"
#include "contact/plane/twist_lanes.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Values at one (t, o): h = U_tt, U_to, U_oo.
typedef struct djHalfEval {
  double value, g[2], h[3];
  double least;            // smallest t z + o
} djHalfEval;

static void evalHalf(djHalfEval* e, const double* z, int n, const double x[2], djBarrier law) {
  djLanes none = dju_splat(0), least = dju_splat(INFINITY);
  djLanes v = none, fz = none, fo = none, zz = none, zo = none, oo = none;
  for (int i = 0; i < n; i += DJU_LANES) {
    djLanes h = dju_loadLanes(z + i), d = x[0] * h + x[1];
    djMask mask = (d < law.s) & dju_firstLanes(n - i);
    least = dju_minLanes(d, least);
    if (n > 2 * DJU_LANES && !dju_any(mask)) continue;
    djLanes b[3];
    dj_barrierLanes(b, d, law, mask);
    djLanes ph = b[2] * h;
    v += b[0];
    fz += b[1] * h;
    fo += b[1];
    zz += ph * h;
    zo += ph;
    oo += b[2];
  }
  e->least = dju_least(least);
  double bt[3], bo[3], total[8];
  dj_barrier(bt, 1 - x[0], law);
  dj_barrier(bo, -x[1], law);
  if (!(e->least > 0) || !(x[0] > 0) || isinf(bt[0]) || isinf(bo[0])) {
    e->value = INFINITY;
    return;
  }
  dju_storeLanes(total, dju_foldEight(v, fz, fo, zz, zo, oo, none, none));
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

// Damped step, as in plane_solve.c; arguments are linear in it: positive below d0/(d0 - d1).
static bool descend(double x[2], djHalfEval* e, const double* z, int n, djBarrier law,
                    const double dx[2], double slope) {
  double step = 1, bound = slope > 1e-9 * e->value ? e->value * (1 + 1e-14) : DBL_MAX;
  for (int k = 0; k < 40; k++) {
    double q[2] = {x[0] + step * dx[0], x[1] + step * dx[1]};
    djHalfEval trial;
    evalHalf(&trial, z, n, q, law);
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

DJU_INLINE double newtonStep(double dx[2], double inv[3], const djHalfEval* e) {
  invert(inv, e->h);
  dx[0] = -inv[0] * e->g[0] - inv[1] * e->g[1];
  dx[1] = -inv[1] * e->g[0] - inv[2] * e->g[1];
  return -e->g[0] * dx[0] - e->g[1] * dx[1];
}

// As dj_solvePlane.
static djPlaneStatus minimise(djHalfSolution* sol, djHalfEval* e, const double* z, int n,
                              djBarrier law, int max_iterations) {
  double x[2] = {sol->t, sol->o}, dx[2], decrement2, last = INFINITY;
  djPlaneStatus status = DJ_PLANE_DONE;
  for (;;) {
    decrement2 = newtonStep(dx, sol->inv, e);
    bool coarse = dj_isCoarse(e->value, law) || last < 1e-9 * e->value;
    if (decrement2 <= 1e-13 * e->value || (coarse && decrement2 > 0.5 * last)) break;
    if (sol->iterations == max_iterations) status = DJ_PLANE_LOST;
    if (status == DJ_PLANE_DONE && !descend(x, e, z, n, law, dx, decrement2)) {
      if (dj_isCoarse(e->value, law)) break;
      status = DJ_PLANE_LOST;
    }
    if (status != DJ_PLANE_DONE) break;
    sol->iterations++;
    last = decrement2;
    if (e->value == 0) {
      status = DJ_PLANE_ZERO;
      break;
    }
  }
  if (status == DJ_PLANE_DONE && decrement2 > 1e-26 * e->value) {   // the last step
    x[0] += dx[0];
    x[1] += dx[1];
    sol->iterations++;
    evalHalf(e, z, n, x, law);
  }
  invert(sol->inv, e->h);
  sol->t = x[0];
  sol->o = x[1];
  return status;
}

static void moments(djPlaneSums* m, const djHalfSpace* space, const double* z, double t, double o,
                    djBarrier law) {
  const djLanes none = dju_splat(0);
  djLanes v = none, fx = none, fy = none, fz = none, fo = none, xx = none, xy = none, xz = none;
  djLanes xo = none, yy = none, yz = none, yo = none, zz = none, zo = none, oo = none;
  for (int i = 0; i < space->n; i += DJU_LANES) {
    djLanes d = t * dju_loadLanes(z + i) + o;
    djMask mask = (d < law.s) & dju_firstLanes(space->n - i);
    if (space->n > 2 * DJU_LANES && !dju_any(mask)) continue;
    djLanes b[3];
    dj_barrierLanes(b, d, law, mask);
    djLanes x = dju_loadLanes(space->y[0] + i), y = dju_loadLanes(space->y[1] + i);
    djLanes w = dju_loadLanes(space->y[2] + i), px = b[2] * x, py = b[2] * y, pw = b[2] * w;
    v += b[0];
    fx += b[1] * x;
    fy += b[1] * y;
    fz += b[1] * w;
    fo += b[1];
    xx += px * x;
    xy += px * y;
    xz += px * w;
    xo += px;
    yy += py * y;
    yz += py * w;
    yo += py;
    zz += pw * w;
    zo += pw;
    oo += b[2];
  }
  dju_storeLanes(m->sum, dju_foldEight(v, fx, fy, fz, fo, xx, xy, xz));
  dju_storeLanes(m->sum + 8, dju_foldEight(xo, yy, yz, yo, zz, zo, oo, none));
}

static const double POOR = 0.01;   // where the squared decrement is so much of the value

static bool isPoor(const djHalfEval* e) {
  double dx[2], inv[3];
  return !(e->value < INFINITY) || !(newtonStep(dx, inv, e) < POOR * e->value);
}

// The plane midway below the lowest vertex, where that is better.
static void centre(djHalfSolution* sol, djHalfEval* e, const double* z, int n, djBarrier law) {
  djHalfEval centred;
  double t = dj_startLength(sol->least, law), o = -0.5 * t * sol->least;
  evalHalf(&centred, z, n, (double[2]){t, o}, law);
  if (e->value <= centred.value) return;
  *e = centred;
  sol->t = t;
  sol->o = o;
}

djPlaneStatus dj_solveHalfSpace(djHalfSolution* sol, const djHalfSpace* space, djBarrier law,
                                double* z, int max_iterations) {
  const double* N = space->normal;
  djLanes least = dju_splat(INFINITY);
  for (int i = 0; i < space->n; i += DJU_LANES) {
    djLanes h = N[0] * dju_loadLanes(space->y[0] + i) + N[1] * dju_loadLanes(space->y[1] + i) +
                N[2] * dju_loadLanes(space->y[2] + i) + space->k;
    least = dju_minLanes(h, least);
    dju_storeLanes(z + i, h);
  }
  sol->least = dju_least(least);
  sol->value = 0;
  sol->iterations = 0;
  if (sol->least * (1 - law.s) >= 2 * law.s) return DJ_PLANE_ZERO;
  if (!(sol->least > 0)) return DJ_PLANE_LOST;

  djHalfEval e = {.value = INFINITY};
  if (sol->t > 0 && sol->t < 1) evalHalf(&e, z, space->n, (double[2]){sol->t, sol->o}, law);
  if (isPoor(&e)) centre(sol, &e, z, space->n, law);
  if (isinf(e.value)) return DJ_PLANE_LOST;
  if (e.value == 0) return DJ_PLANE_ZERO;
  djPlaneStatus status = minimise(sol, &e, z, space->n, law, max_iterations);
  if (status == DJ_PLANE_ZERO) return status;
  sol->value = e.value;
  moments(&sol->m, space, z, sol->t, sol->o, law);
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
//
// K has the rows of twist_lanes.h for a, and those of b with the opposite sign.
//
// An ellipsoid that turns with a: z has -q(exp(-wa) exp(wb) N). To second order all but
// -d.C d/2 with d = (wb - wa) x N is what the body's point y - c has (see plane_twist.c), so that
// with X = [N]x the angular blocks aa and bb gain -t f4 X^T C X and ab its negative.

// t times the second derivatives of z, scaled. Ra, Rb: sum P' rho; f0 = sum P'/L.
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

static void addBend(double H[144], const djHalfSpace* space, double factor) {
  djMat3 X = dju_skew(dju_load3(space->normal));
  djMat3 S = dju_mulMtM(X, dju_mulMM(space->bend, X));
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double s = factor * 0.5 * (S.m[3 * i + j] + S.m[3 * j + i]);
      H[12 * i + j] += s;
      H[12 * (6 + i) + 6 + j] += s;
      H[12 * i + 6 + j] -= s;
      H[12 * (6 + i) + j] -= s;
    }
  }
}

// K t^2 K M K^T - Z^T Z with Z = (K U^-1)^1/2 W by the Cholesky factor of the inverse 2x2 Hessian:
// inv = C C^T, C = (c0, 0; c1, c2). The upper triangle is copied from the lower one.
static void eliminate(double H[144], const djLanes Kt[2][4], const djLanes MKt[2][4],
                      const djLanes W[2][2], const double inv[3], double t, double stiffness) {
  double c0 = sqrt(inv[0]), c1 = c0 > 0 ? inv[1] / c0 : 0;
  double c2 = sqrt(fmax(inv[2] - c1 * c1, 0)), root = sqrt(stiffness), Ks[4][16], Zs[2][16];
  djLanes Z[2][2];
  for (int k = 0; k < 2; k++) {
    for (int r = 0; r < 4; r++) dju_storeLanes(Ks[r] + 8 * k, (stiffness * t * t) * Kt[k][r]);
    Z[0][k] = root * (c0 * W[0][k] + c1 * W[1][k]);
    Z[1][k] = (root * c2) * W[1][k];
    for (int r = 0; r < 2; r++) dju_storeLanes(Zs[r] + 8 * k, Z[r][k]);
  }
  for (int i = 0; i < 12; i++) {
    int at = i >= 6 ? i + 2 : i;
    djLanes row[2];
    for (int k = 0; k < 2; k++) {
      row[k] = dj_combine(Ks[0][at], Ks[1][at], Ks[2][at], Ks[3][at], MKt[k]) -
               (Zs[0][at] * Z[0][k] + Zs[1][at] * Z[1][k]);
    }
    dj_storeTwistRow(H, i, row[0], row[1]);
  }
  for (int i = 0; i < 12; i++) {
    for (int j = i + 1; j < 12; j++) H[12 * i + j] = H[12 * j + i];
  }
}

void dj_halfSpaceTwist(double gradient[12], double mixed[24], double hessian[144],
                       const djHalfSolution* sol, const djHalfSpace* space,
                       const double ref[2][3], double stiffness, double length_scale) {
  djVec3 N = dju_load3(space->normal), ra = dju_load3(ref[0]), rb = dju_load3(ref[1]);
  const djPlaneSums* m = &sol->m;
  double t = sol->t, inv_L = 1 / length_scale, kappa[4] = {N.x, N.y, N.z, space->k}, Mk[4];
  dju_mulSym4(Mk, m->m, kappa);
  djLanes Kt[2][4], MKt[2][4], W[2][2], g[2];
  for (int k = 0; k < 2; k++) {
    dj_twistRows(Kt[k], N, k == 0 ? ra : rb, inv_L);
    for (int r = 0; k == 1 && r < 4; r++) Kt[k][r] = -Kt[k][r];
    dj_mulRows(MKt[k], m->m, Kt[k]);
    g[k] = dj_combine(m->f[0], m->f[1], m->f[2], m->f[3], Kt[k]);
    W[0][k] = t * dj_combine(Mk[0], Mk[1], Mk[2], Mk[3], Kt[k]) + g[k];
    W[1][k] = t * MKt[k][3];
  }
  if (gradient) dj_storeTwist(gradient, (stiffness * t) * g[0], (stiffness * t) * g[1]);
  if (mixed) {
    dj_storeTwist(mixed, W[0][0], W[0][1]);
    dj_storeTwist(mixed + 12, W[1][0], W[1][1]);
  }
  if (!hessian) return;
  eliminate(hessian, Kt, MKt, W, sol->inv, t, stiffness);
  djVec3 f = dju_load3(m->f);
  addSecondOrder(hessian, N, dju_madd3(f, -m->f[3], ra), dju_madd3(f, -m->f[3], rb),
                 m->f[3] * inv_L, t * stiffness);
  if (space->curved) addBend(hessian, space, -t * stiffness * m->f[3]);
}
