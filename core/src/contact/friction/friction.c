// Lagged plane-mediated friction (SDRS eq. 8-13): energy, gradient and Hessian by the poses now.
//
// With z_i = T+ T^-1 y_i, Delta_i = z_i - Tr T^-1 y_i (Tr the rate pose: T, unless the integrator
// has others) and rho_i = z_i - ref of point i's body,
//   U = sum_i W_i r_i,  W_i = mu h A(f_i),  r_i = sqrt(|s_i|^2 + eps),
//   s_i = P Delta_i/h - (w n x (y_i - c) + u)                            (between hulls, eq. 9, 10)
//   s_i = P (Delta_i - Delta^b_i)/h                                      (half space of body b)
// where Delta^b_i is what body b's motion would do to the same point.
//
// A world twist (omega, v) moves z_i by omega x rho + v + omega x (omega x rho)/2. With
// F_i = dU/dz_i = W_i/h s_i/r_i, in the plane, body k's gradient is sum (rho_i x F_i, F_i); u and w
// are at a minimum and do not appear. The explicit Hessian is
//   sum G_i^T k_i G_i / h^2 + C_k,   G_i omega-part: t . (omega x rho) = (rho x t) . omega,
//   k_i = W_i/r_i (1 - s s^T/r^2) = W_i eps/r^3 along s, W_i/r across,
//   C_k = (M + M^T)/2 - tr(M) 1 on the angular block, M = sum F_i rho_i^T,
// C_k from F . omega x (omega x rho) = (F.omega)(omega.rho) - (F.rho) omega^2. Eliminating (u, w),
//   H = H_xx - H_xv H_vv^-1 H_vx,   H_xv = -sum G_i^T k_i E_i/h,   E_i = [1, J e_i].
//
// The majorizer takes W_i/r_i 1 for k_i, also inside the Schur complement: minimising a larger
// quadratic over v gives a larger quadratic. C_k, which is indefinite and small, becomes |C_k| 1
// (Frobenius), so that the whole is positive semi-definite and no smaller than the exact Hessian.

#include "contact/friction/friction_plane.h"
#include "contact/friction/turning.h"

#include <string.h>

// Before a short inner loop: keeps gcc from unrolling it into scalars instead of vectors.
#if defined(__GNUC__) && !defined(__clang__)
#define VECTOR_LOOP _Pragma("GCC unroll 1")
#else
#define VECTOR_LOOP
#endif

static bool wantsHessian(int flags) {
  return (flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER)) != 0;
}

// C_k added to the angular block at (first, first) of H, from S = M + M^T, M = sum F rho^T of body
// k, as xx, yy, zz, xy, xz, yz.
// H: (12 x 12), S: (6)
static void addCurvature(double* H, int first, const double S[6], bool majorizer) {
  double trace = 0.5 * (S[0] + S[1] + S[2]);
  double C[6] = {0.5 * S[0] - trace, 0.5 * S[1] - trace, 0.5 * S[2] - trace,
                 0.5 * S[3], 0.5 * S[4], 0.5 * S[5]};
  if (majorizer) {
    C[0] = C[1] = C[2] = sqrt(C[0] * C[0] + C[1] * C[1] + C[2] * C[2] +
                              2 * (C[3] * C[3] + C[4] * C[4] + C[5] * C[5]));
    C[3] = C[4] = C[5] = 0;
  }
  double* block = H + 13 * first;
  block[0] += C[0], block[1] += C[3], block[2] += C[4];
  block[12] += C[3], block[13] += C[1], block[14] += C[5];
  block[24] += C[4], block[25] += C[5], block[26] += C[2];
}

// S (6) += F rho^T + rho F^T
static inline void addOuter(double S[6], djVec3 F, djVec3 rho) {
  S[0] += 2 * F.x * rho.x, S[1] += 2 * F.y * rho.y, S[2] += 2 * F.z * rho.z;
  S[3] += F.x * rho.y + F.y * rho.x;
  S[4] += F.x * rho.z + F.z * rho.x;
  S[5] += F.y * rho.z + F.z * rho.y;
}

