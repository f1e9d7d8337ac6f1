// Lagged friction: derivative of its gradient by the poses at the start of the step, T+ fixed.
//
// A start twist zeta = (omega, v) of body k moves its points, x_i' = omega x (x_i - ref) + v (and
// the slide on curved shapes), and all else through the given f_i', n', o'. Primes are derivatives;
// each is 12 columns.
//   eta = n.x + o,   y = x - eta n (arms = plane):  y' = x' - eta n' - eta' n,
//   eta' = n.x' + n'.x + o';                        y' = x' (arms = paper).
// T^-1 y changes by R^T (y' - field(y)), field(y) = omega x (y - ref) + v, so that
//   z' = R+ R^T (y' - field(y)),   Delta' = z' - y'
// (zero and -x' for arms = paper: the vertex stays where T+ puts it). For a half space Delta is
// relative, Delta' = z_a' - z_b', z_b' = R_b+ R_b^T (y' - field_b(y)). Where displacements count
// from rate poses Tr other than the start, Delta = z - Tr T^-1 y, so that by the start alone
//   Delta' = (R+ - Rr) R^T (y' - field(y)),
// and by twists of the rate poses, which nothing else knows of, Delta' = -field(Tr T^-1 y).
// The basis B of the plane is carried along without spin, B' = -n (B^T n')^T. With beta = B^T n',
// c on the plane and at rest (its motion is absorbed by u), e = B^T (y - c) and eta_c = n.(y - c),
//   e' = B^T y' - eta_c beta,
//   s' at fixed (u, w) = sigma = B^T Delta'/h - (n.Delta/h) beta - w J e'   (in the basis)
// and (u, w)' follow from H_vv v' = -g_v',
//   g_v' = -sum (W_i' E_i^T yhat + (0, 0, W_i J e_i' . yhat) + E_i^T k_i sigma_i)
//          + (0, 0, spin' w),
// yhat = s/r, k = W/r (1 - yhat yhat^T). Then s' = sigma - E v' and, in world axes,
//   F' = mu A' yhat + mu A/r (1 - yhat yhat^T) s' - mu A (beta . yhat) n,
//   (gradient of body k)' = sum (z' x F + rho x F', F').

#include "contact/friction/friction_plane.h"
#include "contact/friction/turning.h"

#include <string.h>

enum { NC = 12 };   // columns

// What does not depend on the point.
typedef struct djStartFrame {
  djStartKind kind;
  const djLagged* lagged;
  const djLaggedJac* jac;
  const djPairInput* in;
  djMotion motion[2];
  djMat3 turn[2];         // R+ R^T
  djMat3 from[2];         // (R+ - Rr) R^T, START_ALONE
  djVec3 t1, t2, n;       // stretched where slips are
  djVec3 d1, d2;          // axes of e
  djVec3 q1, q2;          // unit, as t1 and t2 were before
  double beta[2][NC];     // B^T n'
  double lift[2][NC];     // the same of the axes of e
  djStretch stretch;
  djVec3 from0;           // a point of the plane
  double spin[NC];        // of the axes of that, about the normal
  double w;               // spin of the plane, rad/s
  double eps;             // c^2, see turning.h
} djStartFrame;

// One point and its derivatives.
typedef struct djStartPoint {
  djVec3 rho[2];          // z - ref for its body [0]; half space: [1] for body b
  djVec3 move;            // Delta; half space: relative
  double cap, dcap[NC];   // mu A, and its derivative
  double dz[2][3][NC];    // z'; half space: [1] = z_b'
  double de[2][NC];       // e'
  double sigma[2][NC];    // s' at fixed (u, w)
} djStartPoint;

// out (3 x 12) = field of the twist of body k at the point with arm a from ref_k.
static void twistField(double out[3][NC], int k, djVec3 a) {
  memset(out, 0, 3 * sizeof(out[0]));
  int c = 6 * k;
  out[0][c + 1] = a.z, out[0][c + 2] = -a.y, out[0][c + 3] = 1;
  out[1][c] = -a.z, out[1][c + 2] = a.x, out[1][c + 4] = 1;
  out[2][c] = a.y, out[2][c + 1] = -a.x, out[2][c + 5] = 1;
}

