// Derivatives of a step's last stage by columns of the start and of inputs.

#ifndef DJ_GRADIENT_COLUMNS_H_
#define DJ_GRADIENT_COLUMNS_H_

#include "integrate/linear.h"

#include <dijoco/gradient.h>

// Those of the configuration Q (nv x (end - first)) by the columns first ... end - 1 of q, v, act,
// history and ctrl, side by side; work->nslab at most. Valid until the next call.
const double* dj_pointColumns(djWork* work, const djModel* model, const djLinear* linear,
                              int first, int end);

// Of the parts before `end`, at least one, of a step that was taken in parts:
// A (nx x nx) and B (nx x nu) of them together, either or NULL.
djStatus dj_chainParts(double* A, double* B, const djModel* model, djData* data, int end);

#endif  // DJ_GRADIENT_COLUMNS_H_
