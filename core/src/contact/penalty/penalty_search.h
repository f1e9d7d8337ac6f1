// Points of one geom near the field of the other.

#ifndef DJ_CONTACT_PENALTY_PENALTY_SEARCH_H_
#define DJ_CONTACT_PENALTY_PENALTY_SEARCH_H_

#include "contact/penalty/penalty_shape.h"

// One way of a pair: points of a, or of b, in the field of the other.
typedef struct djPenaltyWay {
  bool points_of_b;
  double part;             // 1, or 1/2 where both ways are one contact
  double share;            // that times the points' contact_scale: of kn, kt and kd
  double inflate;          // m; of both geoms and the pair
  djPenaltyShape from, in; // points, field
  djPose place, field;     // of the points' body; of the field, and
  djPose local;            //   of the points' body in it
} djPenaltyWay;

// Up to two ways of a pair; returns how many. A sphere's centre with its radius says all: in a pair
// with a sphere one way acts, that of points that are given, else that of the sphere's centre; of
// two alike both do, with half the share. A geom that holds others inside has no points.
int dj_penaltyWays(djPenaltyWay way[2], const djShape* a, const djShape* b, const djPose* pose_a,
                   const djPose* pose_b, double inflate);

// The field at point i, x its place there. Returns d.
double dj_fieldAtPoint(djFieldAt* at, double x[3], const djPenaltyWay* way, int i);

// d of the points in a node's ball is no less.
double dj_nodeBound(const djPenaltyWay* way, const djPointNode* node);

// Visits points with d < 0, i their place in the tree's order. Returns a lower bound of the others'
// d.
typedef void (*djPointVisit)(void* user, const djPenaltyWay* way, int i, const double x[3],
                             const djFieldAt* at);
double dj_visitPoints(const djPenaltyWay* way, djPointVisit visit, void* user);

// The least d and its point (-1: there is none), where that is below `least`; else that.
double dj_deepestPoint(int* point, const djPenaltyWay* way, double least);

#endif // DJ_CONTACT_PENALTY_PENALTY_SEARCH_H_
