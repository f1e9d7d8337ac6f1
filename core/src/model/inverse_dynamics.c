#include "model/inverse_dynamics.h"

#include "base/arena.h"
#include "math/block6.h"
#include "math/spatial.h"
#include "model/body_inertia.h"
#include "model/momentum.h"

#include <string.h>

static void layout(djInverse* d, djArena* a, const djModel* m) {
  size_t nb = 6 * (size_t)m->nbody, nv = 6 * (size_t)m->nv;
  d->V = dj_take(a, nb, sizeof(double));
  d->A = dj_take(a, nb, sizeof(double));
  d->F = dj_take(a, nb, sizeof(double));
  d->L = dj_take(a, nv, sizeof(double));
  d->K = dj_take(a, nv, sizeof(double));
  d->Lv = dj_take(a, nv, sizeof(double));
  d->I = dj_take(a, m->nbody, sizeof(djInertia));
}

size_t dj_inverseSize(const djModel* m) {
  djInverse d;
  djArena a = {NULL, 0};
  layout(&d, &a, m);
  return a.used;
}

djInverse dj_initInverse(const djModel* m, void* memory) {
  djInverse d;
  djArena a = {memory, 0};
  layout(&d, &a, m);
  return d;
}

// Lv of the dofs of body b, once L is known: backward from the twist of the body.
static void addBehind(djInverse* d, const djModel* m, const djKin* kin, int b,
                      const double* qvel) {
  djSix V = dju_load6(d->V + 6 * b);
  int first = m->body_dofadr[b];
  for (int i = first + m->body_dofnum[b] - 1; i >= first; i--) {
    int rotation = dj_rotationDof(m, m->dof_jnt[i]);
    djSix S = dju_load6(kin->S + 6 * i), L = dju_load6(d->L + 6 * i);
    dju_store6(d->Lv + 6 * i, dju_add6(L, dju_crossTwist(S, V)));
    if (rotation >= 0 && i > rotation) continue;
    int last = rotation == i ? i + 2 : i;
    for (int k = i; k <= last; k++) V = dju_madd6(V, -qvel[k], dju_load6(kin->S + 6 * k));
  }
}

// Twists and accelerations from the root outward, with L of every dof, K and Lv if wanted.
static void moveBodies(djInverse* d, const djModel* m, const djKin* kin, const double* qvel,
                       const double* qacc, bool slopes) {
  memset(d->V, 0, (size_t)m->nbody * 6 * sizeof(double));
  memset(d->A, 0, (size_t)m->nbody * 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    int up = m->body_parent[b], first = m->body_dofadr[b];
    djSix V = dju_load6(d->V + 6 * up), A = dju_load6(d->A + 6 * up), U = V, AU = A;
    for (int i = first; i < first + m->body_dofnum[b]; i++) {
      int rotation = dj_rotationDof(m, m->dof_jnt[i]);
      if (rotation < 0 || i <= rotation) {
        U = V;
        AU = A;
      }
      djSix S = dju_load6(kin->S + 6 * i), L = dju_crossTwist(S, U);
      dju_store6(d->L + 6 * i, L);
      if (slopes) {
        dju_store6(d->K + 6 * i, dju_sub6(dju_crossTwist(S, AU), dju_crossTwist(L, U)));
      }
      V = dju_madd6(V, qvel[i], S);
      A = dju_madd6(dju_madd6(A, qacc[i], S), -qvel[i], L);
    }
    dju_store6(d->V + 6 * b, V);
    dju_store6(d->A + 6 * b, A);
    if (slopes) addBehind(d, m, kin, b, qvel);
  }
}

static void balance(double* tau, djInverse* d, const djModel* m, const djKin* kin,
                    const djVec3* ref, const double* armature, const double* qvel,
                    const double* qacc, bool slopes) {
  moveBodies(d, m, kin, qvel, qacc, slopes);
  memset(d->F, 0, (size_t)m->nbody * 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    const djInertia* I = &d->I[b];
    d->I[b] = dj_bodyInertia(m, kin, ref, b);
    djSix V = dju_load6(d->V + 6 * b), A = dju_load6(d->A + 6 * b);
    djSix bias = dju_crossWrench(V, dju_mulInertia(I, V));
    dju_store6(d->F + 6 * b, dju_add6(dju_mulInertia(I, A), bias));
  }
  dj_gatherWrench(d->F, m);
  if (!tau) return;
  for (int i = 0; i < m->nv; i++) tau[i] = armature[m->dof_jnt[i]] * qacc[i];
  dj_projectWrench(tau, m, kin, d->F);
}

void dj_inverseDynamics(double* tau, djInverse* d, const djModel* m, const djKin* kin,
                        const djVec3* ref, const double* armature, const double* qvel,
                        const double* qacc) {
  balance(tau, d, m, kin, ref, armature, qvel, qacc, tau != NULL);
}

void dj_inverseForces(double* tau, djInverse* d, const djModel* m, const djKin* kin,
                      const djVec3* ref, const double* armature, const double* qvel,
                      const double* qacc) {
  balance(tau, d, m, kin, ref, armature, qvel, qacc, false);
}

