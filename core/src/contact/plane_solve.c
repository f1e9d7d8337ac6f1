#include "contact/plane_solve.h"

#include "contact/barrier.h"

#include <float.h>
#include <math.h>

// Lane sums: 0 value, 1-4 sigma P'(z,1), 5-14 P''(z,1)(z,1)^T packed, 15 r P'.
typedef struct djLaneSums {
  djLanes sum[16];
} djLaneSums;

// Add one side's vertices. n, o: the plane; u = n/|n|. Returns the smallest argument.
//
// Arguments: D_i = sigma (n.y_i + o) - r|n| = sigma (n.z_i + o) with z_i = y_i - sigma r u.
// dD/dp = sigma (z, 1), d2D/dn dn = -(r/|n|)(I - u u^T).
DJU_INLINE double addSide(djLaneSums* acc, const djCloud* c, double sigma, const double p[4],
                          const double u[3], double s) {
  djLanes least = dju_splat(INFINITY);
  double shift = -sigma * c->r;
  djLanes sx = dju_splat(shift * u[0]), sy = dju_splat(shift * u[1]), sz = dju_splat(shift * u[2]);
  for (int i = 0; i < c->n; i += DJU_LANES) {
    djLanes x = dju_loadLanes(c->y[0] + i) + sx;
    djLanes y = dju_loadLanes(c->y[1] + i) + sy;
    djLanes z = dju_loadLanes(c->y[2] + i) + sz;
    djLanes d = sigma * (p[0] * x + p[1] * y + p[2] * z + p[3]);
    least = dju_minLanes(d, least);   // padding repeats vertices
    djMask mask = (d < s) & dju_firstLanes(c->n - i);
    if (c->n > 2 * DJU_LANES && !(dju_least(d) < s)) continue;
    djLanes b[3];
    dj_barrierLanes(b, d, s, mask);
    djLanes f = sigma * b[1];
    djLanes mx = b[2] * x, my = b[2] * y, mz = b[2] * z;
    acc->sum[0] += b[0];
    acc->sum[1] += f * x;
    acc->sum[2] += f * y;
    acc->sum[3] += f * z;
    acc->sum[4] += f;
    acc->sum[5] += mx * x;
    acc->sum[6] += mx * y;
    acc->sum[7] += mx * z;
    acc->sum[8] += mx;
    acc->sum[9] += my * y;
    acc->sum[10] += my * z;
    acc->sum[11] += my;
    acc->sum[12] += mz * z;
    acc->sum[13] += mz;
    acc->sum[14] += b[2];
    acc->sum[15] += c->r * b[1];
  }
  return dju_least(least);
}

// Unit vector of n and its length.
static double direction(double u[3], const double n[3]) {
  double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  double inv = length > 0 ? 1 / length : 0;
  for (int k = 0; k < 3; k++) u[k] = inv * n[k];
  return length;
}

// The term P(1 - |n|) and the curvature of r|n|:
//   gradient -P' u,  Hessian P'' u u^T - ((P' + sum r P'_i)/|n|)(I - u u^T).
void dj_evalPlane(djPlaneEval* e, const djCloud side[2], const double p[4], double s) {
  double u[3], sum[16];
  double length = direction(u, p);
  djLaneSums acc = {0};
  e->least[0] = addSide(&acc, &side[0], -1, p, u, s);
  e->least[1] = addSide(&acc, &side[1], 1, p, u, s);
  if (!(e->least[0] > 0) || !(e->least[1] > 0) || !(length < 1) || !(length > 0)) {
    e->value = INFINITY;
    return;
  }
  dju_sumEight(sum, acc.sum);
  dju_sumEight(sum + 8, acc.sum + 8);
  double b[3];
  dj_barrier(b, 1 - length, s);
  e->value = sum[0] + b[0];
  for (int k = 0; k < 3; k++) e->g[k] = sum[1 + k] - b[1] * u[k];
  e->g[3] = sum[4];
  double across = -(b[1] + sum[15]) / length, along = b[2] - across;
  e->h[0] = sum[5] + across + along * u[0] * u[0];
  e->h[1] = sum[6] + along * u[0] * u[1];
  e->h[2] = sum[7] + along * u[0] * u[2];
  e->h[3] = sum[8];
  e->h[4] = sum[9] + across + along * u[1] * u[1];
  e->h[5] = sum[10] + along * u[1] * u[2];
  e->h[6] = sum[11];
  e->h[7] = sum[12] + across + along * u[2] * u[2];
  e->h[8] = sum[13];
  e->h[9] = sum[14];
}

