#include "model/body_term.h"

#include "model/drag.h"

#include <string.h>

// ---- start of a step --------------------------------------------------------------------------

void dj_beginBodyTerms(djBodyStep* step, const djModel* m, const djData* d, const djKin* kin0,
                       const djKin* back, double h) {
  int passive_off = DJ_DSBL_SPRING | DJ_DSBL_DAMPER;
  bool passive = (m->opt.disable & passive_off) != passive_off;
  bool gravity = !(m->opt.disable & DJ_DSBL_GRAVITY);
  djVec3 g = dju_scale3(gravity ? d->gravity_scale : 0, dju_load3(m->opt.gravity));
  double h2 = 1 / (h * h);
  for (int b = 0; b < m->nbody; b++) {
    djBodyStep* s = &step[b];
    double mass = m->body_mass[b];
    s->active = m->body_lastdof[b] >= 0;
    if (!s->active) continue;
    const double* I = m->body_inertia + 3 * b;
    s->mass = mass * h2;
    s->com_step = dju_sub3(kin0->com[b], back->com[b]);
    for (int k = 0; k < 3; k++) {
      s->moment[k] = 0.5 * h2 * (I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]);
      s->axis_step[k] = dju_sub3(dju_column(&kin0->principal[b], k),
                                 dju_column(&back->principal[b], k));
    }
    double weight = mass * (1 - (passive ? m->body_gravcomp[b] : 0));
    s->force = dju_madd3(dju_load3(d->xfrc_applied + 6 * b), weight, g);
    s->torque = dju_load3(d->xfrc_applied + 6 * b + 3);
    s->fluid = passive && mass > 1e-15 && (m->opt.density > 0 || m->opt.viscosity > 0);
    if (s->fluid) dj_setDrag(s, m, b);
  }
}

// ---- energy, gradient, Hessian ----------------------------------------------------------------

// Scratch of one body: energy, gradient by c+ and a_k+, curvature by c+ (A) and by rotations (W).
typedef struct Term {
  double value;
  djVec3 F, g[3];
  djMat3 A, W;             // A: of drag alone; inertia's is m/h^2 I
} Term;

// M += f u v^T
static void addOuter(djMat3* M, double f, djVec3 u, djVec3 v) {
  double x[3], y[3];
  dju_store3(x, u);
  dju_store3(y, v);
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) M->m[3 * r + c] += f * x[r] * y[c];
  }
}

// M += f [u][v] = f (v u^T - (u . v) I)
static void addSkewProduct(djMat3* M, double f, djVec3 u, djVec3 v) {
  addOuter(M, f, v, u);
  double s = f * dju_dot3(u, v);
  M->m[0] -= s;
  M->m[4] -= s;
  M->m[8] -= s;
}

// Rates in the lagged inertial frame, axes a_i at the start: linear v_i = a_i . ((c+ - c)/h -
// wind); angular h w_i = (a_k . a_j+ - a_j . a_k+)/2 for cyclic (i, j, k), linear in the pose, with
// derivative t_i = (a_j+ x a_k - a_k+ x a_j)/2 by a rotation.
static void addFluid(Term* t, const djBodyStep* s, const djModel* m, const djKin* kin,
                     const djKin* kin0, int b, double h, bool second) {
  djVec3 wind = dju_load3(m->opt.wind);
  djVec3 rate = dju_sub3(dju_scale3(1 / h, dju_sub3(kin->com[b], kin0->com[b])), wind);
  double p[3];
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    djVec3 ai = dju_column(&kin0->principal[b], i);
    dj_dragAt(p, s, 3 + i, dju_dot3(ai, rate));
    t->value += h * p[0];
    t->F = dju_madd3(t->F, p[1], ai);
    if (second) addOuter(&t->A, p[2] / h, ai, ai);
    djVec3 aj = dju_column(&kin0->principal[b], j), ak = dju_column(&kin0->principal[b], k);
    djVec3 bj = dju_column(&kin->principal[b], j), bk = dju_column(&kin->principal[b], k);
    dj_dragAt(p, s, i, 0.5 / h * (dju_dot3(ak, bj) - dju_dot3(aj, bk)));
    t->value += h * p[0];
    t->g[j] = dju_madd3(t->g[j], 0.5 * p[1], ak);
    t->g[k] = dju_madd3(t->g[k], -0.5 * p[1], aj);
    if (second) {
      djVec3 ti = dju_scale3(0.5, dju_sub3(dju_cross3(bj, ak), dju_cross3(bk, aj)));
      addOuter(&t->W, p[2] / h, ti, ti);
    }
  }
}

