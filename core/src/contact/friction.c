// Lagged plane-mediated friction (SDRS eq. 8-13): energy, gradient and Hessian by the poses now.
//
// With z_i = T+ T^-1 y_i, Delta_i = z_i - y_i and rho_i = z_i - ref of point i's body,
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

#include "contact/friction_plane.h"

#include <string.h>

// Columns of a row of point Jacobians: twist (6), then E (3), then padding; or both twists.
enum { NROW = 12 };

// Directions of one point's slip and what resists along and across it.
typedef struct djSlipFrame {
  djVec3 along, across;   // unit, in the plane
  double c1, c2;          // along in the basis t1, t2
  double ka, kc;          // square roots of the stiffnesses
} djSlipFrame;

// C_k added to the angular block at (first, first) of the 12x12 H; M (9) = sum F rho^T.
static void addCurvature(double* H, int first, const double M[9], bool majorizer) {
  double trace = M[0] + M[4] + M[8], C[9], norm = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      C[3 * i + j] = 0.5 * (M[3 * i + j] + M[3 * j + i]) - (i == j ? trace : 0);
      norm += C[3 * i + j] * C[3 * i + j];
    }
  }
  norm = sqrt(norm);
  for (int i = 0; i < 3; i++) {
    double* row = H + 12 * (first + i) + first;
    for (int j = 0; j < 3; j++) row[j] += majorizer ? (i == j ? norm : 0) : C[3 * i + j];
  }
}

// M += F rho^T
static void addOuter(double M[9], djVec3 F, djVec3 rho) {
  M[0] += F.x * rho.x, M[1] += F.x * rho.y, M[2] += F.x * rho.z;
  M[3] += F.y * rho.x, M[4] += F.y * rho.y, M[5] += F.y * rho.z;
  M[6] += F.z * rho.x, M[7] += F.z * rho.y, M[8] += F.z * rho.z;
}

// g (6) += sign (rho x F, F)
static void addWrench(double g[6], double sign, djVec3 rho, djVec3 F) {
  djVec3 torque = dju_cross3(rho, F);
  g[0] += sign * torque.x, g[1] += sign * torque.y, g[2] += sign * torque.z;
  g[3] += sign * F.x, g[4] += sign * F.y, g[5] += sign * F.z;
}

// row (6) = scale (rho x t, t)
static void twistRow(double row[6], double scale, djVec3 rho, djVec3 t) {
  dju_store3(row, dju_scale3(scale, dju_cross3(rho, t)));
  dju_store3(row + 3, dju_scale3(scale, t));
}

// H (nrow x NROW) += p p^T + q q^T
static void addRows(double* H, int nrow, const double p[NROW], const double q[NROW]) {
  for (int i = 0; i < nrow; i++) {
    for (int j = 0; j < NROW; j++) H[NROW * i + j] += p[i] * p[j] + q[i] * q[j];
  }
}

// Square roots of the stiffnesses W eps/r^3 (majorizer: W/r) along the slip and W/r across.
static void frameStiffness(djSlipFrame* f, double W, double r, double eps, bool majorizer) {
  double k = W / r;
  f->kc = sqrt(k);
  f->ka = majorizer ? f->kc : sqrt(k * eps) / r;
}

static djStatus finishOutput(djPairOutput* out, double value, const double gradient[12],
                             const double* hessian, int flags) {
  if (!isfinite(value)) return DJ_INVALID;
  out->active = true;
  out->value += value;
  if (flags) {
    for (int k = 0; k < 12; k++) out->gradient[k] += gradient[k];
  }
  if (flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER)) {
    for (int k = 0; k < 144; k++) out->hessian[k] += hessian[k];
  }
  return DJ_OK;
}

// ------------------------------------------ half space ------------------------------------------

