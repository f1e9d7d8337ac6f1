#include "contact/plane/plane_solve.h"

#include "contact/plane/plane_sums.h"
#include "shape/curve.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Values at one plane.
typedef struct djPlaneEval {
  double value;            // infinite: not feasible
  double g[4];             // U_p
  double least;            // smallest argument D
  double sum[16];          // over both sides, in the order of djPlaneSums
  double bend;             // P''(1 - |n|)
  double slope;            // P'(1 - |n|)
  djNormal dir;
  bool curved;
  djMat3 bend_of[2];       // as in djPlaneSolution
} djPlaneEval;

// Sums over vertices begin to end - 1; returns their smallest arguments.
DJU_INLINE djLanes sumVertices(double sum[16], const djClouds* c, int begin, int end,
                               const double p[4], const double u[3], djBarrier law,
                               const djVec3* point) {
  djLaneSums acc = {0};
  djLanes least = dj_addVertices(&acc, c, begin, end, p, u, law, point);
  dj_storeSums(sum, &acc);
  return least;
}

static double sumTails(double sum[16], const djClouds* c, int begin, int end, const double p[4]) {
  djLaneSums acc = {0};
  double least = dju_least(dj_addTails(&acc, c, begin, end, p));
  dj_storeSums(sum, &acc);
  return least;
}

// The sums with the term P(1 - |n|), whose gradient is -P' u.
DJU_INLINE void finishEval(djPlaneEval* e, const double b[3]) {
  e->value = e->sum[0] + b[0];
  e->slope = b[1];
  e->bend = b[2];
  for (int k = 0; k < 3; k++) e->g[k] = e->sum[1 + k] - b[1] * e->dir.u[k];
  e->g[3] = e->sum[4];
}

// h = sum P'' (z,1)(z,1)^T + (c I + u w^T + w u^T; 0, 0)
DJU_INLINE void addToNormal(double h[10], const double sum[16], double c, const double u[3],
                            const double w[3]) {
  const double* m = sum + 5;
  h[0] = m[0] + (c + 2 * u[0] * w[0]);
  h[1] = m[1] + (u[0] * w[1] + w[0] * u[1]);
  h[2] = m[2] + (u[0] * w[2] + w[0] * u[2]);
  h[3] = m[3];
  h[4] = m[4] + (c + 2 * u[1] * w[1]);
  h[5] = m[5] + (u[1] * w[2] + w[1] * u[2]);
  h[6] = m[6];
  h[7] = m[7] + (c + 2 * u[2] * w[2]);
  h[8] = m[8];
  h[9] = m[9];
}

// h += bends of both sides
static void addBends(double h[10], const djPlaneEval* e) {
  for (int k = 0; k < 2; k++) {
    const double* B = e->bend_of[k].m;
    h[0] += B[0];
    h[1] += B[1];
    h[2] += B[2];
    h[4] += B[4];
    h[5] += B[5];
    h[7] += B[8];
  }
}

// U_pp: the term P(1 - |n|) has the Hessian P'' u u^T - (P'/|n|)(I - u u^T), and the vertices'
// r|n| adds -(sum r P'_i/|n|)(I - u u^T).
// Ellipsoids add their bends.
static void planeHessian(double h[10], const djPlaneEval* e) {
  double across = -(e->slope + e->sum[15]) * e->dir.inv, half = 0.5 * (e->bend - across);
  double w[3] = {half * e->dir.u[0], half * e->dir.u[1], half * e->dir.u[2]};
  addToNormal(h, e->sum, across, e->dir.u, w);
  if (e->curved) addBends(h, e);
}

// c, q and H = G - c w^T, so that C = H H^T/q, of both sides.
typedef struct djCurveAt {
  djVec3 point[2];
  double reach[2];
  djMat3 H[2];
} djCurveAt;

static void curveAt(djCurveAt* at, const djClouds* c, const double p[4]) {
  for (int k = 0; k < 2; k++) {
    djVec3 w;
    at->reach[k] = dj_curveReach(&at->point[k], &w, &c->curve[k], dju_load3(p));
    double x[3], y[3];
    dju_store3(x, at->point[k]);
    dju_store3(y, w);
    for (int i = 0; i < 9; i++) at->H[k].m[i] = c->curve[k].m[i] - x[i / 3] * y[i % 3];
  }
}

