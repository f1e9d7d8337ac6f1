// Implicit surfaces (shape/implicit.h) for the contact shapes of geoms, which are convex shapes
// without skin (shape/shape.h):
//
//   sphere, ellipsoid   superellipsoid, n = 1: exact
//   box                 superellipsoid
//   cylinder            superelliptic cylinder
//   capsule             smooth capsule
//   mesh                smooth polytope of the hull's flat facets, L the length held in the shape
//
// The frame is at the mean of the vertices; its axes are the geom's, x along the axis of capsules
// and cylinders. What a surface needs is found once, as numbers in memory of the shape; frame and
// numbers are smooth functions of vertices, radius and semi-axes, and derivatives go back to these.

#ifndef DJ_CONTACT_IMPLICIT_IMPLICIT_FIT_H_
#define DJ_CONTACT_IMPLICIT_IMPLICIT_FIT_H_

#include "shape/hull.h"
#include "shape/implicit.h"
#include "shape/shape.h"

// Numbers of memory for a shape's surface; hull: a mesh's, else NULL.
int dj_fitSize(int type, const djHull* hull);

// Sets shape->fit to mem, filled. The shape's sharpness and length are set; not of planes.
// DJ_INVALID: the surface does not hold the frame's origin, or sharpness is below 1.
djStatus dj_fitImplicit(djShape* shape, double* mem, const djHull* hull);

// The surface, and its frame in the body's.
void dj_openFit(djImplicit* out, djPose* frame, const djShape* shape);

// By how much the surface is smaller than the shape, m: radii beyond those that are numbers of it;
// a half space has its offset.
double dj_fitInflation(const djShape* shape);
void dj_fitInflationGrad(djShapeGrad* grad, const djShape* shape, double by);

// Adds to grad what follows from derivatives by the frame's origin and rotation (body axes), by the
// surface's numbers (nsize).
void dj_fitGrad(djShapeGrad* grad, const djShape* shape, djVec3 origin, djVec3 turn,
                const double* number);

#endif // DJ_CONTACT_IMPLICIT_IMPLICIT_FIT_H_
