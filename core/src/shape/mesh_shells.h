// Meshes of several shells: which lies inside of which.

#ifndef DJ_SHAPE_MESH_SHELLS_H_
#define DJ_SHAPE_MESH_SHELLS_H_

#include "math/vec.h"

#include <dijoco/types.h>

// The root of i in a forest of parents; paths to it become shorter.
static inline int dj_shellRoot(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

// A triangle of the first shell that contradicts the others, of a closed mesh that does not cross
// itself; -1: there is none. Shells outside of all others, and in their cavities, face outward;
// those inside of what the others bound face inward. DJ_NO_MEMORY.
djStatus dj_findWrongShell(int* triangle, int nvert, const double* vert, int ntri, const int* tri);

#endif // DJ_SHAPE_MESH_SHELLS_H_
