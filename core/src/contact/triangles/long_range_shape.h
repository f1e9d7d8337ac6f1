// What long_range sees of a geom: its triangles in a tree of balls, all vertices in the body's
// frame, and these vertices' parts of the surface. A plane is a half space.

#ifndef DJ_CONTACT_TRIANGLES_LONG_RANGE_SHAPE_H_
#define DJ_CONTACT_TRIANGLES_LONG_RANGE_SHAPE_H_

#include "contact/kernel.h"
#include "contact/triangles/sphere_tree.h"

// In djShape.fit: how many triangles, then nodes, then triangles.
static inline void dj_openTriangles(djSphereTree* out, const djShape* s) {
  out->ntri = (int)s->fit[0];
  out->node = (const djSphereNode*)(const void*)(s->fit + 1);
  out->tri = s->fit + 1 + DJ_SPHERE_NODE * (2 * out->ntri - 1);
  for (int k = 0; k < 3; k++) out->vert[k] = s->vert[k];
}

// Numbers of memory of a shape, and the shape in it: vertices (nvert x 3) and triangles (ntri x 3).
// tree: nodes as dj_plantSphereTree takes them, or NULL. old: a shape of the same triangles, whose
// tree it keeps; or NULL. layered: for weighting paper.
int dj_trianglesSize(int nvert, int ntri);
djStatus dj_fitTriangles(djShape* shape, double* mem, int nvert, const double* vert, int ntri,
                         const int* tri, const int* tree, bool layered, const djShape* old);
// DJ_INVALID: triangles of one mesh cross.
djStatus dj_checkCrossing(const djShape* shape, djError* err);

// shapeSize, makeShape, shapeParams of the row.
int dj_longShapeSize(const djGeomSource* from);
djStatus dj_makeLongShape(djShape* shape, djShapeBounds* bounds, double* mem,
                          const djGeomSource* from, djError* err);
djStatus dj_longShapeParams(double* param, const djGeomSource* from, const djShape* shape,
                            const djShapeGrad* grad);

#endif // DJ_CONTACT_TRIANGLES_LONG_RANGE_SHAPE_H_
