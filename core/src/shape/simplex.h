// Closest point to the origin of a simplex: the inner problem of GJK and of minimum-norm points.

#ifndef DJ_SHAPE_SIMPLEX_H_
#define DJ_SHAPE_SIMPLEX_H_

#include "math/vec.h"

#include <stdbool.h>

// A vertex of a Minkowski difference, w = a - b, and where it comes from.
typedef struct djSupport {
  djVec3 w, a, b;
  int ia, ib;             // vertices of the two shapes
} djSupport;

// At most four of them, and the weights of the point of their hull nearest to the origin.
typedef struct djSimplex {
  int n;
  djSupport p[4];
  double weight[4];
} djSimplex;

// Reduce to the smallest face that holds the point nearest to the origin, with its weights; *v is
// that point. Returns true where the origin is strictly inside a tetrahedron: then nothing is
// reduced and *v is zero. A flat tetrahedron never counts as holding the origin.
bool dj_reduceSimplex(djVec3* v, djSimplex* simplex);

// Nearest point to the origin of the hull of (n x 3) points. Returns false where the hull holds
// the origin (up to rounding).
bool dj_minNorm(djVec3* v, int n, const double* point);

// The same, with the at most three points (p[k].ia: which ones) that it is a mean of, by positive
// weights. simplex->n is 0 where there are no points.
bool dj_minNormSimplex(djVec3* v, djSimplex* simplex, int n, const double* point);

#endif  // DJ_SHAPE_SIMPLEX_H_
