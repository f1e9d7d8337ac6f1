// Derivatives of the separating-plane energy by twists of its two bodies, from vertex moments.
// Dimensionless, in the frame of plane_solve.h; twists are (angular, linear), a then b.

#ifndef DJ_CONTACT_PLANE_TWIST_H_
#define DJ_CONTACT_PLANE_TWIST_H_

#include "contact/plane_solve.h"

// U_xi and U_{p,xi} (4 x 12), and the explicit U_{xi,xi} (12 x 12), of which the two diagonal
// blocks are set and the rest is zero. ref: the points that twists refer to. Outputs may be NULL.
void dj_planeTwist(double gradient[12], double mixed[48], double explicit_hessian[144],
                   const djPlaneSolution* sol, const double ref[2][3], const double radius[2]);

// H -= W^T U_pp^-1 W for W (4 x 12).
void dj_eliminatePlane(double hessian[144], const djLdl4* factor, const double mixed[48]);

// Energy times K, linear entries per metre.
void dj_scaleGradient(double gradient[12], double stiffness, double length_scale);
void dj_scaleHessian(double hessian[144], double stiffness, double length_scale);

#endif  // DJ_CONTACT_PLANE_TWIST_H_
