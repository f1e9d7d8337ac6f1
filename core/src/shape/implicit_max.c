// Smooth polytopes and truncated cones (iDCOL, eqs. 12-17, A1-A16): with c_i the functions that are
// each negative inside, phi = smax(c) = m + log(sum exp(beta (c_i - m)))/beta, m the largest. With
// weights w_i = exp(beta (c_i - phi)), whose sum is 1,
//   grad phi = sum w_i c_i',   Hess phi = sum w_i (c_i'' + beta c_i' c_i'^T) - beta grad grad^T.
// With d_i = c_i' - c_k', k the largest, these are c_k' + sum w_i d_i and, where nothing cancels
// when one weight is nearly 1, sum w_i (c_i'' + beta d_i d_i^T) - beta (sum w_i d_i)(sum w_i
// d_i)^T.
//
// Since phi is no less than any c_i, a shape lies inside the sharp one: a bound of that holds it. A
// ball of radius r about the origin is inside where smax of the c_i's largest values on it is no
// more than 0; these grow with r.

#include "shape/implicit.h"

#include "math/lanes.h"

#include <float.h>
#include <string.h>

// exp(x) for x <= 0, to 2 ulp; below -700: 0. x = k log 2 + r, |r| <= log(2)/2, of exp(r) the
// series to r^13/13!, by pairs, then pairs of pairs.
DJU_INLINE djLanes expLanes(djLanes x) {
  const double shift = 6755399441055744.0; // 1.5 2^52: adding it rounds to whole numbers
  const djMask none = x < dju_splat(-700);
  x = dju_pick(none, dju_splat(0), x);
  const djLanes t = dju_fmaLanes(x, dju_splat(1.4426950408889634), dju_splat(shift));
  const djLanes k = t - dju_splat(shift);
  djLanes r = dju_fmaLanes(k, dju_splat(-6.93147180369123816490e-01), x);
  r = dju_fmaLanes(k, dju_splat(-1.90821492927058770002e-10), r);
  static const double C[14] = {1,
                               1,
                               0.5,
                               1.0 / 6,
                               1.0 / 24,
                               1.0 / 120,
                               1.0 / 720,
                               1.0 / 5040,
                               1.0 / 40320,
                               1.0 / 362880,
                               1.0 / 3628800,
                               1.0 / 39916800,
                               1.0 / 479001600,
                               1.0 / 6227020800.0};
  const djLanes r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  djLanes p[7];
  for (int i = 0; i < 7; i++) p[i] = dju_fmaLanes(dju_splat(C[2 * i + 1]), r, dju_splat(C[2 * i]));
  const djLanes q0 = dju_fmaLanes(p[1], r2, p[0]), q1 = dju_fmaLanes(p[3], r2, p[2]);
  const djLanes q2 = dju_fmaLanes(p[6], r4, dju_fmaLanes(p[5], r2, p[4]));
  djLanes e = dju_fmaLanes(q2, r8, dju_fmaLanes(q1, r4, q0));
  e = (djLanes)((djMask)e + ((djMask)t << 52)); // the low bits of t are k
  return dju_pick(none, dju_splat(0), e);
}

// a.y/L - b/L of eight facets
DJU_INLINE djLanes faceLanes(const djImplicit* shape, int i, djVec3 y) {
  const double* const* face = shape->face;
  djLanes v = dju_fmaLanes(dju_loadLanes(face[0] + i), dju_splat(y.x), -dju_loadLanes(face[3] + i));
  v = dju_fmaLanes(dju_loadLanes(face[1] + i), dju_splat(y.y), v);
  return dju_fmaLanes(dju_loadLanes(face[2] + i), dju_splat(y.z), v);
}

// The largest c_i, *at its number.
static double largestFace(int* at, const djImplicit* shape, djVec3 y) {
  djLanes most = dju_splat(-INFINITY);
  djMask where = {0}, number = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int i = 0; i < shape->npad; i += DJU_LANES) {
    const djLanes v = faceLanes(shape, i, y);
    const djMask more = v > most;
    most = dju_pick(more, v, most);
    where = (number & more) | (where & ~more);
    number += DJU_LANES;
  }
  double m = -INFINITY;
  for (int k = 0; k < DJU_LANES; k++) {
    if (most[k] > m) m = most[k], *at = (int)where[k];
  }
  return m;
}

