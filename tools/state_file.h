// States as files: {"qpos","qvel","act","history":{"qpos","qvel"}|null}, from which a run goes on to
// the last bit.

#ifndef DJ_TOOLS_STATE_FILE_H_
#define DJ_TOOLS_STATE_FILE_H_

#include "engine.h"

// The start of --state into inputs that hold the scene's. Returns 0, or EXIT_BAD_INPUT after its
// line on stderr.
int state_read(Inputs* in, const Options* o);

// The engine's present state.
void state_write(djFile* file, const Engine* e);

#endif  // DJ_TOOLS_STATE_FILE_H_
