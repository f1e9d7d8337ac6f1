// Designs: the variables of a task as one vector x, and the loss of its rollout as a function of x
// with its gradient, design maps included.
//
//   djDesign* design;
//   djd_makeDesign(&design, model, problem, &err);
//   djd_evaluateDesign(&loss, grad, design, design->x0);

#ifndef DIJOCO_DESIGN_H_
#define DIJOCO_DESIGN_H_

#include <dijoco/array.h>
#include <dijoco/check.h>
#include <dijoco/optimize.h>
#include <dijoco/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

// x lists the entries that vary, variable by variable. An entry is the number itself; for
// rotations it belongs to the rotation vector w of q = q0 exp(w), q0 being the task's own value, so
// that x is 0 there at the start and derivatives by it at w = 0 are the tangent ones.
// All fields are to be read only, but for rollout.watch, which may be set at any time.
typedef struct djDesign {
  const djProblem* problem; // the task
  int n;                    // entries of x
  const int* adr;           // (nvariable + 1) where a variable's entries start in x
  const double* x0;         // (n) the task's own values, in the units of what varies, as all of x
  const double* lower;      // (n) bounds, units of x
  const double* upper;      // (n) likewise, units of x
  const int* group;         // (n) 0: parameters of the model; 1: controls and start
  int nequal;               // equations equal x = value that hold at x0: the task's connections
  const int* equal_start;   // (nequal + 1) where an equation's entries start: so many are not 0
  const int* equal_index;   // (equal_start[nequal]) the entry of x, in an equation ever higher
  const double* equal;      // (equal_start[nequal]) the factor of it, m by units of x
  const double* value;      // (nequal) m
  double phase;             // 1; see djd_setPhase
  // The present point, after any of the functions below:
  double* x;                // (n) units of what varies
  djModel* model;           // copy of the model with its parameters
  djData* data;             // what runs
  djTape* tape;             // of the last run
  djRollout rollout;        // its start and controls; refinement_steps are on
  djRolloutResult result;   // of the last evaluation, all arrays present; param: problem->param
  djError error;            // of the last failure
  void* memory;             // private
} djDesign;

// The model is copied; it must be the one that the problem was resolved with. The problem must
// outlive the design.
DJ_API djStatus djd_makeDesign(djDesign** design, const djModel* model, const djProblem* problem,
                               djError* err);
// Release a design; NULL is allowed.
DJ_API void djd_deleteDesign(djDesign* design);
// Bytes it holds now, without its tape and data: see djd_tapeBytes and dj_dataBytes.
DJ_API size_t djd_designBytes(const djDesign* design);

// Set parameters, start and controls to those of x (n), maps included, without a rollout. Negative:
// x makes no valid design (a negative size...), design->error says why; the next call with a valid
// x mends everything.
DJ_API djStatus djd_moveDesign(djDesign* design, const double* x);
// The design's own model as the last call left it: with the parameters of its x.
DJ_API const djModel* djd_designModel(const djDesign* design);

// Whether the gradient is that of other physics than the loss: by a guide that acts in derivatives alone
// (guide_backward_only), or by steps of smoother contact along the run (djProblem.derivatives).
DJ_API bool djd_isSurrogate(const djDesign* design);

// Where masses follow geoms, have meshes count by the facets of their hulls at the present point
// from now on (dj_renewFacets); *changed: how many have other facets than before.
DJ_API djStatus djd_renewFacets(int* changed, djDesign* design);

// From now on runs start phase timesteps later on the start's own flow: at q (+) phase h v, with
// the same v, act and controls. Gradients are those of that loss by x. 0: as a new design does.
DJ_API djStatus djd_setPhase(djDesign* design, double phase);

// djd_moveDesign, rollout, and gradient by x (n) unless grad is NULL. DJ_NOT_CONVERGED: done, but
// result.unconverged_steps are not 0. DJ_SINGULAR: there is no gradient. Negative: there is no loss
// at x.
DJ_API djStatus djd_evaluateDesign(double* loss, double* grad, djDesign* design, const double* x);
// First half of it: without for_gradient a backward pass is not possible, and this one cheaper.
DJ_API djStatus djd_forwardDesign(double* loss, djDesign* design, const double* x,
                                  bool for_gradient);
// Second half of it.
DJ_API djStatus djd_backwardDesign(double* grad, djDesign* design);
// Hessian-vector product at x, product (n) = H v, of the same loss; v (n) in the units of x, product
// in those of the loss by x. Runs anew only where x was not the point of the last evaluation with a
// gradient, so that several products cost one run. The present point is x then. Negative: as
// above, or there is none for what dijoco/hessian.h says.
DJ_API djStatus djd_designHvp(double* product, djDesign* design, const double* x, const double* v);
// djd_evaluateDesign as a djObjective, for which a singular step is no loss.
DJ_API djStatus djd_designObjective(void* design, double* loss, double* grad, const double* x);

