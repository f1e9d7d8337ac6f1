// Closed triangle meshes: what they must be to bound a solid, and their normals.

#ifndef DJ_SHAPE_MESH_CLOSED_H_
#define DJ_SHAPE_MESH_CLOSED_H_

#include "shape/mesh_tree.h"

#include <stdbool.h>

// Normals of a mesh whose every edge two triangles share; on edges and at corners they tell inside
// from outside (Baerentzen and Aanaes 2005).
typedef struct djMeshNormals {
  double* face;   // (ntri x 3) unit
  double* edge;   // (ntri x 3 x 3) of edge k of a triangle: sum of those of its two faces
  double* corner; // (nvert x 3) sum of those of the faces, times their angles
} djMeshNormals;

// The box about the triangles: middle and half extents. DJ_INVALID, with what is wrong: no
// triangles, vertices that do not exist or are not finite, triangles without area, edges of one
// triangle or of more than two, opposite windings, no volume, or triangles that face inward.
djStatus dj_checkMesh(double box[6], int nvert, const double* vert, int ntri, const int* tri,
                      djError* err);

// Of a mesh that passes.
djStatus dj_makeMeshNormals(djMeshNormals* normals, int nvert, const double* vert, int ntri,
                            const int* tri);
void dj_freeMeshNormals(djMeshNormals* normals);

// A point is inside, by the nearest on the mesh.
bool dj_isInsideMesh(const djMeshNormals* normals, const int* tri, const djMeshNear* near);

#endif // DJ_SHAPE_MESH_CLOSED_H_
