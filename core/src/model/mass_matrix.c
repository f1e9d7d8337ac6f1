// Joint-space inertia at a configuration, and the effective inertia of each joint and tendon.

#include "base/arena.h"
#include "math/block6.h"
#include "math/ldl.h"
#include "model/coordinate.h"
#include "model/equality.h"

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

void dj_massMatrix(djMatrix* M, double* N, const djModel* m, const djKin* kin, const djVec3* ref) {
  dj_clearMatrix(M);
  memset(N, 0, (size_t)m->nbody * 36 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) spatialInertia(N + 36 * b, m, kin, ref, b);
  dj_gatherMatrix(N, m);
  dj_projectHessian(M, m, kin, N);
  for (int i = 0; i < m->nv; i++) *dj_own(M, i, i) += m->jnt_armature[m->dof_jnt[i]];
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

// The lowest dof that dof i couples to: its parent, or the first dof of a tendon with armature
// whose last one it is.
static int lowestOf(const djModel* m, int i) {
  int low = m->dof_parent[i] >= 0 ? m->dof_parent[i] : i;
  for (int t = 0; t < m->ntendon; t++) {
    int c = m->tendon_coord[t], n = m->coord_dofnum[c];
    const int* dof = m->coord_dof + m->coord_dofadr[c];
    if (m->tendon_hasarmature[t] && n > 0 && dof[n - 1] == i && dof[0] < low) low = dof[0];
  }
  return low;
}

// A range starts at dof i when no dof from i on couples to one before i.
int dj_treeRanges(int* first, const djModel* m) {
  int n = 0, low = INT_MAX;
  for (int i = m->nv - 1; i >= 0; i--) {
    int to = lowestOf(m, i);
    if (to < low) low = to;
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

// Entries of a matrix of these ranges. Returns its blocks' number; *most: the rows of the largest.
static int measureRanges(size_t* entries, size_t* most, const djModel* m) {
  int n = 0, low = INT_MAX, end = m->nv;
  *entries = *most = 0;
  for (int i = m->nv - 1; i >= 0; i--) {
    int to = lowestOf(m, i);
    if (to < low) low = to;
    if (low < i) continue;
    size_t rows = (size_t)(end - i);
    *entries += rows * rows;
    if (rows > *most) *most = rows;
    end = i;
    n++;
  }
  return n;
}

size_t dj_treeEntries(const djModel* m) {
  size_t entries, most;
  measureRanges(&entries, &most, m);
  return entries;
}

size_t dj_treeBlocksSize(const djModel* m) {
  return dj_diagonalSize(m->nv, dj_treeRanges(NULL, m)) + ((size_t)m->nv + 1) * sizeof(int);
}

djBlocks dj_treeBlocks(const djModel* m, void* memory) {
  int n = dj_treeRanges(NULL, m);
  int* first = (int*)(void*)((char*)memory + dj_diagonalSize(m->nv, n));
  dj_treeRanges(first, m);
  return dj_diagonalBlocks(memory, m->nv, n, first);
}

// Adds J M^-1 J^T of the dofs first to first + n - 1, whose inertia's factor is L, to that of each
// tendon.
static void addTendons(djModel* m, const djCoordinates* coord, int first, int n, const double* L,
                       double* x) {
  for (int t = 0; t < m->ntendon; t++) {
    int c = m->tendon_coord[t], adr = m->coord_dofadr[c], end = adr + m->coord_dofnum[c];
    bool any = false;
    memset(x, 0, (size_t)n * sizeof(double));
    for (int k = adr; k < end; k++) {
      int i = m->coord_dof[k] - first;
      if (i < 0 || i >= n) continue;
      x[i] = coord->J[k];
      any = true;
    }
    if (!any) continue;
    dj_solveLDL(x, L, n);
    for (int k = adr; k < end; k++) {
      int i = m->coord_dof[k] - first;
      if (i >= 0 && i < n) m->tendon_effinertia[t] += coord->J[k] * x[i];
    }
  }
}

static void finishTendons(djModel* m, const djCoordinates* coord) {
  for (int t = 0; t < m->ntendon; t++) {
    double w = m->tendon_effinertia[t];
    m->tendon_effinertia[t] = w > 0 ? 1 / w : 1;
    m->tendon_length0[t] = coord->x[m->tendon_coord[t]];
  }
}

// Springs that rest where joints have their springref.
static void setSprings(djModel* m, djKin* kin, djCoordinates* coord, const double* mocap) {
  dj_kinematics(kin, m, m->qpos_spring, mocap, mocap + 3 * m->nmocap);
  dj_setCoordinates(coord, m, m->qpos_spring, kin);
  for (int t = 0; t < m->ntendon; t++) {
    double* rest = m->tendon_lengthspring + 2 * t;
    if (rest[0] == -1 && rest[1] == -1) rest[0] = rest[1] = coord->x[m->tendon_coord[t]];
  }
}

// Mean of J M^-1 J^T over the directions of one kind (0: turns, 1: motions of the centre of mass)
// of a body that moves with these dofs.
static double bodyWeight(int kind, const djModel* m, const djKin* kin, const djVec3* ref, int b,
                         int first, int n, const double* L, double* x) {
  djVec3 arm = dju_sub3(kin->com[b], ref[b]);
  double sum = 0;
  for (int axis = 0; axis < 3; axis++) {
    double e[6] = {0};
    djVec3 unit = {axis == 0, axis == 1, axis == 2};
    if (kind == 1) dju_store3(e, dju_cross3(arm, unit));
    dju_store3(e + (kind == 1 ? 3 : 0), unit);
    memset(x, 0, (size_t)n * sizeof(double));
    for (int i = m->body_lastdof[b]; i >= first; i = m->dof_parent[i]) {
      x[i - first] = dju_dotRow6(kin->S + 6 * i, e);
    }
    dj_solveLDL(x, L, n);
    for (int i = m->body_lastdof[b]; i >= first; i = m->dof_parent[i]) {
      sum += x[i - first] * dju_dotRow6(kin->S + 6 * i, e);
    }
  }
  return sum / 3;
}

// Adds those of bodies of connects and welds, which move with the dofs first to first + n - 1.
static void addBodies(djModel* m, const djKin* kin, const djVec3* ref, int first, int n,
                      const double* L, double* x) {
  for (int e = 0; e < m->nequality; e++) {
    if (!dj_isBetweenBodies(m->eq_type[e])) continue;
    for (int k = 0; k < 2; k++) {
      int b = m->eq_pair[2 * e + k], last = m->body_lastdof[b];
      if (last < first || last >= first + n) continue;
      m->eq_effinertia[2 * e] += bodyWeight(1, m, kin, ref, b, first, n, L, x);
      m->eq_effinertia[2 * e + 1] += bodyWeight(0, m, kin, ref, b, first, n, L, x);
    }
  }
}

// What bodies with geoms show to a push that move with these dofs. Bodies of other trees, which
// come later, move with none of them.
static void pushBodies(double* inertia, const djModel* m, const djKin* kin, const djVec3* ref,
                       int first, int n, const double* L, double* x) {
  for (int b = m->jnt_body[m->dof_jnt[first]]; b < m->nbody; b++) {
    int last = m->body_lastdof[b];
    if (last >= first + n) break;
    if (last < first || m->body_geomnum[b] == 0) continue;
    double w = bodyWeight(1, m, kin, ref, b, first, n, L, x);
    inertia[b] = w > 1e-15 ? 1 / w : 0;
  }
}

// After joints and tendons. What nothing moves is rigid, as in MuJoCo.
static void finishEqualities(djModel* m) {
  for (int e = 0; e < m->nequality; e++) {
    double* w = m->eq_effinertia + 2 * e;
    bool joint = m->eq_type[e] == DJ_EQ_JOINT;
    const double* inertia = joint ? m->jnt_effinertia : m->tendon_effinertia;
    for (int k = 0; k < 2 && !dj_isBetweenBodies(m->eq_type[e]); k++) {
      int id = m->eq_pair[2 * e + k];
      if (id >= 0) w[0] += 1 / inertia[id];
    }
    for (int k = 0; k < 2; k++) w[k] = 1 / (w[k] > 1e-15 ? w[k] : 1e-15);
  }
}

// Of the joints of the dofs first to first + n - 1, which couple to no other and have inertia
// M (n x n). L (n x n), x (n): scratch.
static void setRange(djModel* m, const djKin* kin, const djVec3* ref, const djCoordinates* coord,
                     int first, int n, const double* M, double* L, double* x) {
  bool regular = dj_factorLDL(L, M, NULL, n);
  if (regular) addTendons(m, coord, first, n, L, x);
  if (regular) addBodies(m, kin, ref, first, n, L, x);
  for (int j = m->dof_jnt[first]; j < m->njnt && m->jnt_dofadr[j] < first + n; j++) {
    int adr = m->jnt_dofadr[j], count = dj_jointNv(m->jnt_type[j]);
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

int dj_armatureTarget(const djModel* m, int i) {
  if (m->actuator_tendon[i] >= 0) return m->njnt + m->actuator_tendon[i];
  return m->actuator_joint[i];
}

void dj_sumArmature(double* armature, const djModel* m) {
  memcpy(armature, m->jnt_armature, (size_t)m->njnt * sizeof(double));
  memcpy(armature + m->njnt, m->tendon_armature, (size_t)m->ntendon * sizeof(double));
  for (int i = 0; i < m->nu; i++) {
    int target = dj_armatureTarget(m, i);
    double g2 = m->actuator_gear[6 * i] * m->actuator_gear[6 * i];
    if (target >= 0) armature[target] += g2 * m->actuator_armature[i];
  }
}

// To M with joints' own armature: what actuators add along dofs, and armature along tendons where
// it couples dofs of one range. armature (njnt + ntendon): scratch.
static void addArmature(djMatrix* M, double* armature, const djModel* m,
                        const djCoordinates* coord) {
  dj_sumArmature(armature, m);
  for (int i = 0; i < m->nv; i++) {
    int j = m->dof_jnt[i];
    *dj_own(M, i, i) += armature[j] - m->jnt_armature[j];
  }
  for (int t = 0; t < m->ntendon; t++) {
    double A = armature[m->njnt + t];
    djAlong x = dj_along(coord, m, m->tendon_coord[t]);
    for (int i = 0; i < x.n && A != 0; i++) {
      for (int k = 0; k < x.n; k++) dj_addEntry(M, x.dof[i], x.dof[k], A * x.J[i] * x.J[k]);
    }
  }
}

// Memory, and what it holds at qpos0: places, subspaces about the trees' centres, room for a factor,
// and the inertia M of what couples no trees.
typedef struct Inertia {
  void* buffer;
  djMatrix M;
  djBlocks blocks;
  djKin kin;
  djCoordinates coord;
  djVec3* ref;
  double *L, *N, *x, *mocap, *armature;
} Inertia;

// All but the values; poses of mocap bodies are those of the model.
static djStatus openInertia(Inertia* s, const djModel* m) {
  size_t nv = m->nv, nb = m->nbody, entries, most;
  measureRanges(&entries, &most, m);
  *s = (Inertia){0};
  djArena a = {NULL, 0};
  void *trees = NULL, *memory = NULL, *scalars = NULL;
  for (int pass = 0; pass < 2; pass++) {
    a.used = 0;
    s->M.data = dj_take(&a, entries, sizeof(double));
    s->L = dj_take(&a, most * most, sizeof(double));
    trees = dj_take(&a, dj_treeBlocksSize(m), 1);
    s->N = dj_take(&a, nb * 36, sizeof(double));
    s->x = dj_take(&a, nv, sizeof(double));
    s->armature = dj_take(&a, (size_t)m->njnt + (size_t)m->ntendon, sizeof(double));
    s->mocap = dj_take(&a, (size_t)m->nmocap * 7, sizeof(double));
    s->ref = dj_take(&a, nb, sizeof(djVec3));
    memory = dj_take(&a, dj_kinSize(m), 1);
    scalars = dj_take(&a, dj_coordinatesSize(m), 1);
    if (pass == 0) {
      unsigned char* buffer = calloc(1, a.used + DJ_ALIGN);
      if (!buffer) return DJ_NO_MEMORY;
      s->buffer = buffer;
      a.base = buffer + DJ_ALIGN - (uintptr_t)buffer % DJ_ALIGN;
    }
  }
  s->kin = dj_initKin(m, memory);
  s->coord = dj_initCoordinates(m, scalars);
  s->blocks = dj_treeBlocks(m, trees);
  for (int b = 0; b < m->nbody; b++) {
    int k = m->body_mocap[b];
    if (k < 0) continue;
    memcpy(s->mocap + 3 * k, m->body_pos + 3 * b, 3 * sizeof(double));
    memcpy(s->mocap + 3 * m->nmocap + 4 * k, m->body_quat + 4 * b, 4 * sizeof(double));
  }
  return DJ_OK;
}

static void setInertia(Inertia* s, const djModel* m) {
  dj_kinematics(&s->kin, m, m->qpos0, s->mocap, s->mocap + 3 * m->nmocap);
  dj_setCoordinates(&s->coord, m, m->qpos0, &s->kin);
  for (int b = 0; b < m->nbody; b++) s->ref[b] = s->kin.com[m->body_root[b]];
  dj_motionSubspace(&s->kin, m, s->ref);
  dj_setCoordinateJacobian(&s->coord, m, &s->kin, s->ref);
  s->M.blocks = &s->blocks;
  dj_massMatrix(&s->M, s->N, m, &s->kin, s->ref);
  addArmature(&s->M, s->armature, m, &s->coord);
}

djStatus dj_setEffectiveInertia(djModel* m) {
  Inertia s;
  djStatus status = openInertia(&s, m);
  if (status < 0) return status;
  setSprings(m, &s.kin, &s.coord, s.mocap);
  setInertia(&s, m);
  memset(m->tendon_effinertia, 0, (size_t)m->ntendon * sizeof(double));
  memset(m->eq_effinertia, 0, (size_t)m->nequality * 2 * sizeof(double));
  for (int k = 0; k < s.blocks.nblock; k++) {
    int first = s.blocks.adr[k], n = s.blocks.adr[k + 1] - first;
    setRange(m, &s.kin, s.ref, &s.coord, first, n, s.M.data + s.blocks.matrix_adr[k], s.L, s.x);
  }
  finishTendons(m, &s.coord);
  finishEqualities(m);
  free(s.buffer);
  return DJ_OK;
}

djStatus dj_pushInertia(double* inertia, const djModel* m) {
  Inertia s;
  djStatus status = openInertia(&s, m);
  if (status < 0) return status;
  setInertia(&s, m);
  memset(inertia, 0, (size_t)m->nbody * sizeof(double));
  for (int k = 0; k < s.blocks.nblock; k++) {
    int first = s.blocks.adr[k], n = s.blocks.adr[k + 1] - first;
    if (!dj_factorLDL(s.L, s.M.data + s.blocks.matrix_adr[k], NULL, n)) continue;
    pushBodies(inertia, m, &s.kin, s.ref, first, n, s.L, s.x);
  }
  free(s.buffer);
  return DJ_OK;
}
