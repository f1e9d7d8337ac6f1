#include "contact/friction/turning.h"

#include "math/so3.h"

#include <string.h>

// One norm within the next: b -> sqrt(y^2 + (e + b)^2) - e, y^2 = sum (l x)^2, with its derivatives
// by x; of the second the part that is positive, where it is a majorizer.
static void addLevel(djTurn* t, const double lever[3], double e, bool majorizer) {
  double y2 = 0, g[3], inner = e + t->c;
  for (int i = 0; i < 3; i++) y2 += lever[i] * lever[i] * t->x[i] * t->x[i];
  double r = sqrt(y2 + inner * inner);
  for (int i = 0; i < 3; i++) g[i] = (lever[i] * lever[i] * t->x[i] + inner * t->g[i]) / r;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double own = i == j ? lever[i] * lever[i] : 0, less = majorizer ? 0 : g[i] * g[j];
      t->H[3 * i + j] = (own + t->g[i] * t->g[j] + inner * t->H[3 * i + j] - less) / r;
    }
  }
  memcpy(t->g, g, sizeof g);
  t->c = (y2 + t->c * (e + inner)) / (r + e);
}

static void findLaw(djTurn* t, bool majorizer) {
  const double roll[3] = {0, t->lever[1], t->lever[2]}, torsion[3] = {t->lever[0], 0, 0};
  t->c = 0;
  memset(t->g, 0, sizeof t->g);
  memset(t->H, 0, sizeof t->H);
  if (dj_rollLever(t) > 0) addLevel(t, roll, dj_turnSmooth(t, dj_rollLever(t)), majorizer);
  if (t->lever[0] > 0) addLevel(t, torsion, dj_turnSmooth(t, t->lever[0]), majorizer);
  t->c += t->smooth;
}

static djMat3 transposed(djMat3 A) { return dju_mulMtM(A, dju_eye3()); }

// Rotation vector of R, from the four forms of its quaternion the one without cancellation.
static djVec3 logOf(const double* R) {
  double w = 1 + R[0] + R[4] + R[8], x = 1 + R[0] - R[4] - R[8];
  double y = 1 - R[0] + R[4] - R[8], z = 1 - R[0] - R[4] + R[8];
  djVec3 odd = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
  djVec3 even = {R[5] + R[7], R[2] + R[6], R[1] + R[3]};
  djQuat q;
  if (w >= 1) q = (djQuat){w, odd.x, odd.y, odd.z};
  else if (x >= y && x >= z) q = (djQuat){odd.x, x, even.z, even.y};
  else if (y >= z) q = (djQuat){odd.y, even.z, y, even.x};
  else q = (djQuat){odd.z, even.y, even.x, z};
  return dju_logQuat(dju_normalizeQuat(q));
}

// theta and C.
static void findTurn(djTurn* t, const djPairInput* in) {
  const djMotion a = dj_motionOf(in, 0), b = dj_motionOf(in, 1);
  t->C = dju_mulMM(a.rate->R, transposed(a.now->R));
  djMat3 all = dju_mulMM(t->C, dju_mulMM(b.now->R, transposed(b.rate->R)));
  t->theta = logOf(all.m);
}

// Second derivative by theta from that by x.
static djMat3 byTheta(const djTurn* t, const double H[9]) {
  double axis[3][3];
  djMat3 Y = {{0}};
  for (int i = 0; i < 3; i++) dju_store3(axis[i], t->axis[i]);
  for (int i = 0; i < 9; i++) {
    for (int k = 0; k < 9; k++) {
      Y.m[i] += t->part * t->part * axis[k / 3][i / 3] * H[k] * axis[k % 3][i % 3];
    }
  }
  return Y;
}