// Sums over a's points against a half space of body b; returns the value. Body b's z_i moves by
// its own twist about ref_b, with the opposite sign. nload: points with force; -1: bad force.
// gradient: (12), hessian: (12 x 12), both zeroed
static double sumHalfSpace(int* nload, double gradient[12], double* hessian,
                           const djLagged* lagged, const djPairInput* in, int flags) {
  const bool majorizer = (flags & DJ_EVAL_MAJORIZER) != 0;
  const djVec3 n = lagged->normal;
  const double rate = 1 / in->h, muh = in->friction * in->h, eps = in->friction_eps;
  djMotion ma = dj_motion(in->pose_a, in->start_a, in->ref_a);
  djMotion mb = dj_motion(in->pose_b, in->start_b, in->ref_b);
  double value = 0, Ma[9] = {0}, Mb[9] = {0};
  *nload = 0;
  for (int i = 0; i < lagged->na; i++) {
    double force = lagged->force[i];
    if (!(force >= 0) || !isfinite(force)) {
      *nload = -1;
      return 0;
    }
    if (force == 0) continue;
    ++*nload;
    djVec3 y = dj_armPoint(lagged, in->arms, dju_load3(lagged->point + 3 * i));
    djVec3 da = dj_displace(&ma, y), db = dj_displace(&mb, y);
    djVec3 s = dju_scale3(rate, dju_sub3(da, db));
    s = dju_madd3(s, -dju_dot3(n, s), n);
    double W = muh * dj_forceCap(force, eps, in->cap);
    double ss = dju_dot3(s, s), r = sqrt(ss + eps);
    value += W * r;
    if (!flags) continue;

    djVec3 F = dju_scale3(W * rate / r, s);
    djVec3 ra = dju_add3(dju_sub3(y, ma.ref), da), rb = dju_add3(dju_sub3(y, mb.ref), db);
    addWrench(gradient, 1, ra, F);
    addWrench(gradient + 6, -1, rb, F);
    if (!hessian) continue;

    djSlipFrame f;
    frameStiffness(&f, W, r, eps, majorizer);
    f.ka *= rate, f.kc *= rate;
    if (ss < 1e-300) {   // any direction in the plane
      s = fabs(n.x) < 0.6 ? dju_cross3(n, dju_vec3(1, 0, 0)) : dju_cross3(n, dju_vec3(0, 1, 0));
      ss = dju_dot3(s, s);
    }
    f.along = dju_scale3(1 / sqrt(ss), s);
    f.across = dju_cross3(n, f.along);
    double p[NROW], q[NROW];
    twistRow(p, f.ka, ra, f.along);
    twistRow(p + 6, -f.ka, rb, f.along);
    twistRow(q, f.kc, ra, f.across);
    twistRow(q + 6, -f.kc, rb, f.across);
    addRows(hessian, 12, p, q);
    addOuter(Ma, F, ra);
    addOuter(Mb, dju_neg3(F), rb);
  }
  if (hessian && *nload > 0) {
    addCurvature(hessian, 0, Ma, majorizer);
    addCurvature(hessian, 6, Mb, majorizer);
  }
  return value;
}

// ------------------------------------------ between hulls ---------------------------------------

// Sums over the points at the plane's motion S->v. H[k] (6 x NROW): body k's explicit 6x6 and,
// in columns 6 to 8, sum G^T k E/h; Hvv: lower triangle by rows; M[k] = sum F rho^T.
static void sumSlips(double gradient[12], double H[2][6 * NROW], double Hvv[6], double M[2][9],
                     const djSlips* S, const djPairInput* in, int flags) {
  const bool second = (flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER)) != 0;
  const double rate = 1 / in->h, eps = in->friction_eps;
  Hvv[5] = S->spin;
  for (int i = 0; i < S->n; i++) {
    int k = i >= S->na;
    double ex = S->ex[i], ey = S->ey[i], W = S->W[i];
    double s1 = S->bx[i] - S->v[0] + S->v[2] * ey, s2 = S->by[i] - S->v[1] - S->v[2] * ex;
    double ss = s1 * s1 + s2 * s2, r = sqrt(ss + eps), c = W * rate / r;
    djVec3 F = dju_madd3(dju_scale3(c * s1, S->t1), c * s2, S->t2);
    djVec3 rho = dju_load3(S->rho + 3 * i);
    addWrench(gradient + 6 * k, 1, rho, F);
    if (!second) continue;

    djSlipFrame f = {.c1 = 1};
    frameStiffness(&f, W, r, eps, (flags & DJ_EVAL_MAJORIZER) != 0);
    if (ss > 1e-300) {
      double is = 1 / sqrt(ss);
      f.c1 = s1 * is, f.c2 = s2 * is;
    }
    f.along = dju_madd3(dju_scale3(f.c1, S->t1), f.c2, S->t2);
    f.across = dju_madd3(dju_scale3(-f.c2, S->t1), f.c1, S->t2);
    double p[NROW] = {0}, q[NROW] = {0};
    twistRow(p, f.ka * rate, rho, f.along);
    twistRow(q, f.kc * rate, rho, f.across);
    p[6] = f.ka * f.c1, p[7] = f.ka * f.c2, p[8] = f.ka * (ex * f.c2 - ey * f.c1);
    q[6] = -f.kc * f.c2, q[7] = f.kc * f.c1, q[8] = f.kc * (ex * f.c1 + ey * f.c2);
    addRows(H[k], 6, p, q);
    addOuter(M[k], F, rho);
    Hvv[0] += p[6] * p[6] + q[6] * q[6];
    Hvv[1] += p[7] * p[6] + q[7] * q[6];
    Hvv[2] += p[7] * p[7] + q[7] * q[7];
    Hvv[3] += p[8] * p[6] + q[8] * q[6];
    Hvv[4] += p[8] * p[7] + q[8] * q[7];
    Hvv[5] += p[8] * p[8] + q[8] * q[8];
  }
}

