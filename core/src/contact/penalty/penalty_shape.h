// What penalty contact sees of a geom: points in a tree, and a distance field. They are kept in the
// shape's memory (djShape.fit), and hold no pointers.

#ifndef DJ_CONTACT_PENALTY_PENALTY_SHAPE_H_
#define DJ_CONTACT_PENALTY_PENALTY_SHAPE_H_

#include "contact/kernel.h"
#include "contact/shapes/points.h"
#include "shape/field.h"

// Entries of djShapeGrad.number: sizes of the geom, its contact_scale, points in their order (in
// the body's frame), vertices of a mesh with a field (in its own). The frame of the field is in
// origin and turn.
enum { DJ_PENALTY_BY_SIZE = 0, DJ_PENALTY_BY_SCALE = 3, DJ_PENALTY_BY_POINT = 4 };

// What it is made of.
typedef struct djPenaltySource {
  int type;
  double size[3];
  djPose frame; // of the geom in the body
  int npoint;
  const double* given; // (npoint x 3) m, in the geom's frame; or NULL: those of its type
  const double* vert;  // of a mesh: (nvert x 3) m, of which points are taken
  int nvert;
  bool field;
  bool inside;        // points are kept in it: the field is inside out
  const djGrid* grid; // of a mesh with a field
  double scale;
  double inflate; // m
} djPenaltySource;

// Numbers of memory for n points, and what is there.
int dj_penaltySize(int npoint);
void dj_fitPenalty(djShape* shape, double* mem, const djPenaltySource* from);

// A view of it.
typedef struct djPenaltyShape {
  int npoint;
  bool given; // points are
  bool ball;  // one point with a radius is all of the geom
  bool has_field;
  bool inside;   // it is inside out
  double radius; // of points, m
  double inflate, scale;
  const djPointNode* node;
  const double *point, *id; // (npoint x 3) body frame; their order
  djDistanceField field;
  djPose frame; // of the field in the body
} djPenaltyShape;
void dj_openPenalty(djPenaltyShape* out, const djShape* shape);

// pointRadius, shapeSize, makeShape, shapeParams of the row.
double dj_penaltyRadius(const djModel* model, int geom);
int dj_penaltyShapeSize(const djGeomSource* from);
djStatus dj_makePenalty(djShape* shape, djShapeBounds* bounds, double* mem,
                        const djGeomSource* from, djError* err);
djStatus dj_penaltyParams(double* param, const djGeomSource* from, const djShape* shape,
                          const djShapeGrad* grad);

#endif // DJ_CONTACT_PENALTY_PENALTY_SHAPE_H_
