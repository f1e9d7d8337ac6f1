// Height fields in the separating-plane model: the half space of half_space.h with a plane of its
// own for each point of the other shape, the one that touches the surface at the point's foot
// (shape/terrain.h).
//
//   U = min over 0 < t < 1, o < 0 of  P(1 - t) + 4 P(-o) + sum_i P(t z_i + o),
//
// z_i the distance of point i, less the radius, from the surface. Where the surface is flat this is
// what a plane does, and it is C2 as the surface is. Points are the shape's vertices, with their
// radius or ellipsoid; and, so that the surface is felt between them, points on edges and faces of
// boxes and on axes of capsules and cylinders (dj_terrainBetween), whose z_i has the range of contact
// added: on a plane they never act, and what rises between vertices goes in by that range at most.
//
// A point moves its foot: with F the 2 x 12 derivative of S_k . (x - S) in orthonormal tangents T, B
// the surface's curvature n . S'', C that of the ellipsoid and d = z + radius,
//
//   dz = J = (rho_a x N, N, N x rho_b, -N),   dN = w_b x N + T M F,   M = -B (1 - (d + C) B)^-1,
//   d2z = that of a half space + F^T M F.

#ifndef DJ_CONTACT_PLANE_TERRAIN_H_
#define DJ_CONTACT_PLANE_TERRAIN_H_

#include "contact/plane/plane_pair.h"
#include "shape/terrain.h"

enum {
  DJ_TERRAIN_POINTS = 112,   // more of them lie in the scratch
  DJ_TERRAIN_LAGGED = 16     // points with force that a state holds
};

// A point of shape a as a mean of vertices.
typedef struct djTerrainMean {
  int n, vertex[8];
  double weight[8];
} djTerrainMean;
// How many points there are, vertices first; the mean that a point is.
int dj_terrainCount(const djShape* a);
djTerrainMean dj_terrainMean(const djShape* a, int point);

// A point near the surface, world.
typedef struct djNearFoot {
  int point;
  double u[2];               // of the foot
  double z;                  // m
  djVec3 n, x, s;            // normal, the ellipsoid's point, the foot
  djVec3 T[2];
  double M[3];               // xx, xy, yy; 1/m
  double first, second;      // P', P'' at t z + o
} djNearFoot;

// Which points may be near as long as shape a has moved no more than `slack` from a pose while b
// stays: the others are not, whatever else is known.
typedef struct djTerrainNear {
  bool known;
  djPose pose[2];
  double slack;              // m
  uint64_t may[DJ_TERRAIN_POINTS / 64 + 1];
  uint64_t found[DJ_TERRAIN_POINTS / 64 + 1];   // points whose feet were found there
  double u[2 * DJ_TERRAIN_POINTS];              //   and where: within a step feet follow from these
} djTerrainNear;

typedef struct djTerrainWork {
  const djPairInput* in;
  const djPose* pose[2];
  djBarrier law;
  double L, range;           // range in metres
  double near, lift;         // points farther away are left out; what those between have more, m
  double K, soft, soft_rate; // as in djPlaneWork
  double e;                  // erosion
  double radius;             // of a's points, with what is between the surface and where it acts, m
  djTerrain terrain;
  djPose frame;              // of the terrain, world
  bool curved;
  djMat3 curve;              // semi-axes, world
  bool beneath;              // the shape is beneath it all
  double gap;                // m, lower bound where no point is near
  int n;
  djNearFoot* foot;          // (n) near ones, by points
  double* argument;          // (3 x padded n): of the half space's solver
  djContactKind kind;
  djHalfSolution half;       // of t and o
  double* free;              // rest of the scratch
  int nfree;
  djNearFoot own[DJ_TERRAIN_POINTS];
} djTerrainWork;

// Points with force at the start of the step; those of a disc act at several places.
typedef struct djTerrainLag {
  int foot;                  // in the work at the start
  int split;
  double point[3 * 4], force[4];
  djVec3 normal;             // unit, from a to b
  double offset;
} djTerrainLag;

typedef struct djTerrainState {
  djPlaneState plane;        // erosion, gaps, lag_plane (t, o), lag_factor
  djTerrainNear near;
  bool beneath;
  int nlag;                  // more than there is room for: not kept
  djTerrainLag lag[DJ_TERRAIN_LAGGED];
  djFrictionState friction[DJ_TERRAIN_LAGGED];
  djDualPair dual[DJ_TERRAIN_LAGGED][4];
} djTerrainState;

