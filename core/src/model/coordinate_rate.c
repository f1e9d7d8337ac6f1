// How dx/dq v, v held, changes along a dof. For dofs i, j of the chain of one body, N its nested
// second derivative (kinematics.h): where i stands above j, dx/dq_i changes by S_i^T N S_j along j,
// and so does dx/dq_j along i. Within one rotation tangents at q exp(d) are of its own axes: there
// the change of dx/dq_i along j is S_j^T N S_i.

#include "math/block6.h"
#include "model/coordinate.h"
#include "model/span.h"

#include <string.h>

// First of the dofs that turn with dof i: those of its rotation, or itself.
static int groupOf(const djModel* m, int i) {
  int first = dj_rotationDof(m, m->dof_jnt[i]);
  return first >= 0 && i > first ? first : i;
}

double dj_coordinateRateSlope(const djModel* m, const djKin* kin, const djVec3* ref, int c,
                              const double* v, int k) {
  const int dof = m->coord_dof[m->coord_dofadr[c] + k], first = groupOf(m, dof);
  double sum = 0;
  djSpan span;
  djSpanAt next = {0, 1};
  while (dj_nextSpan(&span, &next, m, kin, c, 2)) {
    // twists along v of bodies, of dofs above those that turn with `dof`, and of the others
    double above[DJ_SPAN_BODY][6] = {{0}}, other[DJ_SPAN_BODY][6] = {{0}}, y[6] = {0};
    bool moves[DJ_SPAN_BODY], on[DJ_SPAN_BODY] = {false};
    int at[DJ_SPAN_BODY];
    dj_spanChains(at, m, &span);
    for (int i = dj_nextSpanDof(moves, at, m, &span); i >= 0;
         i = dj_nextSpanDof(moves, at, m, &span)) {
      for (int s = 0; s < span.nbody; s++) {
        double* x = i < first ? above[s] : other[s];
        if (!moves[s]) continue;
        on[s] = on[s] || i == dof;
        for (int r = 0; r < 6; r++) x[r] += v[i] * kin->S[6 * i + r];
      }
    }
    if (!on[0] && !on[1] && !on[2]) continue;
    djSpanHess h;
    dj_spanHessian(&h, &span, ref);
    for (int s = 0; s < span.nbody; s++) {
      if (!on[s]) continue;
      dju_mulAdd6(y, h.N[s], 6, other[s], false);
      dju_mulAdd6(y, h.N[s], 6, above[s], true);
      for (int t = 0; t < span.nbody; t++) {
        const double* K = h.K[t == s ? 0 : dj_spanPair(s, t)];
        if (t == s) continue;
        dju_mulAdd6(y, K, 6, other[t], s > t);
        dju_mulAdd6(y, K, 6, above[t], s > t);
      }
    }
    sum += dju_dotRow6(kin->S + 6 * dof, y);
  }
  return sum;
}

// ---- all at once -------------------------------------------------------------------------------

// A dof in one span: whether it moves each body, N S and N^T S of that body.
typedef struct Share {
  double on[DJ_SPAN_BODY], NS[DJ_SPAN_BODY][6], NtS[DJ_SPAN_BODY][6];
} Share;
_Static_assert(sizeof(Share) == 39 * sizeof(double), "DJ_SLOPE_SCRATCH");

static void markChains(Share* share, const djModel* m, const djSpan* span, int c) {
  const int* dof = m->coord_dof + m->coord_dofadr[c];
  bool moves[DJ_SPAN_BODY];
  int at[DJ_SPAN_BODY], k = m->coord_dofnum[c] - 1;
  dj_spanChains(at, m, span);
  for (int i = dj_nextSpanDof(moves, at, m, span); i >= 0;
       i = dj_nextSpanDof(moves, at, m, span)) {
    while (dof[k] != i) k--;
    for (int s = 0; s < span->nbody; s++) share[k].on[s] = moves[s];
  }
}