static inline void add3(double g[3], djVec3 v) { g[0] += v.x, g[1] += v.y, g[2] += v.z; }

// ------------------------------------------ half space ------------------------------------------

// row (12) = scale (rho_a x t, t, -rho_b x t, -t): how the slip along t moves with both twists.
DJU_INLINE void relativeRow(double row[12], double scale, djVec3 rho_a, djVec3 rho_b, djVec3 t) {
  t = dju_scale3(scale, t);
  dju_store3(row, dju_cross3(rho_a, t));
  dju_store3(row + 3, t);
  dju_store3(row + 6, dju_cross3(t, rho_b));
  dju_store3(row + 9, dju_neg3(t));
}

// Rows of the points' Jacobians, times roots of stiffnesses: H = sum row^T row.
enum { MAXROW = 16 };
typedef struct djRows {
  int n;
  double row[MAXROW][12];
} djRows;

// H (12 x 12) += sum row^T row, rows in pairs; empties the rows.
static void flushRows(double* restrict H, djRows* rows) {
  for (int r = 0; r < rows->n; r += 2) {
    const double *p = rows->row[r], *q = rows->row[r + 1];
    for (int i = 0; i < 12; i++) {
      VECTOR_LOOP
      for (int j = 0; j < 12; j++) H[12 * i + j] += p[i] * p[j] + q[i] * q[j];
    }
  }
  rows->n = 0;
}

// Roots of G_i^T k_i G_i/h^2 of a point with slip s: stiffness ka^2 along the slip, kc^2 across it.
DJU_INLINE void addPointRows(djRows* rows, djVec3 n, djVec3 s, double ka, double kc, djVec3 rho_a,
                         djVec3 rho_b, const djStretch* stretch) {
  double ss = dju_dot3(s, s);
  if (ss < 1e-300) {   // any direction in the plane
    s = dju_cross3(n, fabs(n.x) < 0.6 ? dju_vec3(1, 0, 0) : dju_vec3(0, 1, 0));
    ss = dju_dot3(s, s);
  }
  djVec3 along = dju_scale3(1 / sqrt(ss), s);
  djVec3 across = dju_cross3(n, along);
  relativeRow(rows->row[rows->n++], ka, rho_a, rho_b, dj_stretched(stretch, along));
  relativeRow(rows->row[rows->n++], kc, rho_a, rho_b, dj_stretched(stretch, across));
}

// The same with the point's dual variable y: stiffness k^2 (1 - (y s^T + s y^T)/(2 r)).
static void addDualRows(djRows* rows, djVec3 n, djVec3 s, double r, djVec3 y, double k,
                        djVec3 rho_a, djVec3 rho_b, const djStretch* stretch) {
  double size = dju_norm3(s);
  djVec3 along = size > 1e-150 ? dju_scale3(1 / size, s) : dj_tangent(n);
  djVec3 across = dju_cross3(n, along);
  double part = size / r, mixed = -0.5 * part * dju_dot3(y, across);
  double own = 1 - part * dju_dot3(y, along) - mixed * mixed;
  relativeRow(rows->row[rows->n++], k, rho_a, rho_b,
              dj_stretched(stretch, dju_madd3(across, mixed, along)));
  relativeRow(rows->row[rows->n++], k * sqrt(fmax(own, 0)), rho_a, rho_b,
              dj_stretched(stretch, along));
}

