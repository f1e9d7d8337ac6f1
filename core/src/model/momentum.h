// Discrete momentum of bodies, for integrators that balance it: with second moments S (body_term.h)
// and T -> T+ one step, the derivative of sum_b tr((T+ - T) S (T+ - T)^T)/(2 h) by a rigid motion
// of T+ and minus that by one of T. Both are the wrench of p = m (c+ - c)/h at the centre of mass,
// at c+ or c, and l = sum_k s_k a_k x a_k+/h, which is the skew part of T+ S T^T/h.

#ifndef DJ_MODEL_MOMENTUM_H_
#define DJ_MODEL_MOMENTUM_H_

#include "model/body_term.h"

// Momenta (nbody x 6: angular about ref, linear) of all bodies at kin with joint rates qvel, whose
// subspaces about ref are set. axis_cross (nv x 6), if not NULL: S_j x V_j for each dof j, where
// V_j is the twist that all dofs before j's rotation, or before j, impart.
void dj_bodyMomentum(double* momentum, double* axis_cross, const djModel* model, const djKin* kin,
                     const djVec3* ref, const double* qvel);

// Adds to wrench (nbody x 6) and, if not NULL, its derivative by twists of kin, N (nbody x 36):
//   (p, l)/h at c, less the momentum before the step over h, less gravity and applied wrenches at
//   c.
void dj_startMomentum(double* wrench, double* N, const djModel* model, const djBodyStep* step,
                      const double* momentum, const djKin* kin, const djKin* kin0,
                      const djVec3* ref, double h);

// Its derivative by twists of kin0, momentum carried along: M (nbody x 36) is added to.
void dj_startMomentumStart(double* M, const djModel* model, const djBodyStep* step,
                           const double* momentum, const djKin* kin, const djKin* kin0,
                           const djVec3* ref, double h);

// Sets wrench (nbody x 6) to (p, l) at c+, less momentum unless that is NULL; and N, M unless NULL
// to its derivatives by twists of kin, momentum carried along, and of kin0.
void dj_endMomentum(double* wrench, double* N, double* M, const djModel* model,
                    const djBodyStep* step, const double* momentum, const djKin* kin,
                    const djKin* kin0, const djVec3* ref, double h);

// D += derivative of S_i . W_i by coordinates, W (nbody x 6) gathered and held: what the
// motion of subspaces contributes.
void dj_projectTurning(djMatrix* D, const djModel* model, const djKin* kin, const double* W);

// D += f d(M v)_i/dq_j, v held, less what dj_projectTurning and momentum carried along
// contribute: sum over common bodies of -S_i . I axis_cross_j. I (nbody x 36): gathered inertia.
void dj_projectAxisCross(djMatrix* D, double f, const djModel* model, const djKin* kin,
                         const double* I, const double* axis_cross);

#endif  // DJ_MODEL_MOMENTUM_H_
