// The parts of the method `euler`, see euler.c.

#ifndef DJ_INTEGRATE_EULER_H_
#define DJ_INTEGRATE_EULER_H_

#include "integrate/armature.h"
#include "integrate/inverse.h"
#include "integrate/path_rate.h"
#include "integrate/turn.h"

// Smooth forces at the start are under way, until they are closed: then those that are bounded.
void dj_openSmooth(djWork* work, const djModel* model);
void dj_closeSmooth(djWork* work);

// While they are, r (nv) = ID(q, v, work->A) - tau, and its derivative by the acceleration, the
// stage's M; with slopes by q, H, and by v, work->Dv.
djStatus dj_sumSmooth(double* r, djWork* work, const djModel* model, bool slopes);

// Whether damping of joints is by the velocity at the end: D of euler.c has its slopes.
static inline bool dj_dampsAtEnd(const djModel* m) { return m->opt.implicit != DJ_TERMS_NONE; }

// W, of the trees' pattern: derivative of J^-T y by the dofs at the end, y = K (psi - p)/h^2 (nv).
void dj_inertiaSlope(djMatrix* W, djWork* work, const djModel* model, const double* y);

// Where derivatives of forces X (nv) by q and v are added to; or, unless u is NULL, those of u . X.
typedef struct djRateSlopes {
  djMatrix *H, *G;
  const double* u;        // (nv)
  double *by_q, *by_v;    // (nv)
} djRateSlopes;

// Forces along coordinates by the velocity at the end, X = h D a with D of euler_rates.c: to the
// inertia K; after linearisation of what is smooth, derivatives of X: by q and by v; by
// inputs; of x . X by parameters. work->A is set.
void dj_addRates(djWork* work, const djModel* model);
void dj_linearizeRates(const djRateSlopes* slopes, djWork* work, const djModel* model);
void dj_rateInputs(djInputSum* sum, djWork* work, const djModel* model);
void dj_rateParams(djParamSums* sums, djWork* work, const djModel* model, const double* x);

// See djMethod.
djStatus dj_linearizeEuler(djWork* work, const djModel* model);
void dj_eulerInputs(djInputSum* sum, djWork* work, const djModel* model);
djStatus dj_eulerParams(djParamSums* sums, djWork* work, const djModel* model, const double* z);

#endif // DJ_INTEGRATE_EULER_H_
