// Euclidean distance of two implicit shapes: the largest over unit vectors n of
//
//   g(n) = n.r - ha(n) - hb(-n),                                                        (1)
//
// with r from a's origin to b's and ha, hb the support functions. With p and q the points of a and
// b that are farthest along n and -n, grad g is the tangential part of q - p, and with Ka, Kb the
// curvatures there, both by outward normals, the Hessian on the sphere is -(Ka^-1 + Kb^-1 + g). So
// for shapes apart g is strictly concave along great circles where it is positive, as it is at the
// normal n0 of the scaled touch, g(n0) >= (D - T) n0.d; ascent from there ends at the distance. Of
// shapes that overlap each local maximum of g is minus a local minimum of depth: that to which
// directions descend from n0 that are less and less deep.
//
// Where (1) is stationary n is normal to both surfaces at the ends of q - p = delta n. With
// tangents t, p moving by t tau and q by t sigma, bodies by psi and v, and sizes that move the
// surfaces along their normals by c and turn these by e,
//
//   A_k = t_k.(psi_a x n) + e_a,   B_k = t_k.(psi_b x n) - e_b,   w = t.(dq - dp) at tau = sigma =
//   0, (Ka + Kb (1 + delta Ka)) tau = B - A - Kb (delta A - w), sigma = (1 + delta Ka) tau + delta
//   A - w,   dn = t (A + Ka tau).                     (2)

#ifndef DJ_SHAPE_IMPLICIT_DISTANCE_H_
#define DJ_SHAPE_IMPLICIT_DISTANCE_H_

#include "shape/implicit_pair.h"

// In a's frame, but what is b's own.
typedef struct djImplicitGap {
  djVec3 y, y_b;        // the points, each in its own frame
  djVec3 n;             // unit, from a to b
  djVec3 t[2];          // tangents
  double delta;         // distance; overlapping: minus the depth
  double Ka[3], Kb[3];  // curvatures: 11, 12, 22
  djImplicitPoint a, b; // at the points; b's in its own frame
  double error;         // of normals and points, by size
  bool regular;         // the normal is a differentiable function
  int iterations;       // evaluations of both shapes
} djImplicitGap;

// From the scaled touch at D, the distance of the origins. near: points (a's, b's) in their frames
// to try first, or NULL; of shapes apart alone. DJ_SINGULAR: a stationary point where the normal is
// not differentiable. DJ_NOT_CONVERGED: the best found.
djStatus dj_distanceImplicit(djImplicitGap* out, const djVec3 near[2], const djImplicit* a,
                             const djImplicit* b, const djImplicitPlace* place, double D,
                             const djImplicitTouch* touch);

// That to a half space, of which the touch tells all, but y_b.
void dj_distanceHalfSpace(djImplicitGap* out, const djImplicitTouch* touch, double distance);

// A change: of each side c, e, and of (2) the parts of A, B and w; what it does to points along t.
typedef struct djImplicitShift {
  double A[2], B[2], w[2];
  double tau[2], sigma[2], dn[2];
} djImplicitShift;
void dj_shiftGap(djImplicitShift* s, const djImplicitGap* gap);

#endif // DJ_SHAPE_IMPLICIT_DISTANCE_H_
