// Potentials of a vector's length, of which springs and limits of free and ball joints are made.

#ifndef DJ_FORCE_RADIAL_H_
#define DJ_FORCE_RADIAL_H_

#include "force/force.h"
#include "math/smooth.h"

// y += V'(r) x/r and Y += V'' e e^T + V'/r (I - e e^T) of V(|x|), r = |x|; value += V.
static inline void dj_addRadial(double y[3], double Y[9], double* value, djJet V, djVec3 x,
                                double r) {
  *value += V.f;
  double s = r > 1e-12 ? V.d / r : V.dd;
  double e[3] = {0, 0, 0};
  if (r > 1e-12) dju_store3(e, dju_scale3(1 / r, x));
  for (int i = 0; i < 3; i++) {
    y[i] += V.d * e[i];
    for (int k = 0; k < 3; k++) Y[3 * i + k] += (V.dd - s) * e[i] * e[k] + (i == k ? s : 0);
  }
}

#endif  // DJ_FORCE_RADIAL_H_
