// Distances of convex shapes, independent of the library's, with a proof: an axis on which the
// projections of both shapes lie apart by the distance that is returned.

#ifndef DJ_VALIDATION_CONVEX_H_
#define DJ_VALIDATION_CONVEX_H_

#include "common/scene.h"

// The hull of balls of one radius about points; or, without points, a half space n.x <= offset.
// Curved: about each point the sum of the ball and an ellipsoid.
typedef struct djvConvex {
  int nvert;
  double vert[DJV_MAX_VERT][3];
  double radius;
  bool curved;
  double axis[3][3];             // semi-axes, world
  double centre[3], bound;       // ball that holds it
  double normal[3], offset;      // half space
} djvConvex;

// A lower bound of the distance of a and b (a half space only as a), and the unit axis, from a to
// b, that proves it: sup a + bound <= inf b along it. When they are apart the bound is the distance
// to 1e-12 of their size; negative or zero: no axis was found, they touch or overlap.
double djv_separation(double axis[3], const djvConvex* a, const djvConvex* b);

// The same, and an upper bound: the distance of two of their points. Of curved shapes the two may
// be some 1e-6 of their size apart.
double djv_bracket(double* upper, double axis[3], const djvConvex* a, const djvConvex* b);

// What the projections on a given unit axis prove.
double djv_gapAlong(const double axis[3], const djvConvex* a, const djvConvex* b);

// A geom's own shape in its frame: what erosion does to it, by a vector per vertex. `s` holds the
// hulls of its meshes.
typedef struct djvGeomShape {
  djGeomType type;
  int nvert;
  double vert[DJV_MAX_VERT][3], move[DJV_MAX_VERT][3];
  double radius, slope;          // radius - slope * erosion
  double axes[3], thin[3];       // semi-axes along x, y, z - thin * erosion; 0: none
  double inner;                  // of a ball about the centre
} djvGeomShape;
void djv_geomShape(djvGeomShape* out, const djvScene* s, int geom);

// The geom in the world, eroded: sizes less, facets moved inwards by `erosion`. A plane is lowered.
void djv_placeShape(djvConvex* out, const djvGeomShape* shape, double erosion,
                    const double pos[3], const double mat[9]);

// Lowest point of a placed shape, along z.
double djv_lowest(const djvConvex* a);

#endif  // DJ_VALIDATION_CONVEX_H_
