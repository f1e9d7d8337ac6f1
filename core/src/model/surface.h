// Implicit surfaces of geoms that are given: their part of definitions and models.

#ifndef DJ_MODEL_SURFACE_H_
#define DJ_MODEL_SURFACE_H_

#include "shape/implicit.h"

#include <dijoco/model.h>

// Families, counts and sizes of numbers. What else a surface must be shows when it is made.
djStatus dj_checkSurfaces(const djModelDef* def, djError* err);

// Numbers of all surfaces of a definition without their sharpness, and the arrays of geoms.
size_t dj_surfaceNumbers(const djModelDef* def);
void dj_fillSurfaces(djModel* model, const djModelDef* def);

// Surfaces of a definition of the model, and numbers for them (dj_surfaceCount of both).
void dj_surfaceCount(size_t* nsurface, size_t* nnumber, const djModel* model);
void dj_getSurfaces(djGeomDef* geom, djSurfaceDef* surface, double* number, const djModel* model);

#endif // DJ_MODEL_SURFACE_H_
