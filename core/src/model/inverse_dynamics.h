// Inverse dynamics: the generalised forces that give accelerations, and first derivatives.
//
// With subspaces S_i, twists V_b and accelerations A_b of bodies, all about one point of the tree
// that does not move,
//   V = sum S_i v_i,  A = sum S_i a_i + U_i x S_i v_i,  f_b = I_b A_b + V_b x* I_b V_b,
//   ID_i = S_i . sum of f_b below i,
// U_i the twist that dofs before i impart: of a rotation's dofs, before the rotation, since their
// axes turn with the body and [sum S_i v_i] x sum S_i v_i = 0. When dof j moves, all below it moves
// with S_j; what is left of the change of V and A is
//   dV_b/dq_j = S_j x V_b - L_j,       L_j = S_j x U_j,
//   dA_b/dq_j = S_j x A_b - L_j x V_b - K_j,   K_j = S_j x A(U_j) - L_j x U_j,
// A(U_j) the acceleration of what is before j. Rigid motion turns f_b with it, so that with
//   B_b x = I (x x V) + x x* (I V) + V x* (I x),
//   df_b/dq_j = S_j x* f_b - I_b K_j - B_b L_j,
//   df_b/dv_j = B_b S_j - I_b (L_j + S_j x U'_j),
// U'_j the twist with that of dof j, and of its rotation, in it: dofs behind these turn with S_j
// v_j. In dID_i/dq_j the first term cancels against the turning of S_i where j is before i or in
// one rotation with it; where it is below i, S_i . (S_j x* sum of f below j) remains.
// (Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, 2018, derive
// the same for other axes.)

#ifndef DJ_MODEL_INVERSE_DYNAMICS_H_
#define DJ_MODEL_INVERSE_DYNAMICS_H_

#include "math/block_matrix.h"
#include "math/spatial.h"
#include "model/frame_param.h"

// Of one configuration, velocity and acceleration. Arrays are the caller's.
typedef struct djInverse {
  double* V;        // (nbody x 6) twists
  double* A;        // (nbody x 6) accelerations
  double* F;        // (nbody x 6) forces f, gathered: sums over subtrees
  double* L;        // (nv x 6)
  double* K;        // (nv x 6)
  double* Lv;       // (nv x 6) L_j + S_j x U'_j
  djInertia* I;     // (nbody) of bodies that move
} djInverse;

size_t dj_inverseSize(const djModel* model);
djInverse dj_initInverse(const djModel* model, void* memory);

// tau (nv) = ID(q, v, a) of bodies and of armature (njnt) along dofs. Subspaces of kin about ref
// must be set. tau NULL: it is not wanted, nor what derivatives by the motion need.
void dj_inverseDynamics(double* tau, djInverse* inverse, const djModel* model, const djKin* kin,
                        const djVec3* ref, const double* armature, const double* qvel,
                        const double* qacc);
// The same, without what derivatives by the motion need.
void dj_inverseForces(double* tau, djInverse* inverse, const djModel* model, const djKin* kin,
                      const djVec3* ref, const double* armature, const double* qvel,
                      const double* qacc);

// After it: Dq += dID/dq (tangent), Dv += dID/dv, M += dID/da; of the trees' pattern at least. N, B
// (nbody x 36): scratch. Dq NULL: M alone. M NULL: without it.
void dj_inverseDerivatives(djMatrix* Dq, djMatrix* Dv, djMatrix* M, double* N, double* B,
                           const djInverse* inverse, const djModel* model, const djKin* kin,
                           const double* armature);

// tensor += s a . dI b, in the axes R of the inertial frame, which a and b share.
void dj_addTensor(double tensor[6], double s, const djMat3* R, djVec3 a, djVec3 b);

// Adds d(z . ID)/d parameter, z (nv), of those that `at` wants: masses, centres of mass, inertia
// (tensor, nbody x 6, see body_param.h), and frames. x, P, Q (nbody x 6): scratch, of which x is
// left with the twists along z. dj_inverseField: all but frames, of which it returns the field
// (frame_param.h).
djFrameField dj_inverseField(double* param, double* tensor, double* x, double* P, double* Q,
                             const djInverse* inverse, const djModel* model, const djConfig* at,
                             const double* z, const double* qvel, const double* qacc);
void dj_inverseParams(double* param, double* tensor, double* x, double* P, double* Q,
                      const djInverse* inverse, const djModel* model, const djConfig* at,
                      const double* z, const double* qvel, const double* qacc);

#endif  // DJ_MODEL_INVERSE_DYNAMICS_H_
