// Factorization H = L^T D L of a symmetric positive definite matrix, leaves first.
//
// Dofs of a tree are numbered parents first, so elimination from the last to the first causes no
// fill-in but for contact between branches; zeros are skipped as they are met. (MuJoCo and
// Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.5, factor the mass matrix so.)

#ifndef DJ_MATH_LDL_H_
#define DJ_MATH_LDL_H_

#include <stdbool.h>

// L (n x n, lower triangle): unit-lower factor below the diagonal, 1/D on it; from the lower
// triangle of H, with shift (n) added to its diagonal (NULL: none). Returns false when not
// positive definite.
bool dj_factorLDL(double* L, const double* H, const double* shift, int n);

// x (n) <- H^-1 x
void dj_solveLDL(double* x, const double* L, int n);

// x (n) <- D^-1/2 L^-T x: x . x is then x . H^-1 x of before. Zeros stay, but towards the first.
void dj_halveLDL(double* x, const double* L, int n);

// X (n x ncol) <- D^-1/2 L^-T X: X^T X is then X^T H^-1 X of before.
void dj_halveLDLMulti(double* X, const double* L, int n, int ncol);

// X (n x ncol) <- H^-1 X
void dj_solveLDLMulti(double* X, const double* L, int n, int ncol);

// Ratio of the largest and the smallest entry of D: a lower bound of the condition number.
double dj_conditionLDL(const double* L, int n);

#endif  // DJ_MATH_LDL_H_
