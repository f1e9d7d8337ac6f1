// Limits, friction loss and equality constraints of the method `euler`: soft rows
// (force/soft_row.h) along coordinates, dofs of joints that have none, and angles of balls, J =
// dx/dq of the start. With forces phi = -s'(z) they add J^T s'(z) to K a. As in MuJoCo, whose
// solver knows no damping at the end of the step, they see the acceleration that forces give
// without it, F_s smooth ones:
//   z = J a + J N F,   F = F_s - J^T s'(z),   N = M^-1 - K^-1 >= 0,
// but for contact, which they see through a: so all have one energy, of zeta = J (a + N F_s),
//   min over z of s(z) + (zeta - z) C^-1 (zeta - z)/2,   C = J N J^T,
// with z + C s'(z) = zeta, slope s'(z) and curvature Q = S (1 + C S)^-1, S = s''. Without contact
// this is MuJoCo's own minimum. C couples the rows of a group, those of the same trees.

#ifndef DJ_INTEGRATE_EULER_ROW_H_
#define DJ_INTEGRATE_EULER_ROW_H_

#include "force/forces.h"
#include "force/soft_row.h"
#include "math/factor.h"

struct djWork;

typedef struct djEulerRow {
  int coordinate, joint;   // -1: none
  int equality;            // -1: of none
  bool biased;             // with a part of x'' that velocities make
  bool angle;              // of a ball joint
  bool bends;              // J changes with q
  int n;
  const int* dof;          // (n)
  const double* J;         // (n)
  int own_dof[3];          // of rows without a coordinate
  double own_J[3];
  int low, high;           // dofs of the trees that it is on
  int group;
  djSoftRow law;
  djRowSlope at;           // at the last evaluation
  // Of derivatives: T (n x n), of J's i-th entry along its k-th dof, NULL where it does not bend;
  // of the law by q and v, z held, and of J A (n).
  double *T, *law_q, *law_v, *accel_q;
} djEulerRow;

// Rows first to first + n - 1. Those with curvature have Q = (1/S + C)^-1, others 0.
typedef struct djRowGroup {
  int first, n;
  double* C;               // (n x n)
  int nactive;             // rows with curvature; -1: not factored yet
  int* active;             // (n) their numbers in the group
  double* L;               // (nactive x nactive) factor of their 1/S + C, math/ldl.h
  double* factored;        // (n) S of it, 0 where there is none
} djRowGroup;

typedef struct djEulerRows {
  int n, ngroup;
  bool mixed;              // K is not M; otherwise C is 0 and groups are single rows
  djFactor mass;           // of M
  djEulerRow* row;         // (dj_eulerRowCount) those that may act
  djRowGroup* group;       // (dj_eulerRowCount)
  int* active;             // (dj_eulerRowCount) of groups
  double* factored;        // (dj_eulerRowCount) of groups
  double *zeta, *residual, *force, *trial;   // (twice dj_eulerRowCount) zeta at a = 0; scratch
  double* room;            // (nroom bytes) of groups, and scratch of the largest
  size_t nroom;
  double *whole, *pulled;  // in it: (n x n), (n x nv)
  double* slopes;          // (nslopes bytes) of rows by q and v
  size_t nslopes;
  double *accel, *by_M, *by_K, *dual_M, *dual_K, *zero;   // (nv) see euler_row_linear.c; 0
  double* scratch;         // (3 nv)
} djEulerRows;

// A new row of a step of h, which counts once rows->n is more.
static inline djEulerRow* dj_nextEulerRow(djEulerRows* rows, double h) {
  djEulerRow* r = rows->row + rows->n;
  double step = h > DJ_ROW_CORNER_STEP ? h : DJ_ROW_CORNER_STEP;
  *r = (djEulerRow){.coordinate = -1, .joint = -1, .equality = -1};
  r->dof = r->own_dof;
  r->J = r->own_J;
  r->law.corner = DJ_ROW_CORNER / (step * step);
  return r;
}

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

// The first equality constraint that acts by its soft law, or -1; the first that is hard.
int dj_activeEquality(const struct djWork* work, const djModel* model);
int dj_hardEquality(const struct djWork* work, const djModel* model);
// Parts of what follows (euler_equality.c): rows of equality constraints; what rows' law_q and
// law_v lack; of f times the law by parameters what |r| and g have, *moved: bodies' twists are
// those of the start.
void dj_beginEqualities(struct djWork* work, const djModel* model);
void dj_linearizeEqualities(struct djWork* work, const djModel* model);
void dj_equalityParams(djParamSums* sums, struct djWork* work, const djModel* model,
                       const djEulerRow* row, double f, bool* moved);

// Room for the rows that there are likely to be, when data are made. False: no memory.
bool dj_makeRowRoom(struct djWork* work, const djModel* model);

// At the start of a step, work->inertia and its factor set.
djStatus dj_beginRows(struct djWork* work, const djModel* model);

// Of groups: what one row's forces do to another, and smooth forces to all of them.
void dj_coupleEulerRows(struct djWork* work);

// At psi of the stage. To y (nv), in axes of the start, and the value.
void dj_addRows(double* value, double* y, struct djWork* work, const djModel* model);
// At `now`, of a step that has been opened anew: what follows uses.
void dj_openRows(struct djWork* work, const djModel* model);
// After it, H lower or, with work->kind, whole: their slopes.
void dj_addRowSlopes(struct djWork* work, const djModel* model);

// Of coordinate c, or of joint j's angle where c < 0: size of the limit's force at the last
// evaluation.
double dj_rowLimitForce(const struct djWork* work, int c, int j);

// At the last evaluation, work->A set. y (nv) += J^T s'.
void dj_addRowForces(double* y, const struct djWork* work);
// What W of dj_inertiaSlope and its product with E lack, to Rq: see euler_linear.c.
void dj_turnRows(djMatrix* Rq, struct djWork* work, const djModel* model);

// The rest is at the last evaluation, for derivatives (euler_row_linear.c). With R = ID - tau at a
// held acceleration, X = h D b: of J^T s' by q and v, a held, to work->H and G, which hold those of
// R, and by v through a; in axes of the start. Overwrites Dq and Dv of the work.
djStatus dj_linearizeRows(djMatrix* G, struct djWork* work, const djModel* model);
// x (n of rows) = Q y, and of a group's rows.
void dj_mulCurvature(double* x, const djEulerRows* rows, const double* y);
void dj_mulGroupCurvature(double* x, const djEulerRows* rows, const djRowGroup* group,
                          const double* y);
// rows.dual_M, dual_K (nv) = M^-1 y, K^-1 y with y = J^T Q J z: z . J^T s' changes by
// -(dual_M - dual_K) . dR + dual_K . dX(by_K), and by what dj_rowParams adds. Sets by_M, by_K.
void dj_rowDual(struct djWork* work, const djModel* model, const double* z);
void dj_rowParams(djParamSums* sums, struct djWork* work, const djModel* model, const double* z);
// Whether any row's slope changes with z.
bool dj_rowsCurve(const djEulerRows* rows);
// y (nv) += the change of J^T s' where X(by_K) changes by X.
void dj_rowResponse(double* y, struct djWork* work, const djModel* model, const double* X);
// Adds what J^T s' changes by where R changes by the entries, each a column's share of one dof.
void dj_pushResponses(djEntries* entries, struct djWork* work, const djModel* model);

#endif  // DJ_INTEGRATE_EULER_ROW_H_
