// Internal to the separating-plane kernel: one pair's state, its evaluation at given poses, and
// what the pair fixes at the start of a step.

#ifndef DJ_CONTACT_PLANE_PLANE_PAIR_H_
#define DJ_CONTACT_PLANE_PLANE_PAIR_H_

#include "contact/friction/friction.h"
#include "contact/friction/recovering.h"
#include "math/barrier.h"
#include "contact/plane/half_space.h"
#include "contact/plane/plane_twist.h"
#include "contact/plane/recovery.h"
#include "contact/plane/separating_plane.h"
#include "shape/curve.h"

// Friction's law by the settings.
static inline djFrictionLaw dj_planeFriction(const double* setting) {
  return (djFrictionLaw){setting[DJ_PLANE_FRICTION_EPS], (djArms)setting[DJ_PLANE_ARMS],
                         (djCap)setting[DJ_PLANE_CAP], setting[DJ_PLANE_LENGTH_SCALE]};
}

// Points of friction that the state holds; more are computed anew at each evaluation.
#define DJ_LAGGED_POINTS 16

typedef enum djContactKind { DJ_APART, DJ_TOUCHING, DJ_OVERLAPPING } djContactKind;

// The minimiser found.
typedef struct djFound {
  djContactKind kind;
  double value;            // dimensionless
  double gap;              // metres; a lower bound where the energy is zero
  int iterations;
  djPlaneSolution plane;   // DJ_TOUCHING
  djHalfSolution half;
  djHalfSpace space;
  double ref[2][3];        // reference points in the clouds' frame
} djFound;

// A result, for evaluations at the same poses: those of the energy and of its derivatives.
typedef struct djKnownPlane {
  bool set;
  djPose pose[2];
  djBarrier law;
  double L, inflate;
  const djShape* shape[2]; // as given
  djVec3 center;
  djContactKind kind;
  double value, gap;
  djStatus status;
  union {
    djPlaneSolution plane;
    djHalfSolution half;
  };
} djKnownPlane;

// The same of a guide's tail, see plane_tail.h.
typedef struct djKnownTail {
  bool set;
  djPose pose[2];
  double L, offset, cap, part;
  const djShape* shape[2];
  djVec3 center;
  djPlaneStatus kind;
  djStatus status;
  djPlaneSolution plane;
} djKnownTail;

// Warm start and the quantities of the step. All zero: new.
typedef struct djPlaneState {
  // last plane: (n, o) about `center`, dimensionless; half space: (t, o)
  bool warm;
  double plane[4];
  djVec3 center;           // world
  // last separating direction, unit, from a to b
  bool directed;
  djVec3 normal;
  djDistanceCache cache;
  // fixed at the start of the step
  djErosion erosion;       // e = 0: none
  bool gap_known;
  double gap_start;        // signed gap of the skin-eroded shapes; else a lower bound
  bool lagged;             // there is a lagged plane
  double lag_plane[4];     // as `plane`, with the start poses, about lag_center
  djVec3 lag_center;
  djVec3 lag_normal;       // unit, from a to b; and offset in metres, world
  double lag_offset;
  double lag_gap, lag_past;   // g and g_ of friction/recovering.h
  double lag_factor;       // by what forces are multiplied
  int nlag, nlag_a;        // points that carry force; more than there is room for: not kept
  double lag_point[3 * DJ_LAGGED_POINTS];
  double lag_force[DJ_LAGGED_POINTS];
  djFrictionState friction;
  djDualPair dual[DJ_DUAL_POINTS];
  djKnownPlane known[2];   // the first since the start of the step, and the last
  // a guide's tail: its last plane and result
  bool tail_warm;
  double tail_plane[4];
  djVec3 tail_center;
  djKnownTail tail_known;
} djPlaneState;

// Lagged friction acts.
static inline bool dj_planeSlides(const djPlaneState* state, const djPairInput* in) {
  return state->lagged && dj_slides(in->friction);
}

// Vertices of one side, as sigma y: part of the clouds. For a half space sigma is 1, the arrays
// are padded to whole lanes by repetition, and ellipsoids are in y already, see half_space.h.
typedef struct djCloud {
  int n;
  double sign;
  const double* x[3];
  double r;
  bool curved;
  djMat3 curve;            // G, world axes
} djCloud;

// r|n| + q(n); *point = r n/|n| + c(n), where it is not NULL.
static inline double dj_cloudReach(djVec3* point, const djCloud* c, djVec3 n) {
  double length = dju_norm3(n), reach = c->r * length;
  djVec3 more = {0, 0, 0};
  if (c->curved) reach += dj_curveReach(&more, NULL, &c->curve, n);
  if (point) *point = dju_madd3(more, c->r / length, n);
  return reach;
}

static inline djVec3 dj_cloudVertex(const djCloud* c, int i) {
  return dju_vec3(c->sign * c->x[0][i], c->sign * c->x[1][i], c->sign * c->x[2][i]);
}