// Into how many pieces the bodies fall, at the present point, whose shapes the task's connections
// hold together: geoms of a body that neither overlap nor touch, links whose joint is no longer in
// a geom of both. 1 for each robot that hangs together; 0: there are no connections.
DJ_API djStatus djd_countPieces(int* n, djDesign* design, djError* err);

// Points that djd_moveDesign has refused so far since a hull would be flat there or a cell of a
// cage inside out. Flat is what has less than a hundredth of the thickness, by its size, that it
// had.
DJ_API int djd_countFlattened(const djDesign* design);

// What optimizers see: the sum over scenes, by weights, of the mean of a design's loss over starts
// that differ by a part of a timestep: phases j/nphase, j < nphase. Of losses with impacts that mean
// says what does not depend on when in a step they come. The arrays are to be read only.
typedef struct djPhases {
  int n;                    // runs: nscene x nphase
  int nthread;              // threads that share them
  djDesign** design;        // (n) scene after scene; of each the first is the caller's, the others
                            //   are copies
  int nscene, nphase;       // at least 1
  const double* weight;     // (nscene) 1; of a scene's loss
  void* memory;             // private
} djPhases;

// Of one scene. nthread 0: one for each processor; never more than n. The design must outlive the
// phases.
DJ_API djStatus djd_makePhases(djPhases** phases, djDesign* design, int n, int nthread,
                               djError* err);
// Of several scenes, a design each, and their weights, which are positive (NULL: 1). All must have
// the same variables, alike in size and with the same values at x0: the error names the scene and
// the variable. x is that of the first design, as are bounds and connections.
DJ_API djStatus djd_makeScenes(djPhases** phases, int nscene, djDesign* const* design,
                               const double* weight, int nphase, int nthread, djError* err);
DJ_API void djd_deletePhases(djPhases* phases);   // NULL is allowed

// Whether an optimizer's stages can be set in all scenes, one after the other (but for what varies,
// which an optimizer refuses); nothing changes. The error names the stage and what it sets.
DJ_API djStatus djd_checkStages(const djPhases* phases, const djOptimizer* optimizer, djError* err);

// djd_designObjective of all runs: the means of their losses and gradients, summed over scenes,
// with the same bits whatever the number of threads. Results stay in phases->design[].result. grad
// (n) may be NULL.
DJ_API djStatus djd_evaluatePhases(double* loss, double* grad, djPhases* phases, const double* x);
// The same as a djObjective.
DJ_API djStatus djd_phasesObjective(void* phases, double* loss, double* grad, const double* x);
// djd_designHvp of all runs, summed likewise, as a djHessianProduct.
DJ_API djStatus djd_phasesHvp(void* phases, double* product, const double* x, const double* v);
// The loss in two halves, as djd_forwardDesign and djd_backwardDesign.
DJ_API djStatus djd_forwardPhases(double* loss, djPhases* phases, const double* x,
                                  bool for_gradient);
DJ_API djStatus djd_backwardPhases(double* grad, djPhases* phases);
// Mean loss of a scene over its phases, before its weight, after any of these.
DJ_API double djd_sceneLoss(const djPhases* phases, int scene);

// djd_designResiduals of all runs one after the other, as djResiduals; each by the root of its
// scene's weight over nphase. How many, as djd_countResiduals.
DJ_API djStatus djd_phasesResiduals(void* phases, double* r, double* J, const double* x);
DJ_API djStatus djd_countPhasesResiduals(int* n, const djPhases* phases, djError* err);

// How far the gradient by each variable is from the same at all phases: the standard deviation of
// the part (a vector) over phases, by the size of its mean (nvariable, 1). A gradient may be exact
// and yet be that of one phase alone. 0 where all are 0, infinite where the mean alone is.
DJ_API djStatus djd_phaseSpread(double* spread, djPhases* phases, const double* x);

// A loss and its gradient along one entry of x, the others as at x0, and how rough they are. Losses
// and gradients that there are not are NaN, and left out of all numbers.
typedef struct djLandscape {
  double range;                // largest less smallest loss, in units of the loss
  double total_variation;      // sum of |differences| of neighbours, in units of the loss
  double gradient_total_variation;   // the same of gradients, in units of the gradient
  double reconstruction_error; // largest |reconstructed - loss|, in units of the loss
  int sign_changes;            // of differences above 1e-9 of the range
  int missing;                 // samples without a loss or a gradient
  int unconverged;             // samples with steps that did not converge
} djLandscape;
// Samples, n >= 2: values (n) from `from` to `to` with loss and gradient (n) there, and
// reconstructed (n): the first loss plus the gradient's integral by the trapezoid rule. No array may
// be NULL. entry: of x. Negative: there is no such entry, or the loss at no sample.
DJ_API djStatus djd_landscape(djLandscape* out, double* values, double* loss, double* gradient,
                              double* reconstructed, int n, djPhases* phases, int entry,
                              double from, double to, djError* err);