// -F C, F = sum P' of the side
static djMat3 bendOf(const djCurveAt* at, int k, double F) {
  djMat3 B;
  const double *H = at->H[k].m, factor = at->reach[k] > 0 ? -F / at->reach[k] : 0;
  for (int i = 0; i < 9; i++) {
    const double *x = H + i / 3 * 3, *y = H + i % 3 * 3;
    B.m[i] = factor * (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]);
  }
  return B;
}

// evalPlane where something is curved. Sums: of P' over a, and of sigma P', which give those of
// both sides.
static void evalCurved(djPlaneEval* e, const djClouds* c, const double p[4], djBarrier law) {
  djCurveAt at;
  curveAt(&at, c, p);
  e->least = dju_least(sumVertices(e->sum, c, 0, c->n, p, e->dir.u, law, at.point));
  double Fa = e->sum[15], Fb = e->sum[4] + Fa;
  e->sum[15] = c->r[0] * Fa + c->r[1] * Fb;
  e->curved = true;
  e->bend_of[0] = bendOf(&at, 0, Fa);
  e->bend_of[1] = bendOf(&at, 1, Fb);
}

// The value with the law's term of |n|.
DJU_INLINE void endEval(djPlaneEval* e, const djClouds* c, djBarrier law) {
  double b[3], x = 1 - e->dir.length;
  if (!(e->least > 0) || !(e->dir.length < 1) || !(e->dir.length > 0)) {
    e->value = INFINITY;
    return;
  }
  if (c->tail) {
    dj_tail(b, x, c->tail->cap);
    b[0] -= c->tail->cap;
  } else {
    dj_barrier(b, x, law);
  }
  finishEval(e, b);
}

static void evalPlane(djPlaneEval* e, const djClouds* c, const double p[4], djBarrier law) {
  e->dir = dj_normalOf(p);
  e->curved = false;
  if (c->tail) {
    e->least = sumTails(e->sum, c, 0, c->n, p);
  } else if (c->curved) {
    evalCurved(e, c, p, law);
  } else {
    e->least = dju_least(sumVertices(e->sum, c, 0, c->n, p, e->dir.u, law, NULL));
  }
  endEval(e, c, law);
}

static void sidesCurved(djPlaneEval* e, djPlaneSolution* sol, const djClouds* c, djBarrier law) {
  djCurveAt at;
  curveAt(&at, c, sol->p);
  for (int k = 0; k < 2; k++) {
    double* sum = sol->side[k].sum;
    int begin = k ? c->na : 0, end = k ? c->n : c->na;
    sol->least[k] = dju_least(sumVertices(sum, c, begin, end, sol->p, e->dir.u, law, at.point));
    double F = k ? sum[4] : -sum[4];
    sum[15] = c->r[k] * F;
    sol->bend[k] = e->bend_of[k] = bendOf(&at, k, F);
  }
}

// The same from the sums of both sides apart.
static void evalSides(djPlaneEval* e, djPlaneSolution* sol, const djClouds* c, djBarrier law) {
  double *a = sol->side[0].sum, *b = sol->side[1].sum;
  e->dir = dj_normalOf(sol->p);
  sol->curved = e->curved = c->curved;
  if (c->tail) {
    sol->least[0] = sumTails(a, c, 0, c->na, sol->p);
    sol->least[1] = sumTails(b, c, c->na, c->n, sol->p);
  } else if (c->curved) {
    sidesCurved(e, sol, c, law);
  } else {
    sol->least[0] = dju_least(sumVertices(a, c, 0, c->na, sol->p, e->dir.u, law, NULL));
    sol->least[1] = dju_least(sumVertices(b, c, c->na, c->n, sol->p, e->dir.u, law, NULL));
  }
  e->least = fmin(sol->least[0], sol->least[1]);
  for (int k = 0; k < 16; k += DJU_LANES) {
    dju_storeLanes(e->sum + k, dju_loadLanes(a + k) + dju_loadLanes(b + k));
  }
  endEval(e, c, law);
}

