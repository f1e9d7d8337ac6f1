// Signed distance of a closed triangle mesh on a grid, concave ones too.
//
// At each node X of a lattice of spacings h about the mesh the exact distance f to its nearest
// point y is found, of a sign by the pseudonormal there (sum of the normals of the faces at y,
// weighted by their angles). The field is the tensor product of cubic B-splines
//
//   d(x) = sum_i c_i b((x_1 - X_i1)/h_1) b((x_2 - X_i2)/h_2) b((x_3 - X_i3)/h_3),      (1)
//   c = Q f,  Q = tensor product of (-1/6, 8/6, -1/6) along each axis,                 (2)
//
// which is C2 and has every cubic exactly, so also flat faces; edges are rounded over about h.
// Beyond a box about the mesh, whose next point is y', it is, C2 too, what (|x - y'|^2 +
// d(y')^2)^1/2 is: less than the distance, by less than d(y').
//
// f = s |X - y|, y = sum_k l_k v_k with the barycentric coordinates l of y in its triangle, so
// that df/dv_k = -l_k n with n the unit vector along s (X - y): the field's derivative by vertices.

#ifndef DJ_SHAPE_GRID_H_
#define DJ_SHAPE_GRID_H_

#include "math/vec.h"

#include <dijoco/types.h>

#include <stdbool.h>

// Spacings: the mesh's largest extent over DJ_GRID_CELLS, along an axis of small extent that over
// DJ_GRID_LEAST; all of them larger by one factor where more than DJ_GRID_NODES nodes (28 bytes
// each) were needed: up to DJ_GRID_MORE as many where it reaches beyond the mesh.
#define DJ_GRID_CELLS 64
#define DJ_GRID_LEAST 8
#define DJ_GRID_NODES 131072
#define DJ_GRID_MORE 4

typedef struct djLattice {
  int n[3];      // nodes along x, y, z; z runs fastest
  double low[3]; // m: the first node
  double h[3];   // m: spacings
  double box[6]; // m: middle and half extents of the box beyond which (1) is left
} djLattice;

// Arrays live in one block, dj_freeGrid releases it.
typedef struct djGrid {
  int n[3]; // of its lattice
  double low[3];
  double h[3];
  double box[6];
  double reach;     // m: so far beyond the mesh's box d is (1), too
  djLattice home;   // that of the mesh as it was made
  double lipschitz; // 1: |grad d| is nowhere greater
  double error;     // m: greatest error found at points on and near the surface
  double rms;       // m: root of the mean square there
  double* coef;     // (nodes) c, m
  double* bary;     // (nodes x 2) l_1, l_2
  int* near;        // (nodes) triangle of y, ~triangle where f < 0
  int nvert, ntri;
  double* vert;   // (nvert x 3) m
  int* tri;       // (ntri x 3) outward
  double* normal; // (ntri x 3) unit
  void* buffer;   // all arrays; NULL: there is no grid
} djGrid;

// The grid of (nvert x 3) points and (ntri x 3) outward triangles. DJ_INVALID, naming the first
// triangle or edge, where they do not bound a solid: no triangles, bad or non-finite vertices,
// triangles without area, edges of one or of more than two triangles, opposite windings, inward
// ones, surfaces that cross or hold one another. watch: told, may end it (or NULL).
djStatus dj_makeGrid(djGrid* grid, int nvert, const double* vert, int ntri, const int* tri,
                     const djWatch* watch, djError* err);
// The same with a reach: the radius of the largest ball whose middle's distance is asked for.
djStatus dj_makeGridReaching(djGrid* grid, int nvert, const double* vert, int ntri, const int* tri,
                             double reach, const djWatch* watch, djError* err);

// The grid of points that have moved, on the lattice of the mesh as it was made, so that it changes
// smoothly. Where the mesh comes within a cell of that lattice's box, or has less than half of an
// extent, the lattice is that of a box about it whose faces are in steps of a sixteenth of the
// largest extent: where a face goes to the next step the field jumps, by no more than its error.
// All that by points and reach alone, not by how they came there. DJ_INVALID as above. grid may not
// be old.
djStatus dj_moveGrid(djGrid* grid, const djGrid* old, const double* vert, double reach,
                     djError* err);

djStatus dj_copyGrid(djGrid* copy, const djGrid* grid);
void dj_freeGrid(djGrid* grid);
size_t dj_gridBytes(const djGrid* grid);   // of its arrays

// Value, gradient and Hessian (00 01 02 11 12 22), NULL: not asked for.
double dj_gridAt(double gradient[3], double hessian[6], const djGrid* grid, const double x[3]);

// Adds to vert (nvert x 3) the derivative of by_value d + by_gradient . grad d by vertices.
void dj_gridVertices(double* vert, const djGrid* grid, const double x[3], double by_value,
                     const double by_gradient[3]);

// d is nowhere less in the ball.
double dj_gridBound(const djGrid* grid, const double x[3], double radius);

#endif // DJ_SHAPE_GRID_H_
