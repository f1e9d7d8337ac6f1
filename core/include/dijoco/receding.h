// Receding horizon: the controls of a task are optimised over windows of a few steps that move on
// through it. Frame after frame a window starts from the present state, with the controls of the
// last one moved on (the last row is repeated); its loss is minimised by a fresh optimizer, and the
// first controls of the best iterate are executed. Of several candidates, its own plan and seeded
// changes of it, a window begins with the one that has the least loss with the guide in the run.
//
//   djOptimizer how = *dj_taskOptimizer(task);
//   how.receding = (djReceding){.horizon = 48, .apply = 1};
//   djRecedingRun* run;
//   djd_makeReceding(&run, design, &how, &err);
//   djd_receding(run, NULL, &err);
//   ... run->ctrl, run->qpos, run->loss ...
//   djd_deleteReceding(run);

#ifndef DIJOCO_RECEDING_H_
#define DIJOCO_RECEDING_H_

#include <dijoco/design.h>

#ifdef __cplusplus
extern "C" {
#endif

// One window.
typedef struct djRecedingFrame {
  int frame;                // step of the task at which it starts
  int iterations;           // done
  djStop stop;              // why they ended
  double first_loss;        // of the window as it began, units of the loss
  double loss;              // at its best iterate, units of the loss
  int candidate;            // that it began with; 0: its own plan
} djRecedingFrame;

// Called after each iteration at the window of a frame, 0 being its start. False: stop there;
// nothing of that window is executed.
typedef bool (*djRecedingStep)(void* user, int frame, const djOptimizeStep* step);

// Called after the first controls of a window were executed. False: stop there.
typedef bool (*djRecedingNext)(void* user, const djRecedingFrame* frame);

// Who is told as it goes on.
typedef struct djRecedingCallback {
  djRecedingStep iteration; // or NULL
  djRecedingNext frame;     // or NULL
  void* user;               // handed to both
} djRecedingCallback;

// A run and its results, to be read only. What is executed are the steps 0..next-1; after them x
// and ctrl go on with the window that starts at next, its last row repeated to the end.
typedef struct djRecedingRun {
  djDesign* design;         // of the task, which is left at x
  djDesign* window;         // of the windows
  int horizon;              // steps of the task
  int next;                 // first step that is not executed; horizon: all are
  double* x;                // (design->n) units of what varies
  double* ctrl;             // (horizon x nu) units of the actuators' inputs
  double* qpos;             // (horizon+1 x nq) m, rad, quaternions; up to row next
  double* qvel;             // (horizon+1 x nv) m/s, rad/s; likewise
  double* act;              // (horizon+1 x na) units of the actuators' inputs; likewise
  int nframe;               // windows of which something was executed
  djRecedingFrame* frame;   // (nframe)
  double* start;            // (window->n) units of x; what the window at next starts with: given as
                            //   djReceding.window, a run goes on from frame next with the same bits
  double first_loss;        // of the task at its own values, units of the loss
  double loss;              // at x, over the task's own horizon, units of the loss
  int iterations;           // of all windows
  int evaluations, refused; // likewise, as in djOptimizeResult
  int unconverged_steps;    // of those executed: their best iterate was kept
  void* memory;             // private
} djRecedingRun;

// Windows as optimizer->receding says, for the design of a task, which must outlive the run.
// Refused, with the name of what it is: variables other than controls, and free vectors that maps
// do not take to the controls in rows for as many steps as divide `apply`; maps from variables to
// parameters; entries or bounds of controls that are not the same for every step; losses at one
// step; phases.
DJ_API djStatus djd_makeReceding(djRecedingRun** run, djDesign* design,
                                 const djOptimizer* optimizer, djError* err);
DJ_API void djd_deleteReceding(djRecedingRun* run);   // NULL is allowed

// All frames from optimizer->receding.frame on; the steps before are executed with the task's own
// controls. A later call starts anew. DJ_NOT_CONVERGED: done, but unconverged_steps are not 0.
// Negative: a step or a window has no loss; what was executed is there.
DJ_API djStatus djd_receding(djRecedingRun* run, const djRecedingCallback* callback, djError* err);

// Fields by name, for other languages (see array.h): next, horizon, nframe, iterations,
// evaluations, refused, unconverged_steps, first_loss, loss; x, ctrl (horizon x nu), qpos, qvel,
// act (next+1 rows), start; of frames, a row each: frame.frame, .iterations, .stop, .first_loss,
// .loss, .candidate. DJ_INVALID: no such field, or no row.
DJ_API djStatus djd_recedingArray(djArray* array, const djRecedingRun* run, const char* name);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_RECEDING_H_
