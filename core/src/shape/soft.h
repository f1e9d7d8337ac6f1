// Smoothed shapes: strictly convex ones with analytic support functions, near given shapes.
//
// With vertices v_i of a shape moved inwards, a ball of radius rho and ellipsoids as in shape.h,
//
//   h(n) = t log sum_i exp(v_i . n/t) + rho + |G^T n|      for |n| = 1, homogeneous of degree 1.
//
// Let p_i be the weights of the sum, v and S mean and covariance of the vertices under them, and
// e = t log sum - n . v = t * entropy(p) >= 0. Then, with P = I - n n^T,
//
//   x(n) = h'  = v + (e + rho) n + c(n)                    the point whose normal is n
//   C(n) = h'' = P (S/t + e + rho) P + C_ellipsoid(n)      >= rho on vectors across n,
//
// so that h is convex for every t > 0 and the surface has radii of curvature of at least rho: no
// edge or corner is left, and no flat face.
//
// How far vertices move, rho and t follow from one length, `smoothing`, so that faces stay where
// they are: a part e_v of the erosion gives the ball its room and t log N, what the soft maximum
// over the N vertices of a face adds, its own. With R the radius that the shape has,
//
//   e_v = max(0, smoothing - R),   t log N = smoothing/2,   rho = R + e_v - smoothing/2.
//
// N is 4 for boxes, 2 for capsules and for the sides of cylinders: the faces of these are exact.
// Hulls have faces of different numbers of vertices; N is what the sum comes to at the largest of
// them or, if more, where vertices lie densest, so that the smoothed shape stays inside, by at most
// smoothing/2 on faces. Edges and corners lie deeper, by at most (|m| - 1/2) smoothing with m the
// erosion vector there (box: 1.24 smoothing at corners, 0.67 at edges; its length is at most
// bound/inner). Shapes without volume cannot be eroded: they grow by up to smoothing/2. Spheres,
// ellipsoids and planes are as they were.

#ifndef DJ_SHAPE_SOFT_H_
#define DJ_SHAPE_SOFT_H_

#include "shape/curve.h"

typedef struct djSoft {
  djShape core;            // vertices moved inwards, radius rho; nothing left to erode
  double t;                // metres; 0: no soft maximum
} djSoft;

// Values at a unit vector, in its frame.
typedef struct djSoftPoint {
  double h;
  djVec3 x;
  djMat3 C;
} djSoftPoint;

// A smoothed shape. nface: N above. The erosion is kept below half of shape->inner; move is zero
// where the shape has no volume. mem: 4 npad.
void dj_softenShape(djSoft* soft, double* mem, const djShape* shape, double nface,
                    double smoothing);

// Of a shape that is no plane.
void dj_softSupport(djSoftPoint* point, const djSoft* soft, djVec3 n);
// Adds along dh/d vertices at n to vert, (nvert) each.
void dj_softVertexGrad(double* const vert[3], double along, const djSoft* soft, djVec3 n);

#endif  // DJ_SHAPE_SOFT_H_
