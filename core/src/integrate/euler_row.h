// Limits and friction loss of the method `euler`: soft rows (force/soft_row.h) along coordinates,
// dofs of joints that have none, and angles of balls, J = dx/dq of the start. As in MuJoCo they see
// the acceleration that forces give without damping at the end of the step:
//   z = J a_M = w . a,   M a_M = K a,   w = K M^-1 J^T,
// with K = M + h D of euler.c, and add J^T s'(z) to K a. Where w is not J they have no energy.

#ifndef DJ_INTEGRATE_EULER_ROW_H_
#define DJ_INTEGRATE_EULER_ROW_H_

#include "force/forces.h"
#include "force/soft_row.h"
#include "math/factor.h"

struct djWork;

typedef struct djEulerRow {
  int coordinate, joint;   // -1: none
  bool angle;              // of a ball joint
  bool bends;              // J changes with q
  int n;
  const int* dof;          // (n)
  const double* J;         // (n)
  int own_dof[3];          // of rows without a coordinate
  double own_J[3];
  int low, high;           // dofs of the trees that it is on
  djSoftRow law;
  djRowSlope at;           // at the last evaluation
} djEulerRow;

typedef struct djEulerRows {
  int n;
  bool mixed;              // K is not M, and w not J
  djFactor mass;           // of M, if so,
  djMatrix B;              // and M^-1 K
  djEulerRow* row;         // (dj_eulerRowCount) those that may act
  double *accel, *excess, *dual, *zero;   // (nv) a_M, a - a_M, see below, 0
  double* scratch;         // (3 nv)
} djEulerRows;

// y (nv) += f J^T; J z.
static inline void dj_addRow(double* y, const djEulerRow* r, double f) {
  for (int k = 0; k < r->n; k++) y[r->dof[k]] += f * r->J[k];
}

static inline double dj_rowAlong(const djEulerRow* r, const double* z) {
  double sum = 0;
  for (int k = 0; k < r->n; k++) sum += r->J[k] * z[r->dof[k]];
  return sum;
}

int dj_eulerRowCount(const djModel* model);

// At the start of a step, work->inertia set. Sets work->kind.
djStatus dj_beginRows(struct djWork* work, const djModel* model);

// At psi of the stage. To y (nv), in axes of the start, and the value.
void dj_addRows(double* value, double* y, struct djWork* work, const djModel* model);
// After it, H lower or, with work->kind, whole: their slopes, and what has no energy.
void dj_addRowSlopes(struct djWork* work, const djModel* model);

// Of coordinate c, or of joint j's angle where c < 0: size of the limit's force at the last evaluation.
double dj_rowLimitForce(const struct djWork* work, int c, int j);

// At the last evaluation, work->A set. y (nv) += J^T s'.
void dj_addRowForces(double* y, const struct djWork* work);
// Derivatives of J^T s': by q, a held, to H, by v and through it a to G, in axes of the start.
// Overwrites Dq and Dv of the work.
void dj_linearizeRows(djMatrix* G, struct djWork* work, const djModel* model);
// What W of dj_inertiaSlope and its product with E lack, to Rq: see euler_linear.c.
void dj_turnRows(djMatrix* Rq, struct djWork* work, const djModel* model);

// work->rows.dual (nv) = sum of M^-1 J^T s'' (J z): what K a changes by, times it, changes z . J^T s'.
void dj_rowDual(struct djWork* work, const djModel* model, const double* z);
// Adds the derivative of z . J^T s' by parameters, after dj_rowDual, but for that of h D a.
void dj_rowParams(djParamSums* sums, struct djWork* work, const djModel* model, const double* z);
// y (nv), a change of K a, += what it changes J^T s' by.
void dj_rowResponse(double* y, const struct djWork* work, const djModel* model);

#endif  // DJ_INTEGRATE_EULER_ROW_H_
