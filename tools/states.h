// Trajectories as CSV: time, qpos, qvel, act.

#ifndef DJ_TOOLS_STATES_H_
#define DJ_TOOLS_STATES_H_

#include "engine.h"

#include <dijoco/file.h>

void states_header(djFile* file, const djModel* model);
void states_row(djFile* file, const Engine* e);

// Whether step k of n is written: the start and every `every`-th.
bool states_due(const Options* o, long k);

// Progress on a terminal's stderr, a few times per second; done == steps ends the line.
void states_progress(long done, long steps);

#endif  // DJ_TOOLS_STATES_H_
