// Recovery under the barrier law of pairs whose surfaces touch, or overlap, at the start of a step:
// for the step their gap counts as larger by a lift e >= 0, which follows from the depth t0 at the
// start. In units of the support s, with g = -t0/s and g_eff by contact/friction/recovering.h,
//
//   e = s (g_eff(g) - g) for g < 0.2, g_eff from there down to 0.1.
//
// There the barrier carries a thousand and a hundred thousand times the weight that presses a pair
// to half the support by the default rule, so that what rests does not recover.

#ifndef DJ_CONTACT_IMPLICIT_IMPLICIT_RECOVERY_H_
#define DJ_CONTACT_IMPLICIT_IMPLICIT_RECOVERY_H_

#include "contact/implicit/implicit_law.h"
#include "contact/kernel.h"

#define DJ_SURFACE_RECOVERY 0.2 // the gap below which pairs recover

// Zeros: nothing is lifted.
typedef struct djSurfaceLift {
  double e;                    // m
  double by_depth, by_support; // its derivatives by t0 and s
} djSurfaceLift;

void dj_liftSurfaces(djSurfaceLift* out, const double* setting, double depth);

// Makes of the law's force at the start, as lifted, the load of friction (friction/recovering.h),
// by g and g_; INFINITY as there: its derivatives are then those by t0, and by settings at fixed
// depths; *by_past: by the depth a step before.
void dj_boundSurfaceLoad(djImplicitForce* force, double* by_past, const djSurfaceLift* lift,
                         const double gap[2], const djPairInput* in);

// The derivative of the law's force now by e.
static inline double dj_byLift(const djImplicitForce* force) {
  return -(force->by_depth + force->by_start);
}

#endif // DJ_CONTACT_IMPLICIT_IMPLICIT_RECOVERY_H_
