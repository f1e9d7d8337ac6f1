// The way back of derivatives by triangles and balls along a motion of a: what both weightings have
// in common. Cotangents and their changes are dual numbers; it is changes that are added up.

#ifndef DJ_CONTACT_TRIANGLES_TRIANGLE_WAY_H_
#define DJ_CONTACT_TRIANGLES_TRIANGLE_WAY_H_

#include "contact/triangles/dual.h"
#include "contact/triangles/mean_distance.h"

typedef struct djTriangleWay {
  const djMeanPair* p;
  const djMeanTape* tape;
  size_t at;                 // of the tape
  djVec3 w, v;               // the motion, about p->c, in b's frame
  djSphereGrad *by_a, *by_b; // (nodes) changes of cotangents, each in its own frame
  double* const* vert_a;
  double* const* vert_b;
} djTriangleWay;

// How a plane and its distances change along the motion.
typedef struct djPlaneTurn {
  djVec3 n;
  double x[6], P;
} djPlaneTurn;
// c: as dj_leafPlane has it.
void dj_turnPlane(djPlaneTurn* out, const djTriangleWay* way, const djTrianglePlane* plane,
                  djVec3 c);

// The change of a cotangent of a point of a, in a's frame.
djVec3 dj_ofA(const djMat3* R, djVec3 w, djDualVec y);
// By s = |x_a - x_b|^2, with its change.
djDual1 dj_squareAlong(const djTriangleWay* way, int i, int j);
void dj_takeSquare(const djTriangleWay* way, djDual1 bar, int i, int j);
// Vertices of two triangles by their distances x from the plane: of each by times its force.
void dj_takeCorners(const djTriangleWay* way, djDual1 by, const djTrianglePlane* plane,
                    const djPlaneTurn* turn, int i, int j);

// How nearest points change along the motion, which are in b's frame.
typedef struct djNearTurn {
  djDualVec x[2], e; // e = x_a - x_b
  djDual1 part[2][3], square;
} djNearTurn;
void dj_turnNearPoints(djNearTurn* out, const djTriangleWay* way, const djNearPoints* points);
// By the square of their distance: vertices of both triangles.
void dj_takeNearPoints(const djTriangleWay* way, djDual1 bar, const djNearTurn* turn, int i, int j);

// Numbers of a tape.
static inline djDual1 dj_recorded(const double x[2]) { return (djDual1){x[0], x[1]}; }

// From the roots on, by L, or by P of weighting paper.
void dj_meanVjp(djTriangleWay* way, djDual1 bar);
void dj_sumVjp(djTriangleWay* way, djDual1 bar);

#endif // DJ_CONTACT_TRIANGLES_TRIANGLE_WAY_H_