// B += [x -> I (x x V) + x x* h + V x* (I x)], h = I V. About the centre of mass, whose velocity is
// u, with J there and x = (w, .), that is the torque J (w x W) + w x J W + W x J w and the force
// 2 m w x u: what moves it along does not matter. The force then acts at the arm.
static void addCoriolis(double B[36], const djInertia* I, djSix V) {
  djVec3 u = dju_add3(V.v, dju_cross3(V.w, I->arm));
  djMat3 JX = dju_mulMM(I->I, dju_skew(V.w)), h = dju_skew(dju_mulMV(I->I, V.w));
  djMat3 T, U = dju_skew(u);
  for (int k = 0; k < 9; k++) T.m[k] = -(JX.m[k] + JX.m[3 * (k % 3) + k / 3]) - h.m[k];
  dju_addSkewProduct(&T, -2 * I->mass, I->arm, u);
  dju_addBlock6(B, 0, 0, 1, &T);
  dju_addBlock6(B, 3, 0, -2 * I->mass, &U);
}

// The first dof of the same rotation as dof j, or j itself.
static int rotationStart(const djModel* m, int j) {
  int first = dj_rotationDof(m, m->dof_jnt[j]);
  return first >= 0 && j > first ? first : j;
}

// M_ij += S_i . N_j S_j for j below i, and the same beside the diagonal, N_j being symmetric.
static void projectSymmetric(djMatrix* M, const djModel* m, const djKin* kin, const double* N) {
  for (int j = 0; j < m->nv; j++) {
    double y[6] = {0}, *row = dj_ownRow(M, j);
    dju_mulAdd6(y, N + 36 * m->dof_body[j], 6, kin->S + 6 * j, false);
    row[j] += dju_dotRow6(kin->S + 6 * j, y);
    for (int i = m->dof_parent[j]; i >= 0; i = m->dof_parent[i]) {
      double entry = dju_dotRow6(kin->S + 6 * i, y);
      *dj_own(M, i, j) += entry;
      row[i] += entry;
    }
  }
}

// Dq and Dv: with rows i of dofs before j, N and B the sums below j, entries ij are S_i . those of
// df/dq_j, df/dv_j, and entries ji S_j . those of df/dq_i, df/dv_i.
static void projectSlopes(djMatrix* Dq, djMatrix* Dv, const double* N, const double* B,
                          const djInverse* d, const djModel* m, const djKin* kin) {
  for (int j = 0; j < m->nv; j++) {
    const double *I = N + 36 * m->dof_body[j], *C = B + 36 * m->dof_body[j], *S = kin->S + 6 * j;
    const double *L = d->L + 6 * j, *K = d->K + 6 * j, *Lv = d->Lv + 6 * j;
    double byq[6], byv[6], IS[6], CS[6] = {0}, turned[6];
    for (int r = 0; r < 6; r++) {
      const double *i = I + 6 * r, *c = C + 6 * r;
      byq[r] = -dju_dotRow6(i, K) - dju_dotRow6(c, L);
      byv[r] = dju_dotRow6(c, S) - dju_dotRow6(i, Lv);
      IS[r] = dju_dotRow6(i, S);
    }
    dju_mulAdd6(CS, C, 6, S, true);
    djSix F = dju_crossWrench(dju_load6(S), dju_load6(d->F + 6 * m->dof_body[j]));
    dju_store6(turned, F);
    double *q = dj_ownRow(Dq, j), *v = dj_ownRow(Dv, j);
    q[j] += dju_dotRow6(S, byq);
    v[j] += dju_dotRow6(S, byv);
    const int first = rotationStart(m, j);
    for (int i = m->dof_parent[j]; i >= 0; i = m->dof_parent[i]) {
      const double *at = kin->S + 6 * i, *Li = d->L + 6 * i;
      double before = i < first ? dju_dotRow6(at, turned) : 0;   // of another rotation
      *dj_own(Dq, i, j) += dju_dotRow6(at, byq) + before;
      *dj_own(Dv, i, j) += dju_dotRow6(at, byv);
      q[i] -= dju_dotRow6(IS, d->K + 6 * i) + dju_dotRow6(CS, Li);
      v[i] += dju_dotRow6(CS, at) - dju_dotRow6(IS, d->Lv + 6 * i);
    }
  }
}

void dj_inverseDerivatives(djMatrix* Dq, djMatrix* Dv, djMatrix* M, double* N, double* B,
                           const djInverse* d, const djModel* m, const djKin* kin,
                           const double* armature) {
  size_t size = (size_t)m->nbody * 36 * sizeof(double);
  memset(N, 0, size);
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] >= 0) dju_addInertia(N + 36 * b, &d->I[b]);
  }
  dj_gatherMatrix(N, m);
  if (M) projectSymmetric(M, m, kin, N);
  for (int i = 0; i < m->nv && M; i++) *dj_own(M, i, i) += armature[m->dof_jnt[i]];
  if (!Dq) return;
  memset(B, 0, size);
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] >= 0) addCoriolis(B + 36 * b, &d->I[b], dju_load6(d->V + 6 * b));
  }
  dj_gatherMatrix(B, m);
  projectSlopes(Dq, Dv, N, B, d, m, kin);
}
