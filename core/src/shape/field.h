// Signed distance fields of geoms: distance to the surface, negative inside, with its outward
// normal n and the derivatives of both.
//
// Fields of planes, spheres, capsules, ellipsoids, cylinders and boxes are exact: |grad d| = 1, so
// that n = grad d and dn/dx is the symmetric Hessian. That of a mesh is a C2 spline on a grid
// (shape/grid.h), whose gradient is a unit vector up to its error, so that n = grad d/|grad d|.
//
// Inside n jumps at ridges: where two points of the surface are nearest. There, and on edges, one
// side is taken, always the same; all numbers are finite everywhere.

#ifndef DJ_SHAPE_FIELD_H_
#define DJ_SHAPE_FIELD_H_

#include "shape/grid.h"

#include <dijoco/types.h>

// Sets at which the normal jumps.
typedef enum djRidge {
  DJ_RIDGE_NONE = 0,
  DJ_RIDGE_CENTRE,   // of a sphere
  DJ_RIDGE_AXIS,     // of a capsule or cylinder
  DJ_RIDGE_MIDDLE,   // half way between opposite faces, or the focal disc of an ellipsoid
  DJ_RIDGE_BISECTOR, // as near to one face as to another, beside it
  DJ_RIDGE_EDGE,     // of a box or cylinder, seen from outside
  DJ_RIDGE_MEDIAL    // of a mesh: what is left of all these on a grid
} djRidge;

// "centre", "axis"...; "" for none.
const char* dj_ridgeName(djRidge ridge);

// In the geom's own frame, sizes as MuJoCo has them; a plane is z = 0 and has none.
typedef struct djDistanceField {
  int type;           // djGeomType, no height field
  double size[3];     // m
  const djGrid* grid; // of a mesh; else NULL
} djDistanceField;

// A field at a point x.
typedef struct djFieldAt {
  double distance;       // d, m
  double gradient[3];    // dd/dx
  double normal[3];      // n: unit, outward
  double turn[9];        // dn/dx, row-major, 1/m: [3 i + j] = dn_i/dx_j
  djRidge ridge;         // the kind that is nearest
  double ridge_distance; // m: none of it is nearer; INFINITY where there is none
  int piece;             // face, edge...: among points of one piece the field is analytic
} djFieldAt;

// What types there are fields of: all but height fields.
bool dj_hasField(int type);

// Of a mesh without a grid d is INFINITY and all else 0.
void dj_fieldAt(djFieldAt* out, const djDistanceField* field, const double x[3]);

// Derivatives by the sizes at the same point: of d, and of n, normal[3 i + k] = dn_i/dsize_k. Those
// of sizes that the type does not use are 0.
void dj_fieldSizes(double distance[3], double normal[9], const djDistanceField* field,
                   const double x[3], const djFieldAt* at);

// Adds to vert (nvert x 3), of the mesh, the derivative of by_distance d + by_normal . n by its
// vertices, for the nodes of the grid held (dj_moveGrid). Nothing for other types.
void dj_fieldVertices(double* vert, const djDistanceField* field, const double x[3],
                      double by_distance, const double by_normal[3]);

// d is nowhere less than this in the ball of that radius about x. Cheap, to skip what is far.
double dj_fieldBound(const djDistanceField* field, const double x[3], double radius);

#endif // DJ_SHAPE_FIELD_H_