// ------------------------------------------ starts ---------------------------------------------

// Along p the optimum has |n| |P'(1 - |n|)| = sum |P'(D_i)| D_i. With D about (1 - s) d/2 for two
// vertices a side the right side is G, and |P'(x)| s^2 = G s^2 for x = 1 - |n|.
double dj_startLength(double d, djBarrier law) {
  double b[3], D = 0.5 * (1 - law.s) * d;
  dj_barrier(b, D, law);
  const double y = -4 * b[1] * D * law.s * law.s;
  return 1 - law.s / (1 + dj_barrierRows[law.law].near_depth(y));
}

// r|n| + q(n) of a side.
static double reachOf(const djClouds* c, int k, const double n[3], double length) {
  if (c->tail) return 0;
  double r = c->r[k] * length;
  return c->curved ? r + dj_curveReach(NULL, NULL, &c->curve[k], dju_load3(n)) : r;
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

// With tails of one vertex a side, weights w and the cap k: k/(1 - n)^2 = w d/(n d/2 + a)^2; where
// sides overlap short enough for all x + a to be positive.
static double guidedLength(double d, const djClouds* c) {
  const djTail* t = c->tail;
  double root = sqrt(t->total[0] * fmax(d, 0) / t->cap);
  double n = fmax((root - t->offset) / (0.5 * d + root), 0.05);
  return d > 0 ? n : fmin(0.05, t->offset / fmax(-d, t->offset));
}

// A good length |n| for sides that are d apart along n.
static double startLength(const djClouds* c, double d, djBarrier law) {
  if (c->tail) return guidedLength(d, c);
  if (d > 0 && d * (1 - law.s) < 2 * law.s) return dj_startLength(d, law);
  return 1 / (1 + 0.5 * fmax(d, 0));
}

double dj_centrePlane(double p[4], const djClouds* c, djBarrier law) {
  djNormal dir = dj_normalOf(p);
  double h[2];
  if (!(dir.length > 0) || !isfinite(dir.inv)) return -1;
  leastHeights(h, c, dir.u);   // a lies below -ha, b above hb
  double ha = h[0] - reachOf(c, 0, dir.u, 1), hb = h[1] - reachOf(c, 1, dir.u, 1), d = ha + hb;
  double length = startLength(c, d, law);
  for (int k = 0; k < 3; k++) p[k] = length * dir.u[k];
  p[3] = -0.5 * length * (hb - ha);
  return d;
}

// ------------------------------------------ Newton ---------------------------------------------

// U = 0 without a tail if the sides are 2s/(1-s) apart along n: a lower bound of their distance.
// Sets sol->least.
static bool isFar(djPlaneSolution* sol, const djClouds* c, djBarrier law) {
  double length = lengthOf(sol->p);
  leastHeights(sol->least, c, sol->p);
  sol->least[0] += -sol->p[3] - reachOf(c, 0, sol->p, length);
  sol->least[1] += sol->p[3] - reachOf(c, 1, sol->p, length);
  return (sol->least[0] + sol->least[1]) * (1 - law.s) >= 2 * law.s * length;
}

// A step of (n, o): n turns and its length changes by u.dn, so that turning alone leaves the narrow
// valley of P(1 - |n|) where it is. With x = |t|^2/|n|^2, t across u, the length grows by
// sqrt(1 + x), of which two terms are enough while it is small. Through n = 0, where a tail's |n| has
// its tip, steps are straight.
DJU_INLINE void retract(double q[4], const double p[4], const djPlaneEval* e, double step,
                        const double dp[4]) {
  const double* u = e->dir.u;
  double radial = u[0] * dp[0] + u[1] * dp[1] + u[2] * dp[2], turn = step * e->dir.inv;
  double square = dp[0] * dp[0] + dp[1] * dp[1] + dp[2] * dp[2];
  double x = turn * turn * (square - radial * radial), factor = 1 - x * (0.5 - 0.375 * x);
  for (int k = 0; k < 4; k++) q[k] = p[k] + step * dp[k];
  double length = e->dir.length + step * radial;
  if (x > 0.01) factor = length > 0 ? length / lengthOf(q) : 1;
  for (int k = 0; k < 3; k++) q[k] *= factor;
}

// Part of the step from p to q after which all arguments are positive still: where D0 > 0 falls to
// D1 <= 0 along a line, on which D is concave, below D0/(D0 - D1).
static double stepInside(const djClouds* c, const djPlaneEval* e, const double p[4],
                         const double q[4]) {
  djLanes part = dju_splat(1);
  double length = lengthOf(q), more[2][2] = {{0}};   // q(n) of a and b, at both ends
  for (int k = 0; k < 2 && c->curved; k++) {
    more[0][k] = dj_curveReach(NULL, NULL, &c->curve[k], dju_load3(p));
    more[1][k] = dj_curveReach(NULL, NULL, &c->curve[k], dju_load3(q));
  }
  for (int i = 0; i < c->n; i += DJU_LANES) {
    djLanes x = dju_loadLanes(c->x[0] + i), y = dju_loadLanes(c->x[1] + i);
    djLanes z = dju_loadLanes(c->x[2] + i), o = dju_loadLanes(c->x[3] + i);
    djLanes d0 = p[0] * x + p[1] * y + p[2] * z + p[3] * o;
    djLanes d1 = q[0] * x + q[1] * y + q[2] * z + q[3] * o;
    if (c->tail) {
      d0 += c->tail->offset;
      d1 += c->tail->offset;
    } else {
      djLanes r = dju_loadLanes(c->lift + i);
      d0 -= r * e->dir.length;
      d1 -= r * length;
    }
    if (c->curved) {
      djMask a = dju_firstLanes(c->na - i);
      d0 -= dju_pick(a, dju_splat(more[0][0]), dju_splat(more[0][1]));
      d1 -= dju_pick(a, dju_splat(more[1][0]), dju_splat(more[1][1]));
    }
    part = dju_minLanes(dju_pick(d1 <= 0, d0 / (d0 - d1), part), part);
  }
  double step = fmin(dju_least(part), 1), d0 = 1 - e->dir.length, d1 = 1 - length;
  if (!(d1 > 0)) step = fmin(step, d0 / (d0 - d1));
  return 0.9 * step;
}

// Rounding of the value. Arguments D are exact to a few eps times the reach of the vertices that
// touch: the root of sum P'' z^2/sum P'', and the radius. The sum of |P'| is below
// sqrt(4/3 sum P sum P''), since P'^2 <= 4/3 P P''.
static double valueNoise(const djPlaneEval* e, const djClouds* c) {
  const double* m = e->sum + 5;
  double forces = 1.16 * sqrt(e->value * m[9]);
  double arms = 1.16 * sqrt(e->value * (m[0] + m[4] + m[7]));
  double reach = c->r[0] + c->r[1];
  if (c->curved) reach += dj_curveSize(&c->curve[0]) + dj_curveSize(&c->curve[1]);
  return 1e-15 * (e->value + arms + reach * forces);
}

// dp = -x; returns g.x, the squared decrement where x = h^-1 g.
DJU_INLINE double finishStep(double dp[4], const double x[4], const double g[4]) {
  for (int k = 0; k < 4; k++) dp[k] = -x[k];
  return (g[0] * x[0] + g[1] * x[1]) + (g[2] * x[2] + g[3] * x[3]);
}

// Newton's step along a straight line.
static double straightStep(double dp[4], const djPlaneEval* e) {
  djLdl4 factor;
  double x[4], h[10];
  planeHessian(h, e);
  dju_factorLdl4(&factor, h);
  dju_solveLdl4(x, &factor, e->g);
  return finishStep(dp, x, e->g);
}

// Newton's step for steps as retract takes them. With n + dn = (|n| + a)(u + t/|n| - u t^2/2|n|^2),
// a = u.dn, t across u, second order terms a t/|n| - u t^2/2|n| act on the gradient g, so that U_pp
// gains
//   (u g_t^T + g_t u^T)/|n| - (u.g/|n|)(I - u u^T),  g_t = g - u (u.g),
// which vanishes at the minimum. With f the first three of sum sigma P'(z, 1), g = f - P' u, and
// the whole is
//   sum P'' z z^T + c I + u w^T + w u^T,
//   c = -(u.f + sum r P'_i)/|n|,  w = f/|n| + ((P'' - c)/2 - u.f/|n|) u.
// Where that is not positive definite: the straight step. careful: by the stable factorization.
DJU_INLINE double newtonStep(double dp[4], const djPlaneEval* e, bool careful) {
  const double *u = e->dir.u, *f = e->sum + 1;
  double inv = e->dir.inv, along = (u[0] * f[0] + u[1] * f[1] + u[2] * f[2]) * inv;
  double c = -along - e->sum[15] * inv, part = 0.5 * (e->bend - c) - along;
  double w[3] = {inv * f[0] + part * u[0], inv * f[1] + part * u[1], inv * f[2] + part * u[2]};
  double h[10], x[4];
  addToNormal(h, e->sum, c, u, w);
  if (e->curved) addBends(h, e);
  if (!careful && dju_solveSpd4(x, h, e->g)) return finishStep(dp, x, e->g);
  djLdl4 factor;
  if (!dju_factorLdl4(&factor, h)) return straightStep(dp, e);
  dju_solveLdl4(x, &factor, e->g);
  return finishStep(dp, x, e->g);
}

// The iteration: the present plane and its values, and room for those of a trial.
typedef struct djNewton {
  double* p;
  djPlaneEval *e, *trial;
  const djClouds* c;
  djBarrier law;
  bool centred;            // the start is, as far as it can be
} djNewton;

// Take q, whose values are the trial's.
DJU_INLINE void accept(djNewton* it, const double q[4]) {
  djPlaneEval* e = it->e;
  it->e = it->trial;
  it->trial = e;
  for (int k = 0; k < 4; k++) it->p[k] = q[k];
}

// The first step that is tried, of Newton's. Near its onset a barrier is of fourth degree: Newton's
// step goes a third of the way there, and the squared decrement, `part` of the value, is 4/3 of it.
static double firstStep(double part) { return part > 0.1 ? 1 + 1.5 * fmin(part, 0.5) : 1; }

// Damped step: along dp turning n, or along a straight line. slope = -g.dp > 0. False: no step of
// `tries` decreases the value enough. Small steps are taken whole: the value may be too coarse to
// tell that it decreases.
static bool search(djNewton* it, const double dp[4], double slope, bool turning, int tries) {
  const djPlaneEval* e = it->e;
  double step = turning && !it->c->tail ? firstStep(slope / e->value) : 1;
  double bound = slope > 1e-9 * e->value ? e->value + valueNoise(e, it->c) : DBL_MAX;
  for (int k = 0; k < tries; k++) {
    double q[4];
    if (turning) {
      retract(q, it->p, e, step, dp);
    } else {
      for (int i = 0; i < 4; i++) q[i] = it->p[i] + step * dp[i];
    }
    evalPlane(it->trial, it->c, q, it->law);
    if (it->trial->value <= bound - 1e-4 * step * slope) {
      accept(it, q);
      return true;
    }
    step *= isinf(it->trial->value) ? stepInside(it->c, e, it->p, q) : 0.5;
  }
  return false;
}

// Along a straight line U is convex.
static bool searchStraight(djNewton* it) {
  double dp[4], slope = straightStep(dp, it->e);
  return search(it, dp, slope, false, 40);
}

// Where the start is infeasible or poor: the same direction centred, if that is better.
static djPlaneStatus centre(djNewton* it, djPlaneSolution* sol) {
  double p[4] = {it->p[0], it->p[1], it->p[2], it->p[3]};
  double d = dj_centrePlane(p, it->c, it->law);
  bool tail = it->c->tail != NULL;
  if (!tail && d * (1 - it->law.s) >= 2 * it->law.s) {
    sol->least[0] = sol->least[1] = 0.5 * d * lengthOf(p);
    for (int k = 0; k < 4; k++) it->p[k] = p[k];
    return DJ_PLANE_ZERO;
  }
  if (tail || d > 0) {
    evalPlane(it->trial, it->c, p, it->law);
    if (it->trial->value < it->e->value) accept(it, p);
  }
  return isinf(it->e->value) ? DJ_PLANE_LOST : DJ_PLANE_DONE;
}

static bool isCoarse(const djNewton* it) {
  return !it->c->tail && dj_isCoarse(it->e->value, it->law);
}

// At a squared decrement of 1e-13 U one full step more leaves an error of the order of rounding; with
// a tail, of which U may be almost all, at 1e-20 U.
// Where even that cannot be reached, the iteration ends when small decrements stop falling. First
// Newton's step that turns n, which is long where it can be; where that fails, the straight one.
static djPlaneStatus iterate(djNewton* it, djPlaneSolution* sol, int max_iterations) {
  double dp[4], decrement2 = newtonStep(dp, it->e, false), last = INFINITY;
  const double least = it->c->tail ? 1e-20 : 1e-13;
  if (!(decrement2 < 0.3 * it->e->value) && !it->centred) {
    djPlaneStatus status = centre(it, sol);
    if (status != DJ_PLANE_DONE) return status;
    decrement2 = newtonStep(dp, it->e, false);
  }
  for (;;) {
    double value = it->e->value;
    bool coarse = isCoarse(it) || last < 1e-9 * value;
    if (decrement2 <= least * value || (coarse && decrement2 > 0.5 * last)) break;
    if (sol->iterations == max_iterations) return DJ_PLANE_LOST;
    sol->iterations++;
    last = decrement2;
    if (!search(it, dp, decrement2, true, 8) && !searchStraight(it)) {
      return isCoarse(it) ? DJ_PLANE_DONE : DJ_PLANE_LOST;
    }
    if (!it->c->tail && (it->e->value == 0 || sol->iterations > 3)) {   // Newton is slow at U = 0
      if (isFar(sol, it->c, it->law) || it->e->value == 0) return DJ_PLANE_ZERO;
    }
    decrement2 = newtonStep(dp, it->e, false);
    if (!(decrement2 < 0.1 * last)) decrement2 = newtonStep(dp, it->e, true);
  }
  if (decrement2 > 1e-26 * it->e->value) {   // the last step
    if (decrement2 > 1e-20 * it->e->value) newtonStep(dp, it->e, true);
    double q[4];
    retract(q, it->p, it->e, 1, dp);
    for (int k = 0; k < 4; k++) it->p[k] = q[k];
    sol->iterations++;
  }
  return DJ_PLANE_DONE;
}

static djPlaneStatus solve(djPlaneSolution* sol, const djClouds* c, djBarrier law,
                           int max_iterations, bool centred) {
  djPlaneEval e[2];
#ifdef __clang_analyzer__  // it does not know that an infinite value is handled apart
  memset(e, 0, sizeof e);
#endif
  djNewton it = {sol->p, &e[0], &e[1], c, law, centred};
  djPlaneStatus status = DJ_PLANE_DONE;
  sol->iterations = 0;
  evalPlane(it.e, c, sol->p, law);
  if (isinf(it.e->value)) {
    status = centre(&it, sol);
  } else if (!c->tail && it.e->value == 0) {
    isFar(sol, c, law);
    status = DJ_PLANE_ZERO;
  }
  if (status == DJ_PLANE_DONE) status = iterate(&it, sol, max_iterations);
  if (status != DJ_PLANE_ZERO && !isinf(it.e->value)) {
    evalSides(it.e, sol, c, law);
    if (isinf(it.e->value)) status = DJ_PLANE_LOST;   // not seen: the last step is tiny
    double h[10];
    planeHessian(h, it.e);
    dju_factorLdl4(&sol->factor, h);
  }
  sol->value = status == DJ_PLANE_ZERO ? 0 : it.e->value;
  return status;
}

djPlaneStatus dj_solvePlane(djPlaneSolution* sol, const djClouds* c, djBarrier law,
                            int max_iterations) {
  return solve(sol, c, law, max_iterations, false);
}

djPlaneStatus dj_solveCentredPlane(djPlaneSolution* sol, const djClouds* c, djBarrier law,
                                   int max_iterations) {
  return solve(sol, c, law, max_iterations, true);
}
