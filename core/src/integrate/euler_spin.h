// Free bodies of the method `euler` that keep their spin, see euler_spin.c.

#ifndef DJ_INTEGRATE_EULER_SPIN_H_
#define DJ_INTEGRATE_EULER_SPIN_H_

#include "integrate/work.h"

// The list of such bodies, with the option spin = exact; not those that have friction loss or
// armature.
void dj_beginSpins(djWork* work, const djModel* model);

// The part of work->drift that is theirs, inertia and bias set: where they end without U. And that
// by which a step that ends at psi (nv) balances its momentum; the change's size, as a decrement.
void dj_predictSpins(djWork* work, const djModel* model);
double dj_lagSpins(djWork* work, const djModel* model, const double* psi);

// H, whole, of an evaluation at `now` becomes that of their balance; W as of dj_inertiaSlope.
void dj_endSpins(djWork* work, const djModel* model, const djMatrix* W);

// Derivatives by the start, at work->A and psi (nv): W of dj_inertiaSlope; rows of derivatives of R
// by q (H) and v (G), with what those of the balance have beside R; entries; the dual of R, from
// that of the balance, and their parameters, z (nv) the latter.
void dj_spinSlopes(djMatrix* W, djWork* work, const djModel* model, const double* psi);
void dj_turnSpinRows(djMatrix* A, djWork* work, const djModel* model, const double* psi, bool by_q);
void dj_turnSpinEntries(djEntries* A, djWork* work, const djModel* model, const double* psi);
void dj_turnSpinDual(double* x, djWork* work, const djModel* model, const double* psi,
                     const double* z);
void dj_eulerSpinParams(djParamSums* sums, djWork* work, const djModel* model, const double* psi,
                        const double* z);

// Of a step to psi: their part of work->qvel, which holds psi/h; of its derivatives Vplus and Vstart
// (method.h), which hold zeros, beside that of psi/h; and of d(lambda . v+)/d parameter.
void dj_spinVelocity(djWork* work, const djModel* model, const double* psi);
void dj_linearizeSpinVelocity(djWork* work, const djModel* model, const double* psi);
void dj_spinVelocityParams(djParamSums* sums, djWork* work, const djModel* model,
                           const double* psi, const double* lambda);

// Zero at their rotations, psi elsewhere: what J_r turns (nv).
void dj_maskSpins(double* masked, const djWork* work, const djModel* model, const double* psi);

#endif  // DJ_INTEGRATE_EULER_SPIN_H_
