// S1 and S2 are functions of q and of c = (v + p/h)/2, a = (p/h - v)/h. The last stage's residual,
//   r = J^-T (R - K S1/h),
// has the slope N = -J^-T K/h by S1, v+ one by S2 which is 1 but for spins (euler_spin.c).

#include "integrate/impulse_linear.h"

#include "base/room.h"
#include "base/status.h"
#include "integrate/euler_spin.h"
#include "integrate/impulse.h"

#include <string.h>

static void markTrees(int* mark, const djWork* w, const djModel* m) {
  const struct djImpulses* all = w->impulses;
  memset(mark, 0, (size_t)m->nv * sizeof(int));
  for (int k = 0; k < all->n; k++) {
    for (int i = 0; i < 2; i++) {
      int dof = m->body_lastdof[all->of[k].touch.body[i]];
      if (dof < 0) continue;
      int tree = w->trees.block_of[dof];
      for (int c = w->trees.adr[tree]; c < w->trees.adr[tree + 1]; c++) mark[c] = 1;
    }
  }
}

// Memory of what vector products have in common.
static void layoutHeld(struct djImpulses* all, double* memory, const djWork* w, const djModel* m) {
  for (int k = 0; k < all->n; k++) {
    djImpulse* p = &all->of[k];
    p->by_change = (djMatrix){memory, &w->trees};
    memory += dj_packedSize(&w->trees);
    for (int i = 0; i < 9; i++, memory += m->nv) p->by_C[i] = memory;
  }
}

// work->own <- N; what turns with psi (nv).
static void setSlope(djWork* w, const djModel* m, const double* psi) {
  dj_copyMatrix(&w->own, &w->inertia);
  dj_scaleMatrix(&w->own, -1 / w->h);
  dj_maskSpins(w->path_scratch, w, m, psi);
  dj_pullRows(&w->own, m, w->path_scratch);
  dj_turnSpinRows(&w->own, w, m, psi);
}

// Rows r of S1 or S2 along dof r.
static djStatus findRows(djImpulseLinear* lin, djWork* w, const djModel* m, double* scratch) {
  size_t nv = m->nv, n = (size_t)lin->n;
  double *q = scratch, *c = q + nv, *a = c + nv, *lambda = a + nv, *mu = lambda + nv, h = w->h;
  const djImpulseBar bar = {q, c, a};
  for (size_t r = 0; r < 2 * n; r++) {
    double* row = lin->by + r * 3 * n;
    memset(q, 0, 5 * nv * sizeof(double));
    (r < n ? lambda : mu)[lin->dof[r % n]] = 1;
    djStatus status = dj_impulseVjp(&bar, NULL, w, m, lambda, mu);
    if (status < 0) return status;
    for (size_t k = 0; k < n; k++) {
      int dof = lin->dof[k];
      row[k] = q[dof];
      row[n + k] = 0.5 * c[dof] - a[dof] / h;
      row[2 * n + k] = (0.5 * c[dof] + a[dof] / h) / h;
    }
  }
  return DJ_OK;
}

// The block of n rows <- X times it, X (n x n); out (3n^2) scratch.
static void multiplyRows(double* rows, const double* X, size_t n, double* out) {
  memset(out, 0, 3 * n * n * sizeof(double));
  for (size_t r = 0; r < n; r++) {
    for (size_t k = 0; k < n; k++) {
      double f = X[r * n + k];
      for (size_t c = 0; c < 3 * n && f != 0; c++) out[r * 3 * n + c] += f * rows[k * 3 * n + c];
    }
  }
  memcpy(rows, out, 3 * n * n * sizeof(double));
}

static void turnRows(djImpulseLinear* lin, djWork* w, const djModel* m, double* X, double* column,
                     double* out) {
  size_t n = (size_t)lin->n;
  const double* psi = dj_stageOf(w)->linear.psi;
  setSlope(w, m, psi);
  for (size_t r = 0; r < n; r++) {
    for (size_t k = 0; k < n; k++) {
      bool near = w->trees.block_of[lin->dof[r]] == w->trees.block_of[lin->dof[k]];
      X[r * n + k] = near ? *dj_own(&w->own, lin->dof[r], lin->dof[k]) : 0;
    }
  }
  multiplyRows(lin->by, X, n, out);
  for (size_t k = 0; k < n; k++) {
    memset(column, 0, (size_t)m->nv * sizeof(double));
    column[lin->dof[k]] = 1;
    dj_carryKick(column, w, m, psi);
    for (size_t r = 0; r < n; r++) X[r * n + k] = column[lin->dof[r]];
  }
  multiplyRows(lin->by + 3 * n * n, X, n, out);
}

