// Tunnels through a union of convex polyhedra, by its nerve.
//
// The nerve of sets has a corner for each, an edge for two that meet, a triangle for three that
// have a point in common. Of convex sets it has as many independent loops as their union has
// tunnels.

#ifndef DJ_SCENE_NERVE_H_
#define DJ_SCENE_NERVE_H_

#include "base/pool.h"
#include "math/vec.h"

#include <dijoco/types.h>

typedef struct djNervePart {
  int nplane;
  const double* plane; // (nplane x 4) outward unit normals and offsets
  djVec3 low, high;    // its box
} djNervePart;

// *loops of n parts whose planes and boxes are moved outward by `grow`; DJ_NO_MEMORY.
djStatus dj_nerveLoops(int* loops, djPool* pool, int n, const djNervePart* part, double grow);

#endif // DJ_SCENE_NERVE_H_
