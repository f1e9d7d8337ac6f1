// Derivatives of a step and of a rollout. All are of the model as simulated: smooth clamps,
// lagged friction and recovery included. Tangent vectors are in MuJoCo's order and frames.

#ifndef DIJOCO_GRADIENT_H_
#define DIJOCO_GRADIENT_H_

#include <dijoco/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// Linearise the step that starts at data's present state, inputs included; data is not advanced.
// Shapes as mjd_transitionFD: with x = (q, v, act), nx = dj_tangentSize = 2 nv + na,
//   A (nx x nx) = dx+/dx,  B (nx x nu) = dx+/d(ctrl).
// Integrators with a history have it as the last part of x = (q, v, act, q-, v-): nx = 4 nv + na.
// The other columns hold it fixed: differences by states of dj_setState are A; those by writes to
// qpos, qvel and act are not, as the step that follows them begins without it.
// Either may be NULL. After dj_step returned, djd_lastTransition gives the same for the step just
// taken, without solving it again.
DJ_API djStatus djd_transition(const djModel* model, djData* data, double* A, double* B);
DJ_API djStatus djd_lastTransition(const djModel* model, djData* data, double* A, double* B);

// Derivatives of the contact forces of the step that dj_step has just taken (of its last part, where
// it was taken in parts: option impact_steps), by q, v, act and ctrl
// at its start: with n = nx + nu, force (npair x 3 x n) those of data->pair[].force, moment
// (npair x 3 x n) those of torque + point x force, normal (npair x n) those of normal_force. Any
// may be NULL.
DJ_API djStatus djd_lastContact(const djModel* model, djData* data, double* force, double* moment,
                                double* normal);

// Parameter block of the step just taken: P (nx x np) = dx+/d(parameters), np the sum
// of their ntangent, columns in the order given. Costs about nv evaluations of a step, and memory
// while it runs.
DJ_API djStatus djd_lastParams(const djModel* model, djData* data, double* P, int nparam,
                               const djParam* param);

// Vector products with the step just taken. dx (nx), du (nu), applied (nv: qfrc_applied).
// jvp: dx_next = A dx + B du. vjp: adds A^T l to dx, B^T l to du; any output may be NULL.
DJ_API djStatus djd_stepJvp(const djModel* model, djData* data, double* dx_next, const double* dx,
                            const double* du);
DJ_API djStatus djd_stepVjp(const djModel* model, djData* data, double* dx, double* du,
                            const double* lambda);

// Terms of a loss; each is weight * value, the loss is their sum. See the task format.
typedef enum djLossType {
  DJ_LOSS_POSITION, DJ_LOSS_ORIENTATION, DJ_LOSS_VELOCITY, DJ_LOSS_COM, DJ_LOSS_DISTANCE,
  DJ_LOSS_QPOS, DJ_LOSS_QVEL, DJ_LOSS_EFFORT, DJ_LOSS_RELATIVE, DJ_NLOSS
} djLossType;

// When a term counts: at the end; at every state, times the timestep; after one step; after every
// so many steps, as a plain sum.
typedef enum djWhen { DJ_WHEN_FINAL, DJ_WHEN_RUNNING, DJ_WHEN_STEP, DJ_WHEN_EVERY } djWhen;

// One term of a loss.
typedef struct djLossTerm {
  djLossType type;        // what is measured
  djObject object;        // position, distance: body, site or geom; com, relative: body
  int id;                 // element; joint for qpos, qvel; com: -1 for everything
  djObject object2;       // distance, relative: of the other point; qpos: DJ_OBJ_JOINT: a joint is
                          //   subtracted
  int id2;                // that one
  bool norm;              // its root instead, max(0, |x| - e); the derivative counts as 0 at x = 0
  int nindex;             // position: entries of the point that count; 0: all
  int index[3];           // (nindex) 0..2
  double target[4];       // of what is measured, in its units (m, m/s, rad, rad/s, unit
                          //   quaternion); relative: not used, it is measured in the run
  double weight;          // units of the loss by those of the term
  double tolerance;       // e, units of what is measured: max(0, l - e^2) where > 0
  djWhen when;            // it counts at the end, always or after some steps
  int step;               // DJ_WHEN_STEP: 1..horizon
  int every;              // DJ_WHEN_EVERY: steps from, from + every, ... up to `to`; at least 1
  int from, to;           // RUNNING, EVERY: first and last step, 1..horizon; 0: 1 (every) and all.
                          //   relative: its target is measured after step `from`; 0: at the start
} djLossTerm;

// A callback loss sees the whole trajectory: qpos (horizon+1 x nq), qvel (x nv), act (x na),
// controls (horizon x nu); it returns the loss and adds its derivatives by tangent states
// (horizon+1 x nx, see djd_transition) and controls (horizon x nu).
typedef double (*djLossCallback)(void* user, const djModel* model, int horizon,
                                 const double* qpos, const double* qvel, const double* act,
                                 const double* ctrl, double* dstate, double* dctrl);

