// Derivatives by contact shapes, of which a run's steps add up here, and the way back to the
// parameters of geoms.

#ifndef DJ_CONTACT_PAIRS_SHAPE_GRAD_H_
#define DJ_CONTACT_PAIRS_SHAPE_GRAD_H_

#include "contact/contact.h"

// Bytes of the cotangents of all shapes; at most: whatever hulls its meshes have.
size_t dj_shapeGradSize(const djModel* model);
size_t dj_shapeGradBound(const djModel* model);

// (djCollision.nshape) all zero, in memory, which begins at a multiple of DJ_ALIGN. Planes and what
// is no shape have no arrays.
djShapeGrad* dj_initShapeGrads(void* memory, const djModel* model);

// Adds the derivative by a shape's geom to param (model/param.h), given that by the shape. Geoms
// that share a mesh add up in its vertices. DJ_NO_MEMORY: a mesh needs workspace.
djStatus dj_shapeParams(double* param, const djModel* model, int shape, const djShapeGrad* grad);

#endif  // DJ_CONTACT_PAIRS_SHAPE_GRAD_H_