static void inertiaTerm(Term* t, const djBodyStep* s, const djKin* kin, const djKin* kin0, int b) {
  djVec3 shift = dju_sub3(kin->com[b], kin0->com[b]);
  djVec3 d = dju_sub3(shift, s->com_step);
  t->value = 0.5 * s->mass * dju_dot3(d, d) - dju_dot3(s->force, shift);
  t->F = dju_madd3(dju_neg3(s->force), s->mass, d);
  for (int k = 0; k < 3; k++) {
    djVec3 a0 = dju_column(&kin0->principal[b], k), a = dju_column(&kin->principal[b], k);
    djVec3 e = dju_sub3(dju_sub3(a, a0), s->axis_step[k]);
    // A world torque tau has the potential -tau . sum_k (a_k x a_k+)/2.
    djVec3 tau = dju_scale3(0.5, dju_cross3(s->torque, a0));
    t->value += 0.5 * s->moment[k] * dju_dot3(e, e) - dju_dot3(tau, a);
    t->g[k] = dju_madd3(dju_neg3(tau), s->moment[k], e);
  }
}

static void put3(double N[36], int r0, int c0, const djMat3* B) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) N[6 * (r0 + r) + c0 + c] = B->m[3 * r + c];
  }
}

// Nested second derivative about ref. With rho = c+ - ref and twists x1, x2 it is
//   F . (w1 x (w2 x rho + v2)) + (w1 x rho + v1)^T A (w2 x rho + v2) + w1^T W w2.
// Without drag A = m/h^2 I; then with z = F - m/h^2 rho
//   ww = W + rho z^T - (rho . z) I,  wv = -[F] + m/h^2 [rho],  vw = -m/h^2 [rho].
static void nestedBlock(double N[36], const Term* t, djVec3 rho, double mass) {
  djVec3 z = dju_madd3(t->F, -mass, rho);
  djMat3 ww = t->W, R = dju_skew(dju_scale3(mass, rho)), F = dju_skew(t->F);
  double s = dju_dot3(rho, z), r[3], y[3];
  dju_store3(r, rho);
  dju_store3(y, z);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      int k = 3 * i + j;
      N[6 * i + j] = ww.m[k] + r[i] * y[j] - (i == j ? s : 0);
      N[6 * i + 3 + j] = R.m[k] - F.m[k];
      N[6 * (i + 3) + j] = -R.m[k];
      N[6 * (i + 3) + 3 + j] = i == j ? mass : 0;
    }
  }
}

// What drag's curvature A adds to it.
static void addDragBlock(double N[36], const djMat3* A, djVec3 rho) {
  djMat3 R = dju_skew(rho), AR = dju_mulMM(*A, R), RA = dju_mulMM(R, *A), RAR = dju_mulMM(RA, R);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      int k = 3 * i + j;
      N[6 * i + j] -= RAR.m[k];
      N[6 * i + 3 + j] += RA.m[k];
      N[6 * (i + 3) + j] -= AR.m[k];
      N[6 * (i + 3) + 3 + j] += A->m[k];
    }
  }
}

double dj_bodyTerms(double* wrench, double* N, const djModel* m, const djBodyStep* step,
                    const djKin* kin, const djKin* kin0, const djVec3* ref, double h) {
  double value = 0;
  if (wrench) memset(wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  if (N) memset(N, 0, (size_t)m->nbody * 36 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    const djBodyStep* s = &step[b];
    if (!s->active) continue;
    Term t;
    inertiaTerm(&t, s, kin, kin0, b);
    if (N) {
      memset(&t.A, 0, sizeof(t.A));
      memset(&t.W, 0, sizeof(t.W));
    }
    if (s->fluid) addFluid(&t, s, m, kin, kin0, b, h, N != NULL);
    value += t.value;
    if (!wrench) continue;
    djVec3 rho = dju_sub3(kin->com[b], ref[b]), torque = dju_cross3(rho, t.F);
    for (int k = 0; k < 3; k++) {
      djVec3 a = dju_column(&kin->principal[b], k);
      torque = dju_add3(torque, dju_cross3(a, t.g[k]));
      if (!N) continue;
      // [g][a] - s [a]^2
      addSkewProduct(&t.W, 1, dju_madd3(t.g[k], -s->moment[k], a), a);
    }
    dju_store3(wrench + 6 * b, torque);
    dju_store3(wrench + 6 * b + 3, t.F);
    if (N) nestedBlock(N + 36 * b, &t, rho, s->mass);
    if (N && s->fluid) addDragBlock(N + 36 * b, &t.A, rho);
  }
  return value;
}

// ---- derivatives by the start -----------------------------------------------------------------

// Block of d wrench by a twist (w0, v0) of the start, given dF = A (v0 + w0 x rho0) + B w0 and
// d torque about c+ = W w0.
static void startBlock(double M[36], djMat3 A, djMat3 B, djMat3 W, djVec3 rho, djVec3 rho0) {
  djMat3 R = dju_skew(rho), fw = dju_mulMM(A, dju_skew(rho0)), wl = dju_mulMM(R, A);
  for (int k = 0; k < 9; k++) fw.m[k] = B.m[k] - fw.m[k];
  djMat3 ww = dju_mulMM(R, fw);
  for (int k = 0; k < 9; k++) ww.m[k] += W.m[k];
  put3(M, 0, 0, &ww);
  put3(M, 0, 3, &wl);
  put3(M, 3, 0, &fw);
  put3(M, 3, 3, &A);
}

// The same with A = a I and B = 0.
static void plainBlock(double M[36], double a, djMat3 W, djVec3 rho, djVec3 rho0) {
  djMat3 R = dju_skew(dju_scale3(a, rho)), R0 = dju_skew(dju_scale3(-a, rho0)), A = {{0}};
  A.m[0] = A.m[4] = A.m[8] = a;
  addSkewProduct(&W, -a, rho, rho0);
  put3(M, 0, 0, &W);
  put3(M, 0, 3, &R);
  put3(M, 3, 0, &R0);
  put3(M, 3, 3, &A);
}

// What drag adds: see addFluid. With z = (c+ - c)/h - wind and p', p'' at each rate,
//   dF = sum p''_i a_i (w0 . (a_i x z) - a_i . dc/h) + p'_i w0 x a_i,
//   dtorque = sum -p''_i/h t_i (t_i . w0) + p'_i/2 ([a_k+][a_j] - [a_j+][a_k]) w0.
static void addFluidStart(djMat3* A, djMat3* B, djMat3* W, const djBodyStep* s, const djModel* m,
                          const djKin* kin, const djKin* kin0, int b, double h) {
  djVec3 z = dju_sub3(dju_scale3(1 / h, dju_sub3(kin->com[b], kin0->com[b])),
                      dju_load3(m->opt.wind));
  double p[3];
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    djVec3 ai = dju_column(&kin0->principal[b], i);
    dj_dragAt(p, s, 3 + i, dju_dot3(ai, z));
    addOuter(A, -p[2] / h, ai, ai);
    addOuter(B, p[2], ai, dju_cross3(ai, z));
    djMat3 X = dju_skew(ai);
    for (int r = 0; r < 9; r++) B->m[r] -= p[1] * X.m[r];
    djVec3 aj = dju_column(&kin0->principal[b], j), ak = dju_column(&kin0->principal[b], k);
    djVec3 bj = dju_column(&kin->principal[b], j), bk = dju_column(&kin->principal[b], k);
    dj_dragAt(p, s, i, 0.5 / h * (dju_dot3(ak, bj) - dju_dot3(aj, bk)));
    djVec3 ti = dju_scale3(0.5, dju_sub3(dju_cross3(bj, ak), dju_cross3(bk, aj)));
    addOuter(W, -p[2] / h, ti, ti);
    addSkewProduct(W, 0.5 * p[1], bk, aj);
    addSkewProduct(W, -0.5 * p[1], bj, ak);
  }
}

