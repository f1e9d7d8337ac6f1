#include "contact/plane_solve.h"

#include "contact/barrier.h"

#include <float.h>
#include <math.h>

// Lane sums of value, P' xi, P'' xi xi^T and r P', with xi = sigma (z, 1).
typedef struct djLaneSums {
  djLanes v, fx, fy, fz, fo, xx, xy, xz, xo, yy, yz, yo, zz, zo, oo, rp;
} djLaneSums;

// A normal n: its length, the inverse, and the unit vector.
typedef struct djDirection {
  double length, inv, u[3];
} djDirection;

DJU_INLINE djDirection direction(const double n[3]) {
  djDirection d;
  d.length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  d.inv = d.length > 0 ? 1 / d.length : 0;
  for (int k = 0; k < 3; k++) d.u[k] = d.inv * n[k];
  return d;
}

// Add vertices begin to end - 1; returns their smallest arguments. u = n/|n|.
//
// Arguments: D_i = sigma (n.y_i + o) - r|n| = p.xi_i with xi_i = sigma (z_i, 1) and
// z_i = y_i - sigma r u. dD/dp = xi, d2D/dn dn = -(r/|n|)(I - u u^T).
DJU_INLINE djLanes addVertices(djLaneSums* acc, const djClouds* c, int begin, int end,
                               const double p[4], const double u[3], double s) {
  const bool round = c->r[0] > 0 || c->r[1] > 0;
  const djLanes p0 = dju_splat(p[0]), p1 = dju_splat(p[1]);
  djLanes least = dju_splat(INFINITY);
  for (int i = begin / DJU_LANES * DJU_LANES; i < end; i += DJU_LANES) {
    djLanes x = dju_loadLanes(c->x[0] + i), y = dju_loadLanes(c->x[1] + i);
    djLanes z = dju_loadLanes(c->x[2] + i), o = dju_loadLanes(c->x[3] + i), r;
    if (round) {
      r = dju_loadLanes(c->lift + i);
      x -= r * u[0];
      y -= r * u[1];
      z -= r * u[2];
    }
    djLanes d = dju_fmaLanes(p0, x, p1 * y) + (p[2] * z + p[3] * o);
    djMask own = dju_firstLanes(end - i);
    if (begin > 0) own &= ~dju_firstLanes(begin - i);
    if (begin > 0 || end < c->n) {
      least = dju_minLanes(dju_pick(own, d, least), least);
    } else {
      least = dju_minLanes(d, least);
    }
    djMask mask = (d < s) & own;
    if (c->n > 2 * DJU_LANES && !dju_any(mask)) continue;
    djLanes b[3];
    dj_barrierLanes(b, d, s, mask);
    djLanes px = b[2] * x, py = b[2] * y, pz = b[2] * z, po = b[2] * o;
    acc->v += b[0];
    acc->fx = dju_fmaLanes(b[1], x, acc->fx);
    acc->fy = dju_fmaLanes(b[1], y, acc->fy);
    acc->fz = dju_fmaLanes(b[1], z, acc->fz);
    acc->fo = dju_fmaLanes(b[1], o, acc->fo);
    acc->xx = dju_fmaLanes(px, x, acc->xx);
    acc->xy = dju_fmaLanes(px, y, acc->xy);
    acc->xz = dju_fmaLanes(px, z, acc->xz);
    acc->xo = dju_fmaLanes(px, o, acc->xo);
    acc->yy = dju_fmaLanes(py, y, acc->yy);
    acc->yz = dju_fmaLanes(py, z, acc->yz);
    acc->yo = dju_fmaLanes(py, o, acc->yo);
    acc->zz = dju_fmaLanes(pz, z, acc->zz);
    acc->zo = dju_fmaLanes(pz, o, acc->zo);
    acc->oo = dju_fmaLanes(po, o, acc->oo);
    if (round) acc->rp = dju_fmaLanes(r, b[1], acc->rp);
  }
  return least;
}

// As in djMoments, in that order.
DJU_INLINE void storeSums(double out[16], const djLaneSums* a) {
  dju_storeLanes(out, dju_foldEight(a->v, a->fx, a->fy, a->fz, a->fo, a->xx, a->xy, a->xz));
  dju_storeLanes(out + 8, dju_foldEight(a->xo, a->yy, a->yz, a->yo, a->zz, a->zo, a->oo, a->rp));
}

