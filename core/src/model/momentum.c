#include "model/momentum.h"

#include "math/block6.h"
#include <string.h>

// ---- momenta of a state -----------------------------------------------------------------------

// w x S of twists: (w1 x w2, w1 x v2 + v1 x w2).
static void crossTwist(double out[6], const double a[6], const double b[6]) {
  djVec3 wa = dju_load3(a), wb = dju_load3(b);
  dju_store3(out, dju_cross3(wa, wb));
  dju_store3(out + 3, dju_add3(dju_cross3(wa, dju_load3(b + 3)), dju_cross3(dju_load3(a + 3), wb)));
}

void dj_bodyMomentum(double* momentum, double* axis_cross, const djModel* m, const djKin* kin,
                     const djVec3* ref, const double* qvel) {
  double* V = momentum;   // twists first: children come after their parents
  memset(V, 0, (size_t)m->nbody * 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    double sum[6], before[6];
    memcpy(sum, V + 6 * m->body_parent[b], sizeof sum);
    memcpy(before, sum, sizeof sum);
    for (int i = m->body_dofadr[b]; i < m->body_dofadr[b] + m->body_dofnum[b]; i++) {
      int first = dj_rotationDof(m, m->dof_jnt[i]);
      if (first < 0 || i <= first) memcpy(before, sum, sizeof sum);
      if (axis_cross) crossTwist(axis_cross + 6 * i, kin->S + 6 * i, before);
      for (int k = 0; k < 6; k++) sum[k] += kin->S[6 * i + k] * qvel[i];
    }
    memcpy(V + 6 * b, sum, sizeof sum);
  }
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    djVec3 w = dju_load3(V + 6 * b), rho = dju_sub3(kin->com[b], ref[b]);
    djVec3 v = dju_add3(dju_load3(V + 6 * b + 3), dju_cross3(w, rho));
    djVec3 p = dju_scale3(m->body_mass[b], v), l = dju_mulMtV(kin->principal[b], w);
    const double* I = m->body_inertia + 3 * b;
    l = dju_mulMV(kin->principal[b], dju_vec3(I[0] * l.x, I[1] * l.y, I[2] * l.z));
    dju_store3(V + 6 * b, dju_add3(l, dju_cross3(rho, p)));
    dju_store3(V + 6 * b + 3, p);
  }
}

// ---- 6x6 blocks -------------------------------------------------------------------------------

// d (arm x p + l, p) by a twist (w, v) with dp = mass (v + w x rho) and dl = L w.
static void addMomentumBlock(double B[36], double mass, djMat3 L, djVec3 arm, djVec3 rho) {
  djMat3 A = dju_skew(arm), R = dju_skew(rho);
  dju_addSkewProduct(&L, -mass, arm, rho);
  dju_addBlock6(B, 0, 0, 1, &L);
  dju_addBlock6(B, 0, 3, mass, &A);
  dju_addBlock6(B, 3, 0, -mass, &R);
  for (int k = 3; k < 6; k++) B[7 * k] += mass;
}

// d arm x p by a twist that moves the arm: (v + w x arm) x p.
static void addArm(double B[36], djVec3 p, djVec3 arm) {
  djMat3 P = dju_skew(p), PA = {{0}};
  dju_addSkewProduct(&PA, 1, p, arm);
  dju_addBlock6(B, 0, 0, 1, &PA);
  dju_addBlock6(B, 0, 3, -1, &P);
}

// f times d (n, p) by a twist that carries it: (w x n + v x p, w x p).
static void addCarried(double B[36], double f, const double momentum[6]) {
  djMat3 n = dju_skew(dju_load3(momentum)), p = dju_skew(dju_load3(momentum + 3));
  dju_addBlock6(B, 0, 0, -f, &n);
  dju_addBlock6(B, 0, 3, -f, &p);
  dju_addBlock6(B, 3, 0, -f, &p);
}

static void add6(double* to, djVec3 t, djVec3 f) {
  dju_addTo3(to, 1, t);
  dju_addTo3(to + 3, 1, f);
}

// ---- balance at the start ---------------------------------------------------------------------

// p and l, both over h.
static djVec3 impulse(djVec3* l, const djBodyStep* s, const djKin* kin, const djKin* kin0, int b) {
  *l = dju_vec3(0, 0, 0);
  for (int k = 0; k < 3; k++) {
    djVec3 turn = dju_cross3(dju_column(&kin0->principal[b], k), dju_column(&kin->principal[b], k));
    *l = dju_madd3(*l, s->moment[k], turn);
  }
  return dju_scale3(s->mass, dju_sub3(kin->com[b], kin0->com[b]));
}

// d l = L w: by a rotation of a_k+, -s [a][a+]; by one of a_k, s [a+][a].
static djMat3 turnByEnd(const djBodyStep* s, const djKin* kin, const djKin* kin0, int b) {
  djMat3 L = {{0}};
  for (int k = 0; k < 3; k++) {
    dju_addSkewProduct(&L, -s->moment[k], dju_column(&kin0->principal[b], k),
                   dju_column(&kin->principal[b], k));
  }
  return L;
}

static djMat3 turnByStart(const djBodyStep* s, const djKin* kin, const djKin* kin0, int b) {
  djMat3 L = {{0}};
  for (int k = 0; k < 3; k++) {
    dju_addSkewProduct(&L, s->moment[k], dju_column(&kin->principal[b], k),
                   dju_column(&kin0->principal[b], k));
  }
  return L;
}