// Dual variables of a's points, world axes, or false.
static bool halfSpaceDuals(djVec3* y, djFrictionState* state, const djLagged* lagged,
                           const djPairInput* in, const djSlipLaw* law,
                           const djStretch* stretch) {
  double slip[DJ_DUAL_POINTS][2], dual[DJ_DUAL_POINTS][2];
  const djMotion ma = dj_motionOf(in, 0), mb = dj_motionOf(in, 1);
  const djVec3 t1 = dj_tangent(lagged->normal), t2 = dju_cross3(lagged->normal, t1);
  if (!dj_hasDuals(lagged, lagged->na, in->iterate)) return false;
  for (int i = 0; i < lagged->na; i++) {
    djVec3 x = dj_armPoint(lagged, lagged->law.arms, dju_load3(lagged->point + 3 * i));
    djVec3 s = dju_scale3(1 / in->h, dju_sub3(dj_displace(&ma, x), dj_displace(&mb, x)));
    s = dj_stretched(stretch, s);
    slip[i][0] = dju_dot3(t1, s);
    slip[i][1] = dju_dot3(t2, s);
  }
  if (!dj_dualSlips(dual, state, lagged, slip, lagged->na, law, in->iterate)) return false;
  for (int i = 0; i < lagged->na; i++) {
    y[i] = dju_madd3(dju_scale3(dual[i][0], t1), dual[i][1], t2);
  }
  return true;
}

// a's points against a half space of body b. Body b's z_i moves by its own twist about ref_b, with
// the opposite sign.
DJU_INLINE djStatus halfSpaceBy(djPairOutput* out, djFrictionState* state, const djLagged* lagged,
                                const djPairInput* in, int flags, const djTurn* turn,
                                const bool apart) {
  const djSlipLaw law = dj_turnLaw(lagged, in, turn);
  const djStretch stretch = dj_stretchOf(lagged, in);
  const bool second = wantsHessian(flags);
  const bool majorizer = (flags & DJ_EVAL_MAJORIZER) != 0 && !law.foreseen;
  const djVec3 n = lagged->normal;
  const double rate = 1 / in->h;
  const djMotion ma = dj_motionOf(in, 0), mb = dj_motionOf(in, 1);
  double value = 0, Sa[6] = {0}, Sb[6] = {0};
  djVec3 pull = {0, 0, 0}, torque_a = {0, 0, 0}, torque_b = {0, 0, 0};
  const bool still = !apart && memcmp(mb.now, mb.start, sizeof(djPose)) == 0;
  bool any = false;
  djRows rows;
  rows.n = 0;
  djVec3 y_dual[DJ_DUAL_POINTS];
  const bool dual = second && !turn->acts &&
                    halfSpaceDuals(y_dual, state, lagged, in, &law, &stretch) && !majorizer;
  for (int i = 0; i < lagged->na; i++) {
    double force = lagged->force[i];
    if (!(force >= 0) || !isfinite(force)) return DJ_INVALID;
    if (force == 0) continue;
    djVec3 y = dj_armPoint(lagged, lagged->law.arms, dju_load3(lagged->point + 3 * i));
    djVec3 da = dj_displace(&ma, y), db = still ? dju_vec3(0, 0, 0) : dj_displace(&mb, y);
    djVec3 s = dju_scale3(rate, dju_sub3(da, db));
    // twice: bodies may part a million times as fast as they slip, and what rounding leaves of that
    // would turn the slip, which is as stiff as it is slow, out of the plane
    for (int k = 0; k < 2; k++) s = dju_madd3(s, -dju_dot3(n, s), n);
    s = dj_stretched(&stretch, s);
    double W = dj_slipWeight(in, lagged, i);
    double ss = dju_dot3(s, s), r = sqrt(ss + law.eps);
    any = true;
    value += W * r;
    if (!flags) continue;

    djSlipSlope slope = dj_slipSlope(ss, r, &law);
    djVec3 F = dj_stretched(&stretch, dju_scale3(W * rate * slope.pull, s));
    if (apart) {   // from the start instead of the rate poses
      da = dj_displaceBy(ma.now, ma.start, ma.start, y);
      db = dj_displaceBy(mb.now, mb.start, mb.start, y);
    }
    djVec3 rho_a = dju_add3(dju_sub3(y, ma.ref), da), rho_b = dju_add3(dju_sub3(y, mb.ref), db);
    pull = dju_add3(pull, F);
    torque_a = dju_add3(torque_a, dju_cross3(rho_a, F));
    torque_b = dju_add3(torque_b, dju_cross3(rho_b, F));
    if (!second) continue;
    if (rows.n == MAXROW) flushRows(out->hessian, &rows);
    double kc = rate * sqrt(W * slope.across), ka = majorizer ? kc : kc * sqrt(slope.low);
    if (dual) addDualRows(&rows, n, s, r, y_dual[i], kc, rho_a, rho_b, &stretch);
    else addPointRows(&rows, n, s, ka, kc, rho_a, rho_b, &stretch);
    F = dj_stretched(&stretch, dju_scale3(W * rate * slope.turn, s));
    addOuter(Sa, F, rho_a);
    addOuter(Sb, dju_neg3(F), rho_b);
  }
  if (!isfinite(value)) return DJ_INVALID;
  if (!any) return DJ_OK;
  out->active = true;
  out->value += value;
  if (flags) {
    add3(out->gradient, torque_a);
    add3(out->gradient + 3, pull);
    add3(out->gradient + 6, dju_neg3(torque_b));
    add3(out->gradient + 9, dju_neg3(pull));
  }
  if (second) {
    flushRows(out->hessian, &rows);
    addCurvature(out->hessian, 0, Sa, majorizer);
    addCurvature(out->hessian, 6, Sb, majorizer);
  }
  if (turn->acts) {
    djTurnSums sums;
    dj_sumTurn(&sums, turn, lagged, in, NULL);
    dj_addTurn(out, turn, &sums, flags);
  }
  return DJ_OK;
}

