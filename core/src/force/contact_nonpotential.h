// Contact of kernels without an energy, or with velocities: wrenches of bodies with derivatives by
// poses and twists.

#ifndef DJ_FORCE_CONTACT_NONPOTENTIAL_H_
#define DJ_FORCE_CONTACT_NONPOTENTIAL_H_

#include "force/force.h"

// Arrays are the caller's.
typedef struct djNonpotential {
  double* v;         // (nv) velocities: displacements over h
  double* V;         // (nbody x 6) twists that they give bodies
  double* D;         // (nv x 6) see contact_nonpotential.c
  double* D0;        // (nv x 6), see dj_setTwistStart
  double *K, *T;     // (nbody x 36)
  double* W;         // (nbody x 6)
} djNonpotential;

bool dj_hasNonpotentialContact(const djModel* model);   // such a kernel is in use

size_t dj_nonpotentialSize(const djModel* model);
djNonpotential dj_initNonpotential(const djModel* model, void* memory);

// v, V and D at the point, whose motion subspaces must be set.
void dj_setTwists(djNonpotential* state, const djMotion* at);
// D0 by where displacements begin, or what a flat motion has by the start beside that.
void dj_setTwistStart(djNonpotential* state, const djMotion* at, bool beside);

// gradient (nv) and H (both triangles) += nonpotential blocks of the last evaluation.
void dj_addNonpotential(djForceSum* sum, double* gradient, djNonpotential* state,
                        const djContacts* list, const djMotion* at);

// What velocities change by where displacements begin.
void dj_startNonpotential(djStartSum* sum, djNonpotential* state, const djContacts* list,
                          const djMotion* at);

// The cotangents C of nonpotential blocks, and the derivatives of z . gradient by parameters that
// turn velocities. p->x: twists along z.
void dj_nonpotentialCotangents(djParamSums* p, djNonpotential* s, const djContacts* list,
                               const djMotion* at);

#endif  // DJ_FORCE_CONTACT_NONPOTENTIAL_H_
