// A pair of geoms: its ways, and the forces at their points.

#ifndef DJ_CONTACT_PENALTY_PENALTY_PAIR_H_
#define DJ_CONTACT_PENALTY_PENALTY_PAIR_H_

#include "contact/penalty/penalty.h"
#include "contact/penalty/penalty_law.h"
#include "contact/penalty/penalty_search.h"

struct djPenaltyPair;
struct djPenaltySum;

// How points act: penalty contact, or another kernel with the same points and fields.
typedef struct djPointModel {
  djPenaltyLaw (*law)(const struct djPenaltyPair* pair, const djPenaltyWay* way);
  // Visits points that may act; as dj_visitPoints.
  double (*visit)(const struct djPenaltyPair* pair, const djPenaltyWay* way, djPointVisit visit,
                  void* user);
  // Adds what derivatives by the law are by settings, and to by_scale that by the contact_scale of
  // the points' geom.
  void (*settings)(djPairGrad* grad, double* by_scale, const struct djPenaltyPair* pair,
                   const djPenaltyWay* way, const djPointGrad* by);
  // Adds all points of a way to the sum, but not to `deepest`; returns a lower bound of all d.
  // NULL: point by point, with derivatives by differentials of the law.
  double (*sum)(struct djPenaltySum* sum, bool derivatives, const struct djPenaltyPair* pair,
                const djPenaltyWay* way);
} djPointModel;

typedef struct djPenaltyPair {
  const djPairInput* in;
  const djPointModel* model;
  int nway;
  djPenaltyWay way[2];
  djPenaltyWay start[2]; // the same at the poses of the start, where the model asks for them
  const void* own;       // of the model
  bool early;            // normals are those of the start, poses now do not turn them
  bool held;             // derivatives are those for fixed normals
} djPenaltyPair;
extern const djPointModel dj_penaltyModel;

// DJ_INVALID: shapes, poses or velocities are not as they must be. Settings are the caller's to
// check.
djStatus dj_openPenaltyPair(djPenaltyPair* out, const djPairInput* in, const djPointModel* model);

static inline double dj_visitPair(const djPenaltyPair* pair, const djPenaltyWay* way,
                                  djPointVisit visit, void* user) {
  return pair->model->visit(pair, way, visit, user);
}

// The same way at the start.
static inline const djPenaltyWay* dj_startOf(const djPenaltyPair* pair, const djPenaltyWay* way) {
  return &pair->start[way - pair->way];
}

// The force of point i of a way; at: the field there.
void dj_findPoint(djPointForce* out, const djPenaltyPair* pair, const djPenaltyWay* way, int i,
                  const djFieldAt* at);

// dn/dx there, world axes.
djMat3 dj_normalTurn(const djPenaltyWay* way, const djFieldAt* at);

// Minus the wrench on a about ref_a, and its derivatives by twists of poses (plain, see
// dj_toExponential) and by velocities, row-major.
typedef struct djPenaltySum {
  double gradient[6];
  double by_pose[72], by_twist[72]; // (6 x 12)
  bool active;
  double N, deepest;    // all normal forces; least d of points in the other geom, or 0
  djVec3 point, normal; // sum of N x; from a to b at the deepest
} djPenaltySum;
// Adds a point; derivatives where they are wanted. Then all of that for both bodies, with (12 x 12)
// matrices, or NULL.
void dj_addPoint(djPenaltySum* sum, bool derivatives, const djPenaltyPair* pair,
                 const djPenaltyWay* way, const djPointForce* p);
void dj_completeSum(double gradient[12], double* by_pose, double* by_twist, const djPenaltySum* sum,
                    const djPenaltyPair* pair);

// The derivative of the gradient (12) by twists of the poses of the start, (12 x 12); not 0 where
// normals are early alone.
void dj_pointsByStart(double start_jac[144], const djPenaltyPair* pair);

// Adds the derivative of lambda . gradient by parameters.
void dj_addWayVjp(djPairGrad* grad, const djPenaltyPair* pair, const djPenaltyWay* way,
                  const double lambda[12]);

// The sum over all points, for `eval`; what is told of them, *out emptied (penalty_sum.c).
void dj_evalPoints(djPairOutput* out, const djPenaltyPair* pair, int flags);
void dj_reportPoints(djPairReport* out, const djPenaltyPair* pair);
void dj_listPoints(const djPenaltyPair* pair, djPairPointVisit visit, void* user);

// Entries of rows: the least distance of points of both ways. Where no point is in a
// field there is no gap.
djStatus dj_pointGap(djDistance* d, djDistanceCache* cache, const djGeomPair* pair);
djStatus dj_pointDepth(double* depth, const djVec3* along, const djGeomPair* pair);
// The deepest point of both ways; false: there is none.
bool dj_findDeepest(djDistance* d, const djPenaltyWay* way, int nway);

#endif // DJ_CONTACT_PENALTY_PENALTY_PAIR_H_