// y' (3 x 12) of point i of body k, x.
static void armPointJac(double dy[3][NC], const djStartFrame* f, int k, int i, djVec3 x) {
  twistField(dy, k, dju_sub3(x, f->motion[k].ref));
  if (f->jac->slide[k]) {
    int at = (k ? i - f->lagged->na : i) % f->jac->nslide[k];
    const double* slide = f->jac->slide[k] + 36 * at;
    for (int j = 0; j < 36; j++) dy[j / NC][j % NC] += slide[j];
  }
  if (f->lagged->law.arms == DJ_ARMS_PAPER) return;
  const double *dn = f->jac->dnormal, *doffset = f->jac->doffset;
  djVec3 n = f->n;
  double eta = dju_dot3(n, x) + f->lagged->offset;
  for (int j = 0; j < NC; j++) {
    double deta = n.x * dy[0][j] + n.y * dy[1][j] + n.z * dy[2][j] + dn[j] * x.x +
                  dn[NC + j] * x.y + dn[2 * NC + j] * x.z + doffset[j];
    dy[0][j] -= eta * dn[j] + deta * n.x;
    dy[1][j] -= eta * dn[NC + j] + deta * n.y;
    dy[2][j] -= eta * dn[2 * NC + j] + deta * n.z;
  }
}

// out (3 x 12) = turn (y' - field(y)), field that of body k. With R+ R^T: z'.
static void movedPointJac(double dz[3][NC], const djStartFrame* f, const djMat3* turn, int k,
                          djVec3 y, double dy[3][NC]) {
  double q[3][NC];
  const double* R = turn->m;
  twistField(q, k, dju_sub3(y, f->motion[k].ref));
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < NC; j++) q[i][j] = dy[i][j] - q[i][j];
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < NC; j++) {
      dz[i][j] = R[3 * i] * q[0][j] + R[3 * i + 1] * q[1][j] + R[3 * i + 2] * q[2][j];
    }
  }
}

// dD (3 x 12) = Delta' of a point of body k.
static void displacementJac(double dD[3][NC], const djStartFrame* f, const djStartPoint* P, int k,
                            djVec3 y, double dy[3][NC]) {
  const bool half = f->lagged->half_space;
  double db[3][NC] = {{0}};
  if (f->kind == START_BOTH) {
    for (int r = 0; r < 3; r++) {
      for (int j = 0; j < NC; j++) dD[r][j] = P->dz[0][r][j] - (half ? P->dz[1][r][j] : dy[r][j]);
    }
    return;
  }
  if (f->kind == START_ALONE) {
    movedPointJac(dD, f, &f->from[k], k, y, dy);
    if (half) movedPointJac(db, f, &f->from[1], 1, y, dy);
  } else if (f->kind == FORCES_ALONE) {
    memset(dD, 0, sizeof db);
  } else {
    for (int side = k; side < (half ? 2 : k + 1); side++) {
      const djMotion* m = &f->motion[side];
      djVec3 x = dju_transform(m->rate, dju_untransform(m->start, y));
      twistField(side == k ? db : dD, side, dju_sub3(x, m->ref));   // with signs turned round
    }
    if (!half) memset(dD, 0, sizeof db);
  }
  for (int r = 0; r < 3; r++) {
    for (int j = 0; j < NC; j++) dD[r][j] -= db[r][j];
  }
}

// S' v for axes that turn at a rate of 1, S = 1 + more t2 t2^T.
static djVec3 stretchRate(const djStretch* S, djVec3 v) {
  djVec3 sum = dju_madd3(dju_scale3(dju_dot3(S->t2, v), S->t1), dju_dot3(S->t1, v), S->t2);
  return dju_scale3(-S->more, sum);
}

// What the turning of the axes does: S' of B^T Delta/h and of J e = B^T (n x (y - c)), before they
// are stretched, less what is the same for all points, which u takes.
static void turnStretch(djStartPoint* P, const djStartFrame* f, djVec3 y) {
  djVec3 slip = stretchRate(&f->stretch, dju_scale3(1 / f->in->h, P->move));
  djVec3 arm = stretchRate(&f->stretch, dju_cross3(f->n, dju_sub3(y, f->from0)));
  double e1 = dju_dot3(f->q2, arm), e2 = -dju_dot3(f->q1, arm);
  double s1 = dju_dot3(f->q1, slip) + f->w * e2, s2 = dju_dot3(f->q2, slip) - f->w * e1;
  for (int j = 0; j < NC; j++) {
    P->de[0][j] += f->spin[j] * e1;
    P->de[1][j] += f->spin[j] * e2;
    P->sigma[0][j] += f->spin[j] * s1;
    P->sigma[1][j] += f->spin[j] * s2;
  }
}

