// What forces add up to at one point, and its derivatives by the point and by the start of a step.
//
// Forces act in three ways: as wrenches on bodies, along scalar coordinates (model/coordinate.h),
// and along the displacement of free and ball joints. For the last two a force names slopes and
// curvatures of its energy; here they become gradients and Hessians by the dofs, once for all.

#ifndef DJ_FORCE_SUM_H_
#define DJ_FORCE_SUM_H_

#include "force/motion.h"
#include "math/block_matrix.h"

// Slopes along coordinates that bend, where rates are not of displacements (djMotion.qvel).
typedef struct djPathSlopes {
  bool acts;
  double* x;           // (ncoord) at `rate`, by displacements
  double *f, *k;       // (ncoord) slope and curvature by rates: of the gradient
  double* krate;       // (ncoord) derivative of f by the coordinate at `rate`
} djPathSlopes;

// At a point. A force without an energy adds what takes its gradient's place: minus the force.
typedef struct djForceSum {
  double value;        // of the energies; a force that the start fixes has one along the step
  bool derivatives;    // false: the value alone is wanted
  bool matrices;       // false: of derivatives the gradient alone, N and H may be left as they are
  double* f;           // (ncoord) slope of the energy along each coordinate
  double* k;           // (ncoord) and its curvature
  double* extra;       // (ncoord) of f, what value is not of
  double* y;           // (nv) slope along the displacement of free and ball joints' dofs
  double* Y;           // (nv x 3) and curvature: 3 x 3 blocks of translations and rotations
  bool* pushed;        // (njnt) whether a joint's y and Y hold something
  double* wrench;      // (nbody x 6) gradient by twists of bodies about ref
  double* N;           // (nbody x 36) its nested derivative (model/kinematics.h)
  double* gradient;    // (nv)
  djMatrix* H;         // lower triangle
  djPathSlopes path;
  struct djTwistForces* twist;   // of nonpotential forces in prompt motions (twist_force.h)
} djForceSum;

// By the start of the step, the point held. Poses of the start act where a force is lagged; those
// of `rate` through displacements, which velocities are. Where both are one, both parts may be
// added to the first.
typedef struct djStartSum {
  double* k0;          // (ncoord) derivative of f by the coordinate at the start
  double* krate;       // (ncoord) and by that of `rate`
  double* Yrate;       // (nv x 3) of joints' y, by rotations of `rate` beside the displacement
  double* N0;          // (nbody x 36) of wrenches, by twists of the start's poses
  double* Nrate;       // (nbody x 36)
  djMatrix* R0;        // of the gradient, by the dofs at the start
  djMatrix* Rrate;     // and by those of `rate`
  struct djTwistForces* twist;
} djStartSum;

// Empty the sums.
void dj_clearForceSum(djForceSum* sum, const djModel* model);
void dj_clearStartSum(djStartSum* sum, const djModel* model);

// The joint's blocks in y and Y, emptied when they are asked for first.
void dj_pushJoint(djForceSum* sum, const djModel* model, int joint);

// gradient and H += potential of phi = log(R1^T R), R the rotation with the first dof `dof`, R1
// fixed: y (3) and Y (3 x 3) by phi.
void dj_addRotation(djForceSum* sum, int dof, djVec3 phi, const double y[3], const double Y[9]);

// The same of three dofs that are plain numbers.
void dj_addFlat(djForceSum* sum, int dof, const double y[3], const double Y[9]);

// f, k, y and Y to gradient, H and, for coordinates that bend, to N. Before wrenches are gathered.
void dj_sumCoordinates(djForceSum* sum, const djMotion* motion);

// After it: beyond (nv) += what the gradient is by `extra`.
void dj_addExtra(double* beyond, const djForceSum* sum, const djMotion* motion);

// After it, of a prompt motion, H whole: rotations to H, gradient, and to `beyond` (nv) what the
// gradient is beyond that of the sum's value.
void dj_addFlatRotations(djForceSum* sum, double* beyond, const djMotion* motion);

// k0, krate, Y0, and what Y gives by the displacement's start: to R0 and Rrate. After it.
void dj_startCoordinates(djStartSum* start, const djForceSum* sum, const djMotion* motion);

// Dofs of a free or ball joint. Its displacement, psi (3 or 6): of a free joint's position, then
// that of the rotation, log(R_rate^T R) or, of a prompt motion, psi - drift, which dj_turnSince
// gives alone, and its derivative by the point dj_turnSlope.
void dj_jointDisplacement(double psi[6], const djMotion* motion, int joint);
djVec3 dj_turnSince(const djMotion* motion, int joint);
djMat3 dj_turnSlope(const djMotion* motion, int joint);

// Minus the derivatives of a rotation's displacement by where it begins, to Rrate, and by the start
// beside that, to R0: 0 but of a prompt motion.
void dj_turnStart(djMat3* by_start, djMat3* by_rate, const djMotion* motion, int joint);

#endif  // DJ_FORCE_SUM_H_
