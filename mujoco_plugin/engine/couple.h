// Contact that is ours beside constraints that are MuJoCo's.

#ifndef DJ_MUJOCO_ENGINE_COUPLE_H_
#define DJ_MUJOCO_ENGINE_COUPLE_H_

#include <dijoco/types.h>

#include <mujoco/mujoco.h>

// The search for constraint forces r with which MuJoCo's solver answers our step when r is applied
// in it. Start with djm_startCouple, then alternate our step, with r applied, and djm_nextCouple.
typedef struct djmCouple {
  int nv;
  mjtNum* r;                  // (nv) the guess
  // private
  int count, total;           // guesses remembered, guesses so far
  int since;                  // guesses since the best one
  double best;                // least square of the error
  mjtNum *best_r, *best_g;    // (nv) its guess and its answer
  mjtNum* memory;
} djmCouple;

size_t djm_coupleWork(const mjModel* m);
void djm_startCouple(djmCouple* couple, const mjModel* m, mjtNum* work);

// Keep MuJoCo's solver from limits and friction loss of joints and of tendons that our step has,
// and, where it has them, from equality constraints, in the step under way.
void djm_dropOurRows(const mjModel* m, mjData* d, bool equalities);

// Whether constraints of MuJoCo's are left. Limits of joints that are left are in our step too, but
// where MuJoCo's are stiffer it adds forces that contact has to know.
bool djm_hasConstraints(const mjModel* m, const mjData* d);

// d->qfrc_passive holds what djm_impose gave after our step with r applied. r is taken out of it:
// MuJoCo's solver will add it. True: r has changed, and our step is to be taken again; false: the
// answer differs from r by far less than `tolerance` times answer and weight, or the search ends.
// Outputs of the forward pass stay or are computed anew after the callback. Calls mjcb_control.
bool djm_nextCouple(djmCouple* couple, const mjModel* m, mjData* d, double tolerance);

#endif  // DJ_MUJOCO_ENGINE_COUPLE_H_