// Derivatives of point i, at fixed (u, w). P->rho and dz[0] are those of the point's own body.
static void makeStartPoint(djStartPoint* P, const djStartFrame* f, int i) {
  const djPairInput* in = f->in;
  const bool half = f->lagged->half_space, moves = dj_startMoves(f->kind);
  const int k = i >= f->lagged->na;
  const double rate = 1 / in->h, force = f->lagged->force[i];
  djVec3 x = dju_load3(f->lagged->point + 3 * i);
  djVec3 y = dj_armPoint(f->lagged, f->lagged->law.arms, x);
  double dy[3][NC], dD[3][NC];
  if (moves) {
    armPointJac(dy, f, k, i, x);
    movedPointJac(P->dz[0], f, &f->turn[k], k, y, dy);
  } else {
    memset(dy, 0, sizeof dy);
    memset(P->dz, 0, sizeof P->dz);
  }
  djVec3 move = dj_displace(&f->motion[k], y);
  P->rho[0] = dj_armNow(&f->motion[k], y, move);
  if (half) {
    if (moves) movedPointJac(P->dz[1], f, &f->turn[1], 1, y, dy);
    djVec3 move_b = dj_displace(&f->motion[1], y);
    P->rho[1] = dj_armNow(&f->motion[1], y, move_b);
    move = dju_sub3(move, move_b);
  }
  displacementJac(dD, f, P, k, y, dy);
  P->move = move;
  double lift = rate * dju_dot3(f->n, move);
  double eta_c = half ? 0 : dju_dot3(f->n, y) + f->lagged->offset;
  djVec3 t1 = f->t1, t2 = f->t2, d_1 = f->d1, d_2 = f->d2;
  for (int j = 0; j < NC; j++) {
    double b1 = f->beta[0][j], b2 = f->beta[1][j];
    double e1 = d_1.x * dy[0][j] + d_1.y * dy[1][j] + d_1.z * dy[2][j] - eta_c * f->lift[0][j];
    double e2 = d_2.x * dy[0][j] + d_2.y * dy[1][j] + d_2.z * dy[2][j] - eta_c * f->lift[1][j];
    double d1 = t1.x * dD[0][j] + t1.y * dD[1][j] + t1.z * dD[2][j];
    double d2 = t2.x * dD[0][j] + t2.y * dD[1][j] + t2.z * dD[2][j];
    P->de[0][j] = e1, P->de[1][j] = e2;
    P->sigma[0][j] = rate * d1 - lift * b1 + f->w * e2;
    P->sigma[1][j] = rate * d2 - lift * b2 - f->w * e1;
  }
  if (f->stretch.more != 0) turnStretch(P, f, y);
  P->cap = in->friction * dj_forceCap(force, f->lagged->law.eps, f->lagged->law.cap);
  double slope = in->friction * dj_forceCapSlope(force, f->lagged->law.eps, f->lagged->law.cap);
  const double* dforce = f->kind == RATE_ALONE ? NULL : f->jac->dforce + NC * i;
  for (int j = 0; j < NC; j++) P->dcap[j] = dforce ? slope * dforce[j] : 0;
}

// Adds (z' x F + rho x F', F') of point P to rows 6 k.. of start_jac, times sign. s (2) is the
// slip, ds (2 x 12) its derivative, both in the basis; which: 0 own body, 1 the half space's.
static void addPointJac(double start_jac[144], const djStartFrame* f, const djStartPoint* P,
                        const double s[2], double ds[2][NC], int k, int which, double sign) {
  double r = sqrt(s[0] * s[0] + s[1] * s[1] + f->eps), y1 = s[0] / r, y2 = s[1] / r;
  double floor = f->eps / (r * r), c = P->cap / r;
  double k11 = c * (floor + y2 * y2), k12 = -c * y1 * y2, k22 = c * (floor + y1 * y1);
  djVec3 t1 = f->t1, t2 = f->t2, n = f->n, rho = P->rho[which];
  djVec3 F = dju_scale3(sign * P->cap, dju_madd3(dju_scale3(y1, t1), y2, t2));
  double dF[3][NC];
  djVec3 turned = {0, 0, 0};
  if (f->stretch.more != 0) {
    djVec3 plain = dju_madd3(dju_scale3(y1, f->q1), y2, f->q2);
    turned = dju_scale3(sign * P->cap, stretchRate(&f->stretch, plain));
  }
  for (int j = 0; j < NC; j++) {
    double f1 = sign * (P->dcap[j] * y1 + k11 * ds[0][j] + k12 * ds[1][j]);
    double f2 = sign * (P->dcap[j] * y2 + k12 * ds[0][j] + k22 * ds[1][j]);
    double f3 = -sign * P->cap * (f->beta[0][j] * y1 + f->beta[1][j] * y2);
    dF[0][j] = t1.x * f1 + t2.x * f2 + n.x * f3;
    dF[1][j] = t1.y * f1 + t2.y * f2 + n.y * f3;
    dF[2][j] = t1.z * f1 + t2.z * f2 + n.z * f3;
    if (f->stretch.more == 0) continue;
    dF[0][j] += f->spin[j] * turned.x;
    dF[1][j] += f->spin[j] * turned.y;
    dF[2][j] += f->spin[j] * turned.z;
  }
  double* J = start_jac + 72 * k;
  for (int j = 0; j < NC; j++) {
    const double zx = P->dz[which][0][j], zy = P->dz[which][1][j], zz = P->dz[which][2][j];
    J[j] += zy * F.z - zz * F.y + rho.y * dF[2][j] - rho.z * dF[1][j];
    J[NC + j] += zz * F.x - zx * F.z + rho.z * dF[0][j] - rho.x * dF[2][j];
    J[2 * NC + j] += zx * F.y - zy * F.x + rho.x * dF[1][j] - rho.y * dF[0][j];
    J[3 * NC + j] += dF[0][j];
    J[4 * NC + j] += dF[1][j];
    J[5 * NC + j] += dF[2][j];
  }
}

