// Impulses (impulse.h) in the linearised step: v^ and what acts at the end, by the start.

#ifndef DJ_INTEGRATE_IMPULSE_LINEAR_H_
#define DJ_INTEGRATE_IMPULSE_LINEAR_H_

#include <dijoco/data.h>

struct djWork;

typedef struct djImpulseLinear {
  int n;                   // dofs of trees that impulses move; 0: there are none
  int* dof;                // (n)
  double* by;              // (2n x 2n) rows v^, v+ where v^ is held; columns q, v
} djImpulseLinear;

// Of the step in the workspace, which has been linearised without them; *linear points into it.
djStatus dj_linearizeImpulses(djImpulseLinear* linear, struct djWork* work, const djModel* model);

// Doubles of a copy, and the copy.
size_t dj_impulseLinearSize(const djImpulseLinear* src);
void dj_copyImpulses(djImpulseLinear* dest, double* memory, const djImpulseLinear* src);

// out (nv), which holds dv, gets the change of v^ by those of q and v (or NULL: 0).
void dj_impulseStartJvp(double* out, const djImpulseLinear* linear, const double* dq,
                        const double* dv);
// out (nv) += the change of v+ by what acts at the end.
void dj_impulseEndJvp(double* out, const djImpulseLinear* linear, const double* dq,
                      const double* dv);
// Cotangents: q, v (nv) are added to, from those of v^ (nv) and v+ (nv).
void dj_impulseLinearVjp(double* q, double* v, const djImpulseLinear* linear, int nv,
                         const double* vhat, const double* end);

// Rows of derivatives by (q, v^) become those by (q, v): n of them, `stride` apart, or NULL.
// scratch (nv).
void dj_pullImpulseRows(double* rows, size_t n, size_t stride, const djImpulseLinear* linear,
                        int nv, double* scratch);

#endif  // DJ_INTEGRATE_IMPULSE_LINEAR_H_
