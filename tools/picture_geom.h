// Shapes of geoms for pictures: points, faces, and how each type is drawn.

#ifndef DJ_TOOLS_PICTURE_GEOM_H_
#define DJ_TOOLS_PICTURE_GEOM_H_

#include "picture.h"

#include <dijoco/contact.h>

// A geom in the world.
typedef struct Placed {
  const djModel* model;
  int geom;
  djGeomType type;
  double size[3];
  double pos[3];
  double quat[4];
  double mat[9];
  int npoint;        // points whose hull is the geom, nearly
  double* point;     // (npoint x 3) world
  bool finite;
} Placed;

typedef struct Point2 {
  double x, y;
} Point2;

// A geom at its body's pose; release with placed_free.
void placed_make(Placed* p, const djModel* model, int geom, const Poses* poses);
void placed_free(Placed* p);

// The same as a contact query's shape; its vertices are p's points where it is a mesh.
djcShape placed_shape(const Placed* p);

Point2 project(const Camera* c, const double world[3]);

// Convex hull of n points, in place, counter-clockwise; returns its size.
int hull2(Point2* p, int n);

// Draw one geom other than a plane, in a colour of the palette.
void draw_geom(Buffer* out, const Placed* p, const Camera* c, int color);

// Draw its shadow on a plane through `origin` with unit normal.
void draw_shadow(Buffer* out, const Placed* p, const Camera* c, const double origin[3],
                 const double normal[3]);

// Add "x,y x,y ..." of points.
void add_points(Buffer* out, const Point2* p, int n);

#endif  // DJ_TOOLS_PICTURE_GEOM_H_