static void storeMoments(djMoments* m, const djLaneSums* acc) {
  double sum[16];
  dju_sumEight(sum, acc->sum);
  dju_sumEight(sum + 8, acc->sum + 8);
  m->value = sum[0];
  for (int k = 0; k < 4; k++) m->f[k] = sum[1 + k];
  for (int k = 0; k < 10; k++) m->m[k] = sum[5 + k];
  m->rp = sum[15];
}

void dj_planeMoments(djMoments m[2], const djCloud side[2], const double p[4], double s) {
  double u[3];
  direction(u, p);
  djLaneSums acc[2] = {0};
  addSide(&acc[0], &side[0], -1, p, u, s);
  addSide(&acc[1], &side[1], 1, p, u, s);
  storeMoments(&m[0], &acc[0]);
  storeMoments(&m[1], &acc[1]);
}

// Smallest sigma u.y over one side.
static double leastHeight(const djCloud* c, double sigma, const double u[3]) {
  djLanes least = dju_splat(INFINITY);
  for (int i = 0; i < c->n; i += DJU_LANES) {
    djLanes d = u[0] * dju_loadLanes(c->y[0] + i) + u[1] * dju_loadLanes(c->y[1] + i) +
                u[2] * dju_loadLanes(c->y[2] + i);
    least = dju_minLanes(sigma * d, least);
  }
  return dju_least(least);
}

double dj_centrePlane(double p[4], const djCloud side[2]) {
  double u[3];
  direction(u, p);
  // Heights along u: a lies below -ha, b above hb.
  double ha = leastHeight(&side[0], -1, u) - side[0].r;
  double hb = leastHeight(&side[1], 1, u) - side[1].r;
  double d = ha + hb, length = 1 / (1 + 0.5 * fmax(d, 0));
  for (int k = 0; k < 3; k++) p[k] = length * u[k];
  p[3] = -0.5 * length * (hb - ha);
  return d;
}

// U = 0 if the sides are 2s/(1-s) apart along n: a lower bound of their distance.
static bool isFar(const djPlaneEval* e, const double p[4], double s) {
  double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  return (e->least[0] + e->least[1]) * (1 - s) >= 2 * s * length;
}

// Longest step along dp that is tried after one to `trial` left the domain. Arguments are concave
// in the step, so that with d0 before and d1 < 0 after it they stay positive below d0/(d0 - d1).
static double stepInside(const djPlaneEval* e, const djPlaneEval* trial, const double p[4],
                         const double q[4]) {
  double step = 1;
  for (int k = 0; k < 2; k++) {
    double d0 = e->least[k], d1 = trial->least[k];
    if (!(d1 > 0)) step = fmin(step, d0 / (d0 - d1));
  }
  double d0 = 1 - sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  double d1 = 1 - sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
  if (!(d1 > 0)) step = fmin(step, d0 / (d0 - d1));
  return 0.9 * step;
}

// Rounding of the value: arguments D are exact to eps times the reach of the vertices that touch,
// which is the root of sum P'' z^2 / sum P'' and the radius, and P changes by 5 dD/D.
static double valueNoise(const djPlaneEval* e, const djCloud side[2]) {
  double reach = e->h[9] > 0 ? sqrt((e->h[0] + e->h[4] + e->h[7]) / e->h[9]) : 0;
  reach += side[0].r + side[1].r;
  return 2e-15 * e->value * (1 + reach / fmin(e->least[0], e->least[1]));
}

