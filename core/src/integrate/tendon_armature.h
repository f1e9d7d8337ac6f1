// Armature of tendons, work->armature[njnt + t]: a step's energy A/2 ((x+ - x)/h - x')^2, x the
// length and x' its rate before, work->tendon_rate. Where poses are balanced (position.c) x' is
// (x - x(q (+) -h v))/h, as their own rates; where momentum is (variational.c) J v, and A J J^T
// enters the inertia at the step's end. Where forces are (inverse.c) there is that of fixed tendons
// alone: A J J^T in the inertia. What tendons with armature move is one tree in patterns of trees
// (dj_treeRanges).

#ifndef DJ_INTEGRATE_TENDON_ARMATURE_H_
#define DJ_INTEGRATE_TENDON_ARMATURE_H_

#include "integrate/work.h"

bool dj_anyTendonArmature(const djWork* work, const djModel* model);

// Balance of poses: sets tendon_rate, with `back` set; derivatives of the energy's gradient by
// coordinates at `back`, and by the length at the start as far as x' has it.
void dj_setBackRates(djWork* work, const djModel* model);
void dj_startBackRates(djStartSum* sum, djMatrix* by_back, const djWork* work,
                       const djMotion* at);

// Balance of momentum: its derivatives by the velocity and, but for the length's, by the start.
void dj_startTendonArmature(djStartSum* sum, djMatrix* Rv, const djWork* work,
                            const djMotion* at);

// A (J v)^2/2 at the start.
double dj_tendonArmatureEnergy(const djWork* work, const djModel* model);

// M v+ = p at `now`: adds A J J^T to M (lower triangle) and A J (x+ - x)/h to p (nv). Then the
// derivatives of A J ((x+ - x)/h - J v+), v+ = work->qvel held, by q+ and by q.
void dj_addTendonMomentum(djMatrix* M, double* p, djWork* work, const djModel* model);
void dj_linearizeTendonMomentum(djMatrix* by_end, djMatrix* by_start, djWork* work,
                                const djModel* model);

// Balance of forces: a tendon with armature that bends, or -1; adds A J (J qacc) to tau (nv) and
// A J J^T to M; and to derivatives by gears of actuators with armature.
int dj_bentArmature(const djWork* work, const djModel* model);
void dj_addTendonForce(double* tau, const djWork* work, const djModel* model, const djPlace* at,
                       const double* qacc);
void dj_addTendonInertia(djMatrix* M, const djWork* work, const djModel* model, const djPlace* at);
void dj_tendonInertiaParams(double* param, const djModel* model, const djPlace* at,
                            const double* z, const double* qacc);

// Adds to derivatives by parameters that move frames, of z . gradient, what dj_bendingParams leaves
// out: by those at `back`, whose cotangents are s->Cback; or of J v. And of
// y . A J ((x+ - x)/h - J v+).
void dj_backRateParams(djParamSums* sums, djWork* work, const djMotion* at, const double* z);
void dj_tendonArmatureParams(djParamSums* sums, djWork* work, const djMotion* at,
                             const double* z);
void dj_tendonMomentumParams(djParamSums* sums, djWork* work, const djModel* model,
                             const double* y);

// And by tendon t's armature.
double dj_tendonMomentumAlong(const djWork* work, const djModel* model, int t, const double* y);

// Adds the derivatives by parameters of f x and, v (nv) held, of f dx/dq v of coordinate c at a
// place.
void dj_addLengthParams(djParamSums* sums, const djWork* work, const djModel* model,
                        const djPlace* at, int c, double f);
void dj_addPathParams(djParamSums* sums, const djWork* work, const djModel* model,
                      const djPlace* at, int c, double f, const double* v);

#endif  // DJ_INTEGRATE_TENDON_ARMATURE_H_
