// Forward kinematics, motion subspaces, and recursions over the tree.

#ifndef DJ_MODEL_KINEMATICS_H_
#define DJ_MODEL_KINEMATICS_H_

#include "math/block_matrix.h"
#include "math/vec.h"
#include "model/joint_type.h"

#include <dijoco/data.h>

// Kinematics at one configuration. Arrays are the caller's.
typedef struct djKin {
  djPose* body;      // (nbody) body frames
  djQuat* quat;      // (nbody) their orientations
  djVec3* com;       // (nbody) centres of mass
  djMat3* principal; // (nbody) axes of the inertial frame, as columns
  djVec3* anchor;    // (njnt) world, after the joint; free: the body's origin
  djVec3* axis;      // (njnt) world, of joints with an axis
  djMat3* frame;     // (njnt) ball and free: orientation after the joint
  double* S;         // (nv x 6) motion subspace: twist (angular, linear) of each dof about the
                     //   reference point of its tree, world axes
} djKin;

// Bytes of the arrays, and a djKin whose arrays lie in memory of that size.
size_t dj_kinSize(const djModel* model);
djKin dj_initKin(const djModel* model, void* memory);

// Poses at qpos (nq), whose quaternions need not be normalised. mocap_pos (nmocap x 3),
// mocap_quat (nmocap x 4).
void dj_kinematics(djKin* kin, const djModel* model, const double* qpos, const double* mocap_pos,
                   const double* mocap_quat);

// The child of the world that a body is or hangs on; 0 of the world.
static inline int dj_baseBody(const djModel* m, int b) {
  while (m->body_parent[b] > 0) b = m->body_parent[b];
  return b;
}

// How joint j turns what it moves, and how far along its axis it slides.
djQuat dj_jointTurn(const djModel* model, int j, const double* qpos);
double dj_jointSlide(const djModel* model, int j, const double* qpos);

// dest = src, but for motion subspaces.
void dj_copyPoses(djKin* dest, const djModel* model, const djKin* src);

// Motion subspaces about ref (nbody); bodies of one tree must share their reference point.
void dj_motionSubspace(djKin* kin, const djModel* model, const djVec3* ref);

// Dofs first[k] to first[k + 1] - 1 make one tree, or trees whose dofs are interleaved. Returns how
// many such ranges there are; first (at most nv + 1) may be NULL.
int dj_treeRanges(int* first, const djModel* model);

// Blocks of these ranges, in memory of dj_treeBlocksSize bytes aligned as a double, and the entries
// of a matrix with them.
size_t dj_treeBlocksSize(const djModel* model);
djBlocks dj_treeBlocks(const djModel* model, void* memory);
size_t dj_treeEntries(const djModel* model);

// ---- recursions over the tree --------------------------------------------------------------
// Let phi be a function of body poses with gradient wrench[b] (6) by world twists of body b, and
// nested second derivative N[b] (6 x 6),
//   x1^T N x2 = d2/ds dt phi(exp(s x1) exp(t x2) T).
// For an ancestor dof i of dof j, both moving body b, the second derivative of kinematics is the
// nested one: d2 phi/dq_i dq_j = S_i^T N S_j. Within one ball joint or the rotation of a free
// joint coordinates are exponential and the symmetric part of N takes its place. Sums over bodies
// are gathered from the leaves to the root before they are projected (as the composite rigid body
// algorithm does).

// wrench (nbody x 6) -> sums over subtrees, in place.
void dj_gatherWrench(double* wrench, const djModel* model);

// N (nbody x 36) -> sums over subtrees, in place.
void dj_gatherMatrix(double* N, const djModel* model);

// grad (nv) += S_i . wrench of gathered wrenches.
void dj_projectWrench(double* grad, const djModel* model, const djKin* kin, const double* wrench);

// H (lower triangle) += projection of gathered N.
void dj_projectHessian(djMatrix* H, const djModel* model, const djKin* kin, const double* N);

// P += S1_i^T M S0_j for dofs i, j of a common chain: derivative of a generalised force
// with subspaces kin1 by coordinates with subspaces kin0. M (nbody x 36) gathered.
void dj_projectMixed(djMatrix* P, const djModel* model, const djKin* kin1, const djKin* kin0,
                     const double* M);

// H (lower triangle) += K and its transpose between the chains of bodies a and b: second derivative
// of a function of two poses; K (6 x 6) rows a, columns b.
void dj_projectCross(djMatrix* H, const djModel* model, const djKin* kin, int a, int b,
                     const double* K);

// P += S1_i^T K S0_j for i in the chain of a, j in the chain of b.
void dj_projectCrossMixed(djMatrix* P, const djModel* model, const djKin* kin1, const djKin* kin0,
                          int a, int b, const double* K);

// Nested second derivative from one in the coordinates x -> ref + exp(w)(x - ref) + v of twists
// (w, v): N += Q + what the gradient (6) adds.
void dj_addNested(double N[36], const double Q[36], const double wrench[6]);

// ---- manifold --------------------------------------------------------------------------------
// v_out = E v: for q' = q (+) -h w, a tangent at q becomes E times it at q'; E = exp(h w) on
// rotations, identity elsewhere. Applied to the columns of M^T, i.e. M_out = M E.
void dj_applyE(djMatrix* M, const djModel* model, const double* qvel, double h);
// M_out = M J with J = J_r(h w) on rotations, identity elsewhere.
void dj_applyJr(djMatrix* M, const djModel* model, const double* qvel, double h);
// M_out = M J^-1.
void dj_applyJrInverse(djMatrix* M, const djModel* model, const double* qvel, double h);
// M_out = J^-T M on the rows of rotations, J = J_r(w): of a pattern that is symmetric.
void dj_pullRows(djMatrix* M, const djModel* model, const double* w);
// M_out = J_r(h w)^-1 M, M (nv x ncol).
void dj_applyJrInv(double* M, int ncol, const djModel* model, const double* qvel, double h);
// M_out = J_r(w) M, M (nv x ncol).
void dj_applyJrRows(double* M, int ncol, const djModel* model, const double* w);

// Joint-space inertia M (lower triangle), armature of joints included; N (nbody x 36) scratch.
// Subspaces about ref must be set.
void dj_massMatrix(djMatrix* M, double* N, const djModel* model, const djKin* kin,
                   const djVec3* ref);

// Its diagonal (nv) alone.
void dj_massDiagonal(double* diag, double* N, const djModel* model, const djKin* kin,
                     const djVec3* ref);

// Armature of joints and then of tendons (njnt + ntendon), their own and that of actuators; its
// index of what actuator i is on, or -1.
void dj_sumArmature(double* armature, const djModel* model);
int dj_armatureTarget(const djModel* model, int i);

// model->jnt_effinertia = 1 / mean diagonal of M^-1 over the joint's dofs at qpos0, and what else
// of the model follows from qpos0: tendon_effinertia = 1/(J M^-1 J^T), eq_effinertia,
// tendon_length0, and where the springs of tendons rest that follow qpos_spring.
djStatus dj_setEffectiveInertia(djModel* model);

// Of each body with geoms (nbody) the inertia with which it answers a push at its centre of mass,
// kg: 1 / mean over directions of J M^-1 J^T at qpos0. 0: nothing moves it, or nothing resists.
djStatus dj_pushInertia(double* inertia, const djModel* model);

#endif  // DJ_MODEL_KINEMATICS_H_
