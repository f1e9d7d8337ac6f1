// The linearised step, shared inside the gradient layer.

#ifndef DJ_GRADIENT_LINEAR_H_
#define DJ_GRADIENT_LINEAR_H_

#include "integrate/work.h"
#include "math/so3.h"

#include <dijoco/gradient.h>

// The linearised step: r_q dq + r_v dv + r_a da + r_u du + H dq+ = 0. Rq and Rv are packed by the
// blocks of the factor.
typedef struct djLinear {
  const djIntegratorRow* row;   // that has taken the step
  djFactor factor;       // of H
  double* Rq;            // r_q + H E, E = exp(-h v+) on rotations
  double* Rv;
  double* Ra;            // (nv x na)
  double* Ru;            // (nv x nu)
  djBlocks trees;        // of the following
  double* Vplus;         // dv+ = Vplus (dq+ - E dq) + Vstart dq, packed; NULL: J_r^-1 (..)/h
  double* Vstart;        // packed, or NULL
  double* vnext;         // (nv) log(q^-1 q+)/h
  double* act_by_act;    // (na) diagonal of d act+/d act
  double* act_by_ctrl;   // (nu) d act+/d ctrl of each actuator with an activation
} djLinear;

// Copy into memory; returns the doubles used, dj_maxLinearSize at most.
size_t dj_maxLinearSize(const djModel* model);
size_t dj_copyLinear(djLinear* dest, double* memory, const djModel* model, const djLinear* src);

// Linearise the step just taken; *linear points into the workspace.
djStatus dj_linearizeStep(djLinear* linear, const djModel* model, djData* data);

// X (nv x (2 nv + na + nu), in the workspace) = derivative of q+ by q, v, act and ctrl. Scratch: H.
void dj_endColumns(djWork* work, const djModel* model);

// dx (2 nv + na) += A^T lambda, du (nu) += B^T lambda; either may be NULL. scratch: 2 nv.
void dj_linearVjp(double* dx, double* du, const djLinear* linear, const djModel* model,
                  const double* lambda, double* scratch);

#endif  // DJ_GRADIENT_LINEAR_H_
