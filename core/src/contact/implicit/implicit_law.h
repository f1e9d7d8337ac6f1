// Laws of implicit surfaces: force by depth t, the negative gap (iDCOL eq. 30).
//
//   hertz, paper   f = stiffness t^p                      for t > 0
//   barrier, log   f = -stiffness B'(x)/s, x = -t/s,      for t > -s, s the support,
//                  B a row of math/barrier.h in units of s: barrier is that of SDRS
//
// damping c multiplies it by a function of the approach since the poses that velocities count from,
//
//   f(t) phi(c (t - t0)/h),   phi(y) = 1 + y from y = -1/2, 0 up to y = -3/2, (y + 3/2)^2/2
//   between,
//
// C1 and never negative, as in Hunt and Crossley's law. As t0 is fixed during the step this is the
// derivative of an energy of the step, W = int f phi dt, which is convex in t: f grows, and so does
// phi.

#ifndef DJ_CONTACT_IMPLICIT_IMPLICIT_LAW_H_
#define DJ_CONTACT_IMPLICIT_IMPLICIT_LAW_H_

#include "contact/implicit/implicit_surface.h"

typedef struct djImplicitForce {
  double value;              // W; infinite where the law knows of no such depth: the rest is 0
  double f;                  // W', N
  double by_depth, by_start; // W'' and the derivative by t0
  double by_setting[DJ_IMPLICIT_NSETTING]; // of f
} djImplicitForce;

// The depth beyond which (above which) nothing acts: 0, or minus the support.
double dj_lawReach(const double* setting);

// Force at a depth above that, without damping.
void dj_elasticForce(djImplicitForce* out, const double* setting, double depth);

// With damping; start: t0, of no account without damping.
void dj_implicitForce(djImplicitForce* out, const double* setting, double depth, double start,
                      double h);

#endif // DJ_CONTACT_IMPLICIT_IMPLICIT_LAW_H_
