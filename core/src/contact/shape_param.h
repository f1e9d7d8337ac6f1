// Derivatives by what contact shapes are made of: from covectors of shapes (shape.h, djShapeGrad)
// to geom pos, quat and size and to mesh vertices. The transpose of contact/collision.c.
//
// Settings in force and geom_skin are constants. Shapes are smooth functions of these parameters
// but for places where they are only C0; there the derivative is that of the side taken:
//   sizes            the least of them changes (inner radius), or the longest semi-axis (bound);
//                    the skin reaches 0.9 inner
//   meshes           a vertex pops out of a facet or falls into the hull, the active facets of an
//                    erosion vector or the facet nearest to the centre change. A flat facet of
//                    several triangles has one normal until it has bent by 1e-5 of the size and is
//                    split: erosion vectors then jump by about as much
//   all              the vertex that is farthest from the centre changes (bound)

#ifndef DJ_CONTACT_SHAPE_PARAM_H_
#define DJ_CONTACT_SHAPE_PARAM_H_

#include "contact/contact.h"

// Bytes of the arrays of all geoms' covectors.
size_t dj_shapeGradSize(const djModel* model);

// grad (ngeom): all zero, with arrays in memory, which begins at a multiple of DJ_ALIGN. Geoms
// without a contact shape and planes have no arrays.
void dj_initShapeGrads(djShapeGrad* grad, void* memory, const djModel* model);

// Adds the derivative by the geom's parameters to param (model/param.h), given that by its shape.
// Geoms that share a mesh add up in its vertices. DJ_NO_MEMORY: a mesh needs workspace.
djStatus dj_shapeParams(double* param, const djModel* model, int geom, const djShapeGrad* grad);

#endif  // DJ_CONTACT_SHAPE_PARAM_H_
