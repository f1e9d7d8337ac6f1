// What a step fixes of a pair of implicit surfaces: how far it is lifted out of an overlap
// (implicit_recovery.h); the depth at the poses that velocities count from, for damping; and where
// and how hard the surfaces press on each other at its start, for friction
// (contact/friction/friction.h): at the common point x, in the plane through it with the touch's
// normal, one point on each side. The load is the law's force without damping, along n:
//
//   F = f(t) q.n  of an energy, F = f(t) of a force along n.

#ifndef DJ_CONTACT_IMPLICIT_IMPLICIT_LAG_H_
#define DJ_CONTACT_IMPLICIT_IMPLICIT_LAG_H_

#include "contact/friction/friction.h"
#include "contact/implicit/implicit_law.h"
#include "contact/implicit/implicit_recovery.h"
#include "contact/implicit/implicit_touch.h"

typedef struct djSurfaceState {
  djImplicitWarm warm;
  djVec3 last;          // direction of the origins, for when they coincide
  double lift;          // m; for the whole step: depths are less by it
  double gap[2];        // g, which it follows from, and g_ of friction/recovering.h; INFINITY of a
                        //   pair that never recovers, or where g_ does not matter
  double depth;         // at the rate poses
  djVec3 point, normal; // friction's; at the start, world
  double load;          // N; 0: there is none
  djFrictionState friction;
  djDualPair dual[2];
} djSurfaceState;

// The surfaces at these poses, as lifted, whatever the distance; the state's warm start is used,
// not changed.
djStatus dj_touchAt(djSurfacePair* pair, djSurfaceTouch* touch, const djSurfaceState* state,
                    const djPairInput* in, const djPose* pose_a, const djPose* pose_b);

// State of zeros -> that of the step. DJ_OVERLAP: the surfaces overlap under the barrier law, and
// are not to recover.
djStatus dj_beginSurfaces(djSurfaceState* state, const djPairInput* in);

// The lift with its derivatives.
djSurfaceLift dj_liftOf(const djSurfaceState* state, const djPairInput* in);

// Friction, as its functions want it. A half space moves with b: a's point alone counts.
typedef struct djSurfaceLag {
  djLagged lagged;
  double point[6], force[2];
} djSurfaceLag;
bool dj_hasSurfaceLag(const djSurfaceState* state, const djPairInput* in);
void dj_openSurfaceLag(djSurfaceLag* out, djSurfaceState* state, const djPairInput* in);

// The entry `start` of a row. touch, touch: those at the poses now; force: NULL where nothing acts.
djStatus dj_startSurfaces(double start_jac[144], double rate_jac[144], djSurfaceState* state,
                          const djPairInput* in, const djSurfaceTouch* touch,
                          const djImplicitForce* force);

// The depth a step before the start, whatever was lifted. As dj_touchAt.
djStatus dj_pastTouch(djSurfacePair* pair, djSurfaceTouch* touch, const djSurfaceState* state,
                      const djPairInput* in);
djStatus dj_pastSurfaces(bool* any, djPairPast* past, djSurfaceState* state, const djPairInput* in);

// The load of a touch at the start, its derivatives, and how it changes with the touch; by_past:
// its derivative by that depth.
djImplicitForce dj_surfaceLoad(double* load, double* by_past, const djSurfaceTouch* touch,
                               const djSurfaceState* state, const djPairInput* in);
double dj_loadChange(const djSurfacePair* pair, const djSurfaceTouch* touch,
                     const djImplicitForce* force, const djSurfaceChange* e);

#endif // DJ_CONTACT_IMPLICIT_IMPLICIT_LAG_H_
