// The nearest positive semi-definite matrix, by eigenvalues.

#ifndef DJ_VALIDATION_CODESIGN_PROJECT_H_
#define DJ_VALIDATION_CODESIGN_PROJECT_H_

enum { PROJECT_MAX = 12 };

// A (n x n), symmetric, n <= 12: negative eigenvalues become 0. Returns the least eigenvalue.
double project_semidefinite(double* A, int n);

#endif // DJ_VALIDATION_CODESIGN_PROJECT_H_
