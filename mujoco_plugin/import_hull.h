// Concave meshes beside their hulls.

#ifndef DJ_MUJOCO_IMPORT_HULL_H_
#define DJ_MUJOCO_IMPORT_HULL_H_

#include "import.h"

typedef struct djmConcave {
  double ratio;    // the hull's volume over the mesh's; NAN: the mesh is open
  double dent;     // depth of the deepest dent, as far as is looked, m
  int pieces;      // that have no vertices in common
} djmConcave;

// 1, 0 and 1 of a mesh whose hull MuJoCo has not made.
djmConcave djm_concave(const mjModel* m, int mesh);

// Whether the hull is another shape than the mesh, which has this size.
bool djm_isConcave(const djmConcave* concave, double size);

#endif  // DJ_MUJOCO_IMPORT_HULL_H_