// dj_optimize of the mean over phases, from x (n) on; callback may be NULL. An error says why there
// is no loss at the start. Where masses follow geoms, facets are held within an iteration and
// renewed after it, by adam and trust_region; by all at the result.
DJ_API djStatus djd_optimizePhases(djOptimizeResult* result, double* x, djPhases* phases,
                                   const djOptimizer* optimizer, djOptimizeCallback callback,
                                   void* callback_user, djError* err);
// The same of a design, over optimizer->phases; nthread as above. Of several, as djd_makeScenes.
DJ_API djStatus djd_optimizeDesign(djOptimizeResult* result, double* x, djDesign* design,
                                   const djOptimizer* optimizer, int nthread,
                                   djOptimizeCallback callback, void* callback_user,
                                   djError* err);
DJ_API djStatus djd_optimizeScenes(djOptimizeResult* result, double* x, int nscene,
                                   djDesign* const* design, const double* weight,
                                   const djOptimizer* optimizer, int nthread,
                                   djOptimizeCallback callback, void* callback_user,
                                   djError* err);

// The loss as a sum of squares: how many residuals there are. DJ_UNSUPPORTED: it is none, for a
// negative weight or a callback, as err says.
DJ_API djStatus djd_countResiduals(int* n, const djDesign* design, djError* err);
// Residuals r (n) at x, and unless J is NULL their derivatives J (n x design->n), by a run and an
// adjoint for each residual, from its state back; those of efforts cost nothing. A term with a
// tolerance e, |x|^2 - e^2 or 0, is that of x sqrt(1 - e^2/|x|^2). Negative as in
// djd_designObjective.
DJ_API djStatus djd_designResiduals(double* r, double* J, djDesign* design, const double* x);

// Values of a variable at the present point: variable->nvalue numbers; quaternions and axes
// normalised as in the model.
DJ_API void djd_designValue(double* value, const djDesign* design, int variable);

// Certificate of the derivative along direction (n) at x, where loss and analytic (= gradient .
// direction) were evaluated, by differences of the very same loss; scale as in djd_check. The
// present point is moved.
DJ_API djStatus djd_checkDesign(djdCertificate* result, djDesign* design, const double* x,
                                const double* direction, double loss, double analytic,
                                double scale);

// The same for one variable at x0, along the steepest of three random directions that seed draws,
// with steps up to a tenth of the variable's size, and secants over steps of useful size: what
// `dijoco grad --check` prints. loss and gradient (n) were evaluated there. A variable of which
// nothing varies passes, and leads. Ties and kinks at
// which the runs start are named: equal coefficients of two geoms that touch, inputs at their
// limits, joints at theirs, centres that coincide; at these a gradient passes that is one of the
// two one-sided slopes or lies between them (a subgradient: of a tie each has half the slope).
DJ_API djStatus djd_certifyVariable(djdCertificate* result, djDesign* design, int variable,
                                    double loss, const double* gradient, unsigned long seed);

// The same of the sum over scenes and mean over phases.
DJ_API djStatus djd_checkPhases(djdCertificate* result, djPhases* phases, const double* x,
                                const double* direction, double loss, double analytic,
                                double scale);
DJ_API djStatus djd_certifyPhases(djdCertificate* result, djPhases* phases, int variable,
                                  double loss, const double* gradient, unsigned long seed);
// The same by at most so many losses (djd_checkBudget), one of which is a run of each scene and
// phase, but for one more that looks for kinks and 6 of secants. DJ_NOT_CONVERGED and gave_up: too
// few to begin.
DJ_API djStatus djd_certifyWithin(djdCertificate* result, djPhases* phases, int variable,
                                  double loss, const double* gradient, unsigned long seed,
                                  int most);
// The same at another x (n), where the loss and its gradient were evaluated; rotations count by their
// rotation vectors there. The present point is x then.
DJ_API djStatus djd_certifyAt(djdCertificate* result, djPhases* phases, const double* x,
                              int variable, double loss, const double* gradient,
                              unsigned long seed, int most);

// Fields by name, for other languages (see array.h): n, nvariable, nterm, nequal, horizon,
// evaluations (losses asked for so far), unconverged_steps, fallback_steps, recovering_steps,
// worst_residual, worst_condition; x0, x, lower, upper, group (n), adr (nvariable+1), equal_start
// (nequal+1), equal_index and equal (a row for each entry), value (nequal), term, term.type (nterm);
// of variables, a row each: variable.kind, .n, .nvalue, .ntangent, .picked. DJ_INVALID: no such
// field, or no row.
DJ_API djStatus djd_designArray(djArray* array, const djDesign* design, const char* name);
DJ_API const char* djd_designError(const djDesign* design);   // text of the last failure
// Name of a variable, and the entry of it that varies as its k-th; "" and -1: none.
DJ_API const char* djd_variableName(const djDesign* design, int variable);
DJ_API int djd_variableIndex(const djDesign* design, int variable, int k);

// No entry of the start or of a parameter varies twice (a vector and a part of it). Gradients need
// not care, optimisers do; the error names the variable.
DJ_API djStatus djd_checkVariables(const djProblem* problem, djError* err);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_DESIGN_H_
