// Derivatives of the separating-plane energy by twists of its two bodies, from vertex moments.
// Twists are (angular, linear), a then b, about ref, which is given in the frame of plane_solve.h.

#ifndef DJ_CONTACT_PLANE_PLANE_TWIST_H_
#define DJ_CONTACT_PLANE_PLANE_TWIST_H_

#include "contact/plane/plane_solve.h"

// K U_xi (12), U_{p,xi} (4 x 12, without K), and the Hessian of K U after elimination of p
// (12 x 12, symmetric to the last bit), linear entries per metre. Outputs may be NULL.
void dj_planeTwist(double gradient[12], double mixed[48], double hessian[144],
                   const djPlaneSolution* sol, const double ref[2][3], const double radius[2],
                   double stiffness, double length_scale);

#endif  // DJ_CONTACT_PLANE_PLANE_TWIST_H_