static djStatus evalHalfSpace(djPairOutput* out, djFrictionState* state, const djLagged* lagged,
                              const djPairInput* in, int flags, const djTurn* turn) {
  bool apart = in->rate_a != in->start_a || in->rate_b != in->start_b;
  return apart ? halfSpaceBy(out, state, lagged, in, flags, turn, true)
               : halfSpaceBy(out, state, lagged, in, flags, turn, false);
}

// ------------------------------------------ between hulls ---------------------------------------

// Sums over one body's points, with a1 = rho x t1, a2 = rho x t2 (so that the slip's rates are
// a . omega + t . v), force f1 t1 + f2 t2, stiffness k (2x2) and E's last column J e = (-ey, ex).
enum {
  TORQUE = 0,        // 3: f1 a1 + f2 a2
  FORCE = 3,         // 2: f1, f2
  MOMENT = 5,        // 1: (J e) . f
  NFORCE = 6,
  WW = 0,            // 6: (a1 a2) k (a1 a2)^T, lower triangle by rows
  WV1 = 6,           // 3: k11 a1 + k12 a2
  WV2 = 9,           // 3: k12 a1 + k22 a2
  WSPIN = 12,        // 3: (a1 a2) k J e
  KK = 15,           // 6: E^T k E, lower triangle by rows
  F1RHO = 21,        // 3: f1 rho
  F2RHO = 24,        // 3: f2 rho
  NSTIFF = 27,
  DUAL_STRIDE = DJ_DUAL_POINTS + DJU_LANES
};

// total (n) = sums over the lanes; n is padded to a multiple of eight in both.
DJU_INLINE void addLanes(double* total, const djLanes* sum, int n) {
  for (int q = 0; q < n; q += 8) dju_sumEight(total + q, sum + q);
}

// W of the block at i, without the points outside lo to hi - 1.
DJU_INLINE djLanes bodyWeights(const djSlips* S, int i, int lo, int hi) {
  djMask in = dju_firstLanes(hi - i) & ~dju_firstLanes(lo - i);
  return dju_keep(dju_loadLanes(S->W + i), in);
}

