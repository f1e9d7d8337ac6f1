#include "model/body_term.h"

#include "math/block6.h"

#include <string.h>

// ---- start of a step --------------------------------------------------------------------------

void dj_beginBodyTerms(djBodyStep* step, const djModel* m, const djLoad* load, const djKin* kin0,
                       const djKin* back, double h) {
  double h2 = 1 / (h * h);
  for (int b = 0; b < m->nbody; b++) {
    djBodyStep* s = &step[b];
    s->active = m->body_lastdof[b] >= 0;
    if (!s->active) continue;
    const double* I = m->body_inertia + 3 * b;
    s->mass = m->body_mass[b] * h2;
    s->com_step = dju_sub3(kin0->com[b], back->com[b]);
    for (int k = 0; k < 3; k++) {
      s->moment[k] = 0.5 * h2 * (I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]);
      s->axis_step[k] = dju_sub3(dju_column(&kin0->principal[b], k),
                                 dju_column(&back->principal[b], k));
    }
    s->force = load[b].force;
    s->torque = load[b].torque;
  }
}

// ---- energy, gradient, Hessian ----------------------------------------------------------------

// Scratch of one body: energy, gradient by c+ and a_k+, curvature by rotations.
typedef struct Term {
  double value;
  djVec3 F, g[3];
  djMat3 W;
} Term;

// A world torque tau has the potential -tau . sum_k (a_k x a_k+)/2: its part by an axis.
static djVec3 torqueOf(djVec3 tau, djVec3 a0) { return dju_scale3(0.5, dju_cross3(tau, a0)); }

static void inertiaTerm(Term* t, const djBodyStep* s, const djKin* kin, const djKin* kin0, int b) {
  djVec3 shift = dju_sub3(kin->com[b], kin0->com[b]);
  djVec3 d = dju_sub3(shift, s->com_step);
  t->value = 0.5 * s->mass * dju_dot3(d, d) - dju_dot3(s->force, shift);
  t->F = dju_madd3(dju_neg3(s->force), s->mass, d);
  for (int k = 0; k < 3; k++) {
    djVec3 a0 = dju_column(&kin0->principal[b], k), a = dju_column(&kin->principal[b], k);
    djVec3 e = dju_sub3(dju_sub3(a, a0), s->axis_step[k]);
    djVec3 tau = torqueOf(s->torque, a0);
    t->value += 0.5 * s->moment[k] * dju_dot3(e, e) - dju_dot3(tau, a);
    t->g[k] = dju_madd3(dju_neg3(tau), s->moment[k], e);
  }
}

// Nested second derivative about ref. With rho = c+ - ref and twists x1, x2 it is
//   F . (w1 x (w2 x rho + v2)) + m/h^2 (w1 x rho + v1) . (w2 x rho + v2) + w1^T W w2,
// so with z = F - m/h^2 rho
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

// Wrench and block of a body, t->W being 0 at first; turns: some g or moment is not 0.
static inline void storeTerm(double wrench[6], double N[36], Term* t, const djKin* kin,
                      const djVec3* ref, int b, double mass, const double moment[3], bool turns) {
  djVec3 rho = dju_sub3(kin->com[b], ref[b]), torque = dju_cross3(rho, t->F);
  for (int k = 0; k < 3 && turns; k++) {
    djVec3 a = dju_column(&kin->principal[b], k);
    torque = dju_add3(torque, dju_cross3(a, t->g[k]));
    // [g][a] - s [a]^2
    if (N) dju_addSkewProduct(&t->W, 1, dju_madd3(t->g[k], -moment[k], a), a);
  }
  dju_store3(wrench, torque);
  dju_store3(wrench + 3, t->F);
  if (N) nestedBlock(N, t, rho, mass);
}

// Block of body b, unless there are none.
static double* blockOf(double* N, int b) { return N ? N + 36 * b : NULL; }

