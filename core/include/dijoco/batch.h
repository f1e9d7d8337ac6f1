// Many worlds of one model, stepped and differentiated together on a pool of threads.
//
//   djBatch* batch;
//   dj_makeBatch(&batch, model, 4096, 0, &err);
//   memcpy(batch->ctrl, ...);                     // (4096 x nu)
//   dj_batchStep(batch, 1);
//
// A world is its state and inputs, a row in each of the batch's arrays; the memory of a step is a
// thread's. As a step depends on its state and inputs alone, a world takes the same bits by any
// number of threads, in any order, and as a djData of its own does. Threads take the next world
// that is left: one that takes long delays no other. A world that fails says so in `status` and
// leaves the others alone. A batch belongs to one caller at a time.

#ifndef DIJOCO_BATCH_H_
#define DIJOCO_BATCH_H_

#include <dijoco/array.h>
#include <dijoco/gradient.h>

#ifdef __cplusplus
extern "C" {
#endif

// Worlds. Arrays have a row for each, with the entries that a djData has (data.h); those marked "in"
// may be written between calls.
typedef struct djBatch {
  int n;                       // worlds
  int nthread;                 // that share them, the caller's included
  int* active;                 // (n) in; 1: a call is for this world, 0: it is left as it is
  // state, in
  double* time;                // (n) s
  double* qpos;                // (n x nq) m, rad, quaternions, which need not be normalised
  double* qvel;                // (n x nv) m/s, rad/s
  double* act;                 // (n x na) activations, in the units of the actuator's input
  int* has_history;            // (n) 1: the integrator's history belongs to the state; whoever writes
                               //   qpos, qvel or act by hand writes 0, unless he writes it, too
  double* history;             // (n x (nq + nv), or 0) qpos and qvel one timestep before, in
                               //   their units
  double* mocap_last_pos;      // (n x nmocap x 3) m; where mocap bodies begin the next step
  double* mocap_last_quat;     // (n x nmocap x 4) quaternions; all 0: where they are
  // inputs, in
  double* ctrl;                // (n x nu) controls, in the units of the actuator's input
  double* qfrc_applied;        // (n x nv) N, N m
  double* xfrc_applied;        // (n x nbody x 6) force (N), torque (N m); world axes
  double* mocap_pos;           // (n x nmocap x 3) m
  double* mocap_quat;          // (n x nmocap x 4) unit quaternions
  double* gravity_scale;       // (n) 1; factor on gravity
  int* eq_active;              // (n x nequality) 1: the equality constraint acts
  // poses of the states that calls left
  double* xpos;                // (n x nbody x 3) m; body frames
  double* xquat;               // (n x nbody x 4) unit quaternions
  double* xmat;                // (n x nbody x 9) rotations: 1
  double* xipos;               // (n x nbody x 3) m; centres of mass
  double* site_xpos;           // (n x nsite x 3) m
  double* geom_xpos;           // (n x ngeom x 3) m
  double* geom_xmat;           // (n x ngeom x 9) rotations: 1
  // results
  int* status;                 // (n) djStatus of the last call; DJ_OK of those it was not for
  djStats* stats;              // (n) of its steps since it was reset, or of its last run
  struct djBatchWork* work;    // private
} djBatch;

// n worlds at qpos0 and at rest, of a copy of the model. nthread 0: one for each processor; never
// more than n; fewer where no more can be had. On failure *batch is NULL.
DJ_API djStatus dj_makeBatch(djBatch** batch, const djModel* model, int n, int nthread,
                             djError* err);
DJ_API void dj_deleteBatch(djBatch* batch);              // NULL is allowed
DJ_API size_t dj_batchBytes(const djBatch* batch);       // it holds now, but for models
// An array by its name, n rows, also "stats.steps"... of djData; names of the others in order, NULL
// after the last.
DJ_API djStatus dj_batchArray(djArray* array, djBatch* batch, const char* name);
DJ_API const char* dj_batchArrayName(int i);

// The model of a world: that of all, as long as it has none of its own. NULL: there is no such world.
DJ_API const djModel* dj_batchModel(const djBatch* batch, int world);
// One of its own, made at the first call, to be changed by dj_setParam, dj_setOption... between
// calls for the batch. A world whose model its batch's memory does not fit (contact on or off, an
// integrator with more stages) fails. world -1: that of all the others.
DJ_API djStatus dj_ownBatchModel(djModel** model, djBatch* batch, int world, djError* err);
// Parameters of every world, each with a model of its own: value (n x the sum of nvalue). err names
// the world; those before it are changed.
DJ_API djStatus dj_setBatchParams(djBatch* batch, int nparam, const djParam* param,
                                  const double* value, djError* err);

// A world to a keyframe, or to qpos0 (key -1): state, inputs, poses and statistics. world -1: all.
DJ_API djStatus dj_resetBatch(djBatch* batch, int world, int key);
// A world to a djData and back: state, inputs and statistics. data is of the world's model, and then
// as after dj_forward; the batch's poses are data's.
DJ_API djStatus dj_getWorld(djData* data, djBatch* batch, int world);
DJ_API djStatus dj_setWorld(djBatch* batch, int world, const djData* data);

// Calls for all worlds. They return the first world's negative status, else the largest.
// Text of a world's last failure, "" where its last call did not fail; world -1: of the batch's last
// call, "world 5: ..." where it was a world's.
DJ_API const char* dj_batchErrorText(const djBatch* batch, int world);

// nstep steps under the worlds' inputs. A world stops at a step that fails, before which it is left.
DJ_API djStatus dj_batchStep(djBatch* batch, int nstep);
// Poses of the present states, without stepping.
DJ_API djStatus dj_batchForward(djBatch* batch);
// horizon steps under ctrl (n x horizon x nu; NULL: that of the worlds). qpos (n x horizon+1 x nq),
// qvel, act likewise, or NULL: the states, from the first on; NaN from where a world fails.
DJ_API djStatus dj_batchRollout(djBatch* batch, int horizon, const double* ctrl, double* qpos,
                                double* qvel, double* act);

// djd_transition of every world: A (n x nx x nx), B (n x nx x nu), either may be NULL; NaN of those
// that fail. Nothing is advanced.
DJ_API djStatus djd_batchTransition(djBatch* batch, double* A, double* B);

// What runs return, a row for each world; any array may be NULL. NaN of worlds that fail.
typedef struct djBatchResult {
  double* loss;                // (n) sum of the terms, units of the loss
  double* term;                // (n x nloss) units of the loss
  double* qpos;                // (n x horizon+1 x nq) the run: m, rad, quaternions
  double* qvel;                // (n x horizon+1 x nv) m/s, rad/s
  double* act;                 // (n x horizon+1 x na) units of the actuators' inputs
  double* grad_qpos0;          // (n x nv) tangent, units of the loss by m, rad
  double* grad_qvel0;          // (n x nv) units of the loss by m/s, rad/s
  double* grad_act0;           // (n x na) units of the loss by those of act
  double* grad_history_qpos0;  // (n x nv) tangent, 0 without one, units of the loss by m, rad
  double* grad_history_qvel0;  // (n x nv) units of the loss by m/s, rad/s
  double* grad_ctrl;           // (n x horizon x nu) units of the loss by those of ctrl
  int nparam;                  // gradients by parameters, of each world's model
  const djParam* param;        // (nparam)
  double* grad_param;          // (n x the sum of their ntangent) units of the loss by theirs
} djBatchResult;

// What gradients of the worlds' runs need. checkpoint 0: a tape for each world, which holds all that
// a backward pass needs. k > 0: the runs alone, and tapes for the threads that hold k steps of one
// (djRollout.checkpoint); the same bits, from steps that are taken twice.
typedef struct djBatchTape djBatchTape;
DJ_API djStatus djd_makeBatchTape(djBatchTape** tape, const djBatch* batch, int horizon,
                                  int checkpoint, djError* err);
DJ_API void djd_deleteBatchTape(djBatchTape* tape);          // NULL is allowed
DJ_API size_t djd_batchTapeBytes(const djBatchTape* tape);   // it holds now

// Runs of the worlds from their states, to whose ends they are advanced, and gradients of the
// recorded runs. Of rollout count horizon, ctrl (n x horizon x nu), loss and refinement_steps; its
// start is that of each world, its checkpoint the tape's, and it has no callback and no watch.
// dstate (n x horizon+1 x nx), dctrl (n x horizon x nu), or NULL: derivatives of a loss that the
// caller has worked out, beside the terms (djd_setCotangents). The inputs and models must be those
// of the forward pass.
DJ_API djStatus djd_batchRolloutForward(djBatchResult* result, djBatch* batch,
                                        const djRollout* rollout, djBatchTape* tape);
DJ_API djStatus djd_batchRolloutBackward(djBatchResult* result, djBatch* batch,
                                         const djRollout* rollout, djBatchTape* tape,
                                         const double* dstate, const double* dctrl);
// Both, world by world: with checkpoints, of up to so many steps, no step is taken twice.
DJ_API djStatus djd_batchGradient(djBatchResult* result, djBatch* batch, const djRollout* rollout,
                                  djBatchTape* tape);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_BATCH_H_
