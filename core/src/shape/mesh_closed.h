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

// The edge of a triangle from a corner to the next, by its vertices.
typedef struct djMeshEdge {
  int low, high; // vertices
  int index;     // 3 triangle + corner
  bool forth;    // from low to high
} djMeshEdge;

// All edges of all triangles, (3 ntri), sorted, so that equal ones stand together: new memory.
// NULL: there is none.
djMeshEdge* dj_sortEdges(int ntri, const int* tri);

// The numbers of triangles and vertices in the mesh that they are a part of: errors name them.
typedef struct djMeshNumbers {
  const int* triangle; // (ntri)
  const int* vertex;   // (nvert)
} djMeshNumbers;

// The box about the triangles: middle and half extents. DJ_INVALID: there are no triangles, or
// vertices that do not exist or are not finite.
djStatus dj_checkVertices(double box[6], int nvert, const double* vert, int ntri, const int* tri,
                          djError* err);

// The same, and DJ_INVALID where triangles have no area, edges are of one triangle or of more than
// two, or have opposite windings, there is no volume, or triangles face inward. own: or NULL.
djStatus dj_checkMesh(double box[6], int nvert, const double* vert, int ntri, const int* tri,
                      const djMeshNumbers* own, djError* err);

// Of a mesh that passes.
djStatus dj_makeMeshNormals(djMeshNormals* normals, int nvert, const double* vert, int ntri,
                            const int* tri);
void dj_freeMeshNormals(djMeshNormals* normals);

// A point is inside, by the nearest on the mesh.
bool dj_isInsideMesh(const djMeshNormals* normals, const int* tri, const djMeshNear* near);

#endif // DJ_SHAPE_MESH_CLOSED_H_