// Terms below 1e-17 of the largest are left out.
static void evalPolytope(djImplicitPoint* out, const djImplicit* shape, djVec3 y) {
  const double beta = shape->sharp, *const *face = shape->face;
  int k = 0;
  const double m = largestFace(&k, shape, y);
  const djLanes ax = dju_splat(face[0][k]), ay = dju_splat(face[1][k]), az = dju_splat(face[2][k]);
  djLanes sum[8];
  for (int i = 0; i < 8; i++) sum[i] = dju_splat(0);
  djLanes dx = sum[0], dy = dx, dz = dx;
  for (int i = 0; i < shape->npad; i += DJU_LANES) {
    const djLanes e = dju_splat(beta) * (faceLanes(shape, i, y) - dju_splat(m));
    if (!dju_any(e > dju_splat(-39))) continue;
    const djLanes w = expLanes(e);
    const djLanes x = dju_loadLanes(face[0] + i) - ax, z = dju_loadLanes(face[2] + i) - az;
    const djLanes v = dju_loadLanes(face[1] + i) - ay, wx = w * x, wv = w * v, wz = w * z;
    sum[0] = dju_fmaLanes(wx, x, sum[0]);
    sum[1] = dju_fmaLanes(wv, v, sum[1]);
    sum[2] = dju_fmaLanes(wz, z, sum[2]);
    sum[3] = dju_fmaLanes(wx, v, sum[3]);
    sum[4] = dju_fmaLanes(wx, z, sum[4]);
    sum[5] = dju_fmaLanes(wv, z, sum[5]);
    sum[6] += w;
    dx += wx, dy += wv, dz += wz;
  }
  double s[8];
  sum[7] = dx;
  dju_sumEight(s, sum);
  const double W = 1 / s[6], b = beta * W;
  const djVec3 d = dju_vec3(s[7] * W, dju_sumLanes(dy) * W, dju_sumLanes(dz) * W);
  out->phi = m + (log(s[6]) - shape->ease) / beta;
  out->g = dju_add3(dju_vec3(face[0][k], face[1][k], face[2][k]), d);
  out->H[0] = b * s[0] - beta * d.x * d.x;
  out->H[1] = b * s[1] - beta * d.y * d.y;
  out->H[2] = b * s[2] - beta * d.z * d.z;
  out->H[3] = b * s[3] - beta * d.x * d.y;
  out->H[4] = b * s[4] - beta * d.x * d.z;
  out->H[5] = b * s[5] - beta * d.y * d.z;
}

// ---- truncated cones ----------------------------------------------------------------------------
//
// c: side r^2/R^2 - 1, bottom -y1/a - 1, top y1/b - 1, with R(y1) = Rb + (Rt - Rb)(y1 + a)/(a + b).
// Beyond the narrow end, where phi > 0 whatever the side is, R falls off as an exponential function
// with the same slope at the end: it would be 0 at the tip.

typedef struct Cone {
  double c[3];
  djVec3 d[3];    // gradients
  double side[6]; // Hessian of the side
  double R, k, t; // radius, its slope, (y1 + a)/(a + b)
} Cone;

enum { SIDE, BOTTOM, TOP };
enum { RB, RT, A, B, BETA };

static void coneTerms(Cone* out, const djImplicit* shape, djVec3 y) {
  const double* s = shape->size;
  const double h = s[A] + s[B], t = (y.x + s[A]) / h, r2 = y.y * y.y + y.z * y.z;
  double k = (s[RT] - s[RB]) / h, R = s[RB] + (s[RT] - s[RB]) * t, bend = 0;
  const double end = k < 0 ? s[RT] : s[RB], past = k < 0 ? y.x - s[B] : y.x + s[A];
  if (k * past < 0) {
    R = end * exp(fmax(k * past / end, -30));
    k *= R / end;
    bend = k * k / R;
  }
  const double d = 1 / (R * R);
  *out = (Cone){
      .c = {r2 * d - 1, -y.x / s[A] - 1, y.x / s[B] - 1},
      .d = {{-2 * k * r2 * d / R, 2 * y.y * d, 2 * y.z * d}, {-1 / s[A], 0, 0}, {1 / s[B], 0, 0}},
      .side = {(6 * k * k * d - 2 * bend / R) * r2 * d, 2 * d, 2 * d, -4 * k * y.y * d / R,
               -4 * k * y.z * d / R, 0},
      .R = R,
      .k = k,
      .t = t};
}

