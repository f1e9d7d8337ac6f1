// The method `momentum`: the displacement from the prediction.

#include "integrate/momentum.h"

djMat3 dj_turnAhead(const djWork* w, const djModel* m, const djPlace* at, int j) {
  int adr = dj_rotationQpos(m, j);
  djQuat q0 = dju_normalizeQuat(dju_loadQuat(w->ahead.q + adr));
  djQuat q = dju_normalizeQuat(dju_loadQuat(at->q + adr));
  return dju_quatToMat(dju_mulQuat(dju_conj(q0), q));
}

djVec3 dj_sineAhead(djMat3 R) {
  return dju_scale3(0.5, dju_vec3(R.m[7] - R.m[5], R.m[2] - R.m[6], R.m[3] - R.m[1]));
}

djVec3 dj_pushAhead(djMat3 R, djVec3 x, bool transpose) {
  djVec3 Rx = transpose ? dju_mulMtV(R, x) : dju_mulMV(R, x);
  return dju_scale3(0.5, dju_madd3(dju_neg3(Rx), R.m[0] + R.m[4] + R.m[8], x));
}
