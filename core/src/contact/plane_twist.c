#include "contact/plane_twist.h"

#include "math/vec.h"

#include <string.h>

// A vertex moves as y -> ref + exp(w)(y - ref) + v = y + (w x rho + v) + (1/2) w x (w x rho) + ...,
// rho = y - ref. With sigma the side's sign and D = sigma (n.y + o) - r|n|:
//
//   dD/dxi        = sigma J,  J = (rho x n, n) = K (z, 1), since z - y is parallel to n,
//                   K (m, m0) = (m x n - m0 ref x n, m0 n)                          (6 x 4)
//   d2D/dw dw     = sigma ((n rho^T + rho n^T)/2 - (n.rho) I)
//   d2D/dn dw, dv = sigma (-[rho]x, I)
//
// so that, with f = sum sigma P' (z, 1), M = sum P'' (z,1)(z,1)^T and R = sum sigma P' rho,
//
//   U_xi    = K f
//   U_xixi  = K M K^T + (the ww term with R for rho)
//   U_p,xi  = M K^T + (-[R]x, f0 I; 0, 0)

typedef struct djSideFrame {
  djVec3 n, ref_n;         // n and ref x n
} djSideFrame;

// K (m, m0)
static void mulK(double out[6], const djSideFrame* s, const double m[4]) {
  djVec3 v = dju_load3(m);
  dju_store3(out, dju_madd3(dju_cross3(v, s->n), -m[3], s->ref_n));
  dju_store3(out + 3, dju_scale3(m[3], s->n));
}

static void sideTwist(double gradient[6], double mixed[48], double hessian[144], int at,
                      const djMoments* m, djVec3 n, djVec3 ref, double shift) {
  static const int row[4][4] = {{0, 1, 2, 3}, {1, 4, 5, 6}, {2, 5, 7, 8}, {3, 6, 8, 9}};
  djSideFrame s = {n, dju_cross3(ref, n)};
  if (gradient) mulK(gradient, &s, m->f);
  if (!mixed && !hessian) return;

  double KM[4][6];        // column j of K M
  for (int j = 0; j < 4; j++) {
    double column[4];
    for (int i = 0; i < 4; i++) column[i] = m->m[row[j][i]];
    mulK(KM[j], &s, column);
  }
  // R = sum sigma P' (y - ref), y = z - shift u
  djVec3 u = dju_scale3(1 / dju_norm3(n), n);
  djVec3 R = dju_madd3(dju_load3(m->f), -m->f[3], dju_madd3(ref, shift, u));
  if (mixed) {
    for (int j = 0; j < 4; j++) memcpy(mixed + 12 * j + at, KM[j], sizeof KM[j]);
    double* W = mixed + at;
    W[1] += R.z;
    W[2] -= R.y;
    W[12] -= R.z;
    W[14] += R.x;
    W[24] += R.y;
    W[25] -= R.x;
    for (int k = 0; k < 3; k++) W[12 * k + 3 + k] += m->f[3];
  }
  if (!hessian) return;
  double* H = hessian + 12 * at + at;
  for (int i = 0; i < 6; i++) {
    double line[4] = {KM[0][i], KM[1][i], KM[2][i], KM[3][i]}, out[6];
    mulK(out, &s, line);
    for (int j = 0; j <= i; j++) H[12 * i + j] = H[12 * j + i] = out[j];
  }
  double nv[3] = {n.x, n.y, n.z}, Rv[3] = {R.x, R.y, R.z}, nR = dju_dot3(n, R);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) H[12 * i + j] += 0.5 * (nv[i] * Rv[j] + Rv[i] * nv[j]);
    H[13 * i] -= nR;
  }
}

void dj_planeTwist(double gradient[12], double mixed[48], double explicit_hessian[144],
                   const djPlaneSolution* sol, const double ref[2][3], const double radius[2]) {
  if (explicit_hessian) memset(explicit_hessian, 0, 144 * sizeof(double));
  for (int k = 0; k < 2; k++) {
    sideTwist(gradient ? gradient + 6 * k : NULL, mixed, explicit_hessian, 6 * k, &sol->side[k],
              dju_load3(sol->p), dju_load3(ref[k]), k == 0 ? radius[k] : -radius[k]);
  }
}

// W^T U_pp^-1 W = Z^T Z with Z = D^-1/2 L^-1 W: symmetric to the last bit.
void dj_eliminatePlane(double hessian[144], const djLdl4* factor, const double mixed[48]) {
  double Z[48];
  dju_forwardLdl4(Z, factor, mixed, 12);
  for (int k = 0; k < 4; k++) {
    double root = sqrt(factor->inv[k]);
    for (int j = 0; j < 12; j++) Z[12 * k + j] *= root;
  }
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < 12; j++) {
      hessian[12 * i + j] -= (Z[i] * Z[j] + Z[12 + i] * Z[12 + j]) +
                             (Z[24 + i] * Z[24 + j] + Z[36 + i] * Z[36 + j]);
    }
  }
}

// Angular entries of a 12-vector are 0-2 and 6-8, linear ones 3-5 and 9-11.
static void unitFactors(double factor[12], double length_scale) {
  for (int i = 0; i < 12; i++) factor[i] = i % 6 < 3 ? 1 : 1 / length_scale;
}

void dj_scaleGradient(double gradient[12], double stiffness, double length_scale) {
  double factor[12];
  unitFactors(factor, length_scale);
  for (int i = 0; i < 12; i++) gradient[i] *= stiffness * factor[i];
}

void dj_scaleHessian(double hessian[144], double stiffness, double length_scale) {
  double factor[12];
  unitFactors(factor, length_scale);
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < 12; j++) hessian[12 * i + j] *= stiffness * factor[i] * factor[j];
  }
}
