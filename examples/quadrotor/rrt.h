// A first path: a rapidly exploring random tree.

#ifndef QUADROTOR_RRT_H_
#define QUADROTOR_RRT_H_

#include "scene.h"

#include <stdint.h>

// path (knots x 3): free of collisions from start to goal; its corners are those of the tree's
// branch, the other knots lie between them. False: none found.
bool firstPath(double* path, Scene* scene, uint64_t seed);

#endif // QUADROTOR_RRT_H_