// dj_slipSlope of lanes.
typedef struct djLaneSlope {
  djLanes pull, turn, across, low;
} djLaneSlope;
DJU_INLINE djLaneSlope laneSlope(djLanes ss, const djSlipLaw* law) {
  djLanes rr = ss + law->eps, ir = 1 / dj_sqrtLanes(rr);
  if (!law->foreseen) return (djLaneSlope){ir, ir, ir, law->eps * ir * ir};
  const double stick = DJ_FORESEEN_STICK * DJ_FORESEEN_STICK;
  djLanes part = dju_pick(ss < stick * rr, dju_splat(law->part), dju_splat(1));
  ir = 1 / dj_sqrtLanes(part * part * ss + law->aim);
  djLanes low = law->aim * ir * ir;
  return (djLaneSlope){ir * (part + low * (1 - part)), ir * part, ir, low};
}

// total: (8), NFORCE used
static void sumForces(double total[8], int body, const djSlips* S, const djSlipLaw* law) {
  const djLanes v0 = dju_splat(S->v[0]), v1 = dju_splat(S->v[1]), v2 = dju_splat(S->v[2]);
  const djVec3 t1 = S->t1, t2 = S->t2;
  const int lo = body ? S->na : 0, hi = body ? S->n : S->na;
  djLanes sum[8] = {{0}};
  for (int i = lo / DJU_LANES * DJU_LANES; i < hi; i += DJU_LANES) {
    djLanes W = bodyWeights(S, i, lo, hi);
    djLanes ex = dju_loadLanes(S->ex + i), ey = dju_loadLanes(S->ey + i);
    djLanes rx = dju_loadLanes(S->rx + i), ry = dju_loadLanes(S->ry + i);
    djLanes rz = dju_loadLanes(S->rz + i);
    djLanes s1 = dju_loadLanes(S->bx + i) - v0 + v2 * ey;
    djLanes s2 = dju_loadLanes(S->by + i) - v1 - v2 * ex;
    djLanes c = W * laneSlope(s1 * s1 + s2 * s2, law).pull, f1 = c * s1, f2 = c * s2;
    djLanes fx = f1 * t1.x + f2 * t2.x, fy = f1 * t1.y + f2 * t2.y, fz = f1 * t1.z + f2 * t2.z;
    sum[TORQUE] += ry * fz - rz * fy;
    sum[TORQUE + 1] += rz * fx - rx * fz;
    sum[TORQUE + 2] += rx * fy - ry * fx;
    sum[FORCE] += f1;
    sum[FORCE + 1] += f2;
    sum[MOMENT] += ex * f2 - ey * f1;
  }
  addLanes(total, sum, NFORCE);
}

