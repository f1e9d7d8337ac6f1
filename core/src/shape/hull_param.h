// Derivatives of a hull's quantities by its vertices, with facets and active sets held fixed.

#ifndef DJ_SHAPE_HULL_PARAM_H_
#define DJ_SHAPE_HULL_PARAM_H_

#include "shape/hull.h"

// Derivative of a number by a hull's quantities.
typedef struct djHullGrad {
  const double* vert;     // (nvert) of three numbers each
  const double* move;     // (nvert) of three numbers each
  int stride;             // numbers from one vertex to the next
  djVec3 center;
  double inner;
} djHullGrad;

// vert (nvert x 3): its derivative by the vertices. DJ_NO_MEMORY: no workspace.
djStatus dj_hullParams(double* vert, const djHull* hull, const djHullGrad* grad);

#endif  // DJ_SHAPE_HULL_PARAM_H_
