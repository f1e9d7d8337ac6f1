// Inertia of a body at a configuration.

#ifndef DJ_MODEL_BODY_INERTIA_H_
#define DJ_MODEL_BODY_INERTIA_H_

#include "math/spatial.h"
#include "model/kinematics.h"

static inline djInertia dj_bodyInertia(const djModel* m, const djKin* kin, const djVec3* ref,
                                       int b) {
  const double* I = m->body_inertia + 3 * b;
  djMat3 R = kin->principal[b], RI = R;
  for (int k = 0; k < 9; k++) RI.m[k] *= I[k % 3];
  djMat3 Rt = {{R.m[0], R.m[3], R.m[6], R.m[1], R.m[4], R.m[7], R.m[2], R.m[5], R.m[8]}};
  return (djInertia){m->body_mass[b], dju_sub3(kin->com[b], ref[b]), dju_mulMM(RI, Rt)};
}

#endif  // DJ_MODEL_BODY_INERTIA_H_
