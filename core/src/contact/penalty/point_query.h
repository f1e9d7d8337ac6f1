// What queries of points in the distance field of a geom share: djc_penalty and djc_damped.

#ifndef DJ_CONTACT_PENALTY_POINT_QUERY_H_
#define DJ_CONTACT_PENALTY_POINT_QUERY_H_

#include "contact/penalty/penalty_pair.h"

// Numbers of a query, and the name that an error has for them.
typedef struct djNamedNumbers {
  const char* name;
  const double* x;   // (n)
  int n;
} djNamedNumbers;
djStatus dj_checkAllNumbers(const djNamedNumbers* list, size_t count, djError* err);

// A parameter: positive, or not negative where `zero`.
typedef struct djNamedParam {
  const char* name;
  double x;
  bool zero;
} djNamedParam;
djStatus dj_checkQueryParams(const djNamedParam* list, size_t count, djError* err);

djStatus dj_checkQueryPoints(int npoint, const double* point, djError* err);
// A geom that has a field of its sizes.
djStatus dj_checkFieldGeom(int geom, const double* size, djError* err);
djStatus dj_checkQueryQuat(const double quat[4], djError* err);

// The one way of a pair: points (npoint x 3, in the world), whose frame has its origin at `origin`,
// in the field of a geom, or of a grid where that is not NULL. The poses are those at which the pair
// is evaluated; point (npoint x 3), id (npoint) and node are memory.
typedef struct djQueryField {
  int geom;
  const double* size;     // (3)
  const djGrid* grid;
} djQueryField;
void dj_openQueryWay(djPenaltyWay* way, djPointNode* node, double* point, double* id, int npoint,
                     const double* given, djVec3 origin, const djQueryField* field,
                     const djPose* place, const djPose* pose);

// The sum's wrenches on a and b (6) and their derivatives (12 x 12).
void dj_completeQuery(double wrench_a[6], double wrench_b[6], double pose_jac[144],
                      double twist_jac[144], const djPenaltySum* sum, const djPenaltyPair* pair);

#endif  // DJ_CONTACT_PENALTY_POINT_QUERY_H_