// total: (32), NSTIFF used. exact: 1, or 0 for the majorizer k = W/r 1. y (2 x DUAL_STRIDE): dual
// variables, or NULL: s/r.
DJU_INLINE void sumStiffnessBy(double total[32], int body, const djSlips* S, const djSlipLaw* law,
                               double exact, const double* y, const bool dual) {
  const djLanes v0 = dju_splat(S->v[0]), v1 = dju_splat(S->v[1]), v2 = dju_splat(S->v[2]);
  const djVec3 t1 = S->t1, t2 = S->t2;
  const int lo = body ? S->na : 0, hi = body ? S->n : S->na;
  djLanes sum[32] = {{0}};
  for (int i = lo / DJU_LANES * DJU_LANES; i < hi; i += DJU_LANES) {
    djLanes W = bodyWeights(S, i, lo, hi);
    djLanes ex = dju_loadLanes(S->ex + i), ey = dju_loadLanes(S->ey + i);
    djLanes rx = dju_loadLanes(S->rx + i), ry = dju_loadLanes(S->ry + i);
    djLanes rz = dju_loadLanes(S->rz + i);
    djLanes s1 = dju_loadLanes(S->bx + i) - v0 + v2 * ey;
    djLanes s2 = dju_loadLanes(S->by + i) - v1 - v2 * ex;
    djLaneSlope slope = laneSlope(s1 * s1 + s2 * s2, law);
    djLanes y1 = s1 * slope.turn, y2 = s2 * slope.turn, low = exact * slope.low + (1 - exact);
    djLanes c = W * slope.across, f1 = W * y1, f2 = W * y2;
    djLanes k11 = c * (low + exact * (y2 * y2)), k22 = c * (low + exact * (y1 * y1));
    djLanes k12 = -exact * c * (y1 * y2);
    if (dual) {
      djLanes z1 = dju_loadLanes(y + i), z2 = dju_loadLanes(y + DUAL_STRIDE + i);
      k11 = c * (1 - y1 * z1), k22 = c * (1 - y2 * z2), k12 = -0.5 * c * (y1 * z2 + y2 * z1);
    }
    djLanes q1 = ex * k12 - ey * k11, q2 = ex * k22 - ey * k12;
    djLanes a1x = ry * t1.z - rz * t1.y, a2x = ry * t2.z - rz * t2.y;
    djLanes a1y = rz * t1.x - rx * t1.z, a2y = rz * t2.x - rx * t2.z;
    djLanes a1z = rx * t1.y - ry * t1.x, a2z = rx * t2.y - ry * t2.x;
    djLanes m1x = k11 * a1x + k12 * a2x, m2x = k12 * a1x + k22 * a2x;
    djLanes m1y = k11 * a1y + k12 * a2y, m2y = k12 * a1y + k22 * a2y;
    djLanes m1z = k11 * a1z + k12 * a2z, m2z = k12 * a1z + k22 * a2z;
    sum[WW] += a1x * m1x + a2x * m2x;
    sum[WW + 1] += a1y * m1x + a2y * m2x, sum[WW + 2] += a1y * m1y + a2y * m2y;
    sum[WW + 3] += a1z * m1x + a2z * m2x, sum[WW + 4] += a1z * m1y + a2z * m2y;
    sum[WW + 5] += a1z * m1z + a2z * m2z;
    sum[WV1] += m1x, sum[WV1 + 1] += m1y, sum[WV1 + 2] += m1z;
    sum[WV2] += m2x, sum[WV2 + 1] += m2y, sum[WV2 + 2] += m2z;
    sum[WSPIN] += a1x * q1 + a2x * q2, sum[WSPIN + 1] += a1y * q1 + a2y * q2;
    sum[WSPIN + 2] += a1z * q1 + a2z * q2;
    sum[KK] += k11, sum[KK + 1] += k12, sum[KK + 2] += k22;
    sum[KK + 3] += q1, sum[KK + 4] += q2, sum[KK + 5] += ex * q2 - ey * q1;
    sum[F1RHO] += f1 * rx, sum[F1RHO + 1] += f1 * ry, sum[F1RHO + 2] += f1 * rz;
    sum[F2RHO] += f2 * rx, sum[F2RHO + 1] += f2 * ry, sum[F2RHO + 2] += f2 * rz;
  }
  addLanes(total, sum, NSTIFF);
}

static void sumStiffness(double total[32], int body, const djSlips* S, const djSlipLaw* law,
                         double exact, const double* y) {
  if (y) sumStiffnessBy(total, body, S, law, exact, y, true);
  else sumStiffnessBy(total, body, S, law, exact, NULL, false);
}

