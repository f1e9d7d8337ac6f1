// Inertia of armatures along scalar coordinates and the dofs of free and ball joints, as a step's
// energy A/2 |psi/h - v|^2, psi the displacement and v the velocity at the start.

#ifndef DJ_INTEGRATE_ARMATURE_H_
#define DJ_INTEGRATE_ARMATURE_H_

#include "integrate/work.h"

// work->armature (njnt + ntendon): of joints, then of tendons, with gear[0]^2 times that of their
// actuators.
void dj_setArmature(djWork* work, const djModel* model);

// Adds energy and its derivatives to the sum, before coordinates are summed.
void dj_addArmature(djForceSum* sum, const djWork* work, const djMotion* at);

// Its derivatives by coordinates alone.
void dj_armatureRates(djStartSum* sum, const djWork* work, const djMotion* at);

// Derivatives by coordinates at the start; by the velocity there, to Rv.
void dj_startArmature(djStartSum* sum, djMatrix* Rv, const djWork* work, const djMotion* at);

// Adds d(z . energy's gradient)/d parameter, zeta (nv) that of z along displacements.
void dj_armatureParams(double* param, const djWork* work, const djMotion* at, const double* z,
                       const double* zeta);

// After dj_forceParams: what parameters that move frames and sites do to coordinates that bend,
// z (nv). rates: how often the residual's armature counts the length at the start (0: it has none).
djStatus dj_alongParams(djParamSums* sums, djWork* work, const djMotion* at, const double* z,
                        int rates);

// Adds d(sum of z . armature qacc along dofs)/d parameter.
void dj_inertiaAlongParams(double* param, const djModel* model, const double* z,
                           const double* qacc);

#endif  // DJ_INTEGRATE_ARMATURE_H_
