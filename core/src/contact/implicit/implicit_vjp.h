// Derivatives of implicit surfaces' contact by parameters: shapes' sizes, frames and vertices,
// settings, the coefficient of friction.

#ifndef DJ_CONTACT_IMPLICIT_IMPLICIT_VJP_H_
#define DJ_CONTACT_IMPLICIT_IMPLICIT_VJP_H_

#include "contact/implicit/implicit_lag.h"

// The entry `vjp` of a row. pair, touch, force: at the poses now; force NULL: no normal force acts.
djStatus dj_surfaceVjp(djPairGrad* grad, djSurfaceState* state, const djPairInput* in,
                       const djSurfacePair* pair, const djSurfaceTouch* touch,
                       const djImplicitForce* force, const double lambda[12]);

#endif // DJ_CONTACT_IMPLICIT_IMPLICIT_VJP_H_
