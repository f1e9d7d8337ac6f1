// Support points of the difference A - B of two vertex shapes, in one frame near both.

#ifndef DJ_SHAPE_MINKOWSKI_H_
#define DJ_SHAPE_MINKOWSKI_H_

#include "shape/distance.h"
#include "shape/simplex.h"

// One shape: x_i = R (v_i - e m_i) + p.
typedef struct djCore {
  const djShape* shape;
  double e;
  djMat3 R;
  djVec3 p;
  int last;               // where hill climbing starts
  bool climb;             // false: always a full scan
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

// The farthest point of A - B in direction d.
djSupport dj_minkowskiSupport(djMinkowski* m, djVec3 d);

// GJK. True: *v is the point of A - B nearest to the origin (|v| well above rounding) and s its
// simplex. False: the origin is inside or on the border; s holds 1 to 4 points around it.
bool dj_gjk(djVec3* v, djSimplex* s, int* iterations, djMinkowski* m);

// EPA: unit n and depth >= 0 (up to rounding) such that moving A by -depth n separates the cores,
// the smallest such motion, and weights of a simplex at the touching point. s: as dj_gjk left it.
// DJ_NOT_CONVERGED: *depth is an upper bound.
djStatus dj_epa(double* depth, djVec3* n, djSimplex* s, int* iterations, djMinkowski* m);

#endif  // DJ_SHAPE_MINKOWSKI_H_
