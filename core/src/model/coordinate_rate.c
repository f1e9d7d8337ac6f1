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
