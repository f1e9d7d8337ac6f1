// How far apart two triangles are, as the plane between them says.
//
// Over planes n.x + o, lengths over l, with x_v = n.v + o > 0 of vertices of b and x_v = -(n.v + o)
// > 0 of those of a,
//
//   P = min [c (1 - |n|)^-p + sum_6 x_v^-p].
//
// With p = 2, c = 24 it tells a distance
//   rho = l [(P/c)^(1/3) - 1]^(-3/2);
// with p = 1, c = 12 l/length_scale it is l/length_scale times the paper's potential (eq. 3).
//
// Were all vertices of a triangle at one place, rho would be the distance of both places; it is
// less in general, falls to zero with the gap of the triangles, is a smooth function of their
// vertices, and the problem is convex with one solution. Derivatives by vertices are those of the
// sum at fixed n and o; second ones have the plane's own motion, by its Hessian.

#ifndef DJ_CONTACT_TRIANGLES_TRIANGLE_PLANE_H_
#define DJ_CONTACT_TRIANGLES_TRIANGLE_PLANE_H_

#include "math/vec.h"

#include <dijoco/types.h>

#include <stdbool.h>

#define DJ_TRIANGLE_C 24.0 // with p = 2

typedef struct djTrianglePlane {
  double l, c;
  int p;
  djVec3 v[6]; // a's vertices, then b's, about z, over l
  djVec3 z;    // between the triangles, over l
  djVec3 n;    // from a to b
  double o;    // n.v + o
  double x[6];
  double force[6]; // p x^-(p + 1)
  double bend[6];  // p (p + 1) x^-(p + 2)
  double P;
  djVec3 axis[3];    // n/|n|, and two across
  double factor[16]; // of the Hessian by o and n along the axes: lower Cholesky factor
  int iterations;
} djTrianglePlane;

// DJ_OVERLAP: the triangles touch. DJ_NOT_CONVERGED: the plane is the best that was found.
// out has p, which is 1 or 2, and c.
djStatus dj_findTrianglePlane(djTrianglePlane* out, const djVec3 a[3], const djVec3 b[3], double l);
// The same from a plane near by: out has z, n and o, too. False: nothing is found.
bool dj_resumeTrianglePlane(djTrianglePlane* out, const djVec3 a[3], const djVec3 b[3], double l);

// The largest distance by which a plane parts two triangles: no more than their distance, and
// positive where that is. Negative: how far they reach into each other, at least. u: unit, from a
// to b. It may be less where it is `enough`.
double dj_partTriangles(djVec3* u, const djVec3 a[3], const djVec3 b[3], double enough);

// Solves with the Hessian: how the plane moves (dn, do) where the sum's derivatives by n and o
// change by -by, -by_o.
void dj_movePlane(djVec3* dn, double* dO, const djTrianglePlane* plane, djVec3 by, double by_o);

#endif // DJ_CONTACT_TRIANGLES_TRIANGLE_PLANE_H_
