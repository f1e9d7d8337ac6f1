// What moves with the touch of two implicit shapes (implicit_pair.h): first derivatives of alpha,
// point, normal, gap and witness points by motions of both bodies and by numbers of both shapes.
//
// A body's change is seen at the point alone: dphi, and dgrad, at a fixed point. With t_k the
// tangents, ha_k = la Hess_a t_k and so on, nu = 1/(n.d) = la |grad_a| = lb |grad_b|, the
// linearised conditions of touch have the solution
//
//   M tau = -(ca + cb),  ca_k = la t_k.dgrad_a - la dphi_a ha_k.d,  cb_k = lb t_k.dgrad_b + lb
//   dphi_b hb_k.d, dy = -la dphi_a d + sum tau_k t_k,   dT = -la dphi_a - lb dphi_b, dn = sum t_k
//   (la t_k.dgrad_a + ha_k.dy)/nu.                                             (2)
//
// A rotation psi of a about its origin is dphi = -grad.u, dgrad = -Hess u + psi x grad, u = psi x
// y; one of b, with its origin moved by T e, likewise with u = psi x (y - T d) + T e: e is a change
// of d.

#ifndef DJ_SHAPE_IMPLICIT_MOTION_H_
#define DJ_SHAPE_IMPLICIT_MOTION_H_

#include "shape/implicit_pair.h"

// A touch with all vectors in one frame, and matrices solved.
typedef struct djImplicitFrame {
  djVec3 y, y_b, d, n, t[2], ha[2], hb[2]; // y_b = y - T d
  double T, nu, la, lb;
  double A[3], inv[3]; // t.ha; M^-1, zeros where it is singular: 11, 12, 22
  double ha_d[2], hb_d[2];
} djImplicitFrame;

// R turns a's frame to the one wanted.
void dj_frameImplicit(djImplicitFrame* out, const djImplicitTouch* touch,
                      const djImplicitPlace* place, djMat3 R);

// Derivatives of y (3 x 9), T (9) and n (3 x 9) by psi_a, psi_b, e.
typedef struct djImplicitRates {
  double y[27], T[9], n[27];
} djImplicitRates;
void dj_moveTouch(djImplicitRates* out, const djImplicitFrame* f);

// Change of y, T and n with dphi and dgrad of a (side 0) or b (in the frame's axes).
void dj_bendTouch(djVec3* dy, double* dT, djVec3* dn, const djImplicitFrame* f, int side,
                  double dphi, djVec3 dgrad);

#endif // DJ_SHAPE_IMPLICIT_MOTION_H_