// Dual variables of the slips at S->v, (2 x DUAL_STRIDE) in its tangents, or false.
static bool hullDuals(double* y, djFrictionState* state, const djLagged* lagged,
                      const djSlips* S, const djSlipLaw* law, int iterate) {
  double slip[DJ_DUAL_POINTS][2], dual[DJ_DUAL_POINTS][2];
  if (!dj_hasDuals(lagged, S->n, iterate)) return false;
  djVec3 fixed = dj_tangent(lagged->normal);
  double c = dju_dot3(fixed, S->q1), s = dju_dot3(fixed, S->q2);
  for (int i = 0; i < S->n; i++) {
    double s1 = S->bx[i] - S->v[0] + S->v[2] * S->ey[i];
    double s2 = S->by[i] - S->v[1] - S->v[2] * S->ex[i];
    slip[i][0] = c * s1 + s * s2;
    slip[i][1] = c * s2 - s * s1;
  }
  if (!dj_dualSlips(dual, state, lagged, slip, S->n, law, iterate)) return false;
  memset(y, 0, 2 * DUAL_STRIDE * sizeof *y);
  for (int i = 0; i < S->n; i++) {
    y[i] = c * dual[i][0] - s * dual[i][1];
    y[DUAL_STRIDE + i] = s * dual[i][0] + c * dual[i][1];
  }
  return true;
}

// Adds body's explicit block sum G^T k G/h^2 + C to H (12 x 12), and fills its columns of
// X = H_vx = sum E^T k G/h (3 x 12; its sign cancels in the Schur complement).
static void addBody(double* H, double X[3][12], int body, const double total[NSTIFF],
                    const djSlips* S, double rate, bool majorizer) {
  const double t1[3] = {S->t1.x, S->t1.y, S->t1.z}, t2[3] = {S->t2.x, S->t2.y, S->t2.z};
  const double *wv1 = total + WV1, *wv2 = total + WV2, *k = total + KK, rate2 = rate * rate;
  const int first = 6 * body;
  double* block = H + 13 * first;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      int hi = i > j ? i : j, lo = i > j ? j : i;
      double wv = rate2 * (wv1[i] * t1[j] + wv2[i] * t2[j]);
      block[12 * i + j] += rate2 * total[WW + hi * (hi + 1) / 2 + lo];
      block[12 * i + 3 + j] += wv;
      block[12 * (3 + j) + i] += wv;
      block[12 * (3 + i) + 3 + j] +=
          rate2 * (k[0] * (t1[i] * t1[j]) + k[1] * (t1[i] * t2[j] + t2[i] * t1[j]) +
                   k[2] * (t2[i] * t2[j]));
    }
    X[0][first + i] = rate * wv1[i];
    X[1][first + i] = rate * wv2[i];
    X[2][first + i] = rate * total[WSPIN + i];
    X[0][first + 3 + i] = rate * (t1[i] * k[0] + t2[i] * k[1]);
    X[1][first + 3 + i] = rate * (t1[i] * k[1] + t2[i] * k[2]);
    X[2][first + 3 + i] = rate * (t1[i] * k[3] + t2[i] * k[4]);
  }
  double outer[6] = {0};
  addOuter(outer, dju_scale3(rate, S->t1), dju_load3(total + F1RHO));
  addOuter(outer, dju_scale3(rate, S->t2), dju_load3(total + F2RHO));
  addCurvature(H, first, outer, majorizer);
}

// H (12 x 12) -= X^T Hvv^-1 X as Y^T Y, Y = D^-1/2 L^-1 X; Hvv: lower triangle by rows.
// g (12) -= X^T Hvv^-1 gv, where the plane's motion has a gradient -gv left.
static void eliminatePlane(double* restrict H, double* restrict g, double X[3][12],
                           const double Hvv[6], const double gv[3]) {
  djPlaneFactor f;
  double Y[3][12];
  dj_factorSlips(&f, Hvv);
  double r0 = 1 / sqrt(f.d0), r1 = 1 / sqrt(f.d1), r2 = 1 / sqrt(f.d2);
  for (int i = 0; i < 12; i++) {
    double y0 = X[0][i], y1 = X[1][i] - f.l10 * y0, y2 = X[2][i] - f.l20 * y0 - f.l21 * y1;
    Y[0][i] = y0 * r0, Y[1][i] = y1 * r1, Y[2][i] = y2 * r2;
  }
  double z0 = gv[0], z1 = gv[1] - f.l10 * z0, z2 = gv[2] - f.l20 * z0 - f.l21 * z1;
  z0 *= r0, z1 *= r1, z2 *= r2;
  for (int i = 0; i < 12; i++) g[i] -= Y[0][i] * z0 + Y[1][i] * z1 + Y[2][i] * z2;
  for (int i = 0; i < 12; i++) {
    const double y0 = Y[0][i], y1 = Y[1][i], y2 = Y[2][i];
    VECTOR_LOOP
    for (int j = 0; j < 12; j++) H[12 * i + j] -= y0 * Y[0][j] + y1 * Y[1][j] + y2 * Y[2][j];
  }
}

