// Fluid drag of bodies, in the frame of their inertia where displacements begin, axes a_i.
//
// Rates: linear v_i = a_i . ((c+ - c)/h - wind); angular h w_i = (a_k . a_j+ - a_j . a_k+)/2 for
// cyclic (i, j, k), linear in the pose, with derivative t_i = (a_j+ x a_k - a_k+ x a_j)/2 by a
// rotation. The energy is h times the sum of the potentials of rates.

#include "force/drag.h"

#include "math/block6.h"

#include <string.h>

// ---- energy, gradient, Hessian ----------------------------------------------------------------

// Energy of one body, gradient by c+ and a_k+, curvature by c+ (A) and by rotations (W).
typedef struct Term {
  double value;
  djVec3 F, g[3];
  djMat3 A, W;
} Term;

static Term termOf(const djDrag* s, const djMotion* at, int b) {
  Term t;
  memset(&t, 0, sizeof t);
  const djMat3 *A0 = &at->rate.kin->principal[b], *A1 = &at->at.kin->principal[b];
  djVec3 shift = dju_sub3(at->at.kin->com[b], at->rate.kin->com[b]);
  djVec3 rate = dju_sub3(dju_scale3(1 / at->h, shift), dju_load3(at->model->opt.wind));
  double p[3], h = at->h;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    djVec3 ai = dju_column(A0, i);
    dj_dragAt(p, s, 3 + i, dju_dot3(ai, rate));
    t.value += h * p[0];
    t.F = dju_madd3(t.F, p[1], ai);
    dju_addOuter3(&t.A, p[2] / h, ai, ai);
    djVec3 aj = dju_column(A0, j), ak = dju_column(A0, k);
    djVec3 bj = dju_column(A1, j), bk = dju_column(A1, k);
    dj_dragAt(p, s, i, 0.5 / h * (dju_dot3(ak, bj) - dju_dot3(aj, bk)));
    t.value += h * p[0];
    t.g[j] = dju_madd3(t.g[j], 0.5 * p[1], ak);
    t.g[k] = dju_madd3(t.g[k], -0.5 * p[1], aj);
    djVec3 ti = dju_scale3(0.5, dju_sub3(dju_cross3(bj, ak), dju_cross3(bk, aj)));
    dju_addOuter3(&t.W, p[2] / h, ti, ti);
  }
  return t;
}

// Adds the wrench about ref, rho = c+ - ref, and its nested second derivative: with twists x1, x2
//   F . (w1 x (w2 x rho + v2)) + (w1 x rho + v1)^T A (w2 x rho + v2) + w1^T W w2,
// where rotations also turn the axes: W += sum_k [g_k][a_k].
static void addWrench(double wrench[6], double N[36], const Term* t, const djMat3* axes,
                      djVec3 rho) {
  djVec3 torque = dju_cross3(rho, t->F);
  djMat3 W = t->W, R = dju_skew(rho), AR = dju_mulMM(t->A, R), RA = dju_mulMM(R, t->A);
  djMat3 RAR = dju_mulMM(RA, R), F = dju_skew(t->F);
  for (int k = 0; k < 3; k++) {
    djVec3 a = dju_column(axes, k);
    torque = dju_add3(torque, dju_cross3(a, t->g[k]));
    dju_addSkewProduct(&W, 1, t->g[k], a);
  }
  dju_addSkewProduct(&W, 1, t->F, rho);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      int k = 3 * i + j;
      N[6 * i + j] += W.m[k] - RAR.m[k];
      N[6 * i + 3 + j] += RA.m[k] - F.m[k];
      N[6 * (i + 3) + j] -= AR.m[k];
      N[6 * (i + 3) + 3 + j] += t->A.m[k];
    }
  }
  dju_addTo3(wrench, 1, torque);
  dju_addTo3(wrench + 3, 1, t->F);
}

double dj_dragWrench(double* wrench, double N[36], const djDrag* s, const djMotion* at, int b) {
  Term t = termOf(s, at, b);
  djVec3 rho = dju_sub3(at->at.kin->com[b], at->ref[b]);
  if (wrench) addWrench(wrench, N, &t, &at->at.kin->principal[b], rho);
  return t.value;
}

// ---- derivatives by the start -----------------------------------------------------------------

// With z = (c+ - c)/h - wind and p', p'' at each rate,
//   dF = A v0 + B w0 = sum p''_i a_i (w0 . (a_i x z) - a_i . dc/h) + p'_i w0 x a_i,
//   dtorque = W w0 = sum -p''_i/h t_i (t_i . w0) + p'_i/2 ([a_k+][a_j] - [a_j+][a_k]) w0.
static void startOf(djMat3* A, djMat3* B, djMat3* W, const djDrag* s, const djMotion* at, int b) {
  const djMat3 *A0 = &at->rate.kin->principal[b], *A1 = &at->at.kin->principal[b];
  djVec3 shift = dju_sub3(at->at.kin->com[b], at->rate.kin->com[b]);
  djVec3 z = dju_sub3(dju_scale3(1 / at->h, shift), dju_load3(at->model->opt.wind));
  double p[3], h = at->h;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    djVec3 ai = dju_column(A0, i);
    dj_dragAt(p, s, 3 + i, dju_dot3(ai, z));
    dju_addOuter3(A, -p[2] / h, ai, ai);
    dju_addOuter3(B, p[2], ai, dju_cross3(ai, z));
    djMat3 X = dju_skew(ai);
    for (int r = 0; r < 9; r++) B->m[r] -= p[1] * X.m[r];
    djVec3 aj = dju_column(A0, j), ak = dju_column(A0, k);
    djVec3 bj = dju_column(A1, j), bk = dju_column(A1, k);
    dj_dragAt(p, s, i, 0.5 / h * (dju_dot3(ak, bj) - dju_dot3(aj, bk)));
    djVec3 ti = dju_scale3(0.5, dju_sub3(dju_cross3(bj, ak), dju_cross3(bk, aj)));
    dju_addOuter3(W, -p[2] / h, ti, ti);
    dju_addSkewProduct(W, 0.5 * p[1], bk, aj);
    dju_addSkewProduct(W, -0.5 * p[1], bj, ak);
  }
}

// Of a body's wrench by a twist (w0, v0): dF = A (v0 + w0 x rho0) + B w0, dtorque = rho x dF + W
// w0.
static void addStart(double M[36], djMat3 A, djMat3 B, djMat3 W, djVec3 rho, djVec3 rho0) {
  djMat3 R = dju_skew(rho), fw = dju_mulMM(A, dju_skew(rho0)), wl = dju_mulMM(R, A);
  for (int k = 0; k < 9; k++) fw.m[k] = B.m[k] - fw.m[k];
  djMat3 ww = dju_mulMM(R, fw);
  for (int k = 0; k < 9; k++) ww.m[k] += W.m[k];
  dju_addBlock6(M, 0, 0, 1, &ww);
  dju_addBlock6(M, 0, 3, 1, &wl);
  dju_addBlock6(M, 3, 0, 1, &fw);
  dju_addBlock6(M, 3, 3, 1, &A);
}

void dj_dragStart(double Nrate[36], const djDrag* s, const djMotion* at, int b) {
  djMat3 A = {{0}}, B = {{0}}, W = {{0}};
  startOf(&A, &B, &W, s, at, b);
  addStart(Nrate, A, B, W, dju_sub3(at->at.kin->com[b], at->ref[b]),
           dju_sub3(at->rate.kin->com[b], at->ref[b]));
}
