// Tools for kernels whose contact shapes are convex hulls of geoms, eroded by a skin
// (shape/shape.h): the entries of a row (contact/kernel.h) that make them, and their gaps and
// depths.

#ifndef DJ_CONTACT_SHAPES_CONVEX_H_
#define DJ_CONTACT_SHAPES_CONVEX_H_

#include "contact/kernel.h"
#include "model/geom_row.h"

#include <math.h>

#define DJ_MOST_SHRINK 0.8   // of a geom's inner radius, by a negative margin - gap

// takes of a row: two convex geoms, or one and a plane.
bool dj_convexTakes(int type_a, int type_b);

// makeShape and shapeSize of a row, and shapeParams: see convex_param.c where it is not smooth.
int dj_convexSize(const djGeomSource* from);
djStatus dj_makeConvex(djShape* shape, djShapeBounds* bounds, double* mem, const djGeomSource* from,
                       djError* err);
djStatus dj_convexParams(double* param, const djGeomSource* from, const djShape* shape,
                         const djShapeGrad* grad);

// Which vertex of the hull vertex i of a mesh's shape is; -1: it lies inside.
int dj_hullVertex(const djGeomSource* from, int i);

// gap and depth of a row.
djStatus dj_convexGap(djDistance* d, djDistanceCache* cache, const djGeomPair* pair);
djStatus dj_convexDepth(double* depth, const djVec3* along, const djGeomPair* pair);

// The geom itself, without skin and margin, as a shape; discs (model/geom_row.h) are flat and end
// at the edges of the geom. mem: 3 npad.
void dj_trueConvex(djShape* out, double* mem, const djShape* shape, const djShapeBounds* bounds,
                   const djModel* model, int geom);

// Makes a shape curved, where its geom is: semi-axes in a body frame that R turns the geom's to,
// eroded by the shape's skin.
void dj_curveShape(djShape* shape, const djGeomRow* row, const double size[3], djMat3 R);

// Sets the centre of a shape to the mean of its vertices, and its bound about that.
void dj_centerShape(djShape* shape);

// What is added to the sum of both radii: `inflate`, but so that two hulls' sum stays >= 0.
static inline double dj_pairInflation(const djShape* a, const djShape* b, double inflate) {
  return b->type == DJ_PLANE ? inflate : fmax(inflate, -(a->radius + b->radius));
}

#endif  // DJ_CONTACT_SHAPES_CONVEX_H_
