// The variational integrator, and the velocity of a momentum at the end of a step, which others
// share: M(q+) v+ = p+, D2 L(q, q+) of bodies (model/momentum.h) and A psi/h of armatures.

#ifndef DJ_INTEGRATE_VARIATIONAL_H_
#define DJ_INTEGRATE_VARIATIONAL_H_

#include "integrate/work.h"

// The row's velocity at the end and its derivatives, see djMethod.
djStatus dj_variationalVelocity(djWork* work, const djModel* model);
djStatus dj_linearizeVariationalVelocity(djWork* work, const djModel* model);

// x (nv) <- M(q+)^-1 x. work->qvel <- M^-1 p, p = work->qvel + momentum of armatures:
// (nv), or NULL. Without armature of tendons work->shift is not used.
djStatus dj_solveEndInertia(double* x, djWork* work, const djModel* model);
djStatus dj_divideMomentum(double* p, djWork* work, const djModel* model);

// Adds derivatives of D2 L(from, q+), less momentum (nbody x 6; not if NULL) that is carried along,
// by the dofs at `now` and at `from`.
void dj_linearizeEndMomentum(djMatrix* by_end, djMatrix* by_from, djWork* work,
                             const djModel* model, const djPlace* from, const double* momentum);

// dv+ = M^-1 (d(p+ - M v+)/dq+ dq+ + dp+/dq dq): both sets of derivatives into work->Vplus and
// work->Vstart, after linearize; then the division.
djStatus dj_sumVelocityTerms(djWork* work, const djModel* model);
void dj_solveVelocityTerms(djWork* work, const djModel* model);

// Derivatives by parameters, see djMethod; z . r but for its balance: forces at q+ and armatures.
djStatus dj_endForceParams(djParamSums* sums, djWork* work, const djModel* model, const double* z);
djStatus dj_variationalParams(djParamSums* sums, djWork* work, const djModel* model,
                              const double* z);
djStatus dj_variationalVelocityParams(djParamSums* sums, djWork* work, const djModel* model,
                                      const double* lambda);

// Adds d(z . (D2 L(from, q+) - M(q+) qvel))/d parameter, qvel held, NULL: 0. And
// d(y . (p+ - M(q+) v+))/d parameter, v+ = work->qvel held. Both overwrite what dj_balanceParams
// does.
void dj_endMomentumParams(djParamSums* sums, djWork* work, const djModel* model,
                          const djPlace* from, const double* qvel, const double* z);
void dj_velocityParams(djParamSums* sums, djWork* work, const djModel* model, const double* y);

#endif  // DJ_INTEGRATE_VARIATIONAL_H_
