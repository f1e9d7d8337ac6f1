// A guide's tail: what makes a pair feel the other from afar. With lengths divided by L, l the sum
// of both bounding radii and lambda_i the vertices' parts of their surface, sum 1 a side,
//
//   U = c min over p = (n, o) of  4 |n|/(l (1 - |n|)) + sum_i lambda_i/(x_i + a),
//   x_i = sigma (n.z_i + o),  z_i = y_i + (m - y_i)/4,  m = sum lambda_i y_i of its side.
//
// y_i are the vertices of the contact shapes, drawn by a quarter to their mean point, and what
// rounds them (radii, ellipsoids) is no part of the tail: so x_i is linear in p, and shapes that
// touch are apart by what they are thick. The plane is the tail's own. U is bounded, also where
// shapes overlap, and falls with the distance d as 8 c/(l d)^1/2, its force as d^-3/2.
//
// With guide_decay p < 1 U counts as E(U), which rises with U, and the force falls as d^-p:
//
//   E = -V/k (V/U)^k,  E' = (V/U)^(k + 1),  E'' = -(k + 1)/U E',  k = 2 (1 - p).
//
// V is the U of two points that are l apart, whose force E leaves as it is: their plane is midway,
// |n| = n = 1/2 - a/l (0 where that is negative), and V = c [4 n/(l (1 - n)) + 2/(n l/2 + a)].
//
// Two points: U' = 0 below d = 4 a^2/l, U'' > 0 beyond d = 1.5 a for a = l/10. Shapes at their
// closest are about as far apart as the radii of their largest balls together, so that the default
// a is less where these are small (plane_settings.c). Where mean points are nearer than 4 a^2/l, n
// = 0 and nothing depends on the poses.

#ifndef DJ_CONTACT_PLANE_PLANE_TAIL_H_
#define DJ_CONTACT_PLANE_PLANE_TAIL_H_

#include "contact/plane/plane_pair.h"

// Whether there is one.
bool dj_planeGuided(const djPairInput* in);
void dj_forgetTail(djPlaneState* state);
// Adds it to what is there. DJ_NOT_CONVERGED: by the best iterate.
djStatus dj_addTail(djPairOutput* out, djPlaneState* state, const djPairInput* in, int flags);
// Normal, point and normal force, where nothing else acts.
djStatus dj_reportTail(djPairReport* out, djPlaneState* state, const djPairInput* in);
// As vjp of a kernel, of the tail alone.
djStatus dj_addTailVjp(djPairGrad* grad, djPlaneState* state, const djPairInput* in,
                       const double lambda[12]);

// ---- for queries

// The tail at given poses.
typedef struct djTailWork {
  const djPairInput* in;
  const djShape* shape[2];
  const djPose* pose[2];
  double L;
  djVec3 center;   // of the clouds, world
  djClouds clouds;
  djTail tail;
  djPlaneSolution plane;
  djPlaneStatus kind;   // DJ_PLANE_ZERO: no derivatives
  double law[3];        // E, E', E'' at U, the plane's value
  double ref[2][3];   // reference points in the clouds' frame
  djVec3 mean[2];     // m, world
  double* y;          // memory of the clouds
  double* free;       // rest of the scratch
  int nfree;
} djTailWork;

// U, its plane, and E.
djStatus dj_findTail(djTailWork* w, djPlaneState* state, const djPairInput* in);
// lambda of a vertex, a's first.
double dj_tailPart(const djTailWork* w, int at);
// Of a vertex's way from the mean point, that of z.
#define DJ_TAIL_SHARE 0.75
// Gradient and Hessian of E by twists at its plane.
void dj_tailTwist(double gradient[12], double hessian[144], const djTailWork* w);

#endif  // DJ_CONTACT_PLANE_PLANE_TAIL_H_