// Sums over the vertices with the term P(1 - |n|) and the curvature of r|n| added:
//   gradient -P' u,  Hessian P'' u u^T - ((P' + sum r P'_i)/|n|)(I - u u^T).
DJU_INLINE void finishEval(djPlaneEval* e, const double sum[16], const djDirection* d, double s) {
  double b[3];
  const double* u = d->u;
  dj_barrier(b, 1 - d->length, s);
  e->length = d->length;
  for (int k = 0; k < 3; k++) e->u[k] = u[k];
  e->value = sum[0] + b[0];
  for (int k = 0; k < 3; k++) e->g[k] = sum[1 + k] - b[1] * u[k];
  e->g[3] = sum[4];
  double across = -(b[1] + sum[15]) * d->inv, along = b[2] - across;
  double ax = along * u[0], ay = along * u[1], az = along * u[2];
  e->h[0] = sum[5] + across + ax * u[0];
  e->h[1] = sum[6] + ax * u[1];
  e->h[2] = sum[7] + ax * u[2];
  e->h[3] = sum[8];
  e->h[4] = sum[9] + across + ay * u[1];
  e->h[5] = sum[10] + ay * u[2];
  e->h[6] = sum[11];
  e->h[7] = sum[12] + across + az * u[2];
  e->h[8] = sum[13];
  e->h[9] = sum[14];
}

void dj_evalPlane(djPlaneEval* e, const djClouds* c, const double p[4], double s) {
  double sum[16];
  djDirection dir = direction(p);
  djLaneSums acc = {0};
  e->least = dju_least(addVertices(&acc, c, 0, c->n, p, dir.u, s));
  if (!(e->least > 0) || !(dir.length < 1) || !(dir.length > 0)) {
    e->value = INFINITY;
    return;
  }
  storeSums(sum, &acc);
  finishEval(e, sum, &dir, s);
}

// The same from the sums of both sides apart.
static void evalSides(djPlaneEval* e, djPlaneSolution* sol, const djClouds* c, double s) {
  double sum[3][16];
  djDirection dir = direction(sol->p);
  djLaneSums acc = {0};
  sol->least[0] = dju_least(addVertices(&acc, c, 0, c->na, sol->p, dir.u, s));
  storeSums(sum[0], &acc);
  acc = (djLaneSums){0};
  sol->least[1] = dju_least(addVertices(&acc, c, c->na, c->n, sol->p, dir.u, s));
  storeSums(sum[1], &acc);
  e->least = fmin(sol->least[0], sol->least[1]);
  if (!(e->least > 0) || !(dir.length < 1) || !(dir.length > 0)) {
    e->value = INFINITY;
    return;
  }
  for (int k = 0; k < 16; k++) sum[2][k] = sum[0][k] + sum[1][k];
  for (int side = 0; side < 2; side++) {
    djMoments* m = &sol->side[side];
    m->value = sum[side][0];
    for (int k = 0; k < 4; k++) m->f[k] = sum[side][1 + k];
    for (int k = 0; k < 10; k++) m->m[k] = sum[side][5 + k];
    m->rp = sum[side][15];
  }
  finishEval(e, sum[2], &dir, s);
}

// ------------------------------------------ starts ---------------------------------------------

// Along p the optimum has |n| |P'(1 - |n|)| = sum |P'(D_i)| D_i. With D about (1 - s) d/2 for two
// vertices a side the right side is G, and |P'(x)| = G for x = s q means
//   (1 - q)(5 - q)^(1/3)/q^2 = (G s^2)^(1/3) = k;   with 1.65 for (5 - q)^(1/3),
//   q = 2/(1 + sqrt(1 + 4 k/1.65)).
double dj_startLength(double d, double s) {
  double b[3], D = 0.5 * (1 - s) * d;
  dj_barrier(b, D, s);
  double k = cbrt(-4 * b[1] * D * s * s);
  double q = 2 / (1 + sqrt(1 + 4 / 1.65 * k));
  return 1 - s * q;
}

