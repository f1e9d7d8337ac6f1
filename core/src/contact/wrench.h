// For kernels without an energy, which differentiate a wrench.

#ifndef DJ_CONTACT_WRENCH_H_
#define DJ_CONTACT_WRENCH_H_

#include "math/vec.h"

// Velocity of a twist (6) at an arm from its point.
static inline djVec3 dj_twistField(const double* twist, djVec3 arm) {
  return dju_add3(dju_cross3(dju_load3(twist), arm), dju_load3(twist + 3));
}

// Adds the gradient of a force F on body a, and -F on body b, at the point x: minus both wrenches
// about ref (2). g: 12 numbers, stride apart.
static inline void dj_addForce(double* g, int stride, djVec3 x, const djVec3 ref[2], djVec3 F) {
  for (int side = 0; side < 2; side++) {
    djVec3 f = side ? F : dju_neg3(F), torque = dju_cross3(dju_sub3(x, ref[side]), f);
    const double row[6] = {torque.x, torque.y, torque.z, f.x, f.y, f.z};
    for (int i = 0; i < 6; i++) g[(6 * side + i) * stride] += row[i];
  }
}

// djPairOutput.hessian from the plain derivative of the gradient's world components by twists of
// the poses (12 x 12, column j by twist j), in place. Where a body first turns by w about ref and
// then by e_j, exp(e_j) exp(w) is not exp(e_j + w): in exponential coordinates column j lacks
//   e_j x g_w/2 of rotations j, e_j x g_v of translations j,
// in the rows of the body's own rotations. An energy's Hessian is symmetric only without them.
static inline void dj_toExponential(double hessian[144], const double gradient[12]) {
  for (int j = 0; j < 12; j++) {
    int side = j / 6 * 6, turns = j % 6 < 3;
    djVec3 e = {j % 3 == 0, j % 3 == 1, j % 3 == 2};
    djVec3 more = dju_cross3(e, dju_load3(gradient + side + (turns ? 0 : 3)));
    double half = turns ? 0.5 : 1;
    hessian[12 * side + j] -= half * more.x;
    hessian[12 * (side + 1) + j] -= half * more.y;
    hessian[12 * (side + 2) + j] -= half * more.z;
  }
}

#endif  // DJ_CONTACT_WRENCH_H_