// Hessian (12 x 12) from the parts: diagonal blocks less Y^T Y, Y = D^-1/2 L^-1 H_vx (3 x 12).
static void eliminatePlane(double hessian[144], double H[2][6 * NROW], const double Hvv[6]) {
  djPlaneFactor f;
  double Y[3][12];
  dj_factorSlips(&f, Hvv);
  double r0 = 1 / sqrt(f.d0), r1 = 1 / sqrt(f.d1), r2 = 1 / sqrt(f.d2);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 6; i++) {
      const double* row = H[k] + NROW * i;
      double y0 = row[6], y1 = row[7] - f.l10 * y0, y2 = row[8] - f.l20 * y0 - f.l21 * y1;
      Y[0][6 * k + i] = y0 * r0, Y[1][6 * k + i] = y1 * r1, Y[2][6 * k + i] = y2 * r2;
    }
  }
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < 12; j++) {
      hessian[12 * i + j] = -(Y[0][i] * Y[0][j] + Y[1][i] * Y[1][j] + Y[2][i] * Y[2][j]);
    }
  }
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 6; i++) {
      double* row = hessian + 12 * (6 * k + i) + 6 * k;
      for (int j = 0; j < 6; j++) row[j] += H[k][NROW * i + j];
    }
  }
}

static djStatus evalHulls(djPairOutput* out, djFrictionState* state, const djLagged* lagged,
                          const djPairInput* in, int flags) {
  const int second = flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER);
  djSlips S;
  double buffer[DJ_SLIP_FIXED * DJ_SLIP_WIDTH];
  djStatus status = dj_gatherSlips(&S, buffer, lagged, in);
  if (status || S.n == 0) return status;
  djStatus solved = dj_solveSlips(&S, state, in->friction_eps);
  if (solved < 0) return solved;
  if (!flags) {
    status = finishOutput(out, S.at.value, NULL, NULL, flags);
    return status ? status : solved;
  }

  double gradient[12] = {0}, H[2][6 * NROW], Hvv[6] = {0}, M[2][9], hessian[144];
  if (second) {
    memset(H, 0, sizeof(H));
    memset(M, 0, sizeof(M));
  }
  sumSlips(gradient, H, Hvv, M, &S, in, flags);
  if (second) {
    eliminatePlane(hessian, H, Hvv);
    addCurvature(hessian, 0, M[0], (flags & DJ_EVAL_MAJORIZER) != 0);
    addCurvature(hessian, 6, M[1], (flags & DJ_EVAL_MAJORIZER) != 0);
  }
  status = finishOutput(out, S.at.value, gradient, hessian, flags);
  return status ? status : solved;
}

djStatus dj_frictionEval(djPairOutput* out, djFrictionState* state, const djLagged* lagged,
                         const djPairInput* in, int flags) {
  if (!out || !state || !dj_checkFriction(lagged, in)) return DJ_INVALID;
  if (lagged->n == 0 || in->friction == 0) return DJ_OK;
  if (!lagged->half_space) return evalHulls(out, state, lagged, in, flags);

  int nload;
  const int second = flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER);
  double gradient[12] = {0}, hessian[144];
  if (second) memset(hessian, 0, sizeof(hessian));
  double value = sumHalfSpace(&nload, gradient, second ? hessian : NULL, lagged, in, flags);
  state->iterations = 0;
  if (nload < 0) return DJ_INVALID;
  return nload == 0 ? DJ_OK : finishOutput(out, value, gradient, hessian, flags);
}
