// A body's part of z . r, with u = v + w x rho the velocity that the twist (w, v) gives its centre
// of mass (rho = c+ - ref) and w x a_k that of its axes, is
//   u . F + sum_k (w x a_k) . g_k,
// F and g_k the energy's gradients by c+ and a_k+ (body_term.c). With d = c+ - 2 c + c- and
// e_k = a_k+ - 2 a_k + a_k-, F = m d/h^2 - f + drag, g_k = s_k e_k/h^2 + drag + applied torque. The
// last one's potential, -tau . sum_k (a_k x a_k+)/2, is the same for all inertial frames of a body.

#include "model/body_param.h"

#include "model/drag.h"
#include "model/param.h"

// Blocks of the gradient.
typedef struct Out {
  double *mass, *ipos, *iquat, *inertia;
} Out;

static Out openBlocks(double* param, const djModel* m) {
  return (Out){dj_paramBlock(param, m, DJ_FIELD_BODY_MASS),
               dj_paramBlock(param, m, DJ_FIELD_BODY_IPOS),
               dj_paramBlock(param, m, DJ_FIELD_BODY_IQUAT),
               dj_paramBlock(param, m, DJ_FIELD_BODY_INERTIA)};
}

static void add3(double out[3], double s, djVec3 v) {
  out[0] += s * v.x;
  out[1] += s * v.y;
  out[2] += s * v.z;
}

// f = m (1 - c) g, g the acceleration in force, c what is compensated.
void dj_weightParams(double* param, const djModel* m, const djData* start, int b, djVec3 u) {
  if (m->opt.disable & DJ_DSBL_GRAVITY) return;
  int passive_off = DJ_DSBL_SPRING | DJ_DSBL_DAMPER;
  bool passive = (m->opt.disable & passive_off) != passive_off;
  double scale = start->gravity_scale, mass = m->body_mass[b];
  double factor = 1 - (passive ? m->body_gravcomp[b] : 0);
  double ug = scale * dju_dot3(u, dju_load3(m->opt.gravity));
  dj_paramBlock(param, m, DJ_FIELD_BODY_MASS)[b] -= factor * ug;
  if (passive) dj_paramBlock(param, m, DJ_FIELD_BODY_GRAVCOMP)[b] += mass * ug;
  add3(dj_paramBlock(param, m, DJ_FIELD_GRAVITY), -mass * factor * scale, u);
}

// Inertia: (u . d)/h^2 by the mass. Second moments S in the inertial frame are diagonal, but vary
// freely: sum_kl S_kl (w x a_k) . e_l/h^2, S = tr(I)/2 - I.
static void inertiaParams(Out* out, double tensor[6], const djKin* kin, const djKin* kin0,
                          const djKin* back, int b, djVec3 w, djVec3 u, double h) {
  double h2 = 1 / (h * h), P[3][3];
  djVec3 d = dju_madd3(dju_add3(kin->com[b], back->com[b]), -2, kin0->com[b]);
  out->mass[b] += h2 * dju_dot3(u, d);
  for (int l = 0; l < 3; l++) {
    djVec3 e = dju_add3(dju_column(&kin->principal[b], l), dju_column(&back->principal[b], l));
    e = dju_madd3(e, -2, dju_column(&kin0->principal[b], l));
    for (int k = 0; k < 3; k++) {
      P[k][l] = h2 * dju_dot3(dju_cross3(w, dju_column(&kin->principal[b], k)), e);
    }
  }
  double half = 0.5 * (P[0][0] + P[1][1] + P[2][2]);
  for (int k = 0; k < 3; k++) tensor[k] += half - P[k][k];
  tensor[3] -= P[0][1] + P[1][0];
  tensor[4] -= P[0][2] + P[2][0];
  tensor[5] -= P[1][2] + P[2][1];
}

// The centre of mass c = p + R e moves in all three poses: by R at the end, which moves u too, R0
// at the start, R- before it. D: what drag adds to dF, by the displacement (R - R0) de.
static void comParams(Out* out, const djBodyStep* s, const djKin* kin, const djKin* kin0,
                      const djKin* back, int b, djVec3 w, djVec3 u, djVec3 F, djVec3 Du) {
  djMat3 R = kin->body[b].R, R0 = kin0->body[b].R, Rb = back->body[b].R;
  double* ipos = out->ipos + 3 * b;
  djVec3 mu = dju_scale3(s->mass, u);
  add3(ipos, 1, dju_mulMtV(R, dju_add3(dju_cross3(F, w), dju_add3(mu, Du))));
  add3(ipos, -1, dju_mulMtV(R0, dju_madd3(Du, 2, mu)));
  add3(ipos, 1, dju_mulMtV(Rb, mu));
}