// Smallest sigma n.y of both sides.
static void leastHeights(double h[2], const djClouds* c, const double n[3]) {
  djLanes least[2] = {dju_splat(INFINITY), dju_splat(INFINITY)};
  for (int i = 0; i < c->n; i += DJU_LANES) {
    djLanes d = n[0] * dju_loadLanes(c->x[0] + i) + n[1] * dju_loadLanes(c->x[1] + i) +
                n[2] * dju_loadLanes(c->x[2] + i);
    djMask a = dju_firstLanes(c->na - i);
    least[0] = dju_minLanes(dju_pick(a, d, least[0]), least[0]);
    least[1] = dju_minLanes(dju_pick(a, least[1], d), least[1]);
  }
  h[0] = dju_least(least[0]);
  h[1] = dju_least(least[1]);
}

static double lengthOf(const double p[4]) {
  return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
}

double dj_centrePlane(double p[4], const djClouds* c, double s) {
  djDirection dir = direction(p);
  double h[2];
  if (!(dir.length > 0) || !isfinite(dir.inv)) return -1;
  leastHeights(h, c, dir.u);   // a lies below -ha, b above hb
  double ha = h[0] - c->r[0], hb = h[1] - c->r[1], d = ha + hb;
  double length = d > 0 && d * (1 - s) < 2 * s ? dj_startLength(d, s) : 1 / (1 + 0.5 * fmax(d, 0));
  for (int k = 0; k < 3; k++) p[k] = length * dir.u[k];
  p[3] = -0.5 * length * (hb - ha);
  return d;
}

// ------------------------------------------ Newton ---------------------------------------------

// U = 0 if the sides are 2s/(1-s) apart along n: a lower bound of their distance. Sets sol->least.
static bool isFar(djPlaneSolution* sol, const djClouds* c, double s) {
  double length = lengthOf(sol->p);
  leastHeights(sol->least, c, sol->p);
  sol->least[0] += -sol->p[3] - c->r[0] * length;
  sol->least[1] += sol->p[3] - c->r[1] * length;
  return (sol->least[0] + sol->least[1]) * (1 - s) >= 2 * s * length;
}

// A step of (n, o): n turns and its length changes by u.dn, so that turning alone leaves the narrow
// valley of P(1 - |n|) where it is.
DJU_INLINE void retract(double q[4], const double p[4], const djPlaneEval* e, double step,
                        const double dp[4]) {
  double radial = e->u[0] * dp[0] + e->u[1] * dp[1] + e->u[2] * dp[2];
  for (int k = 0; k < 4; k++) q[k] = p[k] + step * dp[k];
  double factor = (e->length + step * radial) / lengthOf(q);
  for (int k = 0; k < 3; k++) q[k] *= factor;
}

// Part of the step from p to q after which all arguments are positive still: where D0 > 0 falls to
// D1 <= 0 along a line, below D0/(D0 - D1).
static double stepInside(const djClouds* c, const djPlaneEval* e, const double p[4],
                         const double q[4]) {
  djLanes part = dju_splat(1);
  double length = lengthOf(q);
  for (int i = 0; i < c->n; i += DJU_LANES) {
    djLanes x = dju_loadLanes(c->x[0] + i), y = dju_loadLanes(c->x[1] + i);
    djLanes z = dju_loadLanes(c->x[2] + i), o = dju_loadLanes(c->x[3] + i);
    djLanes r = dju_loadLanes(c->lift + i);
    djLanes d0 = p[0] * x + p[1] * y + p[2] * z + p[3] * o - r * e->length;
    djLanes d1 = q[0] * x + q[1] * y + q[2] * z + q[3] * o - r * length;
    part = dju_minLanes(dju_pick(d1 <= 0, d0 / (d0 - d1), part), part);
  }
  double step = fmin(dju_least(part), 1), d0 = 1 - e->length, d1 = 1 - length;
  if (!(d1 > 0)) step = fmin(step, d0 / (d0 - d1));
  return 0.9 * step;
}

