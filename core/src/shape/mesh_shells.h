// Meshes of several shells: which lies inside of which.

#ifndef DJ_SHAPE_MESH_SHELLS_H_
#define DJ_SHAPE_MESH_SHELLS_H_

#include "math/vec.h"

#include <dijoco/types.h>

// A triangle of the first shell that contradicts the others, of a closed mesh that does not cross
// itself; -1: there is none. Shells outside of all others, and in their cavities, face outward;
// those inside of what the others bound face inward. DJ_NO_MEMORY.
djStatus dj_findWrongShell(int* triangle, int nvert, const double* vert, int ntri, const int* tri);

#endif // DJ_SHAPE_MESH_SHELLS_H_