djStatus dj_linearizeImpulses(djImpulseLinear* lin, djWork* w, const djModel* m) {
  struct djImpulses* all = w->impulses;
  lin->n = 0;
  if (!dj_impulseCount(w)) return DJ_OK;
  size_t nv = m->nv, each = sizeof(double);
  size_t held = (size_t)all->n * (dj_packedSize(&w->trees) + 9 * nv), matrices = 10 * nv * nv;
  size_t bytes = (matrices + 5 * nv + held) * each + 2 * nv * sizeof(int);
  double* memory = dj_roomFor(all->linear_memory, &all->nlinear, bytes);
  if (!memory) return dj_failMemory(&w->error);
  all->linear_memory = memory;
  lin->by = memory;
  double *X = memory + 6 * nv * nv, *out = X + nv * nv, *scratch = memory + matrices;
  lin->dof = (int*)(void*)(scratch + 5 * nv + held);
  int* mark = lin->dof + nv;
  markTrees(mark, w, m);
  for (int i = 0; i < m->nv; i++) {
    if (mark[i]) lin->dof[lin->n++] = i;
  }
  layoutHeld(all, scratch + 5 * nv, w, m);
  dj_openPlace(&w->begin, m, w->ref);
  dj_holdImpulses(w, m);
  djStatus status = findRows(lin, w, m, scratch);
  all->held = false;
  if (status >= 0) turnRows(lin, w, m, X, scratch, out);
  return status;
}

djStatus dj_impulseParams(djParamSums* sums, djWork* w, const djModel* m, const double* z,
                          const double* lambda) {
  double *by_S1 = w->rows.scratch, *by_S2 = by_S1 + m->nv, *rest = by_S2 + m->nv;
  size_t bytes = (size_t)m->nv * sizeof(double);
  const djImpulseBar bar = {NULL, rest, rest};
  dj_differentiatePos(w->vnext, m, 1, w->start.qpos, w->now.q);
  setSlope(w, m, w->vnext);
  memset(by_S1, 0, bytes);
  dj_mulMatrixT(by_S1, 1, &w->own, z);
  memcpy(by_S2, lambda, bytes);
  dj_carryKickDual(by_S2, w, m, w->vnext);
  return dj_impulseVjp(&bar, sums, w, m, by_S1, by_S2);
}

// ---- products ---------------------------------------------------------------------------------

size_t dj_impulseLinearSize(const djImpulseLinear* s) {
  size_t n = (size_t)s->n;
  return 6 * n * n + n;
}

void dj_copyImpulses(djImpulseLinear* dest, double* memory, const djImpulseLinear* src) {
  size_t n = (size_t)src->n;
  dest->n = src->n;
  dest->by = memory;
  dest->dof = (int*)(void*)(memory + 6 * n * n);
  if (n == 0) return;
  memcpy(dest->by, src->by, 6 * n * n * sizeof(double));
  memcpy(dest->dof, src->dof, n * sizeof(int));
}

static const double* rowOf(const djImpulseLinear* lin, int kind, int r) {
  size_t n = (size_t)lin->n;
  return lin->by + ((size_t)kind * n + (size_t)r) * 3 * n;
}

void dj_impulseJvp(double* out, double f, int kind, const djImpulseLinear* lin, const double* dq,
                   const double* dv, const double* dp) {
  const double* from[3] = {dq, dv, dp};
  for (int r = 0; r < lin->n; r++) {
    const double* row = rowOf(lin, kind, r);
    double sum = 0;
    for (int s = 0; s < 3; s++, row += lin->n) {
      for (int c = 0; c < lin->n && from[s]; c++) sum += row[c] * from[s][lin->dof[c]];
    }
    out[lin->dof[r]] += f * sum;
  }
}

void dj_impulseLinearVjp(double* q, double* v, double* p, double f, int kind,
                         const djImpulseLinear* lin, const double* x) {
  double* to[3] = {q, v, p};
  for (int r = 0; r < lin->n; r++) {
    const double* row = rowOf(lin, kind, r);
    double g = f * x[lin->dof[r]];
    for (int s = 0; s < 3; s++, row += lin->n) {
      for (int c = 0; c < lin->n && to[s] && g != 0; c++) to[s][lin->dof[c]] += g * row[c];
    }
  }
}