// Drag: with Z = A^T ((c+ - c)/h - wind) and U = A^T u in the axes A of the start,
// W = vee(A^T A+)/h the angular rates and Q = vee(A^T [w] A+) (vee: half the antisymmetric part's
// vector), its part is sum_i U_i p'_i(Z_i) + Q_i p'_i(W_i). When the frame turns by exp(d) in
// itself, all four vectors turn back: dZ = Z x d. F += drag's force; *Du = its derivative's
// transpose, applied to u.
static void dragParams(Out* out, djVec3* F, djVec3* Du, const djBodyStep* s, const djModel* m,
                       const djKin* kin, const djKin* kin0, int b, djVec3 w, djVec3 u, double h) {
  const djMat3 *A = &kin0->principal[b], *B = &kin->principal[b];
  djVec3 shift = dju_sub3(kin->com[b], kin0->com[b]);
  djVec3 z = dju_sub3(dju_scale3(1 / h, shift), dju_load3(m->opt.wind));
  djMat3 T = dju_mulMtM(*A, *B), TQ = dju_mulMtM(*A, dju_mulMM(dju_skew(w), *B));
  double rate[6], dir[6], slope[6], bend[6], linear[6], square[6];
  dju_store3(rate + 3, dju_mulMtV(*A, z));
  dju_store3(dir + 3, dju_mulMtV(*A, u));
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    rate[i] = 0.5 / h * (T.m[3 * k + j] - T.m[3 * j + k]);
    dir[i] = 0.5 * (TQ.m[3 * k + j] - TQ.m[3 * j + k]);
  }
  for (int i = 0; i < 6; i++) {
    double p[3];
    dj_dragAt(p, s, i, rate[i]);
    slope[i] = p[1];
    bend[i] = p[2] * dir[i];
    linear[i] = dir[i] * rate[i];
    square[i] = dir[i] * rate[i] * fabs(rate[i]);
  }
  dj_dragVjp(out->mass + b, out->inertia + 3 * b, m, b, linear, square);
  for (int part = 0; part < 6; part += 3) {
    djVec3 x = dju_cross3(dju_load3(bend + part), dju_load3(rate + part));
    add3(out->iquat + 3 * b, 1, x);
    add3(out->iquat + 3 * b, 1, dju_cross3(dju_load3(slope + part), dju_load3(dir + part)));
  }
  *F = dju_add3(*F, dju_mulMV(*A, dju_load3(slope + 3)));
  *Du = dju_scale3(1 / h, dju_mulMV(*A, dju_load3(bend + 3)));
}

void dj_bodyParams(double* param, double* tensor, const djModel* m, const djBodyStep* step,
                   const djData* start, const djKin* kin, const djKin* kin0, const djKin* back,
                   const djVec3* ref, const double* x, double h) {
  Out out = openBlocks(param, m);
  for (int b = 1; b < m->nbody; b++) {
    const djBodyStep* s = &step[b];
    if (!s->active) continue;
    djVec3 w = dju_load3(x + 6 * b), rho = dju_sub3(kin->com[b], ref[b]);
    djVec3 u = dju_add3(dju_load3(x + 6 * b + 3), dju_cross3(w, rho)), Du = {0, 0, 0};
    djVec3 shift = dju_sub3(kin->com[b], kin0->com[b]);
    djVec3 F = dju_sub3(dju_scale3(s->mass, dju_sub3(shift, s->com_step)), s->force);
    dj_weightParams(param, m, start, b, u);
    inertiaParams(&out, tensor + 6 * b, kin, kin0, back, b, w, u, h);
    if (s->fluid) dragParams(&out, &F, &Du, s, m, kin, kin0, b, w, u, h);
    comParams(&out, s, kin, kin0, back, b, w, u, F, Du);
  }
}

void dj_dragParams(double* param, const djModel* m, const djBodyStep* step, const djKin* kin,
                   const djKin* kin0, const djVec3* ref, const double* x, double h) {
  Out out = openBlocks(param, m);
  for (int b = 1; b < m->nbody; b++) {
    const djBodyStep* s = &step[b];
    if (!s->active || !s->fluid) continue;
    djVec3 w = dju_load3(x + 6 * b), rho = dju_sub3(kin->com[b], ref[b]);
    djVec3 u = dju_add3(dju_load3(x + 6 * b + 3), dju_cross3(w, rho)), F = {0, 0, 0}, Du = F;
    dragParams(&out, &F, &Du, s, m, kin, kin0, b, w, u, h);
    comParams(&out, s, kin, kin0, kin0, b, w, u, F, Du);
  }
}

// By iquat exp(d): dI = [d] I - I [d], I diagonal, has the entries
//   dI_xy = (I_x - I_y) d_z, dI_yz = (I_y - I_z) d_x, dI_xz = (I_z - I_x) d_y.
void dj_tensorParams(double* param, const djModel* m, const double* tensor) {
  double* inertia = dj_paramBlock(param, m, DJ_FIELD_BODY_INERTIA);
  double* iquat = dj_paramBlock(param, m, DJ_FIELD_BODY_IQUAT);
  for (int b = 1; b < m->nbody; b++) {
    const double *I = m->body_inertia + 3 * b, *t = tensor + 6 * b;
    for (int k = 0; k < 3; k++) inertia[3 * b + k] += t[k];
    iquat[3 * b] += t[5] * (I[1] - I[2]);
    iquat[3 * b + 1] += t[4] * (I[2] - I[0]);
    iquat[3 * b + 2] += t[3] * (I[0] - I[1]);
  }
}
