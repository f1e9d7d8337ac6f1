#include "contact/plane/plane_twist.h"

#include "contact/plane/twist_lanes.h"

#include <string.h>

// A vertex moves as y -> ref + exp(w)(y - ref) + v/L = y + (w x rho + v/L) + w x (w x rho)/2 + ...,
// rho = y - ref. With sigma the side's sign and D = sigma (n.y + o) - r|n|:
//
//   dD/dxi        = sigma J,  J = (rho x n, n/L) = K (z, 1), since z - y is parallel to n,
//                   K (m, m0) = (m x n - m0 ref x n, m0 n/L)                        (6 x 4)
//   d2D/dw dw     = sigma ((n rho^T + rho n^T)/2 - (n.rho) I)
//   d2D/dn dw, dv = sigma (-[rho]x, I/L)
//
// so that, with f = sum sigma P' (z, 1), M = sum P'' (z,1)(z,1)^T and R = sum sigma P' rho,
//
//   U_xi    = K f
//   U_xixi  = K M K^T + (the ww term with R for rho)
//   U_p,xi  = W = M K^T + (-[R]x, f0 I/L; 0, 0)
//
// and the Hessian is U_xixi - W^T U_pp^-1 W, where W^T U_pp^-1 W = Z^T Z, Z = D^-1/2 L^-1 W.
//
// Ellipsoids turn with their body, q(n; exp(w) G) = q(exp(-w) n; G), and exp(-w) n is, to second
// order, n + dn - w x n + w x (w x n)/2 - w x dn. With c = q' and C = q'' the term -q of D has
//
//   -c.(dn - w x n) - c.(w x (w x n)/2 - w x dn) - (dn - w x n).C (dn - w x n)/2.
//
// All that contains c is what the point z - y = -sigma c of the body adds to the formulas above,
// which hold with rho = y - sigma c - ref and z as in plane_solve.h. With B = -sum P' C >= 0 of the
// side and X = [n]x, so that -w x n = X w, the last term leaves B in U_pp, B X in U_p,w and X^T B X
// in U_ww.

// One body's part, lanes as in twist_lanes.h.
typedef struct djSideTwist {
  djLanes Kt[4], MKt[4], W[4];
  djVec3 R;
  bool curved;
  djMat3 bend;             // X^T B X
} djSideTwist;

DJU_INLINE void sideRows(djSideTwist* t, const djPlaneSums* m, djVec3 n, djVec3 ref, double lift,
                         double inv_L) {
  dj_twistRows(t->Kt, n, ref, inv_L);
  dj_mulRows(t->MKt, m->m, t->Kt);
  // R = sum sigma P' (y - ref), y = z + lift n/|n|
  djVec3 y = dju_madd3(dju_load3(m->f), m->f[3] * lift, n);
  djVec3 R = t->R = dju_madd3(y, -m->f[3], ref);
  double f = m->f[3] * inv_L;
  t->W[0] = t->MKt[0] + dj_twistLanes(dju_vec3(0, R.z, -R.y), dju_vec3(f, 0, 0));
  t->W[1] = t->MKt[1] + dj_twistLanes(dju_vec3(-R.z, 0, R.x), dju_vec3(0, f, 0));
  t->W[2] = t->MKt[2] + dj_twistLanes(dju_vec3(R.y, -R.x, 0), dju_vec3(0, 0, f));
  t->W[3] = t->MKt[3];
}

// Adds B X to U_p,w.
static void addBend(djSideTwist* t, const djMat3* B, djVec3 n) {
  const djVec3 zero = {0, 0, 0};
  djMat3 X = dju_skew(n), BX = dju_mulMM(*B, X);
  t->curved = true;
  t->bend = dju_mulMtM(X, BX);
  for (int r = 0; r < 3; r++) t->W[r] += dj_twistLanes(dju_load3(BX.m + 3 * r), zero);
}

// Rows of the explicit Hessian of one body. K: rows of Kt as numbers.
typedef struct djExplicit {
  double K[4][8];
  double n[3], R[3], nR;
  djLanes half_n, R_lanes;
} djExplicit;

