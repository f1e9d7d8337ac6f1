// Derivatives of coordinates that bend by parameters: of x and of dx/dq z. Poses' part is left in
// cotangents, to be gathered and taken to frames with others of the same point (frame_param.h);
// sites', anchors' and polycoef's is added.

#ifndef DJ_FORCE_BEND_PARAM_H_
#define DJ_FORCE_BEND_PARAM_H_

#include "force/force.h"

// Of f x of coordinate c at a point: C (nbody x 6) about ref.
void dj_bendLength(djParamSums* sums, double* C, const djModel* model, const djPoint* at,
                   const djVec3* ref, int c, double f);
// Of f dx/dq z, z (nv), x (nbody x 6) bodies' twists along it: W and C of dj_frameParamsSecond.
void dj_bendPath(djParamSums* sums, double* W, double* C, const djModel* model, const djPoint* at,
                 const djVec3* ref, int c, double f, const double* z, const double* x);

#endif  // DJ_FORCE_BEND_PARAM_H_
