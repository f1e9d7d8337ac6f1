// Internal to the separating-plane kernel: normal forces at the start of a step.

#ifndef DJ_CONTACT_PLANE_PLANE_LAG_H_
#define DJ_CONTACT_PLANE_PLANE_LAG_H_

#include "contact/plane/plane_pair.h"
#include "math/smooth.h"

// P' and P'' of all vertices at the lagged plane, a's first.
typedef struct djForces {
  int n, na;
  double *first, *second;
} djForces;

// At the start poses that w was opened for; places its clouds about the state's lag_center.
djStatus dj_lagForces(djForces* out, djPlaneWork* w, const djPlaneState* state);

// Force of a vertex = -scale P'.
double dj_forceScale(const djPlaneWork* w, const djPlaneState* state);

// Points of friction for each vertex of a side: 1 or DJ_LAG_SPLIT.
#define DJ_LAG_SPLIT 4
int dj_lagSplit(const djPlaneWork* w, int side);

// A side's shape at the start, and the lagged normal.
typedef struct djLagShape {
  const djShape* shape;
  const djPose* pose;
  djVec3 normal;
  int side;
} djLagShape;
static inline djLagShape dj_lagShape(const djPlaneWork* w, const djPlaneState* state, int side) {
  return (djLagShape){side ? w->in->b : w->in->a, w->pose[side], state->lag_normal, side};
}

// What is to be added to a vertex for its points, world axes; returns how many these are.
int dj_lagOffsets(djVec3 offset[DJ_LAG_SPLIT], const djLagShape* on);

// Slide (3 x 12) of the points of any vertex of a curved side: by how much they move more than with
// their body, given dnormal (3 x 12) of the lagged plane.
void dj_lagSlide(double* slide, const djLagShape* on, const double dnormal[36]);

// by_point (3 a point): derivatives by a vertex's points. Adds those by the semi-axes (body frame)
// to *curve, and returns that by the lagged normal.
djVec3 dj_lagOffsetVjp(djMat3* curve, const double* by_point, const djLagShape* on);

// Forces whose factor is less are none.
#define DJ_LEAST_FACTOR 1e-30

// Sums of the forces that are kept, but for their factor.
djLagSums dj_lagSums(const djLagged* lagged, const djPlaneWork* w, const djPlaneState* state);

// What each force counts for in sums.
static inline double dj_lagPart(const djPlaneWork* w) { return w->half_space ? 1 : 0.5; }

// The minimiser at the start poses, once more, from the lagged plane. w as for dj_lagForces, after
// it.
djStatus dj_solveLagged(djFound* f, djPlaneWork* w, const djPlaneState* state);

// x = U_pp^-1 b; half space: two entries.
void dj_solveFound(double x[4], const djFound* f, const djPlaneWork* w, const double b[4]);

#endif  // DJ_CONTACT_PLANE_PLANE_LAG_H_
