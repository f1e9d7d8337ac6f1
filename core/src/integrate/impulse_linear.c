#include "integrate/impulse_linear.h"

#include "base/room.h"
#include "base/status.h"
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

djStatus dj_linearizeImpulses(djImpulseLinear* lin, djWork* w, const djModel* m) {
  struct djImpulses* all = w->impulses;
  lin->n = 0;
  if (!dj_impulseCount(w)) return DJ_OK;
  size_t nv = m->nv, each = sizeof(double);
  size_t held = (size_t)all->n * (dj_packedSize(&w->trees) + 9 * nv);
  size_t bytes = (4 * nv * nv + 4 * nv + held) * each + 2 * nv * sizeof(int);
  double* memory = dj_roomFor(all->linear_memory, &all->nlinear, bytes);
  if (!memory) return dj_failMemory(&w->error);
  all->linear_memory = memory;
  lin->by = memory;
  double *q = memory + 4 * nv * nv, *v = q + nv, *lambda = v + nv, *mu = lambda + nv;
  lin->dof = (int*)(void*)(mu + nv + held);
  int* mark = lin->dof + nv;
  markTrees(mark, w, m);
  for (int i = 0; i < m->nv; i++) {
    if (mark[i]) lin->dof[lin->n++] = i;
  }
  layoutHeld(all, mu + nv, w, m);
  dj_openPlace(&w->begin, m, w->ref);
  dj_holdImpulses(w, m);
  int n = lin->n;
  djStatus status = DJ_OK;
  for (int r = 0; r < 2 * n && status >= 0; r++) {
    double* row = lin->by + (size_t)r * 2 * (size_t)n;
    memset(q, 0, 4 * nv * each);
    (r < n ? lambda : mu)[lin->dof[r % n]] = 1;
    status = dj_impulseVjp(q, v, NULL, w, m, lambda, mu);
    for (int c = 0; c < n; c++) {
      row[c] = q[lin->dof[c]];
      row[n + c] = v[lin->dof[c]];
    }
  }
  all->held = false;
  return status;
}

size_t dj_impulseLinearSize(const djImpulseLinear* s) {
  size_t n = (size_t)s->n;
  return 4 * n * n + n;
}

void dj_copyImpulses(djImpulseLinear* dest, double* memory, const djImpulseLinear* src) {
  size_t n = (size_t)src->n;
  dest->n = src->n;
  dest->by = memory;
  dest->dof = (int*)(void*)(memory + 4 * n * n);
  if (n == 0) return;
  memcpy(dest->by, src->by, 4 * n * n * sizeof(double));
  memcpy(dest->dof, src->dof, n * sizeof(int));
}

// Row r, times changes at the start.
static double along(const djImpulseLinear* lin, int r, const double* dq, const double* dv) {
  const double* row = lin->by + (size_t)r * 2 * (size_t)lin->n;
  double sum = 0;
  for (int c = 0; c < lin->n; c++) {
    int dof = lin->dof[c];
    if (dq) sum += row[c] * dq[dof];
    if (dv) sum += row[lin->n + c] * dv[dof];
  }
  return sum;
}

void dj_impulseStartJvp(double* out, const djImpulseLinear* lin, const double* dq,
                        const double* dv) {
  for (int r = 0; r < lin->n; r++) out[lin->dof[r]] = along(lin, r, dq, dv);
}

void dj_impulseEndJvp(double* out, const djImpulseLinear* lin, const double* dq,
                      const double* dv) {
  for (int r = 0; r < lin->n; r++) out[lin->dof[r]] += along(lin, lin->n + r, dq, dv);
}

static void addRow(double* q, double* v, const djImpulseLinear* lin, int r, double f) {
  const double* row = lin->by + (size_t)r * 2 * (size_t)lin->n;
  for (int c = 0; c < lin->n && f != 0; c++) {
    q[lin->dof[c]] += f * row[c];
    v[lin->dof[c]] += f * row[lin->n + c];
  }
}

void dj_impulseLinearVjp(double* q, double* v, const djImpulseLinear* lin, int nv,
                         const double* vhat, const double* end) {
  int next = 0;
  for (int i = 0; i < nv; i++) {
    bool moved = next < lin->n && lin->dof[next] == i;
    if (moved) addRow(q, v, lin, next++, vhat[i]);
    else v[i] += vhat[i];
  }
  for (int r = 0; r < lin->n; r++) addRow(q, v, lin, lin->n + r, end[lin->dof[r]]);
}

void dj_pullImpulseRows(double* rows, size_t n, size_t stride, const djImpulseLinear* lin, int nv,
                        double* scratch) {
  for (size_t r = 0; r < n && rows && lin->n; r++) {
    double* row = rows + r * stride;
    for (int c = 0; c < lin->n; c++) {
      scratch[c] = row[nv + lin->dof[c]];
      row[nv + lin->dof[c]] = 0;
    }
    for (int c = 0; c < lin->n; c++) addRow(row, row + nv, lin, c, scratch[c]);
  }
}
