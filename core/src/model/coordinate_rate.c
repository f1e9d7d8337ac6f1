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

// Twists along v of the dofs of a body's chain down to `end`, which is not among them: of all, and
// of those above the dofs that turn with `dof`.
static void twists(double all[6], double above[6], const djModel* m, const djKin* kin, int body,
                   int end, int dof, const double* v) {
  int first = dof < 0 ? -1 : groupOf(m, dof);
  memset(all, 0, 6 * sizeof(double));
  memset(above, 0, 6 * sizeof(double));
  for (int i = m->body_lastdof[body]; i != end; i = m->dof_parent[i]) {
    for (int k = 0; k < 6; k++) {
      all[k] += v[i] * kin->S[6 * i + k];
      if (i < first) above[k] += v[i] * kin->S[6 * i + k];
    }
  }
}

// Where two chains meet: their last common dof, or -1; *side: whose chain dof is on before, or -1.
static int meet(int* side, const djModel* m, const djSpan* span, int dof) {
  int i = m->body_lastdof[span->body[0]], k = m->body_lastdof[span->body[1]];
  *side = -1;
  while (i != k) {
    int* end = i > k ? &i : &k;
    if (*end == dof) *side = i > k ? 0 : 1;
    *end = m->dof_parent[*end];
  }
  return i;
}

double dj_coordinateRateSlope(const djModel* m, const djKin* kin, const djVec3* ref, int c,
                              const double* v, int k) {
  int dof = m->coord_dof[m->coord_dofadr[c] + k];
  double sum = 0;
  djSpan span;
  djSpanAt at = {0, 1};
  while (dj_nextSpan(&span, &at, m, kin, c, 2)) {
    int side, end = meet(&side, m, &span, dof);
    if (side < 0) continue;
    double N[72], K[36], x[6], above[6], other[6], unused[6], y[6] = {0};
    dj_spanHessian(N, K, &span, ref);
    twists(x, above, m, kin, span.body[side], end, dof, v);
    twists(other, unused, m, kin, span.body[1 - side], end, -1, v);
    for (int r = 0; r < 6; r++) x[r] -= above[r];
    dju_mulAdd6(y, N + 36 * side, 6, x, false);
    dju_mulAdd6(y, N + 36 * side, 6, above, true);
    dju_mulAdd6(y, K, 6, other, side == 1);
    sum += dju_dotRow6(kin->S + 6 * dof, y);
  }
  return sum;
}

// ---- all at once -------------------------------------------------------------------------------

// A dof in one span: whether it moves either body, N S and N^T S of that body, K S or K^T S.
typedef struct Share {
  double on[2], NS[2][6], NtS[2][6];
} Share;
_Static_assert(sizeof(Share) == 26 * sizeof(double), "DJ_SLOPE_SCRATCH");

static void markChains(Share* share, const djModel* m, const djSpan* span, int c) {
  const int *dof = m->coord_dof + m->coord_dofadr[c], n = m->coord_dofnum[c];
  int side, end = span->world ? -1 : meet(&side, m, span, -2);
  for (int s = 0; s < 2; s++) {
    int at = n - 1;
    for (int i = m->body_lastdof[span->body[s]]; i != end; i = m->dof_parent[i]) {
      while (dof[at] != i) at--;
      share[at].on[s] = 1;
    }
  }
}

static void addSpan(double* T, Share* share, const djModel* m, const djKin* kin,
                    const djVec3* ref, int c, const djSpan* span) {
  const int *dof = m->coord_dof + m->coord_dofadr[c], n = m->coord_dofnum[c];
  double N[72], K[36];
  dj_spanHessian(N, K, span, ref);
  memset(share, 0, (size_t)n * sizeof *share);
  markChains(share, m, span, c);
  for (int i = 0; i < n; i++) {
    const double* S = kin->S + 6 * dof[i];
    for (int s = 0; s < 2; s++) {
      if (share[i].on[s] == 0) continue;
      dju_mulAdd6(share[i].NS[s], N + 36 * s, 6, S, false);
      dju_mulAdd6(share[i].NtS[s], N + 36 * s, 6, S, true);
    }
  }
  for (int i = 0; i < n; i++) {
    double across[2][6] = {{0}};   // by twists of either body
    const double* S = kin->S + 6 * dof[i];
    if (share[i].on[1] != 0) dju_mulAdd6(across[0], K, 6, S, false);
    if (share[i].on[0] != 0) dju_mulAdd6(across[1], K, 6, S, true);
    for (int k = 0; k < n; k++) {
      const double* along = kin->S + 6 * dof[k];
      bool above = dof[i] < groupOf(m, dof[k]);
      for (int s = 0; s < 2; s++) {
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
