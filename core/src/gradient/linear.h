// The linearised step, shared inside the gradient layer.

#ifndef DJ_GRADIENT_LINEAR_H_
#define DJ_GRADIENT_LINEAR_H_

#include "integrate/work.h"
#include "math/so3.h"

#include <dijoco/gradient.h>

// Jacobians of the step just taken: work->L, Rq (with H E added), Rv, Ra, Ru, vnext.
djStatus dj_linearizeStep(const djModel* model, djData* data);

#endif  // DJ_GRADIENT_LINEAR_H_
