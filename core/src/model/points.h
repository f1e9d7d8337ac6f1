// Points and distance fields of geoms, as the contact kernel penalty sees them: their part of
// definitions and models.

#ifndef DJ_MODEL_POINTS_H_
#define DJ_MODEL_POINTS_H_

#include <dijoco/model.h>

#define DJ_MOST_POINTS 10000000   // of a geom

djStatus dj_checkPoints(const djModelDef* def, djError* err);

// Given points of a definition, and the arrays of geoms.
size_t dj_pointNumber(const djModelDef* def);
void dj_fillPoints(djModel* model, const djModelDef* def);

// Of a definition of the model; points are the model's own.
void dj_getPoints(djGeomDef* geom, const djModel* model);

#endif // DJ_MODEL_POINTS_H_
