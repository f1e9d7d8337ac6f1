// The linearised step: small changes of its end by those of its start and of inputs.
//
// Stage s (method.h) gives y_s = dQ_s - E_s dq, E_s = exp(-psi_s) on rotations and the identity
// elsewhere:
//   H y = -(Rq dq + sum_k (velocity_k G + accel_k M) dsrc_k + Ra da + Ru du),  Rq = r_q + H E,
// over sources other than its own displacement, of which then dpsi = J_r^-1(psi) y; that of the
// step before changes by J_r^-1(d) (dq - exp(-d) dq-). At the end, where q+ is the last stage's,
//   dq+ = y + E dq,  dv+ = sum_k end_k dsrc_k,
// and its history is that dq-+ = dq, dv-+ = dv; E is added last: with velocities that divide y by
// h, subtracting it after the solution would lose a factor 1/h. Where q+ = q (+) w,
// w = sum position_k src_k,
//   dq+ = exp(-w) dq + J_r(w) dw.
// A velocity that is not by coefficients alone has dv+ += Vplus y + Vstart dq.
//
// A step of physics from outside is dx+ = A dx + B du, and has nothing else.

#ifndef DJ_INTEGRATE_LINEAR_H_
#define DJ_INTEGRATE_LINEAR_H_

#include "integrate/work.h"

typedef struct djLinear {
  const djMethod* method;   // that has taken the step
  djCoefficients coef;
  djStageLinear stage[DJ_MAX_STAGE];
  djBlocks trees;        // of the following, in a copy
  djMatrix Vplus;        // data NULL: velocity by coefficients
  djMatrix Vstart;
  djImpulseLinear impulse;  // beside all else
  double* turn;          // (nv) w, where the coefficients turn
  double* before;        // (nv) d
  bool keeps;            // the end has a history, where the state has one
  double* act_by_act;    // (na) diagonal of d act+/d act
  double* act_by_ctrl;   // (nu) d act+/d ctrl of each actuator with an activation
  double* z_by;          // (nu x 3) of integrals: djIntegralSlopes
  double* motor_by;      // (nu x DJ_NMOTORSTATE x DJ_MOTOR_ROW) of motors' states: dj_motorRow()
  const double *A, *B;   // (nx x nx), (nx x nu) of physics from outside; NULL: of the core's own
  const double* memory;  // (size) of a copy
  size_t size;
} djLinear;

// Copy into memory of dj_linearSize doubles. *dest must not be moved: it points into itself.
size_t dj_linearSize(const djModel* model, const djLinear* src);
void dj_copyLinear(djLinear* dest, double* memory, const djModel* model, const djLinear* src);

// Asks for a copy that will be read soon. Long tapes are in no cache, and wait for memory otherwise.
void dj_fetchLinear(const djLinear* copy);

// Linearise the step just taken; *linear points into the workspace.
djStatus dj_linearizeStep(djLinear* linear, const djModel* model, djData* data);

// A tangent state is (q, v, act, q-, v-), the last two where there is a history. dx_next = A dx +
// B du; dx or du may be NULL. scratch: dj_linearScratch doubles.
size_t dj_linearScratch(const djModel* model);
void dj_linearJvp(double* dx_next, const djLinear* linear, const djModel* model, const double* dx,
                  const double* du, double* scratch);

// The same where residuals also change by dr (nstage x nv), at held ends of stages, and the velocity
// at the end by dv (nv) beside; either may be NULL. Leaves y of stage s in scratch + s nv. Of physics
// from outside neither has an effect.
void dj_linearPush(double* dx_next, const djLinear* linear, const djModel* model, const double* dx,
                   const double* du, const double* dr, const double* dv, double* scratch);

// dx += A^T lambda, du (nu) += B^T lambda; either may be NULL. Leaves H_s^-T times the adjoint of
// stage s in scratch + s nv.
void dj_linearVjp(double* dx, double* du, const djLinear* linear, const djModel* model,
                  const double* lambda, double* scratch);

// Rows (nrow, `stride` apart) by d, in the place of q-, and q become those by q- and q.
void dj_pullBeforeRows(double* rows, int nrow, int stride, const djLinear* linear,
                       const djModel* model);

#endif  // DJ_INTEGRATE_LINEAR_H_