// Weights, and phi.
static double coneWeights(double w[3], int* at, const double c[3], double beta, double ease) {
  int k = c[0] > c[1] ? 0 : 1;
  if (c[2] > c[k]) k = 2;
  double sum = 0;
  for (int i = 0; i < 3; i++) sum += w[i] = i == k ? 1 : exp(beta * (c[i] - c[k]));
  for (int i = 0; i < 3; i++) w[i] /= sum;
  *at = k;
  return c[k] + (log(sum) - ease) / beta;
}

static void evalCone(djImplicitPoint* out, const djImplicit* shape, djVec3 y) {
  Cone cone;
  double w[3];
  int k;
  const double beta = shape->sharp;
  coneTerms(&cone, shape, y);
  out->phi = coneWeights(w, &k, cone.c, beta, shape->ease);
  djVec3 mean = {0, 0, 0}, d[3];
  for (int i = 0; i < 3; i++) {
    d[i] = dju_sub3(cone.d[i], cone.d[k]);
    mean = dju_madd3(mean, w[i], d[i]);
  }
  out->g = dju_add3(cone.d[k], mean);
  // Side - other terms differ in all three, bottom and top along the axis alone.
  double H[6] = {-mean.x * mean.x, -mean.y * mean.y, -mean.z * mean.z,
                 -mean.x * mean.y, -mean.x * mean.z, -mean.y * mean.z};
  for (int i = 0; i < 3; i++) {
    H[0] += w[i] * d[i].x * d[i].x;
    H[1] += w[i] * d[i].y * d[i].y;
    H[2] += w[i] * d[i].z * d[i].z;
    H[3] += w[i] * d[i].x * d[i].y;
    H[4] += w[i] * d[i].x * d[i].z;
    H[5] += w[i] * d[i].y * d[i].z;
  }
  for (int i = 0; i < 6; i++) out->H[i] = beta * H[i] + w[SIDE] * cone.side[i];
}

// ---- by numbers ---------------------------------------------------------------------------------
//
// A number that changes c_i by x and c_i' by X changes phi by w_i x and the gradient by
// w_i (X + beta x (c_i' - grad)); by beta phi changes by (sum w_i c_i - phi)/beta and the gradient
// by sum w_i (c_i - sum w_j c_j) c_i'.

// x, y, z of eight facets in turn.
DJU_INLINE void mixLanes(double out[24], djLanes x, djLanes y, djLanes z) {
  const djLanes a = __builtin_shufflevector(x, y, 0, 8, 0, 1, 9, 0, 2, 10);
  const djLanes b = __builtin_shufflevector(x, y, 0, 3, 11, 0, 4, 12, 0, 5);
  const djLanes c = __builtin_shufflevector(x, y, 13, 0, 6, 14, 0, 7, 15, 0);
  dju_storeLanes(out, __builtin_shufflevector(a, z, 0, 1, 8, 3, 4, 9, 6, 7));
  dju_storeLanes(out + 8, __builtin_shufflevector(b, z, 10, 1, 2, 11, 4, 5, 12, 7));
  dju_storeLanes(out + 16, __builtin_shufflevector(c, z, 0, 13, 2, 3, 14, 5, 6, 15));
}

// Of a facet all is w/L times: of b -v, of A y_k v + the map's column k, with v what the map makes
// of (1, beta (c_i' - grad)); of L and beta by means of c_i and c_i c_i'. No c_i is above 0.
enum { KEPT = 8 };