static djStatus evalHulls(djPairOutput* out, djFrictionState* state, const djLagged* lagged,
                          const djPairInput* in, int flags, const djTurn* turn) {
  const djSlipLaw law = dj_turnLaw(lagged, in, turn);
  const bool majorizer = (flags & DJ_EVAL_MAJORIZER) != 0 && !law.foreseen;
  const double rate = 1 / in->h;
  double gv[3] = {0};
  djSlips S;
  double buffer[DJ_SLIP_FIXED * DJ_SLIP_WIDTH];
  djStatus status = dj_gatherSlips(&S, buffer, lagged, in);
  if (status || S.n == 0) return status;
  status = dj_solveSlips(&S, state, law.eps);
  if (status < 0) return status;

  out->active = true;
  out->value += S.at.value;
  for (int body = 0; flags && body < 2; body++) {
    double total[8], *g = out->gradient + 6 * body;
    sumForces(total, body, &S, &law);
    for (int k = 0; k < 3 && law.foreseen; k++) gv[k] += total[FORCE + k];
    djVec3 F = dju_madd3(dju_scale3(total[FORCE], S.t1), total[FORCE + 1], S.t2);
    g[0] += rate * total[TORQUE];
    g[1] += rate * total[TORQUE + 1];
    g[2] += rate * total[TORQUE + 2];
    g[3] += rate * F.x, g[4] += rate * F.y, g[5] += rate * F.z;
  }
  if (wantsHessian(flags)) {
    double X[3][12], Hvv[6] = {0, 0, 0, 0, 0, S.spin}, y[2 * DUAL_STRIDE];
    bool dual = !turn->acts && hullDuals(y, state, lagged, &S, &law, in->iterate) && !majorizer;
    for (int body = 0; body < 2; body++) {
      double total[32];
      sumStiffness(total, body, &S, &law, majorizer ? 0 : 1, dual ? y : NULL);
      addBody(out->hessian, X, body, total, &S, rate, majorizer);
      for (int k = 0; k < 6; k++) Hvv[k] += total[KK + k];
    }
    if (law.foreseen) gv[2] -= S.spin * S.v[2];
    eliminatePlane(out->hessian, out->gradient, X, Hvv, gv);
  }
  if (turn->acts) {
    djTurnSums sums;
    dj_sumTurn(&sums, turn, lagged, in, &S);
    dj_addTurn(out, turn, &sums, flags);
  }
  return status;
}

// On failure out is void.
djStatus dj_frictionEval(djPairOutput* out, djFrictionState* state, const djLagged* lagged,
                         const djPairInput* in, int flags) {
  if (!out || !state || !dj_checkFriction(lagged, in)) return DJ_INVALID;
  if (lagged->n == 0 || !dj_slides(in->friction)) return DJ_OK;
  out->eases = in->ease_eps > lagged->law.eps;
  djTurn turn;
  djSlipLaw law = dj_slipLaw(lagged, in);
  dj_makeTurn(&turn, lagged, in, law.foreseen ? law.aim : law.eps);
  if (!lagged->half_space) return evalHulls(out, state, lagged, in, flags, &turn);
  state->iterations = 0;
  return evalHalfSpace(out, state, lagged, in, flags, &turn);
}
