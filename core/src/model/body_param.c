// A body's part of z . r, with u = v + w x rho the velocity that the twist (w, v) gives its centre
// of mass (rho = c+ - ref) and w x a_k that of its axes, is
//   u . F + sum_k (w x a_k) . g_k,
// F and g_k the energy's gradients by c+ and a_k+ (body_term.c). With d = c+ - 2 c + c- and
// e_k = a_k+ - 2 a_k + a_k-, F = m d/h^2 - f, g_k = s_k e_k/h^2 + applied torque. The
// last one's potential, -tau . sum_k (a_k x a_k+)/2, is the same for all inertial frames of a body.

#include "model/body_param.h"

#include "model/param.h"

// Blocks of the gradient.
typedef struct Out {
  double *mass, *ipos;
} Out;

static Out openBlocks(double* param, const djModel* m) {
  return (Out){dj_paramBlock(param, m, DJ_FIELD_BODY_MASS),
               dj_paramBlock(param, m, DJ_FIELD_BODY_IPOS)};
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
// at the start, R- before it.
static void comParams(Out* out, const djBodyStep* s, const djKin* kin, const djKin* kin0,
                      const djKin* back, int b, djVec3 w, djVec3 u, djVec3 F) {
  djMat3 R = kin->body[b].R, R0 = kin0->body[b].R, Rb = back->body[b].R;
  double* ipos = out->ipos + 3 * b;
  djVec3 mu = dju_scale3(s->mass, u);
  dju_addTo3(ipos, 1, dju_mulMtV(R, dju_add3(dju_cross3(F, w), mu)));
  dju_addTo3(ipos, -2, dju_mulMtV(R0, mu));
  dju_addTo3(ipos, 1, dju_mulMtV(Rb, mu));
}

void dj_bodyParams(double* param, double* tensor, const djModel* m, const djBodyStep* step,
                   const djKin* kin, const djKin* kin0, const djKin* back, const djVec3* ref,
                   const double* x, double h) {
  Out out = openBlocks(param, m);
  for (int b = 1; b < m->nbody; b++) {
    const djBodyStep* s = &step[b];
    if (!s->active) continue;
    djVec3 w = dju_load3(x + 6 * b), rho = dju_sub3(kin->com[b], ref[b]);
    djVec3 u = dju_add3(dju_load3(x + 6 * b + 3), dju_cross3(w, rho));
    djVec3 shift = dju_sub3(kin->com[b], kin0->com[b]);
    djVec3 F = dju_sub3(dju_scale3(s->mass, dju_sub3(shift, s->com_step)), s->force);
    inertiaParams(&out, tensor + 6 * b, kin, kin0, back, b, w, u, h);
    comParams(&out, s, kin, kin0, back, b, w, u, F);
  }
}

void dj_loadPlaceParams(double* param, const djModel* m, const djLoad* load, const djKin* kin,
                        const double* x) {
  double* ipos = dj_paramBlock(param, m, DJ_FIELD_BODY_IPOS);
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    djVec3 turned = dju_cross3(dju_load3(x + 6 * b), load[b].force);
    dju_addTo3(ipos + 3 * b, 1, dju_mulMtV(kin->body[b].R, turned));
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
