// The parts of the method `momentum`, see momentum.c.

#ifndef DJ_INTEGRATE_MOMENTUM_H_
#define DJ_INTEGRATE_MOMENTUM_H_

#include "integrate/work.h"

#include <math.h>

// The correction's energy along one dof or rotation is c . s of the displacement from the
// prediction, with slope P at a place: of what turns a sine, which is bounded as its inertia is.
// Of a joint with one dof, x = q+ - Q:
typedef struct djAhead {
  double s, P, bend;       // s(x), s', s''
} djAhead;

static inline djAhead dj_scalarAhead(const djWork* w, const djModel* m, const djPlace* at, int j) {
  int adr = m->jnt_qposadr[j];
  double x = at->q[adr] - w->ahead.q[adr], turn = dj_jointRow(m, j)->turn, s, c;
  if (turn == 0) return (djAhead){x, 1, 0};
  double y = turn * x, y2 = y * y;
  if (y2 < 1e-4) {   // to rounding
    s = y * (1 - y2 * (1.0 / 6) * (1 - y2 * (1.0 / 20)));
    c = 1 - y2 * 0.5 * (1 - y2 * (1.0 / 12) * (1 - y2 * (1.0 / 30)));
  } else {
    s = sin(y);
    c = cos(y);
  }
  return (djAhead){turn == 1 ? s : s / turn, c, -turn * s};
}

// Of a rotation, with R = Q^-1 R+ and by R -> R exp(d): s is the vector of R's skew part,
// ds = P^T d with P = (tr(R) - R)/2, so that the gradient of c . s is P c. R and P x, P^T x.
djMat3 dj_turnAhead(const djWork* work, const djModel* model, const djPlace* at, int j);
djVec3 dj_pushAhead(djMat3 R, djVec3 x, bool transpose);
djVec3 dj_sineAhead(djMat3 R);

// X, of the trees' pattern: derivative of the residual's part of inertia, i(q+), by the dofs at the
// prediction. Subspaces at `now` and at the start are set.
void dj_byPrediction(djMatrix* X, djWork* work, const djModel* model);

// See djMethod.
djStatus dj_linearizeMomentum(djWork* work, const djModel* model);
djStatus dj_momentumStepParams(djParamSums* sums, djWork* work, const djModel* model,
                               const double* z);
djStatus dj_momentumVelocity(djWork* work, const djModel* model);
djStatus dj_linearizeMomentumVelocity(djWork* work, const djModel* model);
djStatus dj_momentumVelocityParams(djParamSums* sums, djWork* work, const djModel* model,
                                   const double* lambda);

#endif  // DJ_INTEGRATE_MOMENTUM_H_