static void addSpan(double* T, Share* share, const djModel* m, const djKin* kin,
                    const djVec3* ref, int c, const djSpan* span) {
  const int *dof = m->coord_dof + m->coord_dofadr[c], n = m->coord_dofnum[c], nb = span->nbody;
  djSpanHess h;
  if (nb < 2) return;
  dj_spanHessian(&h, span, ref);
  memset(share, 0, (size_t)n * sizeof *share);
  markChains(share, m, span, c);
  for (int i = 0; i < n; i++) {
    const double* S = kin->S + 6 * dof[i];
    for (int s = 0; s < nb; s++) {
      if (share[i].on[s] == 0) continue;
      dju_mulAdd6(share[i].NS[s], h.N[s], 6, S, false);
      dju_mulAdd6(share[i].NtS[s], h.N[s], 6, S, true);
    }
  }
  for (int i = 0; i < n; i++) {
    double across[DJ_SPAN_BODY][6] = {{0}};   // by twists of each body
    const double* S = kin->S + 6 * dof[i];
    for (int s = 0; s < nb; s++) {
      for (int t = s + 1; t < nb; t++) {
        const double* K = h.K[dj_spanPair(s, t)];
        if (share[i].on[t] != 0) dju_mulAdd6(across[s], K, 6, S, false);
        if (share[i].on[s] != 0) dju_mulAdd6(across[t], K, 6, S, true);
      }
    }
    for (int k = 0; k < n; k++) {
      const double* along = kin->S + 6 * dof[k];
      bool above = dof[i] < groupOf(m, dof[k]);
      for (int s = 0; s < nb; s++) {
        if (share[k].on[s] == 0) continue;
        const double* y = above ? share[i].NtS[s] : share[i].NS[s];
        T[n * i + k] += dju_dotRow6(along, y) + dju_dotRow6(along, across[s]);
      }
    }
  }
}

// T += f own, own (n x n) of the dofs of another coordinate, which are some of x's.
static void addShared(double* T, double f, const double* own, const djAlong* x,
                      const djAlong* from) {
  for (int i = 0, a = 0; i < from->n; i++) {
    while (x->dof[a] != from->dof[i]) a++;
    for (int k = 0, b = 0; k < from->n; k++) {
      while (x->dof[b] != from->dof[k]) b++;
      T[x->n * a + b] += f * own[from->n * i + k];
    }
  }
}

// T += f times those of another coordinate, which has some of c's dofs.
static void addSlopesOf(double* T, double f, double* scratch, const djModel* m, const djKin* kin,
                        const djCoordinates* coord, const djVec3* ref, int c, int other) {
  djAlong x = dj_along(coord, m, c), from = dj_along(coord, m, other);
  double* own = scratch;
  dj_coordinateSlopes(own, scratch + (size_t)from.n * (size_t)from.n, m, kin, coord, ref, other);
  addShared(T, f, own, &x, &from);
}

void dj_coordinateSlopes(double* T, double* scratch, const djModel* m, const djKin* kin,
                         const djCoordinates* coord, const djVec3* ref, int c) {
  const size_t n = (size_t)m->coord_dofnum[c];
  djSpan span;
  djSpanAt at = {0, 1};
  djCoupling both;
  memset(T, 0, n * n * sizeof(double));
  while (dj_nextSpan(&span, &at, m, kin, c, 2)) {
    addSpan(T, (Share*)(void*)scratch, m, kin, ref, c, &span);
  }
  if (!dj_coupling(&both, m, coord, c)) return;
  addSlopesOf(T, 1, scratch, m, kin, coord, ref, c, both.c[0]);
  if (both.c[1] < 0) return;
  addSlopesOf(T, -both.slope, scratch, m, kin, coord, ref, c, both.c[1]);
  djAlong x = dj_along(coord, m, c), from = dj_along(coord, m, both.c[1]);
  if (both.bend == 0) return;
  for (int i = 0; i < from.n; i++) {
    for (int k = 0; k < from.n; k++) scratch[from.n * i + k] = both.bend * from.J[i] * from.J[k];
  }
  addShared(T, -1, scratch, &x, &from);
}
