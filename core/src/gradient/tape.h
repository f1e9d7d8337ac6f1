// A tape's memory: what forward passes record, and backward passes read.

#ifndef DJ_GRADIENT_TAPE_H_
#define DJ_GRADIENT_TAPE_H_

#include "inertia/geom_moments.h"
#include "integrate/parts.h"

#include <dijoco/gradient.h>

// Part of the pool of linearisations. It grows by half with the runs that are recorded, and is used
// again by later ones.
typedef struct djPoolChunk {
  struct djPoolChunk* next;
  size_t size, used;   // doubles
  size_t kept;         // of these: not dropped with the linearisations
  double data[];
} djPoolChunk;

// What is recorded of a part of a step that was taken in parts.
typedef struct djTapePart {
  djLinear linear;
  djPart at;           // its start and history alone
} djTapePart;

struct djTape {
  void* buffer;
  size_t nbuffer;
  int horizon;         // capacity
  int steps;           // recorded, 0 when not
  int states;          // steps whose states are recorded: also of runs without linearisation
  bool given;          // dstate and dctrl hold derivatives of a loss
  djSizes sizes;       // of the model
  double* qpos;        // (horizon + 1 x nq)
  double* qvel;        // (horizon + 1 x nv)
  double* act;         // (horizon + 1 x na)
  double* history;     // (horizon + 1 x dj_historySize)
  bool* kept;          // (horizon + 1) whether there is one
  double* mocap;       // (nmocap x 14) poses of the run, then those at which its first step began
  djLinear* step;      // (horizon) linearisations, which follow each other in the pool
  int from, to;        // steps whose linearisations it holds: from ... to - 1
  int* nparts;         // (horizon) parts in which the step was taken
  djTapePart** parts;  // (horizon) of steps with more than one, in the pool
  djPoolChunk *first, *last;   // of the pool, and that in use
  size_t npool;        // bytes of all
  double* lambda;      // (2 x nx) adjoint, and the next
  double* scratch;     // (dj_linearScratch)
  double* dstate;      // (horizon + 1 x nx) of a callback loss
  double* dctrl;       // (horizon x nu)
  const djQuadratic* moment;   // (nbody) of djParamSums after a backward pass of the loss, or NULL
  long double sum;     // loss of the last run, as it was summed
  void* loss;          // dj_lossWorkSize
  double* loss_scratch;  // (nbody x 12)
  int nreference;      // terms that the following have room for
  double* reference;   // (nreference x 3) of djLossRun, in the pool
  double* pull;        // (nreference x 3)
  double* end;         // (horizon x nq) of steps along another run, in the pool; NULL: the next start
  size_t nsums;
  void* sums;          // (nsums bytes) dj_paramSumsSize
};

// A new run: what the pool holds is dropped. n doubles of it, or NULL.
void dj_emptyTape(djTape* tape);
double* dj_takeTape(djTape* tape, size_t n);

// What the pool holds now stays with the run; and all that was taken since is dropped.
void dj_keepTape(djTape* tape);
void dj_rewindTape(djTape* tape);

// A recorded run without what backward passes take from the pool: views of a tape's arrays.
typedef struct djTapeRun {
  double *qpos, *qvel, *act, *history;   // (horizon + 1 x ...) as the tape has them
  bool* kept;                            // likewise
  double* mocap;                         // (nmocap x 14)
} djTapeRun;

// The states of the tape's run, to there; and from there, of a run of the model over `horizon` steps,
// for backward passes with checkpoints.
void dj_saveTape(const djTapeRun* to, const djModel* model, const djTape* tape);
void dj_loadTape(djTape* tape, const djModel* model, const djTapeRun* from, int horizon);

// Where step k ended (nq).
const double* dj_tapeEnd(const djTape* tape, const djModel* model, int k);

// data's state, and its controls, at the start of step k; k = horizon: at the end of the run.
void dj_restoreTape(djData* data, const djModel* model, const djRollout* rollout,
                    const djTape* tape, int k);

#endif  // DJ_GRADIENT_TAPE_H_