static void mapPolytope(double* out, int rows, const double* map, const djImplicit* shape,
                        djVec3 y) {
  const int m = shape->nface, n = shape->nsize;
  const double beta = shape->sharp, L = shape->size[4 * m], *const *face = shape->face;
  djLanes sum[8], kept[KEPT], w;
  for (int i = 0; i < 8; i++) sum[i] = dju_splat(0);
  for (int i = 0; i < shape->npad; i += DJU_LANES) {
    const djLanes e = dju_splat(beta) * faceLanes(shape, i, y);
    w = dju_any(e > dju_splat(-39)) ? expLanes(e) : dju_splat(0);
    if (i < KEPT * DJU_LANES) kept[i / DJU_LANES] = w;
    const djLanes we = dju_pick(w > dju_splat(0), w * e, w);
    sum[0] += w;
    sum[1] += we;
    for (int j = 0; j < 3; j++) {
      const djLanes a = dju_loadLanes(face[j] + i);
      sum[2 + j] = dju_fmaLanes(w, a, sum[2 + j]);
      sum[5 + j] = dju_fmaLanes(we, a, sum[5 + j]);
    }
  }
  double s[8], g[3], by_L[4], by_beta[4];
  dju_sumEight(s, sum);
  const double W = 1 / s[0], mean = s[1] * W, over = 1 / L, soft = 1 / beta; // of beta c_i
  by_L[0] = -mean * soft * over;
  by_beta[0] = (mean - (s[0] - 1)) * soft * soft; // the logarithm, as phi is about 0
  for (int j = 0; j < 3; j++) {
    g[j] = s[2 + j] * W;
    const double bend = (s[5 + j] - mean * s[2 + j]) * W;
    by_L[1 + j] = -(g[j] + bend) * over;
    by_beta[1 + j] = bend * soft;
  }
  for (int r = 0; r < rows; r++) {
    const double* q = map + 4 * r;
    double* to = out + r * n + 4 * m;
    to[0] = q[0] * by_L[0] + q[1] * by_L[1] + q[2] * by_L[2] + q[3] * by_L[3];
    to[1] = q[0] * by_beta[0] + q[1] * by_beta[1] + q[2] * by_beta[2] + q[3] * by_beta[3];
  }
  for (int i = 0; i < m; i += DJU_LANES) {
    const int count = m - i < DJU_LANES ? m - i : DJU_LANES;
    djLanes off[3];
    if (i < KEPT * DJU_LANES)
      w = kept[i / DJU_LANES];
    else
      w = expLanes(dju_splat(beta) * faceLanes(shape, i, y));
    w *= dju_splat(W * over);
    for (int j = 0; j < 3; j++) {
      off[j] = dju_splat(beta) * w * (dju_loadLanes(face[j] + i) - dju_splat(g[j]));
    }
    for (int r = 0; r < rows; r++) {
      const double* q = map + 4 * r;
      double *by_A = out + r * n + 3 * i, *by_b = out + r * n + 3 * m + i, mixed[24], v[8];
      djLanes u = w * dju_splat(q[0]);
      for (int j = 0; j < 3; j++) u = dju_fmaLanes(off[j], dju_splat(q[1 + j]), u);
      const djLanes x = dju_fmaLanes(dju_splat(y.x), u, w * dju_splat(q[1]));
      const djLanes z = dju_fmaLanes(dju_splat(y.z), u, w * dju_splat(q[3]));
      mixLanes(count == DJU_LANES ? by_A : mixed, x,
               dju_fmaLanes(dju_splat(y.y), u, w * dju_splat(q[2])), z);
      dju_storeLanes(count == DJU_LANES ? by_b : v, -u);
      if (count == DJU_LANES) continue;
      memcpy(by_A, mixed, 3 * (size_t)count * sizeof *by_A);
      memcpy(by_b, v, (size_t)count * sizeof *by_b);
    }
  }
}

// Between the ends, where the surface is.
static void byCone(double out[4][DJ_FEW], const djImplicit* shape, djVec3 y) {
  const double *s = shape->size, beta = shape->sharp;
  Cone cone;
  double w[3], mean = 0;
  int at;
  coneTerms(&cone, shape, y);
  const double phi = coneWeights(w, &at, cone.c, beta, 0);
  djVec3 g = {0, 0, 0}, moment = {0, 0, 0};
  for (int i = 0; i < 3; i++) {
    g = dju_madd3(g, w[i], cone.d[i]);
    moment = dju_madd3(moment, w[i] * cone.c[i], cone.d[i]);
    mean += w[i] * cone.c[i];
  }
  const double t = cone.t, k = cone.k, over = 1 / cone.R, q3 = over * over * over;
  const double h = 1 / (s[A] + s[B]), fall = -2 * (y.y * y.y + y.z * y.z) * q3; // of c by R
  const double dR[4] = {1 - t, t, k * (1 - t), -k * t};
  const double dk[4] = {-h, h, -k * h, -k * h};
  const djVec3 off = dju_sub3(cone.d[SIDE], g);
  for (int j = 0; j < 4; j++) {
    const double c = fall * dR[j], f4 = -4 * q3 * dR[j];
    const djVec3 X = dju_vec3(fall * (dk[j] - 3 * k * over * dR[j]), f4 * y.y, f4 * y.z);
    double f = w[SIDE] * c;
    djVec3 d = dju_scale3(w[SIDE], dju_madd3(X, beta * c, off));
    if (j >= A) { // the caps' own
      const int i = j == A ? BOTTOM : TOP;
      const double q = 1 / (s[j] * s[j]), sign = j == A ? 1 : -1;
      f += w[i] * sign * y.x * q;
      d = dju_add3(d, dju_scale3(w[i], dju_madd3(dju_vec3(sign * q, 0, 0), beta * sign * y.x * q,
                                                 dju_sub3(cone.d[i], g))));
    }
    dj_putNumber(out, j, f, d);
  }
  dj_putNumber(out, BETA, (mean - phi) / beta, dju_madd3(moment, -mean, g));
}