// Point-independent part; the basis and spin come from S (NULL: half space).
static void makeStartFrame(djStartFrame* f, djStartKind kind, const djSlips* S,
                           const djLagged* lagged, const djLaggedJac* jac,
                           const djPairInput* in, const djTurn* turn) {
  *f = (djStartFrame){
      .kind = kind, .lagged = lagged, .jac = jac, .in = in, .n = lagged->normal,
      .eps = turn->acts ? turn->c * turn->c : lagged->law.eps};
  for (int k = 0; k < 2; k++) {
    const djMotion* m = &f->motion[k];
    f->motion[k] = dj_motionOf(in, k);
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        double sum = 0;
        for (int l = 0; l < 3; l++) sum += m->now->R.m[3 * i + l] * m->start->R.m[3 * j + l];
        f->turn[k].m[3 * i + j] = sum;
      }
    }
    if (kind != START_ALONE) continue;
    djMat3 gained = m->now->R;
    for (int i = 0; i < 9; i++) gained.m[i] -= m->rate->R.m[i];
    for (int i = 0; i < 9; i++) {
      const double *row = gained.m + i / 3 * 3, *column = m->start->R.m + i % 3 * 3;
      f->from[k].m[i] = dju_dot3(dju_load3(row), dju_load3(column));
    }
  }
  f->stretch = dj_stretchOf(lagged, in);
  f->from0 = dju_load3(lagged->point);
  if (S) {
    f->t1 = S->t1, f->t2 = S->t2, f->w = S->v[2] / S->scale;
    f->q1 = S->q1, f->q2 = S->q2, f->d1 = S->d1, f->d2 = S->d2;
  } else {
    djVec3 n = f->n;
    djVec3 t = fabs(n.x) < 0.6 ? dju_cross3(n, dju_vec3(1, 0, 0))
                               : dju_cross3(n, dju_vec3(0, 1, 0));
    f->t1 = dju_scale3(1 / dju_norm3(t), t);
    f->t2 = dju_cross3(n, f->t1);
    f->q1 = f->d1 = f->t1, f->q2 = f->d2 = f->t2;
    f->t1 = dj_stretched(&f->stretch, f->q1);
    f->t2 = dj_stretched(&f->stretch, f->q2);
  }
  const double* dn = jac->dnormal;
  djSlipAxes axes;
  if (f->stretch.more != 0) dj_slipAxes(&axes, in, f->n);
  for (int j = 0; j < NC && dj_startMoves(kind); j++) {
    djVec3 d = {dn[j], dn[NC + j], dn[2 * NC + j]};
    f->beta[0][j] = dju_dot3(f->t1, d), f->beta[1][j] = dju_dot3(f->t2, d);
    f->lift[0][j] = dju_dot3(f->d1, d), f->lift[1][j] = dju_dot3(f->d2, d);
    if (f->stretch.more == 0) continue;
    djVec3 moved = dju_scale3(axes.by_n, d);
    if (axes.turns && j < 3) {
      djVec3 w = {j == 0, j == 1, j == 2};
      moved = dju_madd3(moved, axes.by_a, dju_cross3(w, axes.guide));
    }
    f->spin[j] = dju_dot3(axes.t2, moved);
  }
}

