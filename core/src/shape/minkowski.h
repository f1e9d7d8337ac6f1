// Support points of the difference A - B of two vertex shapes, in one frame near both.

#ifndef DJ_SHAPE_MINKOWSKI_H_
#define DJ_SHAPE_MINKOWSKI_H_

#include "shape/curve.h"
#include "shape/distance.h"
#include "shape/simplex.h"

// One shape: x_i = R (v_i - e m_i) + p, and the semi-axes of its ellipsoids.
typedef struct djCore {
  const djShape* shape;
  double e;
  djMat3 R;
  djVec3 p;
  bool curved;
  djMat3 curve;           // world axes, eroded
} djCore;

// World axes; the origin is A's centre, so that far places lose no digits.
typedef struct djMinkowski {
  djCore a, b;
  djVec3 origin;          // world
  double scale;           // largest |a| + |b| of the points seen
} djMinkowski;

void dj_initMinkowski(djMinkowski* m, const djShape* a, const djPose* pose_a, double e_a,
                      const djShape* b, const djPose* pose_b, double e_b);

// The point of given vertices.
djSupport dj_minkowskiPoint(djMinkowski* m, int ia, int ib);

// The difference of vertices that is farthest in direction d.
djSupport dj_minkowskiVertices(djMinkowski* m, djVec3 d);

// The farthest point of A - B in direction d.
djSupport dj_minkowskiSupport(djMinkowski* m, djVec3 d);

// GJK from the points of s, at least one. True: *v is the point of A - B nearest to the origin (|v|
// well above rounding) and s its simplex; *bound: how far A - B is from the origin along v, which
// is |v| unless the method failed. False: the origin is inside or on the border; s holds 1 to 4
// points around it.
bool dj_gjk(djVec3* v, double* bound, djSimplex* s, int* iterations, djMinkowski* m);

// EPA: unit n and depth >= 0 (up to rounding) such that moving A by -depth n separates the cores,
// the smallest such motion, and weights of a simplex at the touching point. s: as dj_gjk left it.
// DJ_NOT_CONVERGED: *depth is an upper bound.
djStatus dj_epa(double* depth, djVec3* n, djSimplex* s, int* iterations, djMinkowski* m);

// The same for shapes of which one or both are curved: gap of the cores along n (from A to B, the
// direction of least separation) and, in s, the weights of at most three differences of vertices.
// cache: the last result, or NULL. A status as of dj_epa: n is not the best direction, and -*core
// an upper bound of the depth.
djStatus dj_curvedDistance(double* core, djVec3* n, djSimplex* s, int* iterations, djMinkowski* m,
                           const djDistanceCache* cache);

#endif  // DJ_SHAPE_MINKOWSKI_H_
