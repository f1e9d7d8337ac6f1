// Spin of free bodies by the midpoint rule, balanced as momentum in space (spin.c).

#ifndef DJ_INTEGRATE_SPIN_H_
#define DJ_INTEGRATE_SPIN_H_

#include "integrate/work.h"

// Adds to r (nv), Dv = dr/dV and M = dr/dA what ID(Q, V, A) lacks of the balance of spin.
void dj_addSpin(double* r, djMatrix* Dv, djMatrix* M, const djWork* work, const djModel* model);

// Adds d(z . r)/d inertia to tensor (nbody x 6), see dj_inverseParams.
void dj_spinParams(double* tensor, const djWork* work, const djModel* model, const double* z);

#endif  // DJ_INTEGRATE_SPIN_H_
