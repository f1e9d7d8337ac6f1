// Derivatives of long_range by vertices and settings.

#ifndef DJ_CONTACT_TRIANGLES_LONG_RANGE_VJP_H_
#define DJ_CONTACT_TRIANGLES_LONG_RANGE_VJP_H_

#include "contact/triangles/long_range_pair.h"

// The entry `vjp` of the row, for the potential alone.
// And U itself, by shapes alone.
djStatus dj_longGradient(djPairGrad* grad, const djPairInput* in);
djStatus dj_longVjp(djPairGrad* grad, djPairState* state, const djPairInput* in,
                    const double lambda[12]);

#endif // DJ_CONTACT_TRIANGLES_LONG_RANGE_VJP_H_