void dj_fillTurn(djTurn* t, const djLagged* lagged, const djPairInput* in, double eps) {
  t->smooth = sqrt(eps);
  t->part = (lagged->half_space ? 1 : 0.5) / in->h;
  t->size = dj_slipSize(lagged, in);
  t->lever[0] = in->cone.torsion / in->friction;
  t->lever[1] = in->cone.rolling[0] / in->friction;
  t->lever[2] = in->cone.rolling[1] / in->friction;
  dj_slipAxes(&t->axes, in, lagged->normal);
  t->axis[0] = t->axes.n, t->axis[1] = t->axes.t1, t->axis[2] = t->axes.t2;
  findTurn(t, in);
  for (int i = 0; i < 3; i++) t->x[i] = t->part * dju_dot3(t->axis[i], t->theta);
  findLaw(t, false);

  t->by_theta = dju_vec3(0, 0, 0);
  for (int i = 0; i < 3; i++) {
    t->by_theta = dju_madd3(t->by_theta, t->part * t->g[i], t->axis[i]);
  }
  djMat3 second = byTheta(t, t->H);
  djVec3 G;
  dju_pullback(&G, &t->K, dju_neg3(t->theta), dju_neg3(t->by_theta), &second);
  t->slope = dju_neg3(dju_mulMtV(t->C, G));
}

djVec3 dj_turnRow(const djTurn* t, int axis) {
  djVec3 G = dju_mulMV(dju_rightJacobianInv(t->theta), t->axis[axis]);
  return dju_scale3(t->part, dju_mulMtV(t->C, G));
}

// ------------------------------------------ sums over points -----------------------------------

static void addMixed(double mixed[6], djVec3 rho, djVec3 F) {
  dju_addTo3(mixed, 1, dju_cross3(rho, F));
  dju_addTo3(mixed + 3, 1, F);
}

static void sumHalfSpace(djTurnSums* sums, const djTurn* t, const djLagged* lagged,
                         const djPairInput* in) {
  const djMotion ma = dj_motionOf(in, 0), mb = dj_motionOf(in, 1);
  const djVec3 n = lagged->normal;
  const djStretch stretch = dj_stretchOf(lagged, in);
  const double rate = 1 / in->h, c = t->c;
  for (int i = 0; i < lagged->na; i++) {
    if (!(lagged->force[i] > 0)) continue;
    djVec3 y = dj_armPoint(lagged, lagged->law.arms, dju_load3(lagged->point + 3 * i));
    djVec3 da = dj_displace(&ma, y), db = dj_displace(&mb, y);
    djVec3 s = dju_scale3(rate, dju_sub3(da, db));
    for (int k = 0; k < 2; k++) s = dju_madd3(s, -dju_dot3(n, s), n);
    s = dj_stretched(&stretch, s);
    double W = dj_slipWeight(in, lagged, i);
    double ss = dju_dot3(s, s), r = sqrt(ss + c * c);
    sums->by_c += W * c / r;
    sums->by_cc += W * ss / (r * r * r);
    sums->stiff += W / r;
    djVec3 F = dj_stretched(&stretch, dju_scale3(-W * rate * c / (r * r * r), s));
    addMixed(sums->mixed, dj_armNow(&ma, y, da), F);
    addMixed(sums->mixed + 6, dj_armNow(&mb, y, db), dju_neg3(F));
  }
}

// With the plane's motion: v_c = -H_vv^-1 U_vc, and what that does to the others.
static void sumHulls(djTurnSums* sums, const djTurn* t, const djSlips* S) {
  const double rate = 1 / S->h, c = t->c;
  double by[3] = {0}, X[3][12] = {{0}};
  for (int i = 0; i < S->n; i++) {
    double ex = S->ex[i], ey = S->ey[i], W = S->W[i];
    double s1 = S->bx[i] - S->v[0] + S->v[2] * ey, s2 = S->by[i] - S->v[1] - S->v[2] * ex;
    double ss = s1 * s1 + s2 * s2, r = sqrt(ss + c * c), ir = 1 / r, k = W * ir;
    double y1 = s1 * ir, y2 = s2 * ir, low = c * ir * c * ir;
    sums->by_c += k * c;
    sums->by_cc += k * ss * ir * ir;
    sums->stiff += k;
    double f1 = -k * c * ir * y1, f2 = -k * c * ir * y2;   // of W s/r
    int body = i < S->na ? 0 : 6;
    djVec3 rho = dju_vec3(S->rx[i], S->ry[i], S->rz[i]);
    addMixed(sums->mixed + body, rho,
             dju_madd3(dju_scale3(rate * f1, S->t1), rate * f2, S->t2));
    by[0] -= f1, by[1] -= f2, by[2] -= ex * f2 - ey * f1;
    const double k11 = k * (low + y2 * y2), k12 = -k * y1 * y2, k22 = k * (low + y1 * y1);
    const double e[3][2] = {{k11, k12}, {k12, k22}, {ex * k12 - ey * k11, ex * k22 - ey * k12}};
    for (int q = 0; q < 3; q++) {
      addMixed(X[q] + body, rho,
               dju_madd3(dju_scale3(-rate * e[q][0], S->t1), -rate * e[q][1], S->t2));
    }
  }
  djPlaneFactor f;
  dj_factorSlips(&f, S->at.H);
  double b0 = -by[0], b1 = -by[1] - f.l10 * b0, b2 = -by[2] - f.l20 * b0 - f.l21 * b1;
  double* v = sums->plane;
  v[2] = b2 / f.d2;
  v[1] = b1 / f.d1 - f.l21 * v[2];
  v[0] = b0 / f.d0 - f.l10 * v[1] - f.l20 * v[2];
  for (int q = 0; q < 3; q++) {
    sums->by_cc += by[q] * v[q];
    for (int i = 0; i < 12; i++) sums->mixed[i] += X[q][i] * v[q];
  }
}

