// Eigenvalues and eigenvectors of a symmetric 3x3 matrix.

#ifndef DJ_MATH_EIGEN3_H_
#define DJ_MATH_EIGEN3_H_

#include "math/vec.h"

// S = R diag(value) R^T with R the rotation of *q. On entry *q is where to start (unit): of the
// eigenvectors' possible orders and signs those nearest to it are taken, and within a space of
// equal eigenvalues, up to rounding, what it has there stays.
void dju_principalAxes(djQuat* q, double value[3], const djMat3* S);

#endif  // DJ_MATH_EIGEN3_H_
