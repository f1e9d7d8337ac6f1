#include "shape/implicit_motion.h"

// Curvatures of less than this part of the other one are rounding: where shapes are as flat as that
// they count as curved by so much, so that the point still goes where they turn it, if not as far.
#define FLAT 1e-14
// Curvatures of so little, 1/m, are none, and nothing says where the point goes.
#define NONE 1e-150

// The inverse of both curvatures M; zeros where there are none.
static void invert(double inv[3], const double M[3]) {
  const double det = M[0] * M[2] - M[1] * M[1], sum = M[0] + M[2];
  if (!(sum > NONE)) {
    inv[0] = inv[1] = inv[2] = 0;
    return;
  }
  if (det > FLAT * sum * sum) {
    const double f = 1 / det;
    inv[0] = M[2] * f;
    inv[1] = -M[1] * f;
    inv[2] = M[0] * f;
    return;
  }
  // sum is the larger curvature then, u times u M is it along its direction.
  const double f = 1 / (sum * sum), flat = 1 / (FLAT * sum);
  // M/sum projects onto that direction, 1 - M/sum onto the flat one
  inv[0] = M[0] * f + flat * (1 - M[0] / sum);
  inv[1] = M[1] * f - flat * M[1] / sum;
  inv[2] = M[2] * f + flat * (1 - M[2] / sum);
}

void dj_frameImplicit(djImplicitFrame* out, const djImplicitTouch* touch,
                      const djImplicitPlace* place, djMat3 R) {
  out->y = dju_mulMV(R, touch->y);
  out->d = dju_mulMV(R, place->d);
  out->y_b = dju_mulMV(R, dju_mulMV(place->R, touch->y_b));
  out->n = dju_mulMV(R, touch->n);
  out->T = touch->T;
  out->nu = touch->nu;
  out->la = touch->la;
  out->lb = touch->lb;
  for (int k = 0; k < 2; k++) {
    out->t[k] = dju_mulMV(R, touch->t[k]);
    out->ha[k] = dju_mulMV(R, touch->ha[k]);
    out->hb[k] = dju_mulMV(R, touch->hb[k]);
    out->ha_d[k] = dju_dot3(out->ha[k], out->d);
    out->hb_d[k] = dju_dot3(out->hb[k], out->d);
  }
  for (int k = 0; k < 3; k++) out->A[k] = touch->A[k];
  invert(out->inv, touch->M);
}

static void put(double* out, int row, int column, djVec3 by) {
  out[9 * row + 3 * column] = by.x;
  out[9 * row + 3 * column + 1] = by.y;
  out[9 * row + 3 * column + 2] = by.z;
}

static double entry(djVec3 v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

// From (2), with m_k = n x t_k, wa = y x n, wb = (y - T d) x n:
//   ca_k = psi_a.(y x ra_k + nu m_k),                ra_k = -ha_k + nu ha_d n,
//   cb_k = psi_b.(y_b x rb_k - nu m_k) + e.(T rb_k), rb_k = -hb_k + nu hb_d n,
//   dT = nu (wa.psi_a - wb.psi_b - T n.e),   dy = nu (wa.psi_a) d + sum tau_k t_k,
//   dn_k = ha_k.(dy - psi_a x y)/nu + m_k.psi_a.
void dj_moveTouch(djImplicitRates* out, const djImplicitFrame* f) {
  const djVec3 wa = dju_cross3(f->y, f->n), wb = dju_cross3(f->y_b, f->n);
  const double over = 1 / f->nu;
  djVec3 c[2][3], m[2];
  for (int k = 0; k < 2; k++) {
    m[k] = dju_cross3(f->n, f->t[k]);
    const djVec3 ra = dju_madd3(dju_neg3(f->ha[k]), f->nu * f->ha_d[k], f->n);
    const djVec3 rb = dju_madd3(dju_neg3(f->hb[k]), f->nu * f->hb_d[k], f->n);
    c[k][0] = dju_madd3(dju_cross3(f->y, ra), f->nu, m[k]);
    c[k][1] = dju_madd3(dju_cross3(f->y_b, rb), -f->nu, m[k]);
    c[k][2] = dju_scale3(f->T, rb);
  }
  put(out->T, 0, 0, dju_scale3(f->nu, wa));
  put(out->T, 0, 1, dju_scale3(-f->nu, wb));
  put(out->T, 0, 2, dju_scale3(-f->nu * f->T, f->n));
  for (int j = 0; j < 3; j++) {
    djVec3 tau[2], dn[2];
    tau[0] = dju_madd3(dju_scale3(-f->inv[0], c[0][j]), -f->inv[1], c[1][j]);
    tau[1] = dju_madd3(dju_scale3(-f->inv[1], c[0][j]), -f->inv[2], c[1][j]);
    for (int k = 0; k < 2; k++) {
      dn[k] = dju_scale3(over, dju_madd3(dju_scale3(f->A[k], tau[0]), f->A[k + 1], tau[1]));
      if (j > 0) continue;
      dn[k] = dju_add3(dn[k], m[k]);
      dn[k] = dju_madd3(dn[k], f->ha_d[k], wa);
      dn[k] = dju_madd3(dn[k], -over, dju_cross3(f->y, f->ha[k]));
    }
    for (int i = 0; i < 3; i++) {
      djVec3 y = dju_madd3(dju_scale3(entry(f->t[0], i), tau[0]), entry(f->t[1], i), tau[1]);
      if (j == 0) y = dju_madd3(y, f->nu * entry(f->d, i), wa);
      put(out->y, i, j, y);
      put(out->n, i, j, dju_madd3(dju_scale3(entry(f->t[0], i), dn[0]), entry(f->t[1], i), dn[1]));
    }
  }
}

void dj_bendTouch(djVec3* dy, double* dT, djVec3* dn, const djImplicitFrame* f, int side,
                  double dphi, djVec3 dgrad) {
  const double l = side ? f->lb : f->la;
  double c[2], own[2];
  for (int k = 0; k < 2; k++) {
    own[k] = l * dju_dot3(f->t[k], dgrad);
    c[k] = own[k] + (side ? l * dphi * f->hb_d[k] : -l * dphi * f->ha_d[k]);
  }
  const double tau[2] = {-f->inv[0] * c[0] - f->inv[1] * c[1],
                         -f->inv[1] * c[0] - f->inv[2] * c[1]};
  *dT = -l * dphi;
  *dy = dju_madd3(dju_scale3(tau[0], f->t[0]), tau[1], f->t[1]);
  if (!side) *dy = dju_madd3(*dy, -l * dphi, f->d);
  *dn = dju_vec3(0, 0, 0);
  for (int k = 0; k < 2; k++) {
    const double turn = ((side ? 0 : own[k]) + dju_dot3(f->ha[k], *dy)) / f->nu;
    *dn = dju_madd3(*dn, turn, f->t[k]);
  }
}
