// Friction of long_range (the paper's eq. 12): of every pair of triangles that are near each other,
// lagged.
//
// At the start of the step dU/dgap of a pair of triangles, the others as they are, is its normal
// force N: down the trees the parts that pairs have in their parents' numbers are multiplied, of
// blends those of P_ch alone; what balls far away do has no friction. Its plane has a normal u and,
// on it, a point y in the middle of those at which both triangles' forces act, which lie across it.
// With the displacements of the body-fixed points that were at y, and P = I - u u^T
//
//   U_f = sum mu N h sqrt(|s|^2 + eps),  s = P (Delta_a(y) - Delta_b(y))/h.
//
// A body feels F = mu N s/sqrt(|s|^2 + eps) where its point is now, the other -F: forces balance,
// torques but for the slip of a step. Of a half space every vertex has N = dU/dz, y below it.
//
// All sums are found from the triangles up: of parts p_c of children's sums, so that nothing is
// kept between steps or written down on the way.

#ifndef DJ_CONTACT_TRIANGLES_TRIANGLE_FRICTION_H_
#define DJ_CONTACT_TRIANGLES_TRIANGLE_FRICTION_H_

#include "contact/kernel.h"

// Adds energy, gradient and Hessian at the poses now.
djStatus dj_addTriangleFriction(djPairOutput* out, djPairState* state, const djPairInput* in,
                                bool second);

// As `start` of the row; overwritten.
djStatus dj_triangleFrictionStart(double start_jac[144], double rate_jac[144], djPairState* state,
                                  const djPairInput* in);

// Friction's gradient alone.
djStatus dj_triangleFriction(double gradient[12], djPairState* state, const djPairInput* in);

#endif // DJ_CONTACT_TRIANGLES_TRIANGLE_FRICTION_H_