// dby_c (12) += U_c' of a point, W c/r, c held; see turning.h.
static void addByC(double dby_c[NC], const djStartFrame* f, const djStartPoint* P,
                   const double s[2], double ds[2][NC]) {
  double r = sqrt(s[0] * s[0] + s[1] * s[1] + f->eps), h = f->in->h, part = sqrt(f->eps) / r;
  for (int j = 0; j < NC; j++) {
    double along = (s[0] * ds[0][j] + s[1] * ds[1][j]) / (r * r);
    dby_c[j] += h * part * (P->dcap[j] - P->cap * along);
  }
}

static djStatus startHalfSpace(double start_jac[144], djStartKind kind, const djTurn* turn,
                               const djLagged* lagged, const djLaggedJac* jac,
                               const djPairInput* in) {
  djStartFrame f;
  djStartPoint P;
  double dby_c[NC] = {0};
  makeStartFrame(&f, kind, NULL, lagged, jac, in, turn);
  for (int i = 0; i < lagged->na; i++) {
    if (!(lagged->force[i] >= 0) || !isfinite(lagged->force[i])) return DJ_INVALID;
    if (lagged->force[i] == 0) continue;
    makeStartPoint(&P, &f, i);
    double s[2] = {dju_dot3(f.t1, P.move) / in->h, dju_dot3(f.t2, P.move) / in->h};
    if (!isfinite(s[0] + s[1])) return DJ_INVALID;
    addPointJac(start_jac, &f, &P, s, P.sigma, 0, 0, 1);
    addPointJac(start_jac, &f, &P, s, P.sigma, 1, 1, -1);
    if (turn->acts) addByC(dby_c, &f, &P, s, P.sigma);
  }
  if (turn->acts) {
    djTurnSums sums;
    dj_sumTurn(&sums, turn, lagged, in, NULL);
    dj_addTurnStart(start_jac, kind, turn, &sums, dby_c, jac);
  }
  return DJ_OK;
}

// Slip of the loaded point k, in the basis.
static void slipAt(double s[2], const djSlips* S, int k) {
  s[0] = S->bx[k] - S->v[0] + S->v[2] * S->ey[k];
  s[1] = S->by[k] - S->v[1] - S->v[2] * S->ex[k];
}

// v' (3 x 12) of the plane's motion (u, w scale) at fixed scale. The spin term depends on the data
// through sum W and I = sum W |y - c|^2/sum W: I' = sum (W' (|e|^2 - I) + 2 W e.e')/sum W.
static void planeJac(double dv[3][NC], const djSlips* S, const djStartFrame* f) {
  djStartPoint P;
  double rhs[3][NC] = {{0}}, dtotal[NC] = {0}, dspread[NC] = {0}, h = f->in->h;
  double scale = S->scale, eps = f->eps;
  for (int i = 0, k = 0; i < f->lagged->n; i++) {
    if (f->lagged->force[i] == 0) continue;
    makeStartPoint(&P, f, i);
    double s[2], ex = S->ex[k], ey = S->ey[k], W = S->W[k];
    slipAt(s, S, k++);
    double r = sqrt(s[0] * s[0] + s[1] * s[1] + eps), y1 = s[0] / r, y2 = s[1] / r, c = W / r;
    double floor = eps / (r * r);
    double k11 = c * (floor + y2 * y2), k12 = -c * y1 * y2, k22 = c * (floor + y1 * y1);
    double ee = (ex * ex + ey * ey) * scale * scale;
    for (int j = 0; j < NC; j++) {
      double dW = h * P.dcap[j], e1 = P.de[0][j] / scale, e2 = P.de[1][j] / scale;
      double a1 = dW * y1 + k11 * P.sigma[0][j] + k12 * P.sigma[1][j];
      double a2 = dW * y2 + k12 * P.sigma[0][j] + k22 * P.sigma[1][j];
      rhs[0][j] += a1;
      rhs[1][j] += a2;
      rhs[2][j] += ex * a2 - ey * a1 + W * (e1 * y2 - e2 * y1);
      dtotal[j] += dW;
      dspread[j] += (dW * (ee - S->spread) + 2 * W * scale * scale * (ex * e1 + ey * e2));
    }
  }
  double slope, stiffness = dj_spinStiffness(&slope, S->total, S->spread, S->size, S->h);
  djPlaneFactor F;
  dj_factorSlips(&F, S->at.H);
  for (int j = 0; j < NC; j++) {
    double dspin = stiffness * dtotal[j] / S->total + slope * dspread[j] / S->total;
    double a = rhs[0][j], b = rhs[1][j] - F.l10 * a;
    double c = rhs[2][j] - dspin * S->v[2] / (scale * scale) - F.l20 * a - F.l21 * b;
    dv[2][j] = c / F.d2;
    dv[1][j] = b / F.d1 - F.l21 * dv[2][j];
    dv[0][j] = a / F.d0 - F.l10 * dv[1][j] - F.l20 * dv[2][j];
  }
}