// ---- radii --------------------------------------------------------------------------------------

// The r at which sum exp(beta c_i(r)) = 1, for c_i that rise and are below 0 at 0; c(r) of number
// i. `most`: where the first is 0. Bisection: what is returned is on the safe side.
static double insideRadius(double (*c)(const djImplicit*, int i, double r), int n,
                           const djImplicit* shape, double most) {
  double low = 0, high = most;
  for (int k = 0; k < 40 && high - low > 1e-9 * most; k++) {
    const double r = 0.5 * (low + high);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += exp(fmin(shape->sharp * c(shape, i, r), 700));
    *(sum < 1 ? &low : &high) = r;
  }
  return low;
}

static double faceOn(const djImplicit* shape, int i, double r) {
  const djVec3 a = dju_vec3(shape->face[0][i], shape->face[1][i], shape->face[2][i]);
  return r * dju_norm3(a) - shape->face[3][i];
}

// Of the polytope the outer radius is that of its corners, which is set with the facets.
static void polytopeRadii(double* inner, double* outer, const djImplicit* shape) {
  double most = INFINITY;
  for (int i = 0; i < shape->nface; i++) {
    most = fmin(most, shape->face[3][i] / (faceOn(shape, i, 1) + shape->face[3][i]));
  }
  *inner = insideRadius(faceOn, shape->nface, shape, most);
  *outer = shape->outer;
}

// On a circle of radius r about the origin the largest r_yz/(R0 + k y1) is r/sqrt(R0^2 - k^2 r^2).
static double coneOn(const djImplicit* shape, int i, double r) {
  const double* s = shape->size;
  if (i == BOTTOM) return r / s[A] - 1;
  if (i == TOP) return r / s[B] - 1;
  const double k = (s[RT] - s[RB]) / (s[A] + s[B]), R0 = s[RB] + k * s[A];
  const double left = R0 * R0 - k * k * r * r;
  return left > 0 ? r * r / left - 1 : INFINITY;
}

static void coneRadii(double* inner, double* outer, const djImplicit* shape) {
  const double* s = shape->size;
  *inner = insideRadius(coneOn, 3, shape, fmin(s[A], s[B]));
  *outer = fmax(hypot(s[A], s[RB]), hypot(s[B], s[RT]));
}

// ---- ellipsoids ---------------------------------------------------------------------------------

// S^-1 = 3/m sum (a_i/b_i) (a_i/b_i)^T: of a box the inscribed one.
static void roundPolytope(double S[6], const djImplicit* shape) {
  static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
  double Q[6] = {0};
  for (int i = 0; i < shape->nface; i++) {
    for (int k = 0; k < 6; k++) {
      Q[k] += 3 * shape->face[I[k]][i] * shape->face[J[k]][i] /
              (shape->face[3][i] * shape->face[3][i] * shape->nface);
    }
  }
  dj_invertImplicit(S, Q);
}

static void roundCone(double S[6], const djImplicit* shape) {
  const double* s = shape->size;
  const double h = 0.5 * (s[A] + s[B]), r = 0.5 * (s[RB] + s[RT]);
  S[0] = h * h;
  S[1] = S[2] = r * r;
}

static const char* const CONE[] = {"Rb", "Rt", "a", "b", NULL};

const djImplicitRow dj_truncatedCone = {.name = "truncated_cone",
                                        .sharp = "beta",
                                        .size = CONE,
                                        .eval = evalCone,
                                        .by = byCone,
                                        .round = roundCone,
                                        .radii = coneRadii};
const djImplicitRow dj_smoothPolytope = {.name = "smooth_polytope",
                                         .sharp = "beta",
                                         .eval = evalPolytope,
                                         .map = mapPolytope,
                                         .round = roundPolytope,
                                         .radii = polytopeRadii};
