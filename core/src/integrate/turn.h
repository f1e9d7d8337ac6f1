// Blocks of rotations in derivatives of displacements psi (nv): exp(-psi), J_r(psi) and its inverse.

#ifndef DJ_INTEGRATE_TURN_H_
#define DJ_INTEGRATE_TURN_H_

#include <dijoco/model.h>

#include <stdbool.h>

// y (nv) <- B y for rotational blocks: exp(-psi), its transpose; J_r^-1(psi), its transpose.
void dj_turnVector(double* y, const djModel* model, const double* psi, bool transpose);
void dj_pullVector(double* y, const djModel* model, const double* psi, bool transpose);
// J_r(psi), its transpose.
void dj_pushVector(double* y, const djModel* model, const double* psi, bool transpose);
// Its transpose, of n rows of Y (n x nv).
void dj_pushRowsBack(double* Y, int n, const djModel* model, const double* psi);

#endif  // DJ_INTEGRATE_TURN_H_
