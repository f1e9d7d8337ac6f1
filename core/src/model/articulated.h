// Solutions with the joint-space inertia of trees, by articulated bodies (Featherstone, Rigid Body
// Dynamics Algorithms, 2008, section 7.3): in time linear in the dofs. From the leaves to the root,
// with N_b the inertia below body b and P_b the force there that dofs below leave, dof i of b gives
//   U = N_b S_i,  d = S_i . U + armature,  u = x_i - S_i . P_b,
//   N_b -= U U^T/d,  P_b += U u/d;
// then, from the root, x_i = (u - U . A_b)/d and A_b += S_i x_i.

#ifndef DJ_MODEL_ARTICULATED_H_
#define DJ_MODEL_ARTICULATED_H_

#include "model/kinematics.h"

// Doubles of scratch.
size_t dj_articulatedSize(const djModel* model);

// x (nv) <- M^-1 x, with armature (njnt) along dofs in M. Subspaces of kin about ref must be set.
// False: M is singular.
bool dj_solveInertia(double* x, double* scratch, const djModel* model, const djKin* kin,
                     const djVec3* ref, const double* armature);

#endif  // DJ_MODEL_ARTICULATED_H_