// A pair at given poses, with the erosion of the step.
typedef struct djPlaneWork {
  const djPairInput* in;
  const djPose* pose[2];
  const djShape* shape[2]; // eroded
  djShape eroded[2];
  const djDistance* seen;  // the shapes' there, if it is known
  bool half_space;
  djBarrier law;
  double L, range;         // range in metres
  double K;                // J; softened in recovery, see dj_softening
  double soft, soft_rate;  // by this factor of the setting; d log soft/dt, t of recovery.h
  double inflate;          // metres, in force
  double radius[2];        // dimensionless, inflation included
  djMat3 curve[2];         // semi-axes, dimensionless, world axes; zero where not curved
  djVec3 center;           // of the clouds, world
  djClouds clouds;         // both sides; not set for a half space
  djCloud cloud[2];
  double* y;               // memory of the clouds
  double* z;               // of heights above a half space
  double* free;            // rest of the scratch
  int nfree;
} djPlaneWork;

// The input has what both kinds of pairs need; settings are possible.
bool dj_isPlaneInput(const djPairInput* in);
bool dj_isFinitePose(const djPose* pose);
// Set up for the start poses (at_start) or those now. DJ_INVALID, DJ_NO_MEMORY.
djStatus dj_openPlaneWork(djPlaneWork* w, const djPairInput* in, const djErosion* erosion,
                          bool at_start);
// n numbers of the scratch, or NULL.
double* dj_takeScratch(djPlaneWork* w, int n);
// World-axes, dimensionless copies of the vertices about a centre.
void dj_placeClouds(djPlaneWork* w, djVec3 center);
// Of one shape: y = sign (R x + p - center)/L in three arrays, `stride` apart.
void dj_placeCloud(double* out, int stride, const djShape* s, const djPose* pose, djVec3 center,
                   double L, double sign);
// Both, b's after a's without a gap; one of b's fills the end of the whole lanes.
void dj_placeHulls(double* y, int stride, const djShape* const shape[2],
                   const djPose* const pose[2], djVec3 center, double L);
// The middle of the points that carry force, dimensionless, and the plane about it.
djVec3 dj_forceMiddle(double plane[4], const djPlaneSolution* sol);
// Half space of b about the clouds' centre.
void dj_placeHalfSpace(djHalfSpace* space, const djPlaneWork* w);
// Solve the inner problem, from the state's warm start. DJ_NOT_CONVERGED: *f is the best iterate.
djStatus dj_findPlane(djFound* f, djPlaneWork* w, djPlaneState* state);
// Exact signed gap in metres and witness points.
djStatus dj_pairDistance(double* gap, djDistance* d, const djPlaneWork* w, djPlaneState* state);

// Lower bound of the gap, metres: from bounding balls and the last separating direction.
double dj_gapBound(const djPlaneWork* w, const djPlaneState* state);

// K U_xi, U_{p,xi} (4 x 12; half space: 2 x 12; without K) and the Hessian of K U after elimination
// of the plane, linear entries per metre; outputs may be NULL.
void dj_foundTwist(double gradient[12], double mixed[48], double hessian[144], const djFound* f,
                   const djPlaneWork* w, double stiffness);

// Lagged plane and forces at the start poses; f is the minimiser there.
djStatus dj_makeLagged(djPlaneState* state, djPlaneWork* w, const djFound* f);
// As friction wants it, from the state, or from w's scratch where the state is too small.
djStatus dj_getLagged(djLagged* lagged, djPlaneState* state, djPlaneWork* w);
// Of forces over one side: their sum F, and that of their squares. Their factor, by as many
// vertices, F^2/squares, as have much of them; by_count (or NULL): its derivative by the logarithm
// of that.
typedef struct djLagSums {
  double F, squares;
} djLagSums;
djLagFactor dj_planeLagFactor(double* by_count, const djLagSums* sums, const djPlaneState* state,
                              const djPairInput* in);
djStatus dj_planePast(bool* any, djPairPast* past, djPlaneState* state, const djPairInput* in);
djStatus dj_planeStart(double start_jac[144], double rate_jac[144], djPlaneState* state,
                       const djPairInput* in);

// Entries of the row: largest step and queries. Bodies may approach by this share of gap and room.
#define DJ_PLANE_SHARE 0.9
double dj_planeRoom(const double* setting, const djShape* a, const djShape* b);
djStatus dj_planeMaxStep(double* factor, double* gap, const djGeomPair* pair,
                         const djPairMotion* motion);
djStatus dj_planeQuery(struct djContactQuery* query, djError* err);
djStatus dj_planeRows(struct djPairRows* rows, struct djPairPlane* plane, djPairState* state,
                      const djPairInput* in);

djStatus dj_planeVjp(djPairGrad* grad, djPlaneState* state, const djPairInput* in,
                     const double lambda[12]);

#endif  // DJ_CONTACT_PLANE_PLANE_PAIR_H_
