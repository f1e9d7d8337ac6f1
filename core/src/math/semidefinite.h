// The positive semi-definite matrix nearest to a symmetric one.

#ifndef DJ_MATH_SEMIDEFINITE_H_
#define DJ_MATH_SEMIDEFINITE_H_

#define DJU_MAX_SEMIDEFINITE 12   // rows

// A (n x n, symmetric): negative eigenvalues become 0, which is the least change in Frobenius'
// norm.
void dju_semidefinite(double* A, int n);

#endif  // DJ_MATH_SEMIDEFINITE_H_
