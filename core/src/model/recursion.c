// Recursions over the tree that gather body quantities and project them onto dofs.

#include "math/block6.h"
#include "math/lanes.h"
#include "math/so3.h"
#include "model/kinematics.h"

void dj_gatherWrench(double* wrench, const djModel* m) {
  for (int b = m->nbody - 1; b > 0; b--) {
    int up = m->body_parent[b];
    if (up == 0) continue;
    for (int k = 0; k < 6; k++) wrench[6 * up + k] += wrench[6 * b + k];
  }
}

void dj_gatherMatrix(double* N, const djModel* m) {
  for (int b = m->nbody - 1; b > 0; b--) {
    int up = m->body_parent[b];
    if (up == 0 || m->body_lastdof[up] < 0) continue;
    double* to = N + 36 * up;
    const double* from = N + 36 * b;
    for (int k = 0; k < 36; k++) to[k] += from[k];
  }
}

void dj_projectWrench(double* grad, const djModel* m, const djKin* kin, const double* wrench) {
  for (int i = 0; i < m->nv; i++) {
    grad[i] += dju_dotRow6(kin->S + 6 * i, wrench + 6 * m->dof_body[i]);
  }
}

// y = A x
static void mul6(double y[6], const double A[36], const double x[6]) {
  for (int r = 0; r < 6; r++) y[r] = dju_dotRow6(A + 6 * r, x);
}

// y = A^T x
static void mulT6(double y[6], const double A[36], const double x[6]) {
  for (int c = 0; c < 6; c++) {
    y[c] = A[c] * x[0] + A[6 + c] * x[1] + A[12 + c] * x[2] + A[18 + c] * x[3] +
           A[24 + c] * x[4] + A[30 + c] * x[5];
  }
}

// The first dof of the same rotation as dof j, or j itself.
static int rotationStart(const djModel* m, int j) {
  int first = dj_rotationDof(m, m->dof_jnt[j]);
  return first >= 0 && j > first ? first : j;
}

void dj_projectHessian(djMatrix* H, const djModel* m, const djKin* kin, const double* N) {
  int nv = m->nv;
  for (int j = 0; j < nv; j++) {
    const double* A = N + 36 * m->dof_body[j];
    const double* Sj = kin->S + 6 * j;
    double y[6], z[6];
    mul6(y, A, Sj);
    double* row = dj_ownRow(H, j);
    int i = j, same = rotationStart(m, j);
    if (same < j) {
      // Dofs of one rotation: the symmetric part of N.
      mulT6(z, A, Sj);
      for (int k = 0; k < 6; k++) z[k] = 0.5 * (y[k] + z[k]);
      for (i = j; i >= same; i--) row[i] += dju_dotRow6(kin->S + 6 * i, z);
      i = m->dof_parent[same];
    }
    for (; i >= 0; i = m->dof_parent[i]) row[i] += dju_dotRow6(kin->S + 6 * i, y);
  }
}

void dj_projectMixed(djMatrix* P, const djModel* m, const djKin* kin1, const djKin* kin0,
                     const double* M) {
  int nv = m->nv;
  for (int j = 0; j < nv; j++) {
    const double* A = M + 36 * m->dof_body[j];
    double y[6], z[6];
    mul6(y, A, kin0->S + 6 * j);
    mulT6(z, A, kin1->S + 6 * j);
    double* row = dj_ownRow(P, j);
    row[j] += dju_dotRow6(kin1->S + 6 * j, y);
    for (int i = m->dof_parent[j]; i >= 0; i = m->dof_parent[i]) {
      *dj_own(P, i, j) += dju_dotRow6(kin1->S + 6 * i, y);
      row[i] += dju_dotRow6(kin0->S + 6 * i, z);
    }
  }
}

// ---- between two chains -----------------------------------------------------------------------

// The first of at most DJU_LANES dofs that end with `last`, each the parent of the next.
static int runStart(const djModel* m, int last) {
  int first = last;
  while (last - first < DJU_LANES - 1 && m->dof_parent[first] >= 0 &&
         m->dof_parent[first] == first - 1) {
    first--;
  }
  return first;
}

