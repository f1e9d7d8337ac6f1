// Second derivatives: how the gradient of a run's loss changes with what the run follows from,
// along one direction at a time (Hessian-vector products), and tangents of runs.
//
//   djHessian* work;
//   djd_makeHessian(&work, model, horizon, &err);
//   djd_rolloutForward(&result, model, data, &rollout, tape);
//   djd_rolloutHvp(&product, &along, model, data, &rollout, tape, work);
//
// Forward over adjoint: the tangent of the run is exact, by its linearised steps; the adjoint is
// differentiated along it. What a step's adjoint changes by is the difference of the step's own
// exact derivatives at its start, end and parameters moved a little along the tangent, to fourth
// order: steps are not solved again, and no difference goes over more than one of them. Where these
// derivatives jump, at kinks of penalty contact or of options that round nothing off, the product
// is the mean of both sides.
//
// Turns of free and ball joints, and of parameters that are quaternions, are by rotation vectors: H
// is the second derivative of the loss by w at w = 0, q exp(w), which is symmetric. Gradients are
// in the axes of bodies, and these turn: along v the gradient g by a turn changes by H v - (v x
// g)/2. Axes of joints are by their numbers, a meaning a/|a|.

#ifndef DIJOCO_HESSIAN_H_
#define DIJOCO_HESSIAN_H_

#include <dijoco/gradient.h>

#ifdef __cplusplus
extern "C" {
#endif

// A small change of what a run follows from, or products by it. NULL: no change; not asked for.
// Units: of a change those of the numbers; of a product those of the loss, by the numbers, times
// what the change is in.
typedef struct djVariation {
  double* qpos0;         // (nv) tangent, units of the start
  double* qvel0;         // (nv) units of the start
  double* act0;          // (na) units of the start
  double* history_qpos0; // (nv) tangent, units of the history: of integrators that keep one
  double* history_qvel0; // (nv) units of the history
  double* ctrl;          // (horizon x nu) units of ctrl
  int nparam;            // parameters
  const djParam* param;  // (nparam)
  double* value;         // (sum of ntangent) units of the parameters: one after the other
} djVariation;

// Memory for such products, for runs of so many steps or fewer. It belongs to one thread; what a
// run or a model needs more is found when it is met, and kept.
typedef struct djHessian djHessian;
DJ_API djStatus djd_makeHessian(djHessian** hessian, const djModel* model, int horizon,
                                djError* err);
DJ_API void djd_deleteHessian(djHessian* hessian);        // NULL is allowed
DJ_API size_t djd_hessianBytes(const djHessian* hessian); // bytes it holds now

// Tangents of the recorded run: state (horizon + 1 x nx, see djd_transition) changes by so much
// where what it follows from changes along `along`. Costs a product with A and B a step, and with
// parameters four residuals. The run is a tape's last forward pass, of this model, with data's
// inputs as they were; data is not changed. Errors as of djd_rolloutBackward, in dj_errorText.
DJ_API djStatus djd_rolloutJvp(double* dstate, const djVariation* along, const djModel* model,
                               djData* data, const djRollout* rollout, djTape* tape,
                               djHessian* hessian);

// Hessian-vector product of the recorded run's loss: product = H along. `product` has the
// parameters of `along`, whose nparam and param count for both; along->value NULL: these do not
// change. A callback is asked for its derivatives four times, at runs moved along the tangents.
// Cotangents of djd_setCotangents count as a loss that is linear in tangents, which they are held
// fixed in, but for djd_setCotangentRates. Costs about four linearised steps and adjoints a step.
// DJ_SINGULAR: a step beside the run has a Jacobian that cannot be factored. DJ_INVALID names a
// parameter that cannot be moved both ways, at the end of what it may be.
DJ_API djStatus djd_rolloutHvp(djVariation* product, const djVariation* along, const djModel* model,
                               djData* data, const djRollout* rollout, djTape* tape,
                               djHessian* hessian);

// How the cotangents of djd_setCotangents change along the direction of the next product, in the
// axes of bodies, which turn: dstate (horizon + 1 x nx), dctrl (horizon x nu), those of the tape's
// run; NULL: zero. They count for one product.
DJ_API djStatus djd_setCotangentRates(djHessian* hessian, const djModel* model, const djTape* tape,
                                      const double* dstate, const double* dctrl);

// Second derivatives of the step that starts at data's present state, inputs included, contracted
// with lambda (nx): of lambda . log(x+^-1 f(x, ctrl, parameters)), x+ the end as it is now. along:
// qpos0, qvel0, act0, history and ctrl (nu) of that one step; product likewise. data is not
// changed.
DJ_API djStatus djd_stepHvp(djVariation* product, const djVariation* along, const double* lambda,
                            const djModel* model, djData* data, djHessian* hessian);

// Of the last product: steps that were linearised beside the run; the largest part by which two
// differences of the same derivatives, over steps one of which is four times the other, were apart.
// The product is by both, and its error of the order of the square of that.
DJ_API long djd_hessianSteps(const djHessian* hessian);
DJ_API double djd_hessianError(const djHessian* hessian);

#ifdef __cplusplus
}
#endif

#endif // DIJOCO_HESSIAN_H_
