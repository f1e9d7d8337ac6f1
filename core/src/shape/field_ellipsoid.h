// The signed distance field of an ellipsoid: a row of shape/field.c.

#ifndef DJ_SHAPE_FIELD_ELLIPSOID_H_
#define DJ_SHAPE_FIELD_ELLIPSOID_H_

#include "shape/field.h"

// out: zero.
void dj_ellipsoidAt(djFieldAt* out, const djDistanceField* field, const double x[3]);

// at: at the same point. distance, normal: zero.
void dj_ellipsoidSizes(double distance[3], double normal[9], const djDistanceField* field,
                       const double x[3], const djFieldAt* at);

// At most the distance at x.
double dj_ellipsoidBound(const djDistanceField* field, const double x[3]);

#endif // DJ_SHAPE_FIELD_ELLIPSOID_H_
