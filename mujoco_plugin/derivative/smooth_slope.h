// Derivatives of what is smooth in MuJoCo's step:
//
//   r(q, v, act, ctrl; a) = M a + c - qfrc_passive - qfrc_actuator - qfrc_applied - J^T xfrc
//
// and the activations' advance, tendons' Jacobians, and D = d(tau - c)/dv as implicit integrators
// take it. By q means by the tangent of mj_integratePos.

#ifndef DJ_MUJOCO_SMOOTH_SLOPE_H_
#define DJ_MUJOCO_SMOOTH_SLOPE_H_

#include <dijoco/types.h>

#include <mujoco/mujoco.h>

// Derivatives of n values by q (n x nv), v (n x nv), act (n x na), ctrl (n x nu).
typedef struct djmSlope {
  mjtNum *by_q, *by_v, *by_act, *by_ctrl;
} djmSlope;

// Scratch: a mjData that these functions may move, and numbers.
typedef struct djmSmoothWork {
  mjData* d;
  mjtNum* memory;        // (djm_smoothWorkSize)
} djmSmoothWork;

size_t djm_smoothWorkSize(const mjModel* m);

// Of r (nv). d: past mj_forward. m: no plugins.
djStatus djm_smoothSlope(djmSlope* out, const mjModel* m, const mjData* d, const mjtNum* a,
                         djmSmoothWork* w, djError* err);

// Of the activations after a step (na).
djStatus djm_nextActSlope(djmSlope* out, const mjModel* m, const mjData* d, djmSmoothWork* w,
                          djError* err);

// Of D w (nv) at a fixed vector w, D as the model's implicit integrator takes it.
djStatus djm_dampingSlope(djmSlope* out, const mjModel* m, const mjData* d, const mjtNum* x,
                          djmSmoothWork* w, djError* err);

// H (nv x nv): H[i, j] = derivative of the tendon's Jacobian, entry i, by q, direction j. Not
// symmetric where ball and free joints turn the basis. False, and H as it was: it is constant.
bool djm_tendonHessian(mjtNum* H, const mjModel* m, const mjData* d, int tendon,
                       djmSmoothWork* w);

#endif  // DJ_MUJOCO_SMOOTH_SLOPE_H_
