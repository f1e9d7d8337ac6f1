// Geom types: one row each, with all that contact, queries, inertia and files ask of a type. Sizes
// are MuJoCo's; places are in the geom's frame.
//
// The contact shape of a convex type is the hull of vertices, rounded by a radius or by ellipsoids
// (shape/shape.h, shape/curve.h); a mesh has its hull's (shape/hull.h). All other convex types are
// symmetric about the three planes of their frame, so that the largest ball inside and the centre
// of mass are at the origin.

#ifndef DJ_MODEL_GEOM_ROW_H_
#define DJ_MODEL_GEOM_ROW_H_

#include "math/vec.h"

#include <dijoco/setting.h>
#include <dijoco/types.h>

// Volume and integrals of x^2, y^2, z^2, with derivatives by sizes: [0] value, [1 + k] by size k.
typedef struct djSolid {
  double volume[4];
  double square[3][4];
} djSolid;

// The ellipsoids of a curved type, equal at all its vertices.
typedef struct djGeomCurve {
  void (*axes)(double axes[3], const double size[3]);   // semi-axes along x, y, z
  // Adds the derivative by sizes of a number, from that by semi-axes.
  void (*axesParams)(double by[3], const double by_axes[3], const double size[3]);
  bool erodes[3];            // which semi-axes follow erosion
  // Where they stand for flat discs, whose edges they miss: the semi-axis along z; else NULL.
  double (*disc)(const double size[3]);
  double spread;             // of a disc, see djShape
} djGeomCurve;

typedef struct djGeomRow {
  int nsize;                 // entries of `size` that it uses; they are positive
  bool convex;               // it has a contact shape that is a convex hull, and a volume
  // Of convex types that are no mesh:
  int nvert;                 // vertices of the contact shape
  int facet;                 // most vertices of one facet; 0: up to all
  bool round;                // size[0] is the radius of the vertices
  // Vertex i and its erosion vector (djShape.move), which does not depend on sizes; and what the
  // derivative by the vertex adds to that by sizes. Or NULL: one vertex at the origin.
  void (*vertex)(djVec3* vertex, djVec3* move, const double size[3], int i);
  void (*vertexParams)(double by[3], djVec3 by_vertex, const double size[3], int i);
  const djGeomCurve* curve;  // or NULL: it is not curved
  // Radius of the largest ball inside, and its derivative by sizes.
  double (*inner)(double by[3], const double size[3]);
  double (*area)(const double size[3]);   // of the surface; of ellipsoids to 1.1%
  void (*solid)(djSolid* solid, const double size[3]);
} djGeomRow;

// NULL: no type.
const djGeomRow* dj_geomRow(int type);

// Ground has no inside that ends: planes and height fields, which do not meet each other.
static inline bool dj_isGround(int type) { return type == DJ_PLANE || type == DJ_HFIELD; }

// Names of the types.
extern const djChoice dj_geomNames[];

// Vertex i of a type that is no mesh, and its erosion vector.
static inline void dj_geomVertex(djVec3* vertex, djVec3* move, const djGeomRow* row,
                                 const double size[3], int i) {
  *vertex = *move = dju_vec3(0, 0, 0);
  if (row->vertex) row->vertex(vertex, move, size, i);
}

// Semi-thickness of the discs of a type, 0: it has none.
static inline double dj_geomDisc(const djGeomRow* row, const double size[3]) {
  return row->curve && row->curve->disc ? row->curve->disc(size) : 0;
}

#endif  // DJ_MODEL_GEOM_ROW_H_