static void clearTerms(double* wrench, double* N, const djModel* m) {
  if (wrench) memset(wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  if (N) memset(N, 0, (size_t)m->nbody * 36 * sizeof(double));
}

double dj_bodyTerms(double* wrench, double* N, const djModel* m, const djBodyStep* step,
                    const djKin* kin, const djKin* kin0, const djVec3* ref) {
  double value = 0;
  clearTerms(wrench, N, m);
  for (int b = 1; b < m->nbody; b++) {
    const djBodyStep* s = &step[b];
    if (!s->active) continue;
    Term t;
    inertiaTerm(&t, s, kin, kin0, b);
    if (N) memset(&t.W, 0, sizeof(t.W));
    value += t.value;
    if (wrench) storeTerm(wrench + 6 * b, blockOf(N, b), &t, kin, ref, b, s->mass, s->moment, true);
  }
  return value;
}

static bool isZero(djVec3 x) { return x.x == 0 && x.y == 0 && x.z == 0; }

static const double noMoment[3] = {0, 0, 0};

// False: there is none, or nothing moves.
static bool hasLoad(const djModel* m, const djLoad* load, int b) {
  return m->body_lastdof[b] >= 0 && !(isZero(load[b].force) && isZero(load[b].torque));
}

// Returns whether it turns.
static bool loadTerm(Term* t, const djLoad* load, const djKin* kin, const djKin* kin0, int b) {
  djVec3 force = load[b].force, torque = load[b].torque;
  bool turns = !isZero(torque);
  *t = (Term){.value = -dju_dot3(force, dju_sub3(kin->com[b], kin0->com[b])),
              .F = dju_neg3(force)};
  for (int k = 0; k < 3 && turns; k++) {
    djVec3 tau = torqueOf(torque, dju_column(&kin0->principal[b], k));
    t->value -= dju_dot3(tau, dju_column(&kin->principal[b], k));
    t->g[k] = dju_neg3(tau);
  }
  return turns;
}

double dj_loadTerms(double* wrench, double* N, const djModel* m, const djLoad* load,
                    const djKin* kin, const djKin* kin0, const djVec3* ref) {
  double value = 0;
  clearTerms(wrench, N, m);
  for (int b = 1; b < m->nbody; b++) {
    if (!hasLoad(m, load, b)) continue;
    Term t;
    bool turns = loadTerm(&t, load, kin, kin0, b);
    value += t.value;
    if (wrench) storeTerm(wrench + 6 * b, blockOf(N, b), &t, kin, ref, b, 0, noMoment, turns);
  }
  return value;
}

// ---- derivatives by the start -----------------------------------------------------------------

// Block of d wrench by a twist (w0, v0) of the start, given dF = a (v0 + w0 x rho0) and d torque
// about c+ = W w0.
static void plainBlock(double M[36], double a, djMat3 W, djVec3 rho, djVec3 rho0) {
  djMat3 R = dju_skew(dju_scale3(a, rho)), R0 = dju_skew(dju_scale3(-a, rho0)), A = {{0}};
  A.m[0] = A.m[4] = A.m[8] = a;
  dju_addSkewProduct(&W, -a, rho, rho0);
  memset(M, 0, 36 * sizeof(double));
  dju_addBlock6(M, 0, 0, 1, &W);
  dju_addBlock6(M, 0, 3, 1, &R);
  dju_addBlock6(M, 3, 0, 1, &R0);
  dju_addBlock6(M, 3, 3, 1, &A);
}

// Applied torque: g_k = -(tau x a_k)/2, so a+ x (tau x [a] w)/2.
static void addTorque(djMat3* W, djVec3 tau, djVec3 a, djVec3 a0) {
  djMat3 T = dju_mulMM(dju_mulMM(dju_skew(a), dju_skew(tau)), dju_skew(a0));
  for (int r = 0; r < 9; r++) W->m[r] += 0.5 * T.m[r];
}

void dj_bodyTermsStart(double* M0, double* Mback, const djModel* m, const djBodyStep* step,
                       const djKin* kin, const djKin* kin0, const djKin* back,
                       const djVec3* ref) {
  memset(M0, 0, (size_t)m->nbody * 36 * sizeof(double));
  memset(Mback, 0, (size_t)m->nbody * 36 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    const djBodyStep* s = &step[b];
    if (!s->active) continue;
    djVec3 rho = dju_sub3(kin->com[b], ref[b]);
    djMat3 W0 = {{0}}, Wb = {{0}};
    for (int k = 0; k < 3; k++) {
      djVec3 a = dju_column(&kin->principal[b], k);
      djVec3 a0 = dju_column(&kin0->principal[b], k), ab = dju_column(&back->principal[b], k);
      // a+ x (sigma w x a) = -sigma [a+][a] w, sigma = -2 s_k at the start, s_k before it
      dju_addSkewProduct(&W0, 2 * s->moment[k], a, a0);
      dju_addSkewProduct(&Wb, -s->moment[k], a, ab);
      if (!isZero(s->torque)) addTorque(&W0, s->torque, a, a0);
    }
    djVec3 rho0 = dju_sub3(kin0->com[b], ref[b]);
    plainBlock(M0 + 36 * b, -2 * s->mass, W0, rho, rho0);
    plainBlock(Mback + 36 * b, s->mass, Wb, rho, dju_sub3(back->com[b], ref[b]));
  }
}

// The part by rotations, which is all.
static djMat3 loadStart(const djLoad* load, const djKin* kin, const djKin* kin0, int b) {
  djMat3 W = {{0}};
  for (int k = 0; k < 3; k++) {
    addTorque(&W, load[b].torque, dju_column(&kin->principal[b], k),
              dju_column(&kin0->principal[b], k));
  }
  return W;
}

void dj_loadTermsStart(double* M0, const djModel* m, const djLoad* load, const djKin* kin,
                       const djKin* kin0) {
  memset(M0, 0, (size_t)m->nbody * 36 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0 || isZero(load[b].torque)) continue;
    djMat3 W = loadStart(load, kin, kin0, b);
    dju_addBlock6(M0 + 36 * b, 0, 0, 1, &W);
  }
}

void dj_addLoadProducts(double* W, double* C, double* C0, const djModel* m, const djLoad* load,
                        const djKin* kin, const djKin* kin0, const djVec3* ref, const double* x) {
  for (int b = 1; b < m->nbody; b++) {
    if (!hasLoad(m, load, b)) continue;
    Term t;
    double wrench[6], N[36];
    bool turns = loadTerm(&t, load, kin, kin0, b);
    storeTerm(wrench, N, &t, kin, ref, b, 0, noMoment, turns);
    for (int k = 0; k < 6; k++) W[6 * b + k] += wrench[k];
    dju_mulAdd6(C + 6 * b, N, 6, x + 6 * b, false);
    if (!turns) continue;
    djMat3 M0 = loadStart(load, kin, kin0, b);
    dju_addTo3(C0 + 6 * b, 1, dju_mulMtV(M0, dju_load3(x + 6 * b)));
  }
}
