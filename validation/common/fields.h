// Certificates of a rollout's gradient by kinds of parameters: masses, frames, sizes...

#ifndef DJ_VALIDATION_FIELDS_H_
#define DJ_VALIDATION_FIELDS_H_

#include "common/report.h"
#include "common/scene.h"

#include <dijoco/check.h>
#include <dijoco/dijoco.h>

enum { DJV_NFIELD = 40 };

// "body/mass", ...
const char* djv_fieldName(int field);

// A run with a loss that sees positions, rotations and velocities of the last body, the centre of
// mass of all, the last geom and the last site.
typedef struct djvRun {
  djModel* model;
  djData* data;
  djTape* tape;
  djRollout rollout;
  djRolloutResult result;
  double *qpos, *qvel, *act, *ctrl;   // of the rollout
  djLossTerm loss[6];
} djvRun;

// The run takes the model; its start is data's present state, controls are held.
void djv_openRun(djvRun* run, djModel* model, const djData* from, int horizon);
void djv_closeRun(djvRun* run);

// Steps of the run with contact, with friction, with recovery.
typedef struct djvActivity {
  int contact, friction, recovering, unconverged;
} djvActivity;
djvActivity djv_activity(djvRun* run);

typedef struct djvCell {
  bool present;             // the model has such parameters
  djdCertificate worst;     // of those that were taken
  int taken, failed;
  int redrawn;              // directions that failed, and others were taken for them
  int noisy;                // errors that the loss's own noise explains
} djvCell;

// Along directions that move all elements' parameters of a kind, and, `single` times, those of one
// element. False when the rollout itself fails.
bool djv_certifyFields(djvCell cell[DJV_NFIELD], djvRun* run, djvRandom* random, int single);

// djv_certifyFields as one line of a report, with a line for each kind that fails. At least so many
// steps must have friction.
void djv_testRun(djvReport* r, djvCell cell[DJV_NFIELD], const char* name, djvRun* run,
                 djvRandom* random, int single, int least);

// Rows kinds, columns scenes: relative error and slope of the worst certificate;
// ! failed, ~ not resolved.
void djv_printCells(int nscene, const char* const* scene, djvCell (*cell)[DJV_NFIELD]);

#endif  // DJ_VALIDATION_FIELDS_H_
