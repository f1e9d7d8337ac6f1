// Implicit surfaces (shape/implicit.h) for the contact shapes of geoms, which are convex shapes
// without skin (shape/shape.h):
//
//   sphere, ellipsoid   superellipsoid, n = 1: exact
//   box                 superellipsoid
//   cylinder            superelliptic cylinder
//   capsule             smooth capsule
//   mesh                smooth polytope of the hull's flat facets, L the length held in the shape
//
// or as given for a geom (contact/shapes/given.h): then numbers and frame are parameters
// themselves, but for the facets of a mesh's own hull.
//
// The frame is at the mean of the vertices; its axes are the geom's (of a sphere the body's), x
// along the axis of capsules and cylinders. What a surface needs is found once, as numbers in
// memory of the shape; frame and numbers are smooth functions of vertices, radius and semi-axes,
// and derivatives go back to these.

#ifndef DJ_CONTACT_IMPLICIT_IMPLICIT_FIT_H_
#define DJ_CONTACT_IMPLICIT_IMPLICIT_FIT_H_

#include "contact/kernel.h"
#include "contact/shapes/given.h"
#include "shape/hull.h"
#include "shape/implicit.h"
#include "shape/shape.h"

// Numbers of memory for a shape's surface; hull: a mesh's, else NULL; given: or NULL, by the type.
int dj_fitSize(int type, const djHull* hull, const djGivenSurface* given);

// Sets shape->fit to mem, filled. The shape's sharpness and length are set; not of planes.
// DJ_INVALID says what is wrong: the surface does not hold the frame's origin...
djStatus dj_fitImplicit(djShape* shape, double* mem, const djHull* hull,
                        const djGivenSurface* given, djError* err);

// shapeSize, makeShape and shapeParams of a kernel's row: a convex shape (contact/shapes/convex.h)
// with its surface.
int dj_surfaceSize(const djGeomSource* from);
djStatus dj_makeSurface(djShape* shape, djShapeBounds* bounds, double* mem,
                        const djGeomSource* from, djError* err);
djStatus dj_surfaceParams(double* param, const djGeomSource* from, const djShape* shape,
                          const djShapeGrad* grad);

// querySize and fitQuery: the surface that fits the shape, by the default rules.
int dj_surfaceQuerySize(int type, const djHull* hull);
djStatus dj_fitSurfaceQuery(djShape* shape, double* mem, const djHull* hull, djError* err);

// The surface, and its frame in the body's.
void dj_openFit(djImplicit* out, djPose* frame, const djShape* shape);

// By how much the surface is smaller than the shape, m: radii beyond those that are numbers of it;
// a half space has its offset. A given surface is grown by margin - gap.
double dj_fitInflation(const djShape* shape);
void dj_fitInflationGrad(djShapeGrad* grad, const djShape* shape, double by);

// Adds to grad what follows from derivatives by the frame's origin and rotation (body axes), by the
// surface's numbers (nsize).
void dj_fitGrad(djShapeGrad* grad, const djShape* shape, djVec3 origin, djVec3 turn,
                const double* number);

#endif // DJ_CONTACT_IMPLICIT_IMPLICIT_FIT_H_
