// Drag's coefficients, by the box of equal inertia, edges s_i = sqrt(6 x_i/m), x_i = I_j + I_k -
// I_i, along inertia axis i; with e the mean edge,
//   force  -3 pi e mu v - rho/2 s_j s_k v|v|,
//   torque -pi e^3 mu w - rho/64 s_i (s_j^4 + s_k^4) w|w|;
// and drag's derivatives by the parameters of bodies.

#include "force/drag.h"

#include "math/block6.h"
#include "model/param.h"

#define FLAT 1e-15   // smallest x_i

// ---- coefficients -----------------------------------------------------------------------------

static void boxEdges(double edge[3], const djModel* m, int b) {
  const double* I = m->body_inertia + 3 * b;
  for (int i = 0; i < 3; i++) {
    double x = I[(i + 1) % 3] + I[(i + 2) % 3] - I[i];
    edge[i] = sqrt(fmax(x, FLAT) * 6 / m->body_mass[b]);
  }
}

void dj_setDrag(djDrag* s, const djModel* m, int b) {
  double edge[3];
  boxEdges(edge, m, b);
  double mean = (edge[0] + edge[1] + edge[2]) / 3;
  double mu = m->opt.viscosity, rho = m->opt.density;
  for (int i = 0; i < 3; i++) {
    double y = edge[(i + 1) % 3], z = edge[(i + 2) % 3];
    s->linear[i] = M_PI * mean * mean * mean * mu;
    s->square[i] = rho / 64 * edge[i] * (y * y * y * y + z * z * z * z);
    s->linear[3 + i] = 3 * M_PI * mean * mu;
    s->square[3 + i] = 0.5 * rho * y * z;
  }
}

// ds_i = 3/(m s_i) dx_i - s_i/(2m) dm; s_i does not depend on the inertia where x_i is clamped.
void dj_dragCoefficientParams(double* mass, double* inertia, const djModel* m, int b,
                              const double linear[6], const double square[6]) {
  const double* I = m->body_inertia + 3 * b;
  double s[3], by_edge[3] = {0, 0, 0}, by_mean = 0;
  boxEdges(s, m, b);
  double mean = (s[0] + s[1] + s[2]) / 3;
  double mu = m->opt.viscosity, rho = m->opt.density;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    by_mean += M_PI * mu * (3 * mean * mean * linear[i] + 3 * linear[3 + i]);
    double y3 = s[j] * s[j] * s[j], z3 = s[k] * s[k] * s[k], c = rho / 64 * square[i];
    by_edge[i] += c * (y3 * s[j] + z3 * s[k]);
    by_edge[j] += c * 4 * s[i] * y3 + 0.5 * rho * s[k] * square[3 + i];
    by_edge[k] += c * 4 * s[i] * z3 + 0.5 * rho * s[j] * square[3 + i];
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double g = by_edge[i] + by_mean / 3, M = m->body_mass[b];
    *mass -= g * s[i] / (2 * M);
    if (!(I[j] + I[k] - I[i] > FLAT)) continue;
    double by_x = 3 * g / (M * s[i]);
    inertia[i] -= by_x;
    inertia[j] += by_x;
    inertia[k] += by_x;
  }
}

// ---- parameters -------------------------------------------------------------------------------

typedef struct Out {
  double *mass, *ipos, *iquat, *inertia;
} Out;

// With Z = A^T ((c+ - c)/h - wind) and U = A^T u in the axes A where displacements begin,
// W = vee(A^T A+)/h the angular rates and Q = vee(A^T [w] A+) (vee: half the antisymmetric part's
// vector), drag's part is sum_i U_i p'_i(Z_i) + Q_i p'_i(W_i), u the velocity that the twist (w, v)
// gives the centre of mass. When the frame turns by exp(d) in itself, all four vectors turn back:
// dZ = Z x d. The centre of mass c = p + R e moves in both poses: by R at the end, which moves u
// too, and by R0; Du is dF's derivative by the displacement (R - R0) de, transposed, applied to u.
static void bodyParams(Out* out, const djDrag* s, const djMotion* at, int b, djVec3 w, djVec3 u) {
  const djModel* m = at->model;
  const djKin *kin = at->at.kin, *kin0 = at->rate.kin;
  const djMat3 *A = &kin0->principal[b], *B = &kin->principal[b];
  double h = at->h;
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
  dj_dragCoefficientParams(out->mass + b, out->inertia + 3 * b, m, b, linear, square);
  for (int part = 0; part < 6; part += 3) {
    djVec3 x = dju_cross3(dju_load3(bend + part), dju_load3(rate + part));
    dju_addTo3(out->iquat + 3 * b, 1, x);
    dju_addTo3(out->iquat + 3 * b, 1, dju_cross3(dju_load3(slope + part), dju_load3(dir + part)));
  }
  djVec3 F = dju_mulMV(*A, dju_load3(slope + 3));
  djVec3 Du = dju_scale3(1 / h, dju_mulMV(*A, dju_load3(bend + 3)));
  dju_addTo3(out->ipos + 3 * b, 1, dju_mulMtV(kin->body[b].R, dju_add3(dju_cross3(F, w), Du)));
  dju_addTo3(out->ipos + 3 * b, -1, dju_mulMtV(kin0->body[b].R, Du));
}

void dj_dragParams(djParamSums* sums, const djDrag* drag, const djMotion* at) {
  const djModel* m = at->model;
  Out out = {dj_paramBlock(sums->param, m, DJ_FIELD_BODY_MASS),
             dj_paramBlock(sums->param, m, DJ_FIELD_BODY_IPOS),
             dj_paramBlock(sums->param, m, DJ_FIELD_BODY_IQUAT),
             dj_paramBlock(sums->param, m, DJ_FIELD_BODY_INERTIA)};
  for (int b = 1; b < m->nbody && drag[0].acts; b++) {
    if (!drag[b].acts) continue;
    const double* x = sums->x + 6 * b;
    djVec3 w = dju_load3(x), rho = dju_sub3(at->at.kin->com[b], at->ref[b]);
    bodyParams(&out, &drag[b], at, b, w, dju_add3(dju_load3(x + 3), dju_cross3(w, rho)));
    double N[36] = {0}, Nrate[36] = {0};
    dj_dragWrench(sums->W + 6 * b, N, &drag[b], at, b);
    dj_dragStart(Nrate, &drag[b], at, b);
    dju_mulAdd6(sums->C + 6 * b, N, 6, x, false);
    dju_mulAdd6(dj_rateCotangents(sums, at) + 6 * b, Nrate, 6, x, true);
  }
}