// Y: a row for each component of K S, or K^T S, of n dofs from `first` on.
static void mulRun(djLanes Y[6], const double* K, bool transpose, const double* S, int n) {
  double column[6][DJU_LANES] = {{0}};
  for (int c = 0; c < n; c++) {
    double y[6];
    (transpose ? mulT6 : mul6)(y, K, S + 6 * c);
    for (int k = 0; k < 6; k++) column[k][c] = y[k];
  }
  for (int k = 0; k < 6; k++) Y[k] = dju_loadLanes(column[k]);
}

// n entries from `first` on in the rows of the chain that ends with `last` += S_row^T Y.
static void addRun(const djBlockView* v, const djModel* m, const djKin* kin, int last, int first,
                   int n, const djLanes Y[6]) {
  for (int i = last; i >= 0; i = m->dof_parent[i]) {
    const double* S = kin->S + 6 * i;
    double *to = dj_viewEntry(v, i, first), part[DJU_LANES];
    djLanes sum = dju_splat(S[0]) * Y[0];
    for (int k = 1; k < 6; k++) sum = dju_fmaLanes(dju_splat(S[k]), Y[k], sum);
    if (n == DJU_LANES) {
      dju_storeLanes(to, dju_loadLanes(to) + sum);
      continue;
    }
    dju_storeLanes(part, sum);
    for (int c = 0; c < n; c++) to[c] += part[c];
  }
}

// A += S_i^T K S_j, or with K^T, for i in the chain of dofs that ends with `row`, j in that of
// `col`: by all rows for a run of columns at once.
static void addCross(djMatrix* A, const djModel* m, const djKin* kin_row, int row,
                     const djKin* kin_col, int col, const double* K, bool transpose) {
  const djBlockView v = dj_blockView(A, row, col);
  for (int first; col >= 0; col = m->dof_parent[first]) {
    djLanes Y[6];
    first = runStart(m, col);
    const int n = col - first + 1;
    mulRun(Y, K, transpose, kin_col->S + 6 * first, n);
    addRun(&v, m, kin_row, row, first, n, Y);
  }
}

// Where dofs of both chains take turns, as those of one tree do: dofs that move both bodies count
// twice.
static void addCrossMingled(djMatrix* H, const djModel* m, const djKin* kin, int end_a, int end_b,
                           const double* K) {
  const djBlockView v = dj_blockView(H, end_a, end_b);
  for (int j = end_b; j >= 0; j = m->dof_parent[j]) {
    double y[6];
    mul6(y, K, kin->S + 6 * j);
    for (int i = end_a; i >= 0; i = m->dof_parent[i]) {
      double k = dju_dotRow6(kin->S + 6 * i, y);
      *dj_viewEntry(&v, i > j ? i : j, i > j ? j : i) += i == j ? 2 * k : k;
    }
  }
}

void dj_projectCross(djMatrix* H, const djModel* m, const djKin* kin, int a, int b,
                     const double* K) {
  const int end_a = m->body_lastdof[a], end_b = m->body_lastdof[b];
  if (end_a < 0 || end_b < 0) return;
  if (m->body_dofadr[m->body_root[a]] > end_b) addCross(H, m, kin, end_a, kin, end_b, K, false);
  else if (m->body_dofadr[m->body_root[b]] > end_a) addCross(H, m, kin, end_b, kin, end_a, K, true);
  else addCrossMingled(H, m, kin, end_a, end_b, K);
}

void dj_projectCrossMixed(djMatrix* P, const djModel* m, const djKin* kin1, const djKin* kin0,
                          int a, int b, const double* K) {
  if (m->body_lastdof[a] < 0 || m->body_lastdof[b] < 0) return;
  addCross(P, m, kin1, m->body_lastdof[a], kin0, m->body_lastdof[b], K, false);
}

// ---- nested derivatives -----------------------------------------------------------------------