// At the start poses or those now; feet are found. DJ_INVALID, DJ_NO_MEMORY, DJ_NOT_CONVERGED.
djStatus dj_openTerrain(djTerrainWork* w, const djPairInput* in, const djErosion* erosion,
                        bool at_start);
// At the poses now, with the step's erosion and what is known of its points.
djStatus dj_openTerrainNow(djTerrainWork* w, const djPairInput* in, const djTerrainState* state);
// Sets what is known, at the start poses.
djStatus dj_openTerrainFirst(djTerrainWork* w, const djPairInput* in, djTerrainNear* near);
// The shapes as they are now, of which no settings are known: points between vertices count as these
// do, which is a lower bound.
djStatus dj_openTerrainGap(djTerrainWork* w, const djPairInput* in);
bool dj_isTerrainInput(const djPairInput* in);
// Finds t and o, the kind of contact, and P', P''. DJ_NOT_CONVERGED: the best.
djStatus dj_solveTerrain(djTerrainWork* w);

// x = U_pp^-1 b, p = (t, o).
static inline void dj_terrainInner(double x[2], const djTerrainWork* w, const double b[2]) {
  const double* inv = w->half.inv;
  x[0] = inv[0] * b[0] + inv[1] * b[1];
  x[1] = inv[1] * b[0] + inv[2] * b[1];
}

// Rows of a foot by twists of a and b about their references: J (12), and F (2 x 12).
void dj_terrainRow(double J[12], const djTerrainWork* w, const djNearFoot* f);
void dj_terrainTurn(double F[2][12], const djTerrainWork* w, const djNearFoot* f);
// The point itself, the middle of its ellipsoid; sums of the forces that all have.
djVec3 dj_terrainPoint(const djTerrainWork* w, const djNearFoot* f);
djLagSums dj_terrainSums(const djTerrainWork* w);
// C(n) x
djVec3 dj_terrainBend(const djTerrainWork* w, const djNearFoot* f, djVec3 x);

// U_t,xi and U_o,xi (2 x 12), per metre, stiffness 1.
void dj_terrainMixed(double mixed[24], const djTerrainWork* w);

// Least z of the points, smoothed (recovery.h), over the range; by (12): its derivatives. Infinite
// where nothing is near.
double dj_terrainGap(double* by, const djTerrainWork* w);

// The points with force: the state's, or in w's scratch where these are too many. start: a work to
// find them in.
djStatus dj_getTerrainLag(const djTerrainLag** lag, int* n, djTerrainState* state,
                          const djPairInput* in, djTerrainWork* start);
// As friction wants one of them.
djLagged dj_terrainLagged(djTerrainState* state, djFrictionState** friction,
                          djFrictionState* other, const djTerrainLag* lag, int i,
                          const djPairInput* in);

// Entries of the kernel, where b is a height field.
djStatus dj_terrainBegin(djPairState* state, const djPairInput* in);
djStatus dj_terrainEval(djPairOutput* out, djPairState* state, const djPairInput* in, int flags);
djStatus dj_terrainStart(double start_jac[144], double rate_jac[144], djPairState* state,
                         const djPairInput* in);
djStatus dj_terrainPast(bool* any, djPairPast* past, djPairState* state, const djPairInput* in);
djStatus dj_terrainVjp(djPairGrad* grad, djPairState* state, const djPairInput* in,
                       const double lambda[12]);
djStatus dj_terrainReport(djPairReport* out, djPairState* state, const djPairInput* in);
djStatus dj_terrainDistance(djDistance* d, const djGeomPair* pair);
// How deep the geoms themselves are in each other, by their own surfaces, m.
djStatus dj_terrainDepth(double* depth, const djGeomPair* pair);
djStatus dj_terrainRows(struct djPairRows* rows, struct djPairPlane* plane, djPairState* state,
                        const djPairInput* in);

// The shape of a height field (terrain_shape.c): fit is its terrain, number (coefficients).
int dj_terrainShapeSize(const djGeomSource* from);
djStatus dj_makeTerrainShape(djShape* shape, djShapeBounds* bounds, double* mem,
                             const djGeomSource* from);
djStatus dj_terrainParams(double* param, const djGeomSource* from, const djShape* shape,
                          const djShapeGrad* grad);

#endif  // DJ_CONTACT_PLANE_TERRAIN_H_
