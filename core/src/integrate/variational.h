// How the balance of one rotation is turned and moved: see variational.c.

#ifndef DJ_INTEGRATE_VARIATIONAL_H_
#define DJ_INTEGRATE_VARIATIONAL_H_

#include "integrate/work.h"

typedef struct djTurn {
  int dof;                 // of the rotation
  bool free;
  djMat3 R, Rnext, E;      // of the joint: at q, at q+, R^T R+
  djVec3 com;              // from the frame's origin, in the body
  djVec3 delta, F;         // (c+ - p+) - (c - p), balance of the translation
  djVec3 moved, turned;    // y + R^T delta x F, r_rot
} djTurn;

// That of joint j at q+ (nq), by work->momentum_residual; false: it has no rotation.
bool dj_turnOf(djTurn* turn, const djWork* work, const djModel* model, const double* q, int j);

// The row's velocity at the end and its derivatives, see djMethod.
djStatus dj_variationalVelocity(djWork* work, const djModel* model);
djStatus dj_linearizeVariationalVelocity(djWork* work, const djModel* model);

// Derivatives by parameters, see djMethod.
djStatus dj_variationalParams(djParamSums* sums, djWork* work, const djModel* model,
                              const double* z);
djStatus dj_variationalVelocityParams(djParamSums* sums, djWork* work, const djModel* model,
                                      const double* lambda);

#endif  // DJ_INTEGRATE_VARIATIONAL_H_
