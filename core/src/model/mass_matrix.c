// Joint-space inertia at a configuration, and the effective inertia of each joint.

#include "base/arena.h"
#include "math/ldl.h"
#include "model/kinematics.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// Spatial inertia about ref: [[R I R^T - m [rho]^2, m [rho]], [-m [rho], m I]].
static void spatialInertia(double N[36], const djModel* m, const djKin* kin, const djVec3* ref,
                           int b) {
  djVec3 rho = dju_sub3(kin->com[b], ref[b]);
  double mass = m->body_mass[b];
  const double* I = m->body_inertia + 3 * b;
  djMat3 R = kin->principal[b], X = dju_skew(rho), XX = dju_mulMM(X, X), RI = R, A;
  for (int k = 0; k < 9; k++) RI.m[k] *= I[k % 3];
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      A.m[3 * r + c] = RI.m[3 * r] * R.m[3 * c] + RI.m[3 * r + 1] * R.m[3 * c + 1] +
                       RI.m[3 * r + 2] * R.m[3 * c + 2] - mass * XX.m[3 * r + c];
      N[6 * r + c] = A.m[3 * r + c];
      N[6 * r + 3 + c] = mass * X.m[3 * r + c];
      N[6 * (3 + r) + c] = -mass * X.m[3 * r + c];
      N[6 * (3 + r) + 3 + c] = r == c ? mass : 0;
    }
  }
}

void dj_massMatrix(double* M, double* N, const djModel* m, const djKin* kin, const djVec3* ref) {
  memset(M, 0, (size_t)m->nv * m->nv * sizeof(double));
  memset(N, 0, (size_t)m->nbody * 36 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) spatialInertia(N + 36 * b, m, kin, ref, b);
  dj_gatherMatrix(N, m);
  dj_projectHessian(M, m, kin, N);
  for (int i = 0; i < m->nv; i++) M[(size_t)i * m->nv + i] += m->jnt_armature[m->dof_jnt[i]];
}

void dj_massDiagonal(double* diag, double* N, const djModel* m, const djKin* kin,
                     const djVec3* ref) {
  memset(N, 0, (size_t)m->nbody * 36 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) spatialInertia(N + 36 * b, m, kin, ref, b);
  dj_gatherMatrix(N, m);
  for (int i = 0; i < m->nv; i++) {
    const double *S = kin->S + 6 * i, *A = N + 36 * m->dof_body[i];
    diag[i] = m->jnt_armature[m->dof_jnt[i]];
    for (int r = 0; r < 6; r++) {
      for (int c = 0; c < 6; c++) diag[i] += S[r] * A[6 * r + c] * S[c];
    }
  }
}

// A range starts at dof i when no dof from i on has an ancestor before i.
int dj_treeRanges(int* first, const djModel* m) {
  int n = 0, low = INT_MAX;
  for (int i = m->nv - 1; i >= 0; i--) {
    if (m->dof_parent[i] >= 0 && m->dof_parent[i] < low) low = m->dof_parent[i];
    if (low < i) continue;
    if (first) first[n] = i;
    n++;
  }
  for (int k = 0; k < n / 2 && first; k++) {
    int swap = first[k];
    first[k] = first[n - 1 - k];
    first[n - 1 - k] = swap;
  }
  if (first) first[n] = m->nv;
  return n;
}

// Of the joints of the dofs first to first + n - 1, which couple to no other: M is block diagonal.
// S, L (n x n), x (n): scratch.
static void setRange(djModel* m, int first, int n, const double* M, double* S, double* L,
                     double* x) {
  for (int i = 0; i < n; i++) {
    memcpy(S + (size_t)i * n, M + (size_t)(first + i) * m->nv + first, (size_t)n * sizeof(double));
  }
  bool regular = dj_factorLDL(L, S, NULL, n);
  for (int j = m->dof_jnt[first]; j < m->njnt && m->jnt_dofadr[j] < first + n; j++) {
    int adr = m->jnt_dofadr[j], count = dj_rotationDof(m, j) < 0 ? 1 : m->jnt_type[j] ? 3 : 6;
    double sum = 0;
    for (int i = adr - first; i < adr - first + count && regular; i++) {
      memset(x, 0, (size_t)n * sizeof(double));
      x[i] = 1;
      dj_solveLDL(x, L, n);
      sum += x[i] / count;
    }
    m->jnt_effinertia[j] = sum > 0 ? 1 / sum : 1;
  }
}

djStatus dj_setEffectiveInertia(djModel* m) {
  size_t nv = m->nv, nb = m->nbody;
  djArena a = {NULL, 0};
  unsigned char* buffer = NULL;
  double *M = NULL, *S = NULL, *L = NULL, *N = NULL, *x = NULL, *mocap = NULL;
  int* range = NULL;
  djVec3* ref = NULL;
  void* memory = NULL;
  for (int pass = 0; pass < 2; pass++) {
    a.used = 0;
    M = dj_take(&a, nv * nv, sizeof(double));
    S = dj_take(&a, nv * nv, sizeof(double));
    L = dj_take(&a, nv * nv, sizeof(double));
    range = dj_take(&a, nv + 1, sizeof(int));
    N = dj_take(&a, nb * 36, sizeof(double));
    x = dj_take(&a, nv, sizeof(double));
    mocap = dj_take(&a, (size_t)m->nmocap * 7, sizeof(double));
    ref = dj_take(&a, nb, sizeof(djVec3));
    memory = dj_take(&a, dj_kinSize(m), 1);
    if (pass == 0) {
      buffer = calloc(1, a.used + DJ_ALIGN);
      if (!buffer) return DJ_NO_MEMORY;
      a.base = buffer + DJ_ALIGN - (uintptr_t)buffer % DJ_ALIGN;
    }
  }
  djKin kin = dj_initKin(m, memory);
  for (int b = 0; b < m->nbody; b++) {
    int k = m->body_mocap[b];
    if (k < 0) continue;
    memcpy(mocap + 3 * k, m->body_pos + 3 * b, 3 * sizeof(double));
    memcpy(mocap + 3 * m->nmocap + 4 * k, m->body_quat + 4 * b, 4 * sizeof(double));
  }
  dj_kinematics(&kin, m, m->qpos0, mocap, mocap + 3 * m->nmocap);
  for (int b = 0; b < m->nbody; b++) ref[b] = kin.com[m->body_root[b]];
  dj_motionSubspace(&kin, m, ref);
  dj_massMatrix(M, N, m, &kin, ref);
  int nrange = dj_treeRanges(range, m);
  for (int k = 0; k < nrange; k++) {
    setRange(m, range[k], range[k + 1] - range[k], M, S, L, x);
  }
  free(buffer);
  return DJ_OK;
}
