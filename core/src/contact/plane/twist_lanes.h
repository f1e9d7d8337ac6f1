// Internal to the separating-plane kernel: 12-vectors and 12x12 matrices over two twists as pairs
// of lane vectors, one for each body, of which lanes 0-5 (angular, linear) are used.

#ifndef DJ_CONTACT_PLANE_TWIST_LANES_H_
#define DJ_CONTACT_PLANE_TWIST_LANES_H_

#include "math/lanes.h"
#include "math/vec.h"

// v.x ...: lanes 0-2 angular, 3-5 linear
DJU_INLINE djLanes dj_twistLanes(djVec3 angular, djVec3 linear) {
  return (djLanes){angular.x, angular.y, angular.z, linear.x, linear.y, linear.z, 0, 0};
}

// K^T (4 x 6) of one body: K (m, m0) = (m x n - m0 ref x n, m0 n/L), as four rows.
DJU_INLINE void dj_twistRows(djLanes Kt[4], djVec3 n, djVec3 ref, double inv_L) {
  const djVec3 zero = {0, 0, 0};
  Kt[0] = dj_twistLanes(dju_vec3(0, -n.z, n.y), zero);
  Kt[1] = dj_twistLanes(dju_vec3(n.z, 0, -n.x), zero);
  Kt[2] = dj_twistLanes(dju_vec3(-n.y, n.x, 0), zero);
  Kt[3] = dj_twistLanes(dju_cross3(n, ref), dju_scale3(inv_L, n));
}

// v[0] a[0] + ... + v[3] a[3]
DJU_INLINE djLanes dj_combine(double v0, double v1, double v2, double v3, const djLanes a[4]) {
  djLanes x = dju_fmaLanes(dju_splat(v1), a[1], v0 * a[0]);
  djLanes y = dju_fmaLanes(dju_splat(v3), a[3], v2 * a[2]);
  return x + y;
}

// M K^T (4 x 6) for packed symmetric M
DJU_INLINE void dj_mulRows(djLanes out[4], const double M[10], const djLanes Kt[4]) {
  out[0] = dj_combine(M[0], M[1], M[2], M[3], Kt);
  out[1] = dj_combine(M[1], M[4], M[5], M[6], Kt);
  out[2] = dj_combine(M[2], M[5], M[7], M[8], Kt);
  out[3] = dj_combine(M[3], M[6], M[8], M[9], Kt);
}

// 12-vector from its halves
DJU_INLINE void dj_storeTwist(double out[12], djLanes a, djLanes b) {
  dju_storeSix(out, a);
  dju_storeSix(out + 6, b);
}

// Row i of a 12x12 matrix, rows stored in ascending order: the unused lanes of one row are
// overwritten by the next.
DJU_INLINE void dj_storeTwistRow(double H[144], int i, djLanes a, djLanes b) {
  dju_storeLanes(H + 12 * i, a);
  if (i < 11) {
    dju_storeLanes(H + 12 * i + 6, b);
  } else {
    dju_storeSix(H + 12 * i + 6, b);
  }
}

#endif  // DJ_CONTACT_PLANE_TWIST_LANES_H_
