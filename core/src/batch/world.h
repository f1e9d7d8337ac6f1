// Worlds of a batch, and the memory in which threads step them.

#ifndef DJ_BATCH_WORLD_H_
#define DJ_BATCH_WORLD_H_

#include "integrate/work.h"

#include <dijoco/batch.h>
#include <dijoco/crew.h>

#include <math.h>

// Arrays of a djBatch that have djData's names: X(name, entries of a world of model m).
#define DJ_WORLD_STATE(X)                                                                     \
  X(qpos, m->nq) X(qvel, m->nv) X(act, m->na) X(history, dj_historySize(m))                    \
  X(mocap_last_pos, 3 * m->nmocap) X(mocap_last_quat, 4 * m->nmocap)
#define DJ_WORLD_INPUTS(X)                                                                    \
  X(ctrl, m->nu) X(qfrc_applied, m->nv) X(xfrc_applied, 6 * m->nbody)                          \
  X(mocap_pos, 3 * m->nmocap) X(mocap_quat, 4 * m->nmocap)
#define DJ_WORLD_POSES(X)                                                                     \
  X(xpos, 3 * m->nbody) X(xquat, 4 * m->nbody) X(xmat, 9 * m->nbody) X(xipos, 3 * m->nbody)    \
  X(site_xpos, 3 * m->nsite) X(geom_xpos, 3 * m->ngeom) X(geom_xmat, 9 * m->ngeom)
// And all that have names, by which they are found.
#define DJ_WORLD_ARRAYS(X)                                                                    \
  DJ_WORLD_STATE(X) DJ_WORLD_INPUTS(X) DJ_WORLD_POSES(X)                                       \
  X(time, 1) X(gravity_scale, 1) X(active, 1) X(has_history, 1) X(status, 1)                   \
  X(eq_active, m->nequality)

// A thread's memory of a step.
typedef struct djLane {
  djData* data;
  int world;               // whose contacts its list is of; -1: none's
} djLane;

typedef struct djBatchWork {
  void* buffer;
  size_t nbuffer;
  djCrew* crew;
  djLane* lane;            // (nthread)
  djModel* model;          // of worlds that have none of their own
  djModel** own;           // (n) or NULL
  djError* error;          // (n) of their last calls
  djError call;            // of the batch's
} djBatchWork;

// The model of a world that there is.
static inline djModel* dj_worldModel(const djBatch* b, int i) {
  return b->work->own[i] ? b->work->own[i] : b->work->model;
}

// Rows of a world in an array, NULL of NULL; n numbers that there are none of, NULL: nothing.
static inline double* dj_worldRows(double* array, int world, size_t n) {
  return array ? array + (size_t)world * n : NULL;
}
static inline void dj_noNumbers(double* x, size_t n) {
  for (size_t i = 0; i < n && x; i++) x[i] = NAN;
}

// World i into the lane's data, and back: state, poses and statistics.
djData* dj_enterWorld(djBatch* batch, djLane* lane, int i);
void dj_leaveWorld(djBatch* batch, const djLane* lane, int i);

// What is done with a world; arg is the call's. A failure's text is in the data.
typedef djStatus (*djWorldWork)(void* arg, djBatch* batch, int world, djLane* lane, int nlane);

// Does it for all active worlds; what they ended with.
djStatus dj_doWorlds(djBatch* batch, djWorldWork work, void* arg);

// A bad argument.
djStatus dj_failBatch(djBatch* batch, const char* text);

#endif  // DJ_BATCH_WORLD_H_
