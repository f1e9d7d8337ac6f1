// Contact shapes: what a contact kernel sees of a geom.
//
// A shape is the convex hull of vertices, all with one radius (sphere: 1 vertex, capsule 2, box
// 8, mesh: its hull's), or a half space (plane). A curved shape (ellipsoid: 1 vertex, cylinder 2)
// has an ellipsoid at each vertex besides, so that with G = curve, whose columns are the semi-axes,
// its support function is
//
//   h(n) = max_i v_i . n + radius |n| + |G^T n|.
//
// Coordinates are those of the *body* that carries it, so that a kernel needs the body's pose only.
// Vertices are stored as three arrays, padded to a multiple of DJ_LANES by repetition of the first,
// for vector loops; padding must not be counted twice in sums (kernels loop over nvert or mask).
//
// Two erosions act on a shape. `skin` is already applied here. A further erosion e >= 0 (recovery,
// see contact/plane/recovery.h) moves vertex i by -e m_i, radius by e * radius_slope, semi-axis k
// by -e times column k of curve_move, and lowers a plane by e.

#ifndef DJ_SHAPE_SHAPE_H_
#define DJ_SHAPE_SHAPE_H_

#include "math/vec.h"

#include <dijoco/types.h>

#include <stdbool.h>

#define DJ_LANES 8

static inline int dj_paddedCount(int n) { return (n + DJ_LANES - 1) / DJ_LANES * DJ_LANES; }

typedef struct djShape {
  int type;               // djGeomType, or DJ_MESH for any vertex shape
  int nvert;              // 0 for a plane
  int npad;               // nvert rounded up to a multiple of DJ_LANES
  const double* vert[3];  // (npad) each: x, y, z of the eroded vertices, body frame, metres
  const double* move[3];  // (npad) each: m, the shortest vector with n_f . m >= 1 for all facets f
                          //   at the vertex; zero for sphere and capsule
  double radius;          // of the eroded shape, margin - gap of the geom included, metres
  double radius_slope;    // d radius / d erosion: -1 for sphere and capsule, else 0
  bool curved;
  djMat3 curve;           // columns: semi-axes of the eroded shape, body frame
  djMat3 curve_move;      // columns: erosion moves them by -e times these
  double spread;          // friction of a disc: see plane_lag.c; 0: at one point
  double inner;           // radius of the largest ball about `center` inside the true geom
  double skin;            // erosion already applied
  djVec3 center;          // body frame; of the true geom
  double bound;           // radius of a ball about `center` that holds the eroded shape
  djVec3 normal;          // plane: outward unit normal, body frame
  double offset;          // plane: lowered surface is normal . x = offset
  const double* weight;   // (nvert) parts of the surface, held; NULL: equal ones
  const int* list;        // for supports: shape/support.h; NULL: none
  djMat3 list_axes;       // columns: their axes, body frame
  double list_reach;      // they hold for an erosion of so much in all, skin included, metres
  double sharp, length;   // of an implicit surface, held: sharpness, and L of a mesh's facets, m
  const double* fit;      // what a kernel has made besides: that surface
                          //   (contact/implicit/implicit_fit.h), points and a field
                          //   (contact/penalty/penalty_shape.h); NULL: nothing
  int nnumber;            // djShapeGrad.number
  const struct djGrid* grid;   // a mesh's distance field, as its model has it; NULL: none
  const double* own;      // all arrays of the kernel that made the shape; they hold no pointers
} djShape;

// Derivative of a number by what a shape consists of, field by field as in djShape; vectors in the
// body frame. Shapes of a model do not change from step to step, so that a run's steps add up here
// and the way from sizes and vertices of geoms to shapes is taken back once.
typedef struct djShapeGrad {
  double* vert[3];        // (npad) each; padding stays 0
  double* move[3];        // (npad) each
  djMat3 curve, curve_move;   // curved shapes; as a part of erosion by the skin, curve has it
  double radius, radius_slope, inner, bound;
  double skin;            // as a number that is read (recovery's caps); vert, radius and offset
                          //   already have their own part
  djVec3 center;
  djVec3 normal;
  double offset;
  double sharp;           // of an implicit surface
  double* number;         // (nnumber) numbers of one that is given (without the sharpness), or what
                          //   penalty has; or NULL
  djVec3 origin, turn;    // origin of the frame of a surface or field, and turning of its axes
} djShapeGrad;

#endif  // DJ_SHAPE_SHAPE_H_
