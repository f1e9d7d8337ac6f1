// Certificates of random blocks of variables, of right gradients and of wrong ones.
//
// A right gradient is the library's own adjoint. The wrong one is made here from public calls: the
// recorded run is taken backwards in runs of one step each, and the cotangent is scaled by 1 + 1e-6
// on its way from step to step. A block's reach is the number of steps that its derivative goes
// back in the mean, as the wrong gradient's relative error / 1e-6 tells.

#ifndef DJ_VALIDATION_BLOCKS_H_
#define DJ_VALIDATION_BLOCKS_H_

#include "common/report.h"
#include "common/scene.h"

typedef struct djvTally {
  long blocks;
  long alarms;      // right gradients that do not pass
  long zeros;       // blocks without influence, which pass: 0 against 0
  long coarse;      // differences that are uncertain by more than 1e-6 of the derivative
  long below;       // wrong gradients whose error is below 1e-6 of 1e-9 |loss|, which nobody judges
  long far, oks;    // wrong gradients that reach at least ten steps back, and pass
  long near, missed;   // those that reach two to ten steps back, and pass
  long no_slope;    // losses too linear to have one
  double worst;     // relative error of right gradients that pass
  double mismatch;  // gradients of runs of one step, not scaled, against the adjoint
} djvTally;

// Random task of 10 to 40 steps from data's state, and certificates of up to n of its variables.
void djv_certifyBlocks(djvTally* tally, const char* name, const djModel* model, const djData* start,
                       djvRandom* random, int n);

// Adds blocks of a random scene of a kind to the tally.
typedef void (*djvBlockScene)(djvTally* tally, int kind, djvRandom* random);

enum { DJV_MAX_KINDS = 16 };

// The whole program: scenes of all kinds in turn until there are enough blocks (`quick_blocks` with
// --quick, else `full_blocks`, or --blocks; --seed), a table by kind, and the verdict: no false
// alarm, no false ok, as many blocks as wanted. Returns the exit status.
int djv_judgeBlocks(int argc, char** argv, const char* const* names, int nkind, long quick_blocks,
                    long full_blocks, djvBlockScene scene);

#endif  // DJ_VALIDATION_BLOCKS_H_
