// Vertices against a half space: the limit of the separating-plane model for an infinite box.
//
//   U = min over 0 < t < 1, o < 0 of  P(1 - t) + 4 P(-o) + sum_i P(t z_i + o),
//   z_i = N.y_i + k: height of vertex i, less the radius, above the surface.
//
// A curved shape's vertices come as points, z_i = N.(y_i - c(N)) + k (shape/curve.h).
//
// Dimensionless; y in a frame with world axes centred near the contact. N is the outward normal,
// which moves with body b.

#ifndef DJ_CONTACT_PLANE_HALF_SPACE_H_
#define DJ_CONTACT_PLANE_HALF_SPACE_H_

#include "contact/plane/plane_solve.h"

typedef struct djHalfSpace {
  int n;
  const double* y[3];      // vertices, padded to whole lanes by repetition; curved: less c(N)
  double normal[3];        // N
  double k;
  bool curved;
  djMat3 bend;             // C(N), world axes
} djHalfSpace;

typedef struct djHalfSolution {
  double t, o;
  double value;            // 0: derivatives vanish
  double least;            // smallest z
  djPlaneSums m;             // of (y, 1): f = sum P' (y, 1), m = sum P'' (y, 1)(y, 1)^T
  double inv[3];           // U_tt, U_to, U_oo of the inverse of the 2x2 Hessian
  int iterations;
} djHalfSolution;

// Minimise over (t, o), from sol->t, sol->o where they are feasible. z: (padded n) workspace.
// DJ_PLANE_LOST with least <= 0: a vertex is below the surface; otherwise it did not converge.
djPlaneStatus dj_solveHalfSpace(djHalfSolution* sol, const djHalfSpace* space, djBarrier law,
                                double* z, int max_iterations);

// Derivatives by twists of a and b about ref (2 x 3), linear entries per metre: K U_xi (12),
// U_{t,xi} and U_{o,xi} (2 x 12, without K), and the Hessian of K U after elimination of (t, o),
// symmetric to the last bit. Outputs may be NULL.
void dj_halfSpaceTwist(double gradient[12], double mixed[24], double hessian[144],
                       const djHalfSolution* sol, const djHalfSpace* space,
                       const double ref[2][3], double stiffness, double length_scale);

#endif  // DJ_CONTACT_PLANE_HALF_SPACE_H_
