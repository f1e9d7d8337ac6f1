// What integrators share: forces of contact and joints, summed into a step's residual and its
// derivatives.

#ifndef DJ_INTEGRATE_ASSEMBLE_H_
#define DJ_INTEGRATE_ASSEMBLE_H_

#include "integrate/work.h"

// Wrenches and second derivatives of contact, added to those of bodies (wrench, N); cross blocks go
// to H.
void dj_addContactForces(djWork* work, const djModel* model, const djKin* kin);

// Joint terms at q: value, and gradient (nv) and H unless gradient is NULL.
void dj_addJointTerms(double* value, double* gradient, djWork* work, const djModel* model,
                      const double* q);

// Derivatives by the start, at (now, q): of contact's wrenches into N and Rq, of joint terms into
// Rq and Rv.
void dj_addContactStart(djWork* work, const djModel* model);
void dj_addJointStart(djWork* work, const djModel* model);

// Ru, Ra: of actuators by ctrl and act.
void dj_addInputs(djWork* work, const djModel* model);

#endif  // DJ_INTEGRATE_ASSEMBLE_H_