void dj_bodyTermsStart(double* M0, double* Mback, const djModel* m, const djBodyStep* step,
                       const djKin* kin, const djKin* kin0, const djKin* back, const djVec3* ref,
                       double h) {
  memset(M0, 0, (size_t)m->nbody * 36 * sizeof(double));
  memset(Mback, 0, (size_t)m->nbody * 36 * sizeof(double));
  const djMat3 zero = {{0}};
  for (int b = 1; b < m->nbody; b++) {
    const djBodyStep* s = &step[b];
    if (!s->active) continue;
    djVec3 rho = dju_sub3(kin->com[b], ref[b]);
    djMat3 A0 = zero, B0 = zero, W0 = zero, Wb = zero;
    bool torque = s->torque.x != 0 || s->torque.y != 0 || s->torque.z != 0;
    for (int k = 0; k < 3; k++) {
      djVec3 a = dju_column(&kin->principal[b], k);
      djVec3 a0 = dju_column(&kin0->principal[b], k), ab = dju_column(&back->principal[b], k);
      A0.m[4 * k] = -2 * s->mass;
      // a+ x (sigma w x a) = -sigma [a+][a] w, sigma = -2 s_k at the start, s_k before it
      addSkewProduct(&W0, 2 * s->moment[k], a, a0);
      addSkewProduct(&Wb, -s->moment[k], a, ab);
      if (!torque) continue;
      // applied torque: g_k = -(tau x a_k)/2, so a+ x (tau x [a] w)/2
      djMat3 T = dju_mulMM(dju_mulMM(dju_skew(a), dju_skew(s->torque)), dju_skew(a0));
      for (int r = 0; r < 9; r++) W0.m[r] += 0.5 * T.m[r];
    }
    if (s->fluid) addFluidStart(&A0, &B0, &W0, s, m, kin, kin0, b, h);
    djVec3 rho0 = dju_sub3(kin0->com[b], ref[b]);
    if (s->fluid) startBlock(M0 + 36 * b, A0, B0, W0, rho, rho0);
    else plainBlock(M0 + 36 * b, -2 * s->mass, W0, rho, rho0);
    plainBlock(Mback + 36 * b, s->mass, Wb, rho, dju_sub3(back->com[b], ref[b]));
  }
}

double dj_gravityEnergy(const djModel* m, const djKin* kin, double gravity_scale) {
  if (m->opt.disable & DJ_DSBL_GRAVITY) return 0;
  djVec3 g = dju_scale3(gravity_scale, dju_load3(m->opt.gravity));
  double sum = 0;
  for (int b = 1; b < m->nbody; b++) sum -= m->body_mass[b] * dju_dot3(g, kin->com[b]);
  return sum;
}
