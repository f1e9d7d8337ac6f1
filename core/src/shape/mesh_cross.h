// Triangles of a mesh that touch or cross.

#ifndef DJ_SHAPE_MESH_CROSS_H_
#define DJ_SHAPE_MESH_CROSS_H_

#include "shape/mesh_tree.h"

#include <stdbool.h>
#include <stdint.h>

// Coordinates on a grid of 2^-40 of the mesh's extent, on which what follows is exact.
typedef struct djGridPoint {
  int64_t x[3];
} djGridPoint;

// Triangles a and b (three points each, none of no area) have a point in common that is not one of
// their `shared` common corners, which come first and in the same order.
bool dj_trianglesMeet(const djGridPoint a[3], const djGridPoint b[3], int shared);

// The first pair of triangles that meet elsewhere than in the vertices they share, of (nvert x 3)
// vertices; box: of the mesh, middle and half extents. *found: there is one. DJ_NO_MEMORY.
djStatus dj_findCrossing(int pair[2], bool* found, const djMeshTree* tree, int nvert,
                         const double box[6]);

#endif // DJ_SHAPE_MESH_CROSS_H_
