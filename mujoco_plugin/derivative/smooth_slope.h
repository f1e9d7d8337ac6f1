// Derivatives of MuJoCo's smooth dynamics: all that acts but constraints, at a given acceleration.
//
//   r(q, v, act, ctrl; a) = M a + c - qfrc_passive - qfrc_actuator - qfrc_applied
//                            - J^T xfrc_applied
//
// Derivatives by q are along tangent vectors in the order of qvel, as mj_integratePos takes them:
// a free joint's position in the world, rotations (of free and ball joints) in the body's own
// frame. d holds what mj_forward computed at its state (mj_fwdPosition, mj_fwdVelocity,
// mj_fwdActuation are enough). Of what has branches (ranges, curves of muscles, wrapping) the
// derivative is that of the branch on which MuJoCo is; an end of a range belongs to its inside.

#ifndef DJ_MUJOCO_SMOOTH_SLOPE_H_
#define DJ_MUJOCO_SMOOTH_SLOPE_H_

#include <dijoco/types.h>

#include <mujoco/mujoco.h>

// Memory for a model's derivatives: one for each thread.
typedef struct djmSmoothWork djmSmoothWork;

djmSmoothWork* djm_makeSmoothWork(const mjModel* m); // NULL: out of memory
void djm_deleteSmoothWork(djmSmoothWork* w);

// DJ_UNSUPPORTED where m has what is not differentiated; err names the element.
djStatus djm_checkSmooth(const mjModel* m, djError* err);

// by_q, by_v: nv x nv, by_act: nv x na, by_ctrl: nv x nu; each may be NULL. a: nv. DJ_UNSUPPORTED
// where something active at this state is not differentiated, besides what djm_checkSmooth names.
djStatus djm_smoothSlope(double* by_q, double* by_v, double* by_act, double* by_ctrl,
                         const mjModel* m, const mjData* d, const double* a, djmSmoothWork* w,
                         djError* err);

// M a + c of rigid bodies alone: no armature of tendons. Both matrices are written.
void djm_inverseSlope(double* by_q, double* by_v, const mjModel* m, const mjData* d,
                      const double* a, djmSmoothWork* w);

// Of activations after the step (next), or of act_dot. by_q, by_v: na x nv, by_act: na x na,
// by_ctrl: na x nu; each may be NULL.
djStatus djm_activationSlope(double* by_q, double* by_v, double* by_act, double* by_ctrl,
                             const mjModel* m, const mjData* d, bool next, djmSmoothWork* w,
                             djError* err);

// H (nv x nv): H[j][k] = dJ[j]/dq[k] of a tendon's ten_J. Symmetric where all its joints are
// scalar; the axes of balls and free joints turn with them.
djStatus djm_tendonHessian(double* H, const mjModel* m, const mjData* d, int tendon,
                           djmSmoothWork* w, djError* err);

// Of q+ = mj_integratePos(q, h v): tangents at q+ by tangents at q and by v. Row i holds the block
// of its joint (rotations: of the three angular dofs), a scalar dof or a free joint's translation
// in column 0. by_q, by_v: nv x 3.
void djm_integrateSlope(double* by_q, double* by_v, const mjModel* m, const double* v, double h);

#endif // DJ_MUJOCO_SMOOTH_SLOPE_H_