static void startHulls(double start_jac[144], djStartKind kind, const djTurn* turn,
                       const djSlips* S, const djLagged* lagged, const djLaggedJac* jac,
                       const djPairInput* in) {
  djStartFrame f;
  djStartPoint P;
  double dv[3][NC], ds[2][NC], dby_c[NC] = {0};
  makeStartFrame(&f, kind, S, lagged, jac, in, turn);
  planeJac(dv, S, &f);
  for (int i = 0, k = 0; i < lagged->n; i++) {
    if (lagged->force[i] == 0) continue;
    makeStartPoint(&P, &f, i);
    for (int j = 0; j < NC; j++) {
      ds[0][j] = P.sigma[0][j] - dv[0][j] + dv[2][j] * S->ey[k];
      ds[1][j] = P.sigma[1][j] - dv[1][j] - dv[2][j] * S->ex[k];
    }
    double s[2];
    slipAt(s, S, k++);
    addPointJac(start_jac, &f, &P, s, ds, i >= lagged->na, 0, 1);
    if (turn->acts) addByC(dby_c, &f, &P, s, ds);
  }
  if (!turn->acts) return;
  djTurnSums sums;
  dj_sumTurn(&sums, turn, lagged, in, S);
  dj_addTurnStart(start_jac, kind, turn, &sums, dby_c, jac);
}

// With the plane's motion found, where there is one.
static djStatus addKind(double start_jac[144], double* rate_jac, djStartKind kind,
                        djFrictionState* state, const djLagged* lagged, const djLaggedJac* jac,
                        const djPairInput* in) {
  djTurn turn;
  dj_makeTurn(&turn, lagged, in, lagged->law.eps);
  if (lagged->half_space) {
    djStatus status = startHalfSpace(start_jac, kind, &turn, lagged, jac, in);
    if (status < 0 || !rate_jac) return status;
    return startHalfSpace(rate_jac, RATE_ALONE, &turn, lagged, jac, in);
  }
  djSlips S;
  double buffer[DJ_SLIP_FIXED * DJ_SLIP_WIDTH];
  djStatus status = dj_gatherSlips(&S, buffer, lagged, in);
  if (status || S.n == 0) return status;
  status = dj_solveSlips(&S, state, turn.acts ? turn.c * turn.c : lagged->law.eps);
  if (status < 0) return status;
  startHulls(start_jac, kind, &turn, &S, lagged, jac, in);
  if (rate_jac) startHulls(rate_jac, RATE_ALONE, &turn, &S, lagged, jac, in);
  return status;
}

djStatus dj_frictionStart(double start_jac[144], double rate_jac[144], djFrictionState* state,
                          const djLagged* lagged, const djLaggedJac* jac, const djPairInput* in) {
  if (!start_jac || !state || !dj_checkFriction(lagged, in)) return DJ_INVALID;
  if (lagged->n == 0 || !dj_slides(in->friction)) return DJ_OK;
  if (!jac || !jac->dforce) return DJ_INVALID;
  bool apart = in->rate_a != in->start_a || in->rate_b != in->start_b;
  if (apart && !rate_jac) return DJ_INVALID;
  djStartKind kind = apart ? START_ALONE : START_BOTH;
  return addKind(start_jac, apart ? rate_jac : NULL, kind, state, lagged, jac, in);
}

djStatus dj_frictionByForces(double jac[12], djFrictionState* state, const djLagged* lagged,
                             const double* dforce, const djPairInput* in) {
  if (!jac || !state || !dforce || !dj_checkFriction(lagged, in)) return DJ_INVALID;
  if (lagged->n == 0 || !dj_slides(in->friction)) return DJ_OK;
  double all[144] = {0};
  const djLaggedJac by = {.dforce = dforce};
  djStatus status = addKind(all, NULL, FORCES_ALONE, state, lagged, &by, in);
  for (int i = 0; i < NC && status >= 0; i++) jac[i] += all[NC * i];
  return status;
}
