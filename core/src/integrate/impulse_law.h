// The law of an impact with friction at one point (Chatterjee and Ruina, A new algebraic rigid-body
// collision law based on impulse space considerations, J. Appl. Mech. 65, 1998, without tangential
// restitution). With the relative velocity w there (of b, n from a to b), its change C P by an
// impulse P,
//   P_I = n (-n.w)/(n.C n) stops the approach without friction, P_II = -C^-1 w all motion;
//   P = P_II + e P_I where that is within the cone of friction, else
//   P = (1 + e) P_I + k (P_II - P_I) on the cone, k = mu (1 + e) n.P_I/(|t| - mu n.(P_II - P_I)),
// t the tangential part of P_II. It wins no energy for e in [0, 1], and never pulls. Of approaches
// at a speed between `least` and twice that a part acts, which grows smoothly from 0 to 1.

#ifndef DJ_INTEGRATE_IMPULSE_LAW_H_
#define DJ_INTEGRATE_IMPULSE_LAW_H_

#include "math/vec.h"

#include <stdbool.h>

typedef struct djImpact {
  djVec3 n, w;
  djMat3 C;                // symmetric
  double friction, restitution, least;
} djImpact;

// P. False: they approach at `least` or more slowly, or C is singular.
bool dj_impactImpulse(djVec3* P, const djImpact* impact);

// Cotangents by what an impact is given, from that of P.
typedef struct djImpactGrad {
  djVec3 n, w;
  djMat3 C;                // symmetric: of independent entries
  double friction, restitution;
} djImpactGrad;

void dj_impactVjp(djImpactGrad* grad, const djImpact* impact, djVec3 by_P);

#endif  // DJ_INTEGRATE_IMPULSE_LAW_H_