void dj_sumTurn(djTurnSums* sums, const djTurn* turn, const djLagged* lagged,
                const djPairInput* in, const djSlips* S) {
  memset(sums, 0, sizeof *sums);
  if (S) sumHulls(sums, turn, S);
  else sumHalfSpace(sums, turn, lagged, in);
}

// ------------------------------------------ gradient, Hessian ----------------------------------

// The relative turn is zeta = zeta_b - zeta_a - zeta_a x zeta_b/2 to second order, so that with
// c's derivatives by zeta, slope and Z, the blocks are Z, and of (a, b) -Z - [slope]/2.
static void relativeBlocks(double H[144], double scale, const double* Z, djVec3 slope) {
  djMat3 cross = dju_skew(slope);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double z = scale * Z[3 * i + j], half = 0.5 * scale * cross.m[3 * i + j];
      H[12 * i + j] += z;
      H[12 * (6 + i) + 6 + j] += z;
      H[12 * i + 6 + j] += half - z;
      H[12 * (6 + j) + i] += half - z;
    }
  }
}

// Of W sqrt(|s|^2 + c^2) no more than W/r (ds^2 + dc^2) + W c/r c'', c'' of the law's majorizer; and
// what the axes' own turning may add.
static void addMajorizer(double H[144], const djTurn* turn, const djTurnSums* sums,
                         const double d[12]) {
  djTurn t = *turn;
  findLaw(&t, true);
  djMat3 J = dju_mulMM(transposed(dju_rightJacobianInv(t.theta)), t.C);
  djMat3 Z = dju_mulMM(dju_mulMtM(J, byTheta(&t, t.H)), J);
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < 12; j++) H[12 * i + j] += sums->stiff * d[i] * d[j];
  }
  relativeBlocks(H, sums->by_c, Z.m, dju_vec3(0, 0, 0));
  double more = sums->by_c * dju_norm3(t.slope);
  for (int k = 0; k < 3; k++) {
    H[13 * k] += more;
    H[13 * (6 + k)] += more;
  }
}

void dj_addTurn(djPairOutput* out, const djTurn* t, const djTurnSums* sums, int flags) {
  double d[12] = {0};
  dju_store3(d, dju_neg3(t->slope));
  dju_store3(d + 6, t->slope);
  for (int i = 0; i < 12 && flags; i++) out->gradient[i] += sums->by_c * d[i];
  if (flags & DJ_EVAL_MAJORIZER) {
    addMajorizer(out->hessian, t, sums, d);
    return;
  }
  if (!(flags & DJ_EVAL_HESSIAN)) return;
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < 12; j++) {
      out->hessian[12 * i + j] +=
          sums->mixed[i] * d[j] + d[i] * sums->mixed[j] + sums->by_cc * d[i] * d[j];
    }
  }
  djMat3 Z = dju_mulMM(t->K, dju_rightJacobianInv(dju_neg3(t->theta))), sym;
  for (int i = 0; i < 9; i++) sym.m[i] = 0.5 * (Z.m[i] + Z.m[i % 3 * 3 + i / 3]);
  Z = dju_mulMM(dju_mulMtM(t->C, sym), t->C);
  relativeBlocks(out->hessian, sums->by_c, Z.m, t->slope);
}