// (p, l)/h at c, less the momentum before the step over h and the loads.
static void startWrench(double wrench[6], const djBodyStep* s, djVec3 p, djVec3 l,
                        const double momentum[6], djVec3 rho0, double h) {
  p = dju_sub3(p, s->force);
  l = dju_madd3(dju_sub3(l, s->torque), -1 / h, dju_load3(momentum));
  add6(wrench, dju_add3(l, dju_cross3(rho0, p)), dju_madd3(p, -1 / h, dju_load3(momentum + 3)));
}

void dj_startMomentum(double* wrench, double* N, const djModel* m, const djBodyStep* step,
                      const double* momentum, const djKin* kin, const djKin* kin0,
                      const djVec3* ref, double h) {
  for (int b = 1; b < m->nbody; b++) {
    const djBodyStep* s = &step[b];
    if (!s->active) continue;
    djVec3 l, p = impulse(&l, s, kin, kin0, b), rho0 = dju_sub3(kin0->com[b], ref[b]);
    startWrench(wrench + 6 * b, s, p, l, momentum + 6 * b, rho0, h);
    if (!N) continue;
    addMomentumBlock(N + 36 * b, s->mass, turnByEnd(s, kin, kin0, b), rho0,
                     dju_sub3(kin->com[b], ref[b]));
  }
}

void dj_startMomentumStart(double* M, const djModel* m, const djBodyStep* step,
                           const double* momentum, const djKin* kin, const djKin* kin0,
                           const djVec3* ref, double h) {
  for (int b = 1; b < m->nbody; b++) {
    const djBodyStep* s = &step[b];
    if (!s->active) continue;
    djVec3 l, p = dju_sub3(impulse(&l, s, kin, kin0, b), s->force);
    djVec3 rho0 = dju_sub3(kin0->com[b], ref[b]);
    addMomentumBlock(M + 36 * b, -s->mass, turnByStart(s, kin, kin0, b), rho0, rho0);
    addArm(M + 36 * b, p, rho0);
    addCarried(M + 36 * b, -1 / h, momentum + 6 * b);
  }
}

// ---- momentum at the end ----------------------------------------------------------------------

void dj_endMomentum(double* wrench, double* N, double* M, const djModel* m, const djBodyStep* step,
                    const double* momentum, const djKin* kin, const djKin* kin0, const djVec3* ref,
                    double h) {
  size_t n2 = (size_t)m->nbody * 36 * sizeof(double);
  memset(wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  if (N) memset(N, 0, n2);
  if (M) memset(M, 0, n2);
  for (int b = 1; b < m->nbody; b++) {
    const djBodyStep* s = &step[b];
    if (!s->active) continue;
    djVec3 l, p = dju_scale3(h, impulse(&l, s, kin, kin0, b));
    djVec3 rho = dju_sub3(kin->com[b], ref[b]), rho0 = dju_sub3(kin0->com[b], ref[b]);
    add6(wrench + 6 * b, dju_madd3(dju_cross3(rho, p), h, l), p);
    for (int k = 6 * b; k < 6 * b + 6 && momentum; k++) wrench[k] -= momentum[k];
    if (N) {
      djMat3 L = turnByEnd(s, kin, kin0, b);
      for (int k = 0; k < 9; k++) L.m[k] *= h;
      addMomentumBlock(N + 36 * b, h * s->mass, L, rho, rho);
      addArm(N + 36 * b, p, rho);
      if (momentum) addCarried(N + 36 * b, -1, momentum + 6 * b);
    }
    if (M) {
      djMat3 L = turnByStart(s, kin, kin0, b);
      for (int k = 0; k < 9; k++) L.m[k] *= h;
      addMomentumBlock(M + 36 * b, -h * s->mass, L, rho, rho0);
    }
  }
}

// ---- projection -------------------------------------------------------------------------------

// dS_i/dq_j = S_j x S_i for j an ancestor of i or in the same rotation.
void dj_projectTurning(djMatrix* D, const djModel* m, const djKin* kin, const double* W) {
  for (int i = 0; i < m->nv; i++) {
    double* row = dj_ownRow(D, i);
    const double* w = W + 6 * m->dof_body[i];
    int first = dj_rotationDof(m, m->dof_jnt[i]), j = i;
    if (first >= 0 && i >= first) j = first + 2;
    for (; j >= 0; j = m->dof_parent[j]) {
      double turned[6];
      crossTwist(turned, kin->S + 6 * j, kin->S + 6 * i);
      row[j] += dju_dotRow6(turned, w);
    }
  }
}

// d(M v)_i/dq_j = sum over bodies b below both of S_i . (S_j x* h_b - I_b axis_cross_j), and S_i .
// h turned: axis_cross_j stands for the part of V_b that j does not turn.
void dj_projectAxisCross(djMatrix* D, double f, const djModel* m, const djKin* kin, const double* I,
                         const double* axis_cross) {
  for (int j = 0; j < m->nv; j++) {
    double* row = dj_ownRow(D, j);
    const double* A = I + 36 * m->dof_body[j];
    double y[6], z[6];
    for (int r = 0; r < 6; r++) {
      y[r] = f * dju_dotRow6(A + 6 * r, axis_cross + 6 * j);
      z[r] = f * dju_dotRow6(A + 6 * r, kin->S + 6 * j);
    }
    row[j] -= dju_dotRow6(kin->S + 6 * j, y);
    for (int i = m->dof_parent[j]; i >= 0; i = m->dof_parent[i]) {
      *dj_own(D, i, j) -= dju_dotRow6(kin->S + 6 * i, y);
      row[i] -= dju_dotRow6(z, axis_cross + 6 * i);
    }
  }
}
