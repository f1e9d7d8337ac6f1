// Contact of kernels without an energy, or with velocities.

#ifndef DJ_FORCE_CONTACT_NONPOTENTIAL_H_
#define DJ_FORCE_CONTACT_NONPOTENTIAL_H_

#include "force/twist_force.h"

bool dj_hasNonpotentialContact(const djModel* model);   // such a kernel is in use

// gradient (nv) and H (both triangles) += nonpotential blocks of the last evaluation.
void dj_addNonpotential(djForceSum* sum, double* gradient, djTwistForces* forces,
                        const djContacts* list, const djMotion* at);

// What velocities change by where displacements begin.
void dj_startNonpotential(djStartSum* sum, djTwistForces* forces, const djContacts* list,
                          const djMotion* at);

// The cotangents C of nonpotential blocks, and the derivatives of z . gradient by parameters that
// turn velocities. p->x: twists along z.
void dj_nonpotentialCotangents(djParamSums* p, djTwistForces* forces, const djContacts* list,
                               const djMotion* at);

#endif  // DJ_FORCE_CONTACT_NONPOTENTIAL_H_
