// Random kinematic trees as MJCF text: all joint types, several per body. No geom collides.

#ifndef DJ_VALIDATION_RANDOM_TREE_H_
#define DJ_VALIDATION_RANDOM_TREE_H_

#include "common/scene.h"

enum {
  TREE_SPRINGS = 1,     // springs and damping with their polynomials, armature
  TREE_ACTUATORS = 2,   // gain and bias of all kinds, activations
  TREE_GRAVCOMP = 4,
  TREE_FLUID = 8        // density, viscosity, wind
};

// malloc'ed text. Nothing in it has a kink: no limits, no clamps.
char* tree_random(djvRandom* random, int nbody, int features);

#endif  // DJ_VALIDATION_RANDOM_TREE_H_