// Damped step from p, where *e was evaluated, along dp; slope = -g.dp > 0, or 0 for the last step,
// which only has to be feasible. Sets p and *e.
static bool descend(double p[4], djPlaneEval* e, const djCloud side[2], double s,
                    const double dp[4], double slope) {
  double step = 1, bound = slope > 0 ? e->value + valueNoise(e, side) : DBL_MAX;
  for (int k = 0; k < 40; k++) {
    double q[4];
    for (int i = 0; i < 4; i++) q[i] = p[i] + step * dp[i];
    djPlaneEval trial;
    dj_evalPlane(&trial, side, q, s);
    if (trial.value <= bound - 1e-4 * step * slope) {
      for (int i = 0; i < 4; i++) p[i] = q[i];
      *e = trial;
      return true;
    }
    step *= isinf(trial.value) ? fmin(stepInside(e, &trial, p, q), 0.9) : 0.5;
  }
  return false;
}

// Start of the iteration at sol->p, or at the same direction centred where that is better.
static djPlaneStatus start(djPlaneSolution* sol, djPlaneEval* e, const djCloud side[2], double s) {
  dj_evalPlane(e, side, sol->p, s);
  if (!isinf(e->value)) {
    if (e->value == 0 || isFar(e, sol->p, s)) return DJ_PLANE_ZERO;
    djLdl4 factor;
    double dp[4];
    dju_factorLdl4(&factor, e->h);
    dju_solveLdl4(dp, &factor, e->g);
    double decrement2 = e->g[0] * dp[0] + e->g[1] * dp[1] + e->g[2] * dp[2] + e->g[3] * dp[3];
    if (decrement2 < 0.3 * e->value) return DJ_PLANE_DONE;
  }
  double p[4] = {sol->p[0], sol->p[1], sol->p[2], sol->p[3]};
  double d = dj_centrePlane(p, side);
  if (d * (1 - s) >= 2 * s) {
    e->least[0] = e->least[1] = 0.5 * d;
    for (int k = 0; k < 4; k++) sol->p[k] = p[k];
    return DJ_PLANE_ZERO;
  }
  if (!(d > 0)) return isinf(e->value) ? DJ_PLANE_LOST : DJ_PLANE_DONE;
  djPlaneEval centred;
  dj_evalPlane(&centred, side, p, s);
  if (centred.value < e->value) {
    *e = centred;
    for (int k = 0; k < 4; k++) sol->p[k] = p[k];
  }
  return isinf(e->value) ? DJ_PLANE_LOST : DJ_PLANE_DONE;
}

// Newton: dp = -U_pp^-1 U_p. At a squared decrement of 1e-13 U one full step more leaves an error
// of the order of rounding; smaller ones cannot be measured.
djPlaneStatus dj_solvePlane(djPlaneSolution* sol, const djCloud side[2], double s,
                            int max_iterations) {
  djPlaneEval e;
  djPlaneStatus status = start(sol, &e, side, s);
  sol->iterations = 0;
  while (status == DJ_PLANE_DONE) {
    double dp[4];
    dju_factorLdl4(&sol->factor, e.h);
    dju_solveLdl4(dp, &sol->factor, e.g);
    double decrement2 = 0;
    for (int k = 0; k < 4; k++) {
      decrement2 += e.g[k] * dp[k];
      dp[k] = -dp[k];
    }
    if (decrement2 <= 1e-13 * e.value) {
      if (decrement2 > 1e-29 * e.value) {
        sol->iterations++;
        descend(sol->p, &e, side, s, dp, 0);
        dju_factorLdl4(&sol->factor, e.h);
      }
      break;
    }
    if (sol->iterations++ == max_iterations) return DJ_PLANE_LOST;
    if (!descend(sol->p, &e, side, s, dp, decrement2)) return DJ_PLANE_LOST;
    if (e.value == 0 || isFar(&e, sol->p, s)) status = DJ_PLANE_ZERO;
  }
  for (int k = 0; k < 2; k++) sol->least[k] = e.least[k];
  sol->value = status == DJ_PLANE_ZERO ? 0 : e.value;
  if (sol->value > 0 && !isinf(sol->value)) dj_planeMoments(sol->side, side, sol->p, s);
  return status;
}