// A run whose loss is taken: start, controls, loss. Starts that are NULL are the model's qpos0 and
// zeros; they may be arrays of the djData that runs, which then goes on from where it is.
typedef struct djRollout {
  int horizon;                 // steps
  const double* qpos0;         // (nq) m, rad, quaternions
  const double* qvel0;         // (nv) m/s, rad/s
  const double* act0;          // (na) units of the actuators' inputs
  const double* history_qpos0; // (nq) m, rad, quaternions; the start's history, where the
                               //   integrator keeps one. NULL: none, or data's where qpos0 and qvel0
                               //   are its arrays
  const double* history_qvel0; // (nv) m/s, rad/s; likewise, both or none
  const double* ctrl;          // (horizon x nu) units of the actuators' inputs
  int nloss;                   // terms
  const djLossTerm* loss;      // (nloss)
  djLossCallback callback;     // or NULL
  void* user;                  // handed to the callback
  int refinement_steps;        // extra full Newton steps until the decrement stops falling
  bool loss_only;              // no linearisation: a backward pass is not possible
  int checkpoint;              // 0: the tape holds the linearisation of every step; k > 0: of k
                               //   steps at a time. Before these a backward pass takes the steps
                               //   again from their recorded starts, each once, and the gradient
                               //   has the same bits. Second derivatives need them all
  const djModel* compiled;     // not NULL: gradients by parameters let masses and inertias follow
                               //   the geoms of the model from this one on (dj_followGeoms)
  djWatch watch;               // told after each step of either pass; a cancelled one has no result
  const struct djTape* along;  // not NULL: the last run of another model of the same sizes, over this
                               //   horizon. Each step begins at the state that it has recorded there,
                               //   and losses are of those states: derivatives of this model's steps
                               //   (a smoother contact's) along the run of that one. The start is that
                               //   run's. Not for integrators that keep a history; first derivatives
                               //   alone
} djRollout;

// What a rollout returns. Arrays belong to the caller.
typedef struct djRolloutResult {
  double loss;                 // sum of the terms and of the callback's, units of the loss
  double* term;                // (nloss) units of the loss, or NULL
  double* grad_qpos0;          // (nv) tangent, units of the loss by m, rad; or NULL
  double* grad_qvel0;          // (nv) units of the loss by m/s, rad/s; or NULL
  double* grad_act0;           // (na) units of the loss by those of act; or NULL
  double* grad_history_qpos0;  // (nv) tangent at the history's qpos, 0 without one, units of the
                               //   loss by m, rad; or NULL
  double* grad_history_qvel0;  // (nv) units of the loss by m/s, rad/s; or NULL
  double* grad_ctrl;           // (horizon x nu) units of the loss by those of ctrl; or NULL
  int nparam;                  // gradients by parameters
  const djParam* param;        // (nparam)
  double* grad_param;          // (sum of their ntangent) concatenated, units of the loss by the
                               //   parameters'; or NULL
  int unconverged_steps;       // whose best iterate was kept
  double worst_residual;       // 1; as djStats has it
  double worst_condition;      // 1; largest condition estimate of an unshifted dr/dq+, of the steps
                               //   that the passes on this result have linearised
  double forward_s, backward_s;  // s; filled by callers that have a clock; 0 here
} djRolloutResult;

// A tape holds what the adjoint needs of every step. That follows from the contacts of a run: a
// tape grows while a run is recorded, by half of what it holds or more, and serves further runs.
typedef struct djTape djTape;
DJ_API size_t djd_tapeSize(const djModel* model, int horizon);   // bytes of a new one
DJ_API size_t djd_tapeBytes(const djTape* tape);                 // bytes it holds now
DJ_API djStatus djd_makeTape(djTape** tape, const djModel* model, int horizon, djError* err);
DJ_API void djd_deleteTape(djTape* tape);

// Forward pass: simulates and records. Backward pass: gradients of the recorded run.
// data is advanced to the end of the horizon; its inputs other than ctrl act throughout. Gradients
// by parameters (result->nparam > 0) visit every step once more, so that data's inputs must be
// those of the forward pass; a callback's loss is taken not to depend on parameters.
DJ_API djStatus djd_rolloutForward(djRolloutResult* result, const djModel* model, djData* data,
                                   const djRollout* rollout, djTape* tape);
DJ_API djStatus djd_rolloutBackward(djRolloutResult* result, const djModel* model, djData* data,
                                    const djRollout* rollout, djTape* tape);

// The recorded trajectory: qpos (horizon+1 x nq), qvel (horizon+1 x nv), act (horizon+1 x na); any
// may be NULL. DJ_INVALID: the last forward pass did not end, or was of another model.
DJ_API djStatus djd_tapeStates(double* qpos, double* qvel, double* act, const djModel* model,
                               const djTape* tape);

// Derivatives of a loss that the caller has worked out from the trajectory: by tangent states,
// dstate (horizon+1 x nx), and by controls, dctrl (horizon x nu); NULL: zero. Backward passes
// take them, as they take a callback's, until the next forward pass; so one forward pass serves any
// number of cotangents. Errors as above.
DJ_API djStatus djd_setCotangents(djTape* tape, const djModel* model, const double* dstate,
                                 const double* dctrl);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_GRADIENT_H_
