// With u = v + w x rho the velocity that x gives the centre of mass, and (omega, vc) those of V, a
// body's part is
//   u . (m (s1 (c+ - c) - s2 vc) - f) + sum_kl S_kl s1 w . (a_k x a_l+) - s2 w . I omega.

#include "model/momentum_param.h"

#include "model/body_param.h"
#include "model/param.h"

// S = tr(I)/2 - I varies freely.
static void addTensor(double tensor[6], const djMat3* start, const djMat3* end, const djMat3* at,
                      djVec3 w, djVec3 omega, double s1, double s2) {
  double P[3][3], a[3], o[3];
  dju_store3(a, dju_mulMtV(*at, w));
  dju_store3(o, dju_mulMtV(*at, omega));
  for (int k = 0; k < 3; k++) {
    for (int l = 0; l < 3; l++) {
      P[k][l] = s1 * dju_dot3(w, dju_cross3(dju_column(start, k), dju_column(end, l)));
    }
  }
  double half = 0.5 * (P[0][0] + P[1][1] + P[2][2]);
  for (int k = 0; k < 3; k++) tensor[k] += half - P[k][k] - s2 * a[k] * o[k];
  tensor[3] -= P[0][1] + P[1][0] + s2 * (a[0] * o[1] + a[1] * o[0]);
  tensor[4] -= P[0][2] + P[2][0] + s2 * (a[0] * o[2] + a[2] * o[0]);
  tensor[5] -= P[1][2] + P[2][1] + s2 * (a[1] * o[2] + a[2] * o[1]);
}

void dj_momentumParams(double* param, double* tensor, const djModel* m, const djBodyStep* step,
                       bool loads, const djKin* kin, const djKin* kin0, const djKin* at,
                       const djVec3* ref, const double* x, const double* V, double s1,
                       double s2) {
  double* by_mass = dj_paramBlock(param, m, DJ_FIELD_BODY_MASS);
  double* by_ipos = dj_paramBlock(param, m, DJ_FIELD_BODY_IPOS);
  for (int b = 1; b < m->nbody; b++) {
    if (!step[b].active) continue;
    double mass = m->body_mass[b];
    djVec3 rho = dju_sub3(at->com[b], ref[b]), w = dju_load3(x + 6 * b);
    djVec3 omega = dju_load3(V + 6 * b);
    djVec3 u = dju_add3(dju_load3(x + 6 * b + 3), dju_cross3(w, rho));
    djVec3 vc = dju_add3(dju_load3(V + 6 * b + 3), dju_cross3(omega, rho));
    djVec3 change = dju_scale3(s1, dju_sub3(kin->com[b], kin0->com[b]));
    change = dju_madd3(change, -s2, vc);
    by_mass[b] += dju_dot3(u, change);
    djVec3 F = dju_scale3(mass, change);
    if (loads) F = dju_sub3(F, step[b].force);
    // c = p + R e: u turns with w, vc with omega
    djMat3 R = at->body[b].R;
    double* ipos = by_ipos + 3 * b;
    dju_addTo3(ipos, 1, dju_mulMtV(R, dju_cross3(F, w)));
    dju_addTo3(ipos, -mass * s2, dju_mulMtV(R, dju_cross3(u, omega)));
    dju_addTo3(ipos, mass * s1, dju_mulMtV(kin->body[b].R, u));
    dju_addTo3(ipos, -mass * s1, dju_mulMtV(kin0->body[b].R, u));
    addTensor(tensor + 6 * b, &kin0->principal[b], &kin->principal[b], &at->principal[b], w, omega,
              s1, s2);
  }
}
