// Free bodies of the method `euler` that keep their spin, see euler_spin.c.

#ifndef DJ_INTEGRATE_EULER_SPIN_H_
#define DJ_INTEGRATE_EULER_SPIN_H_

#include "integrate/work.h"

// The list of such bodies, with the option spin = exact; not those that have friction loss,
// armature, tendons with limits or friction loss, or equality constraints.
void dj_beginSpins(djWork* work, const djModel* model);

// The part of work->drift that is theirs, inertia and bias set: where they end without U. And that
// by which a step that ends at psi (nv) balances its momentum; the change's size, as a decrement.
void dj_predictSpins(djWork* work, const djModel* model);
double dj_lagSpins(djWork* work, const djModel* model, const double* psi);

// H, whole, of an evaluation at `now` becomes that of their balance; W as of dj_inertiaSlope.
void dj_endSpins(djWork* work, const djModel* model, const djMatrix* W);

// Derivatives by the start, at psi (nv): W of dj_inertiaSlope; rows of derivatives of R become
// those of the balance, and what that has beside R by q or v is added; entries; the dual of R, from
// that of the balance, and their parameters, z (nv) the latter.
void dj_spinSlopes(djMatrix* W, djWork* work, const djModel* model, const double* psi);
void dj_turnSpinRows(djMatrix* A, djWork* work, const djModel* model, const double* psi);
void dj_addSpinStart(djMatrix* A, djWork* work, const djModel* model, const double* psi, bool by_q);
void dj_turnSpinEntries(djEntries* A, djWork* work, const djModel* model, const double* psi);
void dj_turnSpinDual(double* x, djWork* work, const djModel* model, const double* psi,
                     const double* z);
void dj_eulerSpinParams(djParamSums* sums, djWork* work, const djModel* model, const double* psi,
                        const double* z);

// Of a step to psi: their part of work->qvel, which holds psi/h; of its derivatives Vplus and
// Vstart (method.h), which hold zeros, beside that of psi/h; and of d(lambda . v+)/d parameter.
void dj_spinVelocity(djWork* work, const djModel* model, const double* psi);
void dj_linearizeSpinVelocity(djWork* work, const djModel* model, const double* psi);
void dj_spinVelocityParams(djParamSums* sums, djWork* work, const djModel* model,
                           const double* psi, const double* lambda);

// A change S (nv) of the velocity within the step, in the axes of the start: what it is at the end,
// where momentum is kept. The dual of that map. Added to Vplus and Vstart, S held; to parameters.
void dj_carryKick(double* S, const djWork* work, const djModel* model, const double* psi);
void dj_carryKickDual(double* lambda, const djWork* work, const djModel* model, const double* psi);
void dj_linearizeKick(djWork* work, const djModel* model, const double* psi, const double* S);
void dj_kickParams(djParamSums* sums, djWork* work, const djModel* model, const double* psi,
                   const double* S, const double* lambda);

// Zero at their rotations, psi elsewhere: what J_r turns (nv).
void dj_maskSpins(double* masked, const djWork* work, const djModel* model, const double* psi);

#endif  // DJ_INTEGRATE_EULER_SPIN_H_
