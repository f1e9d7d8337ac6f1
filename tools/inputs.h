// Where a run starts and what drives it: the same for both engines.

#ifndef DJ_TOOLS_INPUTS_H_
#define DJ_TOOLS_INPUTS_H_

#include "scene.h"

typedef struct Inputs {
  long steps;
  double timestep;
  double gravity_ramp;     // seconds
  int key;                 // keyframe of the start, or -1
  double time;             // of the start
  double* qpos;            // (nq)
  double* qvel;            // (nv)
  double* act;             // (na)
  double* history_qpos;    // (nq), (nv) of the start, one timestep before; NULL: it has no history
  double* history_qvel;
  double* ctrl0;           // (nu) of the keyframe, or 0
  int nrow;                // rows of ctrl; 0: none
  double* ctrl;            // (nrow x nu)
  long seed;               // of random controls, or -1
  const djModel* model;
} Inputs;

// From --time, --keyframe, --qpos, --qvel, --ctrl, --ctrl-seed. Returns 0, or EXIT_BAD_INPUT after
// its line on stderr.
int inputs_read(Inputs* in, const Options* o, const Scene* scene, double timestep);
void inputs_free(Inputs* in);

// Index of the keyframe that --keyframe names, -1 where it is not given.
int inputs_keyframe(int* key, const Options* o, const Scene* scene);

// Controls during step k = 0, 1, ...
void inputs_ctrl(double* ctrl, const Inputs* in, long k);

// Factor on gravity during step k.
double inputs_gravity(const Inputs* in, long k);

#endif  // DJ_TOOLS_INPUTS_H_