// Rounding of the value. Arguments D are exact to a few eps times the reach of the vertices that
// touch: the root of sum P'' z^2/sum P'', and the radius. The sum of |P'| is below
// sqrt(4/3 sum P sum P''), since P'^2 <= 4/3 P P''.
static double valueNoise(const djPlaneEval* e, const djClouds* c) {
  double reach = e->h[9] > 0 ? sqrt((e->h[0] + e->h[4] + e->h[7]) / e->h[9]) : 0;
  reach += c->r[0] + c->r[1];
  return 1e-15 * (e->value + reach * sqrt(1.34 * e->value * e->h[9]));
}

// dp = -x; returns g.x, the squared decrement where x = h^-1 g.
DJU_INLINE double finishStep(double dp[4], const double x[4], const double g[4]) {
  for (int k = 0; k < 4; k++) dp[k] = -x[k];
  return (g[0] * x[0] + g[1] * x[1]) + (g[2] * x[2] + g[3] * x[3]);
}

// Newton's step along a straight line.
static double straightStep(double dp[4], const djPlaneEval* e) {
  djLdl4 factor;
  double x[4];
  dju_factorLdl4(&factor, e->h);
  dju_solveLdl4(x, &factor, e->g);
  return finishStep(dp, x, e->g);
}

// Newton's step for steps as retract takes them. With n + dn = (|n| + a)(u + t/|n| - u t^2/2|n|^2),
// a = u.dn, t across u, second order terms a t/|n| - u t^2/2|n| act on the gradient g, so that U_pp
// gains
//   (u g_t^T + g_t u^T)/|n| - (u.g/|n|)(I - u u^T),  g_t = g - u (u.g),
// which vanishes at the minimum. Where that is not positive definite: the straight step.
// careful: by the stable factorization.
DJU_INLINE double newtonStep(double dp[4], const djPlaneEval* e, bool careful) {
  const double *u = e->u, *g = e->g, inv = 1 / e->length;
  double h[10], along = u[0] * g[0] + u[1] * g[1] + u[2] * g[2], w[3];
  // u w^T + w u^T - c I with c = u.g/|n|, w = g/|n| - c u/2
  double c = inv * along;
  for (int k = 0; k < 3; k++) w[k] = inv * g[k] - 0.5 * c * u[k];
  h[0] = e->h[0] + 2 * u[0] * w[0] - c;
  h[1] = e->h[1] + u[0] * w[1] + w[0] * u[1];
  h[2] = e->h[2] + u[0] * w[2] + w[0] * u[2];
  h[3] = e->h[3];
  h[4] = e->h[4] + 2 * u[1] * w[1] - c;
  h[5] = e->h[5] + u[1] * w[2] + w[1] * u[2];
  h[6] = e->h[6];
  h[7] = e->h[7] + 2 * u[2] * w[2] - c;
  h[8] = e->h[8];
  h[9] = e->h[9];
  double x[4];
  djLdl4 factor;
  if (!careful && dju_solveSpd4(x, h, g)) return finishStep(dp, x, g);
  if (!dju_factorLdl4(&factor, h)) return straightStep(dp, e);
  dju_solveLdl4(x, &factor, g);
  return finishStep(dp, x, g);
}

// Damped step from p, where *e was evaluated, to q: along dp turning n, or along a straight line.
// slope = -g.dp > 0. False: no step of `tries` decreases the value enough. Small steps are taken
// whole: the value may be too coarse to tell that it decreases.
static bool search(double p[4], djPlaneEval* e, const djClouds* c, double s, const double dp[4],
                   double slope, bool turning, int tries) {
  double step = 1, bound = slope > 1e-9 * e->value ? e->value + valueNoise(e, c) : DBL_MAX;
  for (int k = 0; k < tries; k++) {
    double q[4];
    djPlaneEval trial;
    if (turning) {
      retract(q, p, e, step, dp);
    } else {
      for (int i = 0; i < 4; i++) q[i] = p[i] + step * dp[i];
    }
    dj_evalPlane(&trial, c, q, s);
    if (trial.value <= bound - 1e-4 * step * slope) {
      for (int i = 0; i < 4; i++) p[i] = q[i];
      *e = trial;
      return true;
    }
    step *= isinf(trial.value) ? stepInside(c, e, p, q) : 0.5;
  }
  return false;
}