// Q is given in the coordinates x -> ref + exp(w)(x - ref) + v, whose second derivative at a point
// is w x (w x rho), rho = x - ref; the nested one is w1 x (w2 x rho + v2). Summed with the
// gradient (t, f) over points, the difference is
//   x1^T N x2 - x1^T Q x2 = t . (w1 x w2)/2 + f . (w1 x v2) = w1 . (w2 x t/2 + v2 x f).
void dj_addNested(double N[36], const double Q[36], const double g[6]) {
  for (int k = 0; k < 36; k++) N[k] += Q[k];
  djMat3 t = dju_skew(dju_scale3(0.5, dju_load3(g)));
  djMat3 f = dju_skew(dju_load3(g + 3));
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      N[6 * r + c] -= t.m[3 * r + c];
      N[6 * r + 3 + c] -= f.m[3 * r + c];
    }
  }
}

// ---- blocks of rotations ---------------------------------------------------------------------

static djVec3 turn(const djModel* m, int j, const double* qvel, double h) {
  return dju_scale3(h, dju_load3(qvel + dj_rotationDof(m, j)));
}

// M B for the columns of every rotation, in the rows of all blocks that hold them.
static void applyRotations(djMatrix* M, const djModel* m, const double* qvel, double h,
                           djMat3 (*matrix)(djVec3)) {
  const djBlocks* b = M->blocks;
  for (int j = 0; j < m->njnt; j++) {
    int d = dj_rotationDof(m, j);
    if (d < 0) continue;
    djMat3 B = matrix(turn(m, j, qvel, h));
    int block = b->block_of[d];
    for (int k = b->near_adr[block]; k < b->near_adr[block + 1]; k++) {
      djBlockView v = dj_blockOf(M, b->near[k], block);
      for (int r = b->adr[b->near[k]]; r < b->adr[b->near[k] + 1]; r++) {
        double* row = dj_viewEntry(&v, r, d);   // row <- row B
        dju_store3(row, dju_mulMtV(B, dju_load3(row)));
      }
    }
  }
}

static djMat3 rotation(djVec3 w) { return dju_quatToMat(dju_expQuat(w)); }

void dj_applyE(djMatrix* M, const djModel* m, const double* qvel, double h) {
  applyRotations(M, m, qvel, h, rotation);
}

void dj_applyJr(djMatrix* M, const djModel* m, const double* qvel, double h) {
  applyRotations(M, m, qvel, h, dju_rightJacobian);
}

void dj_applyJrInverse(djMatrix* M, const djModel* m, const double* qvel, double h) {
  applyRotations(M, m, qvel, h, dju_rightJacobianInv);
}

void dj_pullRows(djMatrix* M, const djModel* m, const double* w) {
  const djBlocks* b = M->blocks;
  for (int j = 0; j < m->njnt; j++) {
    int d = dj_rotationDof(m, j);
    if (d < 0) continue;
    djMat3 B = dju_rightJacobianInv(dju_load3(w + d));
    int block = b->block_of[d];
    for (int k = b->near_adr[block]; k < b->near_adr[block + 1]; k++) {
      djBlockView v = dj_blockOf(M, block, b->near[k]);
      for (int c = b->adr[b->near[k]]; c < b->adr[b->near[k] + 1]; c++) {
        double *x = dj_viewEntry(&v, d, c), *y = x + v.stride, *z = y + v.stride;
        djVec3 column = dju_mulMtV(B, dju_vec3(*x, *y, *z));
        *x = column.x;
        *y = column.y;
        *z = column.z;
      }
    }
  }
}

// Rows of rotations <- B rows.
static void turnRows(double* M, int ncol, const djModel* m, const double* qvel, double h,
                     djMat3 (*matrix)(djVec3)) {
  for (int j = 0; j < m->njnt; j++) {
    int d = dj_rotationDof(m, j);
    if (d < 0) continue;
    djMat3 B = matrix(turn(m, j, qvel, h));
    double *x = M + (size_t)d * ncol, *y = x + ncol, *z = y + ncol;
    for (int c = 0; c < ncol; c++) {
      djVec3 v = dju_mulMV(B, (djVec3){x[c], y[c], z[c]});
      x[c] = v.x;
      y[c] = v.y;
      z[c] = v.z;
    }
  }
}

void dj_applyJrInv(double* M, int ncol, const djModel* m, const double* qvel, double h) {
  turnRows(M, ncol, m, qvel, h, dju_rightJacobianInv);
}

void dj_applyJrRows(double* M, int ncol, const djModel* m, const double* w) {
  turnRows(M, ncol, m, w, 1, dju_rightJacobian);
}
