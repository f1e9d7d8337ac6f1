// Trajectories as CSV: the numbers of the state, with their names (dj_stateName).

#ifndef DJ_TOOLS_STATES_H_
#define DJ_TOOLS_STATES_H_

#include "engine.h"

#include <dijoco/file.h>

void states_header(djFile* file, const Engine* e);
void states_row(djFile* file, Engine* e);

// And what a step took, by our engine: the fields "stats.*" of its data.
void stats_header(djFile* file);
void stats_row(djFile* file, const Engine* e);

// Whether step k of n is written: the start and every `every`-th.
bool states_due(const Options* o, long k);

#endif  // DJ_TOOLS_STATES_H_