// Newton's step turning n, which is long where it can be; else the straight one, along which U is
// convex.
static bool descend(double p[4], djPlaneEval* e, const djClouds* c, double s, const double dp[4],
                    double slope) {
  if (search(p, e, c, s, dp, slope, true, 8)) return true;
  double line[4];
  slope = straightStep(line, e);
  return search(p, e, c, s, line, slope, false, 40);
}

// Where the start is infeasible or poor: the same direction centred, if that is better.
static djPlaneStatus centre(djPlaneSolution* sol, djPlaneEval* e, const djClouds* c, double s) {
  double p[4] = {sol->p[0], sol->p[1], sol->p[2], sol->p[3]};
  double d = dj_centrePlane(p, c, s);
  if (d * (1 - s) >= 2 * s) {
    sol->least[0] = sol->least[1] = 0.5 * d * lengthOf(p);
    for (int k = 0; k < 4; k++) sol->p[k] = p[k];
    return DJ_PLANE_ZERO;
  }
  if (d > 0) {
    djPlaneEval centred;
    dj_evalPlane(&centred, c, p, s);
    if (centred.value < e->value) {
      *e = centred;
      for (int k = 0; k < 4; k++) sol->p[k] = p[k];
    }
  }
  return isinf(e->value) ? DJ_PLANE_LOST : DJ_PLANE_DONE;
}

// At a squared decrement of 1e-13 U one full step more leaves an error of the order of rounding.
// Where even that cannot be reached, the iteration ends when small decrements stop falling.
static djPlaneStatus iterate(djPlaneSolution* sol, djPlaneEval* e, const djClouds* c, double s,
                             int max_iterations) {
  double dp[4], decrement2 = newtonStep(dp, e, false), last = INFINITY;
  if (!(decrement2 < 0.3 * e->value)) {
    djPlaneStatus status = centre(sol, e, c, s);
    if (status != DJ_PLANE_DONE) return status;
    decrement2 = newtonStep(dp, e, false);
  }
  for (;;) {
    bool coarse = dj_isCoarse(e->value, s) || last < 1e-9 * e->value;
    if (decrement2 <= 1e-13 * e->value || (coarse && decrement2 > 0.5 * last)) break;
    if (sol->iterations == max_iterations) return DJ_PLANE_LOST;
    sol->iterations++;
    last = decrement2;
    if (!descend(sol->p, e, c, s, dp, decrement2)) {
      if (dj_isCoarse(e->value, s)) return DJ_PLANE_DONE;
      return DJ_PLANE_LOST;
    }
    if (e->value == 0 || sol->iterations > 3) {   // where U = 0, Newton is slow
      if (isFar(sol, c, s) || e->value == 0) return DJ_PLANE_ZERO;
    }
    decrement2 = newtonStep(dp, e, false);
    if (!(decrement2 < 0.1 * last)) decrement2 = newtonStep(dp, e, true);
  }
  if (decrement2 > 1e-26 * e->value) {   // the last step
    if (decrement2 > 1e-20 * e->value) newtonStep(dp, e, true);
    double q[4];
    retract(q, sol->p, e, 1, dp);
    for (int k = 0; k < 4; k++) sol->p[k] = q[k];
    sol->iterations++;
  }
  return DJ_PLANE_DONE;
}

djPlaneStatus dj_solvePlane(djPlaneSolution* sol, const djClouds* c, double s,
                            int max_iterations) {
  djPlaneEval e;
  djPlaneStatus status = DJ_PLANE_DONE;
  sol->iterations = 0;
  dj_evalPlane(&e, c, sol->p, s);
  if (isinf(e.value)) {
    status = centre(sol, &e, c, s);
  } else if (e.value == 0) {
    isFar(sol, c, s);
    status = DJ_PLANE_ZERO;
  }
  if (status == DJ_PLANE_DONE) status = iterate(sol, &e, c, s, max_iterations);
  if (status != DJ_PLANE_ZERO && !isinf(e.value)) {
    evalSides(&e, sol, c, s);
    if (isinf(e.value)) status = DJ_PLANE_LOST;   // not seen: the last step is tiny
    dju_factorLdl4(&sol->factor, e.h);
  }
  sol->value = status == DJ_PLANE_ZERO ? 0 : e.value;
  return status;
}
