// Impulses (impulse.h) in the linearised step: what the way to where it ends without contact, its first
// stage, does to its end.

#ifndef DJ_INTEGRATE_IMPULSE_LINEAR_H_
#define DJ_INTEGRATE_IMPULSE_LINEAR_H_

#include "force/force.h"

#include <dijoco/data.h>

struct djWork;

typedef struct djImpulseLinear {
  int n;                   // dofs of trees that impulses move; 0: there are none
  int* dof;                // (n)
  double* by;              // (2n x 3n) rows: the last stage's residual, v+; columns: q, v, p, the
                           //   displacement of the first stage
} djImpulseLinear;

// Of the step in the workspace, which has been linearised without them; *linear points into it.
djStatus dj_linearizeImpulses(djImpulseLinear* linear, struct djWork* work, const djModel* model);

// Adds d(z . r + lambda . v+)/d parameter at held q, v and p, z and lambda (nv), r the last stage's
// residual, at which the workspace stands.
djStatus dj_impulseParams(djParamSums* sums, struct djWork* work, const djModel* model,
                          const double* z, const double* lambda);

// Doubles of a copy, and the copy.
size_t dj_impulseLinearSize(const djImpulseLinear* src);
void dj_copyImpulses(djImpulseLinear* dest, double* memory, const djImpulseLinear* src);

enum { DJ_IMPULSE_RESIDUAL = 0, DJ_IMPULSE_VELOCITY = 1 };

// out (nv) += f times the rows of one kind, times changes of q, v (or NULL: 0) and p.
void dj_impulseJvp(double* out, double f, int kind, const djImpulseLinear* linear,
                   const double* dq, const double* dv, const double* dp);
// q (or NULL), v and p (nv) += f times those rows' transpose times x (nv).
void dj_impulseLinearVjp(double* q, double* v, double* p, double f, int kind,
                         const djImpulseLinear* linear, const double* x);

#endif  // DJ_INTEGRATE_IMPULSE_LINEAR_H_
