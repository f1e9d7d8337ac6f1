// The point of a triangle mesh that is nearest to another, by a tree of boxes.

#ifndef DJ_SHAPE_MESH_TREE_H_
#define DJ_SHAPE_MESH_TREE_H_

#include "math/vec.h"

#include <dijoco/types.h>

#define DJ_MESH_LEAF 4 // triangles of a list that is not halved

// Halves of a list of triangles, down to a few: node i has nodes 2 i + 1 and 2 i + 2 below it.
// Vertices and triangles are the caller's.
typedef struct djMeshTree {
  int ntri;
  const double* vert; // (nvert x 3)
  const int* tri;     // (ntri x 3)
  int* order;         // (ntri) the list
  double* box;        // (nodes x 6) least and greatest coordinates
} djMeshTree;

// Where on its triangle a nearest point is: inside, on the edge from corner k to k + 1, or at
// corner k.
typedef enum djMeshPart { DJ_PART_FACE = 0, DJ_PART_EDGE = 1, DJ_PART_CORNER = 4 } djMeshPart;

typedef struct djMeshNear {
  int tri;
  double bary[3]; // barycentric coordinates there
  int part;       // DJ_PART_FACE, DJ_PART_EDGE + k, DJ_PART_CORNER + k
  djVec3 away;    // from it to the point
  double square;  // of its length, m^2
} djMeshNear;

// DJ_NO_MEMORY, or done. ntri > 0.
djStatus dj_makeMeshTree(djMeshTree* tree, const double* vert, int ntri, const int* tri);
void dj_freeMeshTree(djMeshTree* tree);

// guess: a triangle that is near.
void dj_nearestOnMesh(djMeshNear* near, const djMeshTree* tree, djVec3 x, int guess);

#endif // DJ_SHAPE_MESH_TREE_H_
