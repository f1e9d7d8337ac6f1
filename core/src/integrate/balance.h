// Balance of discrete momentum from the start of a step to a place, without forces that are taken
// there:
//   b = (-D1 L(q, Q) - M(q) v)/h - loads at the start,   L = sum_b tr((T+ - T) S (T+ - T)^T)/(2 h),
// S the exact second moments of a body. The rotational part of -D1 L is the skew part of
// T+ S T^T/h. Projected by the motion subspaces S(q) of the start, where the rigid motions of a
// free-floating tree are columns, it has the tree's linear and angular momentum.
//
// The balance of a rotation, which is in axes of R, is turned to axes of R+. That of a free joint,
// about the frame's origin p, is also moved with the centre of mass c of its body, so that torques
// about c and about c+ are compared, wherever the frame is:
//   b_rot = E^T (y + R^T ((c+ - p+) - (c - p)) x F),   E = R^T R+,
// y and F the balance of the rotation and of the translation before that.

#ifndef DJ_INTEGRATE_BALANCE_H_
#define DJ_INTEGRATE_BALANCE_H_

#include "integrate/work.h"
#include "model/frame_param.h"

// Both need work->momentum and work->body, and the subspaces of the start.
// b (nv) at a place. A, of the trees' pattern, unless NULL: its derivative by the dofs there.
void dj_balance(double* b, djMatrix* A, djWork* work, const djModel* model, const djPlace* at);

// Of it, b from wrenches of bodies in work->momentum_change, which it gathers.
void dj_projectBalance(double* b, djWork* work, const djModel* model, const djPlace* at);

// After dj_balance with the same place: derivatives by the start's dofs and velocity. Rq and G are
// set where the trees' pattern is.
void dj_startBalance(djMatrix* Rq, djMatrix* G, djWork* work, const djModel* model,
                     const djPlace* at);

// Adds d(z . b)/d parameter, z (nv). Overwrites s->W, s->C, s->C0, s->Cback, s->x.
void dj_balanceParams(djParamSums* s, djWork* work, const djModel* model, const djPlace* at,
                      const double* z);

// Adds that of sum_b x_b . W_b, x along z at one configuration, W_b - scale (momentum along qvel),
// by parameters that move frames there. M: derivative of W_b by bodies' twists, momentum carried.
// Takes W from s->W and x from s->x, leaves the twists along qvel in s->Cback. Overwrites s->W,
// s->C.
void dj_momentumFrames(djParamSums* s, const djModel* model, const djConfig* at, const double* M,
                       const double* z, const double* qvel, double scale);

// How the balance of one rotation is turned and moved.
typedef struct djTurn {
  int dof;                 // of the rotation
  bool free;
  djMat3 R, Rnext, E;      // of the joint: at q, at q+, R^T R+
  djVec3 com;              // from the frame's origin, in the body
  djVec3 delta, F;         // (c+ - p+) - (c - p), balance of the translation
  djVec3 moved, turned;    // y + R^T delta x F, b_rot
} djTurn;

// That of joint j at q+ (nq), by work->momentum_residual; false: it has no rotation.
bool dj_turnOf(djTurn* turn, const djWork* work, const djModel* model, const double* q, int j);


// zeta (nv) <- z at q+ (nq) turned back to the start; adds to param, unless it is NULL, what moves
// with the centre of mass of a free joint's body.
void dj_turnBack(double* zeta, double* param, const djWork* work, const djModel* model,
                 const double* q, const double* z);

// C_b += (w x t + v x f, w x f) for wrenches (t, f) = W_b and twists (w, v) = x_b of bodies that
// move; (nbody x 6) each.
void dj_addDual(double* C, const djModel* model, const double* x, const double* W);

#endif  // DJ_INTEGRATE_BALANCE_H_
