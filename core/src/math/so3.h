// Rotations: exponential, logarithm, their Jacobians, and potentials of a rotation vector.

#ifndef DJ_MATH_SO3_H_
#define DJ_MATH_SO3_H_

#include "math/vec.h"

// Unit quaternion of the rotation vector w.
djQuat dju_expQuat(djVec3 w);

// Rotation vector of a unit quaternion, angle in [0, pi].
djVec3 dju_logQuat(djQuat q);

// Unit quaternion of a rotation, by the largest of its entries.
djQuat dju_quatOf(djMat3 R);

// Norm of R1 - R0, whose singular values are (2 sin(t/2), 2 sin(t/2), 0), t the angle between both.
double dju_turnNorm(const djMat3* R0, const djMat3* R1);

// Right Jacobian of exp: exp(w + dw) = exp(w) exp(J_r dw).
djMat3 dju_rightJacobian(djVec3 w);

// Its inverse; log(R exp(d)) = log(R) + J_r^-1 d. The transpose is the left Jacobian's inverse:
// log(exp(d) R) = log(R) + J_r^-T d.
djMat3 dju_rightJacobianInv(djVec3 w);

// Pull-back of the derivative of a function of the rotation vector phi = log(R0^T R).
// y is the gradient by phi, Y (symmetric) the second derivative. Outputs by R -> R exp(d):
//   gradient G = J_r^-T y, and K = dG/dphi, so that
//   Hessian in exponential coordinates = sym(K J_r^-1),
//   derivative of G by R0 -> R0 exp(d0) = -K J_r^-T.
void dju_pullback(djVec3* G, djMat3* K, djVec3 phi, djVec3 y, const djMat3* Y);

#endif  // DJ_MATH_SO3_H_