DJU_INLINE void openExplicit(djExplicit* e, const djSideTwist* t, djVec3 n) {
  const djVec3 zero = {0, 0, 0};
  for (int r = 0; r < 4; r++) dju_storeLanes(e->K[r], t->Kt[r]);
  dju_store3(e->n, dju_scale3(0.5, n));
  dju_store3(e->R, t->R);
  e->half_n = dj_twistLanes(dju_scale3(0.5, n), zero);
  e->R_lanes = dj_twistLanes(t->R, zero);
  e->nR = dju_dot3(n, t->R);
}

DJU_INLINE djLanes explicitRow(const djExplicit* e, const djSideTwist* t, int i) {
  static const double unit[3][8] = {{1}, {0, 1}, {0, 0, 1}};
  djLanes row = dj_combine(e->K[0][i], e->K[1][i], e->K[2][i], e->K[3][i], t->MKt);
  if (i >= 3) return row;
  if (t->curved) row += dj_twistLanes(dju_load3(t->bend.m + 3 * i), (djVec3){0, 0, 0});
  return row + (e->n[i] * e->R_lanes + e->R[i] * e->half_n) - e->nR * dju_loadLanes(unit[i]);
}

static void eliminate(double hessian[144], const djSideTwist t[2], const djLdl4* f, djVec3 n,
                      double stiffness) {
  double Zs[4][16], root[4];
  djLanes Z[2][4];
  djExplicit e[2];
  for (int r = 0; r < 4; r++) root[r] = sqrt(stiffness * f->inv[r]);
  for (int k = 0; k < 2; k++) {
    const djLanes* W = t[k].W;
    djLanes z1 = W[1] - f->l10 * W[0];
    djLanes z2 = W[2] - (f->l20 * W[0] + f->l21 * z1);
    djLanes z3 = W[3] - (f->l30 * W[0] + f->l31 * z1) - f->l32 * z2;
    Z[k][0] = root[0] * W[0];
    Z[k][1] = root[1] * z1;
    Z[k][2] = root[2] * z2;
    Z[k][3] = root[3] * z3;
    for (int r = 0; r < 4; r++) dju_storeLanes(Zs[r] + 8 * k, -Z[k][r]);
    openExplicit(&e[k], &t[k], n);
  }
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 6; i++) {
      int at = 8 * k + i;
      djLanes row[2];
      for (int c = 0; c < 2; c++) {
        row[c] = dj_combine(Zs[0][at], Zs[1][at], Zs[2][at], Zs[3][at], Z[c]);
      }
      row[k] += stiffness * explicitRow(&e[k], &t[k], i);
      dj_storeTwistRow(hessian, 6 * k + i, row[0], row[1]);
    }
  }
  // the explicit blocks are symmetric to rounding only
  for (int k = 0; k < 2; k++) {
    double* H = hessian + 78 * k;
    for (int i = 0; i < 6; i++) {
      for (int j = i + 1; j < 6; j++) H[12 * i + j] = H[12 * j + i];
    }
  }
}

void dj_planeTwist(double gradient[12], double mixed[48], double hessian[144],
                   const djPlaneSolution* sol, const double ref[2][3], const double radius[2],
                   double stiffness, double length_scale) {
  djSideTwist t[2];
  djVec3 n = dju_load3(sol->p);
  double inv_L = 1 / length_scale, length = dju_norm3(n);
  sideRows(&t[0], &sol->side[0], n, dju_load3(ref[0]), -radius[0] / length, inv_L);
  sideRows(&t[1], &sol->side[1], n, dju_load3(ref[1]), radius[1] / length, inv_L);
  for (int k = 0; k < 2; k++) {
    t[k].curved = false;
    if (sol->curved) addBend(&t[k], &sol->bend[k], n);
  }
  if (gradient) {
    djLanes g[2];
    for (int k = 0; k < 2; k++) {
      const double* m = sol->side[k].f;
      g[k] = stiffness * dj_combine(m[0], m[1], m[2], m[3], t[k].Kt);
    }
    dj_storeTwist(gradient, g[0], g[1]);
  }
  for (int r = 0; mixed && r < 4; r++) dj_storeTwist(mixed + 12 * r, t[0].W[r], t[1].W[r]);
  if (hessian) eliminate(hessian, t, &sol->factor, n, stiffness);
}
